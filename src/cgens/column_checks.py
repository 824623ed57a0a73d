"""Checks of the columns and energies that a weak-learner family returns, for the authors of new families."""

from __future__ import annotations

from collections.abc import Hashable, Set
from typing import Any

import numpy as np

from cgens.types import AnyArray, Column, Pricing

#: By what share of the objective a lower bound may be above it: rounding is below 1e-12.
BOUND_ROUNDING = 1e-9


def checked_pricing(pricing: Any, pricer: Any, taken: Set[Hashable], n_rows: int, number: int) -> Pricing:
    """Return the result of a family's search in round `number`, or raise TypeError or ValueError if it is invalid."""
    if not isinstance(pricing, Pricing):
        raise TypeError(
            f"Round {number}: {type(pricer).__name__}.price must return a cgens.types.Pricing; got {pricing!r}."
        )
    if pricing.energy is not None and not pricing.energy >= 0:
        raise ValueError(
            f"Round {number}: {type(pricer).__name__}.price returned energy={pricing.energy!r}, not a sum of squares."
        )
    if pricing.max_price is not None and not 0 <= pricing.max_price < np.inf:
        raise ValueError(
            f"Round {number}: {type(pricer).__name__}.price returned max_price={pricing.max_price!r}, not a |price|."
        )
    if pricing.column is not None:
        check_column(pricing.column, taken, n_rows, number)
    return pricing


def check_bound(bound: float, primal: float, first_primal: float, family: Any, number: int) -> None:
    """Raise ValueError if the lower bound of a family's pool is above the objective of a model with columns from it.

    `first_primal` is the objective of the first round, to which rounding is relative if the present one is close to 0.
    """
    if bound - primal > BOUND_ROUNDING * max(abs(primal), abs(first_primal)):
        name = " ".join(f"{family!r}".split())
        raise ValueError(
            f"Round {number}: the energy that {name} returned gives a lower bound of {bound:.6g} for its pool, but "
            f"a model of its columns has an objective of {primal:.6g}. `Pricing.energy` must be the sum of price^2 "
            "over the whole pool, including taken learners, or None if one of these is not in the pool: see "
            "cgens.testing.check_weak_learner (for a master of your own, also check_master)."
        )


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
    if response.dtype != np.int8 and not _is_finite(response):
        row = int(np.argmin(np.isfinite(response)))
        raise ValueError(f"{where} the response is {response[row]} at row {row} of the fit; it must be finite.")
    if not np.isfinite(column.price):
        raise ValueError(f"{where} the price of the column is {column.price}; it must be finite.")
    if column.learner.key in taken:
        raise ValueError(f"{where} the learner {column.learner} is already taken; price must skip the keys in `taken`.")


def _is_finite(response: AnyArray) -> bool:
    """Return whether all values are finite; their sum mostly tells, and needs no array."""
    with np.errstate(over="ignore"):
        return bool(np.isfinite(np.sum(response))) or bool(np.isfinite(response).all())
