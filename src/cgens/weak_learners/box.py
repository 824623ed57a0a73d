"""Boxes: the conjunction (AND) of a few thresholds."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from cgens.default_c import DefaultC
from cgens.packs import BlockPack, register_pack
from cgens.types import AnyArray, Floats, Integers, Pricer, Sample
from cgens.weak_learners.checks import check_counts
from cgens.weak_learners.search.candidates import Candidates
from cgens.weak_learners.search.sampler import CandidateSampler, random_subsets
from cgens.weak_learners.thresholds import midpoints


class Box(BaseEstimator):  # type: ignore[misc]
    """Boxes: 1 if each of a few random features is on a given side of a random threshold, else -1.

    Thresholds are midpoints of neighbouring values of a feature, drawn according to the rows' weights: the scales of
    the features do not matter.

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
    """h(x) = 1 if side_k (x[feature_k] - threshold_k) > 0 for all k, else -1.

    A side of -1 includes the threshold itself: x <= threshold.
    """

    features: tuple[int, ...]
    thresholds: tuple[float, ...]
    sides: tuple[int, ...]

    exact_responses: ClassVar[bool] = True

    @property
    def key(self) -> Hashable:
        """The conditions."""
        return ("box", self.features, self.thresholds, self.sides)

    def respond(self, X: AnyArray) -> AnyArray:
        """Return h(x) for every row, int8."""
        return BoxLearner.pack([self]).respond(X, 1)[:, 0]

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
    """Boxes as arrays of shape (J, maximum number of conditions); a side of 0 is no condition."""

    features: Integers
    thresholds: Floats
    sides: AnyArray

    dtype: ClassVar[type] = np.int8

    def __len__(self) -> int:
        return len(self.features)

    def learner(self, number: int) -> BoxLearner:
        """Return one of the boxes."""
        used = self.sides[number] != 0
        own = [tuple(part[number][used].tolist()) for part in (self.features, self.thresholds, self.sides)]
        return BoxLearner(own[0], own[1], own[2])

    def respond_block(self, X: AnyArray) -> AnyArray:
        """Return the responses for a block of rows, shape (n, J)."""
        return np.ascontiguousarray(self.respond_transposed(X).T)

    def respond_transposed(self, X: AnyArray) -> AnyArray:
        """Return the responses for a block of rows, shape (J, n)."""
        used, positions = self._used
        values = np.ascontiguousarray(X[:, used].T)
        inside = np.ones((len(self), len(X)), dtype=bool)
        for k, own in enumerate(positions.T):
            above, sides = values[own] > self.thresholds[:, k, None], self.sides[:, k, None]
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
        values = sample.matrix()
        self._features = np.flatnonzero(np.any(values != values[:1], axis=0))  # constant features separate nothing
        self._sizes = check_counts("Box: n_thresholds", spec.n_thresholds, max(1, len(self._features)))
        self._thresholds: dict[int, tuple[Floats, Floats]] = {}

    def draw(self) -> Candidates:
        """Return new boxes, those with a constant or repeated response left out."""
        return Candidates.of(self._draw_boxes(), self.sample, self.n_threads)

    def _draw_boxes(self) -> BoxPack:
        if not len(self._features):
            none = np.zeros((0, 1))
            return BoxPack(none.astype(np.int64), none, none.astype(np.int8))
        sizes, indices = random_subsets(self.n_candidates, self._sizes, len(self._features), self.rng)
        features = self._features[indices]
        sides, quantiles = self.rng.choice([-1, 1], size=features.shape), self.rng.random(features.shape)
        thresholds = np.empty(features.shape)
        for feature in np.unique(features).tolist():
            if feature not in self._thresholds:
                self._thresholds[feature] = midpoints_of(self.sample, feature)
            middles, cumulative = self._thresholds[feature]
            own = features == feature
            thresholds[own] = middles[np.searchsorted(cumulative, quantiles[own], side="right")]
        used = np.arange(features.shape[1]) < sizes[:, None]
        return BoxPack(np.where(used, features, 0), np.where(used, thresholds, 0.0), (sides * used).astype(np.int8))


def midpoints_of(sample: Sample, feature: int) -> tuple[Floats, Floats]:
    """Return the midpoints of a feature's neighbouring values, and the cumulative probabilities of all but the last.

    The probability of a midpoint is proportional to the weight of the rows with one of the two values.
    """
    distinct, inverse = np.unique(sample.matrix()[:, feature].astype(np.float64), return_inverse=True)
    weight = np.bincount(inverse, weights=sample.weight / sample.weight.sum())
    around = np.cumsum(weight[:-1] + weight[1:])
    return midpoints(distinct[:-1], distinct[1:]), around[:-1] / around[-1]
