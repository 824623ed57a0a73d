"""Smooth losses: one solver for all, preconditioned by the Cholesky factor of a least-squares majorizer.

A loss whose Hessian in the decisions is at most kappa I is majorized by least squares with the weights kappa c_i, whose
Gram matrix A = I + kappa Hc' diag(c) Hc has a Cholesky factor that grows by one row with each column. Its inverse
preconditions conjugate gradients: an iteration costs two products with the columns, O(m J), and no m J^2 Hessian is
formed. The duals R = -c * gradient are feasible once the intercept is optimal, which makes their sum 0, and then

    primal - dual = 1/2 |W - H'R|^2,

half the squared norm of the gradient in W: the certificate costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from cgens._core import GramLs
from cgens.blas import ONE_BLAS_THREAD
from cgens.masters.factor_curvature import FactorCurvature
from cgens.masters.loss import Loss
from cgens.types import AnyArray, Curvature, Duals, Floats, MasterSolution, Poll, Rule, Status

#: |Sum of the duals| that counts as rounding, as a share of the sum of |duals|: to aim at, and at most.
BALANCED, ROUNDING = 1e-15, 1e-13


class SmoothLoss(Loss):
    """Base class of smooth losses; a subclass has `losses`, `gradient`, `dual_values` and `curvature_scale`.

    Parameters
    ----------
    C : float
    max_iter : int
        Maximum number of iterations of conjugate gradients in one solve.
    """

    rules: ClassVar[tuple[Rule, ...]] = ("gain", "max")
    smooth = True

    def __init__(self, C: float = 1.0, max_iter: int = 1000) -> None:
        self.C = C
        self.max_iter = max_iter

    def curvature_scale(self, target: Floats, weight: Floats) -> float:
        """Return an upper bound on the eigenvalues of the loss's Hessian or, if there is none, their typical size."""
        raise NotImplementedError

    def intercept_curvature(self, decision: Floats, target: Floats, scale: Floats) -> Floats | None:
        """Return sum_i c_i times the Hessian of row i, shape (l, l), or None if Newton's method is not used."""
        return None

    def check_target(self, target: Floats) -> None:
        """Raise ValueError if the loss cannot fit the target."""

    def begin(self, target: Floats, sample_weight: Floats, n_threads: int) -> RestrictedSmooth:
        """Return the restricted master without columns; `target` has the shape (m, l)."""
        if not 0 < self.C < np.inf:
            raise ValueError(f"C must be a finite number > 0; got {self.C}.")
        self.check_target(target)
        return RestrictedSmooth(self, target, sample_weight, n_threads)


class SmoothDuals(Duals):
    """The duals of a smooth loss; `exact` if they sum to 0 except for rounding, so that they prove a bound."""

    def __init__(self, array: Floats, curvature: Curvature, exact: bool) -> None:
        super().__init__(array)
        self.curvature = curvature
        self.exact = exact


