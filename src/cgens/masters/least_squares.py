"""Regularized least squares with a free bias, in closed form (EQ:SLSVM1, EQ:SLSVM_SOLUTION)."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from sklearn.base import BaseEstimator

from cgens._core import GramLs
from cgens.path_problem import PathProblem, PathSolutions
from cgens.types import AnyArray, Curvature, Duals, Floats, MasterSolution, Poll, RankOneStep, Status, relative_gap


class LeastSquares(BaseEstimator):  # type: ignore[misc]
    """Minimize 1/2 |W|^2 + C/2 sum_i s_i |L_i - W'h(x_i) - b|^2 over W and b, for several outputs at once.

    Parameters
    ----------
    C : float
        The paper's C. The loss is a sum over rows, not a mean.

    Examples
    --------
    >>> import numpy as np
    >>> master = LeastSquares(C=1.0).begin(np.array([[3.0], [0.0]]), np.ones(2), n_threads=1)
    >>> master.add(np.array([1, -1], dtype=np.int8))
    >>> solution = master.solve(1e-9, lambda: False)
    >>> solution.weights.round(6), solution.intercept
    (array([[1.]]), array([1.5]))
    """

    repeats = False
    positive_prices = False
    smooth = True

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def begin(self, target: Floats, sample_weight: Floats, n_threads: int) -> RestrictedLeastSquares:
        """Return the problem without columns; `target` is any matrix of shape (m, l)."""
        if not 0 < self.C < np.inf:
            raise ValueError(f"C must be a finite number > 0; got {self.C}.")
        with np.errstate(over="ignore", under="ignore"):
            spread = np.abs(target - target[0]).max()
            largest = self.C * sample_weight.sum() * np.square(spread)
            sizes = largest, np.square(self.C * sample_weight.sum() * spread)  # of the objective and of squared prices
        if not (spread == 0 or (min(sizes) > 1e-250 and max(sizes) < 1e250)):
            raise ValueError(
                f"The target has a range of {spread:.3g}, whose square overflows or underflows with C = {self.C:.3g}: "
                "scale the target to about 1."
            )
        lightest = self.C * sample_weight.min()
        if not lightest > 1e-300:
            raise ValueError(f"C times the smallest sample weight is {lightest:.3g}: remove such rows, or increase C.")
        return RestrictedLeastSquares(target, self.C * sample_weight, n_threads)

    def solve_path(self, problem: PathProblem, interrupted: Poll) -> PathSolutions:
        """Solve for every C and stage: all C share the products of the columns, so that each costs O(J^3)."""
        master = LeastSquares(problem.Cs[0]).begin(problem.target, problem.sample_weight, problem.n_threads)
        for column in problem.columns:
            master.add(column)
            if interrupted():
                return []
        paths: PathSolutions = []
        for C in problem.Cs:
            if interrupted():
                return []
            flat = master.solver.resolve(C / problem.Cs[0], list(problem.stages))
            weights = [own.reshape(-1, problem.target.shape[1]) for own in flat]
            paths.append([(own, master.solver.intercept(own)) for own in weights])
        return paths


class RestrictedLeastSquares:
    """The least-squares master over the columns added so far. Signed duals are U = C s (L - HW - b)."""

    def __init__(self, target: Floats, scale: Floats, n_threads: int) -> None:
        self.target = np.ascontiguousarray(target)
        self.scale = np.ascontiguousarray(scale)
        self.solver = GramLs(self.target, self.scale, n_threads)
        self._n_columns = self._n_solved = 0

    def add(self, response: AnyArray) -> None:
        """Add one column of shape (m,), int8 or floating; it is stored in its own type."""
        self.solver.add(np.ascontiguousarray(response))
        self._n_columns += 1

    def solve(self, tol: float, interrupted: Poll, quick: bool = False) -> MasterSolution:
        """Return the solution: if `quick`, as updated by the last column, else solved and evaluated on the data."""
        n_iter, step = 0, None
        if quick:
            primal = dual = self.solver.primal
            if self._n_columns == self._n_solved + 1:
                coefficients, output, _ = self.solver.step(self._n_solved)
                step = RankOneStep(self._n_columns, coefficients, output)
        else:
            primal, dual, n_iter = self.solver.solve(tol)
        self._n_solved = self._n_columns
        weights = self.solver.weights().reshape(self._n_columns, self.target.shape[1])
        return MasterSolution(
            weights=weights,
            intercept=self.solver.intercept(weights),
            duals=LeastSquaresDuals(self, weights, primal, dual, quick),
            primal=primal,
            dual=dual,
            status=Status.OPTIMAL if relative_gap(primal, dual) <= tol else Status.NOT_CONVERGED,
            n_iter=n_iter,
            step=step,
        )

    def pool_bound(self, duals: Duals, energy: float, largest: float) -> float:
        """Return the maximum over t of D(t U) = t tr(L'U) - t^2/2 (energy + sum U^2 / (C s)); any t U is feasible."""
        if isinstance(duals, LeastSquaresDuals) and duals.by_steps:
            fit, loss = duals.fit, duals.loss
        else:
            # Duals sum to 0, so any constant may be subtracted from the target: one near its values rounds least.
            fit = float(np.sum((self.target - self.target[0]) * duals.array))
            loss = float(np.sum(duals.array**2 / self.scale[:, None]))
        return 0.5 * fit * (fit / (energy + loss)) if energy + loss > 0 else 0.0


class LeastSquaresDuals(Duals):
    """The duals of a model, computed from its weights on first use.

    Attributes
    ----------
    fit : float
        tr(L'U).
    loss : float
        sum_i |U_i|^2 / (C s_i).
    """

    def __init__(
        self, master: RestrictedLeastSquares, weights: Floats, primal: float, dual: float, by_steps: bool
    ) -> None:
        self._master = master
        self.by_steps = by_steps
        self._weights = weights
        self.curvature: Curvature = LeastSquaresCurvature(master, len(weights))
        # With W = H'U the two objectives are 1/2 (|W|^2 + loss) and fit - 1/2 (|W|^2 + loss).
        self.loss = max(2 * primal - float(np.sum(weights**2)), 0.0)
        self.fit = primal + dual

    @cached_property
    def array(self) -> Floats:
        """U, shape (m, l)."""
        return self._master.solver.duals(self._weights).reshape(self._master.target.shape)

    @property
    def size(self) -> float:
        """An upper bound of sum |U| by the Cauchy-Schwarz inequality, cheap enough for every round."""
        return float(np.sqrt(self._master.target.shape[1] * self._master.scale.sum() * self.loss))


class LeastSquaresCurvature:
    """P, the inverse of the paper's S projected onto the complement of the weights, as a series of rank-one changes."""

    def __init__(self, master: RestrictedLeastSquares, n_steps: int) -> None:
        self._master = master
        self.n_steps = n_steps

    @property
    def diagonal(self) -> Floats:
        """C s = v: the empty master has P = diag(v) - v v' / sum(v)."""
        return self._master.scale

    def step(self, k: int) -> tuple[Floats, Floats, float]:
        """Return p, the weights k and 1 + h'p of the `k`-th column."""
        _, output, denominator = self._master.solver.step(k)
        return self._master.solver.direction(k), output, denominator

    def quadratic(self, responses: AnyArray) -> Floats:
        """Return g'Pg of each column g of `responses`, shape (m, n) to (n,)."""
        dtype = responses.dtype if responses.dtype in (np.int8, np.float32) else np.float64
        columns = responses.T.astype(dtype, copy=False)
        if columns.strides[1] != columns.itemsize:
            columns = np.ascontiguousarray(columns)
        return self._master.solver.quadratic(columns, self.n_steps)
