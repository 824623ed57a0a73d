"""The search among drawn candidates whose responses on the training rows are kept as one matrix."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence, Set
from functools import partial
from hashlib import blake2b
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from cgens._core import padded_length, price_candidates
from cgens.types import AnyArray, Column, Duals, Floats, Learner, Pricing, Rule, Sample
from cgens.weak_learners.price_table import Found, PriceTable

#: Candidates of a fresh pool whose exact gain is worked out: those of the largest gain in an empty master.
SHORTLIST = 32
#: How often is drawn to fill a pool; with few rows there may not be as many candidates that differ.
MOST_DRAWS = 8


class Candidates(Protocol):
    """Drawn weak learners and what they say of the training rows."""

    @property
    def responses(self) -> AnyArray:
        """Shape (n, padded_length(m)), int8 or float32: one row a candidate; beyond the m training rows it is 0."""

    def learner(self, number: int) -> Learner:
        """Return one of them."""


class Draw(Protocol):
    """Draws candidates."""

    def __call__(self, rng: np.random.Generator) -> Candidates:
        """Return new ones, of distinct and not constant responses."""


class Joinable(Candidates, Protocol):
    """Candidates of which several draws make one pool."""

    def joined(self, other: Self) -> Self:
        """Return both."""

    def kept(self, numbers: AnyArray) -> Self:
        """Return some of them."""


Drawn = TypeVar("Drawn", bound=Joinable)


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


class FreshPricer:
    """The search among candidates drawn anew in each round: no pool, and no certificate for one."""

    def __init__(self, draw: Draw, sample: Sample, rng: np.random.Generator, n_threads: int) -> None:
        self._draw, self._rng, self._n_threads = draw, rng, n_threads
        self._n_rows = len(sample)
        self._given = GivenResponses()

    def price(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> Pricing:
        """Draw, and return the best by `rule`; a response that was taken before does not come again."""
        found = self._price_draw(duals, taken, rule)
        for _ in range(MOST_DRAWS - 1):
            if found.largest_price() > duals.cost:
                break
            found = max(found, self._price_draw(duals, taken, rule), key=Pricing.largest_price)
        return found

    def _price_draw(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> Pricing:
        candidates = self._draw(self._rng)
        free = np.ones(len(candidates.responses), dtype=bool)
        table = CandidateTable(candidates.responses, free, self._n_rows, self._n_threads, duals.array.shape[1])
        table.set_duals(duals.array)
        max_price = table.find_best("max").max_price
        curvature = duals.curvature if rule == "gain" else None
        parts = [np.arange(len(free))]
        if curvature is not None:
            table.set_curvature(curvature.diagonal)
            # g'Pg of the empty master is an upper bound of what it is now: good enough for a shortlist, and the next.
            order = np.argsort(-table.merits("gain"), kind="stable")
            parts = [order[begin : begin + SHORTLIST] for begin in range(0, len(order), SHORTLIST)]
        before = self._given.among(taken)
        for part in parts:
            if curvature is not None:
                table.set_exact_curvature(part, curvature.quadratic(candidates.responses[part, : self._n_rows].T))
            free[:] = False
            free[part] = True
            while (best := table.find_best(rule)).found:
                column = column_of(candidates, best, self._n_rows)
                assert column is not None
                if column.learner.key not in taken and fingerprint(column.response) not in before:
                    self._given.add(column)
                    return Pricing(column, max_price=max_price, merit=best.merit)
                free[best.place] = False
        return Pricing(None, max_price=0.0)


class GivenResponses:
    """What the columns say that a search without a pool has found: another learner may say the same."""

    def __init__(self) -> None:
        self._contents: dict[Hashable, bytes] = {}

    def add(self, column: Column) -> None:
        """Remember a column that was found."""
        self._contents[column.learner.key] = fingerprint(column.response)

    def among(self, taken: Set[Hashable]) -> set[bytes]:
        """Return the fingerprints of those of them that were taken."""
        return {self._contents[key] for key in taken & self._contents.keys()}


class CandidateTable:
    """All prices of a matrix of candidates: the twin of `cgens._core.StumpTable`."""

    def __init__(self, responses: AnyArray, free: AnyArray, n_rows: int, n_threads: int, n_outputs: int) -> None:
        self._responses, self._free = responses, free
        self._n_rows, self._n_threads = n_rows, n_threads
        self.n_outputs = n_outputs
        self.prices = np.zeros((len(responses), n_outputs))
        self.curvature: Floats = np.zeros(len(responses))
        self._has_curvature = False
        self._largest = float(max(responses.max(initial=0), -responses.min(initial=0)))
        self.drift = 0.0

    def products(self, vectors: Floats) -> Floats:
        """Return responses times vectors, shape (m, l) to (n, l)."""
        flat = price_candidates(self._responses, np.ascontiguousarray(vectors.T), self._n_threads)
        return np.asarray(flat.reshape(len(self._responses), vectors.shape[1]))

    def set_duals(self, duals: Floats) -> None:
        """Make all prices anew."""
        self.prices = self.products(duals)
        self.drift = 0.0

    def set_curvature(self, diagonal: Floats) -> None:
        """Make g'Pg of the empty master anew: sum v g^2 - (sum v g)^2 / sum v."""
        means = self.products(diagonal[:, None])[:, 0] / diagonal.sum()
        if self._responses.dtype == np.int8:  # (1 - mean) (1 + mean) does not cancel
            self.curvature = diagonal.sum() * (1 - means) * (1 + means)
        else:
            rows = zip(self._responses, means, strict=True)
            self.curvature = np.array([np.sum(diagonal * (row[: self._n_rows] - mean) ** 2) for row, mean in rows])
        self._has_curvature = True

    def set_exact_curvature(self, places: AnyArray, values: Floats) -> None:
        """Give some candidates the g'Pg of the present master; it is kept up to date from then on."""
        self.curvature[places] = values
        self._has_curvature = True

    def change(self, direction: Floats, step: Floats, denominator: float, rule: Rule) -> Found:
        """Apply the duals' change, - direction step', and return the best."""
        along = self.products(direction[:, None])
        self.prices -= along * step
        if self._has_curvature:
            self._lower_curvature(along[:, 0], denominator)
        best = self.find_best(rule)
        # The rounding of each product and of the new price.
        moved = self._largest * float(np.abs(direction).sum() * np.abs(step).max())
        self.drift += float(np.finfo(float).eps) * (moved + best.max_price)
        return best

    def change_curvature(self, direction: Floats, denominator: float) -> None:
        """Apply a change to g'Pg only."""
        self._lower_curvature(self.products(direction[:, None])[:, 0], denominator)

    def _lower_curvature(self, along: Floats, denominator: float) -> None:
        self.curvature -= along * (along / denominator)

    def merits(self, rule: Rule) -> Floats:
        """Return what the rule measures of every free candidate, shape (n,)."""
        if rule == "gain":
            merits = np.sum(self.prices**2, axis=1) / (1.0 + np.maximum(self.curvature, 0.0))
        else:
            merits = np.abs(self.prices).max(axis=1) if rule == "max" else np.abs(self.prices).sum(axis=1)
        return np.where(self._free, merits, 0.0)

    def find_best(self, rule: Rule) -> Found:
        """Return the best free candidate, the first of equals."""
        energy = float(np.sum(self.prices**2))
        if not self._free.any():
            return Found(False, 0, 0.0, 0, 0.0, 0.0, energy, 0.0)
        sizes = np.abs(self.prices)
        max_price = float(sizes[self._free].max())
        merits = self.merits(rule)
        place = int(np.argmax(merits))
        output = int(np.argmax(sizes[place]))
        price = float(self.prices[place, output])
        if not merits[place] > 0:
            return Found(False, 0, 0.0, 0, 0.0, max_price, energy, 0.0)
        return Found(True, place, 0.0, output, price, max_price, energy, float(merits[place]))


