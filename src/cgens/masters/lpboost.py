"""LPBoost (EQ:LPB1, EQ:LPB_Dual): a linear program that HiGHS keeps between rounds."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from cgens.blas import ONE_BLAS_THREAD
from cgens.masters.incremental_lp import IncrementalLP
from cgens.masters.response_rows import ResponseRows
from cgens.masters.targets import check_signs
from cgens.types import AnyArray, Duals, Floats, MasterSolution, Poll, Status, relative_gap

#: Largest bound of a variable; for HiGHS, 1e20 and more is infinite.
LARGEST_BOUND = 1e15
#: Multipliers of a smaller sum are rounding: with a margin of 0 they need not sum to 1, and HiGHS solves to 1e-7.
NO_WEIGHTS = 1e-6


class LPBoost(BaseEstimator):  # type: ignore[misc]
    """Minimize |w|_1 + C sum_i s_i max(0, 1 - y_i F(x_i)), F = sum_j w_j h_j: a soft margin under the l1 norm.

    The published program has w >= 0 over weak learners of both signs, which is equivalent. There is no intercept.
    Signed duals are y_i a_i with 0 <= a_i <= C s_i; a column is worth adding if |sum_i y_i a_i h(x_i)| exceeds 1.

    Parameters
    ----------
    C : float or None
        The paper's C; ignored if `nu` is not None.
    nu : float or None
        If not None, solve the program of Demiriz et al. (2002) instead: maximize the soft margin
        rho - sum_i s_i xi_i / nu subject to y_i F(x_i) >= rho - xi_i and |w|_1 <= 1, with weights s of sum 1. About a
        fraction nu of the rows is below the margin. The duals a_i sum to 1, and a column is worth adding if its edge is
        larger than those of the existing columns.
    solver : {"dual", "primal", "ipm"}
        Dual simplex, primal simplex or interior point method of HiGHS.
    max_iter : int
        Maximum number of iterations of HiGHS in one solve.

    Examples
    --------
    >>> import numpy as np
    >>> master = LPBoost(C=1.0).begin(np.array([[1.0], [-1.0]]), np.ones(2), n_threads=1)
    >>> master.add(np.array([1, -1], dtype=np.int8))
    >>> solution = master.solve(1e-9, lambda: False)
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
        """Return the program without columns; `target` is +-1, shape (m, 1)."""
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
                f"C times the largest sample weight must be at most {LARGEST_BOUND:g}, as HiGHS treats larger numbers "
                f"as infinite; got {largest:.3g}: decrease C ({self.C:.3g})."
            )
        return RestrictedLPBoost(self, target[:, 0], self.C * sample_weight)


class RestrictedLPBoost:
    """LPBoost over the columns added so far, via its dual: max 1'a, 0 <= a <= C s, -1 <= sum_i y_i a_i h_j(x_i) <= 1.

    A column of LPBoost is a row of this program, so the size of its basis is the number of columns, not of data rows.
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
        """Solve from the last basis. The gap is that of feasible points computed here, not what the solver reports."""
        columns = self._columns.all()
        status, n_iter, points = Status.OPTIMAL, 0, []
        if len(columns):
            status, n_iter, values, multipliers = self._lp.solve(interrupted)
            if len(values) and np.isfinite(values).all() and np.isfinite(multipliers).all():
                points.append((np.clip(values[: len(self._bound)], 0.0, self._bound), self._weights(multipliers)))
        if status is not Status.OPTIMAL or not points:  # a stopped solver may be worse than the last round
            points.append((self._last[0], np.pad(self._last[1], (0, len(columns) - len(self._last[1])))))
        with ONE_BLAS_THREAD:
            a, dual, cost = max((self._feasible(a, columns) for a, _ in points), key=lambda point: point[1])
            w, primal = min(((w, self._primal(w, columns.T @ w)) for _, w in points), key=lambda point: point[1])
        self._last = a, w
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
            column_cost=cost,
        )

    def pool_bound(self, duals: Duals, energy: float, largest: float) -> float:
        """Return the dual objective of the duals, scaled so that no price of the pool exceeds 1."""
        return duals.l1_norm / max(1.0, largest)

    def _begin_program(self) -> None:
        self._lp.add_variables(-np.ones(len(self._y)), np.zeros(len(self._y)), self._bound)

    def _add_to_program(self, column: Floats) -> None:
        self._lp.add_row(column, -1.0, 1.0)

    def _weights(self, multipliers: Floats) -> Floats:
        return -multipliers

    def _feasible(self, a: Floats, columns: Floats) -> tuple[Floats, float, float]:
        """Return feasible duals near `a`, their dual objective and their column cost."""
        a = a / max(1.0, float(np.abs(columns @ a).max(initial=0.0)))
        return a, float(a.sum()), 1.0

    def _primal(self, w: Floats, margins: Floats) -> float:
        return float(np.abs(w).sum() + np.sum(self._bound * np.maximum(0.0, 1.0 - margins)))


class RestrictedNuLPBoost(RestrictedLPBoost):
    """The program with nu, via its dual: min e, sum a = 1, 0 <= a <= s / nu, |sum_i y_i a_i h_j(x_i)| <= e.

    As a master minimizes and has a relative gap, its primal objective is 2 - rho + sum_i s_i xi_i / nu and its dual
    2 - e. For weak learners of +-1 both are between 1 and 2.
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
        return w / total if total > NO_WEIGHTS else np.zeros_like(w)

    def _feasible(self, a: Floats, columns: Floats) -> tuple[Floats, float, float]:
        missing = 1.0 - float(a.sum())
        if missing > 0:  # move towards the bounds, whose sum is at least 1
            a = a + (self._bound - a) * (missing / max(float(np.sum(self._bound - a)), 1e-300))
        a = a / a.sum()
        edge = float(np.abs(columns @ a).max(initial=0.0))
        return a, 2.0 - edge, edge

    def _primal(self, w: Floats, margins: Floats) -> float:
        """Return the minimum over rho: the best rho is the margin below which the bounds sum to 1."""
        order = np.argsort(margins, kind="stable")
        rank = min(int(np.searchsorted(np.cumsum(self._bound[order]), 1.0)), len(order) - 1)
        rho = margins[order[rank]]
        return float(2.0 - rho + np.sum(self._bound * np.maximum(0.0, rho - margins)))

    def pool_bound(self, duals: Duals, energy: float, largest: float) -> float:
        """Return 2 minus the largest |price| of the pool, including the selected columns."""
        with ONE_BLAS_THREAD:
            return 2.0 - max(largest, self._feasible(self._y * duals.array[:, 0], self._columns.all())[2])
