"""MNIST odd/even: fully corrective stumps against the stage-wise stumps of LightGBM and AdaBoost.

All methods get the same float32 array and the same number of threads, times include binning, and the fits of a pair run
back to back; the result is the median ratio of five pairs. LightGBM: num_leaves=2, learning_rate=0.3. AdaBoost runs a
few rounds, extrapolated because all of its rounds take the same time. Also measured: how the time of a round grows with
the number of rows at constant C * rows, and the memory of a fit in addition to X.
"""

from __future__ import annotations

from statistics import median
from typing import Any

import lightgbm
import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.measure import memory_growth, seconds_to_fit
from benchmarks.report import Table, save_results
from cgens import CGEnsClassifier
from evaluation.splits import Split, error_percent, mnist_odd_even

PAIRS = 5
ADABOOST_ROUNDS = 3
C_TIMES_ROWS = (3.0, 10.0, 30.0)  # to select from


def select_c(split: Split, n_columns: int) -> float:
    """Return the C with the lowest error on a held-out fifth of the training set."""
    held_out = np.arange(len(split.y)) % 5 == 0
    errors = []
    for total in C_TIMES_ROWS:
        model = CGEnsClassifier(loss="hinge", C=total / np.sum(~held_out), n_estimators=n_columns)
        model.fit(split.X[~held_out], split.y[~held_out])
        errors.append(np.mean(model.predict(split.X[held_out]) != split.y[held_out]))
    return C_TIMES_ROWS[int(np.argmin(errors))] / len(split.y)


def compare(n_rows: int, rounds: int, threads: int) -> dict[str, Any]:
    """Return the measurements of interleaved fits of both methods."""
    split = mnist_odd_even(n_rows)
    C = select_c(split, rounds)
    ours = CGEnsClassifier(loss="hinge", C=C, n_estimators=rounds, n_jobs=threads)
    theirs = lightgbm.LGBMClassifier(n_estimators=rounds, num_leaves=2, learning_rate=0.3, n_jobs=threads, verbose=-1)
    pairs, parts = [], []
    for _ in range(PAIRS):
        pairs.append((seconds_to_fit(ours, split), seconds_to_fit(theirs, split)))
        prepared, *priced = ours.trace_.price_seconds
        parts.append((prepared, sum(priced), ours.trace_.solve_seconds.sum()))
    ada = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=ADABOOST_ROUNDS)
    ada_seconds = seconds_to_fit(ada, split) * rounds / ADABOOST_ROUNDS
    return {
        "rows": n_rows,
        "rounds": rounds,
        "threads": threads,
        "C": C,
        "cgens_seconds": median(a for a, _ in pairs),
        "lightgbm_seconds": median(b for _, b in pairs),
        "ratio_to_lightgbm": median(a / b for a, b in pairs),
        "adaboost_seconds_scaled": ada_seconds,
        "times_faster_than_adaboost": ada_seconds / median(a for a, _ in pairs),
        "cgens_error": error_percent(ours, split),
        "lightgbm_error": error_percent(theirs, split),
        "relative_gap": ours.certificate_.relative_gap,
        "median_seconds_of_preparing_pricing_solving": np.median(parts, axis=0).tolist(),
    }


def growth(rounds: int = 100, threads: int = 2) -> dict[str, float]:
    """Return e such that the seconds per round grow as rows^e from 10^4 to 6 * 10^4 rows, at C * rows = 10."""
    per_round = {}
    for n_rows in (10_000, 60_000):
        split = mnist_odd_even(n_rows)
        model = CGEnsClassifier(loss="hinge", C=10.0 / n_rows, n_estimators=rounds, n_jobs=threads)
        runs = []
        for _ in range(3):
            model.fit(split.X, split.y)
            runs.append((model.trace_.price_seconds[1:].sum() + model.trace_.solve_seconds.sum()) / rounds)
        per_round[n_rows] = min(runs)
    exponent = float(np.log(per_round[60_000] / per_round[10_000]) / np.log(6))
    return {"seconds_1e4": per_round[10_000], "seconds_6e4": per_round[60_000], "exponent": exponent}


def main() -> None:
    runs = [compare(n_rows, rounds, threads) for n_rows, rounds in ((10_000, 500), (60_000, 100)) for threads in (1, 2)]
    table = Table(
        "rows", "rounds", "threads", "cgens s", "LightGBM s", "ratio", "x AdaBoost", "error %", "LightGBM %", "gap"
    )  # fmt: skip
    for run in runs:
        table.add(
            str(run["rows"]), str(run["rounds"]), str(run["threads"]), f"{run['cgens_seconds']:.2f}",
            f"{run['lightgbm_seconds']:.2f}", f"{run['ratio_to_lightgbm']:.2f}",
            f"{run['times_faster_than_adaboost']:.0f}", f"{run['cgens_error']:.2f}", f"{run['lightgbm_error']:.2f}",
            f"{run['relative_gap']:.1e}",
        )  # fmt: skip
    print(table)
    rows = growth()
    print(f"time of a round grows as rows^{rows['exponent']:.2f} from 10^4 to 6 * 10^4 rows")
    model = "cgens.CGEnsClassifier(loss='hinge', C=10.0 / 60_000, n_estimators=100)"
    memory = memory_growth("mnist_odd_even(60_000)", model)
    print(f"60000 rows x 100 rounds: memory grows by {memory:.0f} MB over X")
    save_results("binary", {"runs": runs, "growth": rows, "memory_growth_mb": memory})


if __name__ == "__main__":
    main()
