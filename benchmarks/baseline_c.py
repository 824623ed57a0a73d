"""The study behind the default C of LPBoost and nu of MultiBoost: test errors of stumps on random splits.

LPBoost on the thirteen binary data sets, MultiBoost on the smaller multiclass ones; at most 200 columns.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from benchmarks.report import Table, save_results
from cgens.baselines import LPBoostClassifier, MultiBoostClassifier
from evaluation.splits import IDA_SETS, Split, error_percent, random_split

STUDIES: dict[str, tuple[tuple[str, ...], tuple[float, ...], Callable[[float, Split], Any]]] = {
    "lpboost": (
        IDA_SETS,
        (3.0, 10.0, 30.0, 100.0, 300.0),
        lambda total, split: LPBoostClassifier(C=total / len(split.y), n_estimators=200, n_jobs=1),
    ),
    "multiboost": (
        ("iris", "wine", "glass", "vehicle", "vowel", "segment", "dna"),
        (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2),
        lambda nu, split: MultiBoostClassifier(nu=nu, n_estimators=200, n_jobs=1),
    ),
}


def errors_of(study: str, name: str, seed: int) -> list[float]:
    """Return the test error in percent for each value of the grid."""
    _, grid, make = STUDIES[study]
    split = random_split(name, seed)
    return [error_percent(make(value, split).fit(split.X, split.y), split) for value in grid]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=3)
    options = parser.parse_args()
    results: dict[str, dict[str, list[float]]] = {}
    for study, (names, grid, _) in STUDIES.items():
        table = Table(study, *(f"{value:g}" for value in grid))
        results[study] = {}
        for name in names:
            runs = Parallel(2)(delayed(errors_of)(study, name, seed) for seed in range(options.splits))
            results[study][name] = np.mean(runs, axis=0).tolist()
            table.add(name, *(f"{error:.1f}" for error in results[study][name]))
        table.add("mean", *(f"{error:.2f}" for error in np.mean(list(results[study].values()), axis=0)))
        print(table, flush=True)
    save_results("baseline_c", results)


if __name__ == "__main__":
    main()
