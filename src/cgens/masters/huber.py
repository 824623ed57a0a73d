"""Robust regression by the Huber loss."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from cgens.default_c import CKind
from cgens.masters.smooth import SmoothLoss
from cgens.masters.spread import spread_of
from cgens.masters.targets import as_values, check_outputs, check_range
from cgens.types import Floats, Target


class Huber(SmoothLoss):
    """Minimize 1/2 |W|^2 + C sum_i s_i loss(F(x_i) - L_i): quadratic, e^2 / 2, up to delta, and linear beyond.

    Parameters
    ----------
    C : float or None
        As in `Hinge`.
    max_iter : int
    delta : float, list of float or "scale"
        Residuals larger than this count linearly. "scale": 1.35 times a robust standard deviation of each output, its
        interquartile range / 1.349.

    Examples
    --------
    >>> import numpy as np
    >>> restricted = Huber(C=1.0, delta=1.0).begin(np.array([[9.0], [0.0]]), np.ones(2), n_threads=1)
    >>> restricted.add(np.array([1, -1], dtype=np.int8))
    >>> restricted.solve(1e-12, lambda: False).weights.round(4)
    array([[2.]])
    """

    name = "huber"
    targets: ClassVar[frozenset[Target]] = frozenset({"regression"})
    c_kind: ClassVar[CKind] = "regression"

    def __init__(self, C: float | None = None, max_iter: int = 1000, delta: Any = "scale") -> None:
        super().__init__(C, max_iter)
        self.delta = delta

    def deltas(self) -> Floats:
        """Return delta as numbers, shape (1,) or (l,)."""
        return as_values(self.delta, lambda delta: 0 < delta < np.inf, "delta must be a finite number > 0 or 'scale'")

    def for_target(self, target: Floats, weight: Floats) -> Self:
        """Return the loss with delta as a number for each output."""
        if isinstance(self.delta, str) and self.delta == "scale":
            check_range(target)
            resolved: Self = clone(self).set_params(delta=(1.35 * spread_of(target, weight)).tolist())
            return resolved
        return self

    def check_target(self, target: Floats) -> None:
        """Raise ValueError if delta is invalid or does not match the outputs."""
        check_outputs("delta", self.deltas(), target)
        check_range(target)

    def curvature_scale(self, target: Floats, weight: Floats) -> float:
        """Return 1."""
        return 1.0

    def losses(self, decision: Floats, target: Floats) -> Floats:
        """Return the Huber loss of the residual, summed over the outputs."""
        size = np.abs(decision - target)
        near = np.minimum(size, self.deltas())
        return np.asarray(np.sum(near * (size - 0.5 * near), axis=1))

    def gradient(self, decision: Floats, target: Floats) -> Floats:
        """Return the residual, clipped at +-delta."""
        deltas = self.deltas()
        return np.clip(decision - target, -deltas, deltas)

    def curvature(self, gradient: Floats, target: Floats) -> Floats:
        """Return 1 for residuals within +-delta, else 0."""
        return (np.abs(gradient) < self.deltas()).astype(np.float64)

    def origin(self, target: Floats, weight: Floats) -> Floats:
        """Return the median of each output."""
        return np.asarray(np.median(target, axis=0))

    def dual_values(self, duals: Floats, target: Floats, scale: Floats) -> Floats:
        """Return Lr - r^2 / (2 C s); as the duals sum to 0, L is measured from its first row, for less rounding."""
        return np.asarray(np.sum((target - target[0]) * duals - 0.5 * duals**2 / scale[:, None], axis=1))

    def infeasibility(self, duals: Floats, target: Floats, scale: Floats) -> float:
        """Return the largest amount by which |r| exceeds C s delta."""
        return float(max(0.0, (np.abs(duals) - scale[:, None] * self.deltas()).max()))
