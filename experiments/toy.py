"""The paper's toy figure: CGEns and AdaBoost on a disc in the plane, round by round."""

from __future__ import annotations

from typing import Any

import numpy as np

from cgens import CGEnsClassifier
from cgens.baselines import AdaBoostClassifier
from evaluation.splits import Split
from experiments.experiment import Effort, Experiment, Fit, Method
from experiments.splits import disc_split

ROUNDS = 200


def _with_learning_curves(estimator: Any) -> Method:
    """Return a method that stores the training and test errors after each round."""

    def fit(split: Split, seed: int, effort: Effort, inherited: dict[str, Any]) -> Fit:
        model = estimator(n_estimators=ROUNDS, n_jobs=effort.threads).fit(split.X, split.y)
        curves = {
            "train": _staged_errors(model, split.X, split.y),
            "test": _staged_errors(model, split.X_test, split.y_test),
        }
        return Fit(model, curves)

    return fit


def _staged_errors(model: Any, X: np.ndarray, y: np.ndarray) -> list[float]:
    """Return the error after each round, in percent."""
    return [round(100 * float(np.mean(labels != y)), 3) for labels in model.staged_predict(X)]


TOY = Experiment(
    name="toy",
    title="Figure: a disc in the plane",
    datasets=lambda effort: ("disc",),
    methods={"AdaBoost": _with_learning_curves(AdaBoostClassifier), "CGEns": _with_learning_curves(CGEnsClassifier)},
    published=("AdaBoost", "CGEns"),
    split=disc_split,
    runs=lambda dataset: 5,
)
