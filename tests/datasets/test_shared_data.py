"""The shared data are as their manifest states, and as the drawn sets."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks.data import IDA_SETS, has_shared_data
from cgens.datasets import data_folders, load, make_ringnorm, make_twonorm, make_waveform
from tests.datasets.drawn import MANY, assert_share
from tests.tolerances import SIGMAS

shared = pytest.mark.skipif(not has_shared_data("banana"), reason="no shared data: set CGENS_DATA")


@shared
@pytest.mark.slow
def test_every_file_of_the_manifest_loads_as_stated():
    folder = next(folder for folder in data_folders() if (folder / "MANIFEST.json").is_file())
    datasets = json.loads((folder / "MANIFEST.json").read_text())["datasets"]
    assert set(IDA_SETS) <= set(datasets)
    for name, about in datasets.items():
        data = load(name, folder)
        assert data.X.shape == (about["rows"], about["columns"]), name
        assert data.X.dtype.kind == "f", name
        if about["task"] == "classification":
            counts = dict(zip(data.classes, np.bincount(data.y, minlength=len(data.classes)).tolist(), strict=True))
            assert counts == about["class_counts"], name
        else:
            assert data.classes == (), name
        for train, test in data.splits:
            assert len(np.intersect1d(train, test)) == 0, name
            assert max(train.max(), test.max()) < len(data.y), name
            assert data.sizes in (None, (len(train), len(test))), name


@shared
@pytest.mark.parametrize(
    ("name", "make", "share"),
    [("twonorm", make_twonorm, 1 / 2), ("ringnorm", make_ringnorm, 1 / 2), ("waveform", make_waveform, 1 / 3)],
)
def test_the_drawn_sets_are_like_the_published_ones(name, make, share):
    """The published columns have the mean 0 and the variance 1: the drawn ones are brought to that."""
    published, (rows, labels) = load(name), make(MANY, random_state=0)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    assert_share(published.y, share)
    for label in (0, 1):
        ours, theirs = rows[labels == label], published.X[published.y == label].astype(float)
        error = np.sqrt(ours.var(axis=0) / len(ours) + theirs.var(axis=0) / len(theirs))
        assert np.all(np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) <= SIGMAS * error)
        ratio = np.log(ours.var(axis=0) / theirs.var(axis=0))  # of normal columns, or flatter ones
        assert np.all(np.abs(ratio) <= SIGMAS * np.sqrt(2 / len(ours) + 2 / len(theirs)))
