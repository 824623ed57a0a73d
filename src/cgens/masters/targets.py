"""Checks of targets, and of parameters with one value per output, that several masters share."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

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


def check_range(target: Floats) -> None:
    """Raise ValueError if squares of the target overflow or underflow."""
    with np.errstate(over="ignore"):
        spread = float(np.ptp(target, axis=0).max())
    if not (spread == 0 or 1e-125 < spread < 1e125):
        raise ValueError(
            f"The target has a range of {spread:.3g}, whose square overflows or underflows: scale the target to about "
            "1."
        )


def check_outputs(name: str, values: Floats, target: Floats) -> None:
    """Raise ValueError if there are several values, but not one per output of the target."""
    if len(values) not in (1, target.shape[1]):
        given = ", ".join(f"{value:g}" for value in values)
        raise ValueError(f"{name}=[{given}] is for {len(values)} outputs; the target has {target.shape[1]}.")


def as_values(value: Any, valid: Callable[[float], bool], message: str) -> Floats:
    """Return a number as an array of shape (1,), or a list of numbers, one per output.

    Raises
    ------
    ValueError
        With the `message` and the value, if one of them is not a number or not `valid`.
    """
    several = list(value) if isinstance(value, list | tuple | np.ndarray) else []
    for number in several or [value]:
        if isinstance(number, bool) or not isinstance(number, Real) or not valid(float(number)):
            raise ValueError(f"{message}; got {value!r}.")
    return np.array(several or [value], dtype=np.float64)
