"""One-pass cross-validation against the naive double loop, on multiclass data sets.

The naive search fits each fold and each C separately, with its own columns; both select from the same folds, values of
C and numbers of columns, and refit the selected pair on the whole training set. Their test errors are compared, with
the standard error of the naive search.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np

from benchmarks.measure import seconds_to_fit
from benchmarks.report import Table, load_results, save_results
from cgens import CGEnsClassifier, CGEnsClassifierCV
from evaluation.splits import MULTICLASS_SETS, Split, error_percent, paper_loss, random_split

COLUMNS = 300
SPLITS = 3
#: These have many test rows and therefore one split.
IMAGE_SETS = ("mnist", "fashion_mnist", "cifar10_gist", "scene15_gist")
SETS = (*MULTICLASS_SETS, *IMAGE_SETS)


def naive_search(
    split: Split, folds: list[tuple[np.ndarray, np.ndarray]], Cs: np.ndarray, stages: np.ndarray
) -> CGEnsClassifier:
    """Return the model of the best pair; each pair is scored by separate fits."""
    scores = np.zeros((len(folds), len(Cs), len(stages)))
    for f, (train, test) in enumerate(folds):
        for c, C in enumerate(Cs):
            model = CGEnsClassifier(loss=paper_loss(split.y), C=C, n_estimators=int(stages[-1]))
            model.fit(split.X[train], split.y[train])
            staged = [np.mean(labels == split.y[test]) for labels in model.staged_predict(split.X[test])]
            scores[f, c] = [staged[min(stage, len(staged)) - 1] for stage in stages]
    mean = scores.mean(axis=0)
    best = mean.max() - 1e-12
    stage, c = np.argwhere(best <= mean.T)[0]  # ties: the fewest columns, then the smallest C
    return CGEnsClassifier(loss=paper_loss(split.y), C=Cs[c], n_estimators=int(stages[stage])).fit(split.X, split.y)


def compare(name: str, seed: int) -> dict[str, float]:
    """Return test errors in percent and seconds of both searches on one split."""
    split = random_split(name, seed)
    ours = CGEnsClassifierCV(loss=paper_loss(split.y), n_estimators=COLUMNS)
    seconds = seconds_to_fit(ours, split)
    start = perf_counter()
    naive = naive_search(split, ours.folds_, ours.Cs_, ours.stages_)
    return {
        "ours": error_percent(ours, split),
        "naive": error_percent(naive, split),
        "test_rows": len(split.y_test),
        "seconds": seconds,
        "naive_seconds": perf_counter() - start,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=SETS, help="only these; saved results of other data sets are kept")
    options = parser.parse_args()
    saved = load_results("cv_shared")["sets"] if tuple(options.sets) != SETS else {}
    for name in options.sets:
        n_splits = 1 if name in IMAGE_SETS else SPLITS
        runs = [compare(name, seed) for seed in range(n_splits)]
        mean = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
        share = mean["naive"] / 100
        mean["standard_error"] = 100 * float(np.sqrt(share * (1 - share) / (mean["test_rows"] * n_splits)))
        saved[name] = {"splits": n_splits, **mean}
        print(name, mean, flush=True)
    table = Table("set", "one pass %", "double loop %", "standard error", "within one")
    for name, mean in saved.items():
        within = mean["ours"] <= mean["naive"] + mean["standard_error"]
        figures = (f"{mean[key]:.2f}" for key in ("ours", "naive", "standard_error"))
        table.add(name, *figures, "yes" if within else "no")
    print(table)
    ours, naive = (np.mean([mean[key] for mean in saved.values()]) for key in ("ours", "naive"))
    print(f"mean error: one pass {ours:.2f} %, double loop {naive:.2f} %")
    save_results("cv_shared", {"columns": COLUMNS, "sets": saved})


if __name__ == "__main__":
    main()
