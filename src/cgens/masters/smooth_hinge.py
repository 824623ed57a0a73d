"""The hinge loss over many rows: Newton's method on a smoothed hinge, whose duals are feasible for the hinge itself.

Coordinate descent visits rows one after the other, in random order; from some hundred thousand rows on, that is a
cache miss for each, and cannot be shared among threads. Here the kink of max(0, 1 - m) is replaced by a parabola over
1 - delta <= m <= 1. Only the rows in this band have a second derivative, so that the Hessian in the weights is that of
a few rows, and a sample of these is enough to find a direction. The duals C s y min(1, (1 - m)_+ / delta) are in the
box of the hinge; with u = (1 - m) / delta, the duality gap of the hinge itself is

    1/2 |W - H'R|^2 + delta sum_{0 < u < 1} c u (1 - u):

the squared gradient, as for any smooth loss, and what smoothing adds. delta is chosen so that the second term is a part
of the gap that is asked for (docs/decisions/0024).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cgens.masters.descent import NewtonBlocks
from cgens.masters.loss_rows import CompiledRows
from cgens.masters.restricted_smooth import QUICK_BALANCE, RestrictedSmooth, SmoothDuals
from cgens.masters.smooth import SmoothLoss
from cgens.types import AnyArray, Duals, Floats, MasterSolution, Poll, Status

#: The width of the band is changed so that smoothing adds the first share of a gap, if it adds less than the second or
#: more than the third; by at most this factor at a time.
SLACK_SHARE, LEAST_SLACK, LARGEST_SLACK = 0.3, 0.03, 0.6
MOST_CHANGE = 8.0
#: The first width, the largest, and the smallest.
FIRST_WIDTH, LARGEST_WIDTH, SMALLEST_WIDTH = 0.5, 1.0, 1e-9
#: Maximum number of Newton steps between rounds, and at the end.
QUICK_STEPS, MOST_STEPS = 3, 1000
#: |Sum of the duals| at the end, as a share of the sum of |duals|: what is left is repaired.
NEARLY_BALANCED = 1e-6
#: Rows of the band in the Hessian: at least so many, and so many for each column.
LEAST_SAMPLE, SAMPLE_PER_COLUMN = 4096, 20


class SmoothedHinge(SmoothLoss):
    """What `RestrictedSmooth` needs to know of the hinge, given its specification."""

    def __init__(self, hinge: Any) -> None:
        super().__init__(hinge.C, hinge.max_sweeps)
        self.hinge = hinge

    def compiled_kind(self, target: Floats) -> str:
        """Return the name of the loss in the core."""
        return "smooth_hinge"

    def curvature_scale(self, target: Floats, weight: Floats) -> float:
        """Return a typical second derivative: about half of the margins are within 1 of the kink."""
        return 0.5

    def pool_bound(self, duals: Floats, target: Floats, scale: Floats, energy: float) -> float:
        """Return that of the hinge."""
        return float(self.hinge.pool_bound(duals, target, scale, energy))


class RestrictedSmoothHinge(RestrictedSmooth):
    """The hinge master of one output over the columns added so far."""

    def __init__(self, hinge: Any, target: Floats, weight: Floats, n_threads: int) -> None:
        super().__init__(SmoothedHinge(hinge), target, weight, n_threads)
        assert isinstance(self._rows, CompiledRows)
        self._core = self._rows.core
        self._core.set_width(FIRST_WIDTH)
        self._n_widened = 0  # columns at the last solve

    def _solve(self, tol: float, interrupted: Poll, quick: bool) -> MasterSolution:
        limit = min(QUICK_STEPS if quick else MOST_STEPS, self._spec.max_iter)
        status, n_iter, n_failed = Status.NOT_CONVERGED, 0, 0
        duals: Floats | None = None
        # With a new column, the rest of the gap is large again.
        width, may_widen = self._core.width, self._n_columns != self._n_widened
        self._n_widened = self._n_columns
        while True:
            self._balance(QUICK_BALANCE if quick and self._n_columns else min(NEARLY_BALANCED, 0.1 * tol))
            gradient = np.concatenate([self._prices() - self._weights, self._rows.balance()[0][None]])
            primal, slack = self._primal(), self._rows.slack()
            unsolved = 0.5 * float((gradient[:-1] ** 2).sum())
            gap, duals = unsolved + slack, None
            if gap <= tol * abs(primal) and (n_iter > 0 or not self._n_columns or not quick):
                if not quick:
                    duals = self._core.balanced_duals()[:, None]
                    gap = primal - self._dual_value(duals)
                if gap <= tol * abs(primal):
                    status = Status.OPTIMAL
            elif interrupted():
                status = Status.INTERRUPTED
            if status is not Status.NOT_CONVERGED or n_iter >= limit:
                break
            # A wide band is easy to solve for: it is narrowed as the rest of the gap closes.
            if self._choose_width(max(tol * abs(primal), 0.3 * unsolved), may_widen):
                may_widen &= self._core.width > width
                width = self._core.width
                continue
            may_widen = False
            direction = self._hessian().solve(gradient)
            n_iter += 1
            if self._move(direction, float((gradient * direction).sum()), 0.1 if quick else 0.01):
                n_failed = 0
                continue
            n_failed, may_widen = n_failed + 1, True
            if n_failed == 2:  # what remains is rounding
                break
        if quick:
            return self._solution(primal, np.nan, status, n_iter, False)
        if duals is None:
            duals = self._core.balanced_duals()[:, None]
        return replace(
            self._solution(primal, self._dual_value(duals), status, n_iter, True),
            duals=HingeDuals(duals, True, float(np.abs(duals).sum())),
        )

    def _dual_value(self, duals: Floats) -> float:
        """Return sum |R| - 1/2 |H'R|^2 of duals that sum to 0."""
        return float(np.abs(duals).sum()) - 0.5 * float((self._factor.prices(duals) ** 2).sum())

    def _balance(self, share: float) -> bool:
        """Move the intercept until the sum of the duals is at most this share of that of their sizes.

        It is a piecewise linear function of the intercept, the steeper the narrower the band is; what rounding leaves
        is for `balanced_duals`.
        """
        for _ in range(20):
            (total,), norm = self._rows.balance()
            if abs(total) <= share * norm:
                return True
            direction = np.zeros((self._n_columns + 1, 1))
            direction[-1] = total / self._intercept_curvatures(lambda: self._last_curvatures)
            if not self._move(direction, float(total * direction[-1, 0]), share * norm / abs(total)):
                break
        return False

    def _choose_width(self, tolerated: float, may_widen: bool) -> bool:
        """Change the width if smoothing adds much more than its share to a gap, or less; return whether it changed."""
        core, slack = self._core, self._rows.slack()
        if slack <= LARGEST_SLACK * tolerated and not (may_widen and slack < LEAST_SLACK * tolerated):
            return False
        # The slack grows with the square of the width.
        factor = float(np.sqrt(SLACK_SHARE * tolerated / slack)) if slack > 0 else MOST_CHANGE
        width = core.width * min(max(factor, 1 / MOST_CHANGE), MOST_CHANGE)
        width = min(max(width, SMALLEST_WIDTH), LARGEST_WIDTH)
        if width == core.width:
            return False
        core.set_width(width)
        return True

    def _hessian(self) -> NewtonBlocks:
        """Return the Hessian over a sample of the rows in the band."""
        J, core = self._n_columns, self._core
        rows, share = core.inside(max(LEAST_SAMPLE, SAMPLE_PER_COLUMN * J))
        curvatures = (self._scale[rows] / (core.width * share))[:, None]

        def centred_rows(begin: int, end: int) -> Floats:
            own = rows[begin:end]
            return self._factor.centred_rows(own).reshape(len(own), J) if J else np.empty((len(own), 0))

        return NewtonBlocks(centred_rows, curvatures, J)

    def _current_duals(self, exact: bool, newest: Floats | None = None) -> Duals:
        self._exact = exact
        return HingeDuals(self._rows.latest_duals(), exact, self._rows.balance()[1])

    def get_state(self) -> dict[str, AnyArray]:
        """Return the state, with the width of the band."""
        return {**super().get_state(), "width": np.array(self._core.width)}

    def set_state(self, state: Mapping[str, AnyArray], columns: Sequence[AnyArray]) -> Duals:
        """Restore a state, given the columns."""
        self._core.set_width(float(state["width"]))
        self._n_widened = len(columns)
        return super().set_state(state, columns)


class HingeDuals(SmoothDuals):
    """Duals of the hinge without a curvature; `exact` if they sum to 0 except for rounding."""

    def __init__(self, array: Floats, exact: bool, l1_norm: float) -> None:
        super().__init__(array, None, exact, rough=False)
        self._l1_norm = l1_norm

    @property
    def l1_norm(self) -> float:
        """The l1 norm sum |R|."""
        return self._l1_norm
