"""The SVM with the squared hinge loss and a free bias."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from cgens.coding import ClassCoding
from cgens.masters.smooth import SmoothLoss
from cgens.masters.targets import check_signs
from cgens.types import AnyArray, Floats, Target


class SquaredHinge(SmoothLoss):
    """Minimize 1/2 |w|^2 + C/2 sum_i s_i max(0, 1 - y_i F(x_i))^2 over w and b, for each column y of the target.

    Parameters
    ----------
    C : float or None
        As in `Hinge`.
    max_iter : int

    Examples
    --------
    >>> import numpy as np
    >>> restricted = SquaredHinge(C=1.0).begin(np.array([[1.0], [-1.0]]), np.ones(2), n_threads=1)
    >>> restricted.add(np.array([1, -1], dtype=np.int8))
    >>> restricted.solve(1e-12, lambda: False).weights.round(4)
    array([[0.6667]])
    """

    name = "squared_hinge"
    targets: ClassVar[frozenset[Target]] = frozenset({"classes", "labels"})

    def curvature_scale(self, target: Floats, weight: Floats) -> float:
        """Return 1."""
        return 1.0

    def check_target(self, target: Floats) -> None:
        """Raise ValueError unless the target is +-1."""
        check_signs(target, "The squared hinge loss")

    def losses(self, decision: Floats, target: Floats) -> Floats:
        """Return 1/2 max(0, 1 - yF)^2, summed over the outputs."""
        return np.asarray(0.5 * np.sum(np.maximum(0.0, 1.0 - target * decision) ** 2, axis=1))

    def gradient(self, decision: Floats, target: Floats) -> Floats:
        """Return -y max(0, 1 - yF)."""
        return -target * np.maximum(0.0, 1.0 - target * decision)

    def curvature(self, gradient: Floats, target: Floats) -> Floats:
        """Return 1 where yF < 1, else 0."""
        return np.not_equal(gradient, 0.0).astype(np.float64)

    def dual_values(self, duals: Floats, target: Floats, scale: Floats) -> Floats:
        """Return a - a^2 / (2 C s) with a = yr, summed over the outputs."""
        alphas = target * duals
        return np.asarray(np.sum(alphas - 0.5 * alphas**2 / scale[:, None], axis=1))

    def infeasibility(self, duals: Floats, target: Floats, scale: Floats) -> float:
        """Return the largest amount by which a = yr is negative."""
        return float(max(0.0, -(target * duals).min()))

    def code_classes(self, classes: AnyArray) -> ClassCoding:
        """Return +-1: for more than two classes, each against the rest."""
        return ClassCoding.signs(classes)
