"""LPBoost (EQ:LPB1, EQ:LPB_Dual): a linear program, kept alive in HiGHS."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from cgens.blas import ONE_BLAS_THREAD
from cgens.masters.incremental_lp import IncrementalLP
from cgens.masters.response_rows import ResponseRows
from cgens.masters.targets import check_signs
from cgens.types import AnyArray, Duals, Floats, MasterSolution, Poll, Status, relative_gap

#: Bounds of variables in HiGHS: from 1e20 on they are none.
LARGEST_BOUND = 1e15


class LPBoost(BaseEstimator):  # type: ignore[misc]
    """Minimise |w|_1 + C sum_i s_i max(0, 1 - y_i F(x_i)), F = sum_j w_j h_j: a soft margin under the l1 norm.

    The published program has w >= 0 over weak learners of both signs, which is the same. There is no intercept. Signed
    duals are y_i a_i, 0 <= a_i <= C s_i; a column is worth adding where |sum_i y_i a_i h(x_i)| exceeds 1.

    Parameters
    ----------
    C : float or None
        The paper's C; not used where `nu` is given.
    nu : float or None
        Not None: the program of Demiriz et al. (2002) instead, which maximises the margin rho - sum_i s_i xi_i / nu,
        y_i F(x_i) >= rho - xi_i, |w|_1 <= 1, with weights s of sum 1: about a share nu of the rows stays below the
        margin. Its duals have the sum 1, and a column must have a larger edge than the ones there are.
    solver : {"dual", "primal", "ipm"}
        HiGHS's dual simplex, primal simplex or interior point method.
    max_iter : int
        Most iterations of HiGHS in one solve.

    Examples
    --------
    >>> import numpy as np
    >>> live = LPBoost(C=1.0).begin(np.array([[1.0], [-1.0]]), np.ones(2), n_threads=1)
    >>> live.add(np.array([1, -1], dtype=np.int8))
    >>> solution = live.solve(1e-9, lambda: False)
    >>> solution.weights.round(6), solution.primal, solution.column_cost
    (array([[1.]]), 1.0, 1.0)
    """

    repeats = False
    positive_prices = True
    smooth = False

    def __init__(
        self, C: float | None = 1.0, nu: float | None = None, solver: str = "dual", max_iter: int = 10_000_000
    ) -> None:
        self.C = C
        self.nu = nu
        self.solver = solver
        self.max_iter = max_iter

    def begin(self, target: Floats, sample_weight: Floats, n_threads: int) -> RestrictedLPBoost:
        """Return the live program; `target` is +-1 and has the shape (m, 1)."""
        check_signs(target, "LPBoost", one_output=True)
        if self.nu is not None:
            if not 0 < self.nu <= 1:
                raise ValueError(f"nu must be in (0, 1]; got {self.nu}.")
            return RestrictedNuLPBoost(self, target[:, 0], sample_weight / (self.nu * sample_weight.sum()))
        if self.C is None or not 0 < self.C < np.inf:
            raise ValueError(f"C must be a finite number > 0; got {self.C}.")
        largest = self.C * sample_weight.max()
        if largest > LARGEST_BOUND:
            raise ValueError(
                f"C times the largest row weight must be at most {LARGEST_BOUND:g}, for HiGHS takes larger numbers for "
                f"infinity; it is {largest:.3g}: lower C ({self.C:.3g})."
            )
        return RestrictedLPBoost(self, target[:, 0], self.C * sample_weight)


class RestrictedLPBoost:
    """LPBoost over the columns added so far, by its dual: max 1'a, 0 <= a <= C s, -1 <= sum_i y_i a_i h_j(x_i) <= 1.

    A column of LPBoost is a row of this program, and its basis is as large as there are columns, not rows of data.
    """

    def __init__(self, spec: LPBoost, y: Floats, bound: Floats) -> None:
        self._y, self._bound = y, bound
        self._columns = ResponseRows(len(y))  # y_i h_j(x_i)
        self._lp = IncrementalLP(spec.solver, spec.max_iter)
        self._last = bound, np.zeros(0)  # duals and weights of the last solve
        self._begin_program()

    def add(self, response: AnyArray) -> None:
        """Add one column of shape (m,), int8 or floating."""
        self._columns.add(self._y * response)
        self._add_to_program(self._columns.all()[-1])

    def solve(self, tol: float, interrupted: Poll, quick: bool = False) -> MasterSolution:
        """Solve from the last basis. The gap is that of feasible points made here, whatever the solver says."""
        columns = self._columns.all()
        status, n_iter, points = Status.OPTIMAL, 0, []
        if len(columns):
            status, n_iter, values, multipliers = self._lp.solve(interrupted)
            if len(values) and np.isfinite(values).all() and np.isfinite(multipliers).all():
                points.append((np.clip(values[: len(self._bound)], 0.0, self._bound), self._weights(multipliers)))
        if status is not Status.OPTIMAL or not points:  # a solver that was stopped may have less than the last round
            points.append((self._last[0], np.pad(self._last[1], (0, len(columns) - len(self._last[1])))))
        with ONE_BLAS_THREAD:
            duals = [self._feasible(a, columns) for a, _ in points]
            primals = [self._primal(w, columns.T @ w) for _, w in points]
        best = max(range(len(points)), key=lambda k: self._dual(*duals[k]))
        least = int(np.argmin(primals))
        (a, edge), w, primal = duals[best], points[least][1], primals[least]
        self._last, dual = (a, w), self._dual(a, edge)
        if status is Status.OPTIMAL and relative_gap(primal, dual) > tol:
            status = Status.NOT_CONVERGED
        return MasterSolution(
            weights=w[:, None],
            intercept=np.zeros(1),
            duals=Duals((self._y * a)[:, None]),
            primal=primal,
            dual=dual,
            status=status,
            n_iter=n_iter,
            column_cost=self._cost(edge),
        )

    def pool_bound(self, duals: Duals, energy: float, largest: float) -> float:
        """Return the dual value of the duals scaled so that no price of the pool is above 1."""
        return duals.size / max(1.0, largest)

    def _begin_program(self) -> None:
        self._lp.add_variables(-np.ones(len(self._y)), np.zeros(len(self._y)), self._bound)

    def _add_to_program(self, column: Floats) -> None:
        self._lp.add_row(column, -1.0, 1.0)

    def _weights(self, multipliers: Floats) -> Floats:
        return -multipliers

    def _feasible(self, a: Floats, columns: Floats) -> tuple[Floats, float]:
        """Return feasible duals near `a`, and the largest |price| of the columns at them."""
        largest = float(np.abs(columns @ a).max(initial=0.0))
        return a / max(1.0, largest), min(1.0, largest)

    def _primal(self, w: Floats, margins: Floats) -> float:
        return float(np.abs(w).sum() + np.sum(self._bound * np.maximum(0.0, 1.0 - margins)))

    def _dual(self, a: Floats, edge: float) -> float:
        return float(a.sum())

    def _cost(self, edge: float) -> float:
        return 1.0


class RestrictedNuLPBoost(RestrictedLPBoost):
    """The program with nu, by its dual: min e, sum a = 1, 0 <= a <= s / nu, |sum_i y_i a_i h_j(x_i)| <= e.

    A master minimises, and its gap is relative to its value: 2 - rho + sum_i s_i xi_i / nu, and of the dual 2 - e. For
    weak learners of +-1 these are between 1 and 2.
    """

    def _begin_program(self) -> None:
        n_rows = len(self._y)
        self._lp.add_variables(np.append(np.zeros(n_rows), 1.0), np.zeros(n_rows + 1), np.append(self._bound, np.inf))
        self._lp.add_row(np.append(np.ones(n_rows), 0.0), 1.0, 1.0)

    def _add_to_program(self, column: Floats) -> None:
        self._lp.add_row(np.append(column, -1.0), -np.inf, 0.0)
        self._lp.add_row(np.append(column, 1.0), 0.0, np.inf)

    def _weights(self, multipliers: Floats) -> Floats:
        w = -(multipliers[1::2] + multipliers[2::2])
        total = np.abs(w).sum()
        return w / total if total > 0 else w

    def _feasible(self, a: Floats, columns: Floats) -> tuple[Floats, float]:
        missing = 1.0 - float(a.sum())
        if missing > 0:  # towards the bounds, whose sum is at least 1
            a = a + (self._bound - a) * (missing / max(float(np.sum(self._bound - a)), 1e-300))
        return a / a.sum(), float(np.abs(columns @ (a / a.sum())).max(initial=0.0))

    def _primal(self, w: Floats, margins: Floats) -> float:
        """Return the least over rho: rho is the margin below which the bounds add up to 1."""
        order = np.argsort(margins, kind="stable")
        place = min(int(np.searchsorted(np.cumsum(self._bound[order]), 1.0)), len(order) - 1)
        rho = margins[order[place]]
        return float(2.0 - rho + np.sum(self._bound * np.maximum(0.0, rho - margins)))

    def _dual(self, a: Floats, edge: float) -> float:
        return 2.0 - edge

    def _cost(self, edge: float) -> float:
        return edge

    def pool_bound(self, duals: Duals, energy: float, largest: float) -> float:
        """Return 2 - the largest |price| of the pool, the working set included."""
        with ONE_BLAS_THREAD:
            return 2.0 - max(largest, self._feasible(self._y * duals.array[:, 0], self._columns.all())[1])
