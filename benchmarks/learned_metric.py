"""What the learned metric of the automatic model is worth if some inputs are irrelevant, on made data.

Errors in % for classes, 100 (1 - R^2) for regression, with and without groups of cosines in the metric, and the seconds
of the fits with one thread. Means of five draws of the data.

    python -m benchmarks.learned_metric
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from sklearn.datasets import make_classification, make_friedman1

import cgens.automatic.groups
from benchmarks.report import Table, save_results
from cgens import CGEnsClassifier, CGEnsRegressor

SEEDS, TEST_ROWS = range(5), 5000


def clusters(n_rows: int, seed: int) -> tuple[Any, Any]:
    """Return two classes in clusters that depend on half of 30 inputs."""
    X, y = make_classification(
        n_rows, 30, n_informative=15, n_redundant=0, n_clusters_per_class=4, flip_y=0.05, random_state=seed
    )
    return X, y


def smooth(n_rows: int, seed: int) -> tuple[Any, Any]:
    """Return a number that depends on three of 30 inputs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 30))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + X[:, 2] ** 2 + 0.3 * rng.normal(size=n_rows)


def friedman(n_inputs: int) -> Callable[[int, int], tuple[Any, Any]]:
    """Return a maker of Friedman's first problem, whose target depends on five inputs."""
    return lambda n_rows, seed: make_friedman1(n_rows, n_inputs, noise=1.0, random_state=seed)


#: Training rows, and what makes the data.
DATA: dict[str, tuple[int, Callable[[int, int], tuple[Any, Any]]]] = {
    "15 of 30 inputs, two classes, 1000 rows": (1000, clusters),
    "15 of 30 inputs, two classes, 5000 rows": (5000, clusters),
    "3 of 30 inputs, 1000 rows": (1000, smooth),
    "friedman1, 5 of 10 inputs, 500 rows": (500, friedman(10)),
    "friedman1, 5 of 50 inputs, 1000 rows": (1000, friedman(50)),
}


def measure(name: str, learned: bool) -> tuple[float, float]:
    """Return the mean error and the mean seconds of a fit."""
    n_rows, make = DATA[name]
    every = cgens.automatic.groups.LEARNED
    cgens.automatic.groups.LEARNED = every if learned else ()
    errors, seconds = [], []
    for seed in SEEDS:
        X, y = make(n_rows + TEST_ROWS, seed)
        model = (CGEnsClassifier if "classes" in name else CGEnsRegressor)(random_state=0, n_jobs=1)
        start = process_time()
        model.fit(X[:n_rows], y[:n_rows])
        seconds.append(process_time() - start)
        errors.append(100 * (1 - model.score(X[n_rows:], y[n_rows:])))
    cgens.automatic.groups.LEARNED = every
    return float(np.mean(errors)), float(np.mean(seconds))


def main() -> None:
    warnings.simplefilter("ignore")
    text, results = Table("data", "with the metric", "without", "ratio", "s", "s"), {}
    for name in DATA:
        own, other = measure(name, True), measure(name, False)
        cells = f"{own[0]:.2f}", f"{other[0]:.2f}", f"{own[0] / other[0]:.3f}", f"{own[1]:.1f}", f"{other[1]:.1f}"
        text.add(name, *cells)
        results[name] = {"with": own, "without": other}
    print(text)
    save_results("learned_metric", results)


if __name__ == "__main__":
    main()
