"""The 19 shared tables, with gaps and categories as they are: trees and stumps beside LightGBM, CatBoost and others.

Three folds of shuffled rows, the same for all; every method has its default parameters and the same frame. LightGBM
and HistGradientBoosting take categories by their type, CatBoost and EBM by their own means; what a method does not
accept is changed for it alone (see `prepare`). Dates become days. The measure is log-loss for classes, and the root
mean squared error divided by the standard deviation of y for regression.

    python -m benchmarks.tables                        all methods and tables; those that are saved are not run again
    python -m benchmarks.tables --methods EBM --new    run one method again
    python -m benchmarks.tables --show                 print and draw what is saved
    python -m benchmarks.tables --sparse               sparse, text-like data instead
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold

from benchmarks.report import RESULTS, Table, load_results, save_results

TABLES = (
    *("telco_churn", "crash_death", "flight_late", "vote_2016", "flchain_death", "heart_attack", "bird_strike"),
    *("house_votes", "collision_injury", "ames_price", "hotel_rate", "loan_rate", "movie_gross", "star_reading"),
    *("wine_price", "restaurant_score", "soybean", "rodent_species", "pandemic_finance"),
)
FIGURE = Path(__file__).parent.parent / "docs" / "images" / "tables.png"
#: HistGradientBoosting refuses categories with more levels than this.
MAX_LEVELS = 254


def make_model(method: str, regression: bool) -> Any:
    """Return a method with its defaults and two threads."""
    if method in ("trees", "stumps"):
        from cgens import CGEnsClassifier, CGEnsRegressor

        return (CGEnsRegressor if regression else CGEnsClassifier)(method[:-1], random_state=0)
    if method == "LightGBM":
        from lightgbm import LGBMClassifier, LGBMRegressor

        return (LGBMRegressor if regression else LGBMClassifier)(verbose=-1, random_state=0, n_jobs=2)
    if method == "CatBoost":
        from catboost import CatBoostClassifier, CatBoostRegressor

        options: dict[str, Any] = {"verbose": False, "allow_writing_files": False, "random_seed": 0, "thread_count": 2}
        return (CatBoostRegressor if regression else CatBoostClassifier)(**options)
    if method == "HistGB":
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        return (HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier)(random_state=0)
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    bags = {"outer_bags": 1} if method == "EBM, one bag" else {}
    made = ExplainableBoostingRegressor if regression else ExplainableBoostingClassifier
    return made(interactions=0, random_state=0, n_jobs=2, **bags)


METHODS = ("trees", "stumps", "LightGBM", "HistGB", "EBM", "EBM, one bag", "CatBoost")


@cache
def load(name: str) -> tuple[Any, Any, str]:
    """Return the frame, y and task of a table."""
    import pandas as pd

    from cgens.datasets import load_table

    table = load_table(name)
    X = table.X.copy()
    for column in table.dates:
        X[column] = (X[column] - pd.Timestamp("2000-01-01")).dt.days
    return X, np.asarray(table.y), table.task


def prepare(method: str, X: Any, categorical: list[str]) -> Any:
    """Return the frame with what the method cannot take changed: gaps in categories, or too many levels."""
    X = X.copy()
    for column in categorical:
        if method == "CatBoost":
            X[column] = X[column].astype(object).where(X[column].notna(), "missing").astype(str)
        elif method == "HistGB" and X[column].nunique() > MAX_LEVELS:
            kept = X[column].value_counts().index[: MAX_LEVELS - 1]
            X[column] = X[column].astype(object).where(X[column].isin(kept) | X[column].isna(), "other")
            X[column] = X[column].astype("category")
    return X


def measure(name: str, method: str) -> dict[str, Any]:
    """Return the mean figures of one method over the folds of one table."""
    warnings.simplefilter("ignore")
    X, y, task = load(name)
    categorical = [column for column in X.columns if str(X[column].dtype) == "category"]
    X = prepare(method, X, categorical)
    regression = task == "regression"
    folds = (KFold if regression else StratifiedKFold)(3, shuffle=True, random_state=0).split(np.zeros(len(y)), y)
    runs = []
    for train, test in folds:
        model = make_model(method, regression)
        extra = {"cat_features": categorical} if method == "CatBoost" else {}
        start = perf_counter()
        model.fit(X.iloc[train], y[train], **extra)
        seconds = perf_counter() - start
        runs.append(
            {"seconds": seconds, **score(model, X.iloc[test], y[test], float(np.std(y)) if regression else None)}
        )
    means = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
    return {"table": name, "method": method, "task": task, **means}


def score(model: Any, X: Any, y: Any, deviation: float | None) -> dict[str, float]:
    """Return the loss and, for classes, the error and the area under the curve."""
    if deviation is not None:
        return {"loss": float(np.sqrt(np.mean((model.predict(X) - y) ** 2))) / deviation}
    probabilities = model.predict_proba(X)
    found = {"loss": float(log_loss(y, probabilities, labels=model.classes_))}
    found["error"] = float(np.mean(np.asarray(model.classes_)[probabilities.argmax(axis=1)] != y))
    if len(model.classes_) == 2:
        found["auc"] = float(roc_auc_score(y == model.classes_[1], probabilities[:, 1]))
    return found


def saved() -> dict[tuple[str, str], dict[str, Any]]:
    """Return the runs that are saved."""
    if not (RESULTS / "tables.json").exists():
        return {}
    return {(run["table"], run["method"]): run for run in load_results("tables")["runs"]}


def show(runs: dict[tuple[str, str], dict[str, Any]]) -> None:
    """Print losses, areas and times, and how trees and stumps compare with the others."""
    methods = [method for method in METHODS if any(key[1] == method for key in runs)]
    for key, digits in (("loss", 3), ("auc", 3), ("seconds", 2)):
        table = Table(key, *methods)
        for name in TABLES:
            values = [runs.get((name, method), {}).get(key) for method in methods]
            if any(value is not None for value in values):
                table.add(name, *("" if value is None else f"{value:.{digits}f}" for value in values))
        print(table, end="\n\n")
    both = [name for name in TABLES if (name, "trees") in runs and (name, "LightGBM") in runs]
    ratios = np.array([runs[name, "trees"]["loss"] / runs[name, "LightGBM"]["loss"] for name in both])
    close, better = np.sum(ratios <= 1.02), np.sum(ratios < 1)
    print(f"Trees and LightGBM on {len(both)} tables: within 2 % on {close}, better on {better}")
    for other in ("EBM", "EBM, one bag"):
        binary = [name for name in TABLES if "auc" in runs.get((name, other), {}) and (name, "stumps") in runs]
        if binary:
            area = np.mean([runs[name, "stumps"]["auc"] - runs[name, other]["auc"] for name in binary])
            times = [runs[name, other]["seconds"] / runs[name, "stumps"]["seconds"] for name in binary]
            total = sum(runs[name, other]["seconds"] for name in binary)
            own = sum(runs[name, "stumps"]["seconds"] for name in binary)
            print(
                f"Stumps and {other} on {len(binary)} binary tables: AUC {area:+.4f}; {other} takes {total / own:.1f} "
                f"times as long in all, {np.exp(np.mean(np.log(times))):.1f} times in the geometric mean"
            )


def draw(runs: dict[tuple[str, str], dict[str, Any]]) -> None:
    """Draw the losses relative to LightGBM's."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = [name for name in TABLES if (name, "trees") in runs and (name, "LightGBM") in runs][::-1]
    figure, axes = plt.subplots(figsize=(8, 6.5), layout="constrained")
    styles: dict[str, tuple[str, str]] = {
        "trees": ("o", "C0"), "stumps": ("s", "C1"), "CatBoost": ("^", "C2"), "HistGB": ("v", "C3"), "EBM": ("D", "C4"),
    }  # fmt: skip
    for method, (marker, colour) in styles.items():
        rows = [k for k, name in enumerate(names) if (name, method) in runs]
        values = [runs[names[k], method]["loss"] / runs[names[k], "LightGBM"]["loss"] for k in rows]
        label = f"cgens, {method}" if method in ("trees", "stumps") else method
        axes.plot(np.clip(values, 0.6, 1.5), rows, marker, color=colour, label=label, alpha=0.8)
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set(yticks=range(len(names)), xlim=(0.58, 1.52), xlabel="loss / loss of LightGBM (left is better)")
    axes.set_yticklabels(names)
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="upper right")
    axes.set_title("19 tables, three folds, nothing tuned; values beyond the axis are drawn at its ends", fontsize=10)
    figure.savefig(FIGURE, dpi=110)


