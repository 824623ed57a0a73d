"""Log-loss and error of the logistic loss against C, beside the hinge loss and least squares.

C is given as a multiple of the hinge loss's default for the family, for k classes times k - 1. Two random splits of
each set with at most 2000 training rows, 500 columns, nothing else tuned: 15 binary sets, and 10 with more classes.
The default C of the logistic loss was chosen here (docs/decisions/0016). ``--kept-apart`` tries it on six other sets;
two of them are regression problems, turned into classes at the median of y.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import log_loss

from benchmarks.report import Table, save_results
from cgens import CGEnsClassifier
from cgens.masters import Hinge
from cgens.weak_learners import Fourier, Stump, Tree
from evaluation.splits import IDA_SETS, MULTICLASS_SETS, error_percent, random_split

SETS = {"two classes": (*IDA_SETS, "spambase", "higgs_small"), "more classes": MULTICLASS_SETS}
FAMILIES: dict[str, Any] = {"stumps": Stump(), "trees": Tree(), "cosines": Fourier(standardize=True)}
MULTIPLES = (0.3, 1.0, 2.0, 4.0, 10.0)
KEPT_APART = {
    "two classes": ("abalone", "california_housing"),
    "more classes": ("mnist", "fashion_mnist", "cifar10_gist", "scene15_gist"),
}
SPLITS, MAX_ROWS = 2, 2000


def measure(name: str, seed: int, family: Any) -> dict[str, tuple[float, float]]:
    """Return log-loss (NaN without probabilities) and error in percent of each loss."""
    warnings.simplefilter("ignore")
    split = random_split(name, seed)
    if name in KEPT_APART["two classes"]:
        middle = np.median(split.y)
        split = replace(split, y=(split.y > middle).astype(int), y_test=(split.y_test > middle).astype(int))
    X, y = split.X[:MAX_ROWS], split.y[:MAX_ROWS]
    classes = np.unique(y)
    unit = (len(classes) - 1) * Hinge().default_c(family, np.zeros((len(y), 1)), np.ones(len(y)))
    models = {f"logistic, {multiple:g}": {"loss": "logistic", "C": unit * multiple} for multiple in MULTIPLES}
    models |= {"hinge": {"loss": "hinge"}, "least squares": {"loss": "least_squares"}}
    known = np.isin(split.y_test, classes)
    results = {}
    for label, parameters in models.items():
        model = CGEnsClassifier(family, random_state=0, n_jobs=1, **parameters).fit(X, y)
        loss = np.nan
        if hasattr(model, "predict_proba"):
            loss = log_loss(split.y_test[known], model.predict_proba(split.X_test[known]), labels=classes)
        results[label] = (float(loss), error_percent(model, split))
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kept-apart", action="store_true", help="use the sets that played no part in the choice")
    kept_apart = parser.parse_args().kept_apart
    table = Table("", "family", "loss, multiple of C", "log-loss", "error %")
    saved: dict[str, Any] = {}
    for kind, sets in (KEPT_APART if kept_apart else SETS).items():
        for label, family in FAMILIES.items():
            runs = Parallel(2)(delayed(measure)(name, seed, family) for name in sets for seed in range(SPLITS))
            means = {loss: np.mean([run[loss] for run in runs], axis=0).tolist() for loss in runs[0]}
            for loss, (mean_loss, error) in means.items():
                table.add(kind, label, loss, f"{mean_loss:.4f}", f"{error:.2f}")
            means["hinge"][0] = None  # no probabilities
            saved.setdefault(kind, {})[label] = means
    print(table)
    save_results("probabilities_kept_apart" if kept_apart else "probabilities", saved)


if __name__ == "__main__":
    main()
