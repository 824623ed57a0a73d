"""The study behind ``C="scale"`` for families other than stumps: test error as a function of C, seven binary data sets.

C is a multiple of 1 / m; errors in percent, with 100 and with 300 columns, are means over data sets and splits. The
defaults are in `cgens.estimators._parameters.FAMILY_STRENGTH`, the reasons in docs/decisions/0004-default-C.md.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from benchmarks.kernel import scaled_split
from benchmarks.report import Table, save_results
from cgens import CGEnsClassifier
from cgens.weak_learners import Box, Fourier, Linear, Perceptron, Stump, Tree
from evaluation.splits import staged_errors

SETS = ("banana", "diabetes", "german", "heart", "image", "thyroid", "waveform")
STRENGTHS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
COLUMNS = (100, 300)
FAMILIES: dict[str, Any] = {
    "fourier": Fourier(standardize=False),
    "fourier, selected": Fourier(standardize=False, learn=False),
    "perceptron": Perceptron(standardize=False),
    "tree": Tree(),
    "box": Box(),
    "linear": Linear(),
    "mixture": [Linear(), Stump(), Fourier(standardize=False, learn=False), Box()],
}


def errors_of(family: Any, loss: str, name: str, seed: int) -> np.ndarray:
    """Return the test errors in percent, shape (len(STRENGTHS), len(COLUMNS))."""
    warnings.simplefilter("ignore")
    split = scaled_split(name, seed)
    errors = []
    for strength in STRENGTHS:
        model = CGEnsClassifier(
            family,
            loss=loss,
            C=strength / len(split.y),
            n_estimators=max(COLUMNS),
            random_state=seed,
            n_jobs=1,
            tol=3e-3,
        ).fit(split.X, split.y)
        staged = staged_errors(model, split.X_test, split.y_test)
        errors.append([staged[min(stage, len(staged)) - 1] for stage in COLUMNS])
    return np.array(errors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=2)
    options = parser.parse_args()
    table = Table("family", "loss", "columns", *(f"{strength:g} / m" for strength in STRENGTHS))
    results: dict[str, Any] = {}
    for label, family in FAMILIES.items():
        for loss in ("hinge", "least_squares"):
            jobs = [(family, loss, name, seed) for name in SETS for seed in range(options.splits)]
            mean = np.mean(Parallel(2)(delayed(errors_of)(*job) for job in jobs), axis=0)
            results[f"{label}, {loss}"] = mean.tolist()
            for k, stage in enumerate(COLUMNS):
                table.add(label, loss, str(stage), *(f"{error:.1f}" for error in mean[:, k]))
            print(label, loss, mean.T.round(1).tolist(), flush=True)
    print(table)
    save_results("family_c", {"sets": SETS, "strengths": STRENGTHS, "columns": COLUMNS, "errors": results})


if __name__ == "__main__":
    main()
