"""`CGEnsClassifier()` and `CGEnsRegressor()` beside other methods with their defaults, on all shared sets and tables.

Constants of the automatic model were looked for on the sets and tables of `CHOSEN` only; those of `REPORTED` played no
part. Numeric sets: random splits into their published sizes, or 3:2 with at most 5000 training rows (letter, pendigits,
usps and images: at most 10^4, and the published test rows); tables: three folds. Every fit has one thread; its seconds
are those of the processor. Errors in %, for regression 100 RMSE / deviation; and log-loss.

    python -m benchmarks.defaults                          all methods and sets; those that are saved are not run again
    python -m benchmarks.defaults --methods CGEns --new    run one method again
    python -m benchmarks.defaults --variants               the automatic model without each of its pieces
    python -m benchmarks.defaults --show                   print and draw what is saved (also with --variants)
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import resource
import warnings
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold

from benchmarks.peers import GRIDS, UNTUNED, make_peer, prepare
from benchmarks.ranking import Runs, draw_ranks, mean_ranks, merged, ratio, table_of, wins_and_losses
from benchmarks.report import RESULTS, Table, save_results
from benchmarks.tables import load as load_frame
from cgens import CGEnsClassifier, CGEnsRegressor
from cgens.automatic.chains import TREES
from cgens.automatic.cosine_part import CosinePart
from cgens.automatic.groups import FLAT, LEARNED
from evaluation.splits import random_split

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
HALVES = (CHOSEN, REPORTED)
OURS = "CGEns"
FIGURE = Path(__file__).parent.parent / "docs" / "images" / "defaults.png"
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
    split = random_split(name, number)
    some = slice(MOST_TEST_ROWS)
    y, y_test = split.y, split.y_test
    if name not in REGRESSION:
        _, inverse = np.unique(np.concatenate([y, y_test]), return_inverse=True)
        y, y_test = inverse[: len(y)], inverse[len(y) :]
    return Case(split.X, y, split.X_test[some], y_test[some], name in REGRESSION, [])


def make_method(name: str, case: Case) -> Any:
    """Return a method."""
    if name.startswith(OURS):
        params = vary(name.removeprefix(f"{OURS}, ")) if name != OURS else {}
        return (CGEnsRegressor if case.regression else CGEnsClassifier)(random_state=0, n_jobs=1, **params)
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


def load_runs(file: str) -> Runs:
    """Return the saved runs."""
    path = RESULTS / f"{file}.json"
    return list(json.loads(path.read_text())["runs"]) if path.exists() else []


def save_run(run: dict[str, Any], file: str) -> None:
    """Save a run in place of an earlier one of the same method and split."""
    key = ("set", "split", "method")
    runs = [own for own in load_runs(file) if any(own[name] != run[name] for name in key)]
    save_results(file, {"runs": [*runs, run]})


def without(draw: str, draws: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the draws of other kinds."""
    return tuple(own for own in draws if own[0] != draw)


#: The automatic model without one of its pieces: names in the package, and what they are instead.
VARIANTS: dict[str, dict[str, Any]] = {
    "no metric": {"groups.LEARNED": ()},
    "ranks too": {"cosine_part.VIEWS": ("zc", "rank"), "cosine_part.ONE_SCALE_VIEWS": ("common", "rank")},
    "only ranks": {"cosine_part.VIEWS": ("rank",), "cosine_part.ONE_SCALE_VIEWS": ("rank",)},
    "one scale as any": {"cosine_part.ONE_SCALE_VIEWS": ("zc",)},
    "no sparse draws": {"groups.FLAT": without("sparse", FLAT), "groups.LEARNED": without("sparse", LEARNED)},
    "no dense draws": {"groups.FLAT": without("dense", FLAT), "groups.LEARNED": without("dense", LEARNED)},
    "no pairs": {"groups.FLAT": without("pairs", FLAT), "groups.LEARNED": without("pairs", LEARNED)},
    "no random trees": {"recipe.TREES": TREES[1:]},
    "no large trees": {"recipe.TREES": TREES[:1]},
    "no trees": {"recipe.TREES": ()},
    "no cosines": {"recipe.choose_cosines": lambda *_: CosinePart([], np.zeros(0), {})},
    "no learned cosines": {"recipe.LEARNED_INPUTS": 10**9},
    "one fifth held out": {"recipe.FOLD_ROWS": 0, "recipe.LEAST_HELD_OUT": 0},
    "five folds": {"recipe.N_FOLDS": 5},
    "100 trees": {"recipe.MOST_TREES": 100},
    "linear logits": {"calibration.LEAST_PROBABILITY": 10.0},
    "logits without a penalty": {"calibration.PENALTY": 0.01},
}
#: Numbers of columns in place of the default.
SIZES = (300, 500, 1000, 2000)


