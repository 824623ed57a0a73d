"""Run the paper's experiments: ``python -m experiments [NAME ...] [--quick]``; without a name, all of them."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from pathlib import Path

from cgens.datasets import load
from experiments.experiment import FULL, QUICK, Effort
from experiments.registry import EXPERIMENTS
from experiments.report import write_report
from experiments.runner import Only, run
from experiments.speed import run_speed
from experiments.store import FULL_RESULTS, QUICK_RESULTS, Store
from experiments.table3 import ABSENT, TABLE3

NAMES = [*EXPERIMENTS, "speed", "report"]


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for; an error that the user can mend is one sentence."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except KeyboardInterrupt:
        print("\nInterrupted. What is done is kept: the same command goes on from there.", file=sys.stderr)
        return 130
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(NAMES)}; default: all")
    parser.add_argument("--quick", action="store_true", help="a taste in minutes: fewer runs, folds, rounds and values")
    parser.add_argument("--datasets", nargs="+", metavar="SET", help="only these data sets")
    parser.add_argument("--methods", nargs="+", metavar="METHOD", help="only these methods")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="cells at a time; default: one a core")
    parser.add_argument("--results", type=Path, help="folder of the results; default: experiments/results[-quick]")
    return parser


def _run(options: argparse.Namespace) -> int:
    """Run experiment after experiment, then write the page; return the exit code."""
    part = options.datasets or options.methods
    names = options.names or [name for name in NAMES if name != "speed" or not part]  # it has none to choose from
    for name in names:
        if name not in NAMES:
            near = difflib.get_close_matches(name, NAMES, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(NAMES)}."
            raise ValueError(f"No experiment {name!r}: {hint}")
    if options.jobs < 1:
        raise ValueError(f"--jobs must be at least 1; got {options.jobs}.")
    effort = QUICK if options.quick else FULL
    chosen = [EXPERIMENTS[name] for name in names if name in EXPERIMENTS]
    datasets = {dataset for e in chosen for dataset in e.datasets(effort)}
    for name in options.datasets or ():
        if name in ABSENT and name not in datasets and TABLE3 in chosen:
            load(name)  # says where it was looked for, and what to put there
    only = Only(
        _known("data set", options.datasets, datasets),
        _known("method", options.methods, {method for e in chosen for method in e.methods}),
    )
    store = Store(options.results or (QUICK_RESULTS if options.quick else FULL_RESULTS))
    store.prepare(effort)
    failed = False
    try:
        for name in names:
            try:
                _run_one(name, store, effort, options.jobs, only)
            except (ValueError, OSError) as error:  # the other experiments are computed all the same
                print(f"error: {error}", file=sys.stderr)
                failed = True
    finally:  # also after an interruption: a page is never older than its tables
        write_report(Store(store.folder), effort)  # read anew: others may have computed other experiments meanwhile
    return 2 if failed else 0


def _run_one(name: str, store: Store, effort: Effort, jobs: int, only: Only) -> None:
    if name in EXPERIMENTS:
        run(EXPERIMENTS[name], store, effort, jobs, only)
    elif name == "speed":
        run_speed(store, effort)


def _known(what: str, asked: list[str] | None, known: set[str]) -> frozenset[str] | None:
    """Return what was asked for, None for everything, if there is such."""
    for name in asked or ():
        if name not in known:
            there = ", ".join(sorted(known)) or "none to choose from"
            raise ValueError(f"No {what} {name!r} in these experiments; there are {there}.")
    return frozenset(asked) if asked else None


if __name__ == "__main__":
    sys.exit(main())
