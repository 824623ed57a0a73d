"""The columns of a restricted master, or their weights, as the rows of a growing matrix."""

from __future__ import annotations

import numpy as np

from cgens.types import AnyArray, Floats


class ResponseRows:
    """Responses of shape (J, m), float64; the capacity doubles when it is full.

    Examples
    --------
    >>> rows = ResponseRows(2)
    >>> rows.add(np.array([1, -1], dtype=np.int8))
    >>> rows.all()
    array([[ 1., -1.]])
    """

    def __init__(self, n_rows: int) -> None:
        self._buffer = np.empty((8, n_rows))
        self._n_columns = 0

    def add(self, response: AnyArray) -> None:
        """Add one column of shape (m,)."""
        if self._n_columns == len(self._buffer):
            self._buffer = np.concatenate([self._buffer, np.empty_like(self._buffer)])
        self._buffer[self._n_columns] = response
        self._n_columns += 1

    def all(self) -> Floats:
        """Return the columns, shape (J, m): a view, which later additions do not change."""
        return self._buffer[: self._n_columns]
