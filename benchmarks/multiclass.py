"""MNIST, ten classes: CGEns-SLS with stumps against LightGBM, XGBoost and scikit-learn's histogram boosting.

All methods get the same float32 array and the same number of threads, and times include binning. The other libraries
build one stump per class and round: 5000 stumps in 500 rounds, where CGEns-SLS has 500 columns that all classes share.
Times are medians of interleaved pairs of fits with LightGBM; the other libraries run once. They have their default
learning rate; LightGBM also runs with 0.3, which needs fewer rounds (with 1.0 it diverges). The seconds to a test error
exclude the computation of staged errors; for the other libraries all rounds are assumed to take the same time.
"""

from __future__ import annotations

import argparse
from statistics import median
from typing import Any

import lightgbm
import numpy as np
import xgboost
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.measure import memory_growth, microseconds_per_prediction, seconds_to_fit
from benchmarks.report import Table, save_results
from cgens import CGEnsClassifier, CGEnsClassifierCV
from cgens.datasets import load
from evaluation.splits import Split, balanced_split, error_percent, mnist, staged_errors

ROUNDS = 500
PAIRS = 3
TARGETS = (15.0, 13.0, 12.0)


def lightgbm_model(threads: int, rate: float = 0.1) -> Any:
    return lightgbm.LGBMClassifier(n_estimators=ROUNDS, num_leaves=2, learning_rate=rate, n_jobs=threads, verbose=-1)


def xgboost_model(threads: int) -> Any:
    return xgboost.XGBClassifier(n_estimators=ROUNDS, max_depth=1, n_jobs=threads, tree_method="hist")


def histogram_model() -> Any:
    return HistGradientBoostingClassifier(max_iter=ROUNDS, max_leaf_nodes=2, early_stopping=False)


def percent_wrong(predicted: np.ndarray, split: Split) -> float:
    """Return the test error in percent."""
    return 100 * float(np.mean(predicted != split.y_test))


def errors_by_round(name: str, model: Any, split: Split) -> list[float]:
    """Return the test error after each round."""
    if name.startswith("LightGBM"):
        booster = model.booster_
        total = np.zeros((len(split.y_test), 10))
        errors = []
        for k in range(booster.current_iteration()):
            total += booster.predict(split.X_test, start_iteration=k, num_iteration=1, raw_score=True)
            errors.append(percent_wrong(total.argmax(axis=1), split))
        return errors
    if name == "XGBoost":
        booster, data = model.get_booster(), xgboost.DMatrix(split.X_test)
        every = range(5, ROUNDS + 1, 5)
        coarse = [percent_wrong(booster.predict(data, iteration_range=(0, k)).argmax(axis=1), split) for k in every]
        return [value for value in coarse for _ in range(5)]
    return staged_errors(model, split.X_test, split.y_test)


def seconds_to(errors: list[float], seconds: float, round_seconds: np.ndarray | None = None) -> dict[str, float | None]:
    """Return when each target error was first reached, from the seconds of each round or from equal shares."""
    ends = (
        np.linspace(seconds / len(errors), seconds, len(errors)) if round_seconds is None else np.cumsum(round_seconds)
    )
    reached = {}
    for target in TARGETS:
        first = next((k for k, value in enumerate(errors) if value <= target), None)
        reached[f"{target:g}"] = None if first is None else float(ends[first])
    return reached


def select_c(split: Split, pricing: str) -> float:
    """Return the C selected by five folds, with 500 columns."""
    model = CGEnsClassifierCV(loss="least_squares", n_estimators=ROUNDS, pricing=pricing, stages=[ROUNDS])
    model.fit(split.X, split.y)
    return model.C_


def compare(n_rows: int, threads: int, pairs: int, with_others: bool) -> dict[str, Any]:
    """Return the measurements of all methods."""
    split = mnist(n_rows)
    C = select_c(split, "auto")
    ours = CGEnsClassifier(loss="least_squares", C=C, n_estimators=ROUNDS, n_jobs=threads)
    theirs = lightgbm_model(threads)
    times = [(seconds_to_fit(ours, split), seconds_to_fit(theirs, split)) for _ in range(pairs)]
    own_seconds = median(a for a, _ in times)
    rounds = ours.trace_.price_seconds[1:] + ours.trace_.solve_seconds[1:]
    rounds[0] += own_seconds - rounds.sum()  # includes validation, ordering and binning
    rows: dict[str, Any] = {
        "CGEns-SLS": {
            **describe(ours, split, own_seconds, ours.n_columns_),
            "seconds_to_error": seconds_to(errors_by_round("CGEns", ours, split), own_seconds, rounds),
        },
        "LightGBM": describe_boosting("LightGBM", theirs, split, median(b for _, b in times)),
    }
    if with_others:
        others = {
            **({"LightGBM, rate 0.3": lightgbm_model(threads, 0.3)} if n_rows <= 10_000 else {}),
            "XGBoost": xgboost_model(threads),
            "HistGradientBoosting": histogram_model(),
        }
        for name, model in others.items():
            rows[name] = describe_boosting(name, model, split, seconds_to_fit(model, split))
    ratio = median(b / a for a, b in times)
    return {"rows": n_rows, "threads": threads, "C": C, "times_faster_than_lightgbm": ratio, "models": rows}


