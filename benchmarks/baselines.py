"""The paper's baselines with stumps on MNIST: errors here and in the paper, AdaBoost's time here and in scikit-learn.

Multiclass: 1000 rows per class, 500 rounds, the original test set, `--splits` random subsets, default parameters. Two
classes (odd/even, 10^4 rows): scikit-learn's AdaBoost with its own stumps runs a few rounds, extrapolated because all
of its rounds take the same time; the best of three fits is reported for both. ``--solvers`` compares a master problem
solved by LIBLINEAR, which starts from scratch in each round, with the warm-started one.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost
from sklearn.tree import DecisionTreeClassifier

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
from evaluation.paper import PAPER_ERRORS
from evaluation.splits import balanced_split, error_percent, mnist_odd_even

SKLEARN_ROUNDS = 5


def multiclass(n_splits: int, rounds: int = 500) -> dict[str, Any]:
    """Return test errors and fit times of each method on each subset."""
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
            split = balanced_split("mnist", 1000, seed)
            model = make(seed)
            seconds = seconds_to_fit(model, split)
            runs.append({"error": error_percent(model, split), "seconds": seconds})
        results[label] = runs
        errors, (paper, sd) = [run["error"] for run in runs], PAPER_ERRORS["table3"]["mnist"][label]
        listed = ", ".join(f"{error:.2f}" for error in errors)
        seconds = min(run["seconds"] for run in runs)
        table.add(label, listed, f"{np.mean(errors):.2f}", f"{paper} +- {sd}", f"{seconds:.1f}")
        print(table, flush=True)
    return results


def adaboost_speed(rounds: int = 500) -> dict[str, float]:
    """Return the fit times of AdaBoost here and in scikit-learn."""
    split = mnist_odd_even(10_000)
    ours = AdaBoostClassifier(n_estimators=rounds)
    theirs = SklearnAdaBoost(DecisionTreeClassifier(max_depth=1), n_estimators=SKLEARN_ROUNDS)
    own = min(seconds_to_fit(ours, split) for _ in range(3))
    other = min(seconds_to_fit(theirs, split) for _ in range(3)) * rounds / SKLEARN_ROUNDS
    print(f"AdaBoost, {rounds} rounds: {own:.2f} s, scikit-learn {other:.1f} s (extrapolated): {other / own:.0f} times")
    return {"seconds": own, "sklearn_seconds_scaled": other, "times": other / own, "error": error_percent(ours, split)}


def solvers(rows: tuple[int, ...] = (2000, 10_000), rounds: int = 200) -> list[dict[str, Any]]:
    """Return the seconds spent in solves, warm-started and from scratch."""
    table = Table("rows", "rounds", "Hinge, warm-started s", "LIBLINEAR s", "ratio", "gap", "gap")
    runs = []
    for n_rows in rows:
        split = mnist_odd_even(n_rows)
        y = np.where(split.y == split.y.max(), 1.0, -1.0)
        traces = [
            generate_columns(master(C=10.0 / n_rows), Stump(), split.X, y, max_columns=rounds, n_threads=2)[1]
            for master in (Hinge, Liblinear)
        ]
        warm, cold = (float(trace.solve_seconds.sum()) for trace in traces)
        gaps = [float(trace.certificate.relative_gap) for trace in traces]
        times = f"{warm:.2f}", f"{cold:.2f}", f"{cold / warm:.0f}"
        table.add(str(n_rows), str(rounds), *times, *(f"{gap:.0e}" for gap in gaps))
        runs.append({"rows": n_rows, "rounds": rounds, "hinge_seconds": warm, "liblinear_seconds": cold, "gaps": gaps})
    print(table)
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--solvers", action="store_true", help="only compare the solvers")
    options = parser.parse_args()
    if options.solvers:
        save_results("baselines_solvers", {"runs": solvers()})
        return
    speed = adaboost_speed()
    save_results("baselines", {"adaboost": speed, "multi_class": multiclass(options.splits)})


if __name__ == "__main__":
    main()
