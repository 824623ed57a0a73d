"""The column-generation loop, independent of the master problem and of the weak learners (Alg. 1 and 2)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import cache, partial
from time import perf_counter
from typing import get_args

import numpy as np

from cgens.blas import ONE_BLAS_THREAD, RESERVES
from cgens.checkpoints.interfaces import resumable_master, resumable_pricer
from cgens.checkpoints.loop_state import restore_loop, save_loop
from cgens.column_checks import check_bound, check_column, checked_pricing
from cgens.ensemble import Ensemble
from cgens.interrupt import InterruptGuard
from cgens.loop_inputs import as_sample, class_codes_of
from cgens.packs import PackSet
from cgens.rounds import Callback, Round
from cgens.table import Table
from cgens.table.accepted import check_accepted
from cgens.trace import Trace, TraceRecorder
from cgens.types import (
    AnyArray,
    Certificate,
    Column,
    Duals,
    Family,
    Floats,
    Integers,
    Learner,
    Master,
    MasterSolution,
    Poll,
    Pricing,
    Rule,
    Sample,
    Status,
    relative_gap,
)
from cgens.weight_history import WeightHistory

#: Relative gap that suffices between rounds: docs/decisions/0003-loose-between-tight-at-the-end.md.
LOOSE_TOL = 3e-3


def generate_columns(
    master: Master,
    weak_learner: Family,
    X: AnyArray | Table,
    target: Floats,
    *,
    sample_weight: Floats | None = None,
    rows: Integers | None = None,
    tol: float = 1e-3,
    price_tol: float = 1e-6,
    epsilon: float = 0.0,
    max_columns: int = 500,
    pricing: Rule = "max",
    rng: np.random.Generator | None = None,
    n_threads: int = 1,
    callback: Callback | None = None,
    interrupted: Poll | None = None,
    initial: Ensemble | None = None,
    store_history: bool = False,
    resumable: bool = False,
    resume: Mapping[str, AnyArray] | None = None,
) -> tuple[Ensemble, Trace]:
    """Solve a master problem over all weak learners of a family, adding one column per round.

    Parameters
    ----------
    master : Master
    weak_learner : Family
    X : ndarray of shape (n, n_features), float32 or float64, or Table
    target : ndarray of shape (m,) or (m, l)
        What the master fits: labels +-1, class codes or regression targets.
    sample_weight : ndarray of shape (m,), default all ones
    rows : ndarray of shape (m,), default all rows of `X` in order
        Indices of the rows of `X` to fit; `target` and `sample_weight` are in the same order.
    tol : float
        Relative duality gap of the final restricted problem.
    price_tol : float
        Stop when the largest price is at most the column cost + ``price_tol * sum |duals|``, unless the lower bound for
        the pool shows that the gap still exceeds `tol`.
    epsilon : float
        The paper's absolute threshold, added to this limit.
    max_columns : int
        Maximum number of columns.
    pricing : {"max", "gain", "votes"}
        Add the column with the largest |price| of a single output, as in the paper (EQ:WL2); the one that lowers the
        objective most (smooth losses only; a quadratic approximation of it unless least squares); or the one with the
        largest sum of |price| over the outputs.
    rng : numpy.random.Generator
        For families that draw random candidates.
    n_threads : int
    callback : callable, optional
        Called with a `Round` after each round; if it returns True, the loop stops.
    interrupted : callable, optional
        Polled regularly, also during long solves; if it returns True, the loop ends as after Ctrl-C.
    initial : Ensemble, optional
        An earlier fit whose columns to start from.
    store_history : bool
        Whether a pickle of the ensemble includes the weights of every round.
    resumable : bool
        Whether callbacks may take a `Round.snapshot`.
    resume : mapping of str to ndarray, optional
        A snapshot of an earlier call with the same arguments, from which to go on. It takes the place of `initial`.

    Returns
    -------
    ensemble : Ensemble
    trace : Trace
        Includes the certificate and the final duals. After Ctrl-C its status is ``interrupted``, and nothing is raised.

    Examples
    --------
    >>> import numpy as np
    >>> from cgens.masters import Hinge
    >>> from cgens.weak_learners import Stump
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> ensemble, trace = generate_columns(Hinge(C=1.0), Stump(), X, y)
    >>> ensemble.decision(X).ravel().round(3)
    array([-1., -1.,  1.,  1.])
    """
    sample, target = as_sample(X, target, sample_weight, rows, tol)
    if pricing not in get_args(Rule):
        raise ValueError(f"pricing must be one of {', '.join(map(repr, get_args(Rule)))}; got {pricing!r}.")
    # Threads of BLAS would compete with ours, and round differently; limiting them in each round takes longer.
    with ONE_BLAS_THREAD, InterruptGuard(interrupted) as guard:
        RESERVES.reserve(n_threads)
        began = perf_counter()
        poll = guard.requested
        loop = _Loop(master, weak_learner, sample, target, tol, pricing, n_threads, rng, poll, store_history)
        if resumable:
            loop.make_resumable()
        if resume is not None:
            restore_loop(loop, resume, sample)
        else:
            if initial is not None:
                loop.restore(initial, sample)
            loop.solve(price=np.nan, price_seconds=perf_counter() - began)
        status: Status | None = None
        while status is None:
            if loop.interrupted():
                status = Status.INTERRUPTED
            elif len(loop.learners) >= max_columns:
                status = Status.MAX_COLUMNS
            else:
                priced = perf_counter()
                try:
                    column = loop.violating_column(epsilon, price_tol)
                except KeyboardInterrupt:  # a long search was abandoned; the completed rounds are kept
                    status = Status.INTERRUPTED
                    continue
                if column is None:
                    status = Status.OPTIMAL
                    continue
                loop.add(column)
                loop.solve(price=abs(column.price), price_seconds=perf_counter() - priced)
                if callback is not None and callback(loop.report(column, max_columns)):
                    status = Status.STOPPED
        try:
            ensemble, trace = loop.finish(status, epsilon, price_tol)
        except KeyboardInterrupt:
            ensemble, trace = loop.finish(Status.INTERRUPTED, epsilon, price_tol)
        if poll():  # also while the certificate was computed
            trace = replace(trace, certificate=replace(trace.certificate, status=Status.INTERRUPTED))
        return ensemble, trace


class _Loop:
    """The state of the loop and its steps."""

    def __init__(
        self,
        master: Master,
        weak_learner: Family,
        sample: Sample,
        target: Floats,
        tol: float,
        rule: Rule,
        n_threads: int,
        rng: np.random.Generator | None,
        poll: Poll,
        store_history: bool,
    ) -> None:
        self.began = perf_counter()
        self.tol = tol
        self.rule: Rule = rule
        self.n_threads = n_threads
        self.poll = poll
        self.repeats, self.positive_prices = master.repeats, master.positive_prices
        self.master = master.begin(target, sample.weight, n_threads)
        self.family = weak_learner
        self.rng = rng or np.random.default_rng()
        check_accepted(weak_learner, sample.X)
        self.pricer = weak_learner.begin(sample, self.rng, n_threads)
        self.weight = sample.weight / sample.weight.sum()
        self.class_codes = cache(partial(class_codes_of, target))
        self.learners: list[Learner] = []
        self.signs: list[float] = []  # by which the columns of the master are multiplied
        self.means: list[float] = []
        self.taken: dict[Hashable, None] = {}
        self.n_initial = 0  # columns of an earlier fit
        self.resumable = False
        self.responses: dict[int, AnyArray] = {}  # of columns whose responses cannot be computed again to the last bit
        self.n_candidates: int | None = None
        self.history = WeightHistory(store_history)
        self.recorder = TraceRecorder()

    def make_resumable(self) -> None:
        """Keep what snapshots need; raise TypeError if master or pricer, or a part of them, cannot be saved."""
        resumable_master(self.master).get_state()
        resumable_pricer(self.pricer).get_state()
        self.resumable = True

    def restore(self, ensemble: Ensemble, sample: Sample) -> None:
        """Add the columns of an earlier fit to the master."""
        self.n_initial = len(ensemble)
        for learner, response in zip(
            ensemble.learners, ensemble.respond(sample.X.matrix(), self.n_threads).T, strict=True
        ):
            column = Column(learner, response[sample.rows], 0.0)
            check_column(column, self.taken.keys(), len(sample), len(self.learners) + 1)
            self.add(column)
        self.history = ensemble.history.before_last(self.history.stored)

    def interrupted(self) -> bool:
        """Return whether Ctrl-C was pressed, here or in the solver."""
        return self.poll() or self.solution.status is Status.INTERRUPTED

    def add(self, column: Column) -> None:
        """Add a column to the restricted master."""
        flipped = self.positive_prices and column.price < 0
        self.master.add(-column.response if flipped else column.response)
        mean = float(np.einsum("i,i->", self.weight, column.response))
        self.record(column, -1.0 if flipped else 1.0, mean)

    def record(self, column: Column, sign: float, mean: float) -> None:
        """Add a column to the lists."""
        if self.resumable:
            PackSet.of([column.learner]).to_arrays()  # raises TypeError if it cannot be saved: now, not hours later
            if not getattr(column.learner, "exact_responses", False):
                self.responses[len(self.learners)] = column.response
        self.learners.append(column.learner)
        self.signs.append(sign)
        self.means.append(mean)
        if not self.repeats:
            self.taken[column.learner.key] = None

    def solve(self, price: float, price_seconds: float) -> None:
        """Begin a round with the current columns, and solve it loosely."""
        self.recorder.begin_round(price, price_seconds)
        self._solve(max(self.tol, LOOSE_TOL), quick=True)
        self.history.append(self.solution)

    def tighten(self) -> None:
        """Solve the current round again, to the final tolerance."""
        self._solve(self.tol, quick=False)
        self.history.replace_last(self.solution)

    def _solve(self, tol: float, quick: bool) -> None:
        began = perf_counter()
        solution = self.master.solve(tol, self.poll, quick)
        if not np.isfinite(solution.primal):
            raise ValueError(
                f"The objective over {len(self.learners)} columns is {solution.primal}: are values of X or y, sample "
                "weights or C extremely large?"
            )
        self.adopt(solution.with_signs(np.array(self.signs)) if self.positive_prices else solution, quick)
        self.recorder.add_solution(self.solution, perf_counter() - began)

    def adopt(self, solution: MasterSolution, quick: bool = True) -> None:
        """Continue from a solution."""
        self.solution, self.quick = solution, quick
        solution.duals.class_codes = self.class_codes
        solution.duals.column_cost = solution.column_cost
        self.pricing: Pricing | None = None  # earlier prices belong to other duals

    def price(self) -> Pricing:
        """Search once at the current duals, and record the lower bound of the pool."""
        if self.pricing is None:
            duals = self.solution.duals
            if self.rule == "gain" and duals.curvature is None:
                raise ValueError("pricing='gain' needs a smooth loss, such as least squares; use 'max'.")
            taken, number = self.taken.keys(), len(self.learners) + 1
            found = self.pricer.price(duals, taken, self.rule)
            self.pricing = checked_pricing(found, self.pricer, taken, len(self.weight), number)
            self.n_candidates = self.pricing.n_candidates
            if self.pricing.energy is not None:
                self.recorder.add_bound(self._bound(duals, self.pricing), self.solution)
                self.check_bound(self.recorder.bound)
        return self.pricing

    def check_bound(self, bound: float) -> None:
        """Raise ValueError if a lower bound of the pool is above the objective, also of an earlier round."""
        check_bound(bound, self.solution.primal, self.recorder.first_primal, self.family, len(self.learners) + 1)

    def verified_bound(self) -> float:
        """Return the best bound of all rounds, recomputed from its duals if its prices were only updated."""
        best = self.recorder.bound_solution
        if best is None or not best.duals.by_steps:
            return self.recorder.bound
        plain = Duals(best.duals.array)
        return self._bound(plain, self.pricer.price(plain, self.taken.keys(), "max"))

    def _bound(self, duals: Duals, found: Pricing) -> float:
        if found.energy is None:
            return -np.inf
        return self.master.pool_bound(duals, found.energy, found.largest_price())

    def pool_is_open(self) -> bool:
        """Return whether the bound shows that columns are missing; very large row weights can hide it in the prices."""
        primal, bound = self.solution.primal, self.recorder.bound
        solved = self.solution.relative_gap <= self.tol
        return solved and bool(np.isfinite(bound)) and relative_gap(primal, bound) > self.tol

    def violating_column(self, epsilon: float, price_tol: float) -> Column | None:
        """Return the column to add, or None at an optimum, which is declared only after a solve to the final tolerance.

        A pool bound within the tolerance is *not* an optimum here: with a tiny C the constant model comes arbitrarily
        close to it in the objective while its predictions are arbitrarily far off.
        """
        while True:
            found, duals, cost = self.price(), self.solution.duals, self.solution.column_cost + epsilon
            # Between rounds an upper bound on the l1 norm suffices; an optimum is decided by the norm itself.
            norm = duals.l1_norm if self.quick else float(np.abs(duals.array).sum())
            largest = found.largest_price()
            if largest > cost + price_tol * norm:
                return found.column
            if not self.quick and not self.solution.retry:
                return found.column if largest > cost and self.pool_is_open() else None
            self.tighten()

    def report(self, column: Column, max_columns: int) -> Round:
        """Return the state of the round for a callback."""
        return Round(
            n_columns=len(self.learners),
            max_columns=max_columns,
            price=abs(column.price),
            primal=self.solution.primal,
            dual=self.solution.dual,
            relative_gap=self.solution.relative_gap,
            seconds=perf_counter() - self.began,
            learner=column.learner,
            learners=tuple(self.learners),
            weights=self.solution.weights,
            intercept=self.solution.intercept,
            snapshot=partial(save_loop, self),
        )

    def finish(self, status: Status, epsilon: float, price_tol: float) -> tuple[Ensemble, Trace]:
        """Return the model and its trace, solved to the final tolerance and certified; after Ctrl-C, as they are."""
        max_price = np.nan
        if status is not Status.INTERRUPTED and self.quick:
            self.tighten()  # only now is NOT_CONVERGED reported: a quick solve may stop early
        if self.interrupted():
            status = Status.INTERRUPTED
        else:
            max_price = self.price().largest_price()
            if status is Status.MAX_COLUMNS and self.violating_column(epsilon, price_tol) is None:
                status = Status.OPTIMAL
            if self.solution.status is Status.NOT_CONVERGED or not np.isfinite(self.solution.relative_gap):
                status = Status.NOT_CONVERGED
        primal, bound = self.solution.primal, self.verified_bound()
        self.check_bound(bound)
        certified = np.isfinite(bound)
        certificate = Certificate(
            primal=primal,
            dual=self.solution.dual,
            relative_gap=self.solution.relative_gap,
            scope="pool" if certified else "restricted",
            n_candidates=self.n_candidates,
            max_price=max_price,
            full_lower_bound=bound if certified else None,
            full_relative_gap=relative_gap(primal, bound) if certified else None,
            status=status,
        )
        ensemble = Ensemble.of(self.learners, self.means, self.history)
        return ensemble, self.recorder.finish(certificate, self.solution.duals.array)
