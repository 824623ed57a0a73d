"""The time of the logistic loss: MNIST, 10^4 rows, 500 stumps, with the default C of each loss.

Odd against even beside the hinge loss and LightGBM's stumps (num_leaves=2, learning_rate=0.3), ten classes (softmax)
beside least squares. The fits take turns in one run; the result is the ratio of the best times. Errors and log-losses
are those of MNIST's test set.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.metrics import log_loss

from benchmarks.measure import seconds_to_fit
from benchmarks.report import Table, save_results
from cgens import CGEnsClassifier
from evaluation.splits import Split, error_percent, mnist, mnist_odd_even

ROWS, ROUNDS, REPEATS = 10_000, 500, 5


def compare(split: Split, models: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Return the best time, the test error, and the log-loss and relative gap if there are any."""
    seconds: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(REPEATS):
        for name, model in models.items():
            seconds[name].append(seconds_to_fit(model, split))
    results = {}
    for name, model in models.items():
        results[name] = {"seconds": min(seconds[name]), "error": error_percent(model, split)}
        if hasattr(model, "predict_proba"):
            results[name]["log_loss"] = float(log_loss(split.y_test, model.predict_proba(split.X_test)))
        if hasattr(model, "certificate_"):
            results[name]["gap"] = model.certificate_.relative_gap
    return results


def main() -> None:
    table = Table("", "threads", "method", "seconds", "error %", "log-loss", "gap")
    saved = []
    for threads in (1, 2):
        ours = {"n_estimators": ROUNDS, "n_jobs": threads}
        stumps = LGBMClassifier(n_estimators=ROUNDS, num_leaves=2, learning_rate=0.3, n_jobs=threads, verbose=-1)
        two = {"hinge": CGEnsClassifier(loss="hinge", **ours), "logistic": CGEnsClassifier(loss="logistic", **ours)}
        ten = {name: CGEnsClassifier(loss=name, **ours) for name in ("least_squares", "logistic")}
        for data, split, models in (
            ("odd/even", mnist_odd_even(ROWS), {**two, "LightGBM": stumps}),
            ("ten classes", mnist(ROWS), ten),
        ):
            results = compare(split, models)
            saved.append({"data": data, "threads": threads, "methods": results})
            for name, row in results.items():
                gap, loss = row.get("gap", np.nan), row.get("log_loss", np.nan)
                cells = (f"{row['seconds']:.3f}", f"{row['error']:.2f}", f"{loss:.3f}", f"{gap:.1e}")
                table.add(data, str(threads), name, *cells)
            ratios = [
                f"{results['logistic']['seconds'] / row['seconds']:.2f} x {name}" for name, row in results.items()
            ]
            print(data, threads, "logistic:", *(ratio for ratio in ratios if "logistic" not in ratio))
    print(table)
    save_results("smooth_losses", {"runs": saved})


if __name__ == "__main__":
    main()
