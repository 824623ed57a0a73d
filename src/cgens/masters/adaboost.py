"""Discrete AdaBoost and AdaBoost.MH, stage-wise: each solve sets only the weights of the newest column."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from cgens.masters.stage_wise import StageWise, exponential_step
from cgens.masters.targets import check_signs
from cgens.types import Duals, Floats


class AdaBoost(BaseEstimator):  # type: ignore[misc]
    """Lower the exponential loss sum_il s_i exp(-Y_il F_l(x_i)) by one column per round (Schapire & Singer, 1999).

    With one output this is AdaBoost, with several AdaBoost.MH: a weak learner votes for or against every output,
    F_l <- F_l + a v_l h with v_l = +-1, and its edge is sum_l |sum_i D_il Y_il h(x_i)|, as in the pricing rule "votes".
    Signed duals are Y_il D_il, with D the distribution over rows and outputs.

    Examples
    --------
    >>> import numpy as np
    >>> master = AdaBoost().begin(np.array([[1.0], [1.0], [1.0], [-1.0]]), np.ones(4), n_threads=1)
    >>> master.add(np.array([1, 1, -1, -1], dtype=np.int8))
    >>> solution = master.solve(1e-3, lambda: False)
    >>> solution.weights.round(4), solution.duals.array.ravel().round(4)  # half of D on the mistake
    (array([[0.5493]]), array([ 0.1667,  0.1667,  0.5   , -0.1667]))
    """

    repeats = True
    positive_prices = False
    smooth = True

    def begin(self, target: Floats, sample_weight: Floats, n_threads: int) -> RestrictedAdaBoost:
        """Return the problem without columns; `target` is +-1, shape (m, l)."""
        check_signs(target, "AdaBoost")
        return RestrictedAdaBoost(target, sample_weight)


class RestrictedAdaBoost(StageWise):
    """The distribution over rows and outputs after the columns added so far."""

    def __init__(self, target: Floats, weight: Floats) -> None:
        n_outputs = target.shape[1]
        super().__init__(np.repeat(weight[:, None], n_outputs, axis=1) / (weight.sum() * n_outputs))
        self._target = target
        self._bound = 0.0  # upper bound on |F_l(x)|

    def _fit_newest(self, response: Floats) -> tuple[Floats, Floats]:
        margins = self._target * response[:, None]
        votes = np.where(np.sum(self._distribution * margins, axis=0) < 0, -1.0, 1.0)
        margins *= votes
        step = exponential_step(self._distribution, margins)
        if not np.isfinite(step):  # no mistakes: this column outweighs all others, and there is nothing left to learn
            self._loss = 0.0
            return (1.0 + self._bound) / margins[self._distribution > 0].min() * votes, np.zeros_like(votes)
        self._bound += abs(step) * float(np.abs(response).max())
        self._reweight(np.exp(-step * margins))
        return step * votes, np.zeros_like(votes)

    def _duals(self) -> Duals:
        return Duals(self._target * self._distribution if self._loss > 0 else np.zeros_like(self._target))
