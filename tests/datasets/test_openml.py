"""`fetch` downloads from OpenML; here scikit-learn's download function is replaced."""

from __future__ import annotations

import json
from http.client import IncompleteRead
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from cgens.datasets import fetch, load, openml
from tests.datasets.files import save, sha256


@pytest.fixture
def flowers():
    bunch = load_iris()
    bunch.target = bunch.target_names[bunch.target].astype(object)
    return bunch


@pytest.fixture
def network(monkeypatch, flowers):
    """Replace OpenML by one data set, and record the requests."""
    network = SimpleNamespace(answer=flowers, requests=[])

    def fetch_openml(**options):
        network.requests.append(options)
        if isinstance(network.answer, BaseException):
            raise network.answer
        return network.answer

    monkeypatch.setattr(openml, "fetch_openml", fetch_openml)
    return network


def files_in(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_is_downloaded_can_be_loaded(tmp_path, network, flowers):
    folder = tmp_path / "new" / "folder"
    data = fetch("iris", folder)
    assert files_in(folder) == ["MANIFEST.json", "iris.npz"]
    entry = json.loads((folder / "MANIFEST.json").read_text())["datasets"]["iris"]
    assert entry == {"sha256": sha256(folder / "iris.npz"), "source": "OpenML 61"}
    (request,) = network.requests
    assert (request["data_id"], request["cache"]) == (61, False)
    for found in (data, load("iris", folder)):
        assert np.array_equal(found.X, flowers.data.astype(np.float32))
        assert found.classes == ("setosa", "versicolor", "virginica")
        assert [found.classes[label] for label in found.y] == flowers.target.tolist()
        assert found.feature_names == tuple(flowers.feature_names)
        assert (found.origin, found.splits) == (str(folder / "iris.npz"), ())
    (folder / "iris.npz").write_bytes((folder / "iris.npz").read_bytes()[:-30])
    with pytest.raises(ValueError, match="SHA-256"):
        load("iris", folder)


def test_sparse_data_with_a_published_split(tmp_path, network, flowers, monkeypatch):
    flowers.data = sparse.csr_matrix(flowers.data)
    monkeypatch.setitem(openml._N_TRAIN, "iris", 100)
    data = fetch("iris", tmp_path)
    assert np.array_equal(data.X, flowers.data.toarray().astype(np.float32))
    ((train, test),) = data.splits
    assert (train.tolist(), test.tolist()) == (list(range(100)), list(range(100, 150)))


@pytest.mark.usefixtures("network")
def test_other_content_of_the_manifest_is_kept(tmp_path):
    others = {"wine": {"sha256": "1" * 64, "licence": "free"}, "iris": {"sha256": "old", "source": "old"}}
    (tmp_path / "MANIFEST.json").write_text(json.dumps({"format": "npz", "datasets": others, "note": [1, 2]}))
    fetch("iris", tmp_path)
    manifest = json.loads((tmp_path / "MANIFEST.json").read_text())
    assert (manifest["format"], manifest["note"], manifest["datasets"]["wine"]) == ("npz", [1, 2], others["wine"])
    assert set(manifest["datasets"]) == {"wine", "iris"}
    assert manifest["datasets"]["iris"]["sha256"] == sha256(tmp_path / "iris.npz")


@pytest.mark.parametrize(("rows", "columns", "classes"), [(149, 4, 3), (150, 3, 3), (150, 4, 2)])
@pytest.mark.usefixtures("network")
def test_a_data_set_of_another_size_is_not_saved(tmp_path, flowers, rows, columns, classes):
    flowers.data, flowers.target = flowers.data[:rows, :columns], flowers.target[:rows]
    if classes == 2:
        flowers.target[flowers.target == "setosa"] = "virginica"
    with pytest.raises(ValueError, match=r"'iris'.*saved"):
        fetch("iris", tmp_path)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize(
    "error",
    [URLError("unknown host"), TimeoutError("timed out"), IncompleteRead(b"half"), EOFError("compressed file ended")],
    ids=lambda error: type(error).__name__,
)
def test_a_failed_download(tmp_path, network, error):
    network.answer = error
    with pytest.raises(OSError, match=r"'iris'.*\b61\b.*iris\.npz") as raised:
        fetch("iris", tmp_path)
    assert str(error) in str(raised.value)
    assert raised.value.__cause__ is error
    assert files_in(tmp_path) == []


def test_an_unknown_data_set(tmp_path, network):
    with pytest.raises(ValueError, match=r"'flowers'.*banana, .*\bmnist\b"):
        fetch("flowers", tmp_path / "folder")
    assert (network.requests, files_in(tmp_path)) == ([], [])


@pytest.mark.parametrize(
    ("obstacle", "error", "message"),
    [
        (lambda folder: save(folder, "iris"), FileExistsError, r"iris\.npz"),
        (lambda folder: (folder / "MANIFEST.json").write_text("{"), ValueError, r"MANIFEST\.json"),
        (lambda folder: (folder / "MANIFEST.json").mkdir(), IsADirectoryError, r"MANIFEST\.json"),
        (lambda folder: (folder.rmdir(), folder.write_text("")), FileExistsError, "folder"),
    ],
    ids=["file exists", "damaged manifest", "unreadable manifest", "not a folder"],
)
def test_nothing_is_downloaded_into_a_folder_that_cannot_take_it(tmp_path, network, obstacle, error, message):
    folder = tmp_path / "folder"
    folder.mkdir()
    obstacle(folder)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(error, match=message):
        fetch("iris", folder)
    assert network.requests == []
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("interrupted", ["iris.npz", "MANIFEST.json"])
@pytest.mark.usefixtures("network")
def test_an_interruption_leaves_no_wrong_manifest(tmp_path, interrupted):
    """A folder in the place of its temporary file keeps a file from being written."""
    (tmp_path / f".{interrupted}.part").mkdir()
    with pytest.raises(IsADirectoryError):
        fetch("iris", tmp_path)
    assert not (tmp_path / "MANIFEST.json").exists()
    (tmp_path / f".{interrupted}.part").rmdir()
    assert (load if interrupted == "MANIFEST.json" else fetch)("iris", tmp_path).X.shape == (150, 4)
