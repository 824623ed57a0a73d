"""The search among candidates that were drawn, then learned by gradient ascent on the price."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Set
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from cgens.blas import ONE_BLAS_THREAD
from cgens.types import AnyArray, Duals, Floats, Pricer, Pricing, Rule, Sample
from cgens.weak_learners.projections.ascent import Activation, AscentResult, AscentRows, ascend
from cgens.weak_learners.projections.coordinates import Coordinates
from cgens.weak_learners.search.candidate_table import CandidateTable
from cgens.weak_learners.search.candidates import Candidates, FoundResponses, column_of, fingerprint
from cgens.weak_learners.search.price_table import Found, PriceTable

#: Directions drawn at each refresh, those of them that are learned, and the rows on which they are told apart.
N_DRAWN, N_LEARNED, N_ROWS = 256, 64, 2000
#: Rounds between two refreshes, at most: fewer where the best candidate left is worth less than this share of the
#: first, as where all have result to the same few places.
N_TAKEN, STALE = 16, 0.25
#: With fewer rows nothing is learned.
LEAST_ROWS = 40
#: Held-out over own gain, the median over the first refresh: below the first, `learn="auto"` only selects; above the
#: second, with at least so many rows, nothing has to be held out. docs/decisions/0011-learned-columns.md
NOISE, TRUST, TRUST_ROWS = 0.65, 0.95, 1000


class Learnable(Protocol):
    """What a family says about the learning of its directions."""

    @property
    def activation(self) -> Activation:
        """The function that is learned."""

    @property
    def coordinates(self) -> Coordinates:
        """The training rows."""

    def draw(self, n: int, rng: np.random.Generator) -> tuple[AnyArray, AnyArray | None]:
        """Return n directions in the coordinates, shape (n, r), float32, and a mask of what may change."""

    def candidates(self, thetas: AnyArray, state: Floats) -> Candidates:
        """Return the learned directions as candidates, their responses on all training rows exact."""


@dataclass(frozen=True)
class LearnedBatch:
    """The candidates of one refresh, and how well their gains held on rows that they had not seen."""

    candidates: Candidates
    trust: float


class LearnedPricer:
    """Learns a few dozen candidates, takes the best of them round by round, then learns anew.

    There is no pool, and no certificate for one, unless learning turns out to fit noise, and `otherwise` takes over.
    """

    def __init__(
        self,
        family: Learnable,
        otherwise: Callable[[], Pricer] | None,
        sample: Sample,
        rng: np.random.Generator,
        n_threads: int,
    ) -> None:
        self._family, self._otherwise = family, otherwise
        self._n_rows, self._rng, self._n_threads = len(sample), rng, n_threads
        self._selecting: Pricer | None = None
        self._guarded: bool | None = None  # not known before the first refresh
        self._candidates: Candidates | None = None
        self._position: dict[Hashable, int] = {}
        self._free: AnyArray = np.zeros(0, dtype=bool)
        self._prices: PriceTable | None = None
        self._n_rounds = 0  # since the last refresh
        self._first_merit = 0.0  # of the best candidate then
        self._found = FoundResponses()

    def price(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> Pricing:
        """Return the best of the present candidates, after a refresh where it is due."""
        due = self._prices is None or self._n_rounds >= N_TAKEN or duals.new_problem
        if self._selecting is None and due:
            self._refresh(duals, taken, rule)
        if self._selecting is not None:
            return self._selecting.price(duals, taken, rule)
        best = self._best(duals, taken, rule)
        if self._n_rounds > 0 and (best.merit < STALE * self._first_merit or best.max_price <= duals.cost):
            self._refresh(duals, taken, rule)
            best = self._best(duals, taken, rule)
        if self._n_rounds == 0:
            self._first_merit = best.merit
        self._n_rounds += 1
        assert self._candidates is not None
        column = column_of(self._candidates, best, self._n_rows)
        if column is not None:
            self._found.add(column)
        return Pricing(column, max_price=best.max_price, merit=best.merit)

    def _best(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> Found:
        """Return the best candidate that is not taken."""
        assert self._prices is not None
        for key in taken & self._position.keys():
            self._free[self._position[key]] = False
        return self._prices.price(duals, rule)

    def _refresh(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> None:
        """Learn new candidates; the first time, find out whether what is learned holds on other rows."""
        with ONE_BLAS_THREAD:
            self._refresh_candidates(duals, taken, rule)

    def _refresh_candidates(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> None:
        slope = AscentRows.of(self._family.coordinates, duals, rule == "gain")
        if self._guarded is None:
            found = self._learn(slope, guarded=True)
            if self._otherwise is not None and not found.trust >= NOISE:
                self._selecting = self._otherwise()
                return
            self._guarded = not (found.trust >= TRUST and self._n_rows >= TRUST_ROWS)
            if not self._guarded:
                found = self._learn(slope, guarded=False)
        else:
            found = self._learn(slope, self._guarded)
        responses = found.candidates.responses
        self._candidates = found.candidates
        self._position = {found.candidates.learner(j).key: j for j in range(len(responses))}
        before = self._found.among(taken)
        self._free = np.array([fingerprint(own) not in before for own in responses[:, : self._n_rows]], dtype=bool)
        self._n_rounds = 0
        self._prices = PriceTable(partial(CandidateTable, responses, self._free, self._n_rows, self._n_threads))
        if rule == "gain" and duals.curvature is not None:
            table = CandidateTable(responses, self._free, self._n_rows, self._n_threads, duals.array.shape[1])
            table.set_duals(duals.array)
            exact = duals.curvature.quadratic(responses[:, : self._n_rows].T)
            table.set_exact_curvature(np.arange(len(responses)), exact)
            self._prices.adopt(table, duals, duals.curvature.n_steps)

    def _learn(self, slope: AscentRows, guarded: bool) -> LearnedBatch:
        """Draw directions, keep the most promising, and ascend: on half of the rows where the other half judges."""
        family, held_out = self._family, None
        if guarded:
            shuffled = self._rng.permutation(self._n_rows)
            slope, held_out = slope.part(np.sort(shuffled[::2])), slope.part(np.sort(shuffled[1::2]))
        thetas, mask = family.draw(N_DRAWN, self._rng)
        few = slope if len(slope.Z) <= N_ROWS else slope.part(np.sort(self._rng.permutation(len(slope.Z))[:N_ROWS]))
        state = np.zeros(len(thetas))
        sums, _ = few.sums(family.activation, thetas, state, self._n_threads)
        state = family.activation.refine(state, sums)
        best = np.argsort(-sums.gain(family.activation.weights(state)), kind="stable")[:N_LEARNED]
        mask = None if mask is None else mask[best]
        result = ascend(
            family.activation,
            thetas[best],
            state[best],
            slope,
            held_out,
            family.coordinates.variance,
            mask,
            self._n_threads,
        )
        return LearnedBatch(family.candidates(result.thetas, result.state), trust_in(result))


def trust_in(result: AscentResult) -> float:
    """Return the median of held-out over own gain; 0 where there is no gain at all."""
    learned = result.own > 0
    return float(np.median(result.gains[learned] / result.own[learned])) if learned.any() else 0.0


def check_learn(family: str, learn: object) -> None:
    """Raise a sentence where the parameter is not one."""
    if not isinstance(learn, bool | np.bool_) and learn != "auto":
        raise ValueError(f"{family}: learn must be True, False or 'auto'; got {learn!r}.")
