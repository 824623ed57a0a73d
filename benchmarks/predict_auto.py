"""The time per row of predictions of the automatic model, as a ratio to LightGBM with default parameters.

Both are fitted with default parameters on the same rows and predict the same other rows at once, on made data and on
tables with categories and gaps, which both read from a data frame. The two take turns, the order alternates, and the
results are medians: of the microseconds per row, and of the ratios of the pairs. Also measured: predicting one row.

    python -m benchmarks.predict_auto                      all sets
    python -m benchmarks.predict_auto --sets ames_price    some of them
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import lightgbm
import numpy as np
from sklearn.datasets import make_classification, make_regression

from benchmarks.report import Table, save_results
from benchmarks.tables import load
from cgens import CGEnsClassifier, CGEnsRegressor
from cgens.weak_learners import TreeLearner

MADE = ("two classes", "ten classes", "regression")
TABLES = ("telco_churn", "ames_price", "flight_late", "wine_price", "hotel_rate")
MOST_ROWS, MOST_TEST_ROWS = 10_000, 10_000
THREADS = (1, 2)
PAIRS, PAIRS_OF_ONE_ROW = 31, 301


def make(name: str) -> tuple[Any, Any, str]:
    """Return X, y and the task of a set."""
    options: dict[str, Any] = {"n_samples": 20_000, "n_features": 30, "n_informative": 15, "random_state": 0}
    if name == "regression":
        return *make_regression(noise=10.0, **options), name
    if name == "two classes":
        return *make_classification(**options), "binary"
    if name == "ten classes":
        return *make_classification(n_classes=10, n_clusters_per_class=1, **options), "multiclass"
    return load(name)


def fit(name: str) -> tuple[Any, Any, Any]:
    """Return the automatic model, LightGBM's, and the rows to predict."""
    X, y, task = make(name)
    order = np.random.default_rng(0).permutation(len(y))
    n = min(len(y) // 2, MOST_ROWS)
    train, test = order[:n], order[n : n + MOST_TEST_ROWS]
    rows = X.iloc if hasattr(X, "iloc") else X
    model = (CGEnsRegressor if task == "regression" else CGEnsClassifier)("auto", random_state=0)
    peer = (lightgbm.LGBMRegressor if task == "regression" else lightgbm.LGBMClassifier)(verbose=-1, n_jobs=2)
    return model.fit(rows[train], y[train]), peer.fit(rows[train], y[train]), rows[test]


def timed(call: Callable[[], Any]) -> float:
    """Return the seconds of one call."""
    start = perf_counter()
    call()
    return perf_counter() - start


def compare(model: Any, peer: Any, X: Any, n_threads: int, n_pairs: int) -> dict[str, float]:
    """Return median microseconds per row of both, and the median of their ratio."""
    model.set_params(n_jobs=n_threads)

    def own() -> None:
        model.predict(X)

    def other() -> None:
        peer.predict(X, num_threads=n_threads)

    own(), other()
    pairs = []
    for k in range(n_pairs):
        first, second = (own, other) if k % 2 == 0 else (other, own)
        seconds = timed(first), timed(second)
        pairs.append(seconds if k % 2 == 0 else seconds[::-1])
    micro = [1e6 * median(seconds) / len(X) for seconds in zip(*pairs, strict=True)]
    return {"cgens": micro[0], "lightgbm": micro[1], "ratio": median(a / b for a, b in pairs)}


def measure(name: str) -> dict[str, Any]:
    """Return the sizes of the models for a set, and the times of their predictions."""
    model, peer, X = fit(name)
    learners = model.ensemble_.learners
    n_trees = sum(isinstance(own, TreeLearner) for own in learners)
    result: dict[str, Any] = {
        "rows": len(X),
        "columns": X.shape[1],
        "trees": n_trees,
        "cosines": len(learners) - n_trees,
    }
    for n_threads in THREADS:
        result[f"{n_threads} threads"] = compare(model, peer, X, n_threads, PAIRS)
    result["one row"] = compare(model, peer, X[:1], 1, PAIRS_OF_ONE_ROW)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=[*MADE, *TABLES], choices=[*MADE, *TABLES])
    warnings.simplefilter("ignore")
    table = Table("us/row", "cosines, trees", "1 thread", "LightGBM", "ratio", "2 threads", "LightGBM", "ratio",
                  "one row", "LightGBM", "ratio")  # fmt: skip
    results = {}
    for name in parser.parse_args().sets:
        own = results[name] = measure(name)
        cells = [f"{own[key][which]:.2f}" for key in ("1 threads", "2 threads", "one row")
                 for which in ("cgens", "lightgbm", "ratio")]  # fmt: skip
        table.add(name, f"{own['cosines']}, {own['trees']}", *cells)
        print(name, *cells, flush=True)
    print(table)
    save_results("predict_auto", {"pairs": PAIRS, "sets": results})


if __name__ == "__main__":
    main()
