"""Selected cosines against as many random ones, on the thirteen binary data sets: paired splits, hinge loss.

Both models have 100 columns and the same master problem. The random model uses a whole pool of 100 cosines; the other
selects 100 from a pool of 2000 without learning. Width and C are cross-validated for each, from the same values. A
difference is significant if a paired t-test over the splits has p < 0.05.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import ttest_rel
from sklearn.model_selection import GridSearchCV

from benchmarks.kernel import scaled_split
from benchmarks.report import Table, save_results
from cgens import CGEnsClassifier
from cgens.weak_learners import Fourier
from evaluation.splits import IDA_SETS, error_percent

COLUMNS, POOL = 100, 2000
WIDTHS, STRENGTHS = (0.3, 1.0, 3.0), (0.3, 1.0, 3.0, 10.0)


def errors_of(name: str, seed: int) -> tuple[float, float]:
    """Return the test errors in percent with selected and with random cosines."""
    warnings.simplefilter("ignore")
    split = scaled_split(name, seed)
    m, n_features = split.X.shape
    grid = {
        "weak_learner__gamma": [width / (n_features * float(split.X.var())) for width in WIDTHS],
        "C": [strength / m for strength in STRENGTHS],
    }
    errors = []
    for n_candidates in (POOL, COLUMNS):
        family = Fourier(n_candidates=n_candidates, standardize=False, learn=False)
        model = CGEnsClassifier(family, "hinge", n_estimators=COLUMNS, random_state=seed, n_jobs=1, tol=3e-3)
        search = GridSearchCV(model, grid, cv=3).fit(split.X, split.y)
        errors.append(error_percent(search, split))
    return errors[0], errors[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--sets", nargs="*", default=list(IDA_SETS))
    options = parser.parse_args()
    table, results = Table("set", "selected", "random", "difference", "p", ""), {}
    better = worse = 0
    for name in options.sets:
        runs: Any = Parallel(2)(delayed(errors_of)(name, seed) for seed in range(options.splits))
        selected, random = np.array(runs).T
        p = float(ttest_rel(selected, random).pvalue)
        verdict = "" if not p < 0.05 else "better" if selected.mean() < random.mean() else "worse"
        better, worse = better + (verdict == "better"), worse + (verdict == "worse")
        results[name] = {"selected": selected.tolist(), "random": random.tolist(), "p": p}
        means = selected.mean(), random.mean(), (selected - random).mean()
        table.add(name, *(f"{value:.2f}" for value in means), f"{p:.3f}", verdict)
        print(name, *(f"{value:.2f}" for value in means), f"p={p:.3f}", verdict, flush=True)
    print(f"\n{table}\nsignificantly better on {better} data sets, worse on {worse}")
    save_results("selected_columns", {"splits": options.splits, "sets": results})


if __name__ == "__main__":
    main()
