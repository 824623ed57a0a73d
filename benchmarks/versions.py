"""Time the same fits and predictions with this checkout and with an earlier one, interleaved in one run.

``python -m benchmarks.versions FOLDER``, where FOLDER is the other checkout, with its own ``.venv`` (``git worktree add
FOLDER COMMIT``, then ``make .venv/installed`` there). Each version runs in a process that keeps data and models; the
two take turns, and the order within a pair alternates. The result is the ratio of the best times, and the median ratio
of the pairs. Also measured: the time of predicting one row, in units of the time of scikit-learn's own
``validate_data`` for that row.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

HINGE, SQUARES = {"loss": "hinge"}, {"loss": "least_squares"}
#: name: (data, weak learner, parameters of the estimator, pairs of fits)
FITS: dict[str, tuple[str, str, dict[str, Any], int]] = {
    "two classes, 500 stumps, 1 thread": (
        *("odd_even_10000", "stump"),
        {**HINGE, "C": 1e-3, "n_estimators": 500, "n_jobs": 1},
        7,
    ),
    "two classes, 500 stumps": ("odd_even_10000", "stump", {**HINGE, "C": 1e-3, "n_estimators": 500, "n_jobs": 2}, 7),
    "two classes, 6e4 rows, 100 stumps": ("odd_even_60000", "stump", {**HINGE, "C": 10 / 6e4, "n_estimators": 100}, 5),
    "ten classes, 500 stumps, 1 thread": ("digits_10000", "stump", {**SQUARES, "n_estimators": 500, "n_jobs": 1}, 7),
    "ten classes, 500 stumps": ("digits_10000", "stump", {**SQUARES, "n_estimators": 500, "n_jobs": 2}, 7),
    "letter, 26 classes, 200 stumps": ("letter", "stump", {**SQUARES, "C": 30.0 / 2e4, "n_estimators": 200}, 7),
    "ten classes, 500 learned cosines": ("digits_10000", "fourier", {**SQUARES, "n_estimators": 500}, 3),
    "ten classes, 100 trees": ("digits_10000", "tree", {**SQUARES, "n_estimators": 100}, 3),
}
ONE_ROW = "one row"


def serve(folder: Path) -> None:
    """Answer each line, the name of a measurement, by its seconds."""
    from cgens import CGEnsClassifier

    data: dict[str, Any] = {}
    models: dict[str, Any] = {}
    for line in sys.stdin:
        task, name = line.strip().split(": ", 1)
        split, family, parameters, _ = FITS[name]
        if split not in data:
            data.clear()
            data[split] = np.load(folder / f"{split}.npz")
            data[split] = {key: data[split][key] for key in data[split]}
        X, y, X_test = (data[split][key] for key in ("X", "y", "X_test"))
        if task == "fit":
            models[name] = CGEnsClassifier(family, random_state=0, **parameters)
            print(timed(lambda: models[name].fit(X, y)), flush=True)  # noqa: B023
        elif task == "predict":
            print(timed(lambda: models[name].predict(X_test)), flush=True)  # noqa: B023
        else:
            print(*one_row(models[name], X_test[:1]), flush=True)


def timed(call: Callable[[], Any]) -> float:
    """Return the seconds of one call."""
    start = perf_counter()
    call()
    return perf_counter() - start


def one_row(model: Any, row: np.ndarray) -> tuple[float, float]:
    """Return the seconds of predicting one row, and of validating it: each the best of 30 times the mean of 100."""
    from sklearn.utils.validation import validate_data

    def predict() -> None:
        for _ in range(100):
            model.predict(row)

    def validate() -> None:
        for _ in range(100):
            validate_data(model, row, reset=False)

    pairs = [(timed(predict), timed(validate)) for _ in range(30)]
    return min(a for a, _ in pairs) / 100, min(b for _, b in pairs) / 100


class Version:
    """A checkout's own process, which fits and predicts when told to."""

    def __init__(self, checkout: Path, folder: Path) -> None:
        command = [str(checkout / ".venv/bin/python"), str(Path(__file__).resolve()), "--serve", str(folder)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def measure(self, task: str, name: str) -> tuple[float, ...]:
        """Return the seconds of a fit, of a batch of predictions, or of one row and its validation."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(f"{task}: {name}", file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline().split()
        if not answer:
            raise RuntimeError(f"{task}: {name}: the process of a version ended")
        return tuple(map(float, answer))

    def close(self) -> None:
        """Let the process end."""
        self._process.communicate()


def write_data(folder: Path) -> None:
    """Write the splits for both versions, so that they fit the same numbers."""
    from evaluation.splits import mnist, mnist_odd_even, random_split

    splits = {
        "odd_even_10000": mnist_odd_even(10_000),
        "odd_even_60000": mnist_odd_even(60_000),
        "digits_10000": mnist(10_000),
        "letter": random_split("letter", 0),
    }
    for name, split in splits.items():
        np.savez(folder / name, X=split.X, y=split.y, X_test=split.X_test)


def compare(before: Version, now: Version, task: str, name: str, pairs: int) -> dict[str, float]:
    """Return the best seconds of both versions, and their ratio in two ways."""
    times = []
    for k in range(pairs):
        old, new = (before, now) if k % 2 == 0 else (now, before)
        first, second = old.measure(task, name)[0], new.measure(task, name)[0]
        times.append((first, second) if k % 2 == 0 else (second, first))
    best_before, best_now = min(a for a, _ in times), min(b for _, b in times)
    return {
        "before": best_before,
        "now": best_now,
        "ratio": best_now / best_before,
        "median_ratio": median(b / a for a, b in times),
    }


def main(checkout: Path, chosen: str) -> None:
    from benchmarks.report import Table, save_results

    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        write_data(Path(folder))
        before, now = Version(checkout, Path(folder)), Version(Path(__file__).resolve().parents[1], Path(folder))
        table = Table("", "before", "now", "ratio", "median ratio")
        for name, (*_, pairs) in FITS.items():
            if chosen not in name:
                continue
            for task, repeats in (("fit", pairs), ("predict", 31)):
                row = results[f"{task}: {name}"] = compare(before, now, task, name, repeats)
                table.add(f"{task}: {name}", f"{row['before']:.4f} s", f"{row['now']:.4f} s", f"{row['ratio']:.3f}",
                          f"{row['median_ratio']:.3f}")  # fmt: skip
            for label, version in (("before", before), ("now", now)):
                seconds, validation = version.measure(ONE_ROW, name)
                results[f"{ONE_ROW}, {label}: {name}"] = {"seconds": seconds, "validate_data": validation}
                table.add(f"{ONE_ROW}, {label}: {name}", "", f"{1e6 * seconds:.1f} us",
                          f"{seconds / validation:.2f} x validate_data", "")  # fmt: skip
        before.close()
        now.close()
    print(table)
    if not chosen:
        save_results("versions", results)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the other checkout")
    parser.add_argument("--only", default="", help="only fits whose name contains this; nothing is saved")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    serve(options.folder) if options.serve else main(options.folder.resolve(), options.only)
