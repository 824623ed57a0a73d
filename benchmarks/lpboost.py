"""The paper's figure on speed: CGEns against LPBoost, MNIST odd/even, search for stumps included.

(a) 10^4 rows against rounds, (b) 100 rounds against rows. LPBoost has its fastest mode of HiGHS: the dual program, one
row a column, kept alive and solved on by dual simplex (``--modes`` shows the others). Both sides have all cores for the
search. C of each is the best of a few on a fifth of the training rows (``C * rows`` is kept for other numbers of
rows); both end with a certificate. CGEns is timed `--repeats` times, LPBoost `--lp-repeats`, and the best counts.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.binary import test_error
from benchmarks.data import Split, mnist_odd_even
from benchmarks.measure import seconds_to_fit
from benchmarks.report import Table, save_results
from cgens import CGEnsClassifier
from cgens.baselines import LPBoostClassifier

ROUNDS = (25, 50, 100, 250, 500)
ROWS = (1000, 3000, 10_000, 30_000, 60_000)
PAPER = {"rounds": 15, "rows": 26}  # times as fast, at the right end of each axis
TOTALS = {"CGEns": (3.0, 10.0, 30.0), "LPBoost": (30.0, 100.0, 300.0)}  # C * rows to choose from
METHODS = {"CGEns": CGEnsClassifier, "LPBoost": LPBoostClassifier}
PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "lpboost.png"


def choose_total(label: str, split: Split, rounds: int) -> float:
    """Return C * rows of least error on a fifth of the training rows, fitted on the others."""
    held_out = np.arange(len(split.y)) % 5 == 0
    errors = []
    for total in TOTALS[label]:
        model = METHODS[label](C=total / np.sum(~held_out), n_estimators=rounds)
        model.fit(split.X[~held_out], split.y[~held_out])
        errors.append(np.mean(model.predict(split.X[held_out]) != split.y[held_out]))
    return TOTALS[label][int(np.argmin(errors))]


def measure(label: str, split: Split, total: float, rounds: int, repeats: int) -> dict[str, Any]:
    """Return the best seconds of a fit, cumulated over rounds, and what came of it."""
    best: dict[str, Any] = {}
    for _ in range(repeats):
        model = METHODS[label](C=total / len(split.y), n_estimators=rounds)
        seconds = seconds_to_fit(model, split)
        if not best or seconds < best["seconds"]:
            passed = np.cumsum(model.trace_.price_seconds + model.trace_.solve_seconds)
            # A fit that reached its optimum before has no more rounds to go.
            best = {"seconds": seconds, "after_rounds": {r: float(passed[min(r, len(passed) - 1)]) for r in ROUNDS}}
    errors = [100 * float(np.mean(labels != split.y_test)) for labels in model.staged_predict(split.X_test)]
    return {
        **best,
        "C_times_rows": total,
        "n_columns": model.n_columns_,
        "error": test_error(model, split),
        "errors": {r: errors[min(r, len(errors)) - 1] for r in ROUNDS},
        "relative_gap": float(model.certificate_.relative_gap),
        "full_relative_gap": float(model.certificate_.full_relative_gap),
    }


def compare_modes(split: Split, total: float, rounds: int) -> dict[str, float]:
    """Return the seconds of each mode of HiGHS."""
    return {
        solver: seconds_to_fit(LPBoostClassifier(C=total / len(split.y), n_estimators=rounds, solver=solver), split)
        for solver in ("dual", "primal", "ipm")
    }


def draw(by_rounds: dict[str, Any], by_rows: dict[int, dict[str, Any]]) -> None:
    """Draw both parts of the figure, in log scale."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    looks = {"LPBoost": ("#D55E00", "s"), "CGEns": ("#0072B2", "o")}
    with plt.rc_context({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False}):
        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
        for label, (colour, marker) in looks.items():
            passed = by_rounds[label]["after_rounds"]
            left.loglog(list(passed), list(passed.values()), marker=marker, color=colour, label=label)
            seconds = [runs[label]["seconds"] for runs in by_rows.values()]
            right.loglog(list(by_rows), seconds, marker=marker, color=colour, label=label)
        left.set(xlabel="rounds, 10,000 rows of MNIST odd/even", ylabel="seconds, search for stumps included")
        right.set(xlabel="rows, 100 rounds")
        for axis, ticks in ((left, ROUNDS), (right, ROWS)):
            axis.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
            axis.minorticks_off()
            axis.grid(alpha=0.3)
        left.yaxis.set_major_formatter("{x:g}")
        left.legend(frameon=False)
        figure.savefig(PICTURE, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--lp-repeats", type=int, default=1)
    parser.add_argument("--modes", action="store_true", help="only compare the modes of HiGHS")
    options = parser.parse_args()
    repeats = {"CGEns": options.repeats, "LPBoost": options.lp_repeats}
    if options.modes:
        print(compare_modes(mnist_odd_even(3000), 100.0, 100))
        return
    small = mnist_odd_even(10_000)
    totals = {label: choose_total(label, small, 100) for label in METHODS}
    print(f"C * rows: {totals}", flush=True)
    table = Table("rows", "rounds", "CGEns s", "LPBoost s", "times", "paper", "CGEns %", "LPBoost %", "gaps")
    by_rounds = {label: measure(label, small, totals[label], max(ROUNDS), repeats[label]) for label in METHODS}
    for rounds in ROUNDS:
        ours, theirs = (by_rounds[label]["after_rounds"][rounds] for label in METHODS)
        errors = [f"{by_rounds[label]['errors'][rounds]:.2f}" for label in METHODS]
        paper = f"{PAPER['rounds']}" if rounds == max(ROUNDS) else ""
        table.add("10000", str(rounds), f"{ours:.2f}", f"{theirs:.2f}", f"{theirs / ours:.0f}", paper, *errors, "")
    by_rows: dict[int, dict[str, Any]] = {}
    for n_rows in ROWS:
        split = mnist_odd_even(n_rows)
        by_rows[n_rows] = {label: measure(label, split, totals[label], 100, repeats[label]) for label in METHODS}
        ours, theirs = (by_rows[n_rows][label]["seconds"] for label in METHODS)
        errors = [f"{by_rows[n_rows][label]['error']:.2f}" for label in METHODS]
        gaps = ", ".join(f"{by_rows[n_rows][label]['relative_gap']:.0e}" for label in METHODS)
        paper = f"{PAPER['rows']}" if n_rows == max(ROWS) else ""
        table.add(str(n_rows), "100", f"{ours:.2f}", f"{theirs:.2f}", f"{theirs / ours:.0f}", paper, *errors, gaps)
        print(table, flush=True)
    draw(by_rounds, by_rows)
    save_results("lpboost", {"by_rounds": by_rounds, "by_rows": by_rows})


if __name__ == "__main__":
    main()
