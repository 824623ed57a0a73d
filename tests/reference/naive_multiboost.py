"""MultiBoost (Shen & Hao, 2011) by its definition, for each pair of a row and a wrong class."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.optimize import minimize


def wrong_pairs(target: np.ndarray, weight: np.ndarray) -> Iterator[tuple[int, int, int, float]]:
    """Yield row i, its class y, a wrong class r, and the pair's share p of the mean."""
    n_classes = target.shape[1]
    for i, row in enumerate(target):
        y = int(np.argmax(row))
        for r in range(n_classes):
            if r != y:
                yield i, y, r, weight[i] / (weight.sum() * (n_classes - 1))


def multiboost_primal(H: np.ndarray, target: np.ndarray, weight: np.ndarray, nu: float, weights: np.ndarray) -> float:
    """Return the mean of exp(F_r - F_y) over rows and wrong classes, plus nu |W|_1."""
    F = H @ weights
    loss = sum(p * np.exp(F[i, r] - F[i, y]) for i, y, r, p in wrong_pairs(target, weight))
    return float(loss + nu * np.abs(weights).sum())


def multiboost_dual(target: np.ndarray, weight: np.ndarray, duals: np.ndarray) -> float:
    """Return the sum of u (1 - log(u / p)), the minimum of p exp(-z) + u z over z; u = -R of the wrong classes."""
    total = 0.0
    for i, _, r, p in wrong_pairs(target, weight):
        u = -duals[i, r]
        total += u * (1.0 - np.log(u / p)) if u > 0 else 0.0
    return float(total)


def multiboost_infeasibility(H: np.ndarray, target: np.ndarray, duals: np.ndarray, nu: float) -> float:
    """Return the relative violation of u >= 0, rows of sum 0, and no price above nu."""
    wrong = np.where(target < 0, -duals, 0.0)
    scale = np.abs(duals).max()
    rows = np.abs(duals.sum(axis=1)).max() / scale
    prices = np.abs(H.T @ duals).max(initial=0.0) / nu - 1.0
    return float(max(0.0, -wrong.min() / scale, rows, prices))


def multiboost_slackness(
    H: np.ndarray, target: np.ndarray, weight: np.ndarray, nu: float, weights: np.ndarray, duals: np.ndarray
) -> float:
    """Return the sum of the gaps in Young's inequality and of nu |W| - W price: the duality gap.

    Young's inequality of a pair with margin z is p exp(-z) + u z >= u (1 - log(u / p)).
    """
    F, total = H @ weights, 0.0
    for i, y, r, p in wrong_pairs(target, weight):
        u, z = -duals[i, r], F[i, y] - F[i, r]
        total += p * np.exp(-z) + u * z - (u * (1.0 - np.log(u / p)) if u > 0 else 0.0)
    return float(total + np.sum(nu * np.abs(weights) - weights * (H.T @ duals)))


def naive_multiboost(H: np.ndarray, target: np.ndarray, weight: np.ndarray, nu: float) -> tuple[float, np.ndarray]:
    """Return the optimum and its weights, by SLSQP over W = P - N with P, N >= 0: for a handful of columns."""
    shape = (H.shape[1], target.shape[1])
    pairs = list(wrong_pairs(target, weight))
    rows, own, other, p = (np.array(part) for part in zip(*pairs, strict=True))

    def objective(v: np.ndarray) -> tuple[float, np.ndarray]:
        up, down = v.reshape(2, *shape)
        F = H @ (up - down)
        u = p * np.exp(F[rows, other] - F[rows, own])
        slopes = np.zeros(F.shape)
        np.add.at(slopes, (rows, other), u)
        np.add.at(slopes, (rows, own), -u)
        slope = H.T @ slopes
        return float(u.sum() + nu * v.sum()), np.concatenate([(nu + slope).ravel(), (nu - slope).ravel()])

    start = np.zeros(2 * shape[0] * shape[1])
    options = {"ftol": 1e-16, "maxiter": 2000}
    found = minimize(objective, start, jac=True, method="SLSQP", bounds=[(0.0, None)] * len(start), options=options)
    up, down = found.x.reshape(2, *shape)
    return float(found.fun), up - down
