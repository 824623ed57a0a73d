"""Data of scikit-learn, small enough to enumerate the pool."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_iris,
    load_wine,
    make_classification,
    make_multilabel_classification,
)

Data = tuple[np.ndarray, np.ndarray]


def _two_classes(X: np.ndarray, y: np.ndarray, first: int, second: int) -> Data:
    kept = (y == first) | (y == second)
    return X[kept], (y[kept] == second).astype(int)


def breast_cancer(n_rows: int = 60) -> Data:
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:n_rows]
    return X[rows], y[rows]


def iris() -> Data:
    return _two_classes(*load_iris(return_X_y=True), 1, 2)


def wine() -> Data:
    return _two_classes(*load_wine(return_X_y=True), 0, 1)


def noisy() -> Data:
    return make_classification(n_samples=90, n_features=6, n_informative=4, flip_y=0.2, random_state=1)


def unbalanced() -> Data:
    return make_classification(n_samples=120, n_features=5, weights=[0.9], class_sep=0.5, random_state=2)


def contradictory() -> Data:
    """Return few distinct rows, many of which have both labels."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, size=(100, 3)).astype(float)
    return X, (X.sum(axis=1) + rng.normal(scale=1.5, size=100) > 3).astype(int)


SMALL_DATA: dict[str, Callable[[], Data]] = {
    "breast cancer": breast_cancer,
    "iris": iris,
    "wine": wine,
    "noisy": noisy,
    "unbalanced": unbalanced,
    "contradictory": contradictory,
}


def flowers() -> Data:
    """Return the three species of iris."""
    return load_iris(return_X_y=True)


def wines() -> Data:
    return load_wine(return_X_y=True)


def tumours() -> Data:
    X, y = load_breast_cancer(return_X_y=True)
    return X[:150], y[:150]


def patients() -> Data:
    X, y = load_diabetes(return_X_y=True)
    return X[:150], y[:150]


def topics() -> Data:
    """Return a multilabel indicator matrix of three labels."""
    return make_multilabel_classification(n_samples=100, n_features=6, n_classes=3, random_state=3)


def regression() -> Data:
    X, _ = noisy()
    return X, np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.1 * np.random.default_rng(0).normal(size=len(X))


def multioutput() -> Data:
    """Return three targets on different scales, one of them with few distinct values."""
    X, y = regression()
    return X, np.column_stack([y, 1e3 * X[:, 2], y.round()])


def counts() -> Data:
    X, _ = noisy()
    return X, np.random.default_rng(0).poisson(np.exp(1 + 0.5 * np.sin(2 * X[:, 0]) + 0.3 * X[:, 1])).astype(float)


#: Data by kind of target.
BY_KIND: dict[str, Callable[[], Data]] = {
    "binary": noisy,
    "multiclass": flowers,
    "multilabel": topics,
    "regression": regression,
    "multioutput": multioutput,
    "counts": counts,
}
