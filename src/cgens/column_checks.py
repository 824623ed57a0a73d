"""Checks of the columns that a weak-learner family returns, for the authors of new families."""

from __future__ import annotations

from collections.abc import Hashable, Set
from typing import Any

import numpy as np

from cgens.types import Column, Pricing


def checked_pricing(pricing: Any, pricer: Any, taken: Set[Hashable], n_rows: int, number: int) -> Pricing:
    """Return the result of a family's search in round `number`, or raise TypeError or ValueError if it is invalid."""
    if not isinstance(pricing, Pricing):
        raise TypeError(
            f"Round {number}: {type(pricer).__name__}.price must return a cgens.types.Pricing; got {pricing!r}."
        )
    if pricing.column is not None:
        check_column(pricing.column, taken, n_rows, number)
    return pricing


def check_column(column: Column, taken: Set[Hashable], n_rows: int, number: int) -> None:
    """Raise TypeError or ValueError if the column of round `number` is invalid."""
    response = column.response
    own = getattr(column.learner, "learner", column.learner)  # a mixture wraps the learners of its families
    where = f"Round {number} ({type(own).__name__}):"
    if np.shape(response) != (n_rows,):
        raise ValueError(f"{where} the response has shape {np.shape(response)}, not ({n_rows},).")
    if not isinstance(response, np.ndarray):
        raise TypeError(f"{where} the response is a {type(response).__name__}; return a NumPy array.")
    if response.dtype not in (np.int8, np.float32, np.float64):
        raise TypeError(f"{where} the response has dtype {response.dtype}; use int8 if it is +-1, else float32 or 64.")
    if not np.isfinite(np.sum(response)):
        row = int(np.argmin(np.isfinite(response)))
        raise ValueError(f"{where} the response is {response[row]} at row {row} of the fit; it must be finite.")
    if not np.isfinite(column.score):
        raise ValueError(f"{where} the price of the column is {column.score}; it must be finite.")
    if column.learner.key in taken:
        raise ValueError(f"{where} the learner {column.learner} is already taken; price must skip the keys in `taken`.")
