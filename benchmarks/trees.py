"""Trees of 8 to 64 leaves on MNIST, ten classes, 10^4 rows, least squares, against LightGBM with default parameters.

LightGBM builds 100 rounds of ten trees of 31 leaves; CGEns-SLS has at most 500 trees, which all classes share.
"""

from __future__ import annotations

from typing import Any

import lightgbm

from benchmarks.measure import microseconds_per_prediction, seconds_to_fit
from benchmarks.report import Table, save_results
from cgens import CGEnsClassifier
from cgens.weak_learners import Tree
from evaluation.splits import error_percent, mnist, staged_errors

STAGES = (100, 200, 300, 500)


def main() -> None:
    split = mnist(10_000)
    table = Table("", "fit s", "us/row", *(f"error %, {stage}" for stage in STAGES))
    results: dict[str, Any] = {}
    for leaves in (8, 16, 32, 64):
        for seed in (0, 1):
            model = CGEnsClassifier(Tree(leaves), loss="least_squares", n_estimators=max(STAGES), random_state=seed)
            seconds = seconds_to_fit(model, split)
            staged = staged_errors(model, split.X_test, split.y_test)
            errors = [staged[min(stage, len(staged)) - 1] for stage in STAGES]
            micro = microseconds_per_prediction(model, split)
            results[f"{leaves} leaves, seed {seed}"] = {"fit_seconds": seconds, "errors": errors, "us": micro}
            table.add(f"{leaves} leaves", f"{seconds:.1f}", f"{micro:.1f}", *(f"{error:.2f}" for error in errors))
    peer = lightgbm.LGBMClassifier(n_jobs=2, verbose=-1)
    seconds = seconds_to_fit(peer, split)
    error = error_percent(peer, split)
    micro = microseconds_per_prediction(peer, split)
    results["LightGBM"] = {"fit_seconds": seconds, "error": error, "us": micro}
    table.add("LightGBM, 1000 trees", f"{seconds:.1f}", f"{micro:.1f}", "", "", "", f"{error:.2f}")
    print(table)
    save_results("trees", {"stages": STAGES, "models": results})


if __name__ == "__main__":
    main()
