"""Compute the cells that are not done yet, several at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
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


def run(experiment: Experiment, store: Store, effort: Effort, jobs: int, only: Only = EVERYTHING) -> None:
    """Compute what is left of an experiment, or of a part of it. Every finished cell is kept at once."""
    with store.locked(experiment.name):
        _run(experiment, store, effort, jobs, only)


def _run(experiment: Experiment, store: Store, effort: Effort, jobs: int, only: Only) -> None:
    if experiment.alone:
        effort, jobs = replace(effort, threads=jobs), 1
    cells = [cell for cell in experiment.cells(effort) if only(cell)]
    left = [cell for cell in cells if cell not in store]
    try:
        with tqdm(
            total=len(cells), initial=len(cells) - len(left), desc=experiment.name, unit="cell", file=sys.stderr
        ) as bar:
            while left:
                # A cell that takes another's parameters waits for it; the others of this turn go first.
                ready = [cell for cell in left if (needed := experiment.after(cell)) is None or needed in store]
                if not ready:
                    needed = experiment.after(left[0])
                    raise ValueError(
                        f"{left[0].method} of {experiment.name} takes the parameters of {needed.method} of "
                        f"{needed.experiment}, {needed.dataset}: compute that before."
                    )
                for cell, outcome in _compute(experiment, ready, store, effort, jobs):
                    store.add(cell, outcome)
                    bar.set_postfix_str(f"{cell.dataset}, {cell.method}: {outcome.error:.2f} %", refresh=False)
                    bar.update()
                done = set(ready)
                left = [cell for cell in left if cell not in done]
    finally:  # also what an interrupted run has done
        store.save_table(experiment.name)


def _compute(
    experiment: Experiment, cells: list[Cell], store: Store, effort: Effort, jobs: int
) -> Iterator[tuple[Cell, Outcome]]:
    """Yield outcomes as they come."""
    tasks = []
    for cell in cells:
        needed = experiment.after(cell)
        tasks.append(delayed(_one)(experiment.name, cell, effort, store[needed].params if needed else {}))
    yield from Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(tasks)


def _one(name: str, cell: Cell, effort: Effort, given: dict[str, Any]) -> tuple[Cell, Outcome]:
    """Compute one cell: by name, as experiments hold functions that do not travel between processes."""
    from experiments.registry import EXPERIMENTS

    return cell, EXPERIMENTS[name].compute(cell, effort, given)
