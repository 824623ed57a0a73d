"""Seconds per tree of the settings that `weak_learner="auto"` grows, against LightGBM with as many leaves.

Both draw half of the features and 70 % of the rows for each tree, and boost with the same step. Binning is not counted;
everything else that a round needs besides its master is. On a busy machine, two threads of LightGBM are slow.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import lightgbm
import numpy as np

from benchmarks.report import Table, save_results
from cgens.automatic.chains import GROWTHS
from cgens.table import Table as Rows
from cgens.types import Duals, Floats, Sample
from cgens.weak_learners import Tree

STEP = 0.1
REPEATS = 2
SMALL = ((500, 10), (700, 30), (2000, 30), (2000, 60), (10_000, 30))
LARGE = ((10_000, 28), (100_000, 28), (1_000_000, 28))
RANDOM, BEST = (growth.tree for growth in GROWTHS)
#: Leaves and splitter -> the tree; LightGBM has as many leaves, and always the best splits.
TREES = {
    "31, random": RANDOM,
    "31, best": Tree(**{**RANDOM.get_params(), "splitter": "best"}),
    "127, best": BEST,
}


def make_rows(n_rows: int, n_features: int) -> tuple[Floats, Floats]:
    """Return normal inputs and a target with interactions and noise."""
    rng = np.random.default_rng(n_rows + n_features)
    X = rng.normal(size=(n_rows, n_features))
    signal = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + (X[:, 3] > 0) + 0.3 * X[:, 4] * X[:, 5]
    return X, signal + rng.normal(size=n_rows)


def n_trees_for(n_rows: int) -> int:
    """Return how many trees are enough for a stable mean."""
    return 10 if n_rows > 100_000 else 100


class Ours:
    """Trees as the loop asks for them, without a master."""

    def __init__(self, tree: Tree, X: Floats, y: Floats, n_threads: int) -> None:
        sample = Sample(Rows.of(X), np.arange(len(X)), np.ones(len(X)))
        self._pricer, self._target = tree.begin(sample, np.random.default_rng(0), n_threads), y - y.mean()

    def seconds_per_tree(self) -> float:
        """Boost for some rounds."""
        residual, rounds = self._target[:, None].copy(), n_trees_for(len(self._target))
        start = perf_counter()
        for _ in range(rounds):
            column = self._pricer.price(Duals(residual), set(), "max").column
            assert column is not None
            residual[:, 0] -= STEP * column.price / len(residual) * column.response
        return (perf_counter() - start) / rounds


class Peer:
    """LightGBM."""

    def __init__(self, tree: Tree, X: Floats, y: Floats, n_threads: int) -> None:
        self._options = {"num_leaves": tree.max_leaf_nodes, "learning_rate": STEP, "max_bin": 250, "verbose": -1,
                         "feature_fraction": 0.5, "bagging_fraction": 0.7, "bagging_freq": 1, "num_threads": n_threads,
                         "min_data_in_leaf": 5, "feature_pre_filter": False}  # fmt: skip
        self._data = lightgbm.Dataset(X, y, params=self._options).construct()
        self._n_rows = len(X)

    def seconds_per_tree(self) -> float:
        """Boost for some rounds."""
        rounds = n_trees_for(self._n_rows)
        start = perf_counter()
        lightgbm.train(self._options, self._data, rounds)
        return (perf_counter() - start) / rounds


def measure(tree: Tree, X: Floats, y: Floats, n_threads: int) -> tuple[float, float]:
    """Return our seconds per tree and LightGBM's: the best of some runs that take turns."""
    rivals = [rival(tree, X, y, n_threads) for rival in (Ours, Peer)]
    seconds = [[rival.seconds_per_tree() for rival in rivals] for _ in range(REPEATS)]
    ours, peer = np.min(seconds, axis=0).tolist()
    return ours, peer


def main() -> None:
    table = Table("leaves, splitter", "rows x features", "threads", "ms per tree", "LightGBM", "ratio")
    results: dict[str, Any] = {}
    for shapes, threads in ((SMALL, (1,)), (LARGE, (1, 2))):
        for n_rows, n_features in shapes:
            X, y = make_rows(n_rows, n_features)
            for name, tree in TREES.items():
                for n_threads in threads if tree.max_leaf_nodes == RANDOM.max_leaf_nodes else (1,):
                    ours, peer = measure(tree, X, y, n_threads)
                    results[f"{name}, {n_rows} x {n_features}, {n_threads} threads"] = {"ours": ours, "LightGBM": peer}
                    print(name, n_rows, n_threads, ours, peer, flush=True)
                    table.add(name, f"{n_rows} x {n_features}", str(n_threads), f"{1e3 * ours:.3f}",
                              f"{1e3 * peer:.3f}", f"{ours / peer:.2f}")  # fmt: skip
    print(table)
    save_results("tree_growth", {"seconds per tree": results})


if __name__ == "__main__":
    main()
