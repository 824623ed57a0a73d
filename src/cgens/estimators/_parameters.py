"""Checks and defaults of the estimators' parameters; error messages are one line and include the value."""

from __future__ import annotations

import math
import os
from numbers import Integral, Real
from typing import Any

import joblib
import numpy as np

from cgens._core import default_threads, usable_threads
from cgens.types import Floats, Rule, WeakLearner
from cgens.weak_learners import Box, Fourier, Linear, Mixture, Perceptron, Tree
from cgens.weak_learners.registry import resolve_family

#: (c, p) of each loss: ``C="scale"`` is c / (total weight of the rows)^p, docs/decisions/0004-default-C.md.
SCALE_RULE = {"hinge": (7.0, 1), "least_squares": (0.01, 0), "squared": (0.003, 0)}
#: c of the other families, hinge loss and least squares: C is c / (total weight), for least squares times the outputs.
FAMILY_STRENGTH: dict[type, tuple[float, float]] = {
    Fourier: (0.7, 0.3),
    Perceptron: (1.5, 1.0),
    Tree: (0.2, 0.2),
    Box: (3.0, 1.5),
    Linear: (30.0, 30.0),
    Mixture: (0.5, 0.3),
}

N_PROCESSORS = os.cpu_count() or 1  # looked up once: it takes as long as predicting a row


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


def check_switch(name: str, value: object) -> bool:
    """Return `value` as a bool if it is True or False, else raise ValueError."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {value!r}.")
    return bool(value)


def resolve_weak_learner(value: Any) -> WeakLearner:
    """Return the family for a name, an object or a list of them."""
    if isinstance(value, list):
        mixture = Mixture(value)
        mixture.members()  # raises if the list is invalid
        return mixture
    return resolve_family(value)


def total_weight(weights: Floats) -> float:
    """Return the sum, exactly rounded so that it does not depend on the order of the rows."""
    try:
        return math.fsum(weights)
    except OverflowError:
        raise ValueError(
            f"The sum of the sample weights overflows (the largest is {weights.max():.3g}): divide them by the largest."
        ) from None


def resolve_pricing(value: Any, loss: str) -> Rule:
    """Return the rule for `pricing`: docs/decisions/0008-gain-pricing.md."""
    if not isinstance(value, str) or value not in ("auto", "gain", "max"):
        raise ValueError(f"pricing must be 'auto', 'gain' or 'max'; got {value!r}.")
    if loss == "hinge":
        if value == "gain":
            raise ValueError("pricing='gain' needs the closed form of least squares; with loss='hinge' use 'max'.")
        return "max"
    return "max" if value == "max" else "gain"


def scale_c(loss: str, family: WeakLearner, n_outputs: int, total: float) -> float:
    """Return the value of ``C="scale"`` for a family and the total weight of the rows."""
    if isinstance(family, Mixture) and len(family.members()) == 1:
        return scale_c(loss, family.members()[0].family, n_outputs, total)
    if type(family) in FAMILY_STRENGTH:
        hinge, squares = FAMILY_STRENGTH[type(family)]
        return (hinge if loss == "hinge" else squares * n_outputs) / total
    constant, power = SCALE_RULE[loss]
    return constant / total**power


def resolve_c(value: Any, default: float, largest_weights: Floats) -> float:
    """Return the value of `C`, given the value for "scale" and the largest row weight of each class."""
    if isinstance(value, str):
        if value != "scale":
            raise ValueError(f"C must be a number > 0 or 'scale'; got {value!r}.")
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
    """Return the number of threads: OpenMP's default for None, else as joblib defines `n_jobs`."""
    if n_jobs is None:
        return usable_threads(default_threads())
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or an integer other than 0; got {n_jobs!r}.")
    # At most one per processor: OpenMP ends the process if it cannot start as many threads as requested.
    most = max(N_PROCESSORS, default_threads())
    return usable_threads(min(int(joblib.effective_n_jobs(int(n_jobs))), most))
