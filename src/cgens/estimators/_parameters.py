"""Checks and defaults of the estimators' parameters; error messages are one line and include the value."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, cast

import joblib
import numpy as np

from cgens.automatic.spec import Automatic
from cgens.threads import N_PROCESSORS, default_threads
from cgens.types import Family, Floats, Rule
from cgens.weak_learners import Mixture
from cgens.weak_learners.registry import resolve_family

#: Columns for ``n_estimators="auto"``, except in the automatic model.
DEFAULT_COLUMNS = 500


def check_positive(name: str, value: object) -> float:
    """Return `value` as a float if it is a finite number > 0, else raise ValueError."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < np.inf:
        raise ValueError(f"{name} must be a finite number > 0; got {value!r}.")
    return float(value)


def check_count(name: str, value: object) -> int:
    """Return `value` as an int if it is an integer >= 1, else raise ValueError."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be an integer >= 1; got {value!r}.")
    return int(value)


def check_size(value: object) -> int | None:
    """Return `n_estimators` as an int, or None for "auto"."""
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f"n_estimators must be an integer >= 1 or 'auto'; got {value!r}.")
        return None
    return check_count("n_estimators", value)


def check_fraction(name: str, value: object) -> float:
    """Return `value` as a float if it is a number in (0, 1), else raise ValueError."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        raise ValueError(f"{name} must be a number in (0, 1); got {value!r}.")
    return float(value)


def check_switch(name: str, value: object) -> bool:
    """Return `value` as a bool if it is True or False, else raise ValueError."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {value!r}.")
    return bool(value)


def resolve_weak_learner(value: Any) -> Family:
    """Return the family for a name, an object or a list of them."""
    if isinstance(value, str) and value == "auto":
        return Automatic()
    if isinstance(value, list):
        mixture = Mixture(value)
        mixture.members()  # raises if the list is invalid
        return mixture
    return resolve_family(value)


def resolve_pricing(value: Any) -> Rule | None:
    """Return the rule for `pricing`, None for "auto": docs/decisions/0008-gain-pricing.md."""
    if not isinstance(value, str) or value not in ("auto", "gain", "max"):
        raise ValueError(f"pricing must be 'auto', 'gain' or 'max'; got {value!r}.")
    return None if value == "auto" else cast(Rule, value)


def resolve_c(value: Any, default: float, largest_weights: Floats, names: Sequence[str] = ("scale",)) -> float:
    """Return the value of `C`, given the value for "scale" and the largest row weight of each class.

    `names` are the valid strings.
    """
    if isinstance(value, str):
        if value != "scale":
            known = " or ".join(["a number > 0", *map(repr, names)])
            raise ValueError(f"C must be {known}; got {value!r}.")
        C = default
    else:
        C = check_positive("C", value)
    with np.errstate(over="ignore"):
        low, high = C * largest_weights.min(), C * largest_weights.max()
    if not (low > 1e-100 and high < 1e100):  # squares of duals must neither overflow nor underflow
        raise ValueError(
            f"C times the largest row weight of each class must be between 1e-100 and 1e100; it ranges from {low:.3g} "
            f"to {high:.3g} (C = {C:.3g})."
        )
    return C


def resolve_threads(n_jobs: Any) -> int:
    """Return the number of threads: the default for None, else as joblib defines `n_jobs`."""
    if n_jobs is None:
        return default_threads()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or an integer other than 0; got {n_jobs!r}.")
    return min(int(joblib.effective_n_jobs(int(n_jobs))), N_PROCESSORS)
