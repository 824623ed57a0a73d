"""An experiment: data sets x methods x runs, each combination a cell that is computed on its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from evaluation.splits import Split, error_percent


@dataclass(frozen=True)
class Effort:
    """The size of a computation: the paper's protocol, or a quick version of it."""

    folds: int = 5
    rounds: tuple[int, ...] = (25, 50, 100, 250, 500)
    n_penalties: int = 9  # number of values of C
    grid_step: int = 1  # use every so many values of the other grids
    max_runs: int = 20
    quick: bool = False
    threads: int = 1  # per cell: several cells run in parallel

    @property
    def max_rounds(self) -> int:
        """The largest number of rounds."""
        return self.rounds[-1]


FULL = Effort()
QUICK = Effort(folds=2, rounds=(25, 50), n_penalties=3, grid_step=3, max_runs=2, quick=True)


@dataclass(frozen=True)
class Cell:
    """One method on one run of one data set."""

    experiment: str
    dataset: str
    method: str
    run: int


@dataclass(frozen=True)
class Outcome:
    """The result of a cell."""

    error: float  # test error in percent
    seconds: float  # including the search for parameters
    params: dict[str, Any]  # the selected parameters, and what the report plots


@dataclass(frozen=True)
class Fit:
    """A fitted model, its `Outcome.params`, and its error if that is not the error on the test set."""

    model: Any
    params: dict[str, Any] = field(default_factory=dict)
    error: float | None = None


#: Fits on the training set of a split with this seed and effort. The last argument holds the parameters of the cell
#: that this one depends on; it is empty if there is none.
Method = Callable[[Split, int, Effort, dict[str, Any]], Fit]


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of the paper.

    Attributes
    ----------
    name, title : str
    datasets : function of an effort
    methods : dict of str to Method
    split : function of a data set, a run and an effort
    runs : function of a data set
        The number of runs of the full effort.
    depends_on : function of a cell
        The cell, of this experiment or another, whose parameters a cell uses.
    timed : bool
        Whether training times are compared: then cells run one at a time, each with all cores.
    unpublished : tuple of str
        Methods whose results are not yet complete and committed: the report marks them as not yet computed.
    """

    name: str
    title: str
    datasets: Callable[[Effort], tuple[str, ...]]
    methods: dict[str, Method]
    split: Callable[[str, int, Effort], Split]
    runs: Callable[[str], int]
    depends_on: Callable[[Cell], Cell | None] = lambda cell: None
    timed: bool = False
    unpublished: tuple[str, ...] = ()

    @property
    def published(self) -> tuple[str, ...]:
        """The methods whose results are complete and committed."""
        return tuple(method for method in self.methods if method not in self.unpublished)

    def cells(self, effort: Effort) -> list[Cell]:
        """Return all cells, run by run: an interrupted experiment has some results of every method."""
        return [
            Cell(self.name, dataset, method, run)
            for run in range(effort.max_runs)
            for dataset in self.datasets(effort)
            for method in self.methods
            if run < self.n_runs(dataset, effort)
        ]

    def n_runs(self, dataset: str, effort: Effort) -> int:
        """Return the number of runs on a data set."""
        return min(self.runs(dataset), effort.max_runs)

    def compute(self, cell: Cell, effort: Effort, inherited: dict[str, Any]) -> Outcome:
        """Fit the method of a cell and return its test error."""
        split = self.split(cell.dataset, cell.run, effort)
        start = perf_counter()
        fit = self.methods[cell.method](split, cell.run, effort, inherited)
        seconds = perf_counter() - start
        error = error_percent(fit.model, split) if fit.error is None else fit.error
        return Outcome(error, seconds, fit.params)
