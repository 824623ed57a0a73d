"""The SVM with a free bias on given responses (EQ:SVM1, EQ:SVM_D1): its definition, and its solution by LIBSVM."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.svm import SVC

from tests.tolerances import LIBSVM_TOL


@dataclass(frozen=True)
class NaiveSolution:
    weights: np.ndarray
    intercept: float
    duals: np.ndarray
    primal: float
    dual: float


def hinge_primal(H: np.ndarray, y: np.ndarray, bound: np.ndarray, weights: np.ndarray, intercept: float) -> float:
    """Return 1/2 |w|^2 + sum_i bound_i max(0, 1 - y_i (w.h_i + b))."""
    margins = y * (H @ weights + intercept)
    return float(0.5 * weights @ weights + bound @ np.maximum(0.0, 1.0 - margins))


def hinge_dual(H: np.ndarray, duals: np.ndarray) -> float:
    """Return sum_i |r_i| - 1/2 |sum_i r_i h_i|^2 of signed duals r_i = y_i a_i."""
    return float(np.abs(duals).sum() - 0.5 * np.sum((H.T @ duals) ** 2))


def best_bias_value(H: np.ndarray, y: np.ndarray, bound: np.ndarray, weights: np.ndarray) -> float:
    """Return the minimum of the primal over the bias: a piecewise linear function has its minimum at a kink."""
    return min(hinge_primal(H, y, bound, weights, float(kink)) for kink in y - H @ weights)


def naive_hinge(H: np.ndarray, y: np.ndarray, bound: np.ndarray) -> NaiveSolution:
    """Solve with LIBSVM on the kernel H H'."""
    kernel = H @ H.T
    svc = SVC(kernel="precomputed", C=1.0, tol=LIBSVM_TOL, shrinking=False).fit(kernel, y, sample_weight=bound)
    duals = np.zeros(len(y))
    duals[svc.support_] = svc.dual_coef_[0]
    weights, intercept = H.T @ duals, float(svc.intercept_[0])
    return NaiveSolution(weights, intercept, duals, hinge_primal(H, y, bound, weights, intercept), hinge_dual(H, duals))


@dataclass(frozen=True)
class Residuals:
    """Violations of the optimality conditions; all are >= 0, and 0 at an optimum.

    box, balance and stationarity must always be 0 up to rounding; slackness, the sum of
    (bound_i - a_i) xi_i + a_i (y_i F_i - 1 + xi_i), is the duality gap.
    """

    box: float
    balance: float
    stationarity: float
    slackness: float


def hinge_residuals(
    H: np.ndarray, y: np.ndarray, bound: np.ndarray, weights: np.ndarray, intercept: float, duals: np.ndarray
) -> Residuals:
    alphas = y * duals
    margins = y * (H @ weights + intercept)
    losses = np.maximum(0.0, 1.0 - margins)
    largest = np.maximum(np.abs(H).T @ np.abs(duals), np.finfo(float).tiny)
    return Residuals(
        box=float(max(0.0, -alphas.min(), (alphas - bound).max()) / bound.max()),
        balance=float(abs(duals.sum()) / max(np.abs(duals).sum(), np.finfo(float).tiny)),
        stationarity=float(np.max(np.abs(weights - H.T @ duals) / largest, initial=0.0)),
        slackness=float((bound - alphas) @ losses + alphas @ (margins - 1.0 + losses)),
    )
