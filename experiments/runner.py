"""Compute the missing cells of an experiment, several at a time."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from joblib import Parallel, delayed
from tqdm import tqdm

from experiments.experiment import Cell, Effort, Experiment, Outcome
from experiments.store import Store


def run(
    experiment: Experiment,
    store: Store,
    effort: Effort,
    jobs: int,
    wanted: Callable[[Cell], bool] = lambda cell: True,
) -> None:
    """Compute the cells that are wanted and missing, and store each as soon as it is finished.

    A cell that fails does not stop the others: ValueError is raised at the end.
    """
    if experiment.timed:
        effort, jobs = replace(effort, threads=jobs), 1
    cells = [cell for cell in experiment.cells(effort) if wanted(cell)]
    missing = [cell for cell in cells if cell not in store]
    failures: list[tuple[Cell, str]] = []
    with tqdm(
        total=len(cells), initial=len(cells) - len(missing), desc=experiment.name, unit="cell", file=sys.stderr
    ) as bar:
        while ready := {
            cell: params for cell in missing if (params := _inherited(experiment, cell, store)) is not None
        }:
            tasks = [delayed(_compute)(cell, effort, params) for cell, params in ready.items()]
            for cell, outcome in Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(tasks):
                if isinstance(outcome, str):
                    failures.append((cell, outcome))
                    continue
                store.add(cell, outcome)
                bar.set_postfix_str(f"{cell.dataset}, {cell.method}: {outcome.error:.2f} %", refresh=False)
                bar.update()
            missing = [cell for cell in missing if cell not in ready]
    if failures:
        cell, reason = failures[0]
        n_missing = sum(cell not in store for cell in cells)
        raise ValueError(
            f"{n_missing} cell{'s' if n_missing > 1 else ''} of {experiment.name} could not be computed, the first: "
            f"{cell.method} on {cell.dataset}, run {cell.run}: {reason}"
        )
    if missing:
        needed = experiment.depends_on(missing[0])
        assert needed is not None
        raise ValueError(
            f"{missing[0].method} of {experiment.name} uses the parameters of {needed.method} of {needed.experiment} "
            f"on {needed.dataset}: compute that first."
        )


def _inherited(experiment: Experiment, cell: Cell, store: Store) -> dict[str, Any] | None:
    """Return the parameters of the cell that this one depends on, if any; None if they are not yet computed."""
    needed = experiment.depends_on(cell)
    if needed is None:
        return {}
    return store[needed].params if needed in store else None


def _compute(cell: Cell, effort: Effort, inherited: dict[str, Any]) -> tuple[Cell, Outcome | str]:
    """Return the outcome of a cell, or why it failed."""
    from experiments.registry import EXPERIMENTS  # by name: the functions of an experiment cannot be pickled

    try:
        return cell, EXPERIMENTS[cell.experiment].compute(cell, effort, inherited)
    except (ValueError, OSError) as error:  # such as a missing or damaged data set
        return cell, str(error)
    except Exception as error:
        traceback.print_exc()
        return cell, f"{type(error).__name__}: {error}"
