"""Boxes: the conjunction (AND) of a few thresholds."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from cgens.default_c import DefaultC
from cgens.packs import BlockPack, register_pack
from cgens.table.accepted import EXTRAS
from cgens.table.table import dense_columns
from cgens.types import AnyArray, Floats, Integers, Pricer, Sample
from cgens.weak_learners.checks import check_counts
from cgens.weak_learners.search.candidates import Candidates
from cgens.weak_learners.search.sampler import CandidateSampler, random_subsets
from cgens.weak_learners.split import Split
from cgens.weak_learners.thresholds import midpoints


class Box(BaseEstimator):  # type: ignore[misc]
    """Boxes: 1 if each of a few random features is on a given side of a random threshold, else -1.

    Thresholds are midpoints of neighbouring values of a feature, drawn according to the rows' weights: the scales of
    the features do not matter. A condition on a category is a level, drawn by its weight. Missing values meet a
    condition or not, at random; in a column that had none in ``fit`` they are on the side with more weight.

    Parameters
    ----------
    n_thresholds : int or sequence of int, default=(2, 3)
        Number of conditions per box; if a sequence, each box uses one of its values, drawn at random.
    n_candidates : int, default=2000
        Number of boxes to draw.
    pool : {"fixed", "fresh"}, default="fixed"
        "fixed" draws the boxes once per fit, so that the certificate covers all of them; "fresh" draws new ones in each
        round, and so searches more of them.

    Examples
    --------
    >>> from cgens import CGEnsClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CGEnsClassifier(Box(), n_estimators=50, random_state=0).fit(X, y)
    >>> model.certificate_.scope
    'pool'
    """

    accepts: ClassVar[tuple[str, ...]] = EXTRAS
    default_c: ClassVar[DefaultC] = DefaultC(margin=3.0, squares=1.5)

    def __init__(self, n_thresholds: Any = (2, 3), n_candidates: int = 2000, pool: str = "fixed") -> None:
        self.n_thresholds = n_thresholds
        self.n_candidates = n_candidates
        self.pool = pool

    def begin(self, sample: Sample, rng: np.random.Generator, n_threads: int) -> Pricer:
        """Draw the pool, or prepare to draw in each round."""
        return BoxSampler(self, sample, rng, n_threads).pricer()


@dataclass(frozen=True)
class BoxLearner:
    """h(x) = 1 if x is above or below each of some splits, else -1.

    Attributes
    ----------
    splits : tuple of Split
        Those of categories have at most one level.
    sides : tuple of int
        1: above; -1: below.
    """

    splits: tuple[Split, ...]
    sides: tuple[int, ...]

    exact_responses: ClassVar[bool] = True

    @property
    def key(self) -> Hashable:
        """The conditions."""
        return ("box", self.splits, self.sides)

    def respond(self, X: AnyArray) -> AnyArray:
        """Return h(x) for every row, int8."""
        return BoxLearner.pack([self]).respond(X, 1)[:, 0]

    @staticmethod
    def pack(learners: Sequence[BoxLearner]) -> BoxPack:
        """Return the learners as arrays."""
        shape = (len(learners), max(len(learner.splits) for learner in learners))
        pack = BoxPack.empty(shape)
        for j, learner in enumerate(learners):
            for k, split in enumerate(learner.splits):
                pack.features[j, k], pack.sides[j, k] = split.feature, learner.sides[k]
                pack.thresholds[j, k] = np.nan if split.threshold is None else split.threshold
                pack.levels[j, k] = split.levels[0] if split.levels else -1
                pack.gaps_above[j, k] = split.gaps_above
        return pack


@register_pack("box")
@dataclass(frozen=True, eq=False)
class BoxPack(BlockPack):
    """Boxes as arrays of shape (J, maximum number of conditions); a side of 0 is no condition.

    The threshold of a category is NaN; its level is -1 if only gaps are above.
    """

    features: Integers
    thresholds: Floats
    sides: AnyArray
    levels: Integers
    gaps_above: AnyArray

    dtype: ClassVar[type] = np.int8

    @staticmethod
    def empty(shape: tuple[int, int]) -> BoxPack:
        """Return boxes without conditions."""
        levels, flags = np.full(shape, -1, dtype=np.int64), np.zeros(shape, dtype=np.uint8)
        return BoxPack(np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(shape, dtype=np.int8), levels, flags)

    def __len__(self) -> int:
        return len(self.features)

    def learner(self, number: int) -> BoxLearner:
        """Return one of the boxes."""
        used = np.flatnonzero(self.sides[number]).tolist()
        return BoxLearner(tuple(self._split(number, k) for k in used), tuple(self.sides[number, used].tolist()))

    def _split(self, number: int, k: int) -> Split:
        threshold, level = float(self.thresholds[number, k]), int(self.levels[number, k])
        return Split(
            int(self.features[number, k]),
            None if np.isnan(threshold) else threshold,
            () if level < 0 else (level,),
            bool(self.gaps_above[number, k]),
        )

    def respond_block(self, X: AnyArray) -> AnyArray:
        """Return the responses for a block of rows, shape (n, J)."""
        return np.ascontiguousarray(self.respond_transposed(X).T)

    def respond_transposed(self, X: AnyArray) -> AnyArray:
        """Return the responses for a block of rows, shape (J, n)."""
        used, positions = self._used
        values = np.ascontiguousarray(dense_columns(X, used).T)
        gaps = np.isnan(values)
        is_category = np.isnan(self.thresholds)
        inside = np.ones((len(self), X.shape[0]), dtype=bool)
        for k, own in enumerate(positions.T):
            above, sides = values[own] > self.thresholds[:, k, None], self.sides[:, k, None]
            if is_category[:, k].any():
                above |= is_category[:, k, None] & (values[own] == self.levels[:, k, None])
            if gaps.any():
                above |= gaps[own] & (self.gaps_above[:, k, None] != 0)
            inside &= (above == (sides > 0)) | (sides == 0)
        return 2 * inside.view(np.int8) - 1

    @cached_property
    def _used(self) -> tuple[Integers, AnyArray]:
        """The features that any box uses, and the position of every condition's feature among them."""
        used, positions = np.unique(self.features, return_inverse=True)
        return used, positions.reshape(self.features.shape)


