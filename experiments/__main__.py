"""Run the paper's experiments and write the report: ``python -m experiments [NAME ...] [--quick]``."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from pathlib import Path

from cgens.datasets import load
from experiments.experiment import FULL, QUICK, Cell
from experiments.registry import EXPERIMENTS
from experiments.report import write_report
from experiments.runner import run
from experiments.speed import run_speed
from experiments.store import FULL_RESULTS, QUICK_RESULTS, Store
from experiments.table3 import TABLE3, UNAVAILABLE

NAMES = [*EXPERIMENTS, "speed", "report"]


def main(arguments: list[str] | None = None) -> int:
    """Run the command; expected errors are printed as one line."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except KeyboardInterrupt:
        print("\nInterrupted. Finished cells are stored; the same command continues.", file=sys.stderr)
        return 130
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(NAMES)}; default: all")
    parser.add_argument("--quick", action="store_true", help="in minutes: fewer runs, folds, rounds and grid values")
    parser.add_argument("--datasets", nargs="+", metavar="SET", help="only these data sets")
    parser.add_argument("--methods", nargs="+", metavar="METHOD", help="only these methods")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="cells in parallel; default: all cores")
    parser.add_argument("--results", type=Path, help="results folder; default: experiments/results[-quick]")
    return parser


def _run(options: argparse.Namespace) -> int:
    """Run the experiments one after another, then write the report; return the exit code."""
    partial = options.datasets or options.methods
    names = options.names or [name for name in NAMES if name != "speed" or not partial]  # speed has no parts
    for name in names:
        if name not in NAMES:
            similar = difflib.get_close_matches(name, NAMES, n=1)
            hint = f"did you mean {similar[0]!r}?" if similar else f"choose from {', '.join(NAMES)}."
            raise ValueError(f"Unknown experiment {name!r}: {hint}")
    if options.jobs < 1:
        raise ValueError(f"--jobs must be at least 1; got {options.jobs}.")
    effort = QUICK if options.quick else FULL
    experiments = [EXPERIMENTS[name] for name in names if name in EXPERIMENTS]
    datasets = {dataset for experiment in experiments for dataset in experiment.datasets(effort)}
    for name in options.datasets or ():
        if name in UNAVAILABLE and name not in datasets and TABLE3 in experiments:
            load(name)  # raises an error that says how to provide it
    _check_known("data set", options.datasets, datasets)
    _check_known("method", options.methods, {method for experiment in experiments for method in experiment.methods})

    def wanted(cell: Cell) -> bool:
        return (not options.datasets or cell.dataset in options.datasets) and (
            not options.methods or cell.method in options.methods
        )

    store = Store(options.results or (QUICK_RESULTS if options.quick else FULL_RESULTS))
    store.prepare(effort)
    exit_code = 0
    try:
        for name in names:
            try:
                if name in EXPERIMENTS:
                    run(EXPERIMENTS[name], store, effort, options.jobs, wanted)
                elif name == "speed":
                    run_speed(store, effort)
            except (ValueError, OSError) as error:  # continue with the other experiments
                print(f"error: {error}", file=sys.stderr)
                exit_code = 2
    finally:  # also after an interruption: tables and report show all finished cells, another process's too
        write_report(Store(store.folder), effort)
    return exit_code


def _check_known(what: str, asked: list[str] | None, known: set[str]) -> None:
    for name in asked or ():
        if name not in known:
            choices = f"choose from {', '.join(sorted(known))}" if known else "these have none"
            raise ValueError(f"Unknown {what} {name!r} for these experiments: {choices}.")


if __name__ == "__main__":
    sys.exit(main())
