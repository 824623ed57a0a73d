"""Training and test sets have the sizes of the protocols and share no row."""

from __future__ import annotations

import json

import numpy as np
import pytest

import evaluation.splits
from cgens.datasets import load, make_disc
from evaluation.splits import IDA_SETS, balanced_split
from experiments import splits
from experiments.experiment import FULL, QUICK
from experiments.registry import EXPERIMENTS
from tests.data_folder import needs_data


@pytest.fixture
def indices(monkeypatch) -> None:
    """Let splits return row indices instead of rows."""
    for module in (splits, evaluation.splits):
        monkeypatch.setattr(module, "take", lambda data, train, test: (np.asarray(train), np.asarray(test)))


@pytest.fixture
def small_sets(tmp_path, monkeypatch, indices):
    """A data folder with 100 rows of each data set; "binary" has two published splits and published sizes."""
    y = np.repeat([0, 1, 2], [50, 30, 20])
    arrays = {"X": np.zeros((100, 2)), "y": y, "classes": np.array(["a", "b", "c"])}
    one = {"train_idx": np.arange(0, 100, 2), "test_idx": np.arange(1, 100, 2)}
    order = np.random.default_rng(50).permutation(100)
    two = {"train_splits": np.stack([order[:60], order[40:]]), "test_splits": np.stack([order[60:90], order[:30]])}
    for name in ("binary", "wine", "spambase", "scene15_gist", "pascal07", "sun", "mnist", "cifar10_gist"):
        own = {"binary": two, "mnist": one, "cifar10_gist": one}.get(name, {})
        np.savez(tmp_path / f"{name}.npz", **arrays, **own)
    protocol = {"ida_protocol": {"n_train": 60, "n_test": 30}}
    (tmp_path / "MANIFEST.json").write_text(json.dumps({"datasets": {"binary": protocol}}))
    monkeypatch.setenv("CGENS_DATA", str(tmp_path))
    return y


def assert_split(found, n_train: int, n_test: int) -> None:
    assert tuple(map(len, found)) == (n_train, n_test)
    assert len(np.unique(np.concatenate(found))) == n_train + n_test, "no row is used twice"


@pytest.mark.usefixtures("small_sets")
def test_published_splits_come_first_then_random_ones_of_the_published_sizes():
    found = [splits.published_split("binary", run, FULL) for run in range(6)]
    for run, split in enumerate(found):
        assert_split(split, 60, 30)
        if run < 2:
            assert all(np.array_equal(*parts) for parts in zip(split, load("binary").splits[run], strict=True))
    assert len({tuple(np.sort(train)) for train, _ in found}) == 6
    assert np.array_equal(splits.published_split("binary", 3, FULL)[0], found[3][0]), "a run always has the same split"
    with pytest.raises(ValueError, match=r"wine .* has no published sizes"):
        splits.published_split("wine", 0, FULL)


@pytest.mark.usefixtures("small_sets")
def test_splits_of_the_other_tables():
    for name, sizes in {"wine": (75, 25), "pascal07": (70, 30), "sun": (80, 20)}.items():
        assert_split(splits.multiclass_split(name, 0, FULL), *sizes)
    assert_split(splits.spam_split("spambase", 0, FULL), 60, 40)
    train, test = splits.multiclass_split("cifar10_gist", 0, FULL)
    assert (train.tolist(), test.tolist()) == (list(range(0, 100, 2)), list(range(1, 100, 2)))
    assert len({tuple(splits.multiclass_split("wine", run, FULL)[0]) for run in range(4)}) == 4
    for effort in (QUICK, FULL):
        assert {"pascal07", "labelme", "sun"} & set(EXPERIMENTS["table3"].datasets(effort)) == {"pascal07", "sun"}


def test_splits_with_a_number_of_rows_per_class(small_sets):
    found = splits.per_class_split("scene15_gist", 0, 15)
    assert_split(found, 45, 55)
    assert np.bincount(small_sets[found[0]]).tolist() == [15, 15, 15]
    found = balanced_split("mnist", 8, 0)
    assert_split(found, 24, 50)
    assert np.bincount(small_sets[found[0]]).tolist() == [8, 8, 8]
    assert np.all(found[0] % 2 == 0), "of the published training set"
    assert found[1].tolist() == list(range(1, 100, 2)), "the published test set"
    assert_split(splits.multiclass_split("scene15_gist", 0, FULL), 100, 0)
    assert_split(splits.multiclass_split("mnist", 0, QUICK), 50, 50)


def test_the_disc():
    split, (X, y) = splits.disc_split("disc", 1, FULL), make_disc(12_000, random_state=1)
    assert (len(split.X), len(split.X_test)) == (2000, 10_000)
    assert np.array_equal(np.concatenate([split.X, split.X_test]), X)
    assert np.array_equal(np.concatenate([split.y, split.y_test]), y)


@needs_data
@pytest.mark.parametrize("name", IDA_SETS)
@pytest.mark.usefixtures("indices")
def test_published_data_sets(name):
    data = load(name)
    assert len(data.splits) == {"heart": 10, "ringnorm": 10, "banana": 1, "twonorm": 1, "waveform": 1}.get(name, 0)
    for run in range(EXPERIMENTS["table1"].runs(name)):
        assert_split(splits.published_split(name, run, FULL), *data.split_sizes)
