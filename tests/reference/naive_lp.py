"""LPBoost over a matrix of all responses, by SciPy's `linprog`, in its published form: w >= 0 and both signs of h."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog


def lp_primal(H: np.ndarray, y: np.ndarray, bound: np.ndarray, weights: np.ndarray) -> float:
    """Return |w|_1 + sum_i bound_i max(0, 1 - y_i w.h_i)."""
    margins = y * (H @ weights)
    return float(np.abs(weights).sum() + bound @ np.maximum(0.0, 1.0 - margins))


def nu_primal(H: np.ndarray, y: np.ndarray, bound: np.ndarray, weights: np.ndarray) -> float:
    """Return the minimum of 2 - rho + sum_i bound_i max(0, rho - y_i w.h_i) over rho."""
    return nu_value(y * (H @ weights), bound, best_rho(H, y, bound, weights))


def best_rho(H: np.ndarray, y: np.ndarray, bound: np.ndarray, weights: np.ndarray) -> float:
    """Return the best rho: a piecewise linear function has its minimum at a kink."""
    margins = y * (H @ weights)
    return float(min(margins, key=lambda rho: nu_value(margins, bound, rho)))


def nu_value(margins: np.ndarray, bound: np.ndarray, rho: float) -> float:
    return float(2.0 - rho + bound @ np.maximum(0.0, rho - margins))


def naive_lpboost(H: np.ndarray, y: np.ndarray, bound: np.ndarray) -> float:
    """Minimize sum(w) + sum_i bound_i xi_i, y_i sum_j w_j h_j(x_i) >= 1 - xi_i, over h and -h, w >= 0 (EQ:LPB1)."""
    m, n = H.shape
    signed = y[:, None] * np.hstack([H, -H])
    return optimum(
        cost=np.concatenate([np.ones(2 * n), bound]),
        A_ub=-np.hstack([signed, np.eye(m)]),
        b_ub=-np.ones(m),
    )


def naive_nu_lpboost(H: np.ndarray, y: np.ndarray, share: np.ndarray, nu: float) -> float:
    """Maximize rho - sum_i share_i xi_i / nu, y_i sum_j w_j h_j(x_i) >= rho - xi_i, sum(w) = 1 (Demiriz et al.).

    The shares have the sum 1. As in the master, the value is 2 minus the published one.
    """
    m, n = H.shape
    signed = y[:, None] * np.hstack([H, -H])
    return 2.0 + optimum(
        cost=np.concatenate([np.zeros(2 * n), share / nu, [-1.0]]),
        A_ub=np.hstack([-signed, -np.eye(m), np.ones((m, 1))]),
        b_ub=np.zeros(m),
        A_eq=np.concatenate([np.ones(2 * n), np.zeros(m), [0.0]])[None],
        b_eq=np.ones(1),
        bounds=[*[(0.0, None)] * (2 * n + m), (None, None)],
    )


def optimum(cost: np.ndarray, **program: object) -> float:
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(cost, method="highs-ds", options=tight, **program)
    assert found.status == 0, found.message
    return float(found.fun)
