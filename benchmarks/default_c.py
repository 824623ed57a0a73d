"""The study behind ``C="scale"`` and ``pricing="auto"``: test error of stumps as a function of C.

Each data set is split at random; one fit of 500 stumps for each C gives the errors with 100 and with 500 columns: the
percentage of misclassified rows, or for regression the mean squared error in percent of the variance of y. A rule
C = c / m^p (m rows) is rated by its mean excess over the best C of each data set, in percentage points. Least squares
is measured with both pricing rules.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3

from benchmarks.report import Table, load_results, save_results
from cgens import CGEnsClassifier, CGEnsRegressor
from cgens.estimators._parameters import SCALE_RULE
from evaluation.splits import IDA_SETS, MULTICLASS_SETS, Split, mnist, mnist_odd_even, random_split

COLUMNS = (100, 500)
#: A factor of sqrt(10) apart; the range includes the best C of every data set.
GRID = 10.0 ** np.arange(-4.5, 0.01, 0.5)
POWERS = (0.0, 0.5, 0.75, 1.0)
LARGE_SETS = ("mnist", "higgs_small", "letter", "pendigits", "usps", "california_housing")


def synthetic_split(name: str, seed: int) -> Split:
    """Return one of Friedman's functions with noise, 500 training and 2000 test rows, or scikit-learn's diabetes."""
    makers = {
        "friedman1": (make_friedman1, 1.0),
        "friedman2": (make_friedman2, 125.0),
        "friedman3": (make_friedman3, 0.1),
    }
    if name in makers:
        make, noise = makers[name]
        X, y = make(n_samples=2500, noise=noise, random_state=seed)
        return Split(X[:500], y[:500], X[500:], y[500:])
    X, y = load_diabetes(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    return Split(X[order[:265]], y[order[:265]], X[order[265:]], y[order[265:]])


@dataclass(frozen=True)
class Study:
    """A loss, the data sets it is studied on, and the estimator."""

    sets: tuple[str, ...]
    split: Callable[[str, int], Split]
    model: type
    loss: str
    pricings: tuple[str, ...]


BINARY_SETS = (*IDA_SETS, "spambase", "higgs_small", "mnist")


def binary_split(name: str, seed: int) -> Split:
    """Return a random split of one of the binary data sets."""
    return mnist_odd_even(5000, seed) if name == "mnist" else random_split(name, seed)


STUDIES = {
    "hinge": Study(BINARY_SETS, binary_split, CGEnsClassifier, "hinge", ("max",)),
    "least_squares": Study(
        (*MULTICLASS_SETS, "mnist"),
        lambda name, seed: mnist(5000, seed) if name == "mnist" else random_split(name, seed),
        CGEnsClassifier, "least_squares", ("max", "gain"),
    ),
    "ls_svm": Study(BINARY_SETS, binary_split, CGEnsClassifier, "least_squares", ("max", "gain")),
    "squared": Study(
        ("abalone", "california_housing", "sklearn_diabetes", "friedman1", "friedman2", "friedman3"),
        lambda name, seed: (random_split if name in ("abalone", "california_housing") else synthetic_split)(name, seed),
        CGEnsRegressor, "squared", ("max", "gain"),
    ),
}  # fmt: skip


def errors_of(study: Study, name: str, seed: int, pricing: str) -> tuple[int, np.ndarray]:
    """Return the number of training rows and the test errors in percent, shape (len(GRID), len(COLUMNS))."""
    split = study.split(name, seed)
    errors = np.full((len(GRID), len(COLUMNS)), np.nan)
    for i, C in enumerate(GRID):
        model = study.model(C=C, n_estimators=max(COLUMNS), loss=study.loss, pricing=pricing, tol=3e-3)
        model.fit(split.X, split.y)
        staged = list(model.staged_predict(split.X_test))
        for k, J in enumerate(COLUMNS):
            predicted = staged[min(J, len(staged)) - 1]
            if study.loss == "squared":
                errors[i, k] = 100 * np.mean((predicted - split.y_test) ** 2) / np.var(split.y_test)
            else:
                errors[i, k] = 100 * np.mean(predicted != split.y_test)
    return len(split.y), errors


#: By data set: "rows", the number of training rows, and "errors", shape (len(GRID), len(COLUMNS)).
Measured = dict[str, dict[str, Any]]


def rule_errors(measured: Measured, c: float, power: float) -> np.ndarray:
    """Return the errors for C = c / m^power, interpolated over log C, shape (n_sets, len(COLUMNS))."""
    rows = []
    for result in measured.values():
        at = np.log10(c) - power * np.log10(result["rows"])
        rows.append([np.interp(at, np.log10(GRID), errors) for errors in np.transpose(result["errors"])])
    return np.array(rows)


def measure(study: Study, n_splits: int) -> dict[str, Measured]:
    """Return training rows and mean errors of each data set, for each pricing rule."""
    measured: dict[str, Measured] = {pricing: {} for pricing in study.pricings}
    for name in study.sets:
        for pricing in study.pricings:
            splits = range(min(2, n_splits) if name in LARGE_SETS else n_splits)
            runs = [errors_of(study, name, seed, pricing) for seed in splits]
            mean = np.mean([errors for _, errors in runs], axis=0)
            measured[pricing][name] = {"rows": runs[0][0], "errors": mean.tolist()}
            print(name, pricing, runs[0][0], mean.round(1).T.tolist(), flush=True)
    return measured


def rule_table(measured: Measured, rule: tuple[float, float]) -> Table:
    """Return the best constant of each rule, C = 1, and the best C of each data set."""
    best = np.array([np.min(result["errors"], axis=0) for result in measured.values()])
    table = Table("rule", "mean error, 100", "mean error, 500", "mean excess over best C", "largest excess")

    def add(label: str, errors: np.ndarray) -> None:
        excess = errors - best
        table.add(label, *(f"{value:.2f}" for value in (*errors.mean(axis=0), excess.mean(), excess.max())))

    for power in POWERS:
        constants = 10.0 ** np.arange(-4, 2.01, 0.05)
        errors = [rule_errors(measured, c, power) for c in constants]
        k = int(np.argmin([e.mean() for e in errors]))
        add(f"C = {constants[k]:.3g} / m^{power:g}", errors[k])
    add(f"C = {rule[0]:g} / m^{rule[1]:g} (the default)", rule_errors(measured, *rule))
    add("C = 1", rule_errors(measured, 1.0, 0.0))
    add("best C of each data set", best)
    return table


def set_table(measured: Measured, rule: tuple[float, float]) -> Table:
    """Return the errors of the default and of the best C on each data set."""
    table = Table("set", "rows", "default, 100", "best C, 100", "default, 500", "best C, 500")
    default = rule_errors(measured, *rule)
    for (name, result), ours in zip(measured.items(), default, strict=True):
        best = np.min(result["errors"], axis=0)
        table.add(name, str(result["rows"]), *(f"{value:.1f}" for value in (ours[0], best[0], ours[1], best[1])))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--study", choices=STUDIES, action="append", help="a study (may be repeated); default: all")
    parser.add_argument("--saved", action="store_true", help="print the tables of the saved results")
    options = parser.parse_args()
    for name in options.study or STUDIES:
        study = STUDIES[name]
        file = f"default_c_{name}"
        if options.saved:
            measured = load_results(file)["pricings"]
        else:
            measured = measure(study, options.splits)
            settings = {"grid": GRID.tolist(), "columns": COLUMNS, "splits": options.splits}
            save_results(file, {**settings, "pricings": measured})
        for pricing, sets in measured.items():
            print(f"\n{name}, pricing {pricing}")
            print(rule_table(sets, SCALE_RULE[study.loss]))
            print(set_table(sets, SCALE_RULE[study.loss]))


if __name__ == "__main__":
    main()
