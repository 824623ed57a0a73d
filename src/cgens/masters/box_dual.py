"""Losses whose dual is a box: sums of max(lo t, hi t), t = q - F, such as the hinge and the pinball loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone

from cgens._core import DualCd
from cgens.masters.loss import Loss, warn_about_path
from cgens.path_problem import PathProblem, PathSolutions
from cgens.types import AnyArray, Duals, Floats, MasterSolution, Poll, RestrictedMaster, Status, relative_gap

#: From the best to the worst.
_STATUSES = {"converged": Status.OPTIMAL, "max_sweeps": Status.NOT_CONVERGED, "interrupted": Status.INTERRUPTED}


class BoxTerms(NamedTuple):
    """The loss of one output, sum_i max(lower_i t_i, upper_i t_i) with t_i = linear_i - F(x_i), lower <= 0 <= upper.

    Of length m times the number of terms per row: the first terms of all rows, then the second ones.
    """

    linear: Floats
    lower: Floats
    upper: Floats


class BoxDualLoss(Loss):
    """Base class of losses with a box dual; a subclass has `box`, `losses` and `dual_values`.

    Attributes
    ----------
    max_sweeps : int
        Maximum number of passes of coordinate descent over the active rows in one solve.
    quick_sweeps : int
        The same for the quick solves between rounds.
    n_terms : int
        Number of terms per row and output.
    """

    n_terms: ClassVar[int] = 1
    max_sweeps: int
    quick_sweeps: int

    def box(self, target: Floats, scale: Floats, output: int) -> BoxTerms:
        """Return the loss of one output, given its target and C times the weights, both of shape (m,)."""
        raise NotImplementedError

    def units(self, target: Floats) -> tuple[Floats, Floats]:
        """Return the origin and the unit in which each output is solved, shapes (l,); units are powers of 2."""
        n_outputs = target.shape[1]
        return np.zeros(n_outputs), np.ones(n_outputs)

    def begin(self, target: Floats, sample_weight: Floats, n_threads: int) -> RestrictedMaster:
        """Return the problem without columns, for a target of shape (m, l)."""
        return self.begin_descent(target, sample_weight, n_threads)

    def begin_descent(self, target: Floats, sample_weight: Floats, n_threads: int) -> RestrictedBoxDual:
        """Return the same, to be solved by coordinate descent."""
        loss = self.prepared(target, sample_weight)
        return RestrictedBoxDual(loss, target, loss.scale(sample_weight), n_threads)

    def infeasibility(self, duals: Floats, target: Floats, scale: Floats) -> float:
        """Return the largest amount by which a dual is outside its box; 0 if all are inside."""
        worst = 0.0
        for output, (r, y) in enumerate(zip(duals.T, target.T, strict=True)):
            _, lower, upper = self.box(y, scale, output)
            lower, upper = (bound.reshape(self.n_terms, -1).sum(axis=0) for bound in (lower, upper))
            worst = max(worst, float((lower - r).max()), float((r - upper).max()))
        return worst

    def pool_bound(self, duals: Floats, target: Floats, scale: Floats, energy: float) -> float:
        """Return the best D(s r) = s q'r - s^2/2 energy over 0 <= s <= 1: scaled duals remain feasible."""
        return scaled_bound(float(np.sum(self.dual_values(duals, target, scale))), energy)

    def solve_path(self, problem: PathProblem, interrupted: Poll) -> PathSolutions:
        """Solve for every C and stage, each warm-started from the scaled solution of the neighbouring C or stage."""
        spec = clone(self).set_params(C=min(problem.Cs))
        master = spec.begin_descent(problem.target, problem.sample_weight, problem.n_threads)
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


