"""A mixture of families against the single family that cross-validation selects, and on a synthetic problem.

On the thirteen binary data sets each family alone, and the mixture of all, select C from the same values by three
folds; "picked" is the family with the best cross-validated score. Differences are paired over the splits.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from benchmarks.kernel import scaled_split
from benchmarks.report import Table, save_results
from cgens import CGEnsClassifierCV
from cgens.weak_learners import Box, Fourier, Linear, Stump
from evaluation.splits import IDA_SETS, Split, error_percent

#: The mixture consists of all of them.
FAMILIES: dict[str, Any] = {
    "linear": Linear(),
    "stump": Stump(),
    "wide cosines": Fourier("scale", standardize=False, learn=False),
    "sparse cosines": Fourier(["scale"], n_inputs=[1, 2, 3, 6], standardize=False, learn=False),
    "boxes": Box(),
}
OPTIONS: dict[str, Any] = {"n_estimators": 200, "stages": [200], "cv": 3, "n_jobs": 1, "tol": 3e-3}
STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0)


def search(family: Any, split: Split, seed: int) -> tuple[float, float]:
    """Return the cross-validated score and the test error in percent, for the selected C."""
    warnings.simplefilter("ignore")
    Cs = [strength / len(split.y) for strength in STRENGTHS]
    found = CGEnsClassifierCV(family, "least_squares", Cs=Cs, random_state=seed, **OPTIONS).fit(split.X, split.y)
    return float(found.best_score_), error_percent(found, split)


def errors_of(name: str, seed: int) -> dict[str, float]:
    """Return the test errors of each family, of the family with the best score, and of the mixture."""
    split = scaled_split(name, seed)
    found = {label: search(family, split, seed) for label, family in FAMILIES.items()}
    errors = {label: error for label, (_, error) in found.items()}
    picked = max(found, key=lambda label: found[label][0])
    mixture = search(list(FAMILIES.values()), split, seed)[1]
    return {**errors, "picked": errors[picked], "mixture": mixture}


def step_and_wave(seed: int, n_rows: int = 600, n_test: int = 5000) -> Split:
    """Return a problem that is the sum of steps in two features and a smooth wave in six others."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows + n_test, 8))
    step = np.sign(X[:, 0]) + np.sign(X[:, 1] - 0.5)
    wave = 2 * np.cos(np.sum(X[:, 2:], axis=1) / 1.5)
    y = (step + wave > 0).astype(int)
    return Split(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])


def synthetic_errors(n_splits: int) -> dict[str, list[float]]:
    """Return the test errors on the synthetic problem."""
    errors: dict[str, list[float]] = {}
    families = {
        "stump": Stump(),
        "fourier": Fourier(standardize=False, learn=False),
        "mixture": [Stump(), Fourier(standardize=False, learn=False)],
        "mixture, each on its columns": [
            (Stump(), [0, 1]),
            (Fourier(standardize=False, learn=False), list(range(2, 8))),
        ],
    }
    for seed in range(n_splits):
        split = step_and_wave(seed)
        for label, family in families.items():
            errors.setdefault(label, []).append(search(family, split, seed)[1])
    return errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=8)
    parser.add_argument("--sets", nargs="*", default=list(IDA_SETS))
    options = parser.parse_args()
    labels = [*FAMILIES, "picked", "mixture"]
    table, results, differences = Table("set", *labels, "difference", "s.e."), {}, []
    for name in options.sets:
        runs: Any = Parallel(2)(delayed(errors_of)(name, seed) for seed in range(options.splits))
        errors = {label: np.array([run[label] for run in runs]) for label in labels}
        difference = errors["mixture"] - errors["picked"]
        spread = float(difference.std(ddof=1) / np.sqrt(len(difference)))
        differences.append(difference.mean())
        figures = [f"{errors[label].mean():.1f}" for label in labels]
        table.add(name, *figures, f"{difference.mean():+.2f}", f"{spread:.2f}")
        results[name] = {label: values.tolist() for label, values in errors.items()}
        print(name, *figures, f"{difference.mean():+.2f} +- {spread:.2f}", flush=True)
    print(f"\n{table}\nmean difference of the mixture: {np.mean(differences):+.2f}")
    synthetic = synthetic_errors(options.splits)
    print({label: f"{np.mean(values):.2f} +- {np.std(values):.2f}" for label, values in synthetic.items()})
    save_results("mixtures", {"splits": options.splits, "sets": results, "made": synthetic})


if __name__ == "__main__":
    main()
