"""The data folder matches its manifest, and the generated data sets match the published ones."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cgens.datasets import data_folders, load, make_ringnorm, make_twonorm, make_waveform
from evaluation.splits import IDA_SETS
from tests.data_folder import needs_data
from tests.datasets.moments import MANY, assert_fraction
from tests.tolerances import SIGMAS


@needs_data
@pytest.mark.slow
def test_every_file_of_the_manifest_loads_as_stated():
    (folder,) = data_folders()
    datasets = json.loads((folder / "MANIFEST.json").read_text())["datasets"]
    assert set(IDA_SETS) <= set(datasets)
    for name, entry in datasets.items():
        data = load(name, folder)
        assert data.X.shape == (entry["rows"], entry["columns"]), name
        assert data.X.dtype.kind == "f", name
        if entry["task"] == "classification":
            counts = dict(zip(data.classes, np.bincount(data.y, minlength=len(data.classes)).tolist(), strict=True))
            assert counts == entry["class_counts"], name
        else:
            assert data.classes == (), name
        for train, test in data.splits:
            assert len(np.intersect1d(train, test)) == 0, name
            assert max(train.max(), test.max()) < len(data.y), name
            assert data.split_sizes in (None, (len(train), len(test))), name


@needs_data
@pytest.mark.parametrize(
    ("name", "make", "fraction"),
    [("twonorm", make_twonorm, 1 / 2), ("ringnorm", make_ringnorm, 1 / 2), ("waveform", make_waveform, 1 / 3)],
)
def test_generated_data_sets_are_distributed_as_the_published_ones(name, make, fraction):
    """Published columns are standardized, so the generated ones are standardized too."""
    published, (X, y) = load(name), make(MANY, random_state=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert_fraction(published.y, fraction)
    for label in (0, 1):
        ours, theirs = X[y == label], published.X[published.y == label].astype(float)
        error = np.sqrt(ours.var(axis=0) / len(ours) + theirs.var(axis=0) / len(theirs))
        assert np.all(np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) <= SIGMAS * error)
        log_ratio = np.log(ours.var(axis=0) / theirs.var(axis=0))  # of normal columns, or flatter ones
        assert np.all(np.abs(log_ratio) <= SIGMAS * np.sqrt(2 / len(ours) + 2 / len(theirs)))
