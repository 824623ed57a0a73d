"""The search among drawn candidates whose responses on the training rows are kept as one matrix."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence, Set
from hashlib import blake2b
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from cgens._core import padded_length
from cgens.types import AnyArray, Column, Learner
from cgens.weak_learners.search.price_table import Found

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


class FoundResponses:
    """What the columns say that a search without a pool has found: another learner may say the same."""

    def __init__(self) -> None:
        self._contents: dict[Hashable, bytes] = {}

    def add(self, column: Column) -> None:
        """Remember a column that was found."""
        self._contents[column.learner.key] = fingerprint(column.response)

    def among(self, taken: Set[Hashable]) -> set[bytes]:
        """Return the fingerprints of those of them that were taken."""
        return {self._contents[key] for key in taken & self._contents.keys()}


def column_of(candidates: Candidates, best: Found, n_rows: int) -> Column | None:
    """Return the best candidate as a column."""
    if not best.found:
        return None
    # A copy: the pool may outlive no column, nor a column keep the pool alive.
    response = candidates.responses[best.candidate, :n_rows].copy()
    return Column(candidates.learner(best.candidate), response, best.price, best.output)


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
