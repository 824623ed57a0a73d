"""Probabilities of the automatic model: calibrated decisions, or a logistic last solve over its columns.

The last solve is L2-penalized logistic regression over all columns, each multiplied by sqrt(weight of its part * its
C), which is their share in the model's own problems. Its C is the best of several *by the test rows*, so that its
log-loss is a bound for every honest way to choose C. Sets at which constants were looked for, first splits.

    python -m benchmarks.last_solve
"""

from __future__ import annotations

import os
import warnings

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from benchmarks.defaults import Case, make_case
from benchmarks.report import Table, save_results
from cgens import CGEnsClassifier

SETS = ("image", "german", "vehicle", "glass", "banana", "diabetes", "ringnorm", "waveform", "segment", "spambase")
GRID = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)


def losses(case: Case) -> tuple[float, list[float]]:
    """Return the log-loss of the model, and of last solves with each C."""
    model = CGEnsClassifier(random_state=0, n_jobs=1).fit(case.X, case.y)
    calibrated = float(log_loss(case.y_test, model.predict_proba(case.X_test), labels=model.classes_))
    columns, test_columns = (model.ensemble_.respond(rows).astype(np.float64) for rows in (case.X, case.X_test))
    parts = {part.name: part for part in model.auto_.parts}
    shares = [np.full(own.n_columns_, parts[name].weight * parts[name].C) for name, own in model.parts_.items()]
    mean, unit = columns.mean(axis=0), np.sqrt(np.concatenate(shares))
    solved = []
    for C in GRID:
        last = LogisticRegression(C=C, max_iter=1000, tol=1e-3).fit((columns - mean) * unit, case.y)
        probabilities = last.predict_proba((test_columns - mean) * unit)
        solved.append(float(log_loss(case.y_test, probabilities, labels=model.classes_)))
    return calibrated, solved


def main() -> None:
    warnings.simplefilter("ignore")
    text, runs = Table("set", "calibrated", "last solve, best C", "best C", "ratio"), []
    for name in SETS:
        calibrated, solved = losses(make_case(name, 0))
        best = int(np.argmin(solved))
        ratio = solved[best] / calibrated
        text.add(name, f"{calibrated:.4f}", f"{solved[best]:.4f}", f"{GRID[best]:g}", f"{ratio:.3f}")
        runs.append({"set": name, "calibrated": calibrated, "solved": solved})
    print(text)
    ratios = [min(run["solved"]) / run["calibrated"] for run in runs]
    print(f"geometric mean of the ratios: {np.exp(np.mean(np.log(ratios))):.3f}")
    save_results("last_solve", {"grid": GRID, "runs": runs})


if __name__ == "__main__":
    main()
