"""Figure "toy": a disc in the plane, CGEns beside AdaBoost, round by round."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.data import Split
from cgens import CGEnsClassifier
from cgens.baselines import AdaBoostClassifier
from experiments.experiment import Effort, Experiment, Fit, Method
from experiments.splits import disc_split

ROUNDS = 200


def _curves(make: Any) -> Method:
    """Return a method that keeps its errors after every round."""

    def fit(split: Split, seed: int, effort: Effort, given: dict[str, Any]) -> Fit:
        model = make(n_estimators=ROUNDS, n_jobs=effort.threads).fit(split.X, split.y)
        return Fit(
            model,
            {
                "train": errors_by_round(model, split.X, split.y),
                "test": errors_by_round(model, split.X_test, split.y_test),
            },
        )

    return fit


def errors_by_round(model: Any, X: np.ndarray, y: np.ndarray) -> list[float]:
    """Return the error after each round, in percent."""
    return [round(100 * float(np.mean(labels != y)), 3) for labels in model.staged_predict(X)]


TOY = Experiment(
    name="toy",
    title="Figure: a disc in the plane",
    datasets=lambda effort: ("disc",),
    methods={"AdaBoost": _curves(AdaBoostClassifier), "CGEns": _curves(CGEnsClassifier)},
    split=disc_split,
    runs=lambda dataset: 5,
)
