"""Fourier weak learners against kernel machines: error, fit time, prediction time and model size.

Each method except LightGBM, which has its defaults, selects one of nine configurations, three widths times three values
of C, on a held-out third of the training set (small data sets: by three folds), and is then refitted on all of it.
Tabular data are standardized, images divided by their largest value. Times are those of the final fit, the best of
`--repeats`, with all cores for the methods that can use them (not the SVC). ``--figure`` plots the size and the
prediction time of the SVC and of an ensemble against the number of training rows (the paper's remark 4).
"""

from __future__ import annotations

import argparse
import pickle
import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

import lightgbm
import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from benchmarks.measure import microseconds_per_prediction, seconds_to_fit
from benchmarks.report import Table, load_results, save_results
from cgens import CGEnsClassifier
from cgens.weak_learners import Fourier
from evaluation.splits import IDA_SETS, Split, error_percent, mnist, paper_loss, random_split

IMAGES = ("mnist", "usps")
LARGE = ("mnist", "usps", "pendigits", "letter")
WIDTHS = (0.5, 1.0, 2.0)  # times 1 / (number of features * variance)
FIGURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "rows.png"


def scaled_split(name: str, seed: int) -> Split:
    """Return a split with scaled features: images by their largest value, others by a StandardScaler."""
    split = mnist(10_000, seed) if name == "mnist" else random_split(name, seed)
    if name in IMAGES:
        largest = float(np.abs(split.X).max())
        return Split(split.X / largest, split.y, split.X_test / largest, split.y_test)
    scaler = StandardScaler().fit(split.X)
    return Split(scaler.transform(split.X), split.y, scaler.transform(split.X_test), split.y_test)