def vary(variant: str) -> dict[str, Any]:
    """Change constants of the package, and return parameters, for a variant of the automatic model."""
    if variant.endswith("columns"):
        return {"n_estimators": int(variant.split()[0])}
    for name, value in VARIANTS[variant].items():
        module, attribute = name.split(".")
        setattr(importlib.import_module(f"cgens.automatic.{module}"), attribute, value)
    return {}


def show(runs: Runs) -> None:
    """Print mean ranks, wins and ratios on both halves, and draw the ranks of the half that was kept apart."""
    panels = {}
    for half, sets in (("kept apart", REPORTED), ("at which constants were looked for", CHOSEN)):
        # EBM takes too long for many classes or levels; with it, there are fewer sets.
        most = tuple(name for name in UNTUNED if name != "EBM")
        for title, others in (("defaults", most), ("EBM", ("EBM",)), ("searches of 20", tuple(GRIDS))):
            methods = (OURS, *(own for own in others if any(run["method"] == own for run in runs)))
            errors = table_of(runs, sets, methods, "error")
            for what, (names, table) in (
                ("error or RMSE", errors),
                ("log-loss or RMSE", merged(table_of(runs, sets, methods, "loss"), errors)),
            ):
                if len(methods) < 2 or not names:
                    continue
                text = Table("method", "mean rank", "CGEns wins and losses", "figure of CGEns / its own")
                ranks = mean_ranks(table)
                for k in np.argsort(ranks).tolist():
                    wins, losses = wins_and_losses(table, 0, k)
                    cells = ("", "") if k == 0 else (f"{wins} : {losses}", f"{ratio(table, 0, k):.3f}")
                    text.add(methods[k], f"{ranks[k]:.2f}", *cells)
                print(f"\n{what}, {title}, {len(names)} sets {half}\n{text}")
                if sets is REPORTED and len(methods) > 2:
                    panels[f"{what}, {title}, {len(names)} sets kept apart"] = methods, table
    for what in ("fit", "predict"):
        for method in dict.fromkeys(run["method"] for run in runs):
            names, table = table_of(runs, (*CHOSEN, *REPORTED), (OURS, method), what)
            table = table[(table > 0).all(axis=1)]  # the clock of the processor has ticks
            if method != OURS and names and 2 * len(table) > len(names):
                share = np.median(table[:, 0] / table[:, 1])
                print(f"{what}: the time of CGEns is {share:.2f} times that of {method} (median of {len(table)} sets)")
    if panels:
        draw_ranks(panels, FIGURE, OURS)


def show_variants(runs: Runs, plain: Runs) -> None:
    """Print the figures of the variants relative to those of the default: of that in the same file, if there is one."""
    text = Table("variant", *(f"{what}, {half}" for what in ("error", "log-loss") for half in ("chosen", "kept apart")))
    plain = [run for run in runs if run["method"] == OURS] or plain
    for variant in dict.fromkeys(run["method"] for run in runs if run["method"] != OURS):
        tables = [
            table_of([*plain, *runs], sets, (variant, OURS), key)[1] for key in ("error", "loss") for sets in HALVES
        ]
        text.add(variant, *(f"{ratio(table, 0, 1):.3f}" if len(table) else "" for table in tables))
    print(text)


def main() -> None:
    variants = (*VARIANTS, *(f"{size} columns" for size in SIZES))
    methods = (OURS, *UNTUNED, *GRIDS)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=(*CHOSEN, *REPORTED), choices=(*CHOSEN, *REPORTED))
    parser.add_argument("--methods", nargs="+", default=methods, choices=methods)
    parser.add_argument("--new", action="store_true", help="run again what is saved")
    parser.add_argument("--show", action="store_true", help="only print and draw what is saved")
    parser.add_argument("--variants", nargs="*", choices=variants, help="the automatic model without its pieces")
    options = parser.parse_args()
    file = "defaults" if options.variants is None else "defaults_variants"
    if options.variants is not None:
        options.methods = [f"{OURS}, {own}" for own in options.variants or variants]
    for method in () if options.show else options.methods:
        for name in options.sets:
            variant = method.removeprefix(f"{OURS}, ") if method.startswith(f"{OURS}, ") else None
            if name in IMAGES and (method in GRIDS or variant not in (None, "no learned cosines")):
                continue
            if method in GRIDS and name in CHOSEN:
                continue
            once = method in GRIDS or variant is not None
            for number in range(1 if once else n_splits(name)):
                known = {(run["set"], run["split"], run["method"]) for run in load_runs(file)}
                if options.new or (name, number, method) not in known:
                    run = measure_apart(name, number, method)
                    save_run(run, file)
                    print({key: round(value, 4) if isinstance(value, float) else value for key, value in run.items()
                           if key not in ("summary", "laps")}, flush=True)  # fmt: skip
    if options.variants is None:
        show(load_runs(file))
    else:
        show_variants(load_runs(file), load_runs("defaults"))


if __name__ == "__main__":
    main()
