"""Groups of random cosines: ways to draw them, compared by leave-one-out errors on a sample of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from cgens.blas import ONE_BLAS_THREAD
from cgens.selection import loo
from cgens.selection.leave_one_out import PENALTIES, mean_square
from cgens.table.scaling import ScalingKind
from cgens.types import AnyArray, Floats
from cgens.weak_learners.projections.cosine_pool import CosinePool
from cgens.weak_learners.projections.draws import draw_dense, draw_pairs, draw_sparse
from cgens.weak_learners.projections.metric import learn_metric

Draw = Literal["sparse", "dense", "pairs"]


@dataclass(frozen=True)
class Group:
    """One way to draw cosines.

    Attributes
    ----------
    view : {"zc", "rank"}
        How the inputs are scaled (see `cgens.table.scaling`).
    draw : {"sparse", "dense", "pairs"}
    scales : tuple of float
        Each cosine has one of these, drawn at random.
    learned : bool
        Whether in the learned metric, rather than in the flat one.
    """

    view: str
    draw: Draw
    scales: tuple[float, ...]
    learned: bool

    def __str__(self) -> str:
        scales = "-".join(f"{scale:g}" for scale in sorted({self.scales[0], self.scales[-1]}))
        return f"{self.view}, {self.draw} {scales}{', learned metric' if self.learned else ''}"

    def thetas(self, n: int, metric: Floats, rows: Floats, weight: Floats, rng: np.random.Generator) -> Floats:
        """Draw directions, shape (n, d)."""
        if self.draw == "pairs":
            return draw_pairs(n, metric, self.scales, rows, weight, rng)
        return (draw_sparse if self.draw == "sparse" else draw_dense)(n, metric, self.scales, rng)

    def pool(self, n: int, metric: Floats, rows: Floats, weight: Floats, rng: np.random.Generator) -> CosinePool:
        """Draw cosines."""
        thetas = self.thetas(n, metric, rows, weight, rng)
        return CosinePool.of(thetas, rng.uniform(0.0, 2 * np.pi, size=n), rows, weight)


#: Draws and scales of every view: without a learned metric, and with one.
FLAT: tuple[tuple[Draw, tuple[float, ...]], ...] = (
    ("sparse", (0.25, 0.5, 1.0, 2.0, 4.0)),
    ("sparse", (2.0, 4.0, 8.0, 16.0)),
    ("dense", (0.25,)),
    ("dense", (1.0,)),
    ("pairs", (1.0, 2.0)),
)
LEARNED = tuple(own for own in FLAT if own != ("dense", (0.25,)))
VIEWS: tuple[ScalingKind, ...] = ("zc", "rank")
GROUPS = tuple(
    Group(view, draw, scales, learned)
    for view, (learned, draws) in product(VIEWS, ((False, FLAT), (True, LEARNED)))
    for draw, scales in draws
)


@dataclass(frozen=True, eq=False)
class HonestFit:
    """A ridge fit on a group, with decisions for each row by fits without it.

    Attributes
    ----------
    group : Group
    penalty : float
        That of the least leave-one-out error.
    error : float
        Mean squared leave-one-out error.
    decisions : ndarray of shape (m, l)
        Leave-one-out decisions. If the metric is learned, it is learned on the half of the rows that a row is not in.
    """

    group: Group
    penalty: float
    error: float
    decisions: Floats


def fit_groups(
    groups: tuple[Group, ...],
    views: Mapping[str, Floats],
    target: Floats,
    weight: Floats,
    n_columns: int,
    seed: np.random.SeedSequence,
    n_threads: int,
) -> list[HonestFit]:
    """Return the honest fits of all groups.

    Parameters
    ----------
    groups : tuple of Group
    views : dict of ndarray of shape (m, d)
        The rows in each view.
    target : ndarray of shape (m, l)
    weight : ndarray of shape (m,)
    n_columns : int
        Number of cosines of each group.
    seed : numpy.random.SeedSequence
    n_threads : int

    Returns
    -------
    fits : list of HonestFit
    """
    halves_seed, metric_seed, *seeds = seed.spawn(2 + len(groups))
    half = np.random.default_rng(halves_seed).permutation(len(weight)) % 2 == 0
    keys = [
        (view, side) for view in views for side in (True, False) if any(g.learned and g.view == view for g in groups)
    ]
    metric_rngs = [np.random.default_rng(own) for own in metric_seed.spawn(len(keys))]

    def learn(key: tuple[str, bool], rng: np.random.Generator) -> Floats:
        view, side = key
        own = half == side
        return learn_metric(views[view][own], target[own], weight[own], n_columns, rng)

    with ONE_BLAS_THREAD, ThreadPoolExecutor(n_threads) as pool:
        metrics = dict(zip(keys, pool.map(learn, keys, metric_rngs), strict=True))

        def fit(group: Group, own: np.random.SeedSequence) -> HonestFit:
            rows, rng = views[group.view], np.random.default_rng(own)
            if not group.learned:
                found = loo(
                    group.pool(n_columns, np.ones(rows.shape[1]), rows, weight, rng).columns(rows), target, weight
                )
                return HonestFit(group, found.penalty, found.error, found.decisions)
            return _cross_fitted(group, rows, target, weight, n_columns, metrics, half, rng)

        return list(pool.map(fit, groups, seeds))


def _cross_fitted(
    group: Group,
    rows: Floats,
    target: Floats,
    weight: Floats,
    n_columns: int,
    metrics: Mapping[tuple[str, bool], Floats],
    half: AnyArray,
    rng: np.random.Generator,
) -> HonestFit:
    """Fit on all rows with the metric of one half, and use the decisions on the other half only."""
    errors, honest = np.zeros(len(PENALTIES)), [np.empty_like(target) for _ in PENALTIES]
    for side in (True, False):
        columns = group.pool(n_columns, metrics[group.view, side], rows, weight, rng).columns(rows)
        counted = half != side
        found = loo(columns, target, weight, counted=counted)
        errors += found.errors * weight[counted].sum()
        for decisions, own in zip(honest, found.all_decisions, strict=True):
            decisions[counted] = own[counted]
    best = len(errors) - 1 - int(np.argmin(errors[::-1]))
    penalty, decisions = float(found.penalties[best]), honest[best]
    return HonestFit(group, penalty, mean_square(target - decisions, weight), decisions)
