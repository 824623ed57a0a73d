"""Directions and line searches of the smooth solver."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from cgens.types import Floats

#: Rows of the columns that are converted at a time.
_ROWS = 2048


class ConjugateGradients:
    """Directions of preconditioned nonlinear conjugate gradients (Polak and Ribiere, restarted where that is < 0)."""

    def __init__(self) -> None:
        self._last: tuple[Floats, Floats, float] | None = None

    def direction(self, gradient: Floats, solved: Floats) -> Floats:
        """Return the next direction, given the gradient and the preconditioner's answer to it."""
        size, direction = float(np.sum(gradient * solved)), solved
        if self._last is not None:
            last_direction, last_gradient, last_size = self._last
            beta = float(np.sum(solved * (gradient - last_gradient))) / last_size
            direction = solved + max(beta, 0.0) * last_direction
            if not np.sum(gradient * direction) > 0:
                direction = solved
        self._last = direction, gradient, max(size, np.finfo(float).tiny)
        return direction


class NewtonBlocks:
    """The Hessian of the objective in the weights and the intercept, one block per output, factorized.

    Parameters
    ----------
    centred_rows : callable
        ``centred_rows(begin, end)`` returns these rows of the columns, shape (end - begin, J).
    curvatures : ndarray of shape (m, l)
        c_i times the second derivatives of the loss.
    n_columns : int
        J.
    """

    def __init__(self, centred_rows: Callable[[int, int], Floats], curvatures: Floats, n_columns: int) -> None:
        n_rows, n_outputs = curvatures.shape
        blocks = np.zeros((n_outputs, n_columns + 1, n_columns + 1))
        for begin in range(0, n_rows, _ROWS):
            end = min(begin + _ROWS, n_rows)
            rows = np.hstack([centred_rows(begin, end), np.ones((end - begin, 1))])
            for block, curvature in zip(blocks, curvatures[begin:end].T, strict=True):
                block += rows.T @ (curvature[:, None] * rows)
        self._factors = []
        for block in blocks:
            block[range(n_columns), range(n_columns)] += 1.0
            block[-1, -1] += 1e-12 * max(1.0, float(np.trace(block)))  # the curvature may be 0 in all rows
            try:
                self._factors.append(cho_factor(block, lower=True, overwrite_a=True))
            except LinAlgError:  # rounding, with a C near the largest number whose square is finite
                self._factors.append((np.diag(np.sqrt(np.diag(block))), True))
        self.n_solved = 0

    def solve(self, gradient: Floats) -> Floats:
        """Return Newton's direction for a gradient of shape (J + 1, l), the intercept last."""
        self.n_solved += 1
        return np.column_stack([cho_solve(own, g) for own, g in zip(self._factors, gradient.T, strict=True)])


def find_root(descent: Callable[[float], float], first: float, accuracy: float) -> float:
    """Return a t > 0 with |descent(t)| <= accuracy * first, as near as rounding allows; 0 if no t > 0 has descent >= 0.

    Beyond the root it is at most 0.1 * first, so that the objective falls.

    `descent` falls from `first` > 0 at t = 0. Secant steps within a bracket, from t = 1. The last call of `descent` is
    at the t that is returned.
    """
    low, at_low, high, at_high = 0.0, first, np.inf, -np.inf
    t, share = 1.0, 1.0
    for _ in range(60):
        value = descent(t)
        if -min(accuracy, 0.1) * first <= value <= accuracy * first:
            return t
        if value > 0:
            # Along the last two slopes, and at most ten times as far.
            fall = (at_low - value) / (t - low)
            guess = min(t + value / fall, 10 * t) if fall > 0 else 10 * t
            low, at_low, share = t, value, 1.0
        else:
            high, at_high = t, value if np.isfinite(value) else -np.inf
            guess = low + (high - low) * (share * at_low) / (share * at_low - at_high)
            share *= 0.5  # if this end moves again, the other one counts for half, or it would stay for long (Illinois)
        if high < np.inf:
            guess = min(max(guess, low + 0.01 * (high - low)), high - 0.01 * (high - low))
        if not low < guess < high:
            break
        t = guess
    if low != t and low > 0:
        descent(low)
    return low
