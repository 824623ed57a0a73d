"""The grid of a search: values of C and numbers of columns."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np

from cgens.estimators._parameters import check_count

#: Numbers of columns that the paper chooses from.
PAPER_COLUMNS = (25, 50, 100, 250, 500)
#: How many numbers of columns are tried by default, and the factor between two values of C.
N_STAGES, C_FACTOR = 25, 3.0


def resolve_stages(columns: Any, most: int) -> tuple[int, ...]:
    """Return the numbers of columns to choose from, ascending."""
    if isinstance(columns, str):
        if columns == "staged":
            return tuple(np.unique(np.geomspace(min(5, most), most, N_STAGES).round().astype(int)).tolist())
        if columns == "paper":
            return tuple(dict.fromkeys(min(stage, most) for stage in PAPER_COLUMNS))
        raise ValueError(f"columns must be 'staged', 'paper' or a list of integers; got {columns!r}.")
    if not isinstance(columns, Iterable):
        raise ValueError(f"columns must be 'staged', 'paper' or a list of integers; got {columns!r}.")
    stages = sorted({check_count("columns", stage) for stage in columns})
    if not stages or stages[-1] > most:
        raise ValueError(f"columns must have numbers from 1 to n_estimators={most}; got {columns!r}.")
    return tuple(stages)


def resolve_cs(values: Any, scale: float) -> list[Any]:
    """Return the values of C to choose from: given ones, or so many around the default."""
    if not isinstance(values, Iterable | Integral) or isinstance(values, str | bool):
        raise ValueError(f"Cs must be a list of numbers > 0, or how many of them: an integer >= 1; got {values!r}.")
    if isinstance(values, Iterable):
        listed = list(values)
        if not listed:
            raise ValueError("Cs must have at least one value; it is empty.")
        return listed
    n_values = check_count("Cs", values)
    return [scale * C_FACTOR ** (k - (n_values - 1) // 2) for k in range(n_values)]
