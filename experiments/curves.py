"""Figure "multi-class": test error and training time against rounds, one method at a time with all cores."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.data import Split
from experiments.experiment import Cell, Effort, Experiment, Fit, Method
from experiments.paper import FIGURES
from experiments.splits import multiclass_split
from experiments.table3 import METHODS


def _with_curve(method: Method) -> Method:
    """Return the method with its errors and seconds kept: after the first rounds, every tenth, and the last."""

    def fit(split: Split, seed: int, effort: Effort, given: dict[str, Any]) -> Fit:
        found = method(split, seed, effort, given)
        model = getattr(found.model, "best_estimator_", found.model)
        errors = [100 * float(np.mean(labels != split.y_test)) for labels in model.staged_predict(split.X_test)]
        seconds = np.cumsum(model.trace_.price_seconds + model.trace_.solve_seconds)[1:]
        last = len(errors)
        rounds = sorted({r for r in (1, 2, 5, *range(10, last, 10), last) if r <= last})
        return Fit(
            found.model,
            {
                **found.params,
                "rounds": rounds,
                "errors": [round(errors[r - 1], 3) for r in rounds],
                "passed": [round(float(seconds[min(r, len(seconds)) - 1]), 3) for r in rounds],
            },
        )

    return fit


CURVES = Experiment(
    name="curves",
    title="Figure: error and training time against rounds, many classes",
    datasets=lambda effort: ("mnist",) if effort.quick else ("mnist", "cifar10_gist", "scene15_gist"),
    methods={label: _with_curve(METHODS[label]) for label in FIGURES["table3"]["mnist"]},  # the paper's four
    split=multiclass_split,
    runs=lambda dataset: 1,
    after=lambda cell: Cell("table3", cell.dataset, cell.method, 0),
    alone=True,
)
