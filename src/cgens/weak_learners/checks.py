"""Checks of the families' parameters; `name` is the family and its parameter, such as "Tree: max_bins"."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np


def check_integer(name: str, value: object, least: int = 1) -> int:
    """Return an integer >= `least`, or raise ValueError."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be an integer >= {least}; got {value!r}.")
    return int(value)


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise ValueError if the value is not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be {' or '.join(map(repr, choices))}; got {value!r}.")


def check_counts(name: str, value: Any, most: int) -> list[int]:
    """Return the given integer or integers >= 1 as a list, none larger than `most`, or raise ValueError."""
    values = list(value) if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else [value]
    if not values:
        raise ValueError(f"{name} must have at least one value; it is empty.")
    for count in values:
        if isinstance(count, bool) or not isinstance(count, Integral) or count < 1:
            raise ValueError(f"{name} must be an integer >= 1 or a list of them; got {value!r}.")
    return [min(int(count), most) for count in values]
