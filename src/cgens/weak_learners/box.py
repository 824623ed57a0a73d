"""Boxes: the AND of a few thresholds."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from cgens.packs import BlockPack, register_pack
from cgens.types import AnyArray, Floats, Integers, Pricer, Sample
from cgens.weak_learners.search.candidates import (
    check_candidates,
    chosen_counts,
    distinct_rows,
    drawn_subsets,
    filled_pool,
    padded_responses,
)
from cgens.weak_learners.search.fixed_pool import FixedPricer
from cgens.weak_learners.search.fresh_pool import FreshPricer


class Box(BaseEstimator):  # type: ignore[misc]
    """Boxes: 1 where each of a few drawn inputs lies on the drawn side of a drawn threshold, else -1.

    Thresholds are midpoints of two neighbouring values of a feature, drawn by the rows' weights: scales do not matter.

    Parameters
    ----------
    n_thresholds : int or list of int, default=(2, 3)
        How many conditions; from a list each box draws its number.
    n_candidates : int, default=2000
        How many boxes are drawn.
    pool : {"fixed", "fresh"}, default="fixed"
        Draw once for the whole fit, which gives a certificate for the pool; or anew each round, which sees more.

    Examples
    --------
    >>> from cgens import CGEnsClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CGEnsClassifier(Box(), n_estimators=50, random_state=0).fit(X, y)
    >>> model.certificate_.scope
    'pool'
    """

    def __init__(self, n_thresholds: Any = (2, 3), n_candidates: int = 2000, pool: str = "fixed") -> None:
        self.n_thresholds = n_thresholds
        self.n_candidates = n_candidates
        self.pool = pool

    def begin(self, sample: Sample, rng: np.random.Generator, n_threads: int) -> Pricer:
        """Draw the pool, or prepare to draw."""
        n_candidates = check_candidates("Box", self.n_candidates, self.pool)
        draw = BoxDraw(self.n_thresholds, n_candidates, sample)
        if self.pool == "fresh":
            return FreshPricer(draw.once, sample, rng, n_threads)
        return FixedPricer(draw(rng), sample, n_threads)


@dataclass(frozen=True)
class BoxLearner:
    """h(x) = 1 where side_k (x[feature_k] - threshold_k) > 0 for all k, else -1.

    A side of -1 includes the threshold itself: x <= threshold.
    """

    features: tuple[int, ...]
    thresholds: tuple[float, ...]
    sides: tuple[int, ...]

    @property
    def key(self) -> Hashable:
        """The conditions."""
        return ("box", self.features, self.thresholds, self.sides)

    def respond(self, X: AnyArray) -> AnyArray:
        """Return h(x) of every row, int8."""
        inside = np.ones(len(X), dtype=bool)
        for feature, threshold, side in zip(self.features, self.thresholds, self.sides, strict=True):
            # A plain float would be rounded to the float32 of X.
            inside &= (X[:, feature] > np.float64(threshold)) == (side > 0)
        return np.where(inside, np.int8(1), np.int8(-1))

    @staticmethod
    def pack(learners: Sequence[BoxLearner]) -> BoxPack:
        """Return the learners as arrays."""
        width = max(len(learner.features) for learner in learners)
        shape = (len(learners), width)
        features, sides = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int8)
        thresholds = np.zeros(shape)
        for j, learner in enumerate(learners):
            features[j, : len(learner.features)] = learner.features
            thresholds[j, : len(learner.features)] = learner.thresholds
            sides[j, : len(learner.features)] = learner.sides
        return BoxPack(features, thresholds, sides)


@register_pack("box")
@dataclass(frozen=True, eq=False)
class BoxPack(BlockPack):
    """Many boxes as arrays of shape (J, most conditions); a side of 0 is no condition."""

    features: Integers
    thresholds: Floats
    sides: AnyArray

    dtype = np.int8

    def __len__(self) -> int:
        return len(self.features)

    def learner(self, number: int) -> BoxLearner:
        """Return one of the boxes."""
        used = self.sides[number] != 0
        own = [tuple(part[number][used].tolist()) for part in (self.features, self.thresholds, self.sides)]
        return BoxLearner(own[0], own[1], own[2])

    def respond_block(self, X: AnyArray) -> AnyArray:
        """Return the responses of a few rows, shape (n, J)."""
        inside = np.ones((len(X), len(self)), dtype=bool)
        for features, thresholds, sides in zip(self.features.T, self.thresholds.T, self.sides.T, strict=True):
            inside &= ((X[:, features] > thresholds) == (sides > 0)) | (sides == 0)
        return np.where(inside, np.int8(1), np.int8(-1))


@dataclass(frozen=True)
class BoxCandidates:
    """Drawn boxes."""

    learners: list[BoxLearner]
    responses: AnyArray

    def learner(self, number: int) -> BoxLearner:
        """Return one of them."""
        return self.learners[number]

    def joined(self, other: BoxCandidates) -> BoxCandidates:
        """Return both."""
        return BoxCandidates(self.learners + other.learners, np.vstack([self.responses, other.responses]))

    def kept(self, numbers: AnyArray) -> BoxCandidates:
        """Return some of them."""
        return BoxCandidates([self.learners[j] for j in numbers], self.responses[numbers])


@dataclass(frozen=True)
class BoxColumn:
    """A feature's values on the training rows, its thresholds, and how likely each is drawn, cumulated."""

    values: Floats
    midpoints: Floats
    cumulated: Floats

    @staticmethod
    def of(sample: Sample, share: Floats, feature: int) -> BoxColumn:
        """Measure a feature."""
        values = sample.matrix()[:, feature].astype(np.float64)
        distinct, inverse = np.unique(values, return_inverse=True)
        weight = np.bincount(inverse, weights=share)
        middle = 0.5 * distinct[:-1] + 0.5 * distinct[1:]
        middle = np.where((middle >= distinct[:-1]) & (middle < distinct[1:]), middle, distinct[:-1])
        around = np.cumsum(weight[:-1] + weight[1:])
        return BoxColumn(values, middle, around[:-1] / around[-1])