# --- sparse, text-like data


def text_like(n_rows: int, n_words: int, share: float, seed: int) -> tuple[Any, Any]:
    """Return word counts with Zipf frequencies, and labels that depend on some of the words."""
    from scipy import sparse

    rng = np.random.default_rng(seed)
    popularity = 1.0 / np.arange(10, n_words + 10)
    n_entries = int(share * n_rows * n_words)
    words = rng.choice(n_words, size=n_entries, p=popularity / popularity.sum()).astype(np.int32)
    rows = rng.integers(n_rows, size=n_entries, dtype=np.int32)
    counts = np.ones(n_entries, dtype=np.float32)
    X = sparse.csr_array((counts, (rows, words)), shape=(n_rows, n_words))
    X.sum_duplicates()
    X.data = np.log1p(X.data)
    effects = np.where(rng.random(n_words) < 0.1, rng.normal(size=n_words), 0.0)
    decision = X @ effects
    return X, (decision + 0.5 * np.std(decision) * rng.normal(size=n_rows) > np.median(decision)).astype(int)


def compare_sparse() -> list[dict[str, Any]]:
    """Return errors and times on 20 000 x 50 000 entries, 0.1 % of which are filled."""
    from lightgbm import LGBMClassifier
    from sklearn.svm import LinearSVC

    from cgens import CGEnsClassifier

    X, y = text_like(30_000, 50_000, 0.001, 0)
    models: dict[str, Callable[[], Any]] = {
        "200 stumps": lambda: CGEnsClassifier("stump", n_estimators=200),
        "500 stumps": lambda: CGEnsClassifier("stump"),
        "200 trees": lambda: CGEnsClassifier("tree", n_estimators=200, random_state=0),
        "500 words (linear)": lambda: CGEnsClassifier("linear"),
        "LightGBM": lambda: LGBMClassifier(verbose=-1, n_jobs=2),
        "LinearSVC": lambda: LinearSVC(),
    }
    runs = []
    for label, make in models.items():
        seconds = []
        for _ in range(2):
            model = make()
            start = perf_counter()
            model.fit(X[:20_000], y[:20_000])
            seconds.append(perf_counter() - start)
        error = float(np.mean(model.predict(X[20_000:]) != y[20_000:]))
        runs.append({"method": label, "seconds": min(seconds), "error": error})
        print(f"{label}: error {error:.1%}, {min(seconds):.2f} s", flush=True)
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES)
    parser.add_argument("--new", action="store_true", help="run again what is saved")
    parser.add_argument("--show", action="store_true", help="only print and draw what is saved")
    parser.add_argument("--sparse", action="store_true", help="sparse, text-like data instead of the tables")
    options = parser.parse_args()
    if options.sparse:
        save_results("tables_sparse", {"runs": compare_sparse()})
        return
    runs = saved()
    for name in () if options.show else options.tables:
        for method in options.methods:
            if options.new or (name, method) not in runs:
                runs[name, method] = measure(name, method)
                print(name, method, {key: round(value, 4) for key, value in runs[name, method].items()
                                     if isinstance(value, float)}, flush=True)  # fmt: skip
                save_results("tables", {"runs": list(runs.values())})
    show(runs)
    draw(runs)


if __name__ == "__main__":
    main()