def column_of(candidates: Candidates, best: Found, n_rows: int) -> Column | None:
    """Return the best candidate as a column."""
    if not best.found:
        return None
    # A copy: the pool may outlive no column, nor a column keep the pool alive.
    response = candidates.responses[best.place, :n_rows].copy()
    return Column(candidates.learner(best.place), response, best.price, best.output)


def padded_responses(n: int, n_rows: int, dtype: type) -> AnyArray:
    """Return zeros of the shape that `Candidates.responses` has."""
    return np.zeros((n, padded_length(n_rows)), dtype=dtype)


def distinct_rows(responses: AnyArray, n_rows: int) -> AnyArray:
    """Return the numbers of the candidates that are neither constant nor, up to sign, like one before them."""
    constant = np.empty(len(responses), dtype=bool)
    for begin in range(0, len(responses), 256):
        own = responses[begin : begin + 256, :n_rows]
        constant[begin : begin + 256] = np.all(own == own[:, :1], axis=1)
    varying = np.flatnonzero(~constant)
    kept, seen = [], set()
    # Most differ from all others in a few training rows already; those that do not are compared on all.
    for number, alone in zip(varying.tolist(), _alone_on_some_rows(responses, varying, n_rows), strict=True):
        if not alone:
            content = fingerprint(responses[number, :n_rows])
            if content in seen:
                continue
            seen.add(content)
        kept.append(number)
    return np.array(kept, dtype=np.intp)


