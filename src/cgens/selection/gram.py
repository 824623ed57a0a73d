"""Products of all columns with each other, over blocks of rows."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from cgens.blas import ONE_BLAS_THREAD
from cgens.threads import run_in_threads
from cgens.types import AnyArray, Floats

#: Columns of a tile. Tiles are computed in parallel, each in one piece, so that threads do not change a bit.
TILE = 512


def gram_of(blocks: Iterable[AnyArray], n_columns: int, n_threads: int) -> Floats:
    """Return the sum of B'B over blocks B of rows, shape (n_columns, n_columns).

    Parameters
    ----------
    blocks : iterable of ndarray of shape (n_rows, n_columns)
        Any number of rows each; they are not kept.
    n_columns : int
    n_threads : int

    Examples
    --------
    >>> gram_of([np.array([[1.0, 2.0]]), np.array([[0.0, 3.0]])], 2, n_threads=1)
    array([[ 1.,  2.],
           [ 2., 13.]])
    """
    total = np.zeros((n_columns, n_columns))
    edges = [*range(0, n_columns, TILE), n_columns]
    parts = [slice(begin, end) for begin, end in pairwise(edges)]
    tiles = [(rows, columns) for k, rows in enumerate(parts) for columns in parts[: k + 1]]
    with ONE_BLAS_THREAD:
        for block in blocks:

            def add(tile: tuple[slice, slice], block: AnyArray = block) -> None:
                total[tile] += block[:, tile[0]].T @ block[:, tile[1]]

            run_in_threads(add, tiles, n_threads)
    for rows, columns in tiles:
        if rows is columns:
            lower = np.tril(total[rows, rows])
            total[rows, rows] = lower + np.tril(lower, -1).T
        else:
            total[columns, rows] = total[rows, columns].T
    return total
