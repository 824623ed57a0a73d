"""Compute the cells that are not done yet, several at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from joblib import Parallel, delayed
from tqdm import tqdm

from experiments.experiment import Cell, Effort, Experiment, Outcome
from experiments.store import Store


def run(experiment: Experiment, store: Store, effort: Effort, jobs: int, only: set[str] | None = None) -> None:
    """Compute what is left of an experiment; `only` names data sets. Every finished cell is kept at once."""
    if experiment.alone:
        effort, jobs = replace(effort, threads=jobs), 1
    cells = [cell for cell in experiment.cells(effort) if only is None or cell.dataset in only]
    left = [cell for cell in cells if cell not in store]
    with tqdm(
        total=len(cells), initial=len(cells) - len(left), desc=experiment.name, unit="cell", file=sys.stderr
    ) as bar:
        while left:
            # A cell that takes another's parameters waits for it; the others of this turn go first.
            ready = [cell for cell in left if (needed := experiment.after(cell)) is None or needed in store]
            if not ready:
                raise ValueError(
                    f"{experiment.name} takes parameters of {experiment.after(left[0]).experiment}: run that before."
                )
            for cell, outcome in _compute(experiment, ready, store, effort, jobs):
                store.add(cell, outcome)
                bar.set_postfix_str(f"{cell.dataset}, {cell.method}: {outcome.error:.2f} %", refresh=False)
                bar.update()
            done = set(ready)
            left = [cell for cell in left if cell not in done]
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
