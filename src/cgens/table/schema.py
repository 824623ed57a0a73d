"""What a fit learns about the columns of X, and how predictions read their rows by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np

from cgens.table.frames import Text, columns_of, read_objects
from cgens.table.table import Table
from cgens.types import AnyArray

#: A column of X that was read: its label in messages, and numbers or levels.
Column = tuple[str, "AnyArray | Text"]


@dataclass(frozen=True, eq=False)
class Schema:
    """Names and levels of the columns.

    Attributes
    ----------
    names : tuple of str or None
        None if the columns have no names that are strings.
    levels : tuple of (tuple or None)
        For each column its sorted levels, or None for numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"size": [1.0, None, 3.0], "color": ["red", "blue", None]})
    >>> schema, table = Schema.learn(X)
    >>> schema.levels
    (None, ('blue', 'red'))
    >>> table.values
    array([[ 1.,  1.],
           [nan,  0.],
           [ 3., nan]])
    """

    names: tuple[str, ...] | None
    levels: tuple[tuple[Any, ...] | None, ...]

    @cached_property
    def is_category(self) -> AnyArray:
        """Whether each column is a category, shape (n_features,)."""
        return np.array([own is not None for own in self.levels], dtype=bool)

    @cached_property
    def has_categories(self) -> bool:
        """Whether any column is a category."""
        return bool(self.is_category.any())

    @staticmethod
    def of_numbers(X: Any, names: Sequence[str] | None = None) -> Schema:
        """Return the schema of a matrix without categories."""
        return Schema(None if names is None else tuple(names), (None,) * X.shape[1])

    @staticmethod
    def learn(X: Any, categorical_features: Any = None) -> tuple[Schema, Table]:
        """Return the schema of a frame or array, and its rows.

        Parameters
        ----------
        X : data frame, or ndarray of shape (n, n_features)
        categorical_features : sequence of names, indices or bool, optional
            The columns that are categories. By default those of text.
        """
        numbers = plain_numbers(X)
        if numbers is not None and categorical_features is None:
            schema = Schema.of_numbers(numbers, names_of(X))
            return schema, Table(numbers, schema.is_category, schema.names)
        names, columns = read_columns(X)
        declared = resolve_categories(categorical_features, names, len(columns))
        kinds: list[tuple[Any, ...] | None] = []
        for number, (label, column) in enumerate(columns):
            is_text = isinstance(column, Text)
            if declared is not None and is_text and not declared[number]:
                raise ValueError(f"Column {label} of X has text: add it to categorical_features, or leave it out of X.")
            if is_text or (declared is not None and declared[number]):
                text = column if isinstance(column, Text) else Text.of_values(column)
                kinds.append(tuple(sorted(text.levels)))
            else:
                kinds.append(None)
        schema = Schema(names, tuple(kinds))
        return schema, schema.encode(columns)

    def with_levels_of(self, table: Table, kept: AnyArray) -> tuple[Schema, Table]:
        """Return the schema without levels that none of the rows `kept` has, and the table as it reads it."""
        values, levels = table.values.copy(), list(self.levels)
        for column, own in enumerate(self.levels):
            if own is None:
                continue
            codes = values[:, column]
            present = np.unique(codes[kept & ~np.isnan(codes)]).astype(np.intp)
            known = np.flatnonzero(~np.isnan(codes))
            new_codes = np.full(len(own), len(present))
            new_codes[present] = np.arange(len(present))
            values[known, column] = new_codes[codes[known].astype(np.intp)]
            levels[column] = tuple(own[code] for code in present.tolist())
        schema = Schema(self.names, tuple(levels))
        return schema, Table(values, schema.is_category, schema.names)

    def read(self, X: Any) -> Table:
        """Return the rows of a frame or array with the columns of the schema, or raise an error that names a column.

        A frame whose names are strings may have its columns in any order.
        """
        X = self.arrange(X)
        if not self.has_categories:
            numbers = plain_numbers(X)
            if numbers is not None:
                return Table(numbers, self.is_category, self.names)
        return self.encode(read_columns(X)[1])

    def arrange(self, X: Any) -> Any:
        """Return a frame with its columns in the order of the schema, and anything else as it is."""
        names = names_of(X)
        if self.names is None or names is None or names == self.names:
            return X
        given, known = set(names), set(self.names)
        missing = [name for name in self.names if name not in given]
        extra = [name for name in names if name not in known]
        if missing:
            raise ValueError(f"X lacks {_list(missing)}, which the model was fitted with{_but_has(extra)}.")
        if extra:
            raise ValueError(
                f"X has {_list(extra)}, which the model was not fitted with: leave out what is not needed."
            )
        return nw.from_native(X).select(list(self.names)).to_native()

    def encode(self, columns: Sequence[Column]) -> Table:
        """Return columns as one matrix: float32 if all numbers are, else float64."""
        numbers = [column.dtype for _, column in columns if not isinstance(column, Text)]
        dtype = np.float32 if numbers and all(own == np.float32 for own in numbers) else np.float64
        n_rows = len(_values_of(columns[0][1])) if columns else 0
        values = np.empty((n_rows, len(columns)), dtype=dtype, order="F")
        for number, (label, column) in enumerate(columns):
            values[:, number] = self._encode_column(number, label, column)
        return Table(values, self.is_category, self.names)

    def _encode_column(self, number: int, label: str, column: AnyArray | Text) -> AnyArray:
        levels = self.levels[number]
        if levels is None:
            if isinstance(column, Text):
                if not column.levels:  # nothing but gaps
                    return np.full(len(column.codes), np.nan)
                what = f"text ({column.levels[0]!r})" if has_text(column.levels) else "categories"
                raise ValueError(f"Column {label} of X has {what}, but had numbers when the model was fitted.")
            return column
        text = column if isinstance(column, Text) else Text.of_values(column)
        if text.levels and levels and has_text(text.levels) != has_text(levels):
            example = text.levels[0]
            if has_text(levels):
                raise ValueError(
                    f"Column {label} of X has numbers ({example:g}), but had text when the model was fitted: convert "
                    "it, for example by X[column].astype(str)."
                )
            raise ValueError(
                f"Column {label} of X has text ({example!r}), but had numbers when the model was fitted: convert it, "
                "for example by X[column].astype(float)."
            )
        # What the schema does not have is one further level; gaps have the code -1, the last entry.
        position = {level: code for code, level in enumerate(levels)}
        codes = [position.get(level, len(levels)) for level in text.levels]
        return np.array([*codes, np.nan])[text.codes]


def has_text(levels: Sequence[Any]) -> bool:
    """Return whether levels are strings, not numbers: one column has only one of these kinds."""
    return bool(levels) and isinstance(levels[0], str)


def plain_numbers(X: Any) -> AnyArray | None:
    """Return a frame or array of nothing but float32 or nothing but float64 as it is, without a copy if possible."""
    if isinstance(X, np.ndarray):
        return X if X.dtype in (np.float32, np.float64) else None
    frame = nw.from_native(X, eager_only=True)
    kinds = set(frame.schema.values()) if names_of(X) is not None else set()
    if kinds not in ({nw.Float32()}, {nw.Float64()}):
        return None
    return np.asarray(frame.to_numpy(), dtype=np.float32 if kinds == {nw.Float32()} else np.float64)


def names_of(X: Any) -> tuple[str, ...] | None:
    """Return the names of a frame's columns if all are strings, else None.

    Raises
    ------
    ValueError
        If two columns have the same name.
    """
    columns = getattr(X, "columns", None)
    if hasattr(X, "column_names"):
        columns = X.column_names
    if columns is None or isinstance(X, np.ndarray):
        return None
    names = list(columns)
    if len(set(names)) < len(names):
        twice = max(Counter(names).items(), key=lambda item: item[1])[0]
        raise ValueError(f"X has more than one column with the name {twice!r}: names must be unique.")
    return tuple(names) if names and all(isinstance(name, str) for name in names) else None


def read_columns(X: Any) -> tuple[tuple[str, ...] | None, list[Column]]:
    """Return the names of the columns of a frame or array, and the columns themselves."""
    names = names_of(X)
    if isinstance(X, np.ndarray):
        return None, [(str(j), _read_array(column, str(j))) for j, column in enumerate(X.T)]
    labels = [repr(name) for name in (X.columns if names is None else names)]
    if names is None and hasattr(X, "set_axis"):  # numbers as names, as pandas allows
        X = X.set_axis([str(number) for number in range(len(labels))], axis=1)
    return names, list(zip(labels, columns_of(nw.from_native(X, eager_only=True), labels), strict=True))


def _read_array(column: AnyArray, label: str) -> AnyArray | Text:
    if column.dtype.kind == "O":
        return read_objects(column, label)
    if column.dtype.kind in "US":
        return Text.of_values(column.astype(str))
    return column


def resolve_categories(given: Any, names: tuple[str, ...] | None, n_features: int) -> AnyArray | None:
    """Return whether each column was declared a category, shape (n_features,); None if nothing was declared."""
    if given is None:
        return None
    entries = [given] if isinstance(given, str) else np.asarray(given, dtype=object).ravel().tolist()
    mask = np.zeros(n_features, dtype=bool)
    if entries and all(isinstance(entry, bool | np.bool_) for entry in entries):
        if len(entries) != n_features:
            raise ValueError(f"categorical_features has {len(entries)} entries, but X has {n_features} columns.")
        return np.array(entries, dtype=bool)
    for entry in entries:
        if isinstance(entry, str):
            if names is None:
                raise ValueError(
                    f"categorical_features has the name {entry!r}, but X has no column names: use a frame."
                )
            if entry not in names:
                raise ValueError(f"categorical_features has the name {entry!r}, which is not a column of X.")
            mask[names.index(entry)] = True
        elif isinstance(entry, int | np.integer) and -n_features <= entry < n_features:
            mask[entry] = True
        else:
            raise ValueError(
                f"categorical_features must have names, indices or one bool for each of the {n_features} columns of X; "
                f"got {entry!r}."
            )
    return mask


def _values_of(column: AnyArray | Text) -> AnyArray:
    return column.codes if isinstance(column, Text) else column


def _list(names: Sequence[str]) -> str:
    """Return up to three names for a message."""
    shown = ", ".join(map(repr, names[:3]))
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"the column{'s' * (len(names) > 1)} {shown}{more}"


def _but_has(extra: Sequence[str]) -> str:
    return f"; it has {_list(extra)} instead" if extra else ""
