"""Losses with box duals on given responses: their definitions, and solutions by LIBSVM and SLSQP.

One output is 1/2 |w|^2 + e b + sum_i c_i loss(y_i - F_i) with F = Hw + b. Its dual is sum_i term(r_i) - 1/2 |H'r|^2
over lo c_i <= r_i <= hi c_i, sum_i r_i = e.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import minimize
from sklearn.svm import SVR, OneClassSVM

from tests.tolerances import LIBSVM_TOL


@dataclass(frozen=True)
class NaiveBox:
    """The loss of a residual, the dual term of r and y, the box in units of c, and the sum e of the duals."""

    loss: Callable[[np.ndarray], np.ndarray]
    term: Callable[[np.ndarray, np.ndarray], np.ndarray]
    lower: float
    upper: float
    total: float = 0.0

    def primal(self, H: np.ndarray, y: np.ndarray, bound: np.ndarray, weights: np.ndarray, intercept: float) -> float:
        losses = self.loss(y - H @ weights - intercept)
        return float(0.5 * weights @ weights + self.total * intercept + bound @ losses)

    def dual(self, H: np.ndarray, y: np.ndarray, duals: np.ndarray) -> float:
        return float(np.sum(self.term(duals, y)) - 0.5 * np.sum((H.T @ duals) ** 2))

    def infeasibility(self, bound: np.ndarray, duals: np.ndarray) -> float:
        """Return the violation of the box relative to its size, or of the sum relative to that of |r|."""
        box = max(0.0, (self.lower * bound - duals).max(), (duals - self.upper * bound).max()) / bound.max()
        return float(max(box, abs(duals.sum() - self.total) / max(np.abs(duals).sum(), np.finfo(float).tiny)))

    def slackness(
        self,
        H: np.ndarray,
        y: np.ndarray,
        bound: np.ndarray,
        weights: np.ndarray,
        intercept: float,
        duals: np.ndarray,
    ) -> float:
        """Return 1/2 |w - H'r|^2 and the gaps of all rows in Young's inequality, c loss(t) + conjugate(r) >= r t."""
        misses = y - H @ weights - intercept
        rows = bound * self.loss(misses) + (y * duals - self.term(duals, y)) - duals * misses
        return float(0.5 * np.sum((weights - H.T @ duals) ** 2) + rows.sum())


def naive_pinball(q: float) -> NaiveBox:
    return NaiveBox(lambda t: np.maximum(q * t, (q - 1) * t), lambda r, y: y * r, q - 1, q)


def naive_tube(epsilon: float) -> NaiveBox:
    return NaiveBox(lambda t: np.maximum(0.0, np.abs(t) - epsilon), lambda r, y: y * r - epsilon * np.abs(r), -1.0, 1.0)


def naive_one_class() -> NaiveBox:
    return NaiveBox(partial(np.maximum, 0.0), lambda r, y: 0.0 * r, 0.0, 1.0, total=1.0)


def svr_optimum(H: np.ndarray, y: np.ndarray, bound: np.ndarray, epsilon: float) -> float:
    """Return the dual value of LIBSVM on the kernel H H'."""
    svr = SVR(kernel="precomputed", C=1.0, epsilon=epsilon, tol=LIBSVM_TOL, shrinking=False)
    svr.fit(H @ H.T, y, sample_weight=bound)
    duals = np.zeros(len(y))
    duals[svr.support_] = svr.dual_coef_[0]
    return naive_tube(epsilon).dual(H, y, duals)


def one_class_optimum(H: np.ndarray, nu: float) -> float:
    """Return the dual value of LIBSVM on the kernel H H', whose duals sum to nu times the number of rows."""
    svm = OneClassSVM(kernel="precomputed", nu=nu, tol=LIBSVM_TOL, shrinking=False).fit(H @ H.T)
    duals = np.zeros(len(H))
    duals[svm.support_] = svm.dual_coef_[0]
    return naive_one_class().dual(H, np.zeros(len(H)), duals / duals.sum())


def quantile_optimum(H: np.ndarray, y: np.ndarray, bound: np.ndarray, q: float) -> float:
    """Return the dual value found by SLSQP, proved by a primal value at the best intercept, which is at a kink."""
    naive, kernel, y = naive_pinball(q), H @ H.T, y - np.median(y)
    found = minimize(
        lambda r: 0.5 * r @ kernel @ r - y @ r,
        np.zeros(len(y)),
        jac=lambda r: kernel @ r - y,
        bounds=list(zip(naive.lower * bound, naive.upper * bound, strict=True)),
        constraints={"type": "eq", "fun": np.sum, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    weights = H.T @ found.x
    primal = min(naive.primal(H, y, bound, weights, kink) for kink in y - H @ weights)
    assert primal - naive.dual(H, y, found.x) <= 1e-6 * primal, "SLSQP has not converged"
    return naive.dual(H, y, found.x)
