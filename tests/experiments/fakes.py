"""An experiment of tiny functions, cells, and the file of their lines: what several tests of the experiments use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.data import Split
from experiments.experiment import FULL, Cell, Experiment, Fit
from experiments.runner import EVERYTHING, Only, run
from experiments.store import Store


def some_cell(run: int = 0, method: str = "CGEns", dataset: str = "banana", experiment: str = "table1") -> Cell:
    return Cell(experiment, dataset, method, run)


def lines_of(folder: Path, experiment: str = "table1") -> Path:
    return folder / "runs" / f"{experiment}.jsonl"


class Fake:
    """An experiment of tiny functions that counts what is computed; `first` gives a parameter that `second` takes."""

    def __init__(self, **options) -> None:
        self.computed: list[tuple[str, str, int]] = []
        self.given: dict[tuple[str, str, int], dict] = {}
        self.threads: set[int] = set()
        self.stop_before: int | None = None
        self.experiment = Experiment(
            **{
                "name": "fake",
                "title": "A fake",
                "datasets": lambda effort: ("a", "b"),
                "methods": {method: self.method(method) for method in ("second", "first", "alone")},
                "split": lambda dataset, run, effort: dataset,
                "runs": lambda dataset: {"a": 3, "b": 2}.get(dataset, 1),
                "after": lambda cell: replace(cell, method="first") if cell.method == "second" else None,
            }
            | options
        )

    def method(self, name: str):
        def fit(split, seed, effort, given) -> Fit:
            if len(self.computed) == self.stop_before:
                raise KeyboardInterrupt
            self.computed.append((split, name, seed))
            self.given[split, name, seed] = given
            self.threads.add(effort.threads)
            return Fit(None, {"told": f"{split}{seed}"} if name == "first" else {}, error=10.0 * seed)

        return fit

    def run(self, store: Store, effort=FULL, jobs: int = 1, only: Only = EVERYTHING) -> None:
        run(self.experiment, store, effort, jobs, only)


ALL_CELLS = {
    (dataset, method, run_)
    for dataset, runs in (("a", 3), ("b", 2))
    for run_ in range(runs)
    for method in ("first", "second", "alone")
}


def broken(error: BaseException):
    def fit(split, seed, effort, given):
        raise error

    return fit


def small_split(n_rows: int = 40, n_values: int = 6, n_features: int = 3, seed: int = 0, n_classes: int = 2) -> Split:
    """Return noisy integers whose sum tells the class; the test rows are the training rows."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, size=(n_rows, n_features)).astype(float)
    noise = rng.normal(scale=n_values / 3, size=n_rows)
    middle = n_features * (n_values - 1) / 2
    cuts = [middle] if n_classes == 2 else np.linspace(middle / 2, 3 * middle / 2, n_classes - 1)
    y = np.digitize(X.sum(axis=1) + noise, cuts)
    return Split(X, y, X, y)
