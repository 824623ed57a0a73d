"""What stage-wise masters share: weights that are set once and stay, and no bound but that a loss is not negative."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from cgens.masters.response_rows import ResponseRows
from cgens.types import AnyArray, Duals, Floats, MasterSolution, Poll, RankOneStep, Status

#: No coefficient of a weak learner of about unit size is larger: exp of it would be no number.
LARGEST_STEP = 350.0


class StageWise:
    """A live master whose `solve` fits the newest column's weights, and leaves all others.

    A subclass says how, by `_fit_newest`, and what the next column is priced with, by `_duals`. It keeps its loss,
    which is 1 in the beginning, in `_loss`.
    """

    def __init__(self, n_outputs: int) -> None:
        self._newest: AnyArray | None = None
        self._rows = ResponseRows(n_outputs)
        self._intercept: Floats = np.zeros(n_outputs)
        self._loss = 1.0

    def _fit_newest(self, response: Floats) -> tuple[Floats, Floats]:
        """Return the weights of a column and what it adds to the intercept, both of shape (l,)."""
        raise NotImplementedError

    def _duals(self) -> Duals:
        raise NotImplementedError

    def add(self, response: AnyArray) -> None:
        """Add one column of shape (m,), int8 or floating."""
        if self._newest is not None:
            raise ValueError(
                "A stage-wise master fits one column at a time, and cannot begin with several of an earlier fit: solve "
                "before the next is added."
            )
        self._newest = response

    def solve(self, tol: float, interrupted: Poll, quick: bool = False) -> MasterSolution:
        """Fit the newest column; where there is none, return the solution there is."""
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
            dual=0.0,  # no loss is negative: more is not known
            status=Status.OPTIMAL,
            n_iter=1,
            step=step,
        )

    def pool_bound(self, duals: Duals, energy: float, largest: float) -> float:
        """Return that there is no bound: what is solved stage by stage is no optimum."""
        return -np.inf


def exponential_step(share: Floats, margins: Floats) -> float:
    """Return the a that minimises sum share exp(-a margins), or infinity where all margins are positive.

    For margins of +-1 that is AdaBoost's 1/2 log(hits / misses).
    """
    share, margins = share[share > 0], margins[share > 0]

    def slope(a: float) -> float:
        # Shifted by its largest exponent: only the sign and the root matter.
        powers = -a * margins
        return float(np.sum(share * margins * np.exp(powers - powers.max())))

    if margins.min() > 0:
        return np.inf
    edge = slope(0.0)
    if edge <= 0:
        return 0.0 if edge == 0 else -exponential_step(share, -margins)
    if margins.min() == 0:  # no mistake, but nothing said of some rows
        return LARGEST_STEP
    if np.all(np.abs(margins) == 1):
        return float(0.5 * np.log(share[margins > 0].sum() / share[margins < 0].sum()))
    high = 1.0
    while slope(high) > 0 and high < LARGEST_STEP:
        high = min(2.0 * high, LARGEST_STEP)
    return float(brentq(slope, 0.0, high, xtol=1e-12, rtol=1e-12)) if slope(high) <= 0 else LARGEST_STEP
