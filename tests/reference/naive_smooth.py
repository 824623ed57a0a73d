"""Smooth losses row by row, from their definitions: value, conjugate, and the optimality of a solution."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from cgens.coding import simplex_codes


class SmoothReference(NamedTuple):
    """A loss l(F, L) of one row, its conjugate sup_F <g, F> - l(F, L), infinite outside its domain, and the domain.

    `outside(g, L)` is 0 in the domain, else how far g is from it.
    """

    value: Callable[[np.ndarray, np.ndarray], float]
    conjugate: Callable[[np.ndarray, np.ndarray], float]
    outside: Callable[[np.ndarray, np.ndarray], float]


def _entropy(shares: np.ndarray) -> float:
    return float(np.sum(xlogy(shares, np.maximum(shares, 1e-300))))


LOGISTIC = SmoothReference(
    value=lambda F, y: float(np.sum(np.logaddexp(0.0, -y * F))),
    conjugate=lambda g, y: _entropy(np.clip(-y * g, 0, 1)) + _entropy(np.clip(1 + y * g, 0, 1)),
    outside=lambda g, y: float(max(0.0, np.max(y * g), np.max(-y * g - 1))),
)


def _shares(g: np.ndarray, code: np.ndarray) -> np.ndarray:
    """Return the probabilities P with P V = g + code, for simplex codes V."""
    codes = simplex_codes(len(code) + 1)
    return np.linalg.lstsq(np.vstack([codes.T, np.ones(len(codes))]), np.append(g + code, 1.0), rcond=None)[0]


SOFTMAX = SmoothReference(
    value=lambda F, code: float(np.logaddexp.reduce(simplex_codes(len(F) + 1) @ F) - F @ code),
    conjugate=lambda g, code: _entropy(np.clip(_shares(g, code), 0, 1)),
    outside=lambda g, code: float(max(0.0, -_shares(g, code).min())),
)
SQUARED_HINGE = SmoothReference(
    value=lambda F, y: float(0.5 * np.sum(np.maximum(0.0, 1.0 - y * F) ** 2)),
    conjugate=lambda g, y: float(np.sum(y * g + 0.5 * g**2)),
    outside=lambda g, y: float(max(0.0, np.max(y * g))),
)
POISSON = SmoothReference(
    value=lambda F, L: float(np.sum(np.exp(F) - L * F - L + xlogy(L, L))),
    conjugate=lambda g, L: float(np.sum(xlogy(g + L, np.maximum(g + L, 1e-300)) - g - xlogy(L, L))),
    outside=lambda g, L: float(max(0.0, -np.min(g + L))),
)


def huber(delta: float) -> SmoothReference:
    """Return the Huber loss."""

    def value(F: np.ndarray, L: np.ndarray) -> float:
        size = np.abs(F - L)
        return float(np.sum(np.where(size <= delta, 0.5 * size**2, delta * (size - 0.5 * delta))))

    return SmoothReference(
        value=value,
        conjugate=lambda g, L: float(np.sum(g * L + 0.5 * g**2)),
        outside=lambda g, L: float(max(0.0, np.abs(g).max() - delta)),
    )


def smooth_primal(reference, H, target, scale, weights, intercept) -> float:
    """Return 1/2 |W|^2 + sum_i c_i l(F_i, L_i)."""
    decision = H @ weights + intercept
    losses = [c * reference.value(F, L) for c, F, L in zip(scale, decision, target, strict=True)]
    return float(0.5 * np.sum(weights**2) + sum(losses))


def smooth_dual(reference, H, target, scale, duals) -> float:
    """Return -1/2 |H'R|^2 - sum_i c_i l*(-r_i / c_i)."""
    conjugates = [c * reference.conjugate(-r / c, L) for c, r, L in zip(scale, duals, target, strict=True)]
    return float(-0.5 * np.sum((H.T @ duals) ** 2) - sum(conjugates))


def smooth_infeasibility(reference, target, scale, duals) -> float:
    """Return the largest distance from the domain of the conjugate, or the relative sum of the duals if larger."""
    outside = [c * reference.outside(-r / c, L) for c, r, L in zip(scale, duals, target, strict=True)]
    return float(max(max(outside), np.abs(duals.sum(axis=0)).max() / max(1.0, np.abs(duals).sum())))


def smooth_slackness(reference, H, target, scale, weights, intercept, duals) -> float:
    """Return 1/2 |W - H'R|^2 and, for every row, c (l(F) + l*(g) - <g, F>) with g = -r / c: Young's inequality."""
    decision = H @ weights + intercept
    rows = [
        c * (reference.value(F, L) + reference.conjugate(-r / c, L)) + float(r @ F)
        for c, r, F, L in zip(scale, duals, decision, target, strict=True)
    ]
    return float(0.5 * np.sum((weights - H.T @ duals) ** 2) + sum(rows))
