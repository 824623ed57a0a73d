"""The search among candidates that are drawn again in each round."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence, Set

import numpy as np

from cgens.types import AnyArray, Column, Duals, Pricing, Rule, Sample
from cgens.weak_learners.search.candidate_table import CandidateTable
from cgens.weak_learners.search.candidates import Candidates, FoundResponses, fingerprint

#: Maximum number of draws to fill a pool, or to find a column that is worth its cost.
MAX_DRAWS = 8
#: Number of candidates whose exact gain is computed at a time: those with the largest gain in an empty master.
SHORTLIST = 32


class FreshPricer:
    """Searches new candidates in each round: there is no finite pool, and no certificate for one."""

    def __init__(self, draw: Callable[[], Candidates], sample: Sample, n_threads: int) -> None:
        self._draw, self._n_rows, self._n_threads = draw, len(sample), n_threads
        self._found = FoundResponses()

    def get_state(self) -> dict[str, AnyArray]:
        """Return nothing: what was found is known from the columns."""
        return {}

    def set_state(self, state: Mapping[str, AnyArray], columns: Sequence[Column]) -> None:
        """Remember the columns that were found."""
        for column in columns:
            self._found.add(column)

    def price(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> Pricing:
        """Draw candidates and return the best by `rule` whose response is not taken."""
        found = self._price_draw(duals, taken, rule)
        for _ in range(MAX_DRAWS - 1):
            if found.largest_price() > duals.column_cost:
                break
            found = max(found, self._price_draw(duals, taken, rule), key=Pricing.largest_price)
        return found

    def _price_draw(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> Pricing:
        candidates = self._draw()
        free = np.ones(len(candidates), dtype=bool)
        table = CandidateTable(candidates.responses, free, self._n_rows, self._n_threads, duals.array.shape[1])
        table.set_duals(duals.array)
        max_price = table.find_best("max").max_price
        curvature = duals.curvature if rule == "gain" else None
        parts = [np.arange(len(free))]
        if curvature is not None:
            table.set_curvature(curvature.diagonal)
            # g'Pg of the empty master is an upper bound on its present value: good enough to rank by.
            order = np.argsort(-table.merits("gain"), kind="stable")
            parts = [order[begin : begin + SHORTLIST] for begin in range(0, len(order), SHORTLIST)]
        for part in parts:
            if curvature is not None:
                table.set_exact_curvature(part, curvature.quadratic(candidates.responses[part, : self._n_rows].T))
            free[:] = False
            free[part] = True
            while (best := table.find_best(rule)).found:
                column = candidates.column(best, self._n_rows)
                assert column is not None
                if column.learner.key not in taken and not self._found.has(
                    content := fingerprint(column.response), taken
                ):
                    self._found.add(column, content)
                    return Pricing(column, max_price=max_price, merit=best.merit)
                free[best.candidate] = False
        return Pricing(None, max_price=0.0)