class RestrictedSmooth:
    """The master of a smooth loss over the columns added so far, by preconditioned conjugate gradients.

    Columns are centred, so that the decisions are F = Hc W + c: W and c then hardly interact. Signed duals are
    R = -C s gradient(F).
    """

    def __init__(self, spec: SmoothLoss, target: Floats, weight: Floats, n_threads: int) -> None:
        self._spec = spec
        self._target = np.ascontiguousarray(target)
        self._scale = spec.C * weight
        curvature = spec.curvature_scale(self._target, weight)
        self._majorizer = np.ascontiguousarray(curvature * self._scale)
        self._factor = GramLs(np.zeros_like(self._target), self._majorizer, n_threads)
        n_rows, self._n_outputs = target.shape
        self._weights: Floats = np.zeros((0, self._n_outputs))
        self._centre: Floats = np.zeros(self._n_outputs)
        self._decision: Floats = np.zeros((n_rows, self._n_outputs))
        self._duals = self._duals_at(self._decision)
        self._gradient: Floats | None = None  # H'R - W of the present weights, if known
        self._n_columns = 0

    def add(self, response: AnyArray) -> None:
        """Add one column of shape (m,), int8 or floating."""
        response = np.ascontiguousarray(response)
        self._factor.add(response)
        self._n_columns += 1
        self._weights = np.vstack([self._weights, np.zeros(self._n_outputs)])
        if self._gradient is not None:  # the duals are as they were: only the new column's price is missing
            mean = np.einsum("i,i->", self._majorizer, response) / self._majorizer.sum()
            price = np.einsum("i,it->t", response - mean, self._duals)
            self._gradient = np.vstack([self._gradient, price])

    def solve(self, tol: float, interrupted: Poll, quick: bool = False) -> MasterSolution:
        """Solve to a relative gap of `tol`, starting from the last solution; between rounds in few iterations."""
        with ONE_BLAS_THREAD:  # its own threads would compete with ours, and round differently
            return self._solve(tol, interrupted, quick)

    def _solve(self, tol: float, interrupted: Poll, quick: bool) -> MasterSolution:
        limit = min(3, self._spec.max_iter) if quick else self._spec.max_iter
        status, n_iter, search = Status.NOT_CONVERGED, 0, ConjugateGradients()
        while True:
            balanced = self._balance()
            if self._gradient is None:
                self._gradient = self._prices() - self._weights
            gap = 0.5 * float(np.sum(self._gradient**2))
            primal = self._primal()
            if gap <= tol * abs(primal) and (n_iter > 0 or not self._n_columns or not quick):
                status = Status.OPTIMAL
            elif interrupted():
                status = Status.INTERRUPTED
            if status is not Status.NOT_CONVERGED or n_iter >= limit:
                break
            if not self._step(search, 0.1 if quick else 0.01):
                break  # no step lowers the objective any more: rounding
            n_iter += 1
        curvature = FactorCurvature(self._factor, self._majorizer, self._n_columns)
        return MasterSolution(
            weights=self._weights,
            intercept=self._centre + self._factor.intercept(self._weights),
            duals=SmoothDuals(self._duals, curvature, balanced and not quick),
            primal=primal,
            dual=primal - gap,
            status=status,
            n_iter=n_iter,
        )

    def pool_bound(self, duals: Duals, energy: float, largest: float) -> float:
        """Return the bound of `Loss.pool_bound`; none between rounds, to save time, or if the duals do not sum to 0."""
        if isinstance(duals, SmoothDuals) and not duals.exact:
            return -np.inf
        return self._spec.pool_bound(duals.array, self._target, self._scale, energy)

    def _duals_at(self, decision: Floats) -> Floats:
        return -self._scale[:, None] * self._spec.gradient(decision, self._target)

    def _primal(self) -> float:
        return 0.5 * float(np.sum(self._weights**2)) + self._spec.value(self._decision, self._target, self._scale)

    def _prices(self) -> Floats:
        return self._factor.prices(self._duals).reshape(self._n_columns, self._n_outputs)

    def _balance(self) -> bool:
        """Move the intercept until the duals sum to 0; return whether they do."""
        search, last = ConjugateGradients(), np.inf
        for _ in range(50):
            slope = self._duals.sum(axis=0)
            size, whole = float(np.abs(slope).max()), float(np.abs(self._duals).sum())
            # What was balanced stays as it is. Near rounding, a step that does not halve the sum is the last one.
            if size <= BALANCED * whole or (size <= ROUNDING * whole and not 2 * size <= last < np.inf):
                break
            last = size
            curvature = self._spec.intercept_curvature(self._decision, self._target, self._scale)
            if curvature is None:
                direction = search.direction(slope, slope / self._majorizer.sum())
            else:
                direction = np.linalg.solve(curvature, slope)
            accuracy = 0.1 if len(slope) > 1 else BALANCED * whole / size  # of one output, this is the whole search
            if not self._move(np.zeros_like(self._weights), direction, slope @ direction, accuracy):
                break
        return size <= ROUNDING * whole

    def _step(self, search: ConjugateGradients, accuracy: float) -> bool:
        """Move along the next conjugate direction; return whether that lowered the objective."""
        assert self._gradient is not None
        gradient = np.vstack([self._gradient, self._duals.sum(axis=0)])
        solved = self._factor.solve_factor(np.ascontiguousarray(gradient[:-1])).reshape(self._weights.shape)
        direction = search.direction(gradient, np.vstack([solved, gradient[-1] / self._majorizer.sum()]))
        return self._move(direction[:-1], direction[-1], float(np.sum(gradient * direction)), accuracy)

    def _move(self, weights: Floats, centre: Floats, slope: float, accuracy: float) -> bool:
        """Minimize the objective along a direction, to this share of its `slope`; False if it cannot be lowered."""
        if not slope > 0:
            return False
        along = np.broadcast_to(centre, self._decision.shape)
        if weights.any():
            along = self._factor.decisions(np.ascontiguousarray(weights)).reshape(self._decision.shape) + centre
        linear, square = float(np.sum(self._weights * weights)), float(np.sum(weights**2))

        def descent(t: float) -> float:
            """Return minus the derivative of the objective at t, and keep decisions and duals."""
            self._trial = self._decision + t * along
            self._trial_duals = self._duals_at(self._trial)
            return float(np.einsum("it,it->", self._trial_duals, along)) - linear - t * square

        t = find_root(descent, slope, accuracy)
        if t == 0.0:
            return False
        self._decision, self._duals = self._trial, self._trial_duals
        self._weights, self._centre = self._weights + t * weights, self._centre + t * centre
        self._gradient = None
        return True


class ConjugateGradients:
    """Directions of preconditioned nonlinear conjugate gradients (Polak and Ribiere, restarted where that is < 0)."""

    def __init__(self) -> None:
        self._last: tuple[Floats, Floats, float] | None = None

    def direction(self, gradient: Floats, solved: Floats) -> Floats:
        """Return the next direction, given the gradient and the preconditioner's answer to it."""
        size, direction = float(np.sum(gradient * solved)), solved
        if self._last is not None:
            last_direction, last_gradient, last_size = self._last
            beta = float(np.sum(solved * (gradient - last_gradient))) / last_size
            direction = solved + max(beta, 0.0) * last_direction
            if not np.sum(gradient * direction) > 0:
                direction = solved
        self._last = direction, gradient, max(size, np.finfo(float).tiny)
        return direction


def find_root(descent: Callable[[float], float], first: float, accuracy: float) -> float:
    """Return a t > 0 with |descent(t)| <= accuracy * first, as near as rounding allows; 0 if no t > 0 has descent >= 0.

    `descent` falls from `first` > 0 at t = 0. Secant steps within a bracket, from t = 1, the majorizer's minimum. The
    last call of `descent` is at the t that is returned.
    """
    low, at_low, high, at_high = 0.0, first, np.inf, -np.inf
    t = 1.0
    for _ in range(60):
        value = descent(t)
        if abs(value) <= accuracy * first:
            return t
        if value > 0:
            # Along the last two slopes, and at most ten times as far.
            fall = (at_low - value) / (t - low)
            guess = min(t + value / fall, 10 * t) if fall > 0 else 10 * t
            low, at_low = t, value
        else:
            high, at_high = t, value if np.isfinite(value) else -np.inf
            guess = low + (high - low) * at_low / (at_low - at_high)
        if high < np.inf:
            guess = min(max(guess, low + 0.01 * (high - low)), high - 0.01 * (high - low))
        if not low < guess < high:
            break
        t = guess
    if low != t and low > 0:
        descent(low)
    return low
