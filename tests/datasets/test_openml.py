"""What is fetched from OpenML. There is no network here: scikit-learn's function is replaced."""

from __future__ import annotations

import json
import os
from http.client import IncompleteRead
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from cgens.datasets import fetch, load, openml
from tests.datasets.files import save, sha256, truncated
from tests.sentences import assert_one_sentence


@pytest.fixture
def flowers():
    bunch = load_iris()
    return SimpleNamespace(
        data=bunch.data, target=bunch.target_names[bunch.target].astype(object), feature_names=bunch.feature_names
    )


@pytest.fixture
def network(monkeypatch):
    """Give a function that says what the network answers, and returns the list of what it was asked."""

    def answer(with_what) -> list[dict]:
        asked = []

        def fetch_openml(**options):
            asked.append(options)
            if isinstance(with_what, BaseException):
                raise with_what
            return with_what

        monkeypatch.setattr(openml, "fetch_openml", fetch_openml)
        return asked

    return answer


def test_fetch(tmp_path, network, flowers):
    asked = network(flowers)
    data = fetch("iris", tmp_path / "made" / "here")
    folder = tmp_path / "made" / "here"
    assert sorted(path.name for path in folder.iterdir()) == ["MANIFEST.json", "iris.npz"]
    entry = json.loads((folder / "MANIFEST.json").read_text())["datasets"]["iris"]
    assert entry["sha256"] == sha256(folder / "iris.npz")
    assert entry["source"] == "OpenML 61"
    assert len(asked) == 1
    assert asked[0]["data_id"] == 61
    assert asked[0]["cache"] is False
    for found in (data, load("iris", folder)):
        assert np.array_equal(found.X, flowers.data.astype(np.float32))
        assert found.classes == ("setosa", "versicolor", "virginica")
        assert [found.classes[label] for label in found.y] == flowers.target.tolist()
        assert found.feature_names == tuple(flowers.feature_names)
        assert found.origin == str(folder / "iris.npz")
        assert found.splits == ()


def test_fetch_finds_a_change_later(tmp_path, network, flowers):
    network(flowers)
    fetch("iris", tmp_path)
    truncated(tmp_path / "iris.npz")
    with pytest.raises(ValueError, match="SHA-256"):
        load("iris", tmp_path)


def test_fetch_of_sparse_rows(tmp_path, network, flowers):
    flowers.data = sparse.csr_matrix(flowers.data)
    network(flowers)
    assert np.array_equal(fetch("iris", tmp_path).X, flowers.data.toarray().astype(np.float32))


def test_fetch_of_a_set_with_a_published_split(tmp_path, network, flowers, monkeypatch):
    monkeypatch.setitem(openml._FIRST_FOR_TRAINING, "iris", 100)
    network(flowers)
    ((train, test),) = fetch("iris", tmp_path).splits
    assert train.tolist() == list(range(100))
    assert test.tolist() == list(range(100, 150))


def test_fetch_keeps_what_the_manifest_has(tmp_path, network, flowers):
    others = {"wine": {"sha256": "1" * 64, "licence": "free"}, "iris": {"sha256": "old", "source": "of old"}}
    (tmp_path / "MANIFEST.json").write_text(json.dumps({"format": "npz", "datasets": others, "note": [1, 2]}))
    network(flowers)
    fetch("iris", tmp_path)
    manifest = json.loads((tmp_path / "MANIFEST.json").read_text())
    assert manifest["format"] == "npz"
    assert manifest["note"] == [1, 2]
    assert manifest["datasets"]["wine"] == others["wine"]
    assert set(manifest["datasets"]) == {"wine", "iris"}
    assert manifest["datasets"]["iris"]["sha256"] == sha256(tmp_path / "iris.npz")


def fewer_rows(bunch) -> None:
    bunch.data, bunch.target = bunch.data[:-1], bunch.target[:-1]


def fewer_columns(bunch) -> None:
    bunch.data = bunch.data[:, :-1]


def fewer_classes(bunch) -> None:
    bunch.target[bunch.target == "setosa"] = "virginica"


@pytest.mark.parametrize("change", [fewer_rows, fewer_columns, fewer_classes])
def test_fetch_refuses_another_set(tmp_path, network, flowers, change):
    change(flowers)
    network(flowers)
    with pytest.raises(ValueError, match=r"'iris' is not the expected one.*Nothing was saved") as raised:
        fetch("iris", tmp_path / "folder")
    assert_one_sentence(str(raised.value))
    assert list(tmp_path.iterdir()) == []


def test_fetch_does_not_overwrite(tmp_path, network, flowers):
    asked, path = network(flowers), save(tmp_path, "iris")
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match="there already") as raised:
        fetch("iris", tmp_path)
    assert str(path) in str(raised.value)
    assert_one_sentence(str(raised.value))
    assert path.read_bytes() == before
    assert asked == []
    assert [file.name for file in tmp_path.iterdir()] == ["iris.npz"]


@pytest.mark.parametrize(
    "error",
    [
        URLError("Name or service not known"),
        TimeoutError("timed out"),
        ConnectionResetError(104, "Connection reset by peer"),
        IncompleteRead(b"half"),
        EOFError("Compressed file ended before the end-of-stream marker was reached"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_fetch_without_network(tmp_path, network, error):
    network(error)
    with pytest.raises(OSError, match=r"OpenML did not give 'iris' \(set 61\).*put iris\.npz") as raised:
        fetch("iris", tmp_path / "folder")
    assert str(error) in str(raised.value)
    assert_one_sentence(str(raised.value))
    assert raised.value.__cause__ is error
    assert list(tmp_path.iterdir()) == []


def test_fetch_of_an_unknown_set(tmp_path, network, flowers):
    asked = network(flowers)
    with pytest.raises(ValueError, match=r"No data set 'flowers'.*known are banana, .*\bmnist\b") as raised:
        fetch("flowers", tmp_path)
    assert_one_sentence(str(raised.value))
    assert asked == []
    assert list(tmp_path.iterdir()) == []


def test_fetch_into_a_folder_without_rights(tmp_path, network, flowers, forbid):
    network(flowers)
    forbid(tmp_path, writing=True)
    with pytest.raises(PermissionError, match="No right to write into") as raised:
        fetch("iris", tmp_path)
    assert str(tmp_path) in str(raised.value)
    assert_one_sentence(str(raised.value))


def test_fetch_beside_a_damaged_manifest(tmp_path, network, flowers):
    network(flowers)
    (tmp_path / "MANIFEST.json").write_text("{")
    with pytest.raises(ValueError, match=r"MANIFEST\.json is damaged"):
        fetch("iris", tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["MANIFEST.json"]
    assert (tmp_path / "MANIFEST.json").read_text() == "{"


@pytest.mark.parametrize("killed_at", [1, 2])
def test_fetch_that_is_killed_leaves_no_wrong_entry(tmp_path, network, flowers, monkeypatch, killed_at):
    """Whether before the file or before the manifest is in its place."""
    network(flowers)
    replace, calls = os.replace, []

    def killed(*paths):
        calls.append(paths)
        if len(calls) == killed_at:
            raise KeyboardInterrupt
        replace(*paths)

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        fetch("iris", tmp_path)
    monkeypatch.setattr(os, "replace", replace)
    assert not (tmp_path / "MANIFEST.json").exists()
    if killed_at == 2:
        assert load("iris", tmp_path).X.shape == (150, 4)
    else:
        assert fetch("iris", tmp_path).X.shape == (150, 4)
