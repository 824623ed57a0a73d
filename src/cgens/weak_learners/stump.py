"""Decision stumps: sign(x_f - t)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from cgens._core import StepTables, StumpPool, StumpScan, StumpTable, respond_stumps
from cgens.default_c import DefaultC
from cgens.interrupt import is_interrupted
from cgens.packs import ArrayPack, Decider, register_pack
from cgens.types import AnyArray, Column, Duals, Floats, Integers, Pricing, Rule, Sample
from cgens.weak_learners.checks import check_integer
from cgens.weak_learners.search.price_table import Found, PriceTable


class Stump(BaseEstimator):  # type: ignore[misc]
    """All stumps sign(x_f - t) on all features.

    Parameters
    ----------
    max_bins : int or None, default=256
        A feature with at most this many distinct values has a threshold between every two neighbouring values; one
        with more values has this many bins of about equal weight, and thresholds between those. None: every midpoint
        of every feature, however many.

    Notes
    -----
    Thresholds are in the feature's own units, so prediction does not need the bins. The pool is finite: the certificate
    of a model of stumps covers *all* stumps, not only the selected ones.

    Examples
    --------
    >>> from cgens import CGEnsClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CGEnsClassifier(Stump(max_bins=None), n_estimators=50).fit(X, y)
    >>> model.ensemble_.learners[0].feature
    22
    """

    default_c: ClassVar[DefaultC] = DefaultC(margin=7.0, squares=0.01, regression=0.003, constant=True)

    def __init__(self, max_bins: int | None = 256) -> None:
        self.max_bins = max_bins

    def begin(self, sample: Sample, rng: np.random.Generator, n_threads: int) -> StumpPricer:
        """Bin the training rows; `rng` is not used."""
        if self.max_bins is not None:
            check_integer("Stump: max_bins", self.max_bins, least=2)
        return StumpPricer(sample, self.max_bins, n_threads)


class StumpKey(NamedTuple):
    """The split of a stump."""

    feature: int
    threshold: float


@dataclass(frozen=True)
class StumpLearner:
    """h(x) = 1 if x[feature] > threshold, else -1."""

    feature: int
    threshold: float

    exact_responses: ClassVar[bool] = True

    @property
    def key(self) -> Hashable:
        """The split."""
        return StumpKey(self.feature, self.threshold)

    def respond(self, X: AnyArray) -> AnyArray:
        """Return h(x) for every row, int8."""
        above = X[:, self.feature] > np.float64(self.threshold)  # a plain float would be rounded to float32
        return np.where(above, np.int8(1), np.int8(-1))

    @staticmethod
    def pack(learners: Sequence[StumpLearner]) -> StumpPack:
        """Return the learners as arrays."""
        return StumpPack(
            np.array([learner.feature for learner in learners], dtype=np.int64),
            np.array([learner.threshold for learner in learners], dtype=np.float64),
        )


class StumpPricer:
    """Searches for the best stump over binned training rows.

    There are two ways to the same prices. If the master changes its duals by rank one, or the rule needs the prices of
    all outputs at once, a table of all prices is updated (`StumpTable`). Otherwise each output has histograms, updated
    from the rows whose duals changed (`StumpScan`).
    """

    def __init__(self, sample: Sample, max_bins: int | None, n_threads: int) -> None:
        n_bins = max(2, len(sample) if max_bins is None else min(max_bins, len(sample)))
        self._pool = StumpPool(sample.X, sample.rows, sample.weight, n_bins, n_threads, is_interrupted)
        self._sample = sample
        self._n_threads = n_threads
        self._scans: list[StumpScan] = []
        self._table: PriceTable[StumpTable] | None = None
        self._seen: set[Hashable] = set()
        self._complete = True  # every taken stump is in the pool

    def price(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> Pricing:
        """Return the best stump by `rule` that is not in `taken`."""
        for key in taken - self._seen:
            # After a warm start with other bins or another family, taken learners may be outside the pool. Its energy
            # then gives no valid bound.
            self._complete &= isinstance(key, StumpKey) and self._take(key)
            self._seen.add(key)
        if rule == "max" and duals.curvature is None and self._table is None:
            best = self._scan(duals.array)
            respond = self._pool.respond
        else:
            if self._table is None:
                self._table = self._make_table()
            best = self._table.price(duals, rule)
            respond = self._table.table.respond
        column = None
        if best.found:
            learner = StumpLearner(best.candidate, best.threshold)
            column = Column(learner, respond(best.candidate, best.threshold), best.price, best.output)
        return best.pricing(column, self._pool.n_candidates if self._complete else None)

    def get_state(self) -> dict[str, AnyArray]:
        """Return the table of prices, if there is one; histograms are exact and need not be saved."""
        return {} if self._table is None else self._table.get_state()

    def set_state(self, state: Mapping[str, AnyArray], columns: Sequence[Column]) -> None:
        """Restore the table of prices."""
        if state:
            self._table = self._make_table()
            self._table.set_state(state)

    def _make_table(self) -> PriceTable[StumpTable]:
        return PriceTable(partial(StumpTable, self._pool, n_threads=self._n_threads))

    def _scan(self, duals: Floats) -> Found:
        """Price each output separately, and return the best stump over all of them."""
        while len(self._scans) < duals.shape[1]:
            self._scans.append(StumpScan(self._pool, self._n_threads))
        outputs = [scan.price(own) for scan, own in zip(self._scans, np.ascontiguousarray(duals.T), strict=True)]
        best = max(range(len(outputs)), key=lambda t: abs(outputs[t][3]))
        found, feature, threshold, price, _ = outputs[best]
        energy = sum(output[4] for output in outputs)
        return Found(found, feature, threshold, best, price, abs(price), energy, abs(price))

    def _take(self, key: StumpKey) -> bool:
        """Remove the stump's response from the search; return False if it is not in the pool or already taken."""
        thresholds = self._pool.thresholds(key.feature)
        if key.threshold in thresholds:
            return self._pool.take(key.feature, key.threshold)
        # A stump found on other rows: use the threshold that splits these rows in the same way, if any. It can only be
        # a neighbouring one, with no value between the two.
        values = self._sample.X[self._sample.rows, key.feature].astype(np.float64)
        above = int(np.searchsorted(thresholds, key.threshold))
        for neighbour in thresholds[max(0, above - 1) : above + 1].tolist():
            low, high = sorted((neighbour, key.threshold))
            if not np.any((low < values) & (values <= high)):
                return self._pool.take(key.feature, neighbour)
        return False

    def pool(self) -> list[Floats]:
        """Return the thresholds of each feature, including those with a repeated response."""
        return [self._pool.thresholds(f) for f in range(self._pool.n_features)]


@register_pack("stump")
@dataclass(frozen=True, eq=False)
class StumpPack(ArrayPack):
    """Stumps as arrays."""

    features: Integers
    thresholds: Floats

    def __len__(self) -> int:
        return len(self.features)

    def learner(self, number: int) -> StumpLearner:
        """Return one of the stumps."""
        return StumpLearner(int(self.features[number]), float(self.thresholds[number]))

    def respond(self, X: AnyArray, n_threads: int) -> AnyArray:
        """Return the responses, shape (n, J), int8."""
        return respond_stumps(X, self.features, self.thresholds, n_threads).reshape(len(X), len(self))

    def decider(self, weights: Floats) -> Decider:
        """Prepare responses @ weights as one step function per feature: one lookup for any number of stumps."""
        tables = StepTables(self.features, self.thresholds, np.ascontiguousarray(weights))
        n_outputs = weights.shape[1]
        return lambda X, n_threads: tables.decide(X, n_threads).reshape(len(X), n_outputs)
