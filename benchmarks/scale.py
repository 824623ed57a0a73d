"""Fits on long and wide tables beside LightGBM and XGBoost: seconds, how they grow, and memory.

100 columns on made numbers (float32) of two classes. Methods take turns, each fit in a process of its own; seconds are
medians, and memory is what a fit adds to a process that already holds X, relative to X. `--busy` runs two processes
that do nothing but compute beside the fits. The limit is the time in which a thread reads the bytes of a round: the
bins of all entries, and the duals once.

    python -m benchmarks.scale                                      one thread, 10^4 x 28 to 5*10^6 x 20, and wide
    python -m benchmarks.scale --shapes 1e6x28 --threads 1 2        two threads beside one
    python -m benchmarks.scale --shapes 1e4x784 --threads 1 2 --busy
    python -m benchmarks.scale --show                               print what was saved; draw docs/images/scale.png
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import subprocess
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.measure import peak_memory, reset_peak_memory
from benchmarks.report import Table, load_results, save_results

SHAPES = ("1e4x28", "1e5x28", "1e6x28", "5e6x20", "500x1e5")
OURS = {
    "hinge": {"weak_learner": "stump", "loss": "hinge"},
    "least squares": {"weak_learner": "stump", "loss": "least_squares"},
    "logistic": {"weak_learner": "stump", "loss": "logistic"},
    "trees": {"weak_learner": "tree", "loss": "logistic"},
    "cosines": {"weak_learner": "fourier", "loss": "logistic"},
}
PEERS = ("LightGBM", "LightGBM trees", "XGBoost")
METHODS = (*PEERS[:1], *tuple(OURS)[:3], PEERS[1], *tuple(OURS)[3:], *PEERS[2:])
#: With what a method is compared.
PEER_OF = {"trees": "LightGBM trees", "XGBoost": "LightGBM"}
N_COLUMNS = 100
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "scale.png"


def make_data(shape: str) -> tuple[Any, Any]:
    """Return numbers of a shape such as "1e6x28", and two classes that depend on eight of them."""
    n_rows, n_inputs = (int(float(part)) for part in shape.split("x"))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_inputs), dtype=np.float32)
    score = X[:, :5].sum(axis=1) + 2 * np.sin(3 * X[:, 5]) + X[:, 6] * X[:, 7]
    return X, (score + 2 * rng.standard_normal(n_rows) > 0).astype(int)


def make_method(name: str, n_threads: int) -> Any:
    """Return a method with this number of threads."""
    if name in OURS:
        from cgens import CGEnsClassifier
        from cgens.weak_learners import Tree

        own = dict(OURS[name])
        if name == "trees":
            own["weak_learner"] = Tree(max_leaf_nodes=31)
        return CGEnsClassifier(**own, n_estimators=N_COLUMNS, n_jobs=n_threads, random_state=0)
    if name == "XGBoost":
        from xgboost import XGBClassifier

        return XGBClassifier(n_estimators=N_COLUMNS, max_depth=1, tree_method="hist", n_jobs=n_threads)
    from lightgbm import LGBMClassifier

    n_leaves = 31 if name.endswith("trees") else 2
    return LGBMClassifier(n_estimators=N_COLUMNS, num_leaves=n_leaves, n_jobs=n_threads, verbose=-1)


def measure(name: str, shape: str, n_threads: int) -> dict[str, float]:
    """Return seconds, memory relative to X, and the error on the first training rows."""
    warnings.simplefilter("ignore")
    X, y = make_data(shape)
    make_method(name, n_threads).fit(X[:500, :20], y[:500])  # libraries are loaded, and threads started
    model = make_method(name, n_threads)
    reset_peak_memory()
    before, start = peak_memory(), perf_counter()
    model.fit(X, y)
    seconds, memory = perf_counter() - start, 2**20 * (peak_memory() - before) / X.nbytes
    error = 100 * float(np.mean(model.predict(X[:20_000]) != y[:20_000]))
    return {"seconds": seconds, "memory": memory, "error": error}


def measure_apart(name: str, shape: str, n_threads: int) -> dict[str, float]:
    """Return what `measure` does, from a new process."""
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = str(n_threads)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return dict(pool.submit(measure, name, shape, n_threads).result())


def seconds_to_read(shape: str) -> float:
    """Return the seconds in which one thread reads a byte for each entry and eight for each row."""
    n_rows, n_inputs = (int(float(part)) for part in shape.split("x"))
    room = np.ones(n_rows * n_inputs // 8 + n_rows)
    times = []
    for _ in range(5):
        start = perf_counter()
        room.sum()
        times.append(perf_counter() - start)
    return min(times)


def run_all(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure all methods in turns, and print a table for each shape and number of threads."""
    runs: list[dict[str, Any]] = []
    for shape in options.shapes:
        limit = seconds_to_read(shape)
        found: dict[tuple[str, int], list[dict[str, float]]] = {}
        for _ in range(options.repeats):
            for name in options.methods:
                for n_threads in options.threads:
                    found.setdefault((name, n_threads), []).append(measure_apart(name, shape, n_threads))
        for (name, n_threads), own in found.items():
            figures = {key: median(run[key] for run in own) for key in own[0]}
            runs.append({"shape": shape, "method": name, "threads": n_threads, "busy": options.busy, **figures})
            runs[-1]["limit"] = limit * N_COLUMNS
        print(table_of([run for run in runs if run["shape"] == shape]), flush=True)
    return runs