def _alone_on_some_rows(responses: AnyArray, numbers: AnyArray, n_rows: int) -> list[bool]:
    """Return of each of these candidates whether, up to sign, no other of them is like it on some training rows."""
    places = np.linspace(0, n_rows - 1, 64 if responses.dtype == np.int8 else 16).astype(np.intp)
    some = responses[np.ix_(numbers, places)]
    first = some[np.arange(len(some)), np.argmax(some != 0, axis=1)]
    some = np.ascontiguousarray(np.where(first[:, None] < 0, -some, some) + some.dtype.type(0))  # no -0.0
    contents = some.view(np.dtype((np.void, some.shape[1] * some.itemsize)))[:, 0]
    _, inverse, counts = np.unique(contents, return_inverse=True, return_counts=True)
    alone: list[bool] = (counts[inverse] == 1).tolist()
    return alone


def filled_pool(
    draw: Callable[[np.random.Generator], Drawn], n_candidates: int, n_rows: int, rng: np.random.Generator
) -> Drawn:
    """Draw until there are as many different candidates as were asked for, or as are to be found."""
    found = draw(rng)
    for _ in range(MOST_DRAWS - 1):
        if len(found.responses) >= n_candidates:
            break
        both = found.joined(draw(rng))
        found = both.kept(distinct_rows(both.responses, n_rows)[:n_candidates])
    return found


def fingerprint(response: AnyArray) -> bytes:
    """Return 128 bits that are the same for h and -h, and for other responses others."""
    if response.dtype == np.int8:  # of +-1: one bit a row
        content = np.packbits(response == response[0])
    else:
        first = response[np.argmax(response != 0)]
        content = (response if first > 0 else -response) + response.dtype.type(0)  # no -0.0
    return blake2b(content.tobytes(), digest_size=16).digest()


def check_candidates(family: str, n_candidates: object, pool: object) -> int:
    """Return the number of candidates, or raise a sentence."""
    if not isinstance(pool, str) or pool not in ("fixed", "fresh"):
        raise ValueError(f"{family}: pool must be 'fixed' or 'fresh'; got {pool!r}.")
    if isinstance(n_candidates, bool) or not isinstance(n_candidates, int | np.integer) or n_candidates < 1:
        raise ValueError(f"{family}: n_candidates must be an integer >= 1; got {n_candidates!r}.")
    return int(n_candidates)


def drawn_subsets(n: int, counts: Sequence[int], most: int, rng: np.random.Generator) -> tuple[AnyArray, AnyArray]:
    """Return n sizes drawn from `counts`, and for each a random order of as many of `most` things as the largest."""
    sizes = rng.choice(np.asarray(counts), size=n)
    return sizes, rng.random((n, most)).argsort(axis=1)[:, : max(counts)]


def chosen_counts(family: str, name: str, value: Any, most: int) -> Sequence[int]:
    """Return one or several numbers from 1 to `most` to draw from, or raise a sentence."""
    values = list(value) if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else [value]
    for one in values:
        if isinstance(one, bool) or not isinstance(one, int | np.integer) or one < 1:
            raise ValueError(f"{family}: {name} must be integers >= 1; got {value!r}.")
    if not values:
        raise ValueError(f"{family}: {name} must have at least one number; it is empty.")
    return [min(int(one), most) for one in values]
