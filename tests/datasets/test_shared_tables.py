"""Every table of the shared folder is loaded as its manifest describes it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from cgens.datasets import load_table
from tests.data_folder import TABLES, needs_tables

ENTRIES = json.loads((TABLES / "MANIFEST.json").read_bytes())["tables"] if (TABLES / "MANIFEST.json").exists() else {}
#: The manifest rounds shares to four digits, and tiny ones to five.
ROUNDING = 5.1e-5

every_table = pytest.mark.parametrize("name", ENTRIES)
pytestmark = needs_tables


def test_all_tables_are_listed():
    assert set(ENTRIES) == {path.name.removesuffix(".csv.gz") for path in TABLES.glob("*.csv.gz")}
    assert len(ENTRIES) == 19


@every_table
def test_shapes_gaps_and_types(name):
    data, entry = load_table(name), ENTRIES[name]
    assert data.X.shape == (entry["rows"], entry["columns"] - 1)
    assert entry["target"] not in data.X.columns
    gaps = data.X.isna().mean()
    assert np.all(np.abs(gaps - pd.Series(entry["missing"]).reindex(gaps.index, fill_value=0.0)) <= ROUNDING)
    assert {column: len(data.X[column].cat.categories) for column in data.categorical} == entry["levels"]
    for column, values in data.X.items():
        if column in entry["categorical"]:
            assert list(values.cat.categories) == sorted(values.dropna().unique()), column
            assert all(isinstance(level, str) for level in values.cat.categories), column
        elif column in entry["date"]:
            assert values.dtype == np.dtype("datetime64[ns]"), column
        elif column in entry.get("boolean", ()):
            assert values.dtype == bool, column
        else:
            assert values.dtype == np.float64 if gaps[column] else values.dtype in (np.int64, np.float64), column


@every_table
def test_targets(name):
    data, entry = load_table(name), ENTRIES[name]
    assert (data.task, data.target, data.y.shape) == (entry["task"], entry["target"], (entry["rows"],))
    if data.task == "regression":
        assert data.y.dtype == np.float64
        assert np.all(np.isfinite(data.y))
    else:
        labels, counts = np.unique(data.y, return_counts=True)
        assert data.y.dtype.kind in "iU"
        assert dict(zip(map(str, labels), counts.tolist(), strict=True)) == entry["class_counts"]
        assert (len(labels) == 2) == (data.task == "binary")


@every_table
def test_values_are_those_that_pandas_reads(name):
    """Without the integer names of levels, which pandas reads as floats where there are gaps."""
    data, entry = load_table(name), ENTRIES[name]
    plain = pd.read_csv(TABLES / f"{name}.csv.gz", keep_default_na=False, na_values=[""])
    assert [*data.X.columns, data.target] == list(plain.columns)
    for column in data.X.columns:
        found, expected = data.X[column].dropna(), plain[column].dropna()
        assert found.index.equals(expected.index), column
        if column in entry["date"]:
            expected = pd.to_datetime(expected.str.removesuffix("Z"))
        elif column in entry["integer_coded"]:
            found = found.astype(str).astype(float)
        assert np.array_equal(found, expected), column
    assert np.array_equal(data.y, plain[data.target])


def test_known_values():
    X, _ = load_table("ames_price")
    assert "None" in X["Mas.Vnr.Type"].cat.categories  # a level, not a gap
    assert X["Mas.Vnr.Type"].isna().any()
    assert X["MS.SubClass"].iloc[0] == "20"
    assert load_table("star_reading").X["schoolidk"].iloc[1] == "63"  # and not "63.0"
