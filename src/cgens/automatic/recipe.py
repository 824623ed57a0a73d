"""The automatic choice: which cosines and trees, under which penalties, and how much of each.

Every part is then an ordinary least-squares problem over a finite pool, with a certificate of its own; the decision is
the weighted sum of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from cgens.automatic.chains import GROWTHS, Chain, Chains
from cgens.automatic.cosines import CosinePool
from cgens.automatic.groups import GROUPS, VIEWS, HonestFit, fit_groups
from cgens.automatic.pool import PooledColumns, choose_penalty, draw_pools, learn_metrics, suggested_penalty
from cgens.automatic.shares import held_out_weights
from cgens.blas import ONE_BLAS_THREAD
from cgens.packs import Pack, PackSet
from cgens.packs.pack_set import PackPart
from cgens.selection import honest_weights
from cgens.selection.leave_one_out import mean_square
from cgens.table import Table
from cgens.table.encoding import Encoding
from cgens.types import AnyArray, Floats, Integers
from cgens.weak_learners import Pool
from cgens.weak_learners.encoded import EncodedPack
from cgens.weak_learners.fourier import FourierPack
from cgens.weak_learners.scaled import ScaledPack

#: Rows on which groups of cosines are compared, and on which the penalty of the final pool is chosen.
GROUP_ROWS, PENALTY_ROWS = 3000, 5000
#: Columns of a group, more on few rows, which take less time; and of the final pool.
GROUP_COLUMNS, FEW_ROWS, POOL_COLUMNS = {True: 1000, False: 500}, 700, 2000
#: Up to this many rows, each is held out once from the trees; of more rows, one in five is.
FOLD_ROWS, N_FOLDS = 2000, 5
#: Trees of a chain, on up to so many rows and on more.
MOST_TREES = {True: 100, False: 200}
#: With fewer rows no metric is learned.
LEAST_ROWS = 4
#: The name of the part that is not of trees.
COSINES = "cosines"
#: Parts with less than this share of the sum of weights are dropped.
LEAST_SHARE = 0.05


@dataclass(frozen=True, eq=False)
class Part:
    """One of the problems whose solutions are added up.

    Attributes
    ----------
    name : str
    family : Pool
    penalty : float
        1 / C.
    weight : float
        By how much its decisions are multiplied.
    """

    name: str
    family: Pool
    penalty: float
    weight: float


@dataclass(frozen=True, eq=False)
class Recipe:
    """What was chosen, and by which errors.

    Attributes
    ----------
    parts : list of Part
    fits : list of HonestFit
        Of the groups of cosines.
    group_weights : ndarray of shape (n_groups,)
    metrics : dict of ndarray of shape (d,)
        The learned metric of each view in which a group of some weight uses it.
    chains : list of Chain
    honest_rows : ndarray of shape (k,)
        Numbers of the rows, in the order of the fit, for which there are honest decisions of all parts.
    honest_weight : ndarray of shape (k,)
    honest_decisions : ndarray of shape (k, l)
        Leave-one-out and held-out decisions of the weighted sum.
    honest_error : float
        Their mean squared error, relative to that of the mean.
    seconds : dict of float
    """

    parts: list[Part]
    fits: list[HonestFit]
    group_weights: Floats
    metrics: Mapping[str, Floats]
    chains: list[Chain]
    honest_rows: Integers
    honest_weight: Floats
    honest_decisions: Floats
    honest_error: float
    seconds: Mapping[str, float]


@dataclass
class _Clock:
    seconds: dict[str, float] = field(default_factory=dict)
    began: float = field(default_factory=perf_counter)

    def lap(self, name: str) -> None:
        self.seconds[name] = perf_counter() - self.began
        self.began = perf_counter()


def choose_parts(
    X: Table,
    rows: Integers,
    target: Floats,
    weight: Floats,
    classes: AnyArray | None,
    error_of: Callable[[Floats, AnyArray], float],
    n_trees: Sequence[int],
    seed: np.random.SeedSequence,
    n_threads: int,
) -> Recipe:
    """Compare groups of cosines, draw the final pool, grow trees, and weigh the parts.

    Parameters
    ----------
    X : Table
    rows : ndarray of shape (m,)
        The rows to fit, in canonical order.
    target : ndarray of shape (m, l)
        Of about variance 1.
    weight : ndarray of shape (m,)
    classes : ndarray of shape (m,) or None
        Class of each row, to hold out the same share of each.
    error_of : callable
        ``error_of(decisions, rows)`` returns the error of decisions for some rows; constant for regression.
    n_trees : sequence of int
        Lengths of a chain of trees to try.
    seed : numpy.random.SeedSequence
    n_threads : int

    Returns
    -------
    recipe : Recipe
    """
    clock, m = _Clock(), len(rows)
    sample_seed, group_seed, metric_seed, pool_seed, fold_seed, *chain_seeds = seed.spawn(5 + len(GROWTHS))
    shuffled = np.random.default_rng(sample_seed).permutation(m)
    grouped, penalized = np.sort(shuffled[:GROUP_ROWS]), np.sort(shuffled[:PENALTY_ROWS])

    encodings = {view: Encoding.of(X, rows, weight, view) for view in VIEWS}  # type: ignore[arg-type]
    matrix = X.take(rows).matrix()
    views = {view: encoding.transform(matrix) for view, encoding in encodings.items()}
    clock.lap("views")

    some = {view: own[grouped] for view, own in views.items()}
    n_group = GROUP_COLUMNS[len(grouped) <= FEW_ROWS]
    own_target, own_weight = target[grouped], weight[grouped]
    # A metric is learned from half of the rows.
    groups = GROUPS if len(grouped) >= LEAST_ROWS else tuple(group for group in GROUPS if not group.learned)
    fits = fit_groups(groups, some, own_target, own_weight, n_group, group_seed, n_threads)
    group_weights = honest_weights([fit.decisions for fit in fits], own_target, own_weight)
    clock.lap("groups")

    complete = m <= FOLD_ROWS
    folds = held_out_weights(weight, classes, N_FOLDS, np.random.default_rng(fold_seed))[: N_FOLDS if complete else 1]
    chains_of = Chains(X, rows, target, weight, folds, complete, n_trees, n_threads if complete else 1)
    growths = GROWTHS if m > 1 else ()
    with ONE_BLAS_THREAD, ThreadPoolExecutor(1 if complete else n_threads) as executor:
        chains = list(executor.map(chains_of.grow, growths, chain_seeds))
    clock.lap("trees")

    metrics: dict[str, Floats] = {}
    honest: list[tuple[Pool, str, float, Floats]] = []
    # Rows of each fold, and their places among its rows, for which there are leave-one-out decisions too.
    tested = [np.flatnonzero(own > 0) for own in folds] if len(growths) else [penalized]
    places = [np.flatnonzero(np.isin(own, penalized)) for own in tested]
    honest_rows = np.concatenate([own[at] for own, at in zip(tested, places, strict=True)])
    held_out = folds if len(growths) else [weight]
    honest_weight = np.concatenate([f[own[at]] for f, own, at in zip(held_out, tested, places, strict=True)])
    if group_weights.any():
        metrics = learn_metrics(fits, group_weights, some, own_target, own_weight, n_group, metric_seed)
        pools = draw_pools(fits, group_weights, views, metrics, weight, POOL_COLUMNS, pool_seed)
        columns = PooledColumns(pools, {view: own[penalized] for view, own in views.items()})
        suggested = suggested_penalty(fits, group_weights, n_group, columns.shape[1])
        left_out, penalty = choose_penalty(
            columns, target[penalized], weight[penalized], suggested, lambda own: error_of(own, penalized), n_threads
        )
        decisions = left_out.decisions_at(penalty)[np.searchsorted(penalized, honest_rows)]
        honest.append((Pool(_pack(pools, encodings)), COSINES, penalty, decisions))
    clock.lap("pool")

    for chain in chains:
        if len(chain.ensemble):
            decisions = np.concatenate([own[at] for own, at in zip(chain.decisions, places, strict=True)])
            honest.append((Pool(list(chain.ensemble.learners)), chain.growth.name, chain.penalty, decisions))
    shares = honest_weights([own[-1] for own in honest], target[honest_rows], honest_weight, LEAST_SHARE)
    mean = weight @ target / weight.sum()
    total = np.tile(mean, (len(honest_rows), 1))
    for share, own in zip(shares, honest, strict=True):
        total += share * (own[-1] - mean)
    of_mean, of_sum = (mean_square(target[honest_rows] - own, honest_weight) for own in (mean, total))
    relative = of_sum / of_mean if of_mean > 0 else 1.0
    parts = [
        Part(name, family, penalty, float(share))
        for share, (family, name, penalty, _) in zip(shares, honest, strict=True)
        if share > 0
    ]
    clock.lap("weights")
    return Recipe(
        parts,
        fits,
        group_weights,
        metrics,
        chains,
        honest_rows,
        honest_weight,
        total,
        relative,
        clock.seconds,
    )


def chain_lengths(n_rows: int, n_columns: int) -> tuple[int, ...]:
    """Return the numbers of trees to try for a chain: at most a quarter of all columns."""
    most = max(1, min(MOST_TREES[n_rows <= FOLD_ROWS], n_columns // 4))
    return tuple(sorted({max(1, most // 4), max(1, most // 2), most}))


def _pack(pools: Sequence[tuple[str, CosinePool]], encodings: Mapping[str, Encoding]) -> Pack:
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
