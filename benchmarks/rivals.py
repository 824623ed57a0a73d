"""The paper's rivals with stumps on MNIST: their errors beside the paper's, and AdaBoost's time beside scikit-learn's.

Multi-class: 1000 rows a class, 500 rounds, the original test set, `--splits` draws, every method with its defaults.
Two classes (odd and even, 10^4 rows): scikit-learn's AdaBoost with its own stumps runs a few rounds and is scaled up,
every round of it costs the same; the best of three counts on both sides. ``--solvers`` compares a master around
LIBLINEAR, solved anew in every round, with the warm-started one.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost
from sklearn.tree import DecisionTreeClassifier

from benchmarks.binary import test_error
from benchmarks.data import balanced, mnist_odd_even
from benchmarks.measure import seconds_to_fit
from benchmarks.report import Table, save_results
from cgens import generate_columns
from cgens.baselines import (
    AdaBoostClassifier,
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    MultiBoostClassifier,
)
from cgens.masters import Hinge, Liblinear
from cgens.weak_learners import Stump

PAPER = {"AdaBoost.ECC": (12.1, 0.8), "AdaBoost.MH": (10.9, 0.7), "MultiBoost": (10.4, 0.8)}  # and what is near it
SKLEARN_ROUNDS = 5


def multi_class(n_splits: int, rounds: int = 500) -> dict[str, Any]:
    """Return errors and seconds of each method on each draw."""
    makers = {
        "AdaBoost.ECC": lambda seed: AdaBoostECCClassifier(n_estimators=rounds, random_state=seed),
        "AdaBoost.MH": lambda seed: AdaBoostMHClassifier(n_estimators=rounds),
        "MultiBoost": lambda seed: MultiBoostClassifier(n_estimators=rounds),
    }
    table = Table("", "errors %", "mean", "paper", "fit s")
    results: dict[str, Any] = {}
    for label, make in makers.items():
        runs = []
        for seed in range(n_splits):
            split = balanced("mnist", 1000, seed)
            model = make(seed)
            seconds = seconds_to_fit(model, split)
            runs.append({"error": test_error(model, split), "seconds": seconds})
        results[label] = runs
        errors, (paper, near) = [run["error"] for run in runs], PAPER[label]
        listed = ", ".join(f"{error:.2f}" for error in errors)
        seconds = min(run["seconds"] for run in runs)
        table.add(label, listed, f"{np.mean(errors):.2f}", f"{paper} +- {near}", f"{seconds:.1f}")
        print(table, flush=True)
    return results


def adaboost_speed(rounds: int = 500) -> dict[str, float]:
    """Return seconds of AdaBoost here and in scikit-learn."""
    split = mnist_odd_even(10_000)
    ours, theirs = (
        AdaBoostClassifier(n_estimators=rounds),
        SklearnAdaBoost(DecisionTreeClassifier(max_depth=1), n_estimators=SKLEARN_ROUNDS),
    )
    own = min(seconds_to_fit(ours, split) for _ in range(3))
    other = min(seconds_to_fit(theirs, split) for _ in range(3)) * rounds / SKLEARN_ROUNDS
    print(f"AdaBoost, {rounds} rounds: {own:.2f} s, scikit-learn {other:.1f} s (scaled), {other / own:.0f} times")
    return {"seconds": own, "sklearn_seconds_scaled": other, "times": other / own, "error": test_error(ours, split)}


def solvers(rows: tuple[int, ...] = (2000, 10_000), rounds: int = 200) -> list[dict[str, Any]]:
    """Return the seconds that masters spend on solving, warm-started and anew."""
    table = Table("rows", "rounds", "Hinge, warm s", "LIBLINEAR, anew s", "times", "gap", "gap")
    runs = []
    for n_rows in rows:
        split = mnist_odd_even(n_rows)
        y = np.where(split.y == split.y.max(), 1.0, -1.0)
        traces = [
            generate_columns(master(C=10.0 / n_rows), Stump(), split.X, y, max_columns=rounds, n_threads=2)[1]
            for master in (Hinge, Liblinear)
        ]
        warm, anew = (float(trace.solve_seconds.sum()) for trace in traces)
        gaps = [float(trace.certificate.relative_gap) for trace in traces]
        told = (f"{gap:.0e}" for gap in gaps)
        table.add(str(n_rows), str(rounds), f"{warm:.2f}", f"{anew:.2f}", f"{anew / warm:.0f}", *told)
        run = {"rows": n_rows, "rounds": rounds, "hinge_seconds": warm, "liblinear_seconds": anew, "gaps": gaps}
        runs.append(run)
    print(table)
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--solvers", action="store_true", help="only compare the solvers")
    options = parser.parse_args()
    if options.solvers:
        save_results("rivals_solvers", {"runs": solvers()})
        return
    speed = adaboost_speed()
    save_results("rivals", {"adaboost": speed, "multi_class": multi_class(options.splits)})


if __name__ == "__main__":
    main()