def describe(model: Any, split: Split, seconds: float, n_stumps: int) -> dict[str, Any]:
    """Return the measurements common to all methods."""
    return {
        "fit_seconds": seconds,
        "microseconds_a_prediction": microseconds_per_prediction(model, split),
        "error": error_percent(model, split),
        "stumps": n_stumps,
    }


def describe_boosting(name: str, model: Any, split: Split, seconds: float) -> dict[str, Any]:
    """Return the measurements of a stage-wise method."""
    reached = seconds_to(errors_by_round(name, model, split), seconds)
    return {**describe(model, split, seconds, 10 * ROUNDS), "seconds_to_error": reached}


def classes_and_time(noise: float, rounds: int = 200) -> dict[str, float]:
    """Return milliseconds per round on letter with its classes merged into 3, and with all 26; best of three.

    Each feature has 16 values; with noise of this standard deviation it has 256 bins, and the table is 16 times as
    large.
    """
    X, y = load("letter")
    X = (X + noise * np.random.default_rng(0).normal(size=X.shape)).astype(np.float32)
    times = {}
    for n_classes in (3, 26):
        model = CGEnsClassifier(loss="least_squares", n_estimators=rounds, C=30.0 / len(y))
        merged = y % n_classes
        runs = []
        for _ in range(3):
            model.fit(X, merged)
            spent = model.trace_.price_seconds[1:].sum() + model.trace_.solve_seconds[1:].sum()
            runs.append(1e3 * float(spent) / model.n_columns_)
        times[str(n_classes)] = min(runs)
    times["ratio"] = times["26"] / times["3"]
    return times


def paper_protocol(n_splits: int = 3) -> dict[str, Any]:
    """Return the test errors with 1000 rows per digit, 500 stumps, pricing "max", and C by five folds."""
    errors = []
    for seed in range(n_splits):
        split = balanced_split("mnist", 1000, seed)
        C = select_c(split, "max")
        model = CGEnsClassifier(loss="least_squares", C=C, n_estimators=ROUNDS, pricing="max").fit(split.X, split.y)
        errors.append(error_percent(model, split))
    return {"errors": errors, "mean": float(np.mean(errors)), "std": float(np.std(errors))}


def search_time(n_rows: int = 10_000) -> dict[str, float]:
    """Return the time of cross-validation in plain fits of 500 columns; the best of two each, interleaved."""
    split = mnist(n_rows)
    plain, search = [], []
    for _ in range(2):
        plain.append(seconds_to_fit(CGEnsClassifier(loss="least_squares", n_estimators=ROUNDS), split))
        search.append(seconds_to_fit(CGEnsClassifierCV(loss="least_squares", n_estimators=ROUNDS), split))
    return {"plain_seconds": min(plain), "search_seconds": min(search), "plain_fits": min(search) / min(plain)}


def show(run: dict[str, Any]) -> None:
    print(f"\n{run['rows']} rows, {run['threads']} threads; C = {run['C']:.2e}")
    table = Table("", "fit s", "us/row", "error %", "stumps", *(f"s to {target:g} %" for target in TARGETS))
    for name, row in run["models"].items():
        reached = ["-" if value is None else f"{value:.2f}" for value in row["seconds_to_error"].values()]
        table.add(
            name, f"{row['fit_seconds']:.2f}", f"{row['microseconds_a_prediction']:.2f}", f"{row['error']:.2f}",
            str(row["stumps"]), *reached,
        )  # fmt: skip
    print(table)
    print(f"{run['times_faster_than_lightgbm']:.1f} times as fast as 500 rounds of ten stumps with LightGBM")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only 10^4 rows and LightGBM; nothing is saved")
    options = parser.parse_args()
    if options.quick:
        show(compare(10_000, 2, 1, with_others=False))
        print(classes_and_time(0.0), classes_and_time(0.1), search_time())
        return
    results: dict[str, Any] = {"runs": []}
    for n_rows, threads, pairs in ((10_000, 1, PAIRS), (10_000, 2, PAIRS), (60_000, 2, 1)):
        results["runs"].append(compare(n_rows, threads, pairs, with_others=threads == 2))
        show(results["runs"][-1])
    results["memory_growth_mb_60000"] = {
        "CGEns-SLS": memory_growth(
            "mnist(60_000)", f"cgens.CGEnsClassifier(loss='least_squares', n_estimators={ROUNDS})"
        ),
        "LightGBM": memory_growth(
            "mnist(60_000)", f"lightgbm.LGBMClassifier(n_estimators={ROUNDS}, num_leaves=2, n_jobs=2, verbose=-1)"
        ),
    }
    results["milliseconds_a_round_by_classes"] = {"letter": classes_and_time(0.0), "with noise": classes_and_time(0.1)}
    results["paper_protocol"] = paper_protocol()
    results["search"] = search_time()
    for name, value in results.items():
        if name != "runs":
            print(name, value)
    save_results("multiclass", results)


if __name__ == "__main__":
    main()
