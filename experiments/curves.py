"""The paper's multiclass figure: test error and training time against rounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluation.splits import Split, staged_errors
from experiments.experiment import Cell, Effort, Experiment, Fit, Method
from experiments.splits import multiclass_split
from experiments.table3 import METHODS


def _with_curve(method: Method) -> Method:
    """Return the method with test errors and training times stored at some rounds: 1, 2, 5, 10, 20, ... and the last.

    The first entry of a trace is the preparation before the first round.
    """

    def fit(split: Split, seed: int, effort: Effort, inherited: dict[str, Any]) -> Fit:
        found = method(split, seed, effort, inherited)
        model = getattr(found.model, "best_estimator_", found.model)
        errors = staged_errors(model, split.X_test, split.y_test)
        seconds = np.cumsum(model.trace_.price_seconds + model.trace_.solve_seconds)[1:]
        last = len(errors)
        rounds = sorted({r for r in (1, 2, 5, *range(10, last, 10), last) if r <= last})
        curve = {
            "rounds": rounds,
            "errors": [round(errors[r - 1], 3) for r in rounds],
            "seconds": [round(float(seconds[min(r, len(seconds)) - 1]), 3) for r in rounds],
        }
        return Fit(found.model, {**found.params, **curve})

    return fit


CURVES = Experiment(
    name="curves",
    title="Figure: test error and training time against rounds, multiclass data sets",
    datasets=lambda effort: ("mnist",) if effort.quick else ("mnist", "cifar10_gist", "scene15_gist"),
    methods={name: _with_curve(METHODS[name]) for name in METHODS if name != "CGEns-SLS gain"},
    split=multiclass_split,
    runs=lambda dataset: 1,
    depends_on=lambda cell: Cell("table3", cell.dataset, cell.method, 0),
    timed=True,
)
