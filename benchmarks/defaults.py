"""`CGEnsClassifier()` and `CGEnsRegressor()` beside other methods with their defaults, on all shared sets and tables.

Constants of the automatic model were looked for on the sets and tables of `CHOSEN` only; those of `REPORTED` played no
part. Numeric sets: random splits into their published sizes, or 3:2 with at most 5000 training rows (letter, pendigits,
usps and images: at most 10^4, and the published test rows); tables: three folds. Every fit has one thread; its seconds
are those of the processor. Errors in %, for regression 100 RMSE / deviation; and log-loss.

    python -m benchmarks.defaults                          all methods and sets; those that are saved are not run again
    python -m benchmarks.defaults --methods cgens --new    run one method again
    python -m benchmarks.defaults --variants               the automatic model without each of its pieces
    python -m benchmarks.defaults --show                   print and draw what is saved
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import warnings
from dataclasses import dataclass
from time import process_time
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold

from benchmarks.peers import GRIDS, UNTUNED, make_peer, prepare
from benchmarks.report import RESULTS, save_results
from benchmarks.tables import load as load_frame

CHOSEN = (
    *("image", "german", "splice", "vehicle", "glass", "banana", "diabetes", "ringnorm", "waveform", "spambase"),
    *("california_housing", "higgs_small", "abalone", "vowel", "segment", "titanic", "fashion_mnist"),
    *("telco_churn", "flight_late", "heart_attack", "ames_price", "hotel_rate", "movie_gross", "wine_price"),
    *("restaurant_score", "soybean"),
)
REPORTED = (
    *("breast_cancer", "flare_solar", "heart", "thyroid", "twonorm", "wine", "iris", "dna", "pendigits", "usps"),
    *("letter", "mnist", "cifar10_gist", "scene15_gist"),
    *("crash_death", "vote_2016", "flchain_death", "bird_strike", "house_votes", "collision_injury", "loan_rate"),
    *("star_reading", "rodent_species", "pandemic_finance"),
)
TABLES = (
    *("telco_churn", "flight_late", "heart_attack", "ames_price", "hotel_rate", "movie_gross", "wine_price"),
    *("restaurant_score", "soybean", "crash_death", "vote_2016", "flchain_death", "bird_strike", "house_votes"),
    *("collision_injury", "loan_rate", "star_reading", "rodent_species", "pandemic_finance"),
)
#: With published test rows, and at most `MOST_ROWS` training rows.
PUBLISHED = ("letter", "pendigits", "usps", "mnist", "fashion_mnist", "cifar10_gist", "scene15_gist")
IMAGES = ("mnist", "fashion_mnist", "cifar10_gist", "scene15_gist")
REGRESSION = ("california_housing", "abalone")
MOST_ROWS, MOST_TEST_ROWS = 10_000, 10_000
#: Sets with at most this many training rows have three splits.
FEW_ROWS, N_SPLITS = 1000, 3
#: Seconds of the processor after which a fit is given up, and its method ranks last; for a search, of all its fits.
LIMIT, SEARCH_LIMIT = 1200, 7200


@dataclass(frozen=True)
class Case:
    """One split of one set."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any
    regression: bool
    categorical: list[str]


def n_splits(name: str) -> int:
    """Return the number of splits of a set."""
    if name in TABLES:
        return N_SPLITS
    if name in PUBLISHED:
        return 1
    from evaluation.splits import random_split

    return N_SPLITS if len(random_split(name, 0).y) <= FEW_ROWS else 1


def make_case(name: str, number: int) -> Case:
    """Return one of the splits of a set."""
    if name in TABLES:
        X, y, task = load_frame(name)
        regression = task == "regression"
        if not regression:
            y = np.unique(y, return_inverse=True)[1]
        folds = (KFold if regression else StratifiedKFold)(N_SPLITS, shuffle=True, random_state=0)
        train, test = list(folds.split(np.zeros(len(y)), y))[number]
        categorical = [column for column in X.columns if str(X[column].dtype) == "category"]
        return Case(X.iloc[train], y[train], X.iloc[test], y[test], regression, categorical)
    if name in PUBLISHED:
        from cgens.datasets import load

        data = load(name)
        train, test = data.splits[0]
        train = np.random.default_rng(number).permutation(train)[:MOST_ROWS]
        return Case(data.X[train], data.y[train], data.X[test], data.y[test], False, [])
    from evaluation.splits import random_split

    split = random_split(name, number)
    some = slice(MOST_TEST_ROWS)
    y, y_test = split.y, split.y_test
    if name not in REGRESSION:
        _, inverse = np.unique(np.concatenate([y, y_test]), return_inverse=True)
        y, y_test = inverse[: len(y)], inverse[len(y) :]
    return Case(split.X, y, split.X_test[some], y_test[some], name in REGRESSION, [])


