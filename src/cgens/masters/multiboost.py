"""MultiBoost (Shen & Hao, 2011): totally corrective multiclass boosting with exponential loss and l1 norm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import Bounds, minimize
from sklearn.base import BaseEstimator

from cgens.blas import ONE_BLAS_THREAD, for_blocks
from cgens.masters.response_rows import ResponseRows
from cgens.masters.targets import check_one_class_per_row
from cgens.types import AnyArray, Duals, Floats, MasterSolution, Poll, Status

#: Number of rows per block of a sum; another one may change the rounding.
BLOCK = 4096
#: Relative decrease of the objective below which a solve has stalled.
STALLED = 1e-13
#: Maximum number of steps of the inner solver, between rounds and in a full solve.
QUICK_STEPS, STEPS = 15, 100
#: Exponents are clipped here: an overlong step of a line search gives a large objective rather than an overflow.
LARGEST_EXPONENT = 500.0


class MultiBoost(BaseEstimator):  # type: ignore[misc]
    """Minimize the mean over rows i and wrong classes r of exp(F_r(x_i) - F_y(x_i)), plus nu sum_jr |W_jr|.

    Every class has a weight for every weak learner, and every round solves for all of them. The published program has
    W >= 0 over weak learners of both signs, which is equivalent. There is no intercept.

    With u_ir = p_i exp(F_r - F_y), the signed duals are R_ir = -u_ir for the wrong classes and sum_r u_ir for the class
    of the row; a column is worth adding if some |sum_i R_ir h(x_i)| exceeds nu, its column cost.

    Parameters
    ----------
    nu : float
        The weight of the l1 norm.
    max_solves : int
        Maximum number of bounded problems in one solve, each over the non-zero weights and those of |price| > nu.
    quick_solves : int
        The same for the quick solves between rounds.

    Examples
    --------
    >>> import numpy as np
    >>> master = MultiBoost(nu=0.1).begin(2 * np.eye(2) - 1, np.ones(2), n_threads=1)
    >>> master.add(np.array([1, -1], dtype=np.int8))
    >>> solution = master.solve(1e-9, lambda: False)
    >>> solution.weights.round(4)  # the minimum of exp(-2 w) + 2 nu w
    array([[ 1.1513, -1.1513]])
    """

    repeats = False
    positive_prices = False
    smooth = True

    def __init__(self, nu: float = 1e-3, max_solves: int = 200, quick_solves: int = 1) -> None:
        self.nu = nu
        self.max_solves = max_solves
        self.quick_solves = quick_solves

    def begin(self, target: Floats, sample_weight: Floats, n_threads: int) -> RestrictedMultiBoost:
        """Return the problem without columns; `target` is 1 for the row's class and -1 for others, shape (m, k)."""
        if not 0 < self.nu < np.inf:
            raise ValueError(f"nu must be a finite number > 0; got {self.nu}.")
        check_one_class_per_row(target, "MultiBoost")
        return RestrictedMultiBoost(self, target, sample_weight, n_threads)


@dataclass(frozen=True)
class _State:
    """The loss, signed duals (m, k), sum of u times margin, and prices (J, k) for some weights."""

    loss: float
    duals: Floats
    product: float
    prices: Floats


