"""The rows that the experiments train on and those that they test on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import benchmarks.data
from benchmarks.data import IDA_SETS, has_shared_data
from cgens.datasets import load
from experiments import splits
from experiments.experiment import FULL, QUICK
from experiments.registry import EXPERIMENTS
from tests.sentences import assert_one_sentence


def places_of(data, train, test):
    """Stands for `take`: the rows' places and not the rows."""
    return np.asarray(train), np.asarray(test)


@pytest.fixture
def small_sets(tmp_path, monkeypatch) -> Path:
    """A data folder; the functions tell places of rows."""
    labels = np.repeat([0, 1, 2], [50, 30, 20])
    arrays = {"X": np.arange(200.0).reshape(100, 2), "y": labels, "classes": np.array(["a", "b", "c"])}
    one = {"train_idx": np.arange(0, 100, 2), "test_idx": np.arange(1, 100, 2)}
    order = np.random.default_rng(5).permutation(100)
    two = {"train_splits": np.stack([order[:60], order[40:]]), "test_splits": np.stack([order[60:90], order[:30]])}
    for name in ("binary", "plain", "wine", "spambase", "scene15_gist", "pascal07", "labelme", "sun"):
        np.savez(tmp_path / f"{name}.npz", **arrays, **(two if name == "binary" else {}))
    for name in ("mnist", "cifar10_gist"):
        np.savez(tmp_path / f"{name}.npz", **arrays, **one)
    protocol = {"ida_protocol": {"n_train": 60, "n_test": 30}}
    (tmp_path / "MANIFEST.json").write_text(json.dumps({"datasets": {"binary": protocol}}))
    monkeypatch.setenv("CGENS_DATA", str(tmp_path))
    monkeypatch.setattr(splits, "take", places_of)
    monkeypatch.setattr(benchmarks.data, "take", places_of)
    return tmp_path


def assert_split(found, n_train: int, n_test: int) -> None:
    train, test = found
    assert (len(train), len(test)) == (n_train, n_test)
    assert len(np.unique(np.concatenate([train, test]))) == n_train + n_test, "no row is in twice"


@pytest.mark.usefixtures("small_sets")
def test_the_canonical_splits_come_first():
    data = load("binary")
    for run_ in range(2):
        found = splits.published_split("binary", run_, FULL)
        assert np.array_equal(found[0], data.splits[run_][0])
        assert np.array_equal(found[1], data.splits[run_][1])


@pytest.mark.usefixtures("small_sets")
def test_the_others_are_random_of_the_published_sizes():
    found = [splits.published_split("binary", run_, FULL) for run_ in range(2, 7)]
    for split in found:
        assert_split(split, 60, 30)
    assert len({tuple(np.sort(train)) for train, _ in found}) == 5
    again = splits.published_split("binary", 3, FULL)
    assert np.array_equal(again[0], found[1][0]), "the same run is the same split"


@pytest.mark.usefixtures("small_sets")
def test_a_set_without_published_sizes():
    with pytest.raises(ValueError, match=r"plain .* has no published sizes") as raised:
        splits.published_split("plain", 0, FULL)
    assert_one_sentence(str(raised.value))


@pytest.mark.usefixtures("small_sets")
def test_splits_of_the_sets_of_many_classes():
    assert_split(splits.multiclass_split("wine", 0, FULL), 75, 25)
    assert_split(splits.multiclass_split("pascal07", 0, FULL), 70, 30)
    assert_split(splits.multiclass_split("labelme", 0, FULL), 70, 30)
    assert_split(splits.multiclass_split("sun", 0, FULL), 80, 20)
    assert_split(splits.spam_split("spambase", 0, FULL), 60, 40)
    train, test = splits.multiclass_split("cifar10_gist", 0, FULL)
    assert train.tolist() == list(range(0, 100, 2))
    assert test.tolist() == list(range(1, 100, 2))
    runs = [splits.multiclass_split("wine", run_, FULL)[0] for run_ in range(4)]
    assert len({tuple(np.sort(train)) for train in runs}) == 4


@pytest.mark.parametrize("effort", [QUICK, FULL])
def test_sets_that_are_brought_are_in_the_third_table(small_sets, effort):
    (small_sets / "labelme.npz").unlink()
    assert {"pascal07", "labelme", "sun"} & set(EXPERIMENTS["table3"].datasets(effort)) == {"pascal07", "sun"}


@pytest.mark.usefixtures("small_sets")
def test_so_many_rows_of_each_class():
    labels = load("plain").y
    found = splits.per_class_split("plain", 0, 15)
    assert_split(found, 45, 55)
    assert np.bincount(labels[found[0]]).tolist() == [15, 15, 15]
    found = benchmarks.data.balanced("mnist", 8, 0)
    assert_split(found, 24, 50)
    assert np.bincount(labels[found[0]]).tolist() == [8, 8, 8]
    assert np.all(found[0] % 2 == 0), "out of the training rows"
    assert found[1].tolist() == list(range(1, 100, 2)), "all test rows"


def test_points_of_the_disc():
    split, again = splits.disc_split("disc", 1, FULL), splits.disc_split("disc", 1, FULL)
    assert split.X.shape == (2000, 2)
    assert split.X_test.shape == (10_000, 2)
    for X, y in ((split.X, split.y), (split.X_test, split.y_test)):
        assert np.array_equal(y == 1, np.hypot(*X.T) < 1.0)
    assert np.array_equal(split.X, again.X)
    assert not np.array_equal(split.X, splits.disc_split("disc", 2, FULL).X)


@pytest.mark.skipif(not has_shared_data("banana"), reason="no shared data: set CGENS_DATA")
@pytest.mark.parametrize("name", IDA_SETS)
def test_splits_of_the_shared_binary_sets(name, monkeypatch):
    monkeypatch.setattr(splits, "take", places_of)
    data = load(name)
    for run_ in range(EXPERIMENTS["table1"].runs(name)):
        found = splits.published_split(name, run_, FULL)
        assert_split(found, *data.sizes)
        if run_ < len(data.splits):
            assert np.array_equal(found[0], data.splits[run_][0])
            assert np.array_equal(found[1], data.splits[run_][1])
    assert sum(data.sizes) <= len(data.y)
    assert len(data.splits) == {"heart": 10, "ringnorm": 10, "banana": 1, "twonorm": 1, "waveform": 1}.get(name, 0)
