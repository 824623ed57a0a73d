"""What a weak-learner family must keep to: the author of a new one will want to know."""

from __future__ import annotations

from collections.abc import Hashable, Set
from typing import Any

import numpy as np

from cgens.types import Column, Learner, Pricing


def checked_pricing(pricing: Any, pricer: Any, taken: Set[Hashable], n_rows: int, number: int) -> Pricing:
    """Return what a family found in round `number`, or raise a sentence."""
    if not isinstance(pricing, Pricing):
        raise TypeError(
            f"Round {number}: {type(pricer).__name__}.price must return a cgens.types.Pricing; got {pricing!r}."
        )
    if pricing.column is not None:
        check_column(pricing.column, taken, n_rows, number)
    return pricing


def check_column(column: Column, taken: Set[Hashable], n_rows: int, number: int) -> None:
    """Raise a sentence where a family broke its promise."""
    response = column.response
    where = f"Round {number} ({family_name(column.learner)}):"
    if np.shape(response) != (n_rows,):
        raise ValueError(f"{where} the response has the shape {np.shape(response)}, not ({n_rows},).")
    if not isinstance(response, np.ndarray):
        raise TypeError(f"{where} the response is a {type(response).__name__}; make it a NumPy array.")
    if response.dtype not in (np.int8, np.float32, np.float64):
        raise TypeError(f"{where} the response is {response.dtype}; make it int8 where it is +-1, else float32 or 64.")
    if not np.isfinite(np.sum(response)):
        row = int(np.argmin(np.isfinite(response)))
        raise ValueError(f"{where} the response is {response[row]} at row {row} of the fit; make it finite.")
    if not np.isfinite(column.score):
        raise ValueError(f"{where} the price of the column is {column.score}; make it finite.")
    if column.learner.key in taken:
        raise ValueError(f"{where} the learner {column.learner} was taken before; price must leave out taken keys.")


def family_name(learner: Learner) -> str:
    """Return the class of a learner, of one in a mixture that of its own."""
    return type(getattr(learner, "learner", learner)).__name__
