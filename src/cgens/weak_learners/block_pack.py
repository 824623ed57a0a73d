"""What packs of weak learners share that answer a block of rows at a time."""

from __future__ import annotations

import numpy as np

from cgens.blas import for_blocks
from cgens.types import AnyArray, Floats


class BlockPack:
    """Many learners whose responses are made in fixed blocks of rows, several at a time.

    A subclass has `__len__`, `dtype` and `respond_block`.
    """

    dtype: type = np.float32

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

    def decision(self, X: AnyArray, weights: Floats, n_threads: int) -> Floats:
        """Return responses @ weights, shape (n, l), without keeping the responses."""
        total = np.empty((len(X), weights.shape[1]))

        def work(begin: int, end: int) -> None:
            total[begin:end] = self.respond_block(X[begin:end]).astype(np.float64) @ weights

        for_blocks(work, len(X), n_threads)
        return total
