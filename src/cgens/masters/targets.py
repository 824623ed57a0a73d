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
