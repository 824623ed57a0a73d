"""Packs that are frozen dataclasses of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np

from cgens.blas import for_blocks
from cgens.packs.pack import Decider
from cgens.types import AnyArray, Floats


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
        responses: AnyArray = np.empty((len(X), len(self)), dtype=self.dtype)

        def work(begin: int, end: int) -> None:
            responses[begin:end] = self.respond_block(X[begin:end])

        for_blocks(work, len(X), n_threads)
        return responses

    def decider(self, weights: Floats) -> Decider:
        """Return a function that computes responses @ weights without storing all responses."""

        def decide(X: AnyArray, n_threads: int) -> Floats:
            total = np.empty((len(X), weights.shape[1]))

            def work(begin: int, end: int) -> None:
                total[begin:end] = self.respond_block(X[begin:end]).astype(np.float64) @ weights

            for_blocks(work, len(X), n_threads)
            return total

        return decide
