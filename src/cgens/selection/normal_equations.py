"""Sums of products of the columns of a pool, over blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cgens.blas import ONE_BLAS_THREAD
from cgens.selection.gram import gram_of
from cgens.types import AnyArray, Floats, Integers

#: Rows that are processed together. Part of the definition of the results: another size may round differently.
BLOCK = 2048


class Columns(Protocol):
    """A matrix of shape (m, n) that is read in blocks of rows: an array, or responses that are computed when read."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of rows and columns."""

    def __getitem__(self, rows: slice | Integers, /) -> AnyArray:
        """Return these rows."""


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """The products of ridge regression with a free intercept, from one pass over the rows.

    Attributes
    ----------
    weight : ndarray of shape (m,)
        Positive.
    means : ndarray of shape (n,)
        Weighted means of the columns; Hc are the columns without them.
    target_mean : ndarray of shape (l,)
    gram : ndarray of shape (n, n)
        Hc'S Hc.
    products : ndarray of shape (n, l)
        Hc'S Lc.
    target_square : float
        tr(Lc'S Lc).
    """

    weight: Floats
    means: Floats
    target_mean: Floats
    gram: Floats
    products: Floats
    target_square: float

    @staticmethod
    def of(
        columns: Columns, target: Floats, weight: Floats, n_threads: int, dtype: type[np.floating] = np.float64
    ) -> NormalEquations:
        """Read the columns once, in blocks.

        They are centred by the means of the first block, and what is missing is subtracted from the products: columns
        of a small variance about a large mean lose nothing. With ``dtype=np.float32`` the products of a block are
        computed in single precision, in half the time; their sums over blocks are in double precision in any case.
        """
        share = weight / weight.sum()
        n_columns = columns.shape[1]
        with ONE_BLAS_THREAD:
            target_mean = share @ target
            centred_target = target - target_mean
            near, offsets = np.zeros(n_columns), np.zeros(n_columns)
            products = np.zeros((n_columns, target.shape[1]))

            def blocks() -> Iterator[AnyArray]:
                nonlocal near
                for rows in blocks_of(len(weight)):
                    own = np.asarray(columns[rows], dtype=dtype)
                    if rows.start == 0:
                        near = (share[rows] @ own / share[rows].sum()).astype(dtype)
                    own = own - near
                    offsets[:] += weight[rows].astype(dtype) @ own
                    products[:] += own.T @ (weight[rows, None] * centred_target[rows]).astype(dtype)
                    own *= np.sqrt(weight[rows]).astype(dtype)[:, None]
                    yield own

            gram = gram_of(blocks(), n_columns, n_threads)
            offsets /= weight.sum()
            gram -= np.multiply.outer(weight.sum() * offsets, offsets)
            # The centred target sums to 0 but for rounding: its products with the offsets vanish.
            square = float(np.sum(weight[:, None] * centred_target**2))
        return NormalEquations(weight, near + offsets, target_mean, gram, products, square)


def blocks_of(n_rows: int) -> Iterator[slice]:
    """Return the blocks in which rows are read."""
    for begin in range(0, n_rows, BLOCK):
        yield slice(begin, min(begin + BLOCK, n_rows))