class BoxSampler(CandidateSampler):
    """Draws boxes for the training rows."""

    def __init__(self, spec: Box, sample: Sample, rng: np.random.Generator, n_threads: int) -> None:
        super().__init__(spec, sample, rng, n_threads)
        self._features = varying_columns(sample)  # constant features separate nothing
        self._sizes = check_counts("Box: n_thresholds", spec.n_thresholds, max(1, len(self._features)))
        self._thresholds: dict[int, FeatureSplits] = {}

    def draw(self) -> Candidates:
        """Return new boxes, those with a constant or repeated response left out."""
        return Candidates.of(self._draw_boxes(), self.sample, self.n_threads)

    def _draw_boxes(self) -> BoxPack:
        if not len(self._features):
            return BoxPack.empty((0, 1))
        sizes, indices = random_subsets(self.n_candidates, self._sizes, len(self._features), self.rng)
        features = self._features[indices]
        sides, quantiles = self.rng.choice([-1, 1], size=features.shape), self.rng.random(features.shape)
        pack = BoxPack.empty(features.shape)
        for feature in np.unique(features).tolist():
            if feature not in self._thresholds:
                self._thresholds[feature] = FeatureSplits.of(self.sample, feature)
            own = features == feature
            pack.thresholds[own], pack.levels[own], pack.gaps_above[own] = self._thresholds[feature].draw(
                quantiles[own], self.rng
            )
        used = np.arange(features.shape[1]) < sizes[:, None]
        for array, unused in ((pack.thresholds, 0.0), (pack.levels, -1), (pack.gaps_above, 0)):
            array[~used] = unused
        return replace(pack, features=np.where(used, features, 0), sides=(sides * used).astype(np.int8))


def varying_columns(sample: Sample) -> Integers:
    """Return the columns that are not constant over the training rows."""
    values = sample.matrix()
    if isinstance(values, np.ndarray):
        differs = (values != values[:1]) & ~(np.isnan(values) & np.isnan(values[:1]))
        return np.flatnonzero(np.any(differs, axis=0))
    columns = sparse.csc_array(values)  # a copy
    columns.eliminate_zeros()
    n_stored = np.diff(columns.indptr)
    varying = (n_stored > 0) & (n_stored < len(sample))
    for column in np.flatnonzero(n_stored == len(sample)):
        own = columns.data[columns.indptr[column] : columns.indptr[column + 1]]
        varying[column] = bool(np.any(own != own[0]) and not np.isnan(own).all())
    return np.flatnonzero(varying)


@dataclass(frozen=True)
class FeatureSplits:
    """The splits of one feature, and the cumulative probabilities of all but the last.

    Numbers have midpoints of neighbouring values; the probability of one is proportional to the weight of the rows with
    one of the two values. Categories have a split for each level, with the probability of its weight; gaps are one more
    level. Gaps of numbers are above or below with equal probability.
    """

    thresholds: Floats
    levels: Integers
    gaps_above: AnyArray
    cumulative: Floats
    random_gaps: bool

    @staticmethod
    def of(sample: Sample, feature: int) -> FeatureSplits:
        """Return the splits of a column that is not constant."""
        values = sample.X.column(feature, sample.rows).astype(np.float64)
        share, gaps = sample.weight / sample.weight.sum(), np.isnan(values)
        distinct, inverse = np.unique(values[~gaps], return_inverse=True)
        weight = np.bincount(inverse, weights=share[~gaps], minlength=len(distinct))
        if sample.X.is_category[feature]:
            levels, above = distinct.astype(np.int64), weight > 0.5  # the heavier side, for later gaps
            if gaps.any():
                levels, weight = np.append(levels, -1), np.append(weight, share[gaps].sum())
                above = levels < 0
            cumulative, nowhere = np.cumsum(weight), np.full(len(levels), np.nan)
            return FeatureSplits(nowhere, levels, above.astype(np.uint8), cumulative[:-1] / cumulative[-1], False)
        if len(distinct) == 1:  # a single number beside gaps
            return FeatureSplits(np.array([np.inf]), np.array([-1]), np.ones(1, dtype=np.uint8), np.zeros(0), False)
        around = np.cumsum(weight[:-1] + weight[1:])
        thresholds, below = midpoints(distinct[:-1], distinct[1:]), np.cumsum(weight)[:-1]
        above = (weight.sum() - below > below).astype(np.uint8)  # the heavier side, for later gaps
        levels = np.broadcast_to(-1, len(thresholds))
        return FeatureSplits(thresholds, levels, above, around[:-1] / around[-1], bool(gaps.any()))

    def draw(self, quantiles: Floats, rng: np.random.Generator) -> tuple[Floats, Integers, AnyArray]:
        """Return thresholds, levels and the sides of gaps for random quantiles."""
        chosen = np.searchsorted(self.cumulative, quantiles, side="right")
        above = self.gaps_above[chosen]
        if self.random_gaps:
            above = rng.integers(2, size=len(chosen)).astype(np.uint8)
        return self.thresholds[chosen], self.levels[chosen], above
