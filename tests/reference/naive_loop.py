"""Column generation with naive parts: the whole library on one page."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.reference.naive_hinge import NaiveSolution, naive_hinge
from tests.reference.naive_stumps import NaiveStump, naive_best, naive_pool, naive_prices, pool_matrix


@dataclass(frozen=True)
class NaiveFit:
    stumps: list[NaiveStump]
    solution: NaiveSolution
    primals: list[float]
    converged: bool


def empty_master_duals(y: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """Return the duals of the model with a bias only: at the bound, the heavier class scaled down for balance."""
    duals = y * bound
    above, below = bound[y > 0].sum(), bound[y < 0].sum()
    heavier = y > 0 if above > below else y < 0
    duals[heavier] *= min(above, below) / max(above, below)
    return duals


def naive_column_generation(
    X: np.ndarray, y: np.ndarray, bound: np.ndarray, max_columns: int = 10_000, price_tol: float = 1e-6
) -> NaiveFit:
    """Return the stumps in the order of their rounds, and the SVM over them."""
    pool = naive_pool(X)
    stumps: list[NaiveStump] = []
    duals = empty_master_duals(y, bound)
    solution: NaiveSolution | None = None
    primals: list[float] = []
    converged = False
    while len(stumps) < max_columns:
        best = naive_best(pool, duals, {stump.key for stump in stumps})
        if best is None or abs(naive_prices([best], duals)[0]) <= price_tol * np.abs(duals).sum():
            converged = True
            break
        stumps.append(best)
        solution = naive_hinge(pool_matrix(stumps, len(y)), y, bound)
        primals.append(solution.primal)
        duals = solution.duals
    assert solution is not None
    return NaiveFit(stumps, solution, primals, converged)
