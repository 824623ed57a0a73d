"""Numbers in place of gaps and levels, for families of functions of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from hashlib import blake2b
from typing import Any, Self

import numpy as np
from scipy import sparse

from cgens._core import RowEncoder
from cgens.named_arrays import add_prefix, take_prefix
from cgens.table.scaling import ColumnSummary, Scaling, ScalingKind
from cgens.table.table import BLOCK_ROWS, Matrix, Table
from cgens.types import AnyArray, Floats, Integers

#: A level with less weight than this has no input of its own, and neither have more levels than this of one column:
#: what is left over shares one input.
MIN_LEVEL_WEIGHT, MAX_LEVELS = 5.0, 30


@dataclass(frozen=True, eq=False)
class Encoding:
    """How rows become complete numbers.

    A column of numbers stays one input, with its median in place of gaps; if it has gaps, there is a further input that
    is 1 for them and 0 elsewhere. A level of a category is an input that is 1 for it and 0 elsewhere; rare levels share
    one. A missing level, and one that no training row has, is 0 in all of them.

    Attributes
    ----------
    numbers : ndarray of shape (k,)
        Columns of numbers.
    fill : ndarray of shape (k,)
        What stands for a gap.
    scaling : Scaling
        Of the columns of numbers.
    gaps : ndarray of shape (g,)
        Columns of numbers whose gaps have an input.
    level_columns, level_codes : ndarray of shape (h,)
        Column and level of each further input; the code is -1 for all levels of the column that have none of their own
        but occur in the training rows, which are in `rare`.
    rare_begin, rare : ndarray
        The rare levels of input j, if its code is -1, are ``rare[rare_begin[j]:rare_begin[j + 1]]``.
    """

    numbers: Integers
    fill: Floats
    scaling: Scaling
    gaps: Integers
    level_columns: Integers
    level_codes: Integers
    rare_begin: Integers
    rare: Integers

    @staticmethod
    def of(table: Table, rows: Integers, weight: Floats, scaling: ScalingKind) -> Encoding:
        """Measure some rows of a table, with positive weights."""
        numbers = np.flatnonzero(~table.is_category)
        columns_of_numbers = _sparse_columns if table.is_sparse else _dense_columns
        summaries, has_gaps = [], []
        for values, own_weight in columns_of_numbers(table, numbers, rows, weight):
            summaries.append(ColumnSummary.of(values, own_weight))
            has_gaps.append(bool(np.isnan(values).any()))
        columns: list[int] = []
        codes: list[int] = []
        rare: list[AnyArray] = []
        for column in np.flatnonzero(table.is_category).tolist():
            own, others = _frequent_levels(table.column(column, rows), weight)
            columns += [column] * (len(own) + bool(len(others)))
            codes += [*own.tolist(), *([-1] * bool(len(others)))]
            rare += [*[np.zeros(0, dtype=np.int64)] * len(own), *([others] * bool(len(others)))]
        return Encoding(
            numbers=numbers,
            fill=np.array([own.median for own in summaries]),
            scaling=Scaling.of(scaling, summaries, centred=not table.is_sparse),
            gaps=numbers[np.array(has_gaps, dtype=bool)],
            level_columns=np.array(columns, dtype=np.int64),
            level_codes=np.array(codes, dtype=np.int64),
            rare_begin=np.cumsum([0, *map(len, rare)], dtype=np.int64),
            rare=np.concatenate([np.zeros(0, dtype=np.int64), *rare]),
        )

    @property
    def n_inputs(self) -> int:
        """Number of inputs after the encoding."""
        return len(self.numbers) + len(self.gaps) + len(self.level_columns)

    @property
    def input_columns(self) -> Integers:
        """The column of each input, shape (n_inputs,)."""
        return np.concatenate([self.numbers, self.gaps, self.level_columns])

    @cached_property
    def digest(self) -> bytes:
        """A digest of the content."""
        return blake2b(b"".join(own.tobytes() for own in self.to_arrays().values()), digest_size=16).digest()

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return the attributes."""
        own = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "scaling"}
        return {**own, **add_prefix("scaling.", self.scaling.to_arrays())}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """Return the encoding with these attributes."""
        own = {field.name: arrays[field.name] for field in fields(cls) if field.name != "scaling"}
        return cls(**own, scaling=Scaling.from_arrays(take_prefix("scaling.", arrays)))

    def transform(self, X: Matrix) -> Matrix:
        """Return rows as numbers, shape (n, n_inputs), sparse if X and the rows of the fit are.

        In double precision also for float32: medians and scaled numbers would be rounded, and the same values in
        float64 would give another model.
        """
        if not isinstance(X, np.ndarray):
            if self.scaling.keeps_zeros():
                return self._transform_sparse(sparse.csc_array(X))
            begins = range(0, max(1, X.shape[0]), BLOCK_ROWS)  # to save memory
            return np.concatenate([self.transform(X[begin : begin + BLOCK_ROWS].toarray()) for begin in begins])
        return self.encoder.transform(as_floats(X)).reshape(len(X), self.n_inputs)

    @cached_property
    def encoder(self) -> RowEncoder:
        """The compiled encoder of rows."""
        own = self.scaling
        arrays: list[Any] = [
            *(self.numbers, self.fill, own.centre, own.scale, own.last_centre, own.last_scale),
            *(own.knot_begin, own.knots, own.ranks, self.gaps),
            *(self.level_columns, self.level_codes, self.rare_begin, self.rare),
        ]
        return RowEncoder(bool(own.bent), *map(np.ascontiguousarray, arrays))

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _transform_sparse(self, X: Any) -> Any:
        """Zeros stay zeros: of a sparse table nothing is centred, and there are no categories."""
        columns = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
        is_gap = np.isnan(X.data)
        values = self.scaling.apply_to_columns(np.where(is_gap, self.fill[columns], X.data), columns)
        numbers = sparse.csc_array((values, X.indices, X.indptr), shape=X.shape)
        gaps = sparse.csc_array((is_gap.astype(np.float64), X.indices, X.indptr), shape=X.shape)[:, self.gaps]
        gaps.eliminate_zeros()
        return sparse.csr_array(sparse.hstack([numbers, gaps]))


