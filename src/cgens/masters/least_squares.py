"""Regularized least squares with a free bias, in closed form (EQ:SLSVM1, EQ:SLSVM_SOLUTION)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
from sklearn.base import clone

from cgens._core import GramLs
from cgens.default_c import CKind
from cgens.masters.factor_curvature import FactorCurvature, restore_factor, save_factor
from cgens.masters.loss import Loss
from cgens.path_problem import PathProblem, PathSolutions
from cgens.types import (
    AnyArray,
    Curvature,
    Duals,
    Floats,
    MasterSolution,
    Poll,
    RankOneStep,
    Rule,
    Status,
    Target,
    relative_gap,
)

#: After this many rank-one steps the duals of several outputs are computed from the weights again.
MAX_STEPS = 32
#: Probabilities of least squares are at least this: their estimates may be negative.
LEAST_PROBABILITY = 1e-3


class LeastSquares(Loss):
    """Minimize 1/2 |W|^2 + C/2 sum_i s_i |L_i - W'h(x_i) - b|^2 over W and b, for several outputs at once.

    Parameters
    ----------
    C : float or None
        The paper's C. The loss is a sum over rows, not a mean. None: estimators choose it, and by itself it is 1.

    Examples
    --------
    >>> import numpy as np
    >>> master = LeastSquares(C=1.0).begin(np.array([[3.0], [0.0]]), np.ones(2), n_threads=1)
    >>> master.add(np.array([1, -1], dtype=np.int8))
    >>> solution = master.solve(1e-9, lambda: False)
    >>> solution.weights.round(6), solution.intercept
    (array([[1.]]), array([1.5]))
    """

    name = "least_squares"
    targets: ClassVar[frozenset[Target]] = frozenset({"classes", "labels"})
    rules: ClassVar[tuple[Rule, ...]] = ("gain", "max")
    c_kind: ClassVar[CKind] = "squares"
    smooth = True
    has_probabilities = True

    def __init__(self, C: float | None = None) -> None:
        self.C = C

    def begin(self, target: Floats, sample_weight: Floats, n_threads: int) -> RestrictedLeastSquares:
        """Return the problem without columns; `target` is any matrix of shape (m, l)."""
        scale = self.prepared(target, sample_weight).scale(sample_weight)
        self.check_range(target, scale)
        return RestrictedLeastSquares(self, target, scale, n_threads)

    def check_range(self, target: Floats, scale: Floats) -> None:
        """Raise ValueError if the objective, or squares of prices, would overflow or underflow."""
        with np.errstate(over="ignore", under="ignore"):
            spread = np.abs(target - target[0]).max()
            largest = scale.sum() * np.square(spread)
            sizes = largest, np.square(scale.sum() * spread)  # of the objective and of squared prices
        if not (spread == 0 or (min(sizes) > 1e-250 and max(sizes) < 1e250)):
            raise ValueError(
                f"The target has a range of {spread:.3g}: with C = {self.C:.3g} the objective overflows or underflows. "
                "Rescale the target to a range of about 1."
            )

    def losses(self, decision: Floats, target: Floats) -> Floats:
        """Return 1/2 |L - F|^2."""
        return np.asarray(0.5 * np.sum((target - decision) ** 2, axis=1))

    def gradient(self, decision: Floats, target: Floats) -> Floats:
        """Return F - L."""
        return decision - target

    def dual_values(self, duals: Floats, target: Floats, scale: Floats) -> Floats:
        """Return L'U - |U|^2 / (2 C s); as the duals sum to 0, L is measured from its first row, for less rounding."""
        return np.asarray(np.sum((target - target[0]) * duals - 0.5 * duals**2 / scale[:, None], axis=1))

    def probabilities(self, decision: Floats, codes: Floats | None) -> Floats:
        """Return the probabilities whose mean code is F(x), by (1 + l <F(x), c_k>) / (l + 1) for l + 1 classes.

        Least squares estimates the mean code. Values below `LEAST_PROBABILITY` are raised to it.
        """
        if codes is None:
            return np.clip(0.5 * (1.0 + decision), LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
        n_outputs = decision.shape[1]
        shares = (1.0 + n_outputs * (decision @ codes.T)) / (n_outputs + 1)
        shares = np.maximum(shares, LEAST_PROBABILITY)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def pool_bound(self, duals: Floats, target: Floats, scale: Floats, energy: float) -> float:
        """Return the best D(t U) = t tr(L'U) - t^2/2 (energy + sum U^2 / (C s)) over t: all t U are feasible."""
        # Duals sum to 0, so the target may be measured from anywhere: near its values sums round least.
        fit = float(np.sum((target - target[0]) * duals))
        return best_multiple(fit, energy, float(np.sum(duals**2 / scale[:, None])))

    def solve_path(self, problem: PathProblem, interrupted: Poll) -> PathSolutions:
        """Solve for every C and stage: the products of the columns serve all C, each of which then costs O(J^3)."""
        master = clone(self).set_params(C=problem.Cs[0]).begin(problem.target, problem.sample_weight, problem.n_threads)
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


class Squared(LeastSquares):
    """`LeastSquares` for regression."""

    name = "squared"
    targets: ClassVar[frozenset[Target]] = frozenset({"regression"})
    c_kind: ClassVar[CKind] = "regression"
    has_probabilities = False


class RestrictedLeastSquares:
    """The least-squares master over the columns added so far. Signed duals are U = C s (L - HW - b)."""

    def __init__(self, spec: LeastSquares, target: Floats, scale: Floats, n_threads: int) -> None:
        self.spec = spec
        self.target = np.ascontiguousarray(target)
        self.scale = np.ascontiguousarray(scale)
        self.solver = GramLs(self.target, self.scale, n_threads)
        self._n_columns = self._n_solved = 0
        self._last: tuple[float, ...] = ()  # primal and dual value of the last solve, and whether it was quick
        self._known: tuple[int, Floats] | None = None  # the last duals of several outputs, and their number of columns

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
        self._last = primal, dual, float(quick)
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

    def duals(self, weights: Floats, by_steps: bool) -> Floats:
        """Return U, shape (m, l), of the present model.

        For several outputs these are updated by the newest step, if they were asked for in the last round too: a
        product with the columns for one output instead of one for each.
        """
        n, n_outputs = len(weights), self.target.shape[1]
        if n_outputs == 1:
            return self.solver.duals(weights).reshape(self.target.shape)
        if by_steps and self._known is not None and self._known[0] == n - 1 and n % MAX_STEPS:
            _, output, _ = self.solver.step(n - 1)
            duals = self._known[1] - np.multiply.outer(self.solver.direction(n - 1), output)
        else:
            duals = self.solver.duals(weights).reshape(self.target.shape)
        self._known = n, duals
        return duals

    def get_state(self) -> dict[str, AnyArray]:
        """Return the state of the solver, and what the duals of the last solve depend on."""
        state = {"last": np.array(self._last), **save_factor(self.solver)}
        if self._known is not None:
            state |= {"n_known": np.array(self._known[0]), "known": self._known[1]}
        return state

    def set_state(self, state: Mapping[str, AnyArray], columns: Sequence[AnyArray]) -> Duals:
        """Restore a state, given the columns."""
        restore_factor(self.solver, state, columns)
        self._n_columns = self._n_solved = len(columns)
        self._known = (int(state["n_known"]), state["known"]) if "known" in state else None
        primal, dual, quick = self._last = tuple(state["last"].tolist())
        weights = self.solver.weights().reshape(self._n_columns, self.target.shape[1])
        return LeastSquaresDuals(self, weights, primal, dual, bool(quick))

    def pool_bound(self, duals: Duals, energy: float, largest: float) -> float:
        """Return the bound of `LeastSquares.pool_bound`; of updated duals without computing them."""
        if isinstance(duals, LeastSquaresDuals) and duals.by_steps:
            return best_multiple(duals.fit, energy, duals.loss)
        return self.spec.pool_bound(duals.array, self.target, self.scale, energy)


def best_multiple(fit: float, energy: float, loss: float) -> float:
    """Return the maximum of t fit - t^2/2 (energy + loss) over t."""
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
        self.curvature: Curvature = FactorCurvature(master.solver, master.scale, len(weights))
        # With W = H'U the two objectives are 1/2 (|W|^2 + loss) and fit - 1/2 (|W|^2 + loss).
        self.loss = max(2 * primal - float(np.sum(weights**2)), 0.0)
        self.fit = primal + dual

    @cached_property
    def array(self) -> Floats:
        """U, shape (m, l)."""
        return self._master.duals(self._weights, self.by_steps)

    @property
    def l1_norm(self) -> float:
        """An upper bound on sum |U| by the Cauchy-Schwarz inequality, cheap enough for every round."""
        return float(np.sqrt(self._master.target.shape[1] * self._master.scale.sum() * self.loss))
