"""Figure "examples": images that CGEns-SLS classifies rightly and wrongly."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.data import Split
from cgens import CGEnsClassifier
from experiments.experiment import Effort, Experiment, Fit
from experiments.splits import multiclass_split


def _with_examples(split: Split, seed: int, effort: Effort, given: dict[str, Any]) -> Fit:
    """Keep for each class the first two test images that were told rightly, and the first that was not."""
    model = CGEnsClassifier(n_estimators=effort.most_rounds, pricing="max", n_jobs=effort.threads)
    model.fit(split.X, split.y)
    told = model.predict(split.X_test)
    examples = []
    for label in model.classes_:
        right = np.flatnonzero((split.y_test == label) & (told == label))[:2]
        wrong = np.flatnonzero((split.y_test == label) & (told != label))[:1]
        examples.append({"right": right.tolist(), "wrong": wrong.tolist(), "told": told[wrong].tolist()})
    return Fit(model, {"examples": examples})


GALLERY = Experiment(
    name="gallery",
    title="Figure: images told rightly and wrongly",
    datasets=lambda effort: ("mnist", "fashion_mnist"),
    methods={"CGEns-SLS": _with_examples},
    split=multiclass_split,
    runs=lambda dataset: 1,
)