class BoxDraw:
    """Draws boxes for the training rows."""

    def __init__(self, n_thresholds: Any, n_candidates: int, sample: Sample) -> None:
        self._n_candidates, self._sample = n_candidates, sample
        X = sample.matrix()
        self._features = np.flatnonzero(np.any(X[0] != X, axis=0))  # constant ones cut nothing
        self._counts = chosen_counts("Box", "n_thresholds", n_thresholds, max(1, len(self._features)))
        self._share = sample.weight / sample.weight.sum()
        self._columns: dict[int, BoxColumn] = {}

    def __call__(self, rng: np.random.Generator) -> BoxCandidates:
        """Return new boxes: as many as were asked for, or as there are different ones to be found."""
        return filled_pool(self.once, self._n_candidates, len(self._sample), rng)

    def once(self, rng: np.random.Generator) -> BoxCandidates:
        """Return what one draw gives: at most as many boxes as were asked for."""
        learners = self._raw(rng)
        responses = self._respond(learners)
        return BoxCandidates(learners, responses).kept(distinct_rows(responses, len(self._sample)))

    def _raw(self, rng: np.random.Generator) -> list[BoxLearner]:
        """Return so many boxes, like ones among them."""
        if not len(self._features):
            return []
        counts, places = drawn_subsets(self._n_candidates, self._counts, len(self._features), rng)
        features = self._features[places]
        sides, heights = rng.choice([-1, 1], size=features.shape), rng.random(features.shape)
        thresholds = np.empty(features.shape)
        for feature in np.unique(features).tolist():
            own = features == feature
            column = self._column(feature)
            thresholds[own] = column.midpoints[np.searchsorted(column.cumulated, heights[own], side="right")]
        boxes = []
        for j, count in enumerate(counts.tolist()):
            own = [tuple(part[j, :count].tolist()) for part in (features, thresholds, sides)]
            boxes.append(BoxLearner(own[0], own[1], own[2]))
        return boxes

    def _column(self, feature: int) -> BoxColumn:
        if feature not in self._columns:
            self._columns[feature] = BoxColumn.of(self._sample, self._share, feature)
        return self._columns[feature]

    def _respond(self, learners: Sequence[BoxLearner]) -> AnyArray:
        responses = padded_responses(len(learners), len(self._sample), np.int8)
        for response, learner in zip(responses, learners, strict=True):
            inside = np.ones(len(self._sample), dtype=bool)
            for feature, threshold, side in zip(learner.features, learner.thresholds, learner.sides, strict=True):
                inside &= (self._column(feature).values > threshold) == (side > 0)
            response[: len(self._sample)] = np.where(inside, 1, -1)
        return responses
