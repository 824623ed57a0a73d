"""The search among candidates that are drawn once per fit."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from functools import partial

import numpy as np

from cgens.types import AnyArray, Column, Duals, Learner, Pricing, Rule, Sample
from cgens.weak_learners.search.candidate_table import CandidateTable
from cgens.weak_learners.search.candidates import Candidates
from cgens.weak_learners.search.pool_columns import PoolColumns, evenly, standing_for
from cgens.weak_learners.search.price_table import PriceTable


class FixedPricer:
    """Searches a finite pool, so that the certificate of a model covers all of it."""

    def __init__(self, candidates: Candidates, sample: Sample, n_threads: int) -> None:
        self._candidates = candidates
        self._n_rows = len(sample)
        self._position = {candidates.learner(j).key: j for j in range(len(candidates))}
        self._free = np.ones(len(candidates), dtype=bool)
        self._seen: set[Hashable] = set()
        self._complete = True  # every taken learner is in the pool
        self._prices = PriceTable(partial(CandidateTable, candidates.responses, self._free, len(sample), n_threads))

    def pool(self) -> list[Learner]:
        """Return all candidates."""
        return [self._candidates.learner(j) for j in range(len(self._candidates))]

    def pool_columns(self, most: int) -> PoolColumns:
        """Return columns that stand for the pool (see `columns_of_pool`)."""
        chosen = evenly(len(self._candidates), most)
        return standing_for(self._candidates.some_responses(chosen, self._n_rows), len(self._candidates))

    def get_state(self) -> dict[str, AnyArray]:
        """Return the prices."""
        return self._prices.get_state()

    def set_state(self, state: Mapping[str, AnyArray], columns: Sequence[Column]) -> None:
        """Restore the prices."""
        self._prices.set_state(state)

    def price(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> Pricing:
        """Return the best candidate by `rule` that is not in `taken`."""
        for key in taken - self._seen:
            self._complete &= key in self._position
            self._seen.add(key)
            if key in self._position:
                self._free[self._position[key]] = False
        best = self._prices.price(duals, rule)
        column = self._candidates.column(best, self._n_rows)
        return best.pricing(column, len(self._candidates) if self._complete else None)