def make_method(name: str, case: Case) -> Any:
    """Return a method."""
    if name == "cgens":
        from cgens import CGEnsClassifier, CGEnsRegressor

        return (CGEnsRegressor if case.regression else CGEnsClassifier)("auto", random_state=0, n_jobs=1)
    return make_peer(name, case.regression, case.categorical)


def measure(case: Case, method: str) -> dict[str, Any]:
    """Return the figures of one method on one split."""
    warnings.simplefilter("ignore")
    X, X_test = (prepare(method, rows, case.categorical) for rows in (case.X, case.X_test))
    model = make_method(method, case)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = process_time()
    model.fit(X, case.y)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = {"fit": process_time() - start + after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime}
    start = process_time()
    if case.regression:
        predicted = np.ravel(model.predict(X_test))
        run["predict"] = process_time() - start
        run["error"] = 100 * float(np.sqrt(np.mean((predicted - case.y_test) ** 2)) / np.std(case.y))
    else:
        probabilities = np.asarray(model.predict_proba(X_test), dtype=np.float64)
        run["predict"] = process_time() - start
        known = np.asarray(model.classes_).astype(int)
        complete = np.full((len(case.y_test), 1 + max(known.max(), case.y_test.max())), 0.0)
        complete[:, known] = probabilities
        predicted = complete.argmax(axis=1)
        run["error"] = 100 * float(np.mean(predicted != case.y_test))
        clipped = np.clip(complete, 1e-15, None)
        clipped /= clipped.sum(axis=1, keepdims=True)
        run["loss"] = float(log_loss(case.y_test, clipped, labels=range(clipped.shape[1])))
    if hasattr(model, "auto_"):
        run["n_columns"] = model.n_columns_
        run["summary"] = model.auto_.summary()
        run["laps"] = {key: round(value, 3) for key, value in model.auto_.seconds.items()}
    return run


def measure_apart(name: str, number: int, method: str) -> dict[str, Any]:
    """Return the figures of one method on one split, from a process of its own, whose time is limited."""
    limit = SEARCH_LIMIT if method in GRIDS else LIMIT
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))  # which ends the process
        try:
            sender.send(measure(make_case(name, number), method))
        except Exception as error:
            sender.send({"failure": f"{type(error).__name__}: {str(error)[:200]}"})

    process = context.Process(target=work)
    process.start()
    sender.close()
    try:
        run = receiver.recv()
    except EOFError:
        run = {"failure": f"not finished after {limit} s"}
    process.join()
    return {"set": name, "split": number, "method": method, **run}


def load_runs(file: str) -> list[dict[str, Any]]:
    """Return the saved runs."""
    path = RESULTS / f"{file}.json"
    return list(json.loads(path.read_text())["runs"]) if path.exists() else []


def save_run(run: dict[str, Any], file: str) -> None:
    """Save a run in place of an earlier one of the same method and split."""
    key = ("set", "split", "method")
    runs = [own for own in load_runs(file) if any(own[name] != run[name] for name in key)]
    save_results(file, {"runs": [*runs, run]})


def main() -> None:
    methods = ("cgens", *UNTUNED, *GRIDS)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=(*CHOSEN, *REPORTED), choices=(*CHOSEN, *REPORTED))
    parser.add_argument("--methods", nargs="+", default=methods, choices=methods)
    parser.add_argument("--new", action="store_true", help="run again what is saved")
    parser.add_argument("--show", action="store_true", help="only print and draw what is saved")
    parser.add_argument("--file", default="defaults", help="name of the file of results")
    options = parser.parse_args()
    for method in () if options.show else options.methods:
        for name in options.sets:
            if method in GRIDS and (name in IMAGES or name in CHOSEN):
                continue
            for number in range(1 if method in GRIDS else n_splits(name)):
                known = {(run["set"], run["split"], run["method"]) for run in load_runs(options.file)}
                if options.new or (name, number, method) not in known:
                    run = measure_apart(name, number, method)
                    save_run(run, options.file)
                    print({key: round(value, 4) if isinstance(value, float) else value for key, value in run.items()
                           if key not in ("summary", "laps")}, flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
