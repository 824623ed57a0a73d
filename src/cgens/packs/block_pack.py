"""Packs that compute their responses one block of rows at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cgens.blas import for_blocks
from cgens.packs.array_pack import ArrayPack
from cgens.packs.pack import Decider
from cgens.types import AnyArray, Floats


@dataclass(frozen=True, eq=False)
class BlockPack(ArrayPack):
    """Many learners whose responses are computed in fixed blocks of rows, several blocks at a time.

    A subclass has `__len__`, `learner`, `dtype` and `respond_block`.
    """

    dtype: ClassVar[type] = np.float32

    def __len__(self) -> int:
        raise NotImplementedError

    def respond_block(self, X: AnyArray) -> AnyArray:
        """Return the responses of a few rows, shape (n, J)."""
        raise NotImplementedError

    def respond(self, X: AnyArray, n_threads: int) -> AnyArray:
        """Return the responses, shape (n, J)."""
        responses: AnyArray = np.empty((len(X), len(self)), dtype=self.dtype)

        def work(begin: int, end: int) -> None:
            responses[begin:end] = self.respond_block(X[begin:end])

        for_blocks(work, len(X), n_threads)
        return responses

    def decider(self, weights: Floats) -> Decider:
        """Prepare responses @ weights, without keeping the responses."""

        def decide(X: AnyArray, n_threads: int) -> Floats:
            total = np.empty((len(X), weights.shape[1]))

            def work(begin: int, end: int) -> None:
                total[begin:end] = self.respond_block(X[begin:end]).astype(np.float64) @ weights

            for_blocks(work, len(X), n_threads)
            return total

        return decide
