"""A table: one matrix of numbers and codes of levels, and the kinds and names of its columns."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

#: A dense array of shape (n, n_features), float32 or float64, or a SciPy sparse array in CSR or CSC format.
Matrix: TypeAlias = Any

#: Number of rows that become dense at a time.
BLOCK_ROWS = 4096
#: Number of rows whose median stands for gaps where no training row has one.
TYPICAL_ROWS = 2000


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of X.

    Categories are in the same matrix as numbers: a level is the number of its place among the sorted levels of the
    schema, and a level that the schema does not have is the number of its levels. So one matrix is hashed, binned and
    sliced, whatever the kinds of its columns.

    Attributes
    ----------
    values : ndarray or SciPy sparse array of shape (n, n_features), float32 or float64
        NaN is a gap: a missing number or level. An array has any strides; in a sparse array, entries that are not
        stored are 0.
    is_category : ndarray of shape (n_features,), bool
    names : tuple of str or None
        Names of the columns, for messages.

    Examples
    --------
    >>> table = Table.of(np.array([[1.0, 0.0], [np.nan, 2.0]]))
    >>> table.shape, table.has_gaps
    ((2, 2), array([ True, False]))
    """

    values: Matrix
    is_category: NDArray[np.bool_]
    names: tuple[str, ...] | None = None

    @staticmethod
    def of(X: Any) -> Table:
        """Return a table of numbers; a table is returned as it is."""
        return X if isinstance(X, Table) else Table(X, np.zeros(X.shape[1], dtype=bool))

    def __len__(self) -> int:
        return int(self.values.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        n_rows, n_features = self.values.shape
        return int(n_rows), int(n_features)

    @property
    def is_sparse(self) -> bool:
        """Whether the values are a sparse array."""
        return not isinstance(self.values, np.ndarray)

    @cached_property
    def sums_to_finite(self) -> bool:
        """Whether the sum of all values is finite: one pass, and there is neither a gap nor infinity if it is."""
        values = self.values if isinstance(self.values, np.ndarray) else self.values.data
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(np.add.reduce(values, axis=None)))

    @cached_property
    def has_gaps(self) -> NDArray[np.bool_]:
        """Whether each column has a gap, shape (n_features,)."""
        found = np.zeros(self.shape[1], dtype=bool)
        if self.is_sparse:
            columns = self.columns_first()
            gaps = np.flatnonzero(np.isnan(columns.data))
            found[np.searchsorted(columns.indptr, gaps, side="right") - 1] = True
            return found
        if self.sums_to_finite:
            return found
        for begin in range(0, len(self), 4096):
            found |= np.isnan(self.values[begin : begin + 4096]).any(axis=0)
        return found

    def with_gaps_of(self, rows: NDArray[Any]) -> Table:
        """Return the table with `has_gaps` of some rows only: the others do not count in a fit."""
        if not self.has_gaps.any():
            return self
        has_gaps, table = self.take(rows).has_gaps, copy.copy(self)
        table.__dict__["has_gaps"] = has_gaps
        return table

    def matrix(self) -> Matrix:
        """Return the values as weak learners take them: an array, or compressed sparse rows."""
        return self.rows_first() if self.is_sparse else self.values

    def dense(self) -> Table:
        """Return the table with all zeros stored."""
        if not self.is_sparse:
            return self
        table = Table(self.values.toarray(), self.is_category, self.names)
        table.__dict__["has_gaps"] = self.has_gaps
        return table

    def take(self, rows: NDArray[Any]) -> Table:
        """Return some of the rows."""
        return Table(self.matrix()[rows], self.is_category, self.names)

    def select(self, columns: Sequence[int]) -> Table:
        """Return some of the columns."""
        own = list(columns)
        names = None if self.names is None else tuple(self.names[column] for column in own)
        values = self.columns_first() if self.is_sparse else self.values
        return Table(select_columns(values, own), self.is_category[own], names)

    def gap_shares(self, rows: NDArray[Any], weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share of the weight of these rows that lacks a value of each column, shape (n_features,)."""
        if not self.has_gaps.any():
            return np.zeros(self.shape[1])
        if self.is_sparse:
            own, of_row = self.rows_first(), np.zeros(len(self))
            of_row[rows] = weight
            gaps = np.flatnonzero(np.isnan(own.data))
            gap_rows = np.searchsorted(own.indptr, gaps, side="right") - 1
            sums = np.bincount(own.indices[gaps], weights=of_row[gap_rows], minlength=self.shape[1])
            return np.asarray(sums / np.sum(weight))
        shares = np.zeros(self.shape[1])
        for number in np.flatnonzero(self.has_gaps).tolist():
            shares[number] = np.sum(weight[np.isnan(self.column(number, rows))]) / np.sum(weight)
        return shares

    def typical_values(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        """Return the median of each column of numbers without gaps over the first of these rows, and NaN for others."""
        typical = np.zeros(self.shape[1])  # of a sparse column
        if not self.is_sparse:
            typical = np.median(self.values[rows[:TYPICAL_ROWS]], axis=0).astype(np.float64)
        typical[self.has_gaps | self.is_category] = np.nan
        return typical

    def filled(self, typical: NDArray[np.float64]) -> Table:
        """Return the table with these values, unless they are NaN, in place of the gaps of each column."""
        gaps = self.has_gaps & ~np.isnan(typical)
        if not gaps.any():
            return self
        if self.is_sparse:
            rows = self.rows_first().copy()
            own = np.isnan(rows.data) & gaps[rows.indices]
            rows.data[own] = typical[rows.indices[own]]
            return Table(rows, self.is_category, self.names)
        values = np.where(np.isnan(self.values) & gaps, typical.astype(self.values.dtype), self.values)
        return Table(values, self.is_category, self.names)

    def column(self, number: int, rows: NDArray[Any]) -> NDArray[Any]:
        """Return some values of one column, dense, shape (len(rows),)."""
        if self.is_sparse:
            return np.asarray(column_of(self.columns_first(), number)[rows])
        return np.asarray(self.values[rows, number])

    def label(self, number: int) -> str:
        """Return what messages call a column: its name in quotes, or its number."""
        return str(number) if self.names is None else repr(self.names[number])

    def columns_first(self) -> Any:
        """Return a sparse table in compressed columns, converted by the first call."""
        return self._columns_first

    def rows_first(self) -> Any:
        """Return a sparse table in compressed rows, converted by the first call."""
        return self._rows_first

    @cached_property
    def _columns_first(self) -> Any:
        return sparse.csc_array(self.values)

    @cached_property
    def _rows_first(self) -> Any:
        return sparse.csr_array(self.values)


def column_of(values: Matrix, number: int) -> NDArray[Any]:
    """Return one column of a matrix, dense, shape (n,)."""
    return values[:, number] if isinstance(values, np.ndarray) else values[:, [number]].toarray()[:, 0]


def dense_columns(values: Matrix, columns: NDArray[Any]) -> NDArray[Any]:
    """Return some columns of a few rows of a matrix, dense, shape (n, len(columns))."""
    own = values[:, columns]
    return own if isinstance(own, np.ndarray) else own.toarray()


def dense_blocks(values: Any, columns: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield some columns of a sparse matrix as arrays, a few rows at a time."""
    own = sparse.csr_array(values)[:, columns]
    for begin in range(0, max(1, own.shape[0]), BLOCK_ROWS):
        yield own[begin : begin + BLOCK_ROWS].toarray()


def compressed_arrays(values: Any) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int64]]:
    """Return data, indices and beginnings of a sparse array in the types that the compiled core takes."""
    return values.data, values.indices.astype(np.int32, copy=False), values.indptr.astype(np.int64, copy=False)


def select_columns(values: Matrix, columns: Sequence[int]) -> Matrix:
    """Return some columns of a matrix; an array is contiguous."""
    own = values[:, list(columns)]
    return np.ascontiguousarray(own) if isinstance(own, np.ndarray) else own
