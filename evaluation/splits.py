"""Training and test sets for benchmarks, experiments and tests; `cgens.datasets.load` finds the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cgens.datasets import Dataset, load
from cgens.types import AnyArray

#: The thirteen binary data sets of the paper's Tables 1 and 2, from the IDA benchmark repository.
IDA_SETS = (
    "banana", "breast_cancer", "diabetes", "flare_solar", "german", "heart", "image",
    "ringnorm", "splice", "thyroid", "titanic", "twonorm", "waveform",
)  # fmt: skip

#: Data sets with three or more classes, without the large image sets.
MULTICLASS_SETS = (
    "iris", "wine", "glass", "vehicle", "vowel", "segment", "dna", "usps", "pendigits", "letter",
)  # fmt: skip


@dataclass(frozen=True)
class Split:
    """A training set and a test set."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def paper_loss(y: AnyArray) -> str:
    """Return the paper's loss for these labels: the hinge loss for two classes, least squares (CGEns-SLS) for more."""
    return "hinge" if len(np.unique(y)) == 2 else "least_squares"


def error_percent(model: Any, split: Split) -> float:
    """Return the percentage of misclassified test rows."""
    return 100 * float(np.mean(model.predict(split.X_test) != split.y_test))


def staged_errors(model: Any, X: AnyArray, y: AnyArray) -> list[float]:
    """Return the percentage of misclassified rows after each round."""
    return [100 * float(np.mean(labels != y)) for labels in model.staged_predict(X)]


def take(data: Dataset, train: AnyArray, test: AnyArray) -> Split:
    """Return the split with these row indices."""
    return Split(data.X[train], data.y[train], data.X[test], data.y[test])


def mnist(n_rows: int, seed: int = 0) -> Split:
    """Return `n_rows` random training rows of MNIST, and its whole test set."""
    data = load("mnist")
    train, test = data.splits[0]
    return take(data, np.random.default_rng(seed).permutation(train)[:n_rows], test)


def mnist_odd_even(n_rows: int, seed: int = 0) -> Split:
    """Return the same rows as `mnist`, labelled odd (1) or even (0)."""
    split = mnist(n_rows, seed)
    return Split(split.X, split.y % 2, split.X_test, split.y_test % 2)


def balanced_split(name: str, per_class: int, seed: int) -> Split:
    """Return `per_class` random rows of each class from the published training set, and the published test set."""
    data = load(name)
    train, test = data.splits[0]
    order = np.random.default_rng(seed).permutation(train)
    return take(data, first_of_each_class(data, order, per_class), test)


def first_of_each_class(data: Dataset, order: AnyArray, per_class: int) -> AnyArray:
    """Return, class by class, the first `per_class` row indices in `order`."""
    return np.concatenate([order[data.y[order] == label][:per_class] for label in range(len(data.classes))])


def random_split(name: str, seed: int) -> Split:
    """Return a random split.

    The IDA sets are split into their published sizes, other sets 3:2 with at most 5000 training rows. Missing values
    are replaced by the median of the training set.
    """
    data = load(name)
    n_train, n_test = data.split_sizes or (min(5000, len(data.y) * 3 // 5), len(data.y))
    order = np.random.default_rng(seed).permutation(len(data.y))
    split = take(data, order[:n_train], order[n_train : n_train + n_test])
    X, X_test = split.X.astype(np.float64), split.X_test.astype(np.float64)
    median = np.nanmedian(X, axis=0)
    return Split(np.where(np.isnan(X), median, X), split.y, np.where(np.isnan(X_test), median, X_test), split.y_test)