class RestrictedMultiBoost:
    """MultiBoost over the columns added so far."""

    def __init__(self, spec: MultiBoost, target: Floats, weight: Floats, n_threads: int) -> None:
        self._spec, self._n_threads = spec, n_threads
        self._row_class = target.argmax(axis=1)
        self._wrong = target < 0
        self._prior = weight / (weight.sum() * (target.shape[1] - 1))
        self._columns = ResponseRows(len(target))
        self._weights = np.zeros((0, target.shape[1]))

    def add(self, response: AnyArray) -> None:
        """Add one column of shape (m,), int8 or floating."""
        self._columns.add(response)
        self._weights = np.vstack([self._weights, np.zeros(self._weights.shape[1])])

    def solve(self, tol: float, interrupted: Poll, quick: bool = False) -> MasterSolution:
        """Solve to a relative gap of `tol`, starting from the last solution."""
        state, n_solves = self._evaluate(self._columns.all(), self._weights), 0
        max_solves = self._spec.quick_solves if quick else self._spec.max_solves
        status, before = Status.NOT_CONVERGED, np.inf
        while True:
            primal = state.loss + self._spec.nu * float(np.abs(self._weights).sum())
            dual, scale = self._best_dual(state.loss, state.product, float(np.abs(state.prices).max(initial=0.0)))
            if primal - dual <= tol * primal:
                status = Status.OPTIMAL
            elif interrupted():
                status = Status.INTERRUPTED
            if status is not Status.NOT_CONVERGED or n_solves == max_solves or primal > before * (1 - STALLED):
                break
            before = primal
            self._solve_orthant(state, primal, QUICK_STEPS if quick else STEPS, interrupted)
            state = self._evaluate(self._columns.all(), self._weights)
            n_solves += 1
        return MasterSolution(
            weights=self._weights.copy(),
            intercept=np.zeros(self._weights.shape[1]),
            duals=Duals(scale * state.duals),
            primal=primal,
            dual=dual,
            status=status,
            n_iter=n_solves,
            column_cost=self._spec.nu,
        )

    def _best_dual(self, total: float, product: float, largest: float) -> tuple[float, float]:
        """Return the maximum of the dual objective over scaled duals s u with no price above nu, and its s.

        The dual objective is the sum of v (1 - log(v / p)), v = s u. With log(u / p) = -margin it is
        s (total + product - log(s) total), where total = sum u and product = sum u margin.
        """
        scale = min(float(np.exp(product / max(total, 1e-300))), self._spec.nu / max(largest, 1e-300))
        return scale * (total + product - np.log(scale) * total), scale

    def _evaluate(self, columns: Floats, weights: Floats) -> _State:
        """Return the state for weights (J, k) of columns (J, m), summed over fixed blocks in order."""
        n_rows = len(self._row_class)
        duals = np.empty((n_rows, self._weights.shape[1]))
        sums: dict[int, tuple[float, float]] = {}
        prices: dict[int, Floats] = {}

        def work(begin: int, end: int) -> None:
            block, here = columns[:, begin:end], slice(begin, end)
            decision = block.T @ weights
            margins = np.take_along_axis(decision, self._row_class[here, None], axis=1) - decision
            u = np.exp(np.minimum(-margins, LARGEST_EXPONENT)) * (self._prior[here, None] * self._wrong[here])
            rows = -u
            rows[np.arange(end - begin), self._row_class[here]] = u.sum(axis=1)
            duals[here] = rows
            sums[begin] = float(u.sum()), float(np.sum(u * margins))
            prices[begin] = block @ rows

        for_blocks(work, n_rows, self._n_threads, BLOCK, interruptible=False)  # the inner solver polls
        order = sorted(sums)
        loss, product = (sum(sums[begin][k] for begin in order) for k in (0, 1))
        return _State(loss, duals, product, sum((prices[begin] for begin in order), np.zeros_like(weights)))

    def _solve_orthant(self, state: _State, primal: float, n_steps: int, interrupted: Poll) -> None:
        """Minimize over the weights that are not 0 or whose |price| exceeds nu, with their signs fixed.

        For a fixed sign |w| is linear, so this is a smooth problem with bounds, over only some of the weights.
        """
        nu = self._spec.nu
        free = (self._weights != 0) | (np.abs(state.prices) > nu)
        used = np.flatnonzero(free.any(axis=1))
        free = free[used]
        columns = self._columns.all()[used]
        signs = np.where(self._weights[used] != 0, np.sign(self._weights[used]), np.sign(state.prices[used]))[free]
        weights = np.zeros(free.shape)

        def objective(sizes: Floats) -> tuple[float, Floats]:
            weights[free] = signs * sizes
            at = self._evaluate(columns, weights)
            # Relative to the initial objective: the solver's own tests are absolute below 1.
            return (at.loss + nu * float(sizes.sum())) / primal, (nu - signs * at.prices[free]) / primal

        def poll(_: Floats) -> None:
            if interrupted():
                raise StopIteration

        start, bounds = np.abs(self._weights[used][free]), Bounds(0.0, np.inf)
        callback: Any = poll
        options: Any = {"maxiter": n_steps, "maxcor": 20, "ftol": 0.0, "gtol": 0.0}  # the caller tests the gap
        with ONE_BLAS_THREAD:  # for the solver's own products too
            found = minimize(
                objective, start, jac=True, method="L-BFGS-B", bounds=bounds, callback=callback, options=options
            )
        weights[free] = signs * found.x
        self._weights[used] = weights

    def pool_bound(self, duals: Duals, energy: float, largest: float) -> float:
        """Return the dual objective of the duals, scaled so that no |price| of the pool exceeds nu."""
        u = np.where(self._wrong, -duals.array, 0.0)
        prior = np.where(self._wrong, self._prior[:, None], 1.0)
        product = -float(np.sum(u * np.log(np.maximum(u, 1e-300) / prior)))
        return self._best_dual(float(u.sum()), product, max(largest, self._spec.nu))[0]
