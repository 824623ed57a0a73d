"""The grid of a search: values of C and numbers of columns."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np

from cgens.estimators._parameters import check_count

#: Numbers of columns in the paper's grid.
PAPER_STAGES = (25, 50, 100, 250, 500)
#: Default size of the grid of numbers of columns, and the factor between two values of C.
N_STAGES, C_FACTOR = 25, 3.0


def resolve_stages(stages: Any, n_estimators: int) -> tuple[int, ...]:
    """Return the numbers of columns to choose from, ascending."""
    name = stages if isinstance(stages, str) else None
    if name == "log":
        spaced = np.geomspace(min(5, n_estimators), n_estimators, N_STAGES).round().astype(int)
        return tuple(np.unique(spaced).tolist())
    if name == "paper":
        return tuple(dict.fromkeys(min(stage, n_estimators) for stage in PAPER_STAGES))
    if name is not None or not isinstance(stages, Iterable):
        raise ValueError(f"stages must be 'log', 'paper' or a list of integers; got {stages!r}.")
    given = sorted({check_count("stages", stage) for stage in stages})
    if not given or given[-1] > n_estimators:
        raise ValueError(f"stages must be integers from 1 to n_estimators={n_estimators}; got {stages!r}.")
    return tuple(given)


def resolve_cs(values: Any, scale: float) -> list[Any]:
    """Return the values of C to choose from: the given ones, or the given number of them around the default."""
    if not isinstance(values, Iterable | Integral) or isinstance(values, str | bool):
        raise ValueError(
            f"Cs must be a list of numbers > 0, or how many values to try (an integer >= 1); got {values!r}."
        )
    if isinstance(values, Iterable):
        given = list(values)
        if not given:
            raise ValueError("Cs must have at least one value; it is empty.")
        if any(isinstance(own, str) and own == "auto" for own in given):
            raise ValueError(f"Cs must be numbers > 0 or 'scale'; got {values!r}: C='auto' is not for searches.")
        return given
    n_values = check_count("Cs", values)
    return [scale * C_FACTOR ** (k - (n_values - 1) // 2) for k in range(n_values)]
