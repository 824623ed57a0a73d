"""Results on disk: one line a finished cell, and the tables made from them."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import numpy as np

from experiments.experiment import Cell, Effort, Outcome
from experiments.paper import figures_of

HERE = Path(__file__).resolve().parent
FULL_RESULTS = HERE / "results"
QUICK_RESULTS = HERE / "results-quick"  # not committed
RECORD = ("experiment", "dataset", "method", "mean", "sd", "n_runs", "paper_mean", "paper_sd", "seconds", "params")


class Store:
    """The results in one folder: runs/NAME.jsonl grows by a line a cell, NAME.json is the table."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self._mark = self.folder / "runs" / "EFFORT"
        self._done: dict[Cell, Outcome] = {}
        self._torn: set[str] = set()  # experiments whose last line was not written whole
        self._read_all()

    def __contains__(self, cell: Cell) -> bool:
        return cell in self._done

    def __getitem__(self, cell: Cell) -> Outcome:
        return self._done[cell]

    @property
    def quick(self) -> bool:
        """Whether the results are of the quick mode."""
        return self._mark.exists() and self._mark.read_text().strip() == "quick"

    def prepare(self, effort: Effort) -> None:
        """Make the folder; refuse one that cannot be written, or has results of another effort."""
        mine = "quick" if effort.quick else "full"
        try:
            self._mark.parent.mkdir(parents=True, exist_ok=True)
            if not self._mark.exists():
                self._mark.write_text(f"{mine}\n")
            theirs = self._mark.read_text().strip()
        except OSError as error:
            raise OSError(
                f"Results cannot be kept in {self.folder}: {error.strerror}. Name another by --results."
            ) from error
        if not all(os.access(folder, os.W_OK) for folder in (self.folder, self._mark.parent)):
            raise PermissionError(
                f"No right to write into {self.folder}: give it to yourself, or name another by --results."
            )
        if theirs != mine:
            raise ValueError(f"{self.folder} has results of the {theirs} mode: name another folder by --results.")

    def add(self, cell: Cell, outcome: Outcome) -> None:
        """Keep a finished cell: a line is written at once."""
        path = self.folder / "runs" / f"{cell.experiment}.jsonl"
        if cell.experiment in self._torn:
            # Cut in place: a file put in its stead would not be the one that is locked.
            os.truncate(path, path.read_bytes().rfind(b"\n") + 1)
            self._torn.remove(cell.experiment)
        about = {"dataset": cell.dataset, "method": cell.method, "run": cell.run}
        with path.open("a") as file:
            file.write(json.dumps(about | asdict(outcome)) + "\n")
        self._done[cell] = outcome

    def outcomes(self, experiment: str) -> dict[Cell, Outcome]:
        """Return what is done of an experiment, in the order of the runs."""
        mine = {cell: outcome for cell, outcome in self._done.items() if cell.experiment == experiment}
        return dict(sorted(mine.items(), key=lambda item: item[0].run))

    @contextmanager
    def locked(self, experiment: str, alone: bool = False) -> Iterator[None]:
        """Keep others from the experiment, who would compute the same cells, and if `alone` from all of them."""
        path = self.folder / "runs" / f"{experiment}.jsonl"
        with self.computing(experiment, alone), path.open("a") as file:
            _lock(file, fcntl.LOCK_EX, f"{experiment} is being computed by another process: wait for it.")
            self._read_all()  # what others have done since
            yield

    @contextmanager
    def computing(self, experiment: str, alone: bool) -> Iterator[None]:
        """Keep those away that measure times, and if `alone` all others."""
        reason = "it measures times and others are computed" if alone else "one that measures times is computed"
        with self._mark.open() as file:
            refusal = f"{experiment} cannot begin: {reason} by another process; wait for it."
            _lock(file, fcntl.LOCK_EX if alone else fcntl.LOCK_SH, refusal)
            yield

    def save_tables(self) -> None:
        """Make the tables of all experiments from their runs."""
        for path in sorted((self.folder / "runs").glob("*.jsonl")):
            self.save_table(path.stem)

    def save_table(self, experiment: str) -> list[dict[str, Any]]:
        """Write and return the means of an experiment, one record for each data set and method."""
        groups: dict[tuple[str, str], list[Outcome]] = {}
        for cell, outcome in self.outcomes(experiment).items():
            groups.setdefault((cell.dataset, cell.method), []).append(outcome)
        records = [_record(experiment, dataset, method, runs) for (dataset, method), runs in sorted(groups.items())]
        write_json(self.folder / f"{experiment}.json", records)
        return records

    def load_table(self, experiment: str) -> list[dict[str, Any]]:
        """Return the records that were saved: none if there are none yet."""
        path = self.folder / f"{experiment}.json"
        try:
            records: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
            if not all(set(record) == set(RECORD) for record in records):
                raise ValueError(f"its records must have {', '.join(RECORD)}")
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"{path} is damaged: {error}. Delete it: python -m experiments {experiment} makes it anew."
            ) from error
        return records

    def _read_all(self) -> None:
        for path in sorted((self.folder / "runs").glob("*.jsonl")):
            self._read(path)

    def _read(self, path: Path) -> None:
        """Read the finished cells of an experiment: lines that were written to their end."""
        try:
            *lines, rest = path.read_text(errors="replace").split("\n")
        except PermissionError as error:
            raise PermissionError(
                f"No right to read {path}: give it to yourself, or name another by --results."
            ) from error
        if rest:  # the work was killed while it wrote: that cell is not done
            self._torn.add(path.stem)
        for number, line in enumerate(lines, start=1):
            try:
                run = json.loads(line)
                cell = Cell(path.stem, run.pop("dataset"), run.pop("method"), run.pop("run"))
                self._done[cell] = Outcome(**run)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ValueError(f"Line {number} of {path} is damaged. Delete it: its cell is done again.") from error


def _lock(file: IO[str], kind: int, refusal: str) -> None:
    """Lock a file if nobody else has it; the lock goes with the process."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except OSError as error:
        raise ValueError(refusal) from error


def write_json(path: Path, content: Any) -> None:
    """Write numbers and names."""
    write_whole(path, json.dumps(content, indent=1) + "\n")


def write_whole(path: Path, text: str) -> None:
    """Write a file that is whole or as it was before, whatever comes in between."""
    half = path.with_name(f".{path.name}.{os.getpid()}.part")  # others may write the same file
    half.write_text(text)
    os.replace(half, path)


def _record(experiment: str, dataset: str, method: str, runs: list[Outcome]) -> dict[str, Any]:
    errors = [run.error for run in runs]
    paper_mean, paper_sd = figures_of(experiment, dataset, method)
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