class RestrictedBoxDual:
    """The master of a box dual over the columns added so far: one problem per output, all over the same columns.

    The target of each output is measured from an origin and in a unit u, so that numbers are of the order of 1: weights
    and duals are then multiplied by u, objectives by u^2.
    """

    def __init__(self, spec: BoxDualLoss, target: Floats, scale: Floats, n_threads: int) -> None:
        self._spec = spec
        self._target = target
        self._scale = scale
        self._origins, self._units = spec.units(target)
        self._solvers: list[DualCd] = []
        for output, (y, origin, unit) in enumerate(zip(target.T, self._origins, self._units, strict=True)):
            linear, lower, upper = (part / unit for part in spec.box(y - origin, scale, output))
            sibling = self._solvers[0] if self._solvers else None
            total = spec.dual_sum / unit
            self._solvers.append(DualCd(linear, lower, upper, n_threads, sibling, spec.n_terms, total))
        self._largest: list[float] = []  # |response| of each column
        self._finished: tuple[Floats, Floats, float] | None = None  # weights, intercept, primal of the last full solve

    def add(self, response: AnyArray) -> None:
        """Add one column of shape (m,), int8 or floating."""
        response = np.ascontiguousarray(response)
        self._largest.append(float(max(response.max(), -response.min())))
        for solver in self._solvers:
            solver.add(response)

    def scale_c(self, factor: float) -> None:
        """Multiply C and the duals by `factor`: a warm start for the next C of a path."""
        for solver in self._solvers:
            solver.scale_box(factor)
        self._scale = factor * self._scale
        self._finished = None  # its primal was that of another C

    def solve(self, tol: float, interrupted: Poll, quick: bool = False) -> MasterSolution:
        """Solve every output to a relative gap of `tol`, starting from the last solution."""
        max_sweeps = self._spec.quick_sweeps if quick else self._spec.max_sweeps
        reports = [solver.solve(tol, max_sweeps, interrupted) for solver in self._solvers]
        primals, duals, sweeps, statuses = zip(*reports, strict=True)
        primal, dual = (float(sum(self._units**2 * np.array(values))) for values in (primals, duals))
        status = _STATUSES[max(statuses, key=list(_STATUSES).index)]
        if status is Status.NOT_CONVERGED and relative_gap(primal, dual) <= tol:
            status = Status.OPTIMAL  # the gap of one output may be small relative to the objective of all
        weights = self._as_columns([solver.weights() for solver in self._solvers])
        intercept = self._units * np.array([solver.bias for solver in self._solvers]) + self._origins
        if self._spec.dual_sum > 0:
            # Many rows are on the boundary of the one-class SVM, F(x) = 0: rounding must not make them outliers.
            sizes = np.abs(intercept) + np.array(self._largest) @ np.abs(weights)
            intercept = intercept + 8 * np.finfo(float).eps * sizes
        if status is not Status.INTERRUPTED:
            self._finished = weights, intercept, primal
        elif self._finished is not None and self._finished[2] < primal:
            # After an interrupted descent, the last full solve, with weight 0 for newer columns, may be better.
            before, intercept, primal = self._finished
            weights = np.concatenate([before, np.zeros((len(weights) - len(before), len(intercept)))])
        return MasterSolution(
            weights=weights,
            intercept=intercept,
            duals=self._row_duals(),
            primal=primal,
            dual=dual,
            status=status,
            n_iter=sum(sweeps),
        )

    def get_state(self) -> dict[str, AnyArray]:
        """Return the states of the solvers."""
        names = ("duals", "fits", "weights", "numbers", "random")
        states = (zip(names, solver.get_state(), strict=True) for solver in self._solvers)
        arrays = {f"{t}.{name}": np.asarray(part) for t, state in enumerate(states) for name, part in state}
        if self._finished is not None:
            arrays |= {f"finished.{k}": np.array(part) for k, part in enumerate(self._finished)}
        return arrays

    def set_state(self, state: Mapping[str, AnyArray], columns: Sequence[AnyArray]) -> Duals:
        """Restore a state, given the columns."""
        for column in columns:
            self.add(column)
        for t, solver in enumerate(self._solvers):
            duals, fits, weights, numbers = (state[f"{t}.{name}"] for name in ("duals", "fits", "weights", "numbers"))
            solver.set_state(duals, fits, weights, numbers, int(state[f"{t}.random"]))
        if "finished.0" in state:
            self._finished = state["finished.0"], state["finished.1"], float(state["finished.2"])
        return self._row_duals()

    def pool_bound(self, duals: Duals, energy: float, largest: float) -> float:
        """Return the bound of the loss."""
        return self._spec.pool_bound(duals.array, self._target, self._scale, energy)

    def _row_duals(self) -> Duals:
        """Return the sum of the duals of each row."""
        duals, n_terms = [solver.duals() for solver in self._solvers], self._spec.n_terms
        if n_terms > 1:
            duals = [own.reshape(n_terms, -1).sum(axis=0) for own in duals]
        return Duals(self._as_columns(duals))

    def _as_columns(self, outputs: list[Floats]) -> Floats:
        """Return a matrix with one array per column, in the units of the target."""
        columns = outputs[0][:, None] if len(outputs) == 1 else np.column_stack(outputs)
        return columns if np.all(self._units == 1.0) else self._units * columns


def scaled_bound(total: float, energy: float) -> float:
    """Return the maximum of s total - s^2/2 energy over 0 <= s <= 1."""
    scale = min(1.0, max(total, 0.0) / energy) if energy > 0 else 1.0
    return scale * total - 0.5 * scale**2 * energy
