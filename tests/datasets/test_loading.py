"""Data sets are found where they should be, and hold what their files hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from cgens.datasets import (
    Dataset,
    data_folders,
    load,
    make_disc,
    make_ringnorm,
    make_two_spirals,
    make_twonorm,
    make_waveform,
)
from tests.datasets.files import X, Y, save, save_manifest


def test_from_a_folder(tmp_path):
    path = save(tmp_path)
    data = load("rows", tmp_path)
    assert isinstance(data, Dataset)
    assert np.array_equal(data.X, X)
    assert np.array_equal(data.y, Y)
    assert (data.name, data.origin) == ("rows", str(path))
    assert (data.classes, data.feature_names, data.splits, data.sizes, data.extras) == ((), (), (), None, {})
    assert load("rows", str(tmp_path)).origin == str(path)


def test_it_unpacks(tmp_path):
    save(tmp_path)
    rows, labels = load("rows", tmp_path)
    assert np.array_equal(rows, X)
    assert np.array_equal(labels, Y)


def test_from_the_folder_that_the_environment_names(tmp_path, monkeypatch):
    path = save(tmp_path / "mine")
    monkeypatch.setenv("CGENS_DATA", str(tmp_path / "mine"))
    assert data_folders() == [tmp_path / "mine"]
    assert load("rows").origin == str(path)


@pytest.mark.parametrize("named", [None, ""])
def test_from_the_folder_beside_this_one(tmp_path, monkeypatch, named):
    monkeypatch.delenv("CGENS_DATA", raising=False)
    if named is not None:
        monkeypatch.setenv("CGENS_DATA", named)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    path = save(tmp_path / "shared" / "data")
    assert data_folders()[0] == path.parent
    assert load("rows").origin == str(path)


def test_a_checkout_has_its_folder_beside_it(tmp_path, monkeypatch):
    monkeypatch.delenv("CGENS_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    checkout = Path(__file__).resolve().parents[2]
    assert data_folders() == [tmp_path.parent / "shared" / "data", checkout.parent / "shared" / "data"]
    monkeypatch.chdir(checkout)
    assert data_folders() == [checkout.parent / "shared" / "data"], "one and the same is looked at once"


def test_data_dir_alone_is_looked_at(tmp_path, monkeypatch):
    save(tmp_path / "environment")
    save(tmp_path / "given", "other")
    monkeypatch.setenv("CGENS_DATA", str(tmp_path / "environment"))
    with pytest.raises(FileNotFoundError, match=r"No data set 'rows'") as raised:
        load("rows", tmp_path / "given")
    assert str(tmp_path / "given") in str(raised.value)
    assert str(tmp_path / "environment") not in str(raised.value)
    for name in ("wine", "twonorm"):  # bundled, and drawn
        with pytest.raises(FileNotFoundError, match=name):
            load(name, tmp_path / "given")


def test_a_file_goes_before_what_is_bundled_or_drawn(tmp_path, monkeypatch):
    monkeypatch.setenv("CGENS_DATA", str(tmp_path))
    for name in ("wine", "twonorm"):
        path = save(tmp_path, name)
        data = load(name)
        assert data.X.shape == X.shape
        assert data.origin == str(path)


@pytest.mark.parametrize(
    ("name", "original"),
    [
        ("iris", load_iris),
        ("wine", load_wine),
        ("digits", load_digits),
        ("breast_cancer_wisconsin", load_breast_cancer),
    ],
)
@pytest.mark.usefixtures("no_shared_data")
def test_bundled(name, original):
    data, bunch = load(name), original()
    assert np.array_equal(data.X, bunch.data)
    assert np.array_equal(data.y, bunch.target)
    assert data.classes == tuple(map(str, bunch.target_names))
    assert data.feature_names == tuple(bunch.feature_names)
    assert data.origin == "bundled with scikit-learn"
    assert len(data.classes) == len(np.unique(data.y))


@pytest.mark.parametrize(
    ("name", "make", "shape"),
    [
        ("twonorm", make_twonorm, (7400, 20)),
        ("ringnorm", make_ringnorm, (7400, 20)),
        ("waveform", make_waveform, (5000, 21)),
        ("disc", make_disc, (2000, 2)),
        ("two_spirals", make_two_spirals, (2000, 2)),
    ],
)
@pytest.mark.usefixtures("no_shared_data")
def test_drawn(name, make, shape):
    data, (rows, labels) = load(name), make(shape[0], random_state=0)
    assert data.X.shape == shape
    assert data.X.tobytes() == rows.tobytes()
    assert np.array_equal(data.y, labels)
    assert data.classes == ("0", "1")
    assert data.origin == f"drawn by cgens.datasets.{make.__name__}"
    published = {"twonorm": (400, 7000), "ringnorm": (400, 7000), "waveform": (400, 4600)}
    assert data.sizes == published.get(name)


@pytest.mark.usefixtures("no_shared_data")
def test_its_words():
    assert repr(load("iris")) == "<Dataset iris: 150 rows, 4 features, 3 classes; bundled with scikit-learn>"
    assert "regression" in repr(Dataset("prices", X, Y.astype(float)))


# What a file holds.


def test_names_and_extras(tmp_path):
    save(tmp_path, classes=np.array(["no", "yes"]), feature_names=np.array(["a", "b", "c"]), speaker=np.arange(8))
    data = load("rows", tmp_path)
    assert data.classes == ("no", "yes")
    assert data.feature_names == ("a", "b", "c")
    assert list(data.extras) == ["speaker"]
    assert np.array_equal(data.extras["speaker"], np.arange(8))


def test_one_canonical_split(tmp_path):
    save(tmp_path, train_idx=np.arange(5), test_idx=np.arange(5, 8))
    data = load("rows", tmp_path)
    assert [[part.tolist() for part in split] for split in data.splits] == [[[0, 1, 2, 3, 4], [5, 6, 7]]]
    assert data.extras == {}


def test_several_canonical_splits(tmp_path):
    train, test = np.array([[0, 1], [2, 3], [6, 7]]), np.array([[4], [5], [0]])
    save(tmp_path, train_splits=train, test_splits=test)
    data = load("rows", tmp_path)
    assert len(data.splits) == 3
    for k, (first, second) in enumerate(data.splits):
        assert np.array_equal(first, train[k])
        assert np.array_equal(second, test[k])
    assert data.extras == {}


def test_sizes_of_the_published_protocol(tmp_path):
    save(tmp_path)
    save_manifest(tmp_path, rows={"ida_protocol": {"n_train": 5, "n_test": 2, "n_splits": 100}})
    assert load("rows", tmp_path).sizes == (5, 2)


def test_a_set_that_has_but_the_name_of_a_published_one_has_no_sizes(tmp_path):
    """Its columns may have other units: experiments that need the published version must not take it."""
    save(tmp_path, "heart")
    assert load("heart", tmp_path).sizes is None


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int64, bool])
def test_integers_become_floats(tmp_path, kind):
    """Differences of unsigned numbers would wrap around."""
    save(tmp_path, X=(X > 3).astype(kind))
    rows, _ = load("rows", tmp_path)
    assert rows.dtype.kind == "f"
    assert np.array_equal(rows, X > 3)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_floats_stay_as_they_are(tmp_path, kind):
    gaps = X.astype(kind)
    gaps[2, 1] = np.nan
    save(tmp_path, X=gaps)
    rows, _ = load("rows", tmp_path)
    assert rows.dtype == kind
    assert rows.tobytes() == gaps.tobytes()
