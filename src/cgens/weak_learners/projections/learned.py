"""The search among candidates that are drawn, then learned by gradient ascent on the price."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from functools import partial

import numpy as np

from cgens.blas import ONE_BLAS_THREAD
from cgens.checkpoints.generators import restore_generator, save_generator
from cgens.checkpoints.interfaces import resumable_pricer
from cgens.named_arrays import add_prefix, take_prefix
from cgens.types import AnyArray, Column, Duals, Pricer, Pricing, Rule
from cgens.weak_learners.projections.ascent import AscentResult, AscentRows, ascend
from cgens.weak_learners.projections.sampler import ProjectionSampler
from cgens.weak_learners.search.candidate_table import CandidateTable
from cgens.weak_learners.search.candidates import Candidates, FoundResponses, fingerprint
from cgens.weak_learners.search.price_table import Found, PriceTable

#: Number of directions drawn at each refresh, number of those that are learned, and maximum number of rows on which
#: they are chosen.
N_DRAWN, N_LEARNED, N_ROWS = 256, 64, 2000
#: Maximum number of rounds between two refreshes; fewer if the merit of the best candidate left falls below this
#: fraction of the first one, as when all ascents have ended in the same few maxima.
MAX_ROUNDS, STALE = 16, 0.25
#: With fewer rows nothing is learned.
MIN_ROWS = 40
#: Median ratio of held-out gain to gain at the first refresh: below NOISE, `learn="auto"` falls back to random
#: candidates; from TRUST on, with at least TRUST_ROWS rows, no rows are held out any more.
#: docs/decisions/0011-learned-columns.md
NOISE, TRUST, TRUST_ROWS = 0.65, 0.95, 1000


class LearnedPricer:
    """Learns a few dozen candidates, takes the best of them round by round, then learns new ones.

    There is no pool, and no certificate for one, unless learning turns out to fit noise and the search that `fallback`
    returns takes over.
    """

    def __init__(self, sampler: ProjectionSampler, fallback: Callable[[], Pricer] | None) -> None:
        self._sampler, self._fallback = sampler, fallback
        self._coordinates = sampler.ascent_coordinates
        self._n_rows, self._rng, self._n_threads = len(sampler.sample), sampler.rng, sampler.n_threads
        self._selecting: Pricer | None = None
        self._guarded: bool | None = None  # whether rows are held out; unknown before the first refresh
        self._candidates: Candidates | None = None
        self._position: dict[Hashable, int] = {}
        self._free: AnyArray = np.zeros(0, dtype=bool)
        self._prices: PriceTable[CandidateTable] | None = None
        self._n_rounds = 0  # since the last refresh
        self._first_merit = 0.0  # of the best candidate after the last refresh
        self._found = FoundResponses()

    def get_state(self) -> dict[str, AnyArray]:
        """Return the candidates and their prices, or the state of the search that took over."""
        if self._selecting is not None:
            own = add_prefix("selecting.", resumable_pricer(self._selecting).get_state())
            return {"before_fallback": self._before_fallback, **own}
        if self._candidates is None or self._prices is None:
            return {}
        return {
            "numbers": np.array([bool(self._guarded), self._n_rounds, self._first_merit]),
            "free": self._free.copy(),
            "responses": self._candidates.responses,
            **add_prefix("pack.", self._candidates.pack.to_arrays()),
            **add_prefix("prices.", self._prices.get_state()),
        }

    def set_state(self, state: Mapping[str, AnyArray], columns: Sequence[Column]) -> None:
        """Restore a state."""
        for column in columns:
            self._found.add(column)
        if "before_fallback" in state:
            restore_generator(self._rng, state["before_fallback"])
            self._select_instead()
            resumable_pricer(self._selecting).set_state(take_prefix("selecting.", state), columns)
        elif state:
            guarded, n_rounds, self._first_merit = state["numbers"].tolist()
            pack = self._sampler.pack_type.from_arrays(take_prefix("pack.", state))
            self._set_candidates(Candidates(pack, state["responses"]), state["free"].copy())
            self._guarded, self._n_rounds = bool(guarded), int(n_rounds)
            assert self._prices is not None
            self._prices.set_state(take_prefix("prices.", state))

    def price(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> Pricing:
        """Return the best of the present candidates, after a refresh if one is due."""
        due = self._prices is None or self._n_rounds >= MAX_ROUNDS or duals.new_problem
        if self._selecting is None and due:
            self._refresh(duals, taken, rule)
        if self._selecting is not None:
            return self._selecting.price(duals, taken, rule)
        best = self._best(duals, taken, rule)
        if self._n_rounds > 0 and (best.merit < STALE * self._first_merit or best.max_price <= duals.column_cost):
            self._refresh(duals, taken, rule)
            best = self._best(duals, taken, rule)
        if self._n_rounds == 0:
            self._first_merit = best.merit
        self._n_rounds += 1
        assert self._candidates is not None
        column = self._candidates.column(best, self._n_rows)
        if column is not None:
            self._found.add(column)
        return best.pricing(column)

    def _best(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> Found:
        """Return the best candidate that is not taken."""
        assert self._prices is not None
        for key in taken & self._position.keys():
            self._free[self._position[key]] = False
        return self._prices.price(duals, rule)

    def _refresh(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> None:
        """Learn new candidates; the first time, find out whether their gains hold on other rows."""
        with ONE_BLAS_THREAD:
            rows = AscentRows.of(self._coordinates, duals, rule == "gain")
            result = self._learn(rows, guarded=self._guarded is not False)
            if self._guarded is None:
                if self._fallback is not None and not result.trust() >= NOISE:
                    self._select_instead()
                    return
                self._guarded = not (result.trust() >= TRUST and self._n_rows >= TRUST_ROWS)
                if not self._guarded:
                    result = self._learn(rows, guarded=False)
            candidates = self._sampler.learned(result.thetas, result.state)
            responses = candidates.responses
            contents = (fingerprint(own) for own in responses[:, : self._n_rows])
            free = np.array([not self._found.has(own, taken) for own in contents], dtype=bool)
            make_table = self._set_candidates(candidates, free)
            assert self._prices is not None
            if rule == "gain" and duals.curvature is not None:
                table = make_table(duals.array.shape[1])
                table.set_duals(duals.array)
                exact = duals.curvature.quadratic(responses[:, : self._n_rows].T)
                table.set_exact_curvature(np.arange(len(responses)), exact)
                self._prices.adopt(table, duals, duals.curvature.n_steps)

    def _set_candidates(self, candidates: Candidates, free: AnyArray) -> Callable[[int], CandidateTable]:
        """Continue with these candidates; return what makes a table of their prices."""
        self._candidates, self._free, self._n_rounds = candidates, free, 0
        self._position = {candidates.learner(j).key: j for j in range(len(candidates))}
        make_table = partial(CandidateTable, candidates.responses, free, self._n_rows, self._n_threads)
        self._prices = PriceTable(make_table)
        return make_table

    def _select_instead(self) -> None:
        """Let the other search take over, whose candidates are drawn now."""
        assert self._fallback is not None
        self._before_fallback = save_generator(self._rng)
        self._selecting = self._fallback()

    def _learn(self, rows: AscentRows, guarded: bool) -> AscentResult:
        """Draw directions, keep the most promising and ascend; if guarded, on half of the rows, tested on the rest."""
        activation, held_out = self._sampler.activation, None
        if guarded:
            shuffled = self._rng.permutation(self._n_rows)
            rows, held_out = rows.part(np.sort(shuffled[::2])), rows.part(np.sort(shuffled[1::2]))
        thetas, mask = self._sampler.draw_starts(N_DRAWN)
        few = rows if len(rows.Z) <= N_ROWS else rows.part(np.sort(self._rng.permutation(len(rows.Z))[:N_ROWS]))
        sums, _ = few.sums(activation, thetas, self._n_threads)
        state = activation.refine(np.zeros(len(thetas)), sums)
        best = np.argsort(-sums.gain(activation.weights(state)), kind="stable")[:N_LEARNED]
        mask = None if mask is None else mask[best]
        variance = self._coordinates.variance
        return ascend(activation, thetas[best], state[best], rows, held_out, variance, mask, self._n_threads)
