"""`load_table` finds tables by name and gives each column its type; errors name the file and what to do."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cgens.datasets import TableDataset, load_table
from tests.datasets.files import save_table, save_table_manifest, sha256

TEXT = """\
size,kind,code,seen,flag,full,y
1.5,None,7,2020-01-31,True,3,10
,NA,,,,4,12
-2,,010,1999-12-31T23:30:00Z,False,5,11
0,a b,2,,True,6,13
"""
ENTRY = {"target": "y", "task": "regression", "categorical": ["kind", "code"], "date": ["seen"]}


def save(folder: Path, text: str | bytes = TEXT, name: str = "rows", **fields) -> Path:
    """Write a table and a manifest that lists only this table."""
    path = save_table(folder, text, name)
    save_table_manifest(folder, **{name: ENTRY | fields})
    return path


@pytest.fixture
def tables(tmp_path, monkeypatch) -> Path:
    """The folder of tables, still empty, beside the one that CGENS_DATA names."""
    for name in ("data", "tables"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("CGENS_DATA", str(tmp_path / "data"))
    return tmp_path / "tables"


# Where it is found.


def test_beside_the_data_folder_or_in_the_given_folder(tables, tmp_path, monkeypatch):
    save(tables)
    monkeypatch.chdir(tmp_path / "data")
    for data_dir in (None, tables, str(tables), tmp_path / "data", ".", "../tables"):
        assert load_table("rows", data_dir).y.tolist() == [10, 12, 11, 13]
    monkeypatch.setenv("CGENS_DATA", str(tables))
    assert len(load_table("rows").X) == 4


def test_a_folder_with_tables_of_its_own_comes_first(tables, tmp_path):
    save(tables)
    save(tmp_path / "data", "a,y\n1,2\n", categorical=[], date=[])
    assert load_table("rows").y.tolist() == [2]
    assert len(load_table("rows", tables).y) == 4


@pytest.mark.parametrize("setting", ["data_dir", "CGENS_DATA"])
def test_a_folder_that_does_not_exist(tables, monkeypatch, setting):
    """The folder beside it is not searched."""
    for place in (tables.parent / "typo", save(tables)):  # the second is a file
        monkeypatch.setenv("CGENS_DATA", str(place))
        with pytest.raises(FileNotFoundError, match=f"'rows'.*{setting}.*'{place}'.*folder"):
            load_table("rows", place if setting == "data_dir" else None)


@pytest.mark.parametrize("value", [None, ""])
def test_no_folder_is_set(tables, monkeypatch, value):
    save(tables)
    monkeypatch.chdir(tables)
    monkeypatch.delenv("CGENS_DATA")
    if value is not None:
        monkeypatch.setenv("CGENS_DATA", value)
    with pytest.raises(FileNotFoundError, match=r"'rows'.*no data folder is set.*data_dir.*CGENS_DATA"):
        load_table("rows")


def test_no_tables_in_either_folder(tables):
    with pytest.raises(FileNotFoundError, match=r"'rows'.*NAME\.csv\.gz.*data_dir.*CGENS_DATA") as raised:
        load_table("rows")
    assert {str(tables), str(tables.parent / "data")} <= set(re.split(r"\s", str(raised.value)))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rwos", r"rwos\.csv\.gz is not in .*Did you mean 'rows'\?"),
        ("qqq", r"qqq\.csv\.gz is not in .*Known tables: rows\."),
        ("unlisted", r"MANIFEST\.json does not describe it.*Known tables: rows\."),
        ("removed", r"removed\.csv\.gz is not in .*Known tables: rows\."),
    ],
)
def test_advice_for_a_table_that_is_not_found(tables, name, message):
    save(tables)
    save_table(tables, TEXT, "unlisted")
    save_table_manifest(tables, rows=ENTRY, removed=ENTRY)
    with pytest.raises(FileNotFoundError, match=f"No table '{name}': .*{message}") as raised:
        load_table(name)
    assert str(tables) in str(raised.value)


def test_tables_without_a_manifest(tables):
    save(tables)
    (tables / "MANIFEST.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"MANIFEST\.json does not describe it: its target.*Known tables: none"):
        load_table("rows")


@pytest.mark.parametrize("name", ["../rows", "/rows", "", "rows/", "a\\b", "rows\n", None, 3])
def test_a_name_is_not_a_path(tables, name):
    save(tables)
    (tables / "inner").mkdir()
    with pytest.raises(ValueError, match="data_dir") as raised:
        load_table(name, tables / "inner")
    assert repr(name) in str(raised.value)


def test_without_pandas(tables, monkeypatch):
    save(tables)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"load_table needs pandas: pip install 'cgens\[tables\]'"):
        load_table("rows")


# What a table holds.


def test_types_of_columns(tables):
    save(tables)
    data = load_table("rows")
    assert isinstance(data, TableDataset)
    X, y = data
    assert list(X.columns) == ["size", "kind", "code", "seen", "flag", "full"]
    assert X["size"].dtype == np.float64
    assert np.array_equal(X["size"], [1.5, np.nan, -2, 0], equal_nan=True)
    for name, levels, codes in [
        ("kind", ["NA", "None", "a b"], [1, 0, -1, 2]),
        ("code", ["010", "2", "7"], [2, -1, 0, 1]),  # integers with a gap, and a leading zero
    ]:
        assert X[name].cat.categories.tolist() == levels, name
        assert X[name].cat.codes.tolist() == codes, name
        assert not X[name].cat.ordered, name
    assert X["seen"].dtype == np.dtype("datetime64[ns]")
    assert X["seen"].isna().tolist() == [False, True, False, True]
    assert X["seen"].dropna().tolist() == [pd.Timestamp("2020-01-31"), pd.Timestamp("1999-12-31 23:30")]
    assert np.array_equal(X["flag"], [1, np.nan, 0, 1], equal_nan=True)
    assert X["flag"].dtype == np.float64
    assert X["full"].dtype == np.int64
    assert (y.dtype, y.tolist()) == (np.float64, [10, 12, 11, 13])


def test_metadata(tables):
    fields = {"origin": "somewhere", "licence": "CC0", "note": "short", "row_selection": "all", "dropped": {"id": "id"}}
    save(tables, **fields)
    data = load_table("rows")
    assert {key: getattr(data, key) for key in fields} == fields
    assert (data.name, data.target, data.task) == ("rows", "y", "regression")
    assert (data.categorical, data.dates) == (("kind", "code"), ("seen",))
    assert repr(data) == "<TableDataset rows: 4 rows, 6 features, 2 of them categorical, regression; somewhere>"
    save(tables)
    data = load_table("rows")
    assert (data.origin, data.licence, data.note, data.row_selection, data.dropped) == ("", "", "", "", {})


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["no", "yes", "NA"], np.array(["no", "yes", "NA"])),
        (["0", "1", "1"], np.array([0, 1, 1])),
        (["1", "b", "1"], np.array(["1", "b", "1"])),
    ],
)
def test_class_labels_stay_as_they_are(tables, labels, expected):
    text = "a,y\n" + "".join(f"0,{label}\n" for label in labels)
    save(tables, text, task="multiclass", categorical=[], date=[])
    y = load_table("rows").y
    assert y.dtype == expected.dtype
    assert np.array_equal(y, expected)


def test_a_column_of_gaps_and_the_target_in_the_middle(tables):
    save(tables, "kind,y,seen,size\n,1,,\n,2,,\n", categorical=["kind"])
    X, y = load_table("rows")
    assert list(X.columns) == ["kind", "seen", "size"]
    assert X.isna().all(axis=None)
    assert [str(dtype) for dtype in X.dtypes] == ["category", "datetime64[ns]", "float64"]
    assert y.tolist() == [1, 2]


# Damaged files.


def test_the_checksum_is_verified(tables):
    path = save(tables)
    save_table_manifest(tables, rows=ENTRY | {"sha256": sha256(path)})
    assert len(load_table("rows").y) == 4
    save_table(tables, TEXT.replace("1.5", "2.5"))
    with pytest.raises(ValueError, match=r"SHA-256.*MANIFEST\.json") as raised:
        load_table("rows")
    assert str(path) in str(raised.value)
    assert sha256(path)[:12] in str(raised.value)


DAMAGES = {
    "truncated": (lambda path: path.write_bytes(path.read_bytes()[:-20]), "not a table"),
    "not compressed": (lambda path: path.write_text(TEXT), "not a table"),
    "no content": (lambda path: path.write_bytes(b""), "not a table"),
    "no lines": (lambda path: save_table(path.parent, ""), "not a table"),
    "not UTF-8": (lambda path: save_table(path.parent, TEXT.replace("a b", "é").encode("latin-1")), "not a table"),
    "too many fields": (lambda path: save_table(path.parent, TEXT + "1,2,3,4,5,6,7,8\n"), "not a table"),
    "short header": (lambda path: save_table(path.parent, TEXT.replace("size,kind", "kind")), "not a table"),
    "no target": (lambda path: save_table(path.parent, TEXT.replace("full,y", "full,z")), "no column 'y'"),
    "no category": (lambda path: save_table(path.parent, TEXT.replace("kind", "sort")), "no column 'kind'"),
    "no date": (lambda path: save_table(path.parent, TEXT.replace("seen", "day")), "no column 'seen'"),
    "invalid date": (lambda path: save_table(path.parent, TEXT.replace("2020-01-31", "31 Jan")), "'seen'.*ISO 8601"),
    "text": (lambda path: save_table(path.parent, TEXT.replace("1.5", "big")), "'size'.*not numeric.*categorical"),
    "target with gaps": (lambda path: save_table(path.parent, TEXT.replace("6,13", "6,")), "'y'.*gaps"),
    "target of text": (lambda path: save_table(path.parent, TEXT.replace("6,13", "6,x")), "'y'.*not numeric"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file(tables, damage):
    path = save(tables)
    spoil, message = DAMAGES[damage]
    spoil(path)
    with pytest.raises(ValueError, match=message) as raised:
        load_table("rows")
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "JSON"),
        (b"[]", '"tables"'),
        (b'{"datasets": {}}', '"tables"'),
        (b'{"tables": {"rows": 3}}', "'rows': 3"),
        (b'{"tables": {"rows": {"target": "y"}}}', "the task of 'rows' is ''.*binary, multiclass, regression"),
        (b'{"tables": {"rows": {"target": "y", "task": "ranking"}}}', "'ranking'.*binary, multiclass, regression"),
        (b'{"tables": {"rows": {"task": "binary"}}}', "'rows' has no target"),
        (b'{"tables": {"rows": {"target": 3, "task": "binary"}}}', "the target of 'rows' is 3"),
        (b'{"tables": {"rows": {"target": "y", "task": "binary", "date": "seen"}}}', "the date of 'rows' is 'seen'"),
        (b'{"tables": {"rows": {"target": "y", "task": "binary", "categorical": [1]}}}', r"categorical.*\[1\]"),
        (b'{"tables": {"rows": {"target": "y", "task": "binary", "sha256": 3}}}', "the sha256 of 'rows' is 3"),
    ],
)
def test_a_damaged_manifest(tables, content, message):
    save(tables)
    (tables / "MANIFEST.json").write_bytes(content)
    with pytest.raises(ValueError, match=message) as raised:
        load_table("rows")
    assert str(tables / "MANIFEST.json") in str(raised.value)


def test_a_file_that_cannot_be_read_is_not_called_damaged(tables):
    path = save(tables)
    path.unlink()
    path.symlink_to(tables / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"rows\.csv\.gz"):
        load_table("rows")
