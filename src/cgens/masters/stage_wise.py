"""The base class of stage-wise masters, whose weights are set once and never change."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from cgens.masters.response_rows import ResponseRows
from cgens.types import AnyArray, Duals, Floats, MasterSolution, Poll, RankOneStep, Status

#: Largest coefficient of a weak learner: with responses of about 1, the exponential of a larger one may overflow.
LARGEST_STEP = 350.0


class StageWise:
    """A restricted master whose `solve` fits the weights of the newest column and leaves the others unchanged.

    Subclasses define how (`_fit_newest`), and the duals that price the next column (`_duals`).

    Parameters
    ----------
    distribution : ndarray of shape (m, l)
        Initial distribution over rows and outputs, of sum 1.
    """

    def __init__(self, distribution: Floats) -> None:
        self._distribution = distribution
        self._newest: AnyArray | None = None
        self._rows = ResponseRows(distribution.shape[1])
        self._intercept: Floats = np.zeros(distribution.shape[1])
        self._loss = 1.0

    def _fit_newest(self, response: Floats) -> tuple[Floats, Floats]:
        """Return the weights of a column and its contribution to the intercept, both of shape (l,)."""
        raise NotImplementedError

    def _duals(self) -> Duals:
        raise NotImplementedError

    def _reweight(self, factors: Floats) -> None:
        """Multiply the distribution by `factors` of shape (m, l), and the loss by its sum; then normalize it."""
        self._distribution *= factors
        total = self._distribution.sum()
        self._distribution /= total
        self._loss *= total

    def add(self, response: AnyArray) -> None:
        """Add one column of shape (m,), int8 or floating."""
        if self._newest is not None:
            raise ValueError(
                "A stage-wise master fits one column at a time: call solve after each add. It cannot start from an "
                "earlier fit."
            )
        self._newest = response

    def solve(self, tol: float, interrupted: Poll, quick: bool = False) -> MasterSolution:
        """Fit the newest column, if any, and return the solution."""
        step = None
        if self._newest is not None:
            weights, shift = self._fit_newest(self._newest.astype(np.float64))
            step = RankOneStep(len(self._rows.all()) + 1, None, weights)
            self._rows.add(weights)
            self._intercept = self._intercept + shift
            self._newest = None
        return MasterSolution(
            weights=self._rows.all(),
            intercept=self._intercept,
            duals=self._duals(),
            primal=self._loss,
            dual=0.0,  # the only known bound: the loss is not negative
            status=Status.OPTIMAL,
            n_iter=1,
            step=step,
        )

    def pool_bound(self, duals: Duals, energy: float, largest: float) -> float:
        """Return -inf: a stage-wise solution is not an optimum, so there is no bound."""
        return -np.inf


def exponential_step(share: Floats, margins: Floats) -> float:
    """Return the a that minimizes sum share exp(-a margins), or infinity if all margins are positive.

    For margins of +-1 it is AdaBoost's 1/2 log(hits / misses).
    """
    share, margins = share[share > 0], margins[share > 0]

    def slope(a: float) -> float:
        # Shifted by the largest exponent, to avoid overflow: only the sign and the root matter.
        powers = -a * margins
        return float(np.sum(share * margins * np.exp(powers - powers.max())))

    if margins.min() > 0:
        return np.inf
    edge = slope(0.0)
    if edge <= 0:
        return 0.0 if edge == 0 else -exponential_step(share, -margins)
    if margins.min() == 0:  # no mistakes, but abstentions
        return LARGEST_STEP
    if np.all(np.abs(margins) == 1):
        return float(0.5 * np.log(share[margins > 0].sum() / share[margins < 0].sum()))
    high = 1.0
    while slope(high) > 0 and high < LARGEST_STEP:
        high = min(2.0 * high, LARGEST_STEP)
    return float(brentq(slope, 0.0, high, xtol=1e-12, rtol=1e-12)) if slope(high) <= 0 else LARGEST_STEP
