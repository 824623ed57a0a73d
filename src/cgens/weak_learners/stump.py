"""Decision stumps: sign(x_f - t)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from cgens._core import StepTables, StumpScan, StumpTable, respond_stumps
from cgens.default_c import DefaultC
from cgens.packs import Decider, FeaturePack, register_pack
from cgens.table.accepted import EXTRAS
from cgens.table.table import column_of
from cgens.types import AnyArray, Column, Duals, Floats, Pricing, Rule, Sample
from cgens.weak_learners.bins import stump_pool
from cgens.weak_learners.checks import check_integer
from cgens.weak_learners.search.candidates import distinct_rows
from cgens.weak_learners.search.pool_columns import PoolColumns, evenly, standing_for
from cgens.weak_learners.search.price_table import Found, PriceTable
from cgens.weak_learners.split import Split, SplitArrays


class Stump(BaseEstimator):  # type: ignore[misc]
    """All stumps sign(x_f - t) on all features; on a category, each level against the rest.

    Missing values are on the better side of each threshold; a column that had none in ``fit`` has them on the side with
    more weight. Levels with a single row share one stump, and levels that ``fit`` has not seen go with them.

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

    accepts: ClassVar[tuple[str, ...]] = EXTRAS
    default_c: ClassVar[DefaultC] = DefaultC(margin=7.0, squares=0.01, regression=0.003, constant=True)

    def __init__(self, max_bins: int | None = 256) -> None:
        self.max_bins = max_bins

    def begin(self, sample: Sample, rng: np.random.Generator, n_threads: int) -> StumpPricer:
        """Bin the training rows; `rng` is not used."""
        if self.max_bins is not None:
            check_integer("Stump: max_bins", self.max_bins, least=2)
        return StumpPricer(sample, self.max_bins, n_threads)


@dataclass(frozen=True)
class StumpLearner(Split):
    """h(x) = 1 above the split, else -1."""

    exact_responses: ClassVar[bool] = True

    @property
    def key(self) -> Hashable:
        """The split."""
        return Split(self.feature, self.threshold, self.levels, self.gaps_above)

    def respond(self, X: AnyArray) -> AnyArray:
        """Return h(x) for every row, int8."""
        return np.where(self.is_above(column_of(X, self.feature)), np.int8(1), np.int8(-1))

    @staticmethod
    def pack(learners: Sequence[StumpLearner]) -> StumpPack:
        """Return the learners as arrays."""
        return StumpPack.of(learners)


class StumpPricer:
    """Searches for the best stump over binned training rows.

    There are two ways to the same prices. If the master changes its duals by rank one, or the rule needs the prices of
    all outputs at once, a table of all prices is updated (`StumpTable`). Otherwise each output has histograms, updated
    from the rows whose duals changed (`StumpScan`).
    """

    def __init__(self, sample: Sample, max_bins: int | None, n_threads: int) -> None:
        n_bins = max(2, len(sample) if max_bins is None else min(max_bins, len(sample)))
        self._pool = stump_pool(sample, n_bins, n_threads)
        self._sample = sample
        self._equal_weights = bool(sample.weight.min() == sample.weight.max())
        self._total_weight = float(np.sum(sample.weight))
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
            self._complete &= isinstance(key, Split) and self._take(key)
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
            response = respond(best.candidate)
            column = Column(self._learner(best.candidate, response), response, best.price, best.output)
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
        best = max(range(len(outputs)), key=lambda t: abs(outputs[t][2]))
        found, candidate, price, _ = outputs[best]
        energy = sum(output[3] for output in outputs)
        return Found(found, candidate, best, price, abs(price), energy, abs(price))

    def _learner(self, candidate: int, response: AnyArray) -> StumpLearner:
        """Return a stump of the pool; without gaps in the training rows, later gaps go to the side of more weight."""
        feature, threshold, levels, gaps_above, gaps_known = self._pool.split(candidate)
        if not gaps_known:
            gaps_above = self._is_heavier(response > 0)
        is_category = bool(np.isnan(threshold))
        return StumpLearner(feature, None if is_category else threshold, tuple(levels.tolist()), gaps_above)

    def _is_heavier(self, above: AnyArray) -> bool:
        """Return whether these rows have more than half of the weight."""
        if self._equal_weights:  # counting is much faster than a product
            return bool(2 * np.count_nonzero(above) > len(above))
        return bool(2 * np.sum(self._sample.weight * above) > self._total_weight)

    def _take(self, split: Split) -> bool:
        """Remove the stump's response from the search; return False if it is not in the pool or already taken."""
        candidate = self._find(split)
        if candidate is None and split.threshold is not None:
            # A stump found on other rows: use the threshold that splits these rows in the same way, if any. It can only
            # be a neighbouring one, with no value between the two.
            thresholds = self._pool.thresholds(split.feature)
            values = self._sample.X.column(split.feature, self._sample.rows).astype(np.float64)
            above = int(np.searchsorted(thresholds, split.threshold))
            for neighbour in thresholds[max(0, above - 1) : above + 1].tolist():
                low, high = sorted((neighbour, split.threshold))
                if not np.any((low < values) & (values <= high)):
                    candidate = self._find(replace(split, threshold=neighbour))
                    break
        return candidate is not None and self._pool.take(candidate)

    def _find(self, split: Split) -> int | None:
        threshold = np.nan if split.threshold is None else split.threshold
        return self._pool.find(split.feature, threshold, np.array(split.levels, dtype=np.uint32), split.gaps_above)

    def pool_columns(self, most: int) -> PoolColumns:
        """Return columns that stand for the pool (see `columns_of_pool`)."""
        cells = evenly(self._pool.n_cells, 2 * most)  # some of them have a repeated response
        responses = np.array([self._pool.respond(int(cell)) for cell in cells], dtype=np.int8)
        distinct = distinct_rows(responses.reshape(len(cells), len(self._sample)), len(self._sample))
        chosen = distinct[evenly(len(distinct), most)]
        return standing_for(responses[chosen].reshape(len(chosen), len(self._sample)), self._pool.n_candidates)

    def pool(self) -> list[StumpLearner]:
        """Return all stumps, including those with a repeated response."""
        n_cells = self._pool.n_cells
        return [self._learner(candidate, self._pool.respond(candidate)) for candidate in range(n_cells)]


@register_pack("stump")
@dataclass(frozen=True, eq=False)
class StumpPack(SplitArrays, FeaturePack):
    """Stumps as arrays."""

    def __len__(self) -> int:
        return len(self.features)

    def learner(self, number: int) -> StumpLearner:
        """Return one of the stumps."""
        split = self.split(number)
        return StumpLearner(split.feature, split.threshold, split.levels, split.gaps_above)

    def respond_dense(self, X: AnyArray, n_threads: int) -> AnyArray:
        """Return the responses, shape (n, J), int8."""
        own = self.to_arrays()
        return respond_stumps(X, **own, n_threads=n_threads).reshape(len(X), len(self))

    def dense_decider(self, weights: Floats) -> Decider:
        """Prepare responses @ weights as one step function per feature: one lookup for any number of stumps."""
        tables = StepTables(**self.to_arrays(), weights=np.ascontiguousarray(weights))
        n_outputs = weights.shape[1]
        return lambda X, n_threads: tables.decide(X, n_threads).reshape(len(X), n_outputs)
