"""MultiBoost (Shen & Hao, 2011): direct multi-class boosting, exponential loss, l1 norm, totally corrective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import Bounds, minimize
from sklearn.base import BaseEstimator

from cgens.blas import ONE_BLAS_THREAD, for_blocks
from cgens.masters.response_rows import ResponseRows
from cgens.masters.targets import check_one_class_a_row
from cgens.types import AnyArray, Duals, Floats, MasterSolution, Poll, Status

#: Rows of one block of sums: part of the definition of the results.
BLOCK = 4096
#: A solve that lowers the objective by a smaller share finds nothing any more.
STALLED = 1e-13
#: Steps of the inner solver between rounds, where the next column changes the problem, and in a solve to the end.
QUICK_STEPS, STEPS = 15, 100
#: Exponents are cut here: a long step of a line search then is a bad step, not an overflow.
LARGEST_EXPONENT = 500.0


class MultiBoost(BaseEstimator):  # type: ignore[misc]
    """Minimise the mean over rows i and wrong classes r of exp(F_r(x_i) - F_y(x_i)), plus nu sum_jr |W_jr|.

    Every class has a weight for every weak learner, and all of them are solved for in every round. The published
    program has W >= 0 over weak learners of both signs, which is the same. There is no intercept.

    With u_ir = p_i exp(F_r - F_y) the signed duals are R_ir = -u_ir for the wrong classes and sum_r u_ir for the row's
    own; a column is worth adding where some |sum_i R_ir h(x_i)| exceeds nu, its column cost.

    Parameters
    ----------
    nu : float
        The weight of the l1 norm.
    max_solves : int
        Most bounded problems in one solve, each over the weights that are not 0 or should not be.
    quick_solves : int
        The same between rounds.

    Examples
    --------
    >>> import numpy as np
    >>> live = MultiBoost(nu=0.1).begin(2 * np.eye(2) - 1, np.ones(2), n_threads=1)
    >>> live.add(np.array([1, -1], dtype=np.int8))
    >>> solution = live.solve(1e-9, lambda: False)
    >>> solution.weights.round(4)  # exp(-2 w) falls as fast as 2 nu w grows
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
        """Return the live problem; `target` is 1 for a row's class, else -1, and has the shape (m, k)."""
        if not 0 < self.nu < np.inf:
            raise ValueError(f"nu must be a finite number > 0; got {self.nu}.")
        check_one_class_a_row(target, "MultiBoost")
        return RestrictedMultiBoost(self, target, sample_weight, n_threads)


@dataclass(frozen=True)
class _State:
    """Loss, signed duals (m, k), sum of u times margin, and prices (J, k) at some weights."""

    loss: float
    duals: Floats
    product: float
    prices: Floats


