"""An experiment that takes no time, cells of results, and small data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evaluation.splits import Split
from experiments.experiment import Cell, Experiment, Fit, Outcome
from experiments.store import Store


class Fake:
    """An experiment that lists what is computed; "second" uses the parameters of "first"."""

    def __init__(self, **options) -> None:
        self.computed: list[tuple[str, str, int]] = []
        self.inherited: dict[tuple[str, str, int], dict] = {}
        self.threads: set[int] = set()
        self.interrupt_at: int | None = None
        methods = ("second", "first", "alone")
        self.experiment = Experiment(
            **{
                "name": "fake",
                "title": "A fake",
                "datasets": lambda effort: ("a", "b"),
                "methods": {method: self.method(method) for method in methods},
                "split": lambda dataset, run, effort: dataset,
                "runs": lambda dataset: {"a": 3, "b": 2}[dataset],
                "depends_on": lambda cell: replace(cell, method="first") if cell.method == "second" else None,
            }
            | options
        )

    def method(self, name: str):
        def fit(split, seed, effort, inherited) -> Fit:
            if len(self.computed) == self.interrupt_at:
                raise KeyboardInterrupt
            self.computed.append((split, name, seed))
            self.inherited[split, name, seed] = inherited
            self.threads.add(effort.threads)
            return Fit(None, {"selected": f"{split}{seed}"} if name == "first" else {}, error=10.0 * seed)

        return fit


ALL_CELLS = {
    (dataset, method, run)
    for dataset, runs in (("a", 3), ("b", 2))
    for run in range(runs)
    for method in ("first", "second", "alone")
}


def failing(error: Exception):
    def fit(split, seed, effort, inherited):
        raise error

    return fit


def add(store: Store, experiment: str, dataset: str, method: str, *errors: float, **outcome) -> None:
    """Store one run for each error."""
    for run, error in enumerate(errors):
        store.add(
            Cell(experiment, dataset, method, run), Outcome(**{"seconds": 1.0, "params": {}} | outcome, error=error)
        )


def small_split(n_rows: int = 40, n_values: int = 6, n_features: int = 3, seed: int = 0, n_classes: int = 2) -> Split:
    """Return integers whose sum plus noise determines the class; the second half of the rows is the test set."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, size=(2 * n_rows, n_features)).astype(float)
    noise = rng.normal(scale=n_values / 3, size=2 * n_rows)
    middle = n_features * (n_values - 1) / 2
    cuts = [middle] if n_classes == 2 else np.linspace(middle / 2, 3 * middle / 2, n_classes - 1)
    y = np.digitize(X.sum(axis=1) + noise, cuts)
    return Split(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])
