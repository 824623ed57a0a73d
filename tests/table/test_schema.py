"""Frames of all libraries, and arrays, are read as the same numbers and levels, in `fit` and in predictions."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from cgens import CGEnsClassifier
from cgens.table.schema import Schema, names_of

NAN = np.nan
WORDS = ["b", "a", None, "c", "a"]
LEVELS, CODES = ("a", "b", "c"), [1.0, 0.0, NAN, 2.0, 0.0]


def series(values: Any, dtype: Any) -> pd.DataFrame:
    return pd.DataFrame({"k": pd.Series(values, dtype=dtype)})


def objects(values: Any) -> np.ndarray:
    return np.array([[value] for value in values], dtype=object)


def assert_values(table: Any, expected: Any) -> None:
    assert np.array_equal(table.values, np.asarray(expected, dtype=float), equal_nan=True)


# --- columns of levels

CHUNKS = [pa.table({"k": pa.array(part).dictionary_encode()}) for part in (WORDS[:2], WORDS[2:])]
WITH_NULL = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, 1]), pa.array(["b", "a", None, "c"]))
TWICE = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 3, 2]), pa.array(["b", "a", "a", "c"]))
#: The words in the columns of all libraries. Levels that do not occur, and the order of levels, do not matter.
TEXT: dict[str, Any] = {
    "pandas, objects": series(WORDS, object),
    "pandas, str": series(WORDS, "str"),
    "pandas, string": series(WORDS, "string"),
    "pandas, arrow": series(WORDS, pd.ArrowDtype(pa.string())),
    "pandas, category": series(WORDS, pd.CategoricalDtype(["c", "z", "a", "b"])),
    "pandas, ordered category": series(WORDS, pd.CategoricalDtype(["b", "c", "a"], ordered=True)),
    "polars, String": pl.DataFrame({"k": WORDS}),
    "polars, Categorical": pl.DataFrame({"k": pl.Series(WORDS, dtype=pl.Categorical)}),
    "polars, Enum": pl.DataFrame({"k": pl.Series(WORDS, dtype=pl.Enum(["z", "c", "b", "a"]))}),
    "pyarrow, string": pa.table({"k": pa.array(WORDS)}),
    "pyarrow, large_string": pa.table({"k": pa.array(WORDS, pa.large_string())}),
    "pyarrow, dictionary": pa.table({"k": pa.array(WORDS).dictionary_encode()}),
    "pyarrow, two dictionaries": pa.concat_tables(CHUNKS),
    "pyarrow, null in the dictionary": pa.table({"k": WITH_NULL}),
    "pyarrow, an entry twice": pa.table({"k": TWICE}),
    "NumPy, objects": objects(WORDS),
    "NumPy, other gaps": objects(["b", "a", pd.NA, "c", np.str_("a")]),
    "pandas, NaN": series(["b", "a", NAN, "c", "a"], object),
}
every_text = pytest.mark.parametrize("kind", TEXT)


@every_text
def test_text_has_the_same_levels_and_codes(kind):
    schema, table = Schema.learn(TEXT[kind])
    assert schema.levels == (LEVELS,)
    assert all(type(level) in (str, np.str_) for level in schema.levels[0])
    assert schema.names == (None if kind.startswith("NumPy") else ("k",))
    assert table.is_category.tolist() == table.has_gaps.tolist() == [True]
    assert table.values.dtype == np.float64
    assert_values(table, [[code] for code in CODES])


@every_text
def test_a_prediction_may_use_another_library(kind):
    schema, _ = Schema.learn(TEXT[kind])
    for other in TEXT.values():
        assert_values(schema.read(other), [[code] for code in CODES])


#: Categories of numbers: | the levels | the codes
NUMBERED: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "pandas, integers": (series([20, 3, None, 100, 3], "category"), (3, 20, 100)),
    "pandas, floats": (series([2.5, -1.0, None, 7.0, -1.0], "category"), (-1.0, 2.5, 7.0)),
    "pyarrow": (pa.table({"k": pa.array([20, 3, None, 100, 3]).dictionary_encode()}), (3, 20, 100)),
}


@pytest.mark.parametrize("kind", NUMBERED)
def test_categories_may_be_numbers(kind):
    """They are sorted as numbers, and a prediction may have them as numbers."""
    X, levels = NUMBERED[kind]
    schema, table = Schema.learn(X)
    assert schema.levels == (levels,)
    expected = [[1.0], [0.0], [NAN], [2.0], [0.0]]
    assert_values(table, expected)
    plain = [NAN if code != code else levels[int(code)] for (code,) in expected]
    for other in (X, series(plain, float), objects(plain), np.array(plain)[:, None]):
        assert_values(schema.read(other), expected)


# --- columns of numbers

THREE = [1, None, 3]
#: One column of 1, a gap and 3 | its type in the table
NUMBERS: dict[str, tuple[Any, type]] = {
    **{f"pandas, {dtype}": (series(THREE, dtype), np.float64) for dtype in ("float64", "Float64", "Int64", "UInt32")},
    **{f"pandas, {dtype}": (series(THREE, dtype), np.float32) for dtype in ("float32", "Float32", "Int8", "UInt16")},
    "pandas, arrow": (series(THREE, "int64[pyarrow]"), np.float64),
    "pandas, objects": (series([1, pd.NA, Decimal(3)], object), np.float64),
    **{f"polars, {own}": (pl.DataFrame({"k": THREE}, {"k": own}), np.float64) for own in (pl.Int64, pl.Float64)},
    **{f"polars, {own}": (pl.DataFrame({"k": THREE}, {"k": own}), np.float32) for own in (pl.Int8, pl.Float32)},
    "polars, NaN": (pl.DataFrame({"k": [1.0, NAN, 3.0]}), np.float64),
    "polars, Decimal": (pl.DataFrame({"k": [Decimal(1), None, Decimal(3)]}), np.float64),
    **{f"pyarrow, {own}": (pa.table({"k": pa.array(THREE, own)}), np.float64) for own in (pa.int64(), pa.float64())},
    **{f"pyarrow, {own}": (pa.table({"k": pa.array(THREE, own)}), np.float32) for own in (pa.int16(), pa.float32())},
    **{f"NumPy, {gap!r}": (objects([1, gap, 3.0]), np.float64) for gap in (None, NAN, np.float32(NAN), pd.NA, pd.NaT)},
}  # fmt: skip


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_stay_numbers_with_nan_for_gaps(kind):
    """Those that float32 holds exactly are float32."""
    X, dtype = NUMBERS[kind]
    schema, table = Schema.learn(X)
    assert schema.levels == (None,)
    assert table.values.dtype == dtype
    assert_values(table, [[1.0], [NAN], [3.0]])
    assert table.has_gaps.tolist() == [True]
    assert_values(schema.read(pa.table({"k": THREE})), [[1.0], [NAN], [3.0]])


@pytest.mark.parametrize(
    "X",
    [
        series([True, None, False], "boolean"),
        series([True, None, False], object),
        pl.DataFrame({"k": [True, None, False]}),
        pa.table({"k": [True, None, False]}),
        objects([True, None, np.False_]),
    ],
    ids=["boolean", "objects of pandas", "polars", "pyarrow", "objects of NumPy"],
)
def test_truth_values_are_0_and_1(X):
    assert_values(Schema.learn(X)[1], [[1.0], [NAN], [0.0]])
    assert_values(Schema.learn(series([True, False], bool))[1], [[1.0], [0.0]])


@pytest.mark.parametrize(
    ("X", "levels"),
    [
        (series([None] * 3, "str"), ()),
        (series([None] * 3, pd.CategoricalDtype(["a"])), ()),
        (pl.DataFrame({"k": pl.Series([None] * 3, dtype=pl.String)}), ()),
        (pa.table({"k": pa.array([None] * 3, pa.string())}), ()),
        (series([None] * 3, float), None),
        (pl.DataFrame({"k": [None] * 3}), None),
        (pa.table({"k": pa.nulls(3)}), None),
        (objects([None] * 3), None),
    ],
)
def test_a_column_of_nothing_but_gaps(X, levels):
    schema, table = Schema.learn(X)
    assert schema.levels == (levels,)
    assert np.isnan(table.values).all()
    if levels is not None:  # whatever comes later is an unseen level
        assert_values(schema.read(series(["a", None], object)), [[0.0], [NAN]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_homogeneous_frame_of_pandas_and_an_array_are_not_copied(dtype):
    values = np.arange(12.0, dtype=dtype).reshape(4, 3)
    frame = pd.DataFrame(values, columns=list("abc"), copy=False)
    own = frame.to_numpy(copy=False)
    for X, memory in ((values, values), (values[:, ::2], values), (frame, own)):
        schema, table = Schema.learn(X)
        assert table.values.dtype == dtype
        assert np.shares_memory(table.values, memory)
        assert np.shares_memory(schema.read(X).values, memory)


def test_one_wide_number_makes_the_table_float64():
    """Text and bytes do not."""
    columns = {"a": np.ones(2, dtype=np.float32), "b": np.array([1, 2], dtype=np.uint8), "c": ["x", "y"]}
    assert Schema.learn(pd.DataFrame(columns))[1].values.dtype == np.float32
    assert Schema.learn(pd.DataFrame({**columns, "d": [1, 2]}))[1].values.dtype == np.float64
    assert Schema.learn(pd.DataFrame({"c": ["x", "y"]}))[1].values.dtype == np.float64


# --- declared categories

MIXED = pd.DataFrame({"size": [10, 3, 10], "kind": ["b", "a", "b"], "age": [1.5, 2.5, NAN]})
NUMERIC = MIXED[["size", "age"]].to_numpy(float)
#: X | categorical_features | which columns are categories
DECLARED: list[tuple[Any, Any, list[bool]]] = [
    (MIXED, None, [False, True, False]),
    (MIXED, ["kind"], [False, True, False]),
    (MIXED, "kind", [False, True, False]),
    (MIXED, ["size", "kind"], [True, True, False]),
    (MIXED, [0, 1], [True, True, False]),
    (MIXED, [-2, -3], [True, True, False]),
    (MIXED, np.array([0, 1]), [True, True, False]),
    (MIXED, (1, "size"), [True, True, False]),
    (MIXED, [True, True, True], [True, True, True]),
    (MIXED, np.array([False, True, False]), [False, True, False]),
    (pl.from_pandas(MIXED), ["age", "kind"], [False, True, True]),
    (MIXED.to_numpy(object), [0, 1], [True, True, False]),
    (NUMERIC, [0], [True, False]),
    (NUMERIC, [], [False, False]),
    (NUMERIC.astype(np.float32), [-1], [False, True]),
]


@pytest.mark.parametrize(("X", "declared", "expected"), DECLARED)
def test_declared_categories(X, declared, expected):
    schema, table = Schema.learn(X, declared)
    assert schema.is_category.tolist() == table.is_category.tolist() == expected
    levels = {"size": (3, 10), "kind": ("a", "b"), "age": (1.5, 2.5)}
    names = ["size", "kind", "age"] if len(expected) == 3 else ["size", "age"]
    assert schema.levels == tuple(levels[name] if own else None for name, own in zip(names, expected, strict=True))
    assert np.array_equal(schema.read(X).values, table.values, equal_nan=True)


@pytest.mark.parametrize(
    ("X", "declared", "pattern"),
    [
        (MIXED, ["colour"], r"'colour'.*not a column"),
        (NUMERIC, ["size"], r"'size'.*no column names.*frame"),
        (MIXED.set_axis([0, 1, 2], axis=1), ["size"], r"'size'.*no column names"),
        (MIXED, [3], r"indices.*3 columns.*\b3\b"),
        (MIXED, [-4], r"indices.*-4"),
        (MIXED, [1.0], r"indices.*1\.0"),
        (MIXED, [None], r"indices.*None"),
        (MIXED, [True, True], r"2 entries.*3 columns"),
        (MIXED, ["size"], r"'kind'.*text.*categorical_features"),
        (MIXED.to_numpy(object), [0], r"Column 1 .*text.*categorical_features"),
        (MIXED, [], r"'kind'.*text"),
    ],
)
def test_wrong_declarations_are_refused(X, declared, pattern):
    with pytest.raises(ValueError, match=pattern):
        Schema.learn(X, declared)
    with pytest.raises(ValueError, match=pattern):
        CGEnsClassifier(categorical_features=declared).fit(X, [0, 1, 0])


# --- predictions

FITTED, _ = Schema.learn(MIXED)
ROWS = [[10.0, 1.0, 1.5], [3.0, 0.0, 2.5], [10.0, 1.0, NAN]]
#: Rows for a prediction | what they are read as
READ: dict[str, tuple[Any, Any]] = {
    "the same": (MIXED, ROWS),
    "other order": (MIXED[["age", "kind", "size"]], ROWS),
    "other order, polars": (pl.from_pandas(MIXED)["kind", "size", "age"], ROWS),
    "other order, pyarrow": (pa.Table.from_pandas(MIXED).select(["age", "size", "kind"]), ROWS),
    "objects": (MIXED.to_numpy(object), ROWS),
    "integers where floats were": (MIXED.assign(age=[1, 2, 3]), [[10.0, 1.0, 1], [3.0, 0.0, 2], [10.0, 1.0, 3]]),
    "floats where integers were": (MIXED.assign(size=[10.0, 3.0, NAN]), [*ROWS[:2], [NAN, 1.0, NAN]]),
    "truth values where integers were": (MIXED.assign(size=[True, False, True])[:1], [[1.0, 1.0, 1.5]]),
    "unseen levels": (MIXED.assign(kind=["zz", "a", "0"]), [[10.0, 2.0, 1.5], ROWS[1], [10.0, 2.0, NAN]]),
    "unseen levels in a category": (MIXED.assign(kind=pd.Categorical(["c", "a", "b"])), [[10.0, 2.0, 1.5], *ROWS[1:]]),
    "no levels": (MIXED.assign(kind=[None] * 3), [[row[0], NAN, row[2]] for row in ROWS]),
    "no levels, but floats": (MIXED.assign(kind=[NAN] * 3), [[row[0], NAN, row[2]] for row in ROWS]),
    "no numbers": (MIXED.assign(size=NAN, age=None), [[NAN, row[1], NAN] for row in ROWS]),
    "no numbers, NA": (MIXED.assign(age=pd.NA), [[*row[:2], NAN] for row in ROWS]),
    "a record": (pd.DataFrame([{"age": None, "kind": "a", "size": 3}]), [[3.0, 0.0, NAN]]),
    "a record, polars": (pl.DataFrame([{"age": None, "kind": None, "size": 3}]), [[3.0, NAN, NAN]]),
    "one row": (MIXED[2:], ROWS[2:]),
}  # fmt: skip


@pytest.mark.parametrize("what", READ)
def test_rows_are_read_by_the_schema(what):
    X, expected = READ[what]
    assert_values(FITTED.read(X), expected)


NUMBER_LEVELS, _ = Schema.learn(pd.DataFrame({"code": ["1", "2"]}))
#: The schema | rows for a prediction | a pattern of the error, which names the column
REFUSED: dict[str, tuple[Schema, Any, str]] = {
    "missing": (FITTED, MIXED[["size", "age"]], r"lacks the column 'kind'"),
    "missing, two": (FITTED, MIXED[["size"]], r"lacks the columns 'kind', 'age'"),
    "extra": (FITTED, MIXED.assign(colour=1), r"'colour'.*not fitted with"),
    "renamed": (FITTED, MIXED.rename(columns={"age": "years"}), r"lacks the column 'age'.*'years' instead"),
    "text for numbers": (FITTED, MIXED.assign(age=["x", "y", "z"]), r"'age'.*text \('x'\).*numbers when"),
    "digits for numbers": (FITTED, MIXED.assign(size=["10", "3", "10"]), r"'size'.*text.*numbers when"),
    "categories for numbers": (FITTED, MIXED.astype({"size": "category"}), r"'size'.*categories.*numbers when"),
    "numbers for text": (FITTED, MIXED.assign(kind=[4, 1, 2]), r"'kind'.*numbers \(1\).*text when.*astype\(str\)"),
    "numbers for text, array": (FITTED, np.ones((2, 3)), r"Column 1 .*numbers \(1\).*text when"),
    "categories of numbers for text": (FITTED, MIXED.assign(kind=pd.Categorical([4, 1, 4])), r"'kind'.*numbers \(\d\)"),
    "1 for '1'": (NUMBER_LEVELS, pd.DataFrame({"code": [1, 2]}), r"'code'.*numbers \(1\).*text when"),
    "'1' for 1": (Schema.learn(pd.DataFrame({"code": [1, 2]}), ["code"])[0], pd.DataFrame({"code": ["1"]}),
                  r"'code'.*text \('1'\).*numbers when.*astype\(float\)"),
    "mixed": (FITTED, MIXED.assign(kind=["a", 1, None]), r"'kind'.*mixes text \('a'\) and numbers \(1\)"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_rows_of_other_kinds_are_refused(what):
    schema, X, pattern = REFUSED[what]
    with pytest.raises(ValueError, match=pattern):
        schema.read(X)


def test_levels_of_rows_that_do_not_count_are_unseen():
    frame = pd.DataFrame({"kind": ["c", "a", None, "b", "d", "a"], "size": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
    kept = np.array([False, True, True, True, False, True])
    schema, table = Schema.learn(frame)[0].with_levels_of(Schema.learn(frame)[1], kept)
    assert schema.levels == Schema.learn(frame[kept])[0].levels == (("a", "b"), None)
    assert_values(table, [[2.0, 1.0], [0.0, 2.0], [NAN, 3.0], [1.0, 4.0], [2.0, 5.0], [0.0, 6.0]])
    assert_values(schema.read(frame), table.values)


def test_integers_as_names_count_by_position():
    """As pandas allows; messages name the columns all the same."""
    frame = MIXED.set_axis([5, 7, 9], axis=1)
    schema, table = Schema.learn(frame)
    assert schema.names is None
    assert_values(table, ROWS)
    assert_values(schema.read(MIXED), ROWS)
    with pytest.raises(ValueError, match=r"Column 7 of X has numbers"):
        schema.read(
            frame.assign(**{"x": 0}).drop(columns="x").set_axis([5, 7, 9], axis=1).replace({7: {"a": 1, "b": 2}})
        )
    model = CGEnsClassifier(n_estimators=2).fit(frame, [0, 1, 0])
    assert not hasattr(model, "feature_names_in_")
    assert model.predict(frame).tolist() == model.predict(MIXED.to_numpy(object)).tolist()
    with pytest.raises(TypeError, match=r"string names.*'int', 'str'"):
        CGEnsClassifier().fit(MIXED.set_axis([1, "1", 2], axis=1), [0, 1, 0])


@pytest.mark.parametrize(
    ("frame", "twice"),
    [
        (pd.DataFrame([[1.0, 2.0, 3.0]], columns=["a", "b", "a"]), "'a'"),
        (pd.DataFrame([[1.0, 2.0]], columns=[4, 4]), "4"),
        (pa.table([pa.array([1.0]), pa.array([2.0])], names=["b", "b"]), "'b'"),
    ],
)
def test_names_must_be_unique(frame, twice):
    with pytest.raises(ValueError, match=rf"more than one column with the name {twice}"):
        names_of(frame)


def test_a_schema_has_what_an_estimator_reports():
    reads: list[Callable[[pd.DataFrame], Any]] = [lambda X: X, pl.from_pandas, pa.Table.from_pandas]
    for read in reads:
        model = CGEnsClassifier(n_estimators=2).fit(read(MIXED), [0, 1, 0])
        assert model.schema_.levels == (None, ("a", "b"), None)
        assert model.feature_names_in_.tolist() == list(model.schema_.names) == ["size", "kind", "age"]
        assert model.n_features_in_ == 3
