"""The shared data sets, read from a folder that is never committed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cgens.datasets import Dataset, data_folders, load
from cgens.types import AnyArray

#: The thirteen binary sets of the paper's tables 1 and 2.
IDA_SETS = (
    "banana", "breast_cancer", "diabetes", "flare_solar", "german", "heart", "image",
    "ringnorm", "splice", "thyroid", "titanic", "twonorm", "waveform",
)  # fmt: skip

#: Sets of three classes and more, those with published codes for images left out.
MULTICLASS_SETS = (
    "iris", "wine", "glass", "vehicle", "vowel", "segment", "dna", "usps", "pendigits", "letter",
)  # fmt: skip


@dataclass(frozen=True)
class Split:
    """Training and test rows."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def mnist(n_rows: int, seed: int = 0) -> Split:
    """Return `n_rows` random training rows of MNIST, and all test rows."""
    data = load("mnist")
    train, test = data.splits[0]
    return take(data, np.random.default_rng(seed).permutation(train)[:n_rows], test)


def balanced(name: str, per_class: int, seed: int) -> Split:
    """Return so many random training rows of each class of a set with a published split, and all its test rows."""
    data = load(name)
    train, test = data.splits[0]
    order = np.random.default_rng(seed).permutation(train)
    kept = [order[data.y[order] == label][:per_class] for label in range(len(data.classes))]
    return take(data, np.concatenate(kept), test)


def mnist_odd_even(n_rows: int, seed: int = 0) -> Split:
    """Return the same with odd (1) against even (0)."""
    split = mnist(n_rows, seed)
    return Split(split.X, split.y % 2, split.X_test, split.y_test % 2)


def random_split(name: str, seed: int) -> Split:
    """Return a random split: of the published sizes for the IDA sets, else 3:2 with at most 5000 training rows.

    Missing values get the median of the training rows.
    """
    data = load(name)
    n_train, n_test = data.sizes or (min(5000, len(data.y) * 3 // 5), len(data.y))
    order = np.random.default_rng(seed).permutation(len(data.y))
    split = take(data, order[:n_train], order[n_train : n_train + n_test])
    X, X_test = split.X.astype(np.float64), split.X_test.astype(np.float64)
    median = np.nanmedian(X, axis=0)
    return Split(np.where(np.isnan(X), median, X), split.y, np.where(np.isnan(X_test), median, X_test), split.y_test)


def take(data: Dataset, train: AnyArray, test: AnyArray) -> Split:
    """Return these rows of a data set."""
    return Split(data.X[train], data.y[train], data.X[test], data.y[test])


def has_shared_data(name: str = "mnist") -> bool:
    """Return whether the set is in a data folder: without one, tests that need it are skipped."""
    return any((folder / f"{name}.npz").is_file() for folder in data_folders())
