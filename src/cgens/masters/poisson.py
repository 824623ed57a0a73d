"""Regression of counts by the Poisson loss, with a log link."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import xlogy

from cgens.coding import RegressionCoding
from cgens.masters.smooth import SmoothLoss
from cgens.masters.targets import check_range
from cgens.types import Floats, Target


class Poisson(SmoothLoss):
    """Minimize 1/2 |W|^2 + C sum_i s_i (exp(F) - LF - L + L log L), half the Poisson deviance of the mean exp(F(x)).

    Predictions are means, exp(F(x)).

    Parameters
    ----------
    C : float or None
        As in `Hinge`.
    max_iter : int

    Examples
    --------
    >>> import numpy as np
    >>> restricted = Poisson(C=100.0).begin(np.array([[4.0], [1.0]]), np.ones(2), n_threads=1)
    >>> restricted.add(np.array([1, -1], dtype=np.int8))
    >>> solution = restricted.solve(1e-12, lambda: False)
    >>> np.exp(solution.weights[0] * [1, -1] + solution.intercept).round(2)
    array([4., 1.])
    """

    name = "poisson"
    targets: ClassVar[frozenset[Target]] = frozenset({"regression"})
    nonnegative_targets = True

    def curvature_scale(self, target: Floats, weight: Floats) -> float:
        """Return the mean of the counts, which the mean of exp(F) equals at the optimum: there is no upper bound."""
        return float(np.average(target.mean(axis=1), weights=weight))

    def check_target(self, target: Floats) -> None:
        """Raise ValueError if a count is negative, or all are 0."""
        if target.min() < 0:
            row = int(np.argmin(target.min(axis=1)))
            raise ValueError(f"loss='poisson' needs counts y >= 0; the smallest is {target[row].min():g}.")
        if not target.any(axis=0).all():
            raise ValueError("loss='poisson' needs a count > 0; all values of y are 0.")
        check_range(target)

    def losses(self, decision: Floats, target: Floats) -> Floats:
        """Return half the deviance, summed over the outputs."""
        # L (exp(u) - 1 - u) with u = F - log L, which does not cancel; exp(F) where L is 0.
        positive = target > 0
        excess = decision - np.log(np.where(positive, target, 1.0))
        with np.errstate(over="ignore"):
            terms = np.where(positive, target * (np.expm1(excess) - excess), np.exp(decision))
        return np.asarray(terms.sum(axis=1))

    def gradient(self, decision: Floats, target: Floats) -> Floats:
        """Return exp(F) - L."""
        with np.errstate(over="ignore"):
            return np.exp(decision) - target

    def curvature(self, gradient: Floats, target: Floats) -> Floats:
        """Return exp(F)."""
        return gradient + target

    def dual_values(self, duals: Floats, target: Floats, scale: Floats) -> Floats:
        """Return C s (q - q log q - L + L log L) with the means q = L - r / (C s), summed over the outputs."""
        means = np.maximum(target - duals / scale[:, None], 0.0)
        terms = means - xlogy(means, means) - target + xlogy(target, target)
        return np.asarray(scale * np.sum(terms, axis=1))

    def infeasibility(self, duals: Floats, target: Floats, scale: Floats) -> float:
        """Return the largest amount by which C s times a mean q is negative."""
        return float(max(0.0, (duals - scale[:, None] * target).max()))

    def score(self, decision: Floats, target: Floats, weight: Floats) -> float:
        """Return D^2: 1 minus the deviance relative to that of the means of the target."""
        constants = np.log(np.maximum(np.average(target, axis=0, weights=weight), np.finfo(float).tiny))
        loss, worst = (self.value(own, target, weight) for own in (decision, np.broadcast_to(constants, target.shape)))
        return 1.0 - loss / worst if worst > 0 else float(loss == 0)

    def code_numbers(self, flat: bool) -> RegressionCoding:
        """Return the coding whose predictions are exp(F)."""
        return RegressionCoding(flat, link="log")
