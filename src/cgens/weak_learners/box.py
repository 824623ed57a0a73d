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
    """Drawn boxes, and their responses on the training rows."""

    pack: BoxPack
    responses: AnyArray

    def learner(self, number: int) -> BoxLearner:
        """Return one of them."""
        return self.pack.learner(number)

    def joined(self, other: BoxCandidates) -> BoxCandidates:
        """Return both."""
        mine, theirs = self.pack.to_arrays(), other.pack.to_arrays()
        both = BoxPack(**{name: np.vstack([mine[name], theirs[name]]) for name in mine})
        return BoxCandidates(both, np.vstack([self.responses, other.responses]))

    def kept(self, numbers: AnyArray) -> BoxCandidates:
        """Return some of them."""
        some = BoxPack(**{name: array[numbers] for name, array in self.pack.to_arrays().items()})
        return BoxCandidates(some, self.responses[numbers])


@dataclass(frozen=True)
class Thresholds:
    """The thresholds of a feature, and how likely each is drawn, cumulated."""

    midpoints: Floats
    cumulated: Floats

    @staticmethod
    def of(values: Floats, share: Floats) -> Thresholds:
        """Return the midpoints of neighbouring values, each as likely as the weight of the two."""
        distinct, inverse = np.unique(values, return_inverse=True)
        weight = np.bincount(inverse, weights=share)
        middle = 0.5 * distinct[:-1] + 0.5 * distinct[1:]
        middle = np.where((middle >= distinct[:-1]) & (middle < distinct[1:]), middle, distinct[:-1])
        around = np.cumsum(weight[:-1] + weight[1:])
        return Thresholds(middle, around[:-1] / around[-1])


class BoxDraw:
    """Draws boxes for the training rows."""

    def __init__(self, n_thresholds: Any, n_candidates: int, sample: Sample) -> None:
        self._n_candidates, self._n_rows = n_candidates, len(sample)
        self._values = np.ascontiguousarray(sample.matrix().T)  # by feature
        # Constant features cut nothing.
        self._features = np.flatnonzero(np.any(self._values != self._values[:, :1], axis=1))
        self._counts = chosen_counts("Box", "n_thresholds", n_thresholds, max(1, len(self._features)))
        self._share = sample.weight / sample.weight.sum()
        self._thresholds: dict[int, Thresholds] = {}

    def __call__(self, rng: np.random.Generator) -> BoxCandidates:
        """Return new boxes: as many as were asked for, or as there are different ones to be found."""
        return filled_pool(self.once, self._n_candidates, self._n_rows, rng)

    def once(self, rng: np.random.Generator) -> BoxCandidates:
        """Return what one draw gives: at most as many boxes as were asked for."""
        pack = self._draw_boxes(rng)
        responses = self._respond(pack)
        return BoxCandidates(pack, responses).kept(distinct_rows(responses, self._n_rows))

    def _draw_boxes(self, rng: np.random.Generator) -> BoxPack:
        """Return as many boxes as were asked for, equal ones among them."""
        if not len(self._features):
            none = np.zeros((0, 1))
            return BoxPack(none.astype(np.int64), none, none.astype(np.int8))
        counts, places = drawn_subsets(self._n_candidates, self._counts, len(self._features), rng)
        features = self._features[places]
        sides, heights = rng.choice([-1, 1], size=features.shape), rng.random(features.shape)
        thresholds = np.empty(features.shape)
        for feature in np.unique(features).tolist():
            if feature not in self._thresholds:
                values = self._values[feature].astype(np.float64)
                self._thresholds[feature] = Thresholds.of(values, self._share)
            own, known = features == feature, self._thresholds[feature]
            thresholds[own] = known.midpoints[np.searchsorted(known.cumulated, heights[own], side="right")]
        used = np.arange(features.shape[1]) < counts[:, None]
        return BoxPack(np.where(used, features, 0), np.where(used, thresholds, 0.0), (sides * used).astype(np.int8))

    def _respond(self, pack: BoxPack) -> AnyArray:
        """Return the responses on the training rows, some boxes at a time."""
        responses = padded_responses(len(pack), self._n_rows, np.int8)
        for begin in range(0, len(pack), 64):
            here = slice(begin, begin + 64)
            inside = np.ones((len(responses[here]), self._n_rows), dtype=bool)
            for features, thresholds, sides in zip(
                pack.features[here].T, pack.thresholds[here].T, pack.sides[here].T, strict=True
            ):
                above = self._values[features] > thresholds[:, None]
                inside &= (above == (sides > 0)[:, None]) | (sides == 0)[:, None]
            responses[here, : self._n_rows] = 2 * inside.astype(np.int8) - 1
        return responses
