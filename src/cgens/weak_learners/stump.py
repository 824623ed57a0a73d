"""Decision stumps: sign(x_f - t)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from cgens._core import StepTables, StumpScan, respond_stumps
from cgens.types import AnyArray, Column, Floats, Integers, Pricing, Sample


class Stump(BaseEstimator):  # type: ignore[misc]
    """All stumps sign(x_f - t) on all features.

    Parameters
    ----------
    max_bins : int or None, default=256
        A feature with at most this many distinct values has a threshold between every two neighbours; one with more
        gets this many bins of about equal weight, and thresholds between those. None: every midpoint of every
        feature, however many.

    Notes
    -----
    Thresholds are numbers, not bins: prediction needs no bins. The pool is finite, so a model of stumps has a
    certificate for *all* stumps, not only the selected ones.

    Examples
    --------
    >>> from cgens import CGEnsClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CGEnsClassifier(Stump(max_bins=None), n_estimators=50).fit(X, y)
    >>> model.ensemble_.learners[0].feature
    22
    """

    def __init__(self, max_bins: int | None = 256) -> None:
        self.max_bins = max_bins

    def begin(self, sample: Sample, rng: np.random.Generator, n_threads: int) -> StumpPricer:
        """Bin the training rows; `rng` is not used."""
        if self.max_bins is not None and not (isinstance(self.max_bins, int | np.integer) and self.max_bins >= 2):
            raise ValueError(f"max_bins must be an integer >= 2, or None for every midpoint; got {self.max_bins!r}.")
        return StumpPricer(sample, self.max_bins, n_threads)


class StumpKey(NamedTuple):
    """The split of a stump, whatever its sign."""

    feature: int
    threshold: float


@dataclass(frozen=True)
class StumpLearner:
    """h(x) = polarity where x[feature] > threshold, else -polarity."""

    feature: int
    threshold: float
    polarity: int = 1

    @property
    def key(self) -> Hashable:
        """The split, whatever its sign."""
        return StumpKey(self.feature, self.threshold)

    def respond(self, X: AnyArray) -> AnyArray:
        """Return h(x) of every row, int8."""
        above = X[:, self.feature] > self.threshold
        return np.where(above, self.polarity, -self.polarity).astype(np.int8)

    def negated(self) -> StumpLearner:
        """Return -h."""
        return StumpLearner(self.feature, self.threshold, -self.polarity)

    @staticmethod
    def pack(learners: Sequence[StumpLearner]) -> StumpPack:
        """Return the learners as arrays."""
        return StumpPack(
            np.array([learner.feature for learner in learners], dtype=np.int64),
            np.array([learner.threshold for learner in learners], dtype=np.float64),
            np.array([learner.polarity for learner in learners], dtype=np.int8),
        )


class StumpPricer:
    """The search for the best stump over binned training rows."""

    def __init__(self, sample: Sample, max_bins: int | None, n_threads: int) -> None:
        n_bins = max(2, len(sample) if max_bins is None else min(max_bins, len(sample)))
        self._scan = StumpScan(sample.X, sample.rows, sample.weight, n_bins, n_threads)
        self._sample = sample
        self._seen: set[Hashable] = set()
        self._complete = True  # every taken stump is one of the pool

    def price(self, duals: Floats, taken: Set[Hashable]) -> Pricing:
        """Return the stump with the largest |sum_i duals_i h(x_i)| that is not in `taken`."""
        for key in taken - self._seen:
            # A taken stump may lie outside the pool after a warm start from other bins, and those of other families
            # do. The pool's energy then says nothing about the master's: no bound, rather than a false one.
            self._complete &= isinstance(key, StumpKey) and self._take(key)
            self._seen.add(key)
        found, feature, threshold, price, energy = self._scan.price(np.ascontiguousarray(duals[:, 0]))
        column = None
        if found:
            column = Column(StumpLearner(feature, threshold), self._scan.respond(feature, threshold), price)
        return Pricing(column, self._scan.n_candidates, energy) if self._complete else Pricing(column)

    def _take(self, key: StumpKey) -> bool:
        """Take the stump's response out of the search; False where it is not in the pool, or was taken before."""
        thresholds = self._scan.thresholds(key.feature)
        if key.threshold in thresholds:
            return self._scan.take(key.feature, key.threshold)
        # Found on other rows: the threshold here that splits these rows alike, if there is one.
        values = np.sort(self._sample.X[self._sample.rows, key.feature].astype(np.float64))
        below = np.searchsorted(values, thresholds, side="right")
        alike = np.flatnonzero(below == np.searchsorted(values, key.threshold, side="right"))
        return bool(len(alike)) and self._scan.take(key.feature, float(thresholds[alike[0]]))

    def pool(self) -> list[Floats]:
        """Return the thresholds of every feature, those with a repeated response included."""
        return [self._scan.thresholds(f) for f in range(self._scan.n_features)]


@dataclass(frozen=True)
class StumpPack:
    """Many stumps as arrays."""

    features: Integers
    thresholds: Floats
    polarities: AnyArray

    def __len__(self) -> int:
        return len(self.features)

    def respond(self, X: AnyArray, n_threads: int) -> AnyArray:
        """Return the responses, shape (n, J), int8."""
        flat = respond_stumps(X, self.features, self.thresholds, n_threads)
        return flat.reshape(len(X), len(self)) * self.polarities

    def decision(self, X: AnyArray, weights: Floats, n_threads: int) -> Floats:
        """Return responses @ weights, shape (n, l): one table lookup a used feature, however many stumps it has."""
        tables = StepTables(self.features, self.thresholds, np.ascontiguousarray(weights * self.polarities[:, None]))
        return tables.decide(X, n_threads).reshape(len(X), weights.shape[1])

    def arrays(self) -> dict[str, AnyArray]:
        """Return the stumps as named arrays."""
        return {"features": self.features, "thresholds": self.thresholds, "polarities": self.polarities}
