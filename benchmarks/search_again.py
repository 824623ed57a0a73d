"""What it costs and changes that a search generates columns again at the best C (docs/decisions/0015).

For each search: the test error at the C that its first pass would have selected, and at the C that it did select; the
number of passes over the folds, and how much longer the passes after the first made the fit.
"""

from __future__ import annotations

import argparse
import warnings
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks.report import Table, save_results
from cgens import CGEnsClassifierCV
from cgens.weak_learners import Perceptron, Stump
from evaluation.splits import error_percent, random_split

SPLITS = 5
#: Data set, family, loss, maximum number of columns.
CASES: tuple[tuple[str, Any, str, int], ...] = (
    ("banana", Perceptron(standardize=True), "hinge", 300),
    ("banana", Stump(), "hinge", 300),
    ("titanic", Stump(), "hinge", 100),
    ("letter", Stump(), "least_squares", 300),
    ("mnist", Stump(), "least_squares", 300),
)


class CountedSearch(CGEnsClassifierCV):
    """A search that records what its first pass would have selected, and when each pass over the folds ended."""

    __init__ = CGEnsClassifierCV.__init__

    def _select(self) -> int:
        best = super()._select()
        self.passes = [*getattr(self, "passes", []), (perf_counter(), dict(self.best_params_))]
        return best


def compare(name: str, family: Any, loss: str, n_columns: int, seed: int) -> dict[str, float]:
    split = random_split(name, seed)
    search = CountedSearch(family, loss=loss, n_estimators=n_columns, random_state=seed)
    start = perf_counter()
    search.fit(split.X, split.y)
    total = perf_counter() - start
    times = [at - start for at, _ in search.passes]
    again = times[-1] - times[0]
    once = clone(search.best_estimator_).set_params(**search.passes[0][1])
    return {
        "first": error_percent(once.fit(split.X, split.y), split),
        "selected": error_percent(search, split),
        "passes": float(len(times)),
        "longer": total / (total - again),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=SPLITS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    table = Table("set", "family", "error of the first pass %", "error %", "passes", "longer")
    saved = []
    for name, family, loss, n_columns in CASES:
        n_splits = 1 if name == "mnist" else options.splits
        runs = [compare(name, family, loss, n_columns, seed) for seed in range(n_splits)]
        mean = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
        saved.append({"set": name, "family": repr(family), "splits": n_splits, **mean})
        figures = (f"{mean['first']:.2f}", f"{mean['selected']:.2f}", f"{mean['passes']:.1f}", f"{mean['longer']:.2f}")
        table.add(name, type(family).__name__, *figures)
        print(saved[-1], flush=True)
    print(table)
    save_results("search_again", {"cases": saved})


if __name__ == "__main__":
    main()
