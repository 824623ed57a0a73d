"""Logistic regression over weak learners, for two classes, for more (softmax) and for labels."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import entr, expit

from cgens._core import sum_entropies
from cgens.coding import simplex_codes
from cgens.masters.loss import best_multiple
from cgens.masters.smooth import SmoothLoss
from cgens.masters.targets import check_signs
from cgens.types import Family, Floats, Target


class Logistic(SmoothLoss):
    """Minimize 1/2 |W|^2 + C sum_i s_i loss(F(x_i), L_i) with the negative log-likelihood as the loss.

    For two classes, and for each of several labels, it is log(1 + exp(-yF)). For k classes, F has the k - 1 coordinates
    of a simplex with the codes v_k, the scores are <F, v_k>, and the loss is that of the softmax,
    log sum_k exp <F, v_k> - <F, L>: multinomial logistic regression, whose C is this one times k / (k - 1).

    Parameters
    ----------
    C : float or None
        As in `Hinge`.
    max_iter : int

    Examples
    --------
    >>> import numpy as np
    >>> restricted = Logistic(C=1.0).begin(np.array([[1.0], [-1.0]]), np.ones(2), n_threads=1)
    >>> restricted.add(np.array([1, -1], dtype=np.int8))
    >>> solution = restricted.solve(1e-12, lambda: False)
    >>> solution.weights.round(4), solution.duals.array.ravel().round(4)
    (array([[0.6748]]), array([ 0.3374, -0.3374]))
    """

    name = "logistic"
    targets: ClassVar[frozenset[Target]] = frozenset({"classes", "labels"})
    c_factor = 2.0
    has_probabilities = True

    def default_c(self, family: Family, target: Floats, weight: Floats) -> float:
        """Return the C of ``C="scale"``: for k classes, k - 1 times that of two (docs/decisions/0016)."""
        return super().default_c(family, target, weight) * (target.shape[1] if is_simplex(target) else 1)

    def curvature_scale(self, target: Floats, weight: Floats) -> float:
        """Return half the mean second derivative of the constant model, a typical size in a fitted one.

        The upper bounds, 1/4 for labels and 1/2 k / (k - 1) for the softmax of k classes, are far too large for ten
        classes: columns that lower a majorizer most are then poor ones (docs/decisions/0016).
        """
        shares = weight / weight.sum()
        constant = np.broadcast_to(shares @ target, target.shape)  # the mean code, or the mean label
        if is_simplex(target):
            typical = 0.5 * float(np.mean(self.curvature(constant - target, target)[0]))
        else:
            typical = 0.125 * float(np.mean(1.0 - constant[0] ** 2))
        return max(typical, 1e-10)  # it is 0 if all rows are of one class

    def curvature(self, gradient: Floats, target: Floats) -> Floats:
        """Return p (1 - p) of each label; for the softmax, the variances of the coordinates of the codes."""
        if not is_simplex(target):
            missing = np.abs(gradient)
            return missing * (1.0 - missing)
        means, codes = gradient + target, simplex_codes(target.shape[1] + 1)
        return np.asarray(code_probabilities(means, codes) @ codes**2 - means**2)

    def intercept_curvature(self, gradient: Floats, target: Floats, scale: Floats) -> Floats | None:
        """Return V'(diag(p) - pp')V for the softmax, added up."""
        if not is_simplex(target):
            return None
        means, codes = gradient + target, simplex_codes(target.shape[1] + 1)
        totals = scale @ code_probabilities(means, codes)
        return np.asarray((codes.T * totals) @ codes - (means.T * scale) @ means)

    def compiled_kind(self, target: Floats) -> str | None:
        """Return "logistic" for one output."""
        return "logistic" if target.shape[1] == 1 else None

    def check_target(self, target: Floats) -> None:
        """Raise ValueError unless the target is of simplex codes or +-1."""
        if not is_simplex(target):
            check_signs(target, "The logistic loss")

    def losses(self, decision: Floats, target: Floats) -> Floats:
        """Return the negative log-likelihood of every row, shape (m,)."""
        if is_simplex(target):
            scores = simplex_codes(decision.shape[1] + 1) @ decision.T
            largest = scores.max(axis=0)
            scores -= largest
            fit = np.einsum("it,it->i", decision, target)
            return np.asarray(np.log(np.exp(scores, out=scores).sum(axis=0)) + largest - fit)
        margins = target * decision
        # log(1 + exp(-m)) without overflow
        return np.asarray((np.log1p(np.exp(-np.abs(margins))) - np.minimum(margins, 0.0)).sum(axis=1))

    def gradient(self, decision: Floats, target: Floats) -> Floats:
        """Return the derivative of `losses`, shape (m, l)."""
        if is_simplex(target):
            codes = simplex_codes(decision.shape[1] + 1)
            return np.ascontiguousarray((codes.T @ softmax(codes @ decision.T)).T) - target
        return np.asarray(-target * expit(-target * decision))

    def dual_values(self, duals: Floats, target: Floats, scale: Floats) -> Floats:
        """Return c_i times the entropy of the probabilities that the duals stand for, shape (m,)."""
        shares = np.maximum(self._dual_probabilities(duals, target, scale), 0.0)  # by rounding only
        return np.asarray(scale * entr(shares).sum(axis=1))

    def pool_bound(self, duals: Floats, target: Floats, scale: Floats, energy: float) -> float:
        """Return the bound of `Loss`; of one output without an array for each multiple of the duals that is tried."""
        if duals.shape[1] > 1:
            return super().pool_bound(duals, target, scale, energy)
        own = np.ascontiguousarray(duals[:, 0])
        return best_multiple(lambda s: sum_entropies(own, scale, s) - 0.5 * s * s * energy)

    def infeasibility(self, duals: Floats, target: Floats, scale: Floats) -> float:
        """Return the largest amount by which C s times a probability that the duals stand for is negative."""
        return float(max(0.0, -(scale[:, None] * self._dual_probabilities(duals, target, scale)).min()))

    def _dual_probabilities(self, duals: Floats, target: Floats, scale: Floats) -> Floats:
        """Return the P with R = c (L - PV), shape (m, k); for labels of +-1 those of both signs, shape (m, 2 l)."""
        if is_simplex(target):
            return code_probabilities(target - duals / scale[:, None], simplex_codes(target.shape[1] + 1))
        missing = target * duals / scale[:, None]
        return np.hstack([missing, 1.0 - missing])

    def probabilities(self, decision: Floats, codes: Floats | None) -> Floats:
        """Return the softmax of the scores, or the logistic function of each decision."""
        if codes is not None and len(codes) > 2:
            return np.ascontiguousarray(softmax(codes @ decision.T).T)
        positive = expit(decision)
        return positive if codes is None else np.hstack([expit(-decision), positive])


def is_simplex(target: Floats) -> bool:
    """Return whether the rows are simplex codes of more than two classes, unit vectors, rather than labels of +-1."""
    return target.shape[1] > 1 and bool(abs(np.sum(target[0] ** 2) - 1.0) < 0.5)


def code_probabilities(means: Floats, codes: Floats) -> Floats:
    """Return the probabilities of the classes for which these are the mean codes of a simplex, (m, l) to (m, k)."""
    n_outputs = means.shape[1]
    return np.asarray((1.0 + n_outputs * (means @ codes.T)) / (n_outputs + 1))


def softmax(scores: Floats) -> Floats:
    """Return exp(scores) divided by the sum of each column, in place; scores have the shape (k, n): classes first."""
    scores -= scores.max(axis=0)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=0)
    return scores
