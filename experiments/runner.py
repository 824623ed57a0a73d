"""Compute the cells that are not done yet, several at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from traceback import format_exc
from typing import Any, NamedTuple

from joblib import Parallel, delayed
from tqdm import tqdm

from experiments.experiment import Cell, Effort, Experiment, Outcome
from experiments.store import Store


class Only(NamedTuple):
    """A part of an experiment; None is everything."""

    datasets: frozenset[str] | None = None
    methods: frozenset[str] | None = None

    def __call__(self, cell: Cell) -> bool:
        """Return whether the cell is in it."""
        return (self.datasets is None or cell.dataset in self.datasets) and (
            self.methods is None or cell.method in self.methods
        )


EVERYTHING = Only()


@dataclass(frozen=True)
class Failure:
    """A cell that could not be computed; the others go on."""

    cell: Cell
    reason: str
    traceback: str = ""  # of errors that are not for the user to mend


def run(experiment: Experiment, store: Store, effort: Effort, jobs: int, only: Only = EVERYTHING) -> None:
    """Compute what is left of an experiment, or of a part of it. Every finished cell is kept at once."""
    with store.locked(experiment.name, experiment.alone):
        _run(experiment, store, effort, jobs, only)


def _run(experiment: Experiment, store: Store, effort: Effort, jobs: int, only: Only) -> None:
    if experiment.alone:
        effort, jobs = replace(effort, threads=jobs), 1
    cells = [cell for cell in experiment.cells(effort) if only(cell)]
    left = [cell for cell in cells if cell not in store]
    failures: list[Failure] = []
    try:
        with tqdm(
            total=len(cells), initial=len(cells) - len(left), desc=experiment.name, unit="cell", file=sys.stderr
        ) as bar:
            while left:
                # A cell that takes another's parameters waits for it; the others of this turn go first.
                ready = [cell for cell in left if (needed := experiment.after(cell)) is None or needed in store]
                if not ready:
                    break
                for cell, outcome in _compute(experiment, ready, store, effort, jobs):
                    if isinstance(outcome, Failure):
                        failures.append(outcome)
                        continue
                    store.add(cell, outcome)
                    bar.set_postfix_str(f"{cell.dataset}, {cell.method}: {outcome.error:.2f} %", refresh=False)
                    bar.update()
                done = set(ready)
                left = [cell for cell in left if cell not in done]
    finally:  # also what an interrupted run has done
        store.save_table(experiment.name)
    if failures:
        _tell(experiment, failures, [cell for cell in cells if cell not in store])
    elif left:
        needed = experiment.after(left[0])
        raise ValueError(
            f"{left[0].method} of {experiment.name} takes the parameters of {needed.method} of "
            f"{needed.experiment}, {needed.dataset}: compute that before."
        )


def _tell(experiment: Experiment, failures: list[Failure], missing: list[Cell]) -> None:
    """Raise what went wrong in the first of the cells that failed; where it is our fault, with its traceback."""
    first = failures[0]
    if first.traceback:
        print(first.traceback, file=sys.stderr)
    cell = first.cell
    count = "1 cell" if len(missing) == 1 else f"{len(missing)} cells"
    raise ValueError(
        f"{count} of {experiment.name} could not be computed, the first of them {cell.method} on {cell.dataset}, "
        f"run {cell.run}: {first.reason}"
    )


def _compute(
    experiment: Experiment, cells: list[Cell], store: Store, effort: Effort, jobs: int
) -> Iterator[tuple[Cell, Outcome | Failure]]:
    """Yield outcomes as they come."""
    tasks = []
    for cell in cells:
        needed = experiment.after(cell)
        tasks.append(delayed(_one)(experiment.name, cell, effort, store[needed].params if needed else {}))
    try:
        yield from Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(tasks)
    except BrokenProcessPool as error:
        raise ValueError(
            f"A process that computed cells of {experiment.name} was killed, perhaps for want of memory. What is done "
            f"is kept: the same command goes on, and with less memory if --jobs is below {jobs}."
        ) from error


def _one(name: str, cell: Cell, effort: Effort, given: dict[str, Any]) -> tuple[Cell, Outcome | Failure]:
    """Compute one cell: by name, as experiments hold functions that do not travel between processes."""
    from experiments.registry import EXPERIMENTS

    try:
        return cell, EXPERIMENTS[name].compute(cell, effort, given)
    except (ValueError, OSError) as error:  # a data set that is missing or damaged, say
        return cell, Failure(cell, str(error))
    except Exception as error:
        return cell, Failure(cell, f"{type(error).__name__}: {error}", format_exc())
