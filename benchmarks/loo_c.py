"""``C="auto"``, chosen by leave-one-out errors of the whole pool, against ``C="scale"``: paired random splits.

Errors are percentages of misclassified test rows or, for regression, of the variance of y; log-losses are those of
`predict_proba`. A ratio below 1 is in favour of "auto": of means over splits, and its geometric mean over sets. With
``--powers``, "auto" multiplies C by (n / J)^p for each of these p, for J of n columns, instead of its own p.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import log_loss

from benchmarks.report import Table, save_results
from cgens import CGEnsClassifier, CGEnsRegressor
from cgens.estimators import _loo_c
from cgens.weak_learners import Fourier
from evaluation.splits import Split, error_percent, random_split

CLASS_SETS = ("banana", "diabetes", "german", "image", "ringnorm", "splice", "titanic", "vehicle", "waveform")
REGRESSION_SETS = ("abalone",)
COSINES = Fourier(learn=False)
#: name: (sets, estimator, weak learner, loss)
METHODS: dict[str, tuple[tuple[str, ...], Any, Any, str]] = {
    "stumps, logistic": (CLASS_SETS, CGEnsClassifier, "stump", "logistic"),
    "stumps, least squares": (CLASS_SETS, CGEnsClassifier, "stump", "least_squares"),
    "cosines, logistic": (CLASS_SETS, CGEnsClassifier, COSINES, "logistic"),
    "cosines, least squares": (CLASS_SETS, CGEnsClassifier, COSINES, "least_squares"),
    "linear, logistic": (CLASS_SETS, CGEnsClassifier, "linear", "logistic"),
    "linear, squared": (REGRESSION_SETS, CGEnsRegressor, "linear", "squared"),
    "stumps, squared": (REGRESSION_SETS, CGEnsRegressor, "stump", "squared"),
    "cosines, squared": (REGRESSION_SETS, CGEnsRegressor, COSINES, "squared"),
}
FIGURES = ("error", "log_loss", "C", "seconds")


def figures_of(model: Any, split: Split) -> list[float]:
    """Return error, log-loss (NaN for regression), C and seconds of a fit."""
    began = perf_counter()
    model.fit(split.X, split.y)
    seconds = perf_counter() - began
    if isinstance(model, CGEnsClassifier):
        loss = float(log_loss(split.y_test, model.predict_proba(split.X_test), labels=model.classes_))
        return [error_percent(model, split), loss, model.C_, seconds]
    error = 100 * float(np.mean((model.predict(split.X_test) - split.y_test) ** 2) / np.var(split.y_test))
    return [error, np.nan, model.C_, seconds]


def run(method: str, name: str, seed: int, n_columns: int, powers: Sequence[float]) -> list[list[float]]:
    """Return the figures with "scale" and, for each power, with "auto"."""
    warnings.simplefilter("ignore")
    _, estimator, family, loss = METHODS[method]
    split, figures = random_split(name, seed), []
    for C, power in [("scale", 0.0), *(("auto", power) for power in powers)]:
        _loo_c.FEWER_COLUMNS = power
        model = estimator(family, loss=loss, C=C, n_estimators=n_columns, random_state=seed, n_jobs=1)
        figures.append(figures_of(model, split))
    return figures


def geometric_mean(ratios: Any) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.mean(np.log(ratios))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--columns", type=int, default=500)
    parser.add_argument("--powers", type=float, nargs="*")
    options = parser.parse_args()
    if options.powers is None:
        compare(options)
    else:
        compare_powers(options)


def compare_powers(options: argparse.Namespace) -> None:
    """Print the ratios for each power."""
    table = Table("method", "figure", *(f"p = {power:g}" for power in options.powers))
    for method in options.methods:
        means = []
        for name in METHODS[method][0]:
            seeds = range(options.splits)
            runs: Any = Parallel(2)(delayed(run)(method, name, seed, options.columns, options.powers) for seed in seeds)
            means.append(np.mean(runs, axis=0)[:, :2])
            print(method, name, means[-1].T.round(3).tolist(), flush=True)
        ratios = np.array(means)[:, 1:] / np.array(means)[:, :1]
        for k, figure in enumerate(FIGURES[:2]):
            table.add(method, figure, *(f"{geometric_mean(own):.3f}" for own in ratios[..., k].T))
    print(f"\n{options.columns} columns\n{table}")


def compare(options: argparse.Namespace) -> None:
    """Print errors, log-losses, C and times, and save them."""
    power = _loo_c.FEWER_COLUMNS
    summary = Table("method", "error", "log-loss", "better, worse", "C / default", "seconds, scale", "seconds, auto")
    details = Table("method", "set", "error, scale", "error, auto", "log-loss, scale", "log-loss, auto", "C / default")
    results: dict[str, Any] = {}
    for method in options.methods:
        means = {}
        for name in METHODS[method][0]:
            runs: Any = Parallel(2)(
                delayed(run)(method, name, seed, options.columns, [power]) for seed in range(options.splits)
            )
            figures = np.array(runs)  # (splits, scale or auto, figures)
            factor = geometric_mean(figures[:, 1, 2] / figures[:, 0, 2])
            means[name] = [*figures.mean(axis=0).T.tolist(), factor]
            (error, loss), shown = figures.mean(axis=0).T[:2], f"{factor:.2g}"
            details.add(method, name, *(f"{value:.2f}" for value in error), *(f"{value:.3f}" for value in loss), shown)
            print(method, name, error.round(2), loss.round(3), shown, flush=True)
        results[method] = means
        errors, losses, _, seconds = (np.array([own[k] for own in means.values()]) for k in range(4))
        better, worse = np.sum(errors[:, 1] < errors[:, 0]), np.sum(errors[:, 1] > errors[:, 0])
        ratios = [geometric_mean(own[:, 1] / own[:, 0]) for own in (errors, losses)]
        factors = [own[4] for own in means.values()]
        times = [f"{value:.2g}" for value in seconds.mean(axis=0)]
        extent = f"{min(factors):.2g} to {max(factors):.2g}"
        summary.add(method, *(f"{ratio:.3f}" for ratio in ratios), f"{better}, {worse}", extent, *times)
    print(f"\n{details}\n\n{summary}")
    save_results(
        "loo_c", {"splits": options.splits, "columns": options.columns, "figures": FIGURES, "methods": results}
    )


if __name__ == "__main__":
    main()
