"""Log-loss and error without tuning: probabilities of this library beside LightGBM, EBM and a calibrated RBF-SVC.

The 13 binary sets of the paper, spambase and higgs_small; random splits. Every method has its default parameters: ours
are the logistic loss, least squares and, for its errors, the hinge loss with each family; features are standardized for
cosines and the SVC, as their documentation asks for. The SVC gets its probabilities by CalibratedClassifierCV (five
folds). A reliability curve of the pooled test rows is drawn as well.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import log_loss

from benchmarks.report import Table, load_results, save_results
from evaluation.splits import IDA_SETS, error_percent, random_split

SETS = (*IDA_SETS, "spambase", "higgs_small")
SPLITS = 3
#: Bins of the reliability curve.
EDGES = np.linspace(0.0, 1.0, 11)
FIGURE = Path(__file__).parent.parent / "docs" / "images" / "reliability.png"


def make_models() -> dict[str, Any]:
    """Return every method with its defaults; one thread each, as two splits run at once."""
    from interpret.glassbox import ExplainableBoostingClassifier
    from lightgbm import LGBMClassifier
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    from cgens import CGEnsClassifier
    from cgens.weak_learners import Fourier

    families = {"stumps": "stump", "trees": "tree", "cosines": Fourier(standardize=True)}
    shared: dict[str, Any] = {"random_state": 0, "n_jobs": 1}
    ours = {
        f"{label}, {loss.replace('_', ' ')}": CGEnsClassifier(family, loss=loss, **shared)
        for loss in ("logistic", "least_squares", "hinge")
        for label, family in families.items()
    }
    return ours | {
        "LightGBM": LGBMClassifier(verbose=-1, **shared),
        "EBM": ExplainableBoostingClassifier(**shared),
        "calibrated RBF-SVC": CalibratedClassifierCV(make_pipeline(StandardScaler(), SVC())),
    }


def measure(name: str, seed: int, label: str) -> dict[str, Any]:
    """Return the figures of one method on one split, and the counts of its reliability curve."""
    warnings.simplefilter("ignore")
    split, model = random_split(name, seed), make_models()[label]
    start = perf_counter()
    model.fit(split.X, split.y)
    seconds = perf_counter() - start
    result = {"set": name, "seed": seed, "method": label, "seconds": seconds, "error": error_percent(model, split)}
    if not hasattr(model, "predict_proba"):
        return result
    probabilities = model.predict_proba(split.X_test)
    bins = np.digitize(probabilities[:, 1], EDGES[1:-1])
    n_bins, positive = len(EDGES) - 1, split.y_test == model.classes_[1]
    return result | {
        "log_loss": float(log_loss(split.y_test, probabilities)),
        "rows": np.bincount(bins, minlength=n_bins).tolist(),
        "predicted": np.bincount(bins, probabilities[:, 1], n_bins).tolist(),
        "observed": np.bincount(bins, positive, n_bins).tolist(),
    }


def show(runs: list[dict[str, Any]]) -> None:
    """Print the mean log-loss on each set, and the means over the sets."""
    methods = list(dict.fromkeys(run["method"] for run in runs))
    table = Table("set", *methods)
    for name in SETS:
        own = [
            [run.get("log_loss", np.nan) for run in runs if (run["set"], run["method"]) == (name, label)]
            for label in methods
        ]
        table.add(name, *(f"{np.mean(values):.3f}" for values in own))
    for key, digits in (("log_loss", 4), ("error", 2), ("seconds", 2)):
        means = [np.mean([run.get(key, np.nan) for run in runs if run["method"] == label]) for label in methods]
        table.add(f"mean {key}", *(f"{mean:.{digits}f}" for mean in means))
    print(table)


def draw(runs: list[dict[str, Any]]) -> None:
    """Draw the observed against the predicted share of the second class, over the test rows of all sets."""
    import matplotlib.pyplot as plt

    methods = list(dict.fromkeys(run["method"] for run in runs if "rows" in run))
    groups = [[label for label in methods if label.endswith(end)] for end in ("logistic", "squares")]
    groups.append([label for label in methods if label not in groups[0] + groups[1]])
    figure, axes = plt.subplots(1, 3, figsize=(12, 4), sharey=True, layout="constrained")
    for axis, group in zip(axes, groups, strict=True):
        axis.plot([0, 1], [0, 1], color="0.6", linewidth=1)
        for label in group:
            # Every split counts the same, whatever its number of test rows.
            parts = [
                np.array([run["rows"], run["predicted"], run["observed"]]) for run in runs if run["method"] == label
            ]
            rows, predicted, observed = sum(part / part[0].sum() for part in parts)
            axis.plot(predicted / rows, observed / rows, marker="o", markersize=4, label=label)
        axis.set(xlabel="predicted probability", aspect="equal", xlim=(0, 1), ylim=(0, 1))
        axis.legend(frameon=False, loc="upper left")
    axes[0].set_ylabel("observed share of the second class")
    figure.savefig(FIGURE, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--saved", action="store_true", help="show the saved results again")
    if parser.parse_args().saved:
        runs = load_results("log_loss")["runs"]
    else:
        tasks = [(name, seed, label) for name in SETS for seed in range(SPLITS) for label in make_models()]
        runs = Parallel(2)(delayed(measure)(*task) for task in tasks)
        save_results("log_loss", {"runs": runs})
    show(runs)
    draw(runs)


if __name__ == "__main__":
    main()
