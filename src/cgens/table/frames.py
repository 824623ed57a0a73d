"""Columns of data frames and object arrays: numbers, or levels with codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np

from cgens.types import AnyArray, Integers

#: Number types whose values float32 holds exactly.
_SMALL = (nw.Float32, nw.Int8, nw.Int16, nw.UInt8, nw.UInt16, nw.Boolean)


#: Types of dates and durations, besides those that have an ISO format.
_DATES = ("timedelta", "Timedelta", "timedelta64", "datetime64", "Period")


@dataclass(frozen=True)
class Text:
    """A column of levels.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Number of each row's level in `levels`; -1 for a gap.
    levels : list
        Distinct levels, in any order: strings, or numbers of a column that was declared a category.
    """

    codes: Integers
    levels: list[Any]

    @staticmethod
    def of_values(values: AnyArray) -> Text:
        """Return the levels of an array of any type."""
        if values.dtype.kind != "O":
            levels, codes = np.unique(values, return_inverse=True)
            if values.dtype.kind == "f" and len(levels) and np.isnan(levels[-1]):
                codes, levels = np.where(np.isnan(values), -1, codes), levels[~np.isnan(levels)]
            return Text(codes.astype(np.int64), levels.tolist())
        known: dict[Any, int] = {}
        found = [-1 if is_gap(value) else known.setdefault(value, len(known)) for value in values.tolist()]
        return Text(np.array(found, dtype=np.int64), list(known))


def is_gap(value: Any) -> bool:
    """Return whether an object is a missing value: None, NaN, NaT or pandas.NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and value != value


def as_frame(X: Any) -> Any:
    """Return a frame of pandas, polars, pyarrow or the like as a narwhals one, and anything else as it is.

    Raises
    ------
    TypeError
        If it is a lazy frame, or a batch of rows.
    """
    if isinstance(X, np.ndarray):  # the most common case needs no search for its library
        return X
    if type(X).__name__ == "RecordBatch":
        raise TypeError("X is a RecordBatch of pyarrow: pass pyarrow.Table.from_batches([X]).")
    frame = nw.from_native(X, pass_through=True, allow_series=False)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"X is a lazy frame ({type(X).__name__}): pass X.collect().")
    return frame


def columns_of(frame: Any, labels: Sequence[str]) -> Iterator[Any]:
    """Yield a frame's columns, arrays of floating-point numbers or `Text`; labels are their names in messages."""
    for name, label in zip(frame.columns, labels, strict=True):
        yield read_series(frame[name], label)


def read_series(series: Any, label: str) -> AnyArray | Text:
    """Return one column of a frame, or raise an error that names it."""
    dtype = series.dtype
    if dtype.is_temporal():
        raise TypeError(_about_dates(series, label))
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return factorize(series, label)
    if dtype.is_numeric() or dtype == nw.Boolean:
        kind = nw.Float32 if dtype in _SMALL else nw.Float64
        return np.asarray(series.cast(kind).to_numpy())
    if dtype in (nw.Object, nw.Unknown):
        return read_objects(np.asarray(series.to_numpy(), dtype=object), label)
    raise TypeError(f"Column {label} of X has the type {dtype}, which is neither a number nor text: convert it first.")


def factorize(series: Any, label: str) -> Text:
    """Return the levels of a column of text or categories, by the means of its library; its label is for messages."""
    native = series.to_native()
    if series.implementation.is_pandas_like():
        codes, levels = native.factorize()
        # By all categories, not only those of these rows: other rows must be read in the same way.
        categories = getattr(native.dtype, "categories", levels).tolist()
        return Text(np.asarray(codes, dtype=np.int64), _plain(levels.tolist(), categories, label))
    if series.implementation.is_pyarrow():
        if hasattr(native.type, "value_type"):  # a dictionary, which may have an entry twice, or null
            native = native.cast(native.type.value_type)
        encoded = native.dictionary_encode().combine_chunks()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        levels = encoded.dictionary.to_pylist()
        return Text(codes.astype(np.int64), _plain(levels, levels, label))
    text = series.cast(nw.String)
    levels = text.drop_nulls().unique().to_list()
    codes = text.replace_strict(levels, list(range(len(levels))), default=None, return_dtype=nw.Int64)
    return Text(np.asarray(codes.fill_null(-1).to_numpy(), dtype=np.int64), levels)


def _plain(levels: list[Any], categories: list[Any], label: str) -> list[Any]:
    """Return levels as they are if all categories are numbers, else as strings: levels are sorted."""
    number = next((category for category in categories if isinstance(category, Real)), None)
    other = next((category for category in categories if not isinstance(category, Real)), None)
    if other is None:
        return levels
    if number is not None:
        raise _mixed(label, other, number)
    return [str(level) for level in levels]


def _mixed(label: str, word: Any, number: Any) -> ValueError:
    return ValueError(
        f"Column {label} of X mixes text ({word!r}) and numbers ({number!r}): convert all of it to text or to numbers, "
        "for example by X[column].astype(str)."
    )


def read_objects(values: AnyArray, label: str) -> AnyArray | Text:
    """Return a column of Python objects as numbers or as text, or raise an error that names it."""
    examples = {type(value): value for value in values.tolist() if not is_gap(value)}
    number = next((value for value in examples.values() if isinstance(value, Real | Decimal | np.bool_)), None)
    word = next((value for value in examples.values() if isinstance(value, str)), None)
    for kind, value in examples.items():
        if hasattr(value, "isoformat") or kind.__name__ in _DATES:
            raise TypeError(f"Column {label} of X has dates ({value!r}): convert them to numbers, for example to days.")
        if not isinstance(value, Real | Decimal | np.bool_ | str):
            raise TypeError(
                f"Column {label} of X is not numeric: float() argument must be a string or a real number, not "
                f"{kind.__name__!r}."
            )
    if word is None:
        return np.array([np.nan if is_gap(value) else _as_float(value, label) for value in values.tolist()])
    if number is not None:
        raise _mixed(label, word, number)
    return Text.of_values(values)


def _as_float(value: Any, label: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError(
            f"Column {label} of X has a number of {len(str(value))} digits, which is too large: rescale the column."
        ) from None


def _about_dates(series: Any, label: str) -> str:
    """Return what to do with a column of dates, times or durations."""
    name, is_duration = series.name, series.dtype == nw.Duration
    advice = ""
    if series.dtype == nw.Time:
        advice = ", for example to seconds"
    elif series.implementation.is_polars():
        days = "total_days()" if is_duration else "epoch('d')"
        advice = f", for example X = X.with_columns(pl.col({name!r}).dt.{days})"
    elif series.implementation.is_pyarrow():
        kind = "int32" if series.dtype == nw.Date else "int64"
        column = f"X.column_names.index({name!r}), {name!r}, X[{name!r}].cast({kind!r})"
        advice = f", for example X = X.set_column({column})"
    else:
        zone = getattr(series.dtype, "time_zone", None)
        begin = f"pd.Timestamp('2000-01-01'{f', tz={zone!r}' if zone else ''})"
        elapsed = f"X[{name!r}]" if is_duration else f"(X[{name!r}] - {begin})"
        advice = f", for example X[{name!r}] = {elapsed}.dt.days"
    return f"Column {label} of X has dates or times ({series.dtype}): convert them to numbers{advice}."
