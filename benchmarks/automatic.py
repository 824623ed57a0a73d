"""The parts of the automatic choice on the shared numeric sets, beside the defaults of LightGBM and CatBoost.

Cosines and trees are weighed by honest decisions (`cgens.automatic.recipe`), and each part is then fitted by column
generation from its pool. What the numbers of columns are worth is measured on sets at which constants were looked for
(`CHOSEN`) and on those that played no part (`REPORTED`). Errors in %, for regression 100 MSE / variance; and the
log-loss of logistic probabilities that are fitted on the honest decisions.

    python -m benchmarks.automatic                           all sets; those that are saved are not run again
    python -m benchmarks.automatic --sets image splice --new
    python -m benchmarks.automatic --show                    print what is saved
"""

from __future__ import annotations

import argparse
import warnings
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from benchmarks.report import RESULTS, Table, load_results, save_results
from cgens.automatic.calibration import LogitMap
from cgens.automatic.problem import Problem
from cgens.automatic.recipe import Part, choose_parts
from cgens.coding import simplex_codes
from cgens.colgen import generate_columns
from cgens.masters import LeastSquares
from cgens.table import Table as Rows
from evaluation.splits import Split, random_split

CHOSEN = (
    *("image", "german", "splice", "vehicle", "glass", "banana", "diabetes", "ringnorm", "waveform", "spambase"),
    *("california_housing", "higgs_small", "abalone", "vowel", "segment", "titanic"),
)
REPORTED = (
    *("breast_cancer", "flare_solar", "heart", "thyroid", "twonorm", "wine", "iris"),
    *("dna", "pendigits", "usps", "letter"),
)
REGRESSION = ("california_housing", "abalone")
SPLITS = 2
N_COSINES = (100, 300, 500, 1000)


def encode(split: Split, name: str) -> tuple[np.ndarray, np.ndarray | None, Any, Any]:
    """Return target, class of each row, and functions of decisions: predictions, and the error on training rows."""
    if name in REGRESSION:
        mean, deviation = float(split.y.mean()), float(split.y.std())
        target = ((split.y - mean) / deviation)[:, None]
        return target, None, lambda decision: mean + deviation * decision[:, 0], lambda decision, rows: 1.0
    labels, classes = np.unique(split.y, return_inverse=True)
    codes = simplex_codes(len(labels))

    def predict(decision: np.ndarray) -> np.ndarray:
        return np.asarray(labels[(decision @ codes.T).argmax(axis=1)])

    def error(decision: np.ndarray, rows: np.ndarray) -> float:
        return max(float(np.mean(predict(decision) != split.y[rows])), 0.5 / len(rows))

    return codes[classes], classes, predict, error


def score(predicted: np.ndarray, split: Split, name: str) -> float:
    """Return the test error in %."""
    if name in REGRESSION:
        return 100 * float(np.mean((predicted - split.y_test) ** 2) / np.var(split.y_test))
    return 100 * float(np.mean(predicted != split.y_test))


def decisions_of(part: Part, split: Split, target: np.ndarray, sizes: tuple[int, ...]) -> dict[int, np.ndarray]:
    """Return the decisions for the test rows with each number of columns; 0 is the largest."""
    found = {}
    X, mean = Rows.of(split.X), target.mean(axis=0)
    most = max(sizes, default=10**6)
    ensemble, _ = generate_columns(
        LeastSquares(1.0 / part.penalty), part.family, X, target, pricing="gain", max_columns=most, n_threads=2
    )
    for size in (*sizes, len(ensemble)):
        own = ensemble if size >= len(ensemble) else ensemble.first(size)
        found[size if size in sizes else 0] = part.weight * (own.decision(split.X_test, 2) - mean)
    found.setdefault(0, found[max(found)])
    return found


