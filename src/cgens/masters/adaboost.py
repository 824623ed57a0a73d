"""Discrete AdaBoost and AdaBoost.MH: stage-wise, a solve sets the newest coefficient only."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from cgens.masters.stage_wise import StageWise, exponential_step
from cgens.masters.targets import check_signs
from cgens.types import Duals, Floats


class AdaBoost(BaseEstimator):  # type: ignore[misc]
    """Lower the exponential loss sum_il s_i exp(-Y_il F_l(x_i)) by one weak learner a round (Schapire & Singer, 1999).

    With one output this is AdaBoost, with several AdaBoost.MH: a weak learner votes for or against every output,
    F_l <- F_l + a v_l h with v_l = +-1, so that its edge is sum_l |sum_i D_il Y_il h(x_i)|: price by the rule "votes".
    Signed duals are Y_il D_il, with D the distribution over rows and outputs.

    Examples
    --------
    >>> import numpy as np
    >>> live = AdaBoost().begin(np.array([[1.0], [1.0], [1.0], [-1.0]]), np.ones(4), n_threads=1)
    >>> live.add(np.array([1, 1, -1, -1], dtype=np.int8))
    >>> solution = live.solve(1e-3, lambda: False)
    >>> solution.weights.round(4), solution.duals.array.ravel().round(4)  # half of D on the mistake
    (array([[0.5493]]), array([ 0.1667,  0.1667,  0.5   , -0.1667]))
    """

    repeats = True
    positive_prices = False
    smooth = True

    def begin(self, target: Floats, sample_weight: Floats, n_threads: int) -> RestrictedAdaBoost:
        """Return the live problem; `target` is +-1 and has the shape (m, l)."""
        check_signs(target, "AdaBoost")
        return RestrictedAdaBoost(target, sample_weight)


class RestrictedAdaBoost(StageWise):
    """The distribution over rows and outputs after the columns added so far."""

    def __init__(self, target: Floats, weight: Floats) -> None:
        super().__init__(target.shape[1])
        self._target = target
        self._share = np.repeat(weight[:, None], target.shape[1], axis=1) / (weight.sum() * target.shape[1])
        self._reach = 0.0  # |F_l(x)| is at most this

    def _fit_newest(self, response: Floats) -> tuple[Floats, Floats]:
        margins = self._target * response[:, None]
        votes = np.where(np.sum(self._share * margins, axis=0) < 0, -1.0, 1.0)
        margins *= votes
        step = exponential_step(self._share, margins)
        if not np.isfinite(step):  # no mistake: it decides alone from now on, and nothing is left to learn
            self._loss = 0.0
            return (1.0 + self._reach) / margins[self._share > 0].min() * votes, np.zeros_like(votes)
        self._reach += abs(step) * float(np.abs(response).max())
        self._share *= np.exp(-step * margins)
        left = self._share.sum()
        self._share /= left
        self._loss *= left
        return step * votes, np.zeros_like(votes)

    def _duals(self) -> Duals:
        return Duals(self._target * self._share if self._loss > 0 else np.zeros_like(self._target))
