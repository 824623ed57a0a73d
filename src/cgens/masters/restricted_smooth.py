"""One solver for all smooth losses, preconditioned by the Cholesky factor of a least-squares majorizer.

A loss whose Hessian in the decisions is at most kappa I is majorized by least squares with the weights kappa c_i, whose
Gram matrix A = I + kappa Hc' diag(c) Hc has a Cholesky factor that grows by one row with each column. (kappa may also
be a typical size: prices and speed depend on it, results do not.) Its inverse preconditions conjugate gradients: an
iteration costs two products with the columns, O(m J l), and no m J^2 Hessian is formed unless that is slow
(`RestrictedSmooth`). The duals R = -c * gradient are feasible once the intercept is optimal, which makes their sum 0,
and then

    primal - dual = 1/2 |W - H'R|^2,

half the squared norm of the gradient in W: the certificate costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from cgens._core import GramLs
from cgens.blas import ONE_BLAS_THREAD
from cgens.masters.descent import ConjugateGradients, NewtonBlocks, find_root
from cgens.masters.factor_curvature import FactorCurvature, restore_factor, save_factor
from cgens.masters.loss_rows import LossRows, SmoothSpec, rows_of
from cgens.types import AnyArray, Curvature, Duals, Floats, MasterSolution, Poll, RankOneStep, Status

#: |Sum of the duals| that counts as rounding, as a share of the sum of |duals|: to aim at, and at most.
BALANCED, ROUNDING = 1e-15, 1e-13
#: The same between rounds, when only prices depend on it.
QUICK_BALANCE = 1e-2
#: Between rounds, once there are this many columns, all weights are improved only in every so many rounds, and in the
#: others the newest column's weight and what it changes of the others, as long as that suffices to solve the problem
#: (docs/decisions/0016).
MANY_COLUMNS, FULL_EVERY = 16, 10
#: Maximum number of iterations of conjugate gradients between rounds.
QUICK_ITERATIONS = 3
#: A solve that needs more iterations than this, or than columns / 12, uses the Hessian itself: forming and factorizing
#: it costs about as much.
SLOW_ITERATIONS, HESSIAN_COST = 15, 1 / 12
#: Smallest second derivative in an intercept that a step is computed with, as a share of the majorizer's.
LEAST_CURVATURE = 1e-3
#: Iterations after which the Hessian is computed again if outputs interact: its blocks are then not all of it, and
#: conjugate gradients help.
BLOCK_ITERATIONS = 5


class SmoothDuals(Duals):
    """The duals of a smooth loss; `exact` if they sum to 0 except for rounding, so that they prove a bound."""

    def __init__(self, array: Floats, curvature: Curvature | None, exact: bool, rough: bool) -> None:
        super().__init__(array)
        self.curvature = curvature
        self.exact, self.rough = exact, rough


class RestrictedSmooth:
    """The master of a smooth loss over the columns added so far, by preconditioned conjugate gradients.

    Columns are centred, so that the decisions are F = Hc W + c: W and c then hardly interact. Signed duals are
    R = -C s gradient(F).

    If conjugate gradients are slow (a large C, or curvatures of very different sizes), the preconditioner is replaced
    by the Hessian itself, or its diagonal blocks if there are several outputs: with one output this is Newton's method.
    """

    def __init__(self, spec: SmoothSpec, target: Floats, weight: Floats, n_threads: int) -> None:
        self._spec = spec
        self._origin = spec.origin(target, weight)
        self._target = np.ascontiguousarray(target - self._origin)
        self._scale = spec.scale(weight)
        self._curvature_scale = spec.curvature_scale(self._target, weight)
        self._majorizer = np.ascontiguousarray(self._curvature_scale * self._scale)
        self._majorizer_sum = float(self._majorizer.sum())
        self._factor = GramLs(np.zeros_like(self._target), self._majorizer, n_threads)
        self._n_outputs = target.shape[1]
        self._weights: Floats = np.zeros((0, self._n_outputs))
        self._centre: Floats = np.zeros(self._n_outputs)
        self._rows: LossRows = rows_of(spec, self._target, self._scale, n_threads)
        self._first_norm = self._rows.balance()[1]
        self._n_columns = self._n_solved = 0
        self._last_curvatures: Floats = np.zeros((0, self._n_outputs))
        self._exact = False  # whether the duals of the last solve prove a bound
        self._easy = False  # whether the last solve for all weights reached its tolerance

    def add(self, response: AnyArray) -> None:
        """Add one column of shape (m,), int8 or floating."""
        self._factor.add(np.ascontiguousarray(response))
        self._n_columns += 1
        self._weights = np.concatenate([self._weights, np.zeros((1, self._n_outputs))])

    def solve(self, tol: float, interrupted: Poll, quick: bool = False) -> MasterSolution:
        """Solve to a relative gap of `tol`, starting from the last solution; between rounds in few iterations.

        In most quick solves only the newest column's weight is optimized, and the dual value is unknown: it is nan.
        """
        with ONE_BLAS_THREAD:  # its own threads would compete with ours, and round differently
            one_new = self._n_columns == self._n_solved + 1
            self._n_solved = self._n_columns
            if quick and one_new and self._easy and self._n_columns % FULL_EVERY:
                return self._follow_newest()
            solution = self._solve(tol, interrupted, quick)
            self._easy = solution.status is Status.OPTIMAL and self._n_columns >= MANY_COLUMNS
            if self._easy and self._rows.keeps_curvatures:
                self._last_curvatures = self._curvatures()
            return solution

    def _solve(self, tol: float, interrupted: Poll, quick: bool) -> MasterSolution:
        limit = min(QUICK_ITERATIONS, self._spec.max_iter) if quick else self._spec.max_iter
        slow = max(SLOW_ITERATIONS, HESSIAN_COST * self._n_columns)
        status, n_iter, search = Status.NOT_CONVERGED, 0, ConjugateGradients()
        hessian: NewtonBlocks | None = None
        n_failed, fresh = 0, quick  # many steps add up their rounding errors, which matter only at the end
        while True:
            balanced = self._balance(QUICK_BALANCE if quick and self._n_columns else BALANCED)
            gradient = np.concatenate([self._prices() - self._weights, self._rows.balance()[0][None]])
            gap, primal = 0.5 * float((gradient[:-1] ** 2).sum()), self._primal()
            if gap <= tol * abs(primal) and (balanced or quick) and (n_iter > 0 or not self._n_columns or not quick):
                if not fresh:
                    fresh = True
                    self._refresh()
                    continue
                status = Status.OPTIMAL
            elif interrupted():
                status = Status.INTERRUPTED
            if status is not Status.NOT_CONVERGED or n_iter >= limit:
                break
            if n_iter >= slow and (hessian is None or hessian.n_solved >= self._hessian_iterations):
                hessian, search = self._hessian(), ConjugateGradients()
            newton = hessian if n_failed < 2 else None
            solved = self._precondition(gradient) if newton is None else newton.solve(gradient)
            direction = search.direction(gradient, solved)
            if self._move(direction, float((gradient * direction).sum()), 0.1 if quick else 0.01):
                n_iter, n_failed, fresh = n_iter + 1, 0, quick
                continue
            # First try a new Hessian, then the factor; if neither lowers the objective, what remains is rounding.
            n_failed += 1
            if quick or n_failed == 3:
                break
            search, hessian = ConjugateGradients(), hessian if n_failed == 2 else None
        return self._solution(primal, primal - gap if balanced else np.nan, status, n_iter, balanced and not quick)

    def _refresh(self) -> None:
        """Compute the decisions and duals from the weights."""
        self._rows.restart(self._products(self._weights), self._centre)

    def _products(self, weights: Floats) -> Floats:
        """Return Hc weights, shape (m, l)."""
        return self._factor.decisions(np.ascontiguousarray(weights)).reshape(self._target.shape)

    def _solution(
        self,
        primal: float,
        dual: float,
        status: Status,
        n_iter: int,
        exact: bool,
        step: RankOneStep | None = None,
        newest: Floats | None = None,
    ) -> MasterSolution:
        return MasterSolution(
            weights=self._weights,
            intercept=self._centre + self._origin + self._factor.intercept(self._weights),
            duals=self._current_duals(exact, newest),
            primal=primal,
            dual=dual,
            status=status,
            n_iter=n_iter,
            step=step,
        )

    def get_state(self) -> dict[str, AnyArray]:
        """Return the state of the factor, weights and decisions."""
        return {
            "weights": self._weights,
            "centre": self._centre,
            "decision": self._rows.decision,
            "duals": self._rows.duals,
            "flags": np.array([self._easy, self._exact]),
            "curvatures": self._last_curvatures,
            **save_factor(self._factor),
        }

    def set_state(self, state: Mapping[str, AnyArray], columns: Sequence[AnyArray]) -> Duals:
        """Restore a state, given the columns."""
        restore_factor(self._factor, state, columns)
        self._n_columns = self._n_solved = len(columns)
        self._weights, self._centre = state["weights"], state["centre"]
        self._rows.restore(state["decision"], state["duals"])
        self._last_curvatures = state["curvatures"]
        self._easy, exact = state["flags"].tolist()
        return self._current_duals(exact)

    def pool_bound(self, duals: Duals, energy: float, largest: float) -> float:
        """Return the bound of `Loss.pool_bound`; none between rounds, to save time, or if the duals do not sum to 0."""
        if isinstance(duals, SmoothDuals) and not duals.exact:
            return -np.inf
        return self._spec.pool_bound(duals.array, self._target, self._scale, energy)

    def _current_duals(self, exact: bool, newest: Floats | None = None) -> Duals:
        self._exact = exact
        curvature = FactorCurvature(self._factor, self._majorizer, self._n_columns, newest)
        # What proves a bound is kept beyond the next round.
        duals = self._rows.duals if exact else self._rows.latest_duals()
        return SmoothDuals(duals, curvature, exact, rough=not exact and self._n_columns > 0)

    def _primal(self) -> float:
        return 0.5 * float((self._weights**2).sum()) + self._rows.loss()

    def _prices(self) -> Floats:
        return self._factor.prices(self._rows.latest_duals()).reshape(self._n_columns, self._n_outputs)

    def _precondition(self, gradient: Floats) -> Floats:
        """Return the majorizer's answer to a gradient, whose last row is that of the intercept."""
        solved = self._factor.solve_factor(np.ascontiguousarray(gradient[:-1])).reshape(self._weights.shape)
        return np.concatenate([solved, gradient[-1:] / self._majorizer_sum])

    def _curvatures(self) -> Floats:
        """Return c_i times the second derivatives of the loss, or the majorizer if these are unknown; (m, l)."""
        curvature = self._spec.curvature(self._loss_gradient(), self._target)
        if curvature is None:
            return np.broadcast_to(self._majorizer[:, None], self._target.shape)
        return self._scale[:, None] * curvature

    def _loss_gradient(self) -> Floats:
        return -self._rows.latest_duals() / self._scale[:, None]

    def _hessian(self) -> NewtonBlocks | None:
        """Return the Hessian's blocks at the present decisions, None if the loss does not know its curvature."""
        if self._spec.curvature(self._loss_gradient(), self._target) is None:
            return None
        J = self._n_columns
        self._hessian_iterations = 1 if self._intercept_curvature() is None else BLOCK_ITERATIONS

        def centred_rows(begin: int, end: int) -> Floats:
            return self._factor.centred_rows(np.arange(begin, end)).reshape(-1, J)

        return NewtonBlocks(centred_rows, self._curvatures(), J)

    def _intercept_curvatures(self, curvatures: Callable[[], Floats]) -> Floats:
        """Return the second derivatives in the intercepts, shape (l,); not too small, as all rows may have 0.

        `curvatures` returns those of the rows, shape (m, l).
        """
        return np.maximum(self._rows.curvature(curvatures), LEAST_CURVATURE * self._majorizer_sum)

    def _intercept_curvature(self) -> Floats | None:
        return self._spec.intercept_curvature(self._loss_gradient(), self._target, self._scale)

    def _balance(self, share: float) -> bool:
        """Move the intercept until the duals sum to 0, or at most to this share of the sum of |duals|.

        Returns whether their sum is 0 except for rounding.
        """
        slope, norm = self._rows.balance()
        if share > BALANCED and np.abs(slope).max() <= share * norm:
            return False  # between rounds no more is needed
        # The duals change by this much if the decisions are rounded: their sum need not be smaller. Those of a class
        # that is all rows, or none, vanish only at infinity.
        rounding = float(np.sum(self._curvatures() * (1.0 + np.abs(self._rows.decision)))) + self._first_norm
        floor = 4 * np.finfo(float).eps * rounding
        last = np.inf
        for _ in range(50):
            slope, norm = self._rows.balance()
            size = float(np.abs(slope).max())
            # What was balanced stays as it is. Near rounding, a step that does not halve the sum is the last one.
            if size <= share * norm or (size <= ROUNDING * norm + floor and not 2 * size <= last < np.inf):
                break
            last = size
            curvature = self._intercept_curvature()
            if curvature is None:
                centre = slope / self._intercept_curvatures(self._curvatures)
            else:  # a class without rows has no curvature once its probabilities are 0: rounding must not move it far
                centre = np.asarray(
                    np.linalg.solve(curvature + 1e4 * floor * np.eye(len(slope)), slope), dtype=np.float64
                )
            direction = np.zeros((self._n_columns + 1, self._n_outputs))
            direction[-1] = centre
            # Of one output, this is the whole search.
            accuracy = 0.1 if len(slope) > 1 else max(share * norm, 0.1 * floor) / size
            if not self._move(direction, float(slope @ direction[-1]), accuracy):
                break
        slope, norm = self._rows.balance()
        if norm <= np.finfo(float).eps * self._first_norm:
            self._rows.clear()  # a perfect fit
        return bool(np.abs(slope).max() <= ROUNDING * norm + floor)

    def _move(self, direction: Floats, slope: float, accuracy: float) -> bool:
        """Minimize the objective along a direction, to this share of its `slope`; False if it cannot be lowered."""
        weights, centre = direction[:-1], direction[-1]
        along = self._products(weights) if weights.any() else None
        return self._descend(weights, centre, along, slope, accuracy) > 0

    def _descend(self, weights: Floats, centre: Floats, along: Floats | None, slope: float, accuracy: float) -> float:
        """Move weights, intercept and decisions by the best multiple of these changes; return it, 0 if none is good.

        `along` is the product of the columns and the change of the weights; None is 0.
        """
        if not slope > 0:
            return 0.0
        direction = self._rows.line(along, centre)
        linear, square = float((self._weights * weights).sum()), float((weights**2).sum())

        def descent(t: float) -> float:
            """Return minus the derivative of the objective at t."""
            return self._rows.slope(direction, t) - linear - t * square

        t = find_root(descent, slope, accuracy)
        if t > 0:
            self._rows.move(direction, t)
            self._weights, self._centre = self._weights + t * weights, self._centre + t * centre
        return t

    def _follow_newest(self) -> MasterSolution:
        """Minimize over the newest column's weight, with what the majorizer changes of the others, and the intercept.

        With z = A^-1 Hc'diag(v)h, as in least squares, W(u) = (W - z u', u') and F(u) = F + d u', d = hc - Hc z: a
        product with the columns for one output instead of two for each.
        """
        j = self._n_columns - 1
        coefficients, _, _ = self._factor.step(j)
        newest = self._factor.direction(j)
        d = newest / self._majorizer
        # Curvatures may be those of the last solve for all weights: the line search corrects their size.
        slopes, curvatures = self._rows.along(d, self._last_curvatures)
        slopes = slopes + coefficients @ self._weights[:-1]
        balance, _ = self._rows.balance()
        output = slopes / (1.0 + float(coefficients @ coefficients) + curvatures)
        centre = balance / self._intercept_curvatures(lambda: self._last_curvatures)
        along = np.multiply.outer(d, output)
        change = np.concatenate([-np.multiply.outer(coefficients, output), output[None]])
        t = self._descend(change, centre, along, float(slopes @ output + balance @ centre), 0.5)
        step = RankOneStep(self._n_columns, coefficients, t * output)
        self._balance(QUICK_BALANCE)
        return self._solution(self._primal(), np.nan, Status.NOT_CONVERGED, 1, False, step, newest)
