"""The part of cosines: groups are compared on a sample of the rows, and the final pool is drawn for all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cgens.automatic.groups import ONE_SCALE_VIEWS, VIEWS, GroupRows, HonestFit, compare_groups, groups_of
from cgens.automatic.pool import (
    LEAST_COLUMNS,
    HonestPool,
    choose_penalty,
    columns_of,
    draw_pools,
    learn_metrics,
    suggested_penalty,
)
from cgens.automatic.problem import Clock, HonestRows, Problem
from cgens.packs import PackSet
from cgens.packs.pack_set import PackPart
from cgens.selection import NormalEquations, honest_weights, select_columns
from cgens.table.encoding import Encoding
from cgens.types import AnyArray, Floats, Integers
from cgens.weak_learners.encoded import EncodedPack
from cgens.weak_learners.fourier import FourierPack
from cgens.weak_learners.projections.cosine_pool import CosinePool
from cgens.weak_learners.scaled import ScaledPack

#: Rows on which groups of cosines are compared, and on which the cosines and the penalty of the final pool are chosen.
GROUP_ROWS, POOL_ROWS = 3000, 5000
#: Columns of a group, more on few rows, which take less time. Of many inputs, so many that a draw has at most
#: `DRAWN_VALUES` entries.
GROUP_COLUMNS, FEW_ROWS, DRAWN_VALUES = {True: 1000, False: 500}, 700, 1_000_000
#: Columns of the final pool: at least, for each further output, and at most; and what time is left for, if there is
#: little.
POOL_COLUMNS, OUTPUT_COLUMNS, MOST_COLUMNS, HASTY_COLUMNS = 2000, 100, 4000, 300
#: Share of a time budget after which the pool is small.
POOL_UNTIL = 0.35
#: With fewer rows no metric is learned: each is learned from half of them.
LEAST_ROWS = 4


@dataclass(frozen=True, eq=False)
class CosinePart:
    """What was chosen.

    Attributes
    ----------
    fits : list of HonestFit
        Of the groups.
    group_weights : ndarray of shape (n_groups,)
    metrics : dict of ndarray of shape (d,)
        The learned metric of each view in which a group of some weight uses it.
    pool : FinalPool or None
        None if no group predicts better than the mean.
    penalty : float
    decisions : ndarray of shape (k, l)
        Leave-one-out decisions of the final pool for the honest rows.
    """

    fits: list[HonestFit]
    group_weights: Floats
    metrics: Mapping[str, Floats]
    pool: FinalPool | None = None
    penalty: float = np.nan
    decisions: Floats | None = None


@dataclass(frozen=True, eq=False)
class FinalPool:
    """Cosines in the order in which column generation selects them.

    Attributes
    ----------
    encodings : dict of Encoding
        Of each view.
    pools : list of (view, CosinePool)
    order : ndarray of shape (k,)
        The selected cosines, as numbers among those of all pools.
    """

    encodings: Mapping[str, Encoding]
    pools: Sequence[tuple[str, CosinePool]]
    order: Integers

    def __len__(self) -> int:
        return sum(len(pool) for _, pool in self.pools)

    def first(self, n_columns: int) -> PackSet:
        """Return the cosines that are selected first, as learners on the rows of X."""
        return self._learners(self.order[:n_columns])

    def others(self, n_columns: int) -> PackSet:
        """Return all cosines but those that are selected first."""
        return self._learners(np.setdiff1d(np.arange(len(self)), self.order[:n_columns]))

    def _learners(self, chosen: Integers) -> PackSet:
        names = np.concatenate([np.full(len(pool), view) for view, pool in self.pools])
        parts = []
        for view in dict.fromkeys(names[chosen].tolist()):
            pools = [pool for name, pool in self.pools if name == view]
            columns = np.flatnonzero(names[chosen] == view)
            own = np.searchsorted(np.flatnonzero(names == view), chosen[columns])
            thetas, kappas, factors = (
                np.concatenate([getattr(pool, name) for pool in pools])[own] for name in ("thetas", "kappas", "factors")
            )
            cosines = EncodedPack(self.encodings[view], FourierPack(thetas, kappas))
            parts.append(PackPart(columns, ScaledPack(cosines, factors)))
        return PackSet(parts)


def choose_cosines(problem: Problem, honest: HonestRows, n_columns: int, seed: np.random.SeedSequence) -> CosinePart:
    """Compare the groups, weigh them, draw the final pool, and choose its penalty and at most `n_columns` of it."""
    clock, n_threads = problem.clock, problem.n_threads
    sample_seed, group_seed, metric_seed, pool_seed = seed.spawn(4)
    shuffled = np.random.default_rng(sample_seed).permutation(len(problem.weight))
    views = Views.of(problem)
    grouped = np.sort(shuffled[:GROUP_ROWS])
    rows = views.group_rows(grouped)
    clock.lap("views")

    n_inputs = views.n_inputs
    n_group = min(GROUP_COLUMNS[len(grouped) <= FEW_ROWS], max(LEAST_COLUMNS, DRAWN_VALUES // n_inputs))
    groups = groups_of(views=views.encodings, learned=len(grouped) >= LEAST_ROWS)
    comparison = compare_groups(groups, rows, n_group, group_seed, n_threads, clock)
    fits = comparison.fits
    shares = honest_weights([fit.decisions for fit in fits], rows.target, rows.weight)
    clock.lap("groups")
    if not shares.any():
        return CosinePart(fits, shares, {})

    metrics = learn_metrics(fits, shares, rows, n_group, metric_seed, n_threads)
    known = rows_of_pool(honest.rows, shuffled)
    drawn = DrawnPools(fits, shares, views, known, pool_seed)
    final = drawn.draw(metrics, n_pool(n_inputs, problem.target.shape[1], clock), 0)
    judged = np.searchsorted(known, np.unique(honest.rows))
    pools = [final.honest(judged)]
    if metrics:  # the metric has seen the labels of rows: each is judged by cosines in that of the other half
        in_half = np.arange(len(problem.weight)) % 2 == 0
        in_half[grouped] = comparison.half
        n_half = max(LEAST_COLUMNS, len(final) // 2)
        pools = [
            drawn.draw({view: comparison.metrics[view, side] for view in metrics}, n_half, number).honest(
                judged[in_half[known[judged]] != side]
            )
            for number, side in ((1, True), (2, False))
        ]
    penalty, found, places = choose_penalty(
        pools,
        problem.target[known],
        problem.copies[known],
        suggested_penalty(fits, shares, n_group),
        lambda decisions, own: problem.error_of(decisions, known[own], problem.weight[known[own]]),
        n_threads,
    )
    penalty *= len(final)
    decisions = np.empty((len(known), problem.target.shape[1]))
    decisions[places] = found
    pool = FinalPool(views.encodings, final.pools, select_columns(final.normal, penalty, n_columns))
    clock.lap("pool")
    return CosinePart(fits, shares, metrics, pool, penalty, decisions[np.searchsorted(known, honest.rows)])


@dataclass(frozen=True, eq=False)
class Views:
    """The rows of a problem as inputs of cosines.

    Attributes
    ----------
    problem : Problem
    encodings : dict of Encoding
        Of each view, fitted on all rows.
    """

    problem: Problem
    encodings: Mapping[str, Encoding]

    @staticmethod
    def of(problem: Problem) -> Views:
        """Fit the encodings."""
        kinds = ONE_SCALE_VIEWS if problem.one_scale else VIEWS
        return Views(problem, {kind: Encoding.of(problem.X, problem.rows, problem.weight, kind) for kind in kinds})

    @property
    def n_inputs(self) -> int:
        """Number of inputs, the same in all views."""
        return next(iter(self.encodings.values())).n_inputs

    def of_rows(self, rows: Integers) -> dict[str, AnyArray]:
        """Return some of the rows in each view."""
        matrix = self.problem.X.take(self.problem.rows[rows]).matrix()
        return {view: encoding.transform(matrix) for view, encoding in self.encodings.items()}

    def group_rows(self, rows: Integers) -> GroupRows:
        """Return some of the rows, to compare groups on."""
        problem = self.problem
        return GroupRows(self.of_rows(rows), problem.target[rows], problem.weight[rows], problem.copies[rows])


class DrawnPools:
    """Draws cosines of all groups of some weight, and measures them on some rows."""

    def __init__(
        self, fits: Sequence[HonestFit], shares: Floats, views: Views, known: Integers, seed: np.random.SeedSequence
    ) -> None:
        self._fits, self._shares, self._seeds = fits, shares, seed.spawn(3)
        self._rows, problem = views.of_rows(known), views.problem
        self._target, self._weight, self._n_threads = problem.target[known], problem.weight[known], problem.n_threads

    def draw(self, metrics: Mapping[str, Floats], n_columns: int, number: int) -> MeasuredPool:
        """Draw about `n_columns` in the given metrics; pools with other numbers have other cosines."""
        seed = self._seeds[number]
        pools = draw_pools(self._fits, self._shares, self._rows, metrics, self._weight, n_columns, seed)
        columns = columns_of(pools)
        normal = NormalEquations.of(columns, self._target, self._weight, self._n_threads, np.float32)
        return MeasuredPool(pools, columns, normal)


@dataclass(frozen=True, eq=False)
class MeasuredPool:
    """Drawn cosines, their responses, and the products of these."""

    pools: list[tuple[str, CosinePool]]
    columns: AnyArray
    normal: NormalEquations

    def __len__(self) -> int:
        return int(self.columns.shape[1])

    def honest(self, rows: Integers) -> HonestPool:
        """Return the columns, to be judged on some rows."""
        return HonestPool(self.normal, self.columns, rows)


def n_pool(n_inputs: int, n_outputs: int, clock: Clock) -> int:
    """Return the number of columns of the final pool."""
    if clock.is_past(POOL_UNTIL):
        clock.leave_out("steps", "a large pool of cosines")
        return HASTY_COLUMNS
    wanted = min(MOST_COLUMNS, POOL_COLUMNS + OUTPUT_COLUMNS * (n_outputs - 1))
    return min(wanted, max(POOL_COLUMNS // 4, 4 * DRAWN_VALUES // n_inputs))


def rows_of_pool(honest: Integers, shuffled: Integers) -> Integers:
    """Return the rows on which the final pool is compared: all honest ones, and others at random, ascending."""
    others = shuffled[~np.isin(shuffled, honest)]
    return np.unique(np.concatenate([honest, others[: max(0, POOL_ROWS - len(honest))]]))