def plain_encoding(n_columns: int) -> Encoding:
    """Return the encoding that leaves complete numbers as they are."""
    none, numbers = np.zeros(0, dtype=np.int64), np.arange(n_columns)
    summaries = n_columns * [ColumnSummary(np.zeros(0), np.zeros(0), 0.0, 0.0, 0.0)]
    begin = np.zeros(1, dtype=np.int64)
    return Encoding(numbers, np.zeros(n_columns), Scaling.of("none", summaries), none, none, none, begin, none)


def as_floats(X: AnyArray) -> AnyArray:
    """Return an array of any numbers as float32 or float64, which the compiled core takes."""
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def _dense_columns(table: Table, numbers: Integers, rows: Integers, weight: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield the values of some rows, and their weights, for each of some columns."""
    for number in numbers.tolist():
        yield table.column(number, rows).astype(np.float64), weight


def _sparse_columns(table: Table, numbers: Integers, rows: Integers, weight: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield the same for a sparse table, with one zero for all rows whose value is not stored."""
    columns = sparse.csc_array(table.matrix()[rows])
    for number in numbers.tolist():
        own = slice(columns.indptr[number], columns.indptr[number + 1])
        values, weights = columns.data[own].astype(np.float64), weight[columns.indices[own]]
        if len(values) < len(rows):
            values, weights = np.append(values, 0.0), np.append(weights, max(weight.sum() - weights.sum(), 0.0))
        yield values, weights


def row_weight(weight: Floats) -> float:
    """Return the weight of a single row: 1 if weights are numbers of copies, less if they are shares of a total.

    Least weights are multiples of it: they then mean the same for weights that sum to 1.
    """
    return min(1.0, float(weight.sum()) / len(weight))


def _frequent_levels(codes: AnyArray, weight: Floats) -> tuple[Integers, Integers]:
    """Return the levels that have an input of their own, ascending, and the others that occur."""
    known = ~np.isnan(codes)
    levels, inverse = np.unique(codes[known].astype(np.int64), return_inverse=True)
    weights = np.bincount(inverse, weights=weight[known], minlength=len(levels))
    order = np.lexsort((levels, -weights))
    least = MIN_LEVEL_WEIGHT * row_weight(weight)
    frequent = order[:MAX_LEVELS][weights[order[:MAX_LEVELS]] >= (1 - 1e-9) * least]
    is_frequent = np.isin(np.arange(len(levels)), frequent)
    return levels[is_frequent], levels[~is_frequent]
