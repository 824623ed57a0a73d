"""The paper's figure of images that CGEns-SLS classifies correctly and incorrectly."""

from __future__ import annotations

from typing import Any

import numpy as np

from cgens import CGEnsClassifier
from evaluation.splits import Split
from experiments.experiment import Effort, Experiment, Fit
from experiments.splits import multiclass_split


def _with_examples(split: Split, seed: int, effort: Effort, inherited: dict[str, Any]) -> Fit:
    """Store, for each class, the first two correctly classified test images and the first misclassified one."""
    model = CGEnsClassifier(loss="least_squares", n_estimators=effort.max_rounds, pricing="max", n_jobs=effort.threads)
    model.fit(split.X, split.y)
    predicted = model.predict(split.X_test)
    examples = []
    for label in model.classes_:
        correct = np.flatnonzero((split.y_test == label) & (predicted == label))[:2]
        wrong = np.flatnonzero((split.y_test == label) & (predicted != label))[:1]
        examples.append({"correct": correct.tolist(), "wrong": wrong.tolist(), "predicted": predicted[wrong].tolist()})
    return Fit(model, {"examples": examples})


GALLERY = Experiment(
    name="gallery",
    title="Figure: correctly and incorrectly classified images",
    datasets=lambda effort: ("mnist", "fashion_mnist"),
    methods={"CGEns-SLS": _with_examples},
    split=multiclass_split,
    runs=lambda dataset: 1,
)