def table_of(runs: list[dict[str, Any]]) -> str:
    """Return the figures of one shape as a table."""
    seconds = {(run["method"], run["threads"]): run["seconds"] for run in runs}
    text = Table(
        "rows x inputs", "threads", "method", "s", "s / s of LightGBM", "memory / X", "error, %", "s / s to read"
    )
    for run in runs:
        peer = seconds.get((PEER_OF.get(run["method"], "LightGBM"), run["threads"]))
        ratio = "" if peer is None else f"{run['seconds'] / peer:.2f}"
        shape = run["shape"] + (", busy" if run["busy"] else "")
        numbers = f"{run['memory']:.2f}", f"{run['error']:.2f}", f"{run['seconds'] / run['limit']:.0f}"
        text.add(shape, str(run["threads"]), run["method"], f"{run['seconds']:.2f}", ratio, *numbers)
    return f"\n{text}"


def print_growth(runs: list[dict[str, Any]]) -> None:
    """Print the exponents with which seconds grow with the number of entries of long tables, with one thread."""
    text = Table("method", "from", "to", "exponent")
    quiet = [run for run in runs if run["threads"] == 1 and not run["busy"] and run["shape"] != "500x1e5"]
    for name in dict.fromkeys(run["method"] for run in quiet):
        own = sorted((entries_of(run["shape"]), run["seconds"], run["shape"]) for run in quiet if run["method"] == name)
        for (a, s, first), (b, t, last) in [(own[k], own[-1]) for k in range(len(own) - 1)]:
            text.add(name, first, last, f"{np.log(t / s) / np.log(b / a):.2f}")
    print(f"\n{text}")


def entries_of(shape: str) -> float:
    """Return the number of entries of a table."""
    n_rows, n_inputs = shape.split("x")
    return float(n_rows) * float(n_inputs)


def draw(runs: list[dict[str, Any]]) -> None:
    """Draw seconds against entries, with one thread."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharex=True, sharey=True)
    quiet = [run for run in runs if run["threads"] == 1 and not run["busy"] and run["shape"] != "500x1e5"]
    groups = (("LightGBM", "XGBoost", *tuple(OURS)[:3]), ("LightGBM trees", "trees", "cosines"))
    for ax, names in zip(axes, groups, strict=True):
        for name in names:
            own = sorted((entries_of(run["shape"]), run["seconds"]) for run in quiet if run["method"] == name)
            if own:
                style = "--" if name in PEERS else "-"
                label = name if name in PEERS else f"cgens, {name}"
                ax.loglog(*zip(*own, strict=True), style, marker="o", markersize=4, label=label)
        ax.set_xlabel("entries of X")
        ax.grid(alpha=0.3)
        ax.legend(frameon=False)
    axes[0].set_ylabel("seconds, 100 columns, one thread")
    axes[0].set_title("stumps")
    axes[1].set_title("trees of 31 leaves, and cosines")
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=120)


def same_setting(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Return whether two runs measured the same."""
    return all(a[key] == b[key] for key in ("shape", "method", "threads", "busy"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", nargs="+", default=SHAPES)
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    try:
        runs = list(load_results("scale")["runs"])
    except FileNotFoundError:
        runs = []
    if options.show:
        for key in dict.fromkeys((run["shape"], run["busy"]) for run in runs):
            print(table_of([run for run in runs if (run["shape"], run["busy"]) == key]))
        print_growth(runs)
        return draw(runs)
    compute = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(compute) for _ in range(2 if options.busy else 0)]
    try:
        new = run_all(options)
    finally:
        for other in others:
            other.kill()
    save_results("scale", {"runs": [run for run in runs if not any(same_setting(run, own) for own in new)] + new})


if __name__ == "__main__":
    main()
