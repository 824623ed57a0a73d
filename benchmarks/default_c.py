"""The study behind ``C="scale"``: untuned error of stumps against C on the shared binary sets.

Each set is split at random; one fit of 500 stumps for each C gives the errors with 100 and with 500 columns. A rule
C = c / m^p (m rows) is judged by its mean excess over the best C of each set, in points of test error.
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.data import IDA_SETS, binary_split, mnist_odd_even
from benchmarks.report import Table, load_results, save_results
from cgens import CGEnsClassifier
from cgens.estimators._parameters import SCALE_TOTAL

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


def measure(n_splits: int) -> dict[str, tuple[int, np.ndarray]]:
    """Return rows and mean errors of every set."""
    measured = {}
    for name in SETS:
        runs = [errors_of(name, seed) for seed in range(2 if name in ("mnist", "higgs_small") else n_splits)]
        measured[name] = (runs[0][0], np.mean([errors for _, errors in runs], axis=0))
        print(name, measured[name][0], measured[name][1].round(1).T.tolist(), flush=True)
    sets = {name: {"rows": m, "errors": errors.tolist()} for name, (m, errors) in measured.items()}
    save_results("default_c", {"grid": GRID.tolist(), "columns": COLUMNS, "splits": n_splits, "sets": sets})
    return measured


def rule_table(measured: dict[str, tuple[int, np.ndarray]]) -> Table:
    """Return the best constants of each rule, beside C = 1 and the best C of each set."""
    best = np.array([errors.min(axis=0) for _, errors in measured.values()])
    table = Table("rule", "mean error, 100", "mean error, 500", "mean excess over best C", "largest excess")

    def add(label: str, errors: np.ndarray) -> None:
        excess = errors - best
        table.add(label, *(f"{value:.2f}" for value in (*errors.mean(axis=0), excess.mean(), excess.max())))

    for power in POWERS:
        constants = 10.0 ** np.arange(-4, 2.01, 0.05)
        errors = [rule_errors(measured, c, power) for c in constants]
        k = int(np.argmin([e.mean() for e in errors]))
        add(f"C = {constants[k]:.3g} / m^{power:g}", errors[k])
    add(f"C = {SCALE_TOTAL:g} / m (the default)", rule_errors(measured, SCALE_TOTAL, 1.0))
    add("C = 1", rule_errors(measured, 1.0, 0.0))
    add("best C of each set", best)
    return table


def set_table(measured: dict[str, tuple[int, np.ndarray]]) -> Table:
    """Return the errors of the default and of the best C, set by set."""
    table = Table("set", "rows", "default, 100", "best C, 100", "default, 500", "best C, 500")
    default = rule_errors(measured, SCALE_TOTAL, 1.0)
    for (name, (m, errors)), ours in zip(measured.items(), default, strict=True):
        best = errors.min(axis=0)
        table.add(name, str(m), *(f"{value:.1f}" for value in (ours[0], best[0], ours[1], best[1])))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--saved", action="store_true", help="show the tables of the saved results")
    options = parser.parse_args()
    if options.saved:
        saved = load_results("default_c")["sets"]
        measured = {name: (entry["rows"], np.array(entry["errors"])) for name, entry in saved.items()}
    else:
        measured = measure(options.splits)
    print(rule_table(measured))
    print(set_table(measured))


if __name__ == "__main__":
    main()
