"""Packs that are frozen dataclasses of arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from cgens.blas import for_blocks
from cgens.interrupt import raise_if_interrupted
from cgens.packs.pack import Decider
from cgens.table.table import dense_blocks
from cgens.types import AnyArray, Floats

#: Rows between two checks for Ctrl-C: more than fit a cache, for each call waits for its threads.
COMPILED_ROWS = 16384


@dataclass(frozen=True, eq=False)
class ArrayPack:
    """A pack whose fields are its arrays; other attributes are derived from them and not pickled."""

    kind: ClassVar[str]

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return the fields."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """Return the pack with these fields."""
        return cls(**arrays)

    def __getstate__(self) -> dict[str, Any]:
        return self.to_arrays()


@dataclass(frozen=True, eq=False)
class FeaturePack(ArrayPack):
    """A pack whose learners use few features; of a sparse matrix, only these become dense, a few rows at a time.

    Subclasses have the numbers of the features in `features`, and define `respond_dense` and `dense_decider`.
    """

    features: AnyArray

    def __len__(self) -> int:
        raise NotImplementedError

    def respond_dense(self, X: AnyArray, n_threads: int) -> AnyArray:
        """Return the responses to an array, shape (n, J)."""
        raise NotImplementedError

    def dense_decider(self, weights: Floats) -> Decider:
        """Return a function that computes responses @ weights for an array."""
        raise NotImplementedError

    def respond(self, X: AnyArray, n_threads: int) -> AnyArray:
        """Return the responses, shape (n, J)."""
        if isinstance(X, np.ndarray):
            return self.respond_dense(X, n_threads)
        used, compact = self._compact
        return np.concatenate([compact.respond_dense(block, n_threads) for block in dense_blocks(X, used)])

    def decider(self, weights: Floats) -> Decider:
        """Return a function that computes responses @ weights."""
        decide = self.dense_decider(weights)

        def decide_any(X: AnyArray, n_threads: int) -> Floats:
            if isinstance(X, np.ndarray):
                return decide(X, n_threads)
            used, compact = self._compact
            own = compact.dense_decider(weights)
            return np.concatenate([own(block, n_threads) for block in dense_blocks(X, used)])

        return decide_any

    @cached_property
    def _compact(self) -> tuple[AnyArray, Self]:
        """The features that are used, and the pack with these numbered from 0."""
        used = np.unique(self.features[self.features >= 0])  # -1 is no feature
        numbers = np.where(self.features < 0, -1, np.searchsorted(used, self.features))
        return used, replace(self, features=numbers.astype(self.features.dtype))


class CompiledTables(Protocol):
    """Learners that the compiled core evaluates on arrays; results are flat."""

    def respond(self, X: AnyArray, n_threads: int) -> AnyArray:
        """Return the responses, n x J."""

    def decide(self, X: AnyArray, weights: Floats, n_threads: int) -> Floats:
        """Return responses @ weights, n x l."""


def respond_compiled(tables: CompiledTables, X: AnyArray, n_columns: int, n_threads: int) -> AnyArray:
    """Return the responses, shape (n, J)."""
    parts = [tables.respond(block, n_threads) for block in interruptible_blocks(X)]
    return np.concatenate(parts).reshape(len(X), n_columns)


def decide_compiled(tables: CompiledTables, X: AnyArray, weights: Floats, n_threads: int) -> Floats:
    """Return responses @ weights."""
    weights = np.ascontiguousarray(weights)
    parts = [tables.decide(block, weights, n_threads) for block in interruptible_blocks(X)]
    return np.concatenate(parts).reshape(len(X), weights.shape[1])


def interruptible_blocks(X: AnyArray) -> Iterator[AnyArray]:
    """Yield some rows at a time, at least once; KeyboardInterrupt is raised between two blocks after Ctrl-C."""
    yield X[:COMPILED_ROWS]
    for begin in range(COMPILED_ROWS, len(X), COMPILED_ROWS):
        raise_if_interrupted()
        yield X[begin : begin + COMPILED_ROWS]


@dataclass(frozen=True, eq=False)
class BlockPack(ArrayPack):
    """A pack that computes responses in fixed blocks of rows, several blocks in parallel.

    Subclasses define `__len__`, `learner`, `dtype` and `respond_block`.
    """

    dtype: ClassVar[type] = np.float32

    def __len__(self) -> int:
        raise NotImplementedError

    def respond_block(self, X: AnyArray) -> AnyArray:
        """Return the responses of the rows of one block, shape (n, J)."""
        raise NotImplementedError

    def respond(self, X: AnyArray, n_threads: int) -> AnyArray:
        """Return the responses, shape (n, J)."""
        responses: AnyArray = np.empty((X.shape[0], len(self)), dtype=self.dtype)

        def work(begin: int, end: int) -> None:
            responses[begin:end] = self.respond_block(X[begin:end])

        for_blocks(work, X.shape[0], n_threads)
        return responses

    def decider(self, weights: Floats) -> Decider:
        """Return a function that computes responses @ weights without storing all responses."""

        def decide(X: AnyArray, n_threads: int) -> Floats:
            total = np.empty((X.shape[0], weights.shape[1]))

            def work(begin: int, end: int) -> None:
                total[begin:end] = self.respond_block(X[begin:end]).astype(np.float64) @ weights

            for_blocks(work, X.shape[0], n_threads)
            return total

        return decide
