"""The study behind ``C="scale"``: untuned error of stumps against C on the shared binary sets.

Each set is split at random; one fit of 500 stumps for each C gives the errors with 100 and with 500 columns. A rule
C = c / m^p (m rows) is judged by its mean excess over the best C of each set, in points of test error.
"""

from __future__ import annotations

import argparse
import itertools

import numpy as np

from benchmarks.data import IDA_SETS, binary_split, mnist_odd_even
from benchmarks.report import Table, save_results
from cgens import CGEnsClassifier

SETS = (*IDA_SETS, "spambase", "higgs_small", "mnist")
COLUMNS = (100, 500)
#: Values of C, a factor of sqrt(10) apart, wide enough for every set's best one.
GRID = 10.0 ** np.arange(-4.5, 0.01, 0.5)
POWERS = (0.0, 0.5, 0.75, 1.0)


def errors_of(name: str, seed: int) -> tuple[int, np.ndarray]:
    """Return the number of rows and the test errors in percent, shape (len(GRID), len(COLUMNS))."""
    split = mnist_odd_even(5000, seed) if name == "mnist" else binary_split(name, seed)
    errors = np.full((len(GRID), len(COLUMNS)), np.nan)
    for i, C in enumerate(GRID):
        model = CGEnsClassifier(C=C, n_estimators=max(COLUMNS), tol=3e-3).fit(split.X, split.y)
        staged = [100 * np.mean(labels != split.y_test) for labels in model.staged_predict(split.X_test)]
        errors[i] = [staged[min(J, len(staged)) - 1] for J in COLUMNS]
    return len(split.y), errors


def rule_errors(measured: dict[str, tuple[int, np.ndarray]], c: float, power: float) -> np.ndarray:
    """Return the errors that C = c / m^power gives, by interpolation over log C; shape (n_sets, len(COLUMNS))."""
    rows = []
    for m, errors in measured.values():
        at = np.log10(c) - power * np.log10(m)
        rows.append([np.interp(at, np.log10(GRID), errors[:, k]) for k in range(len(COLUMNS))])
    return np.array(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=5)
    n_splits = parser.parse_args().splits
    measured = {}
    for name in SETS:
        runs = [errors_of(name, seed) for seed in range(n_splits if name not in ("mnist", "higgs_small") else 2)]
        measured[name] = (runs[0][0], np.mean([errors for _, errors in runs], axis=0))
        print(name, measured[name][0], measured[name][1].round(1).T.tolist(), flush=True)

    best = np.array([errors.min(axis=0) for _, errors in measured.values()])
    rules = Table("rule", "c", "mean error, 100", "mean error, 500", "mean excess over best C", "largest excess")
    judged = []
    for power, c in itertools.product(POWERS, 10.0 ** np.arange(-4, 2.01, 0.25)):
        errors = rule_errors(measured, c, power)
        excess = errors - best
        judged.append((float(excess.mean()), power, c, errors.mean(axis=0), float(excess.max())))
    for power in POWERS:
        for mean, _, c, errors, most in sorted(row for row in judged if row[1] == power)[:3]:
            figures = (f"{value:.2f}" for value in (*errors, mean, most))
            rules.add(f"C = c / m^{power:g}", f"{c:.3g}", *figures)
    rules.add("C = 1", "", *(f"{e:.2f}" for e in rule_errors(measured, 1.0, 0.0).mean(axis=0)), "", "")
    rules.add("best C of each set", "", *(f"{e:.2f}" for e in best.mean(axis=0)), "0.00", "0.0")
    print(rules)
    save_results("default_c", {
        "grid": GRID.tolist(), "columns": COLUMNS, "splits": n_splits,
        "sets": {name: {"rows": m, "errors": errors.tolist()} for name, (m, errors) in measured.items()},
    })  # fmt: skip


if __name__ == "__main__":
    main()
