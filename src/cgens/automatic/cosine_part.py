"""The part of cosines: groups are compared on a sample of the rows, and the final pool is drawn for all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cgens.automatic.groups import GROUPS, VIEWS, HonestFit, fit_groups
from cgens.automatic.pool import choose_penalty, columns_of, draw_pools, learn_metrics, suggested_penalty
from cgens.automatic.problem import HonestRows, Problem
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
#: Columns of a group, more on few rows, which take less time; and of the final pool.
GROUP_COLUMNS, FEW_ROWS, POOL_COLUMNS = {True: 1000, False: 500}, 700, 2000
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
    encodings = {str(view): Encoding.of(problem.X, problem.rows, weight, view) for view in VIEWS}

    def views_of(rows: Integers) -> dict[str, AnyArray]:
        matrix = problem.X.take(problem.rows[rows]).matrix()
        return {view: encoding.transform(matrix) for view, encoding in encodings.items()}

    grouped = np.sort(shuffled[:GROUP_ROWS])
    some = views_of(grouped)
    clock.lap("views")

    n_group = GROUP_COLUMNS[len(grouped) <= FEW_ROWS]
    own_target, own_weight = target[grouped], weight[grouped]
    groups = GROUPS if len(grouped) >= LEAST_ROWS else tuple(group for group in GROUPS if not group.learned)
    fits = fit_groups(groups, some, own_target, own_weight, n_group, group_seed, n_threads)
    shares = honest_weights([fit.decisions for fit in fits], own_target, own_weight)
    clock.lap("groups")
    if not shares.any():
        return CosinePart(fits, shares, {})

    metrics = learn_metrics(fits, shares, some, own_target, own_weight, n_group, metric_seed)
    known = rows_of_pool(honest.rows, shuffled)
    views = views_of(known)
    pools = draw_pools(fits, shares, views, metrics, weight[known], POOL_COLUMNS, pool_seed)
    columns = columns_of(pools, views)
    normal = NormalEquations.of(columns, target[known], weight[known], n_threads)
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


def rows_of_pool(honest: Integers, shuffled: Integers) -> Integers:
    """Return the rows on which the final pool is compared: all honest ones, and others at random, ascending."""
    others = shuffled[~np.isin(shuffled, honest)]
    return np.unique(np.concatenate([honest, others[: max(0, POOL_ROWS - len(honest))]]))
