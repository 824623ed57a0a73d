"""Cross-validation in one pass against the naive double loop, on the shared sets of three classes and more.

The naive search fits every fold and every C by itself, with its own columns; both choose from the same folds, values of
C and numbers of columns, and fit the chosen pair on all training rows. Compared is the test error of what they choose,
beside the standard error of the naive one's.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from benchmarks.data import MULTICLASS_SETS, Split, random_split
from benchmarks.report import Table, save_results
from cgens import CGEnsClassifier, CGEnsClassifierCV

COLUMNS = 300
SPLITS = 3


def naive_search(
    split: Split, folds: list[tuple[np.ndarray, np.ndarray]], Cs: np.ndarray, stages: np.ndarray
) -> CGEnsClassifier:
    """Return the model of the best pair, each pair scored by fits of its own."""
    scores = np.zeros((len(folds), len(Cs), len(stages)))
    for f, (train, test) in enumerate(folds):
        for c, C in enumerate(Cs):
            model = CGEnsClassifier(C=C, n_estimators=int(stages[-1])).fit(split.X[train], split.y[train])
            staged = [np.mean(labels == split.y[test]) for labels in model.staged_predict(split.X[test])]
            scores[f, c] = [staged[min(stage, len(staged)) - 1] for stage in stages]
    mean = scores.mean(axis=0)
    best = mean.max() - 1e-12
    stage, c = np.argwhere(best <= mean.T)[0]  # of equal ones the fewest columns, then the smallest C
    return CGEnsClassifier(C=Cs[c], n_estimators=int(stages[stage])).fit(split.X, split.y)


def compare(name: str, seed: int) -> dict[str, float]:
    """Return errors in percent and seconds of both searches on one split."""
    split = random_split(name, seed)
    began = perf_counter()
    ours = CGEnsClassifierCV(n_estimators=COLUMNS).fit(split.X, split.y)
    middle = perf_counter()
    folds = ours.folds_
    naive = naive_search(split, folds, ours.Cs_, ours.columns_)
    return {
        "ours": 100 * float(np.mean(ours.predict(split.X_test) != split.y_test)),
        "naive": 100 * float(np.mean(naive.predict(split.X_test) != split.y_test)),
        "test_rows": len(split.y_test),
        "seconds": middle - began,
        "naive_seconds": perf_counter() - middle,
    }


def main() -> None:
    table = Table("set", "one pass %", "double loop %", "standard error", "within one", "times as fast")
    results = {}
    for name in MULTICLASS_SETS:
        runs = [compare(name, seed) for seed in range(SPLITS)]
        mean = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
        share = mean["naive"] / 100
        mean["standard_error"] = 100 * float(np.sqrt(share * (1 - share) / (mean["test_rows"] * SPLITS)))
        results[name] = mean
        within = mean["ours"] <= mean["naive"] + mean["standard_error"]
        table.add(
            name, f"{mean['ours']:.2f}", f"{mean['naive']:.2f}", f"{mean['standard_error']:.2f}",
            "yes" if within else "no", f"{mean['naive_seconds'] / mean['seconds']:.1f}",
        )  # fmt: skip
        print(name, mean, flush=True)
    print(table)
    ours, naive = (np.mean([result[key] for result in results.values()]) for key in ("ours", "naive"))
    print(f"mean error: one pass {ours:.2f} %, double loop {naive:.2f} %")
    save_results("cv_shared", {"columns": COLUMNS, "splits": SPLITS, "sets": results})


if __name__ == "__main__":
    main()
