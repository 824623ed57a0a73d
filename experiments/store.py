"""Results on disk: one line per finished cell, and tables of means."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.paper import paper_error
from experiments.comparison import Record
from experiments.experiment import Cell, Effort, Outcome

HERE = Path(__file__).resolve().parent
FULL_RESULTS = HERE / "results"
QUICK_RESULTS = HERE / "results-quick"  # not committed


class Store:
    """The results in a folder: runs/NAME.jsonl has one line per finished cell, NAME.json the table of means."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self._mode = self.folder / "runs" / "EFFORT"
        self._outcomes: dict[Cell, Outcome] = {}
        for path in sorted((self.folder / "runs").glob("*.jsonl")):
            self._read(path)

    def __contains__(self, cell: Cell) -> bool:
        return cell in self._outcomes

    def __getitem__(self, cell: Cell) -> Outcome:
        return self._outcomes[cell]

    @property
    def quick(self) -> bool:
        """Whether the results are those of the quick mode."""
        return self._mode.exists() and self._mode.read_text().strip() == "quick"

    def prepare(self, effort: Effort) -> None:
        """Make the folder ready for new results; raise an error if it has results of another mode."""
        mode = "quick" if effort.quick else "full"
        try:
            self._mode.parent.mkdir(parents=True, exist_ok=True)
            if not self._mode.exists():
                self._mode.write_text(f"{mode}\n")
            found = self._mode.read_text().strip()
            for path in self._mode.parent.glob("*.jsonl"):
                os.truncate(path, path.read_bytes().rfind(b"\n") + 1)  # drop an incomplete last line
        except OSError as error:
            raise OSError(f"Cannot store results in {self.folder}: {error}. Choose another with --results.") from error
        if found != mode:
            raise ValueError(f"{self.folder} has results of the {found} mode: choose another folder with --results.")

    def add(self, cell: Cell, outcome: Outcome) -> None:
        """Store a finished cell at once."""
        key = {"dataset": cell.dataset, "method": cell.method, "run": cell.run}
        with (self.folder / "runs" / f"{cell.experiment}.jsonl").open("a") as file:
            file.write(json.dumps(key | asdict(outcome)) + "\n")
        self._outcomes[cell] = outcome

    def outcomes(self, experiment: str) -> dict[Cell, Outcome]:
        """Return the finished cells of an experiment, ordered by run."""
        found = {cell: outcome for cell, outcome in self._outcomes.items() if cell.experiment == experiment}
        return dict(sorted(found.items(), key=lambda item: item[0].run))

    def table(self, experiment: str) -> list[Record]:
        """Return the means over the runs of an experiment, one record for each data set and method."""
        groups: dict[tuple[str, str], list[Outcome]] = {}
        for cell, outcome in self.outcomes(experiment).items():
            groups.setdefault((cell.dataset, cell.method), []).append(outcome)
        return [_record(experiment, dataset, method, runs) for (dataset, method), runs in sorted(groups.items())]

    def save_tables(self) -> None:
        """Write the tables of all experiments that have results."""
        for experiment in sorted({cell.experiment for cell in self._outcomes}):
            write_json(self.folder / f"{experiment}.json", self.table(experiment))

    def _read(self, path: Path) -> None:
        """Read the finished cells of an experiment; an incomplete last line is one whose cell was interrupted."""
        lines = path.read_text(errors="replace").split("\n")[:-1]
        for number, line in enumerate(lines, start=1):
            try:
                run = json.loads(line)
                cell = Cell(path.stem, run.pop("dataset"), run.pop("method"), run.pop("run"))
                self._outcomes[cell] = Outcome(**run)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ValueError(f"Line {number} of {path} is damaged. Delete it to compute its cell again.") from error


def write_json(path: Path, content: Any) -> None:
    """Write JSON atomically."""
    write_text(path, json.dumps(content, indent=1) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically: an interruption leaves the old one."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text)
    os.replace(part, path)


def _record(experiment: str, dataset: str, method: str, runs: list[Outcome]) -> Record:
    errors = [run.error for run in runs]
    paper_mean, paper_sd = paper_error(experiment, dataset, method)
    keys = sorted({key for run in runs for key in run.params})
    return {
        "experiment": experiment,
        "dataset": dataset,
        "method": method,
        "mean": round(float(np.mean(errors)), 4),
        "sd": round(float(np.std(errors, ddof=1)), 4) if len(errors) > 1 else None,
        "n_runs": len(runs),
        "paper_mean": paper_mean,
        "paper_sd": paper_sd,
        "seconds": round(float(np.mean([run.seconds for run in runs])), 3),
        "params": {key: [run.params.get(key) for run in runs] for key in keys},
    }