def measure(name: str, seed: int) -> dict[str, Any]:
    """Return errors and times on one split."""
    warnings.simplefilter("ignore")
    split = random_split(name, seed)
    target, classes, predict, error = encode(split, name)
    labels, test_classes = np.unique(np.concatenate([split.y, split.y_test]), return_inverse=True)
    test_classes = test_classes[len(split.y) :]
    m, run = len(split.y), {"set": name, "seed": seed}
    start = perf_counter()
    problem = Problem(Rows.of(split.X), np.arange(m), target, np.ones(m), classes, error, n_threads=2)
    recipe = choose_parts(problem, 500, np.random.SeedSequence(seed))
    run["choice seconds"] = perf_counter() - start
    run["laps"] = dict(recipe.seconds)
    run["weights"] = {part.name: part.weight for part in recipe.parts}
    base = target.mean(axis=0)
    sums: dict[int, np.ndarray] = {}
    for part in recipe.parts:
        sizes = N_COSINES if part.name == "cosines" else ()
        start = perf_counter()
        found = decisions_of(part, split, target, sizes)
        run[f"seconds, {part.name}"] = perf_counter() - start
        run[f"error, {part.name}"] = score(predict(base + found[0] / part.weight), split, name)
        for size in N_COSINES:
            sums[size] = sums.get(size, base) + found.get(size, found[0])
    for size, decision in sums.items():
        run[f"error, {size}"] = score(predict(decision), split, name)
        if classes is not None:
            codes, honest = simplex_codes(len(labels)), recipe.honest.rows
            found = LogitMap.of(recipe.decisions, classes[honest], recipe.honest.weight, codes)
            probabilities = found.probabilities(decision, codes)
            run[f"loss, {size}"] = float(log_loss(test_classes, probabilities, labels=range(len(labels))))
            run[f"error, {size}, logits"] = 100 * float(np.mean(probabilities.argmax(axis=1) != test_classes))
    for label, model in peers(name).items():
        start = perf_counter()
        model.fit(split.X, split.y)
        run[f"seconds, {label}"] = perf_counter() - start
        run[f"error, {label}"] = score(np.ravel(model.predict(split.X_test)), split, name)
        if classes is not None:
            run[f"loss, {label}"] = float(log_loss(split.y_test, model.predict_proba(split.X_test), labels=labels))
    return run


def peers(name: str) -> dict[str, Any]:
    """Return the other methods with their defaults and two threads."""
    from catboost import CatBoostClassifier, CatBoostRegressor
    from lightgbm import LGBMClassifier, LGBMRegressor

    options: dict[str, Any] = {"verbose": False, "allow_writing_files": False, "random_seed": 0, "thread_count": 2}
    own = (LGBMRegressor, CatBoostRegressor) if name in REGRESSION else (LGBMClassifier, CatBoostClassifier)
    return {"LightGBM": own[0](verbose=-1, random_state=0, n_jobs=2), "CatBoost": own[1](**options)}


def show(runs: list[dict[str, Any]]) -> None:
    """Print errors and log-losses by set, and relative to CatBoost's, for both halves."""
    sizes = [str(size) for size in N_COSINES]
    show_measure(runs, "error", ["cosines", *sizes, "500, logits", "LightGBM", "CatBoost"], 0.1)
    show_measure(runs, "loss", [*sizes, "LightGBM", "CatBoost"], 0.001)


def show_measure(runs: list[dict[str, Any]], measure: str, columns: list[str], least: float) -> None:
    """Print one measure; ratios are of values of at least `least`."""
    for title, names in ((f"{measure}, constants chosen on", CHOSEN), (f"{measure}, played no part", REPORTED)):
        table = Table(title, *columns, "choice, CatBoost")
        ratios: dict[str, list[float]] = {column: [] for column in columns}
        for name in names:
            own = [run for run in runs if run["set"] == name]
            if not own:
                continue
            means = {key: float(np.mean([run.get(f"{measure}, {key}", np.nan) for run in own])) for key in columns}
            for key in columns:
                ratios[key].append(np.log(max(means[key], least) / max(means["CatBoost"], least)))
            seconds = [float(np.mean([run[key] for run in own])) for key in ("choice seconds", "seconds, CatBoost")]
            table.add(
                name,
                *(f"{means[key]:.{2 if measure == 'error' else 3}f}" for key in columns),
                "{:.1f}, {:.1f} s".format(*seconds),
            )
        cells = (f"{np.exp(np.nanmean(ratios[key])):.3f}" if ratios[key] else "" for key in columns)
        table.add("relative to CatBoost", *cells, "")
        print(table, end="\n\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=(*CHOSEN, *REPORTED), choices=(*CHOSEN, *REPORTED))
    parser.add_argument("--new", action="store_true", help="run again what is saved")
    parser.add_argument("--show", action="store_true", help="only print what is saved")
    options = parser.parse_args()
    runs: list[dict[str, Any]] = load_results("automatic")["runs"] if (RESULTS / "automatic.json").exists() else []
    for name in () if options.show else options.sets:
        for seed in range(SPLITS):
            known = [run for run in runs if (run["set"], run["seed"]) == (name, seed)]
            if known and not options.new:
                continue
            runs = [run for run in runs if run not in known] + [measure(name, seed)]
            print(name, seed, {key: round(value, 2) for key, value in runs[-1].items() if isinstance(value, float)},
                  flush=True)  # fmt: skip
            save_results("automatic", {"runs": runs})
    show(runs)


if __name__ == "__main__":
    main()
