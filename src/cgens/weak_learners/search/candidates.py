"""Candidates and the matrix of their responses on the training rows."""

from __future__ import annotations

from collections.abc import Hashable, Set
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, ClassVar, Protocol

import numpy as np

from cgens._core import padded_length
from cgens.blas import for_blocks
from cgens.packs import Pack
from cgens.types import AnyArray, Column, Integers, Learner, Sample
from cgens.weak_learners.search.price_table import Found
from cgens.weak_learners.search.sparse_columns import SparseColumns


class CandidatePack(Pack, Protocol):
    """A pack that also computes its responses with one row per learner."""

    dtype: ClassVar[type]

    def respond_transposed(self, X: AnyArray) -> AnyArray:
        """Return the responses for a block of rows, shape (J, n)."""


@dataclass(frozen=True)
class Candidates:
    """Candidates and their responses on the training rows.

    Attributes
    ----------
    pack : CandidatePack
    responses : ndarray of shape (n, padded_length(m)), int8 or float32, or SparseColumns
        One row per candidate; 0 beyond the m training rows.
    """

    pack: CandidatePack
    responses: Any

    @staticmethod
    def of(pack: CandidatePack, sample: Sample, n_threads: int) -> Candidates:
        """Return the learners of a pack whose responses on the training rows are distinct and not constant."""
        responses: AnyArray = np.zeros((len(pack), padded_length(len(sample))), dtype=pack.dtype)

        def work(begin: int, end: int) -> None:
            responses[:, begin:end] = pack.respond_transposed(sample.matrix()[begin:end])

        for_blocks(work, len(sample), n_threads)
        return Candidates(pack, responses).subset(distinct_rows(responses, len(sample)))

    def __len__(self) -> int:
        return len(self.responses)

    def learner(self, number: int) -> Learner:
        """Return one of the candidates."""
        return self.pack.learner(number)

    def column(self, best: Found, n_rows: int) -> Column | None:
        """Return the best candidate as a column, None if nothing was found."""
        if not best.found:
            return None
        if isinstance(self.responses, SparseColumns):
            response = self.responses.response(best.candidate)
        else:
            response = self.responses[best.candidate, :n_rows].copy()  # a view would keep the whole matrix in memory
        return Column(self.learner(best.candidate), response, best.price, best.output)

    def some_responses(self, numbers: Integers, n_rows: int) -> AnyArray:
        """Return the responses of some candidates, shape (k, m)."""
        if isinstance(self.responses, SparseColumns):
            rows = [self.responses.response(number) for number in numbers.tolist()]
            return np.array(rows).reshape(len(numbers), n_rows)
        return np.asarray(self.responses[numbers, :n_rows])

    def joined(self, other: Candidates) -> Candidates:
        """Return the candidates of both."""
        mine, theirs = self.pack.to_arrays(), other.pack.to_arrays()
        pack = self.pack.from_arrays({name: np.concatenate([mine[name], theirs[name]]) for name in mine})
        return Candidates(pack, np.concatenate([self.responses, other.responses]))

    def subset(self, indices: AnyArray) -> Candidates:
        """Return some of the candidates; no copy if all of them."""
        if len(indices) == len(self):
            return self
        pack = self.pack.from_arrays({name: array[indices] for name, array in self.pack.to_arrays().items()})
        return Candidates(pack, self.responses[indices])


class FoundResponses:
    """Fingerprints of the columns that a search without a pool has found: another learner may respond the same."""

    def __init__(self) -> None:
        self._keys: dict[bytes, set[Hashable]] = {}

    def add(self, column: Column, content: bytes | None = None) -> None:
        """Remember a column; `content` is its fingerprint if that is known."""
        content = fingerprint(column.response) if content is None else content
        self._keys.setdefault(content, set()).add(column.learner.key)

    def has(self, content: bytes, taken: Set[Hashable]) -> bool:
        """Return whether a column with this fingerprint was found whose key is in `taken`."""
        return any(key in taken for key in self._keys.get(content, ()))


def distinct_rows(responses: AnyArray, n_rows: int) -> AnyArray:
    """Return the indices of the candidates that are neither constant nor equal to an earlier one up to sign."""
    constant = np.empty(len(responses), dtype=bool)
    for begin in range(0, len(responses), 256):
        block = responses[begin : begin + 256, :n_rows]
        constant[begin : begin + 256] = np.all(block == block[:, :1], axis=1)
    varying = np.flatnonzero(~constant)
    kept, seen = [], set()
    # Most candidates are already unique on a few training rows; only the others are compared on all rows.
    for number, unique in zip(varying.tolist(), _unique_on_some_rows(responses, varying, n_rows), strict=True):
        if not unique:
            content = fingerprint(responses[number, :n_rows])
            if content in seen:
                continue
            seen.add(content)
        kept.append(number)
    return np.array(kept, dtype=np.intp)


def _unique_on_some_rows(responses: AnyArray, indices: AnyArray, n_rows: int) -> list[bool]:
    """Return, for each of these candidates, whether it is unique up to sign on a few training rows."""
    rows = np.linspace(0, n_rows - 1, 64 if responses.dtype == np.int8 else 16).astype(np.intp)
    some = responses[np.ix_(indices, rows)]
    first = some[np.arange(len(some)), np.argmax(some != 0, axis=1)]
    some = np.ascontiguousarray(np.where(first[:, None] < 0, -some, some) + some.dtype.type(0))  # no -0.0
    contents = some.view(np.dtype((np.void, some.shape[1] * some.itemsize)))[:, 0]
    _, inverse, counts = np.unique(contents, return_inverse=True, return_counts=True)
    unique: list[bool] = (counts[inverse] == 1).tolist()
    return unique


def fingerprint(response: AnyArray) -> bytes:
    """Return a 128-bit digest that is the same for h and -h."""
    if response.dtype == np.int8:  # +-1: one bit per row
        content = np.packbits(response == response[0])
    else:
        first = response[np.argmax(response != 0)]
        content = (response if first > 0 else -response) + response.dtype.type(0)  # no -0.0
    return blake2b(content.tobytes(), digest_size=16).digest()