class RestrictedMultiBoost:
    """MultiBoost over the columns added so far."""

    def __init__(self, spec: MultiBoost, target: Floats, weight: Floats, n_threads: int) -> None:
        self._spec, self._n_threads = spec, n_threads
        self._own = target.argmax(axis=1)
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
        state, n_solves = self._at(self._columns.all(), self._weights), 0
        most = self._spec.quick_solves if quick else self._spec.max_solves
        status, before = Status.NOT_CONVERGED, np.inf
        while True:
            primal, dual, scale = self._values(state)
            if primal - dual <= tol * primal:
                status = Status.OPTIMAL
            elif interrupted():
                status = Status.INTERRUPTED
            if status is not Status.NOT_CONVERGED or n_solves == most or primal > before * (1 - STALLED):
                break
            before = primal
            self._solve_orthant(state, QUICK_STEPS if quick else STEPS, interrupted)
            state = self._at(self._columns.all(), self._weights)
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

    def _values(self, state: _State) -> tuple[float, float, float]:
        """Return primal, dual, and the factor that makes the duals feasible."""
        primal = state.loss + self._spec.nu * float(np.abs(self._weights).sum())
        largest = float(np.abs(state.prices).max(initial=0.0))
        dual, scale = self._best_dual(state.loss, state.product, largest)
        return primal, dual, scale

    def _best_dual(self, total: float, product: float, largest: float) -> tuple[float, float]:
        """Return the largest sum of v (1 - log(v / p)) over v = s u with all prices at most nu, and its s.

        With log(u / p) = - margin that is s (total + product - log(s) total), total = sum u, product = sum u margin.
        """
        scale = min(float(np.exp(product / max(total, 1e-300))), self._spec.nu / max(largest, 1e-300))
        return scale * (total + product - np.log(scale) * total), scale

    def _at(self, columns: Floats, weights: Floats) -> _State:
        """Return the state at weights (J, k) of columns (J, m): sums over fixed blocks, in their order."""
        n_rows = len(self._own)
        duals = np.empty((n_rows, self._weights.shape[1]))
        sums: dict[int, tuple[float, float]] = {}
        prices: dict[int, Floats] = {}

        def work(begin: int, end: int) -> None:
            block, here = columns[:, begin:end], slice(begin, end)
            decision = block.T @ weights
            margins = np.take_along_axis(decision, self._own[here, None], axis=1) - decision
            u = np.exp(np.minimum(-margins, LARGEST_EXPONENT)) * (self._prior[here, None] * self._wrong[here])
            rows = -u
            rows[np.arange(end - begin), self._own[here]] = u.sum(axis=1)
            duals[here] = rows
            sums[begin] = float(u.sum()), float(np.sum(u * margins))
            prices[begin] = block @ rows

        for_blocks(work, n_rows, self._n_threads, BLOCK, interruptible=False)  # the solve is left by its own poll
        order = sorted(sums)
        loss, product = (sum(sums[begin][k] for begin in order) for k in (0, 1))
        return _State(loss, duals, product, sum((prices[begin] for begin in order), np.zeros_like(weights)))

    def _solve_orthant(self, state: _State, n_steps: int, interrupted: Poll) -> None:
        """Minimise over the weights that are not 0 or whose price exceeds nu, each on its side of 0.

        On one side |w| is linear: a smooth problem with bounds, over fewer weights than there are.
        """
        nu = self._spec.nu
        free = (self._weights != 0) | (np.abs(state.prices) > nu)
        used = np.flatnonzero(free.any(axis=1))
        free = free[used]
        columns = self._columns.all()[used]
        signs = np.where(self._weights[used] != 0, np.sign(self._weights[used]), np.sign(state.prices[used]))[free]
        weights = np.zeros(free.shape)

        # In units of the value at the start: the solver's own tests are absolute below 1.
        unit = state.loss + nu * float(np.abs(self._weights).sum())

        def objective(sizes: Floats) -> tuple[float, Floats]:
            weights[free] = signs * sizes
            at = self._at(columns, weights)
            return (at.loss + nu * float(sizes.sum())) / unit, (nu - signs * at.prices[free]) / unit

        def listen(_: Floats) -> None:
            if interrupted():
                raise StopIteration

        callback: Any = listen

        start = np.abs(self._weights[used][free])
        options: Any = {"maxiter": n_steps, "maxcor": 20, "ftol": 0.0, "gtol": 0.0}  # the gap says when to end
        with ONE_BLAS_THREAD:  # the solver's own products too
            found = minimize(
                objective,
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=Bounds(0.0, np.inf),
                callback=callback,
                options=options,
            )
        weights[free] = signs * found.x
        self._weights[used] = weights

    def pool_bound(self, duals: Duals, energy: float, largest: float) -> float:
        """Return the dual objective of the duals, scaled so that no price of the pool exceeds nu."""
        u = np.where(self._wrong, -duals.array, 0.0)
        prior = np.where(self._wrong, self._prior[:, None], 1.0)
        product = -float(np.sum(u * np.log(np.maximum(u, 1e-300) / prior)))
        return self._best_dual(float(u.sum()), product, max(largest, self._spec.nu))[0]
