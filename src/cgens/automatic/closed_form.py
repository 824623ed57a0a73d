"""A part of the model: the weights of given learners on all rows, in closed form and with a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from cgens.blas import ONE_BLAS_THREAD
from cgens.ensemble import Ensemble
from cgens.masters import LeastSquares
from cgens.packs import PackSet
from cgens.selection import NormalEquations
from cgens.selection.normal_equations import blocks_of
from cgens.table import Table
from cgens.trace import Trace, TraceRecorder
from cgens.types import AnyArray, Certificate, Duals, Floats, Integers, MasterSolution, Status, relative_gap
from cgens.weight_history import WeightHistory


@dataclass(frozen=True, eq=False)
class PackColumns:
    """The responses of learners on some rows of a table, computed when they are read.

    Attributes
    ----------
    learners : PackSet
    X : Table
    rows : ndarray of shape (m,)
    n_threads : int
    """

    learners: PackSet
    X: Table
    rows: Integers
    n_threads: int

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self.rows), len(self.learners)

    def __getitem__(self, block: slice | Integers) -> AnyArray:
        """Return the responses of some rows."""
        return self.learners.respond(self.X.take(self.rows[block]).matrix(), self.n_threads)


def solve_part(
    columns: PackColumns, others: PackColumns | None, target: Floats, weight: Floats, penalty: float
) -> tuple[Ensemble, Trace]:
    """Solve `LeastSquares` with C = 1 / penalty over all columns at once, and certify the solution.

    The columns are read twice, in blocks: for their products, and for the duals.

    Parameters
    ----------
    columns : PackColumns
    others : PackColumns or None
        The rest of the pool that the columns were selected from, which the lower bound covers. None if there is no
        pool: trees are grown, and not selected.
    target : ndarray of shape (m, l)
    weight : ndarray of shape (m,)
    penalty : float
    """
    began = perf_counter()
    master = LeastSquares(1.0 / penalty)
    master.check_range(target, weight / penalty)
    normal = NormalEquations.of(columns, target, weight, columns.n_threads)
    with ONE_BLAS_THREAD:
        shifted = normal.gram + penalty * np.eye(len(normal.gram))
        weights = cho_solve(cho_factor(shifted, lower=True), normal.products)
    empty = np.zeros((0, target.shape[1]))
    recorder, history = TraceRecorder(), WeightHistory()
    for own in (empty, weights):
        solution, energy = evaluate(master, columns, own, normal, target, weight / penalty)
        recorder.begin_round(np.nan, 0.0)
        recorder.add_solution(solution, perf_counter() - began)
        history.append(solution)
        began = perf_counter()
    bound, max_price = None, np.nan
    if others is not None:
        prices = prices_of(others, solution.duals.array)
        bound = master.pool_bound(solution.duals.array, target, weight / penalty, energy + float(np.sum(prices**2)))
        max_price = float(np.abs(prices).max(initial=0.0))
        recorder.add_bound(bound, solution)
    certificate = Certificate(
        primal=solution.primal,
        dual=solution.dual,
        relative_gap=solution.relative_gap,
        scope="restricted" if others is None else "pool",
        n_candidates=None if others is None else len(weights) + others.shape[1],
        max_price=max_price,
        full_lower_bound=bound,
        full_relative_gap=None if bound is None else relative_gap(solution.primal, bound),
        status=Status.OPTIMAL,
    )
    for array in (weights, solution.intercept):
        array.setflags(write=False)
    ensemble = Ensemble(columns.learners, weights, solution.intercept, normal.means, history)
    return ensemble, recorder.finish(certificate, solution.duals.array)


def prices_of(columns: PackColumns, duals: Floats) -> Floats:
    """Return the price of each column for each output, shape (n, l): one pass over the rows."""
    prices = np.zeros((columns.shape[1], duals.shape[1]))
    if columns.shape[1]:
        with ONE_BLAS_THREAD:
            for rows in blocks_of(len(duals)):
                prices += np.asarray(columns[rows], dtype=np.float64).T @ duals[rows]
    return prices


def evaluate(
    master: LeastSquares, columns: PackColumns, weights: Floats, normal: NormalEquations, target: Floats, scale: Floats
) -> tuple[MasterSolution, float]:
    """Return a solution with its objectives, and the sum of price^2 over its columns: one pass over the rows."""
    means = normal.means[: len(weights)]
    intercept = normal.target_mean - means @ weights
    duals = np.empty_like(target)
    prices = np.zeros_like(weights)
    with ONE_BLAS_THREAD:
        for rows in blocks_of(len(target)):
            own = np.asarray(columns[rows], dtype=np.float64) if len(weights) else np.zeros((rows.stop - rows.start, 0))
            duals[rows] = scale[rows, None] * (target[rows] - own @ weights - intercept)
            prices += own.T @ duals[rows]
    # Duals must sum to 0, and rounding errors of the intercept add up over the rows.
    error = duals.sum(axis=0) / scale.sum()
    intercept += error
    duals -= np.multiply.outer(scale, error)
    prices -= np.multiply.outer(scale.sum() * means, error)
    energy = float(np.sum(prices**2))
    primal = 0.5 * float(np.sum(weights**2)) + 0.5 * float(np.sum(duals**2 / scale[:, None]))
    dual = master.dual_value(duals, target, scale, energy)
    return MasterSolution(weights, intercept, Duals(duals), primal, dual, Status.OPTIMAL, 1), energy
