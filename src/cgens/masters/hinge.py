"""The support vector machine with a free bias (EQ:SVM1, EQ:SVM_D1)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from cgens._core import DualCd
from cgens.coding import ClassCoding
from cgens.masters.loss import Loss, warn_about_path
from cgens.masters.targets import check_signs
from cgens.path_problem import PathProblem, PathSolutions
from cgens.types import AnyArray, Duals, Floats, MasterSolution, Poll, Status, Target, relative_gap

#: From the best to the worst.
_STATUSES = {"converged": Status.OPTIMAL, "max_sweeps": Status.NOT_CONVERGED, "interrupted": Status.INTERRUPTED}


class Hinge(Loss):
    """Minimize 1/2 |w|^2 + C sum_i s_i max(0, 1 - y_i (w.h(x_i) + b)) over w and b, for each column y of the target.

    Parameters
    ----------
    C : float
        The paper's C. The loss is a sum over rows, not a mean.
    max_sweeps : int
        Maximum number of passes of coordinate descent over the active rows in one solve.
    quick_sweeps : int
        The same for the quick solves between rounds.

    Examples
    --------
    >>> import numpy as np
    >>> master = Hinge(C=1.0).begin(np.array([[1.0], [-1.0]]), np.ones(2), n_threads=1)
    >>> master.add(np.array([1, -1], dtype=np.int8))
    >>> solution = master.solve(1e-9, lambda: False)
    >>> solution.weights.round(6), solution.duals.array.ravel().round(6)
    (array([[1.]]), array([ 0.5, -0.5]))
    """

    name = "hinge"
    targets: ClassVar[frozenset[Target]] = frozenset({"classes", "labels"})

    def __init__(self, C: float = 1.0, max_sweeps: int = 20_000, quick_sweeps: int = 30) -> None:
        self.C = C
        self.max_sweeps = max_sweeps
        self.quick_sweeps = quick_sweeps

    def begin(self, target: Floats, sample_weight: Floats, n_threads: int) -> RestrictedHinge:
        """Return the problem without columns; `target` is +-1, shape (m, l)."""
        if not 0 < self.C < np.inf:
            raise ValueError(f"C must be a finite number > 0; got {self.C}.")
        check_signs(target, "The hinge loss")
        return RestrictedHinge(self, target, self.C * sample_weight, n_threads)

    def losses(self, decision: Floats, target: Floats) -> Floats:
        """Return max(0, 1 - yF), summed over the outputs."""
        return np.asarray(np.maximum(0.0, 1.0 - target * decision).sum(axis=1))

    def dual_values(self, duals: Floats, target: Floats, scale: Floats) -> Floats:
        """Return the a_i = |r_i|, summed over the outputs."""
        return np.asarray(np.abs(duals).sum(axis=1))

    def infeasibility(self, duals: Floats, target: Floats, scale: Floats) -> float:
        """Return by how much the a_i are outside [0, C s_i], at most."""
        alphas = target * duals
        return float(max(-alphas.min(), (alphas - scale[:, None]).max(), 0.0))

    def code_classes(self, classes: AnyArray) -> ClassCoding:
        """Return +-1: for more than two classes, each against the rest."""
        return ClassCoding.one_vs_rest(classes) if len(classes) > 2 else ClassCoding.simplex(classes)

    def pool_bound(self, duals: Floats, target: Floats, scale: Floats, energy: float) -> float:
        """Return the best D(s a) = s 1'a - s^2/2 energy over 0 <= s <= 1: scaled duals remain feasible."""
        return scaled_bound(float(np.abs(duals).sum()), energy)

    def solve_path(self, problem: PathProblem, interrupted: Poll) -> PathSolutions:
        """Solve for every C and stage, each warm-started from the scaled solution of the neighbouring C or stage."""
        spec = Hinge(min(problem.Cs), self.max_sweeps, self.quick_sweeps)
        master = spec.begin(problem.target, problem.sample_weight, problem.n_threads)
        paths: PathSolutions = [[] for _ in problem.Cs]
        n_added, last_c, worst = 0, spec.C, (0.0, 0.0)
        order = sorted(range(len(problem.Cs)), key=lambda c: problem.Cs[c])
        for stage in problem.stages:
            for j in range(n_added, stage):
                master.add(problem.columns[j])
            n_added = stage
            for c in order:
                master.scale_c(problem.Cs[c] / last_c)
                last_c = problem.Cs[c]
                solution = master.solve(problem.tol, interrupted)
                paths[c].append((solution.weights, solution.intercept))
                if interrupted():
                    return []
                if solution.status is Status.NOT_CONVERGED:
                    worst = max(worst, (solution.relative_gap, last_c))
            order.reverse()
        warn_about_path(worst, problem.tol)
        return paths


