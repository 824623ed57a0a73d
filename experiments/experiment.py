"""What an experiment is: data sets x methods x runs, one cell each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.data import Split


@dataclass(frozen=True)
class Effort:
    """How much work: the paper's, or a taste of it."""

    folds: int = 5
    rounds: tuple[int, ...] = (25, 50, 100, 250, 500)
    n_penalties: int = 9
    grid_step: int = 1  # take every so many of a grid's values
    most_runs: int = 20
    quick: bool = False
    threads: int = 1  # of each cell: the cells share the cores

    @property
    def most_rounds(self) -> int:
        """The last of the rounds."""
        return self.rounds[-1]


FULL = Effort()
QUICK = Effort(folds=2, rounds=(25, 50), n_penalties=3, grid_step=3, most_runs=2, quick=True)


@dataclass(frozen=True)
class Cell:
    """One method on one run of one data set."""

    experiment: str
    dataset: str
    method: str
    run: int


@dataclass(frozen=True)
class Outcome:
    """What came of a cell."""

    error: float  # percent
    seconds: float  # search for parameters included
    params: dict[str, Any]  # what was chosen, and whatever the report draws


@dataclass(frozen=True)
class Fit:
    """A fitted model, what was chosen for it and is to be kept; its error where the test rows do not tell it."""

    model: Any
    params: dict[str, Any] = field(default_factory=dict)
    error: float | None = None


#: Fits on the training rows of a split, with this seed and effort; `given` are the parameters of the cell it follows.
Method = Callable[[Split, int, Effort, dict[str, Any]], Fit]


@dataclass(frozen=True)
class Experiment:
    """A table or a figure; `after` names the cell whose parameters a cell takes, of this experiment or of another."""

    name: str
    title: str
    datasets: Callable[[Effort], tuple[str, ...]]
    methods: dict[str, Method]
    split: Callable[[str, int, Effort], Split]
    runs: Callable[[str], int]
    after: Callable[[Cell], Cell | None] = lambda cell: None
    alone: bool = False  # one cell at a time, with all cores: where times are compared

    def cells(self, effort: Effort) -> list[Cell]:
        """Return all cells, run after run: an interrupted experiment has something of every method."""
        return [
            Cell(self.name, dataset, method, run)
            for run in range(effort.most_runs)
            for dataset in self.datasets(effort)
            for method in self.methods
            if run < self.n_runs(dataset, effort)
        ]

    def n_runs(self, dataset: str, effort: Effort) -> int:
        """Return how often a data set is split."""
        return min(self.runs(dataset), effort.most_runs)

    def compute(self, cell: Cell, effort: Effort, given: dict[str, Any]) -> Outcome:
        """Fit, and count the errors on the test rows."""
        split = self.split(cell.dataset, cell.run, effort)
        began = perf_counter()
        fit = self.methods[cell.method](split, cell.run, effort, given)
        seconds = perf_counter() - began
        error = (
            100 * float(np.mean(fit.model.predict(split.X_test) != split.y_test)) if fit.error is None else fit.error
        )
        return Outcome(error, seconds, fit.params)
