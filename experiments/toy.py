"""The paper's toy figure: CGEns and AdaBoost on a disc in the plane, round by round."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from cgens import CGEnsClassifier
from cgens.baselines import AdaBoostClassifier
from evaluation.splits import Split, staged_errors
from experiments.experiment import Effort, Experiment, Fit, Method
from experiments.splits import disc_split

ROUNDS = 200


def _with_learning_curves(estimator: Any) -> Method:
    """Return a method that stores the training and test errors after each round."""

    def fit(split: Split, seed: int, effort: Effort, inherited: dict[str, Any]) -> Fit:
        model = estimator(n_estimators=ROUNDS, n_jobs=effort.threads).fit(split.X, split.y)
        train, test = staged_errors(model, split.X, split.y), staged_errors(model, split.X_test, split.y_test)
        return Fit(model, {"train": np.round(train, 3).tolist(), "test": np.round(test, 3).tolist()})

    return fit


TOY = Experiment(
    name="toy",
    title="Figure: a disc in the plane",
    datasets=lambda effort: ("disc",),
    methods={
        "AdaBoost": _with_learning_curves(AdaBoostClassifier),
        "CGEns": _with_learning_curves(partial(CGEnsClassifier, loss="hinge")),
    },
    split=disc_split,
    runs=lambda dataset: 5,
)
