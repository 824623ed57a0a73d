"""Log-loss and error of the logistic loss against C, beside the hinge loss and least squares, on 13 binary sets.

C is given as a multiple of the hinge loss's default for the family. Two random splits of each set with at most 1500
training rows, 200 columns, nothing else tuned. The default C of the logistic loss (docs/decisions/0016) is the multiple
with the lowest mean log-loss.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import log_loss

from benchmarks.report import Table, save_results
from cgens import CGEnsClassifier
from cgens.masters import Hinge
from cgens.weak_learners import Fourier, Stump, Tree
from evaluation.splits import IDA_SETS, error_percent, random_split

FAMILIES: dict[str, Any] = {"stumps": Stump(), "trees": Tree(), "cosines": Fourier(standardize=True)}
MULTIPLES = (0.3, 1.0, 3.0, 10.0, 30.0)
SPLITS, MAX_ROWS = 2, 1500


def measure(name: str, seed: int, family: Any) -> dict[str, tuple[float, float]]:
    """Return log-loss (NaN without probabilities) and error in percent of each loss."""
    warnings.simplefilter("ignore")
    split = random_split(name, seed)
    X, y = split.X[:MAX_ROWS], split.y[:MAX_ROWS]
    unit = Hinge().default_c(family, np.zeros((len(y), 1)), np.ones(len(y)))
    models = {f"logistic, {multiple:g}": {"loss": "logistic", "C": unit * multiple} for multiple in MULTIPLES}
    models |= {"hinge": {"loss": "hinge"}, "least squares": {"loss": "least_squares"}}
    results = {}
    for label, parameters in models.items():
        model = CGEnsClassifier(family, n_estimators=200, random_state=0, n_jobs=1, **parameters).fit(X, y)
        loss = log_loss(split.y_test, model.predict_proba(split.X_test)) if hasattr(model, "predict_proba") else np.nan
        results[label] = (float(loss), error_percent(model, split))
    return results


def main() -> None:
    table = Table("family", "loss, multiple of C", "log-loss", "error %")
    saved: dict[str, Any] = {}
    for label, family in FAMILIES.items():
        runs = Parallel(2)(delayed(measure)(name, seed, family) for name in IDA_SETS for seed in range(SPLITS))
        saved[label] = {loss: np.mean([run[loss] for run in runs], axis=0).tolist() for loss in runs[0]}
        for loss, (mean_loss, error) in saved[label].items():
            table.add(label, loss, f"{mean_loss:.4f}", f"{error:.2f}")
    print(table)
    for losses in saved.values():
        losses["hinge"][0] = None  # no probabilities
    save_results("probabilities", {"families": saved})


if __name__ == "__main__":
    main()