def methods(split: Split, name: str) -> dict[str, tuple[Any, dict[str, list[float]]]]:
    """Return the methods and their parameter grids."""
    gammas = [width / (split.X.shape[1] * float(split.X.var())) for width in WIDTHS]
    m, n_outputs = len(split.y), max(1, len(np.unique(split.y)) - 1)
    own = [c * n_outputs / m for c in (0.1, 1.0, 10.0)]
    linear = LinearSVC(dual=False, random_state=0)

    def sampled(sampler: Any) -> tuple[Any, dict[str, list[float]]]:
        step = type(sampler).__name__.lower()
        return make_pipeline(sampler, linear), {f"{step}__gamma": gammas, "linearsvc__C": [0.1, 1.0, 10.0]}

    ours = {
        f"CGEns, {n} Fourier": (
            CGEnsClassifier(Fourier(standardize=False), loss=paper_loss(split.y), n_estimators=n, random_state=0),
            {"weak_learner__gamma": gammas, "C": own},
        )
        for n in ((500, 1000) if name == "mnist" else (500,))
    }
    return {
        **ours,
        "RBF-SVC": (SVC(cache_size=1000), {"gamma": gammas, "C": [1.0, 10.0, 100.0]}),
        "500 random Fourier + LinearSVC": sampled(RBFSampler(n_components=500, random_state=0)),
        "2000 random Fourier + LinearSVC": sampled(RBFSampler(n_components=2000, random_state=0)),
        "500 Nystroem + LinearSVC": sampled(Nystroem(n_components=min(500, m // 2), random_state=0)),
        "LightGBM": (lightgbm.LGBMClassifier(n_jobs=2, verbose=-1), {}),
    }


def array_bytes(model: Any) -> int:
    """Return the size of the arrays that a prediction of an ensemble or an SVC needs."""
    if isinstance(model, CGEnsClassifier):
        return sum(array.nbytes for array in model.ensemble_.to_arrays().values())
    return int(model.support_vectors_.nbytes + model.dual_coef_.nbytes)


def compare(name: str, seed: int, repeats: int, n_jobs: int) -> dict[str, dict[str, Any]]:
    """Return the measurements of each method on one split."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    split = scaled_split(name, seed)
    folds = ShuffleSplit(1, test_size=1 / 3, random_state=seed) if name in LARGE else 3
    rows = {}
    for label, (model, grid) in methods(split, name).items():
        if label.startswith("CGEns"):
            model.set_params(n_jobs=n_jobs)
        chosen: dict[str, float] = {}
        if grid:
            chosen = GridSearchCV(model, grid, cv=folds, refit=False).fit(split.X, split.y).best_params_
        model.set_params(**chosen)
        seconds = min(seconds_to_fit(model, split) for _ in range(repeats))
        rows[label] = {
            "error": error_percent(model, split),
            "fit_seconds": seconds,
            "microseconds_a_prediction": microseconds_per_prediction(model, split),
            "kilobytes": len(pickle.dumps(model)) / 1024,
            "chosen": {key: float(value) for key, value in chosen.items()},
        }
        if name in LARGE:
            print(name, label, rows[label], flush=True)
    return rows


def measure_sizes(part: str) -> None:
    """Fit the models of a saved run again with the parameters chosen there, and save the sizes of their pickles."""
    results = load_results(f"kernel{part}")
    for name, runs in results["sets"].items():
        split = scaled_split(name, 0)
        for label, (model, _) in methods(split, name).items():
            model.set_params(**runs[0][label]["chosen"]).fit(split.X, split.y)
            runs[0][label]["kilobytes"] = len(pickle.dumps(model)) / 1024
            print(name, label, f"{runs[0][label]['kilobytes']:.0f} kB", flush=True)
    save_results(f"kernel{part}", results)


def growth(sizes: tuple[int, ...] = (1000, 2000, 5000, 10_000, 20_000)) -> list[dict[str, float]]:
    """Return model size and prediction time of the SVC and of 500 learned cosines against training rows of MNIST."""
    runs = []
    for m in sizes:
        split = mnist(m)
        split = Split(split.X / 255, split.y, split.X_test[:2000] / 255, split.y_test[:2000])
        run: dict[str, float] = {"rows": m}
        gamma = 2.0 / (784 * float(split.X.var()))
        for label, model in {
            "svc": SVC(C=10.0, gamma=gamma, cache_size=1000),
            "cgens": CGEnsClassifier(
                Fourier(standardize=False), loss="least_squares", C=9 / m, n_estimators=500, random_state=0
            ),
        }.items():
            model.fit(split.X, split.y)
            run[f"{label}_kilobytes"] = array_bytes(model) / 1024
            run[f"{label}_microseconds"] = microseconds_per_prediction(model, split)
            run[f"{label}_error"] = error_percent(model, split)
        runs.append(run)
        print(run, flush=True)
    return runs


def draw(runs: list[dict[str, float]]) -> None:
    """Plot model size and prediction time against training rows."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = [run["rows"] for run in runs]
    labels = {"svc": ("RBF-SVC", "#D55E00", "s"), "cgens": ("CGEns, 500 learned cosines", "#0072B2", "o")}
    with plt.rc_context({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False}):
        figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
        for axis, (key, title) in zip(
            axes,
            {"kilobytes": "size of the model, kB", "microseconds": "time of a prediction, µs"}.items(),
            strict=True,
        ):
            for label, (text, colour, marker) in labels.items():
                values = [run[f"{label}_{key}"] for run in runs]
                axis.loglog(rows, values, marker=marker, color=colour, label=text)
                for place, side, shift in ((0, "left", (9, -14)), (-1, "right", (0, 9 if label == "svc" else -18))):
                    error = f"{runs[place][f'{label}_error']:.1f} % error"
                    at = rows[place], values[place]
                    axis.annotate(error, at, xytext=shift, textcoords="offset points", ha=side, color=colour)
            axis.set(xlabel="training rows of MNIST", title=title, xticks=rows)
            axis.set_ylim(0.4 * min(run[f"cgens_{key}"] for run in runs), 3 * max(run[f"svc_{key}"] for run in runs))
            axis.minorticks_off()
            for ticks in (axis.xaxis, axis.yaxis):
                ticks.set_major_formatter("{x:,.0f}")
            axis.grid(alpha=0.3)
        axes[1].legend(frameon=False, loc="center", bbox_to_anchor=(0.6, 0.3))
        figure.savefig(FIGURE, dpi=110)


def show(name: str, runs: list[dict[str, dict[str, Any]]]) -> None:
    table = Table(name, "error %", "fit s", "us/row", "kB")
    formats = {"error": ".2f", "fit_seconds": ".2f", "microseconds_a_prediction": ".1f", "kilobytes": ".0f"}
    for label in runs[0]:
        table.add(label, *(f"{np.mean([run[label][key] for run in runs]):{form}}" for key, form in formats.items()))
    print(f"\n{table}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=[*LARGE, *IDA_SETS])
    parser.add_argument(
        "--splits", type=int, default=5, help="number of splits of the small data sets; the large ones have one"
    )
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--part", default="", help="suffix of the results file, for a run with some data sets")
    parser.add_argument("--figure", action="store_true", help="only measure and plot against training rows")
    parser.add_argument("--sizes", action="store_true", help="only measure the sizes of a saved run of large data sets")
    options = parser.parse_args()
    if options.sizes:
        measure_sizes(options.part)
        return
    if options.figure:
        runs = growth()
        draw(runs)
        save_results("kernel_growth", {"runs": runs})
        return
    start = perf_counter()
    results: dict[str, list[dict[str, dict[str, Any]]]] = {}
    for name in options.sets:
        if name in LARGE:
            results[name] = [compare(name, 0, options.repeats, 2)]
        else:  # only errors matter here: splits run in parallel, so times are not comparable with those above
            seeds = range(options.splits)
            results[name] = Parallel(2)(delayed(compare)(name, seed, 1, 1) for seed in seeds)
        show(name, results[name])
    small = [runs for name, runs in results.items() if name not in LARGE]
    for label in small[0][0] if small else ():
        print(f"{label}: {np.mean([[run[label]['error'] for run in runs] for runs in small]):.2f} % on the small sets")
    print(f"{perf_counter() - start:.0f} s")
    save_results(f"kernel{options.part}", {"sets": results})


if __name__ == "__main__":
    main()
