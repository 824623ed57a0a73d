"""The search among candidates that are drawn once a fit."""

from __future__ import annotations

from collections.abc import Hashable, Set
from functools import partial

import numpy as np

from cgens.types import Duals, Learner, Pricing, Rule, Sample
from cgens.weak_learners.search.candidate_table import CandidateTable
from cgens.weak_learners.search.candidates import Candidates, column_of
from cgens.weak_learners.search.price_table import PriceTable


class FixedPricer:
    """The search among candidates drawn once: a finite pool, so that models have a certificate for all of it."""

    def __init__(self, candidates: Candidates, sample: Sample, n_threads: int) -> None:
        self._candidates = candidates
        self._n_rows = len(sample)
        self._position = {candidates.learner(j).key: j for j in range(len(candidates.responses))}
        self._free = np.ones(len(candidates.responses), dtype=bool)
        self._seen: set[Hashable] = set()
        self._complete = True  # every taken learner is one of the pool
        self._prices = PriceTable(partial(CandidateTable, candidates.responses, self._free, len(sample), n_threads))

    def pool(self) -> list[Learner]:
        """Return all candidates."""
        return [self._candidates.learner(j) for j in range(len(self._free))]

    def price(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> Pricing:
        """Return the best candidate by `rule` that is not in `taken`."""
        for key in taken - self._seen:
            self._complete &= key in self._position
            self._seen.add(key)
            if key in self._position:
                self._free[self._position[key]] = False
        best = self._prices.price(duals, rule)
        column = column_of(self._candidates, best, self._n_rows)
        if not self._complete:
            return Pricing(column, max_price=best.max_price, merit=best.merit)
        return Pricing(column, len(self._free), best.energy, best.max_price, best.merit)
