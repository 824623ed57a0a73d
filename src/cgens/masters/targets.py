"""Checks of the target that several masters share."""

from __future__ import annotations

import numpy as np

from cgens.types import Floats


def check_signs(target: Floats, who: str, one_output: bool = False) -> None:
    """Raise ValueError if the target is not +-1, or has several outputs despite `one_output`."""
    invalid = target[np.abs(target) != 1]
    if len(invalid):
        raise ValueError(f"{who} needs labels -1 and 1; the target has the value {invalid[0]}.")
    if one_output and target.shape[1] != 1:
        raise ValueError(f"{who} supports only two classes (one output); the target has {target.shape[1]} outputs.")


def check_one_class_per_row(target: Floats, who: str) -> None:
    """Raise ValueError unless each row of the target is 1 for one class and -1 for all others."""
    if target.shape[1] < 2 or not np.all(np.abs(target) == 1) or not np.all(np.sum(target > 0, axis=1) == 1):
        raise ValueError(f"{who} needs a target of shape (m, k), 1 for the row's class and -1 for all others.")


def robust_spread(target: Floats, weight: Floats) -> Floats:
    """Return a robust standard deviation of each output, from its median absolute deviation, shape (l,).

    A weight of k counts as k rows. Targets of which more than half are equal have their standard deviation instead, and
    constant ones 1.
    """
    spread = np.ones(target.shape[1])
    for t, values in enumerate(target.T):
        deviation = 1.4826 * weighted_median(np.abs(values - weighted_median(values, weight)), weight)
        if deviation == 0:
            mean = np.average(values, weights=weight)
            deviation = float(np.sqrt(np.average((values - mean) ** 2, weights=weight)))
        if deviation > 0:
            spread[t] = deviation
    return spread


def weighted_median(values: Floats, weight: Floats) -> float:
    """Return the lower weighted median."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(below, 0.5 * below[-1])])
