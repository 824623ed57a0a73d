"""The part of cosines: groups are compared on a sample of the rows, and the final pool is drawn for all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cgens.automatic.cosines import CosinePool
from cgens.automatic.groups import GROUPS, VIEWS, HonestFit, fit_groups
from cgens.automatic.pool import PooledColumns, choose_penalty, draw_pools, learn_metrics, suggested_penalty
from cgens.automatic.problem import Problem
from cgens.packs import Pack, PackSet
from cgens.packs.pack_set import PackPart
from cgens.selection import honest_weights
from cgens.table.encoding import Encoding
from cgens.types import Floats, Integers
from cgens.weak_learners.encoded import EncodedPack
from cgens.weak_learners.fourier import FourierPack
from cgens.weak_learners.scaled import ScaledPack

#: Rows on which groups of cosines are compared, and on which the penalty of the final pool is chosen.
GROUP_ROWS, PENALTY_ROWS = 3000, 5000
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
    known : ndarray of shape (k,)
        Rows with leave-one-out decisions, ascending.
    pack : Pack or None
        The final pool; None if no group predicts better than the mean.
    penalty : float
    decisions : ndarray of shape (k, l)
        Leave-one-out decisions of the final pool.
    """

    fits: list[HonestFit]
    group_weights: Floats
    metrics: Mapping[str, Floats]
    known: Integers
    pack: Pack | None = None
    penalty: float = np.nan
    decisions: Floats | None = None


def choose_cosines(problem: Problem, seed: np.random.SeedSequence) -> CosinePart:
    """Compare the groups, weigh them, draw the final pool and choose its penalty."""
    target, weight, n_threads, clock = problem.target, problem.weight, problem.n_threads, problem.clock
    sample_seed, group_seed, metric_seed, pool_seed = seed.spawn(4)
    shuffled = np.random.default_rng(sample_seed).permutation(len(weight))
    grouped, known = np.sort(shuffled[:GROUP_ROWS]), np.sort(shuffled[:PENALTY_ROWS])

    encodings = {str(view): Encoding.of(problem.X, problem.rows, weight, view) for view in VIEWS}
    matrix = problem.X.take(problem.rows).matrix()
    views = {view: encoding.transform(matrix) for view, encoding in encodings.items()}
    clock.lap("views")

    some = {view: own[grouped] for view, own in views.items()}
    n_group = GROUP_COLUMNS[len(grouped) <= FEW_ROWS]
    own_target, own_weight = target[grouped], weight[grouped]
    groups = GROUPS if len(grouped) >= LEAST_ROWS else tuple(group for group in GROUPS if not group.learned)
    fits = fit_groups(groups, some, own_target, own_weight, n_group, group_seed, n_threads)
    shares = honest_weights([fit.decisions for fit in fits], own_target, own_weight)
    clock.lap("groups")
    if not shares.any():
        return CosinePart(fits, shares, {}, known)

    metrics = learn_metrics(fits, shares, some, own_target, own_weight, n_group, metric_seed)
    pools = draw_pools(fits, shares, views, metrics, weight, POOL_COLUMNS, pool_seed)
    columns = PooledColumns(pools, {view: own[known] for view, own in views.items()})
    left_out, penalty = choose_penalty(
        columns,
        target[known],
        weight[known],
        suggested_penalty(fits, shares, n_group, columns.shape[1]),
        lambda decisions: problem.error_of(decisions, known),
        n_threads,
    )
    clock.lap("pool")
    return CosinePart(fits, shares, metrics, known, pack_of(pools, encodings), penalty, left_out.decisions_at(penalty))


def pack_of(pools: Sequence[tuple[str, CosinePool]], encodings: Mapping[str, Encoding]) -> Pack:
    """Return the cosines of all pools, those of one view together, as learners on the rows of X."""
    parts, begin = [], 0
    for view in dict.fromkeys(view for view, _ in pools):
        own = [pool for name, pool in pools if name == view]
        thetas, kappas, factors = (
            np.concatenate([getattr(pool, name) for pool in own]) for name in ("thetas", "kappas", "factors")
        )
        cosines = EncodedPack(encodings[view], FourierPack(thetas, kappas))
        parts.append(PackPart(np.arange(begin, begin + len(thetas)), ScaledPack(cosines, factors)))
        begin += len(thetas)
    return PackSet(parts)
