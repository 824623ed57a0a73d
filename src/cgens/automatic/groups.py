"""Groups of random cosines: ways to draw them, compared by leave-one-out errors on a sample of the rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cgens.automatic.problem import Clock
from cgens.blas import ONE_BLAS_THREAD
from cgens.selection import loo
from cgens.selection.leave_one_out import PENALTIES, mean_square
from cgens.table.scaling import ScalingKind
from cgens.types import AnyArray, Floats
from cgens.weak_learners.projections.cosine_pool import CosinePool
from cgens.weak_learners.projections.draws import draw_dense, draw_pairs, draw_sparse
from cgens.weak_learners.projections.metric import learn_metric

Draw = Literal["sparse", "dense", "pairs"]
#: Shares of a time budget after which no further metric is learned, and no further group compared.
METRICS_UNTIL, GROUPS_UNTIL = 0.15, 0.3


@dataclass(frozen=True)
class Group:
    """One way to draw cosines.

    Attributes
    ----------
    view : str
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
    ("pairs", (1.0, 2.0)),
    ("sparse", (0.25, 0.5, 1.0, 2.0, 4.0)),
    ("dense", (1.0,)),
    ("sparse", (2.0, 4.0, 8.0, 16.0)),
    ("dense", (0.25,)),
)
LEARNED = tuple(own for own in FLAT if own != ("dense", (0.25,)))
#: Views of tables, and of inputs on one scale, whose differences in size mean something. Ranks beside them were worth
#: nothing (docs/decisions/0020-automatic-model.md).
VIEWS: tuple[ScalingKind, ...] = ("zc",)
ONE_SCALE_VIEWS: tuple[ScalingKind, ...] = ("common",)


def groups_of(views: Iterable[str], learned: bool) -> list[Group]:
    """Return the groups of some views, with or without those in a learned metric; the most useful ones first."""
    draws = [(False, own) for own in FLAT] + [(True, own) for own in LEARNED if learned]
    return [Group(view, draw, scales, metric) for metric, (draw, scales) in draws for view in views]


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


@dataclass(frozen=True, eq=False)
class Comparison:
    """The honest fits of groups, and what a metric was learned from.

    Attributes
    ----------
    fits : list of HonestFit
    half : ndarray of shape (m,), bool
        Which half each row is in.
    metrics : dict of (view, bool) to ndarray of shape (d,)
        The metric of each view that was learned from the rows of a half.
    """

    fits: list[HonestFit]
    half: AnyArray
    metrics: Mapping[tuple[str, bool], Floats]


@dataclass(frozen=True, eq=False)
class GroupRows:
    """The rows on which groups are compared.

    Attributes
    ----------
    views : dict of ndarray of shape (m, d)
        The rows in each view.
    target : ndarray of shape (m, l)
    weight, copies : ndarray of shape (m,)
        As in `cgens.automatic.problem.Problem`.
    """

    views: Mapping[str, Floats]
    target: Floats
    weight: Floats
    copies: Floats

    def fit_group(self, group: Group, n_columns: int, rng: np.random.Generator) -> HonestFit:
        """Fit a group without a learned metric."""
        rows = self.views[group.view]
        columns = group.pool(n_columns, np.ones(rows.shape[1]), rows, self.weight, rng).measured
        found = loo(columns, self.target, self.weight, dtype=np.float32, copies=self.copies)
        return HonestFit(group, found.penalty, found.error, found.decisions)

    def cross_fit_group(
        self, group: Group, n_columns: int, metrics: Sequence[Floats], half: AnyArray, rng: np.random.Generator
    ) -> HonestFit:
        """Fit on all rows with the metric of one half, and use the decisions on the other half only."""
        errors, honest = np.zeros(len(PENALTIES)), [np.empty_like(self.target) for _ in PENALTIES]
        for side, metric in zip((True, False), metrics, strict=True):
            columns = group.pool(n_columns, metric, self.views[group.view], self.weight, rng).measured
            counted = half != side
            found = loo(columns, self.target, self.weight, counted=counted, dtype=np.float32, copies=self.copies)
            errors += found.errors * self.weight[counted].sum()
            for decisions, own in zip(honest, found.all_decisions, strict=True):
                decisions[counted] = own[counted]
        best = len(errors) - 1 - int(np.argmin(errors[::-1]))
        decisions = honest[best]
        return HonestFit(
            group, float(found.penalties[best]), mean_square(self.target - decisions, self.weight), decisions
        )

    def learn_metric(self, view: str, own: AnyArray, n_columns: int, rng: np.random.Generator) -> Floats:
        """Learn the metric of a view from some of the rows."""
        rows = self.views[view][own], self.target[own], self.weight[own], self.copies[own]
        return learn_metric(*rows, n_columns, rng)


def compare_groups(
    groups: Sequence[Group],
    rows: GroupRows,
    n_columns: int,
    seed: np.random.SeedSequence,
    n_threads: int,
    clock: Clock | None = None,
) -> Comparison:
    """Fit all groups honestly, or those that there is time for: the first one in any case.

    Parameters
    ----------
    groups : sequence of Group
    rows : GroupRows
    n_columns : int
        Number of cosines of each group.
    seed : numpy.random.SeedSequence
    n_threads : int
    clock : Clock, optional
        With a time budget.

    Returns
    -------
    comparison : Comparison
    """
    clock = clock or Clock()
    halves_seed, metric_seed, *seeds = seed.spawn(2 + len(groups))
    half = np.random.default_rng(halves_seed).permutation(len(rows.weight)) % 2 == 0
    learned = {group.view for group in groups if group.learned}
    keys = [(view, side) for view in rows.views if view in learned for side in (True, False)]
    rngs = [np.random.default_rng(own) for own in metric_seed.spawn(len(keys))]

    def learn(key: tuple[str, bool], rng: np.random.Generator) -> Floats | None:
        view, side = key
        return None if clock.is_past(METRICS_UNTIL) else rows.learn_metric(view, half == side, n_columns, rng)

    def fit(group: Group, child: np.random.SeedSequence) -> HonestFit | None:
        both = [metrics[group.view, side] for side in (True, False) if (group.view, side) in metrics]
        if group is not groups[0] and ((group.learned and len(both) < 2) or clock.is_past(GROUPS_UNTIL)):
            clock.leave_out("groups of cosines", str(group))
            return None
        rng = np.random.default_rng(child)
        if group.learned:
            return rows.cross_fit_group(group, n_columns, both, half, rng)
        return rows.fit_group(group, n_columns, rng)

    with ONE_BLAS_THREAD, ThreadPoolExecutor(n_threads) as pool:
        found = zip(keys, pool.map(learn, keys, rngs), strict=True)
        metrics = {key: metric for key, metric in found if metric is not None}
        return Comparison([own for own in pool.map(fit, groups, seeds) if own is not None], half, metrics)
