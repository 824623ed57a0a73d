"""The part of cosines: groups are compared on a sample of the rows, and the final pool is drawn for all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cgens.automatic.groups import ONE_SCALE_VIEWS, VIEWS, HonestFit, fit_groups, groups_of
from cgens.automatic.pool import LEAST_COLUMNS, choose_penalty, columns_of, draw_pools, learn_metrics, suggested_penalty
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
        chosen = self.order[:n_columns]
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
    target, weight, n_threads, clock = problem.target, problem.weight, problem.n_threads, problem.clock
    sample_seed, group_seed, metric_seed, pool_seed = seed.spawn(4)
    shuffled = np.random.default_rng(sample_seed).permutation(len(weight))
    kinds = ONE_SCALE_VIEWS if problem.one_scale else VIEWS
    encodings = {str(view): Encoding.of(problem.X, problem.rows, weight, view) for view in kinds}

    def views_of(rows: Integers) -> dict[str, AnyArray]:
        matrix = problem.X.take(problem.rows[rows]).matrix()
        return {view: encoding.transform(matrix) for view, encoding in encodings.items()}

    grouped = np.sort(shuffled[:GROUP_ROWS])
    some = views_of(grouped)
    clock.lap("views")

    n_inputs = next(iter(some.values())).shape[1]
    n_group = min(GROUP_COLUMNS[len(grouped) <= FEW_ROWS], max(LEAST_COLUMNS, DRAWN_VALUES // n_inputs))
    own_target, own_weight = target[grouped], weight[grouped]
    groups = groups_of(views=encodings, learned=len(grouped) >= LEAST_ROWS)
    fits = fit_groups(groups, some, own_target, own_weight, n_group, group_seed, n_threads, clock)
    shares = honest_weights([fit.decisions for fit in fits], own_target, own_weight)
    clock.lap("groups")
    if not shares.any():
        return CosinePart(fits, shares, {})

    metrics = learn_metrics(fits, shares, some, own_target, own_weight, n_group, metric_seed, n_threads)
    known = rows_of_pool(honest.rows, shuffled)
    views = views_of(known)
    pools = draw_pools(fits, shares, views, metrics, weight[known], n_pool(n_inputs, target.shape[1], clock), pool_seed)
    columns = columns_of(pools)
    normal = NormalEquations.of(columns, target[known], weight[known], n_threads, np.float32)
    penalty, decisions = choose_penalty(
        normal,
        columns,
        target[known],
        np.searchsorted(known, honest.rows),
        suggested_penalty(fits, shares, n_group, columns.shape[1]),
        lambda decisions: problem.error_of(decisions, honest.rows),
        n_threads,
    )
    order = select_columns(normal, penalty, n_columns)
    clock.lap("pool")
    return CosinePart(fits, shares, metrics, FinalPool(encodings, pools, order), penalty, decisions)


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