class RestrictedHinge:
    """The hinge master over the columns added so far: one problem per output, all over the same columns.

    Signed duals are y_i a_i with 0 <= a_i <= C s_i.
    """

    def __init__(self, spec: Hinge, target: Floats, bound: Floats, n_threads: int) -> None:
        self._spec = spec
        self._solvers: list[DualCd] = []
        for y in np.ascontiguousarray(target.T):
            lower, upper = np.where(y < 0, -bound, 0.0), np.where(y > 0, bound, 0.0)
            sibling = self._solvers[0] if self._solvers else None
            self._solvers.append(DualCd(y, lower, upper, n_threads, sibling))
        self._finished: tuple[Floats, Floats, float] | None = None  # weights, intercept, primal of the last full solve

    def add(self, response: AnyArray) -> None:
        """Add one column of shape (m,), int8 or floating."""
        response = np.ascontiguousarray(response)
        for solver in self._solvers:
            solver.add(response)

    def scale_c(self, factor: float) -> None:
        """Multiply C and the duals by `factor`: a warm start for the next C of a path."""
        for solver in self._solvers:
            solver.scale_box(factor)
        self._finished = None  # its primal was that of another C

    def solve(self, tol: float, interrupted: Poll, quick: bool = False) -> MasterSolution:
        """Solve every output to a relative gap of `tol`, starting from the last solution."""
        max_sweeps = self._spec.quick_sweeps if quick else self._spec.max_sweeps
        reports = [solver.solve(tol, max_sweeps, interrupted) for solver in self._solvers]
        primals, duals, sweeps, statuses = zip(*reports, strict=True)
        status = _STATUSES[max(statuses, key=list(_STATUSES).index)]
        if status is Status.NOT_CONVERGED and relative_gap(sum(primals), sum(duals)) <= tol:
            status = Status.OPTIMAL  # the gap of one output may be small relative to the objective of all
        weights = _as_columns([solver.weights() for solver in self._solvers])
        intercept, primal = np.array([solver.bias for solver in self._solvers]), sum(primals)
        if status is not Status.INTERRUPTED:
            self._finished = weights, intercept, primal
        elif self._finished is not None and self._finished[2] < primal:
            # After an interrupted descent, the last full solve, with weight 0 for newer columns, may be better.
            before, intercept, primal = self._finished
            weights = np.concatenate([before, np.zeros((len(weights) - len(before), len(intercept)))])
        return MasterSolution(
            weights=weights,
            intercept=intercept,
            duals=Duals(_as_columns([solver.duals() for solver in self._solvers])),
            primal=primal,
            dual=sum(duals),
            status=status,
            n_iter=sum(sweeps),
        )

    def pool_bound(self, duals: Duals, energy: float, largest: float) -> float:
        """Return the bound of `Hinge.pool_bound`."""
        return scaled_bound(duals.size, energy)


def scaled_bound(total: float, energy: float) -> float:
    """Return the maximum of s total - s^2/2 energy over 0 <= s <= 1."""
    scale = min(1.0, total / energy) if energy > 0 else 1.0
    return scale * total - 0.5 * scale**2 * energy


def _as_columns(outputs: list[Floats]) -> Floats:
    """Return a matrix with one array per column, without a copy if there is only one."""
    return outputs[0][:, None] if len(outputs) == 1 else np.column_stack(outputs)
