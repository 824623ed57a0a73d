"""Time and memory of `CGEnsClassifier()` beside CatBoost's default and searches, on made data of 30 inputs.

Every fit has a process of its own. Fits take turns; of their seconds the least counts, and of the largest memory that a
process had, what the fit added to it. Searches are those of `benchmarks.peers`, over 20 configurations.

    python -m benchmarks.automatic_time                  two threads; 1000 to 100 000 rows
    python -m benchmarks.automatic_time --rows 1000000 --methods CGEns CatBoost --repeats 1
"""

from __future__ import annotations

import argparse
import multiprocessing
import warnings
from concurrent.futures import ProcessPoolExecutor
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.measure import peak_memory, reset_peak_memory
from benchmarks.peers import GRIDS, UNTUNED, make_peer
from benchmarks.report import Table, save_results

OURS, INPUTS, TEST_ROWS = "CGEns", 30, 20_000
METHODS = (OURS, "CatBoost", "LightGBM", *GRIDS)
#: More training rows than these are not searched by support vector machines, and by trees.
SEARCHED_ROWS = {"SVM, tuned": 1000, "LightGBM, tuned": 10_000, "XGBoost, tuned": 10_000}


def make_data(n_rows: int) -> tuple[Any, ...]:
    """Return training and test rows of two classes that depend on half of the inputs, in clusters."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n_rows + TEST_ROWS,
        INPUTS,
        n_informative=15,
        n_redundant=5,
        n_clusters_per_class=4,
        flip_y=0.05,
        random_state=0,
    )
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def make_method(name: str, n_threads: int) -> Any:
    """Return a method with this number of threads."""
    if name == OURS:
        from cgens import CGEnsClassifier

        return CGEnsClassifier(random_state=0, n_jobs=n_threads)
    model = make_peer(name, False, [])
    if name in UNTUNED:
        model.set_params(**{"thread_count" if name == "CatBoost" else "n_jobs": n_threads})
    return model


def measure(name: str, n_rows: int, n_threads: int) -> dict[str, Any]:
    """Return seconds, memory and error of one fit."""
    warnings.simplefilter("ignore")
    X, y, X_test, y_test = make_data(n_rows)
    model = make_method(name, n_threads)
    reset_peak_memory()
    before, start = peak_memory(), perf_counter()
    model.fit(X, y)
    seconds, memory = perf_counter() - start, peak_memory() - before
    model.predict(X_test[:10])
    start = perf_counter()
    predicted = model.predict(X_test)
    per_row = 1e6 * (perf_counter() - start) / len(X_test)
    error = 100 * float(np.mean(np.ravel(predicted) != y_test))
    found = {"seconds": seconds, "memory": memory, "error": error, "predict": per_row}
    return found | ({"steps": dict(model.auto_.seconds)} if name == OURS else {})


def measure_apart(name: str, n_rows: int, n_threads: int) -> dict[str, Any]:
    """Return what `measure` does, from a new process: not a daemon, for which joblib allows one thread only."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return dict(pool.submit(measure, name, n_rows, n_threads).result())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    runs = []
    for n_rows in options.rows:
        methods = [own for own in options.methods if n_rows <= SEARCHED_ROWS.get(own, n_rows)]
        found: dict[str, list[dict[str, Any]]] = {name: [] for name in methods}
        for repeat in range(options.repeats):
            for name in methods:
                if repeat == 0 or name not in GRIDS:
                    found[name].append(measure_apart(name, n_rows, options.threads))
        best = {name: min(own, key=lambda run: run["seconds"]) for name, own in found.items()}
        text = Table("method", "s", "s / s of CGEns", "MB", "error, %", "us per row", "us / us of CGEns")
        for name, run in best.items():
            ratios = [f"{run[key] / best[methods[0]][key]:.2f}" for key in ("seconds", "predict")]
            figures = f"{run['memory']:.0f}", f"{run['error']:.2f}", f"{run['predict']:.1f}"
            text.add(name, f"{run['seconds']:.2f}", ratios[0], *figures, ratios[1])
            runs.append({"rows": n_rows, "threads": options.threads, "method": name, **run})
        print(f"\n{n_rows} rows x {INPUTS} inputs, {options.threads} threads\n{text}", flush=True)
    save_results("automatic_time", {"runs": runs})


if __name__ == "__main__":
    main()
