"""The study behind ``LOOSE_TOL``, the tolerance between rounds (MNIST odd/even, 10^4 rows, 500 columns)."""

from __future__ import annotations

import cgens.colgen
from benchmarks.measure import seconds_to_fit
from benchmarks.report import Table, save_results
from cgens import CGEnsClassifier
from evaluation.splits import error_percent, mnist_odd_even

TOLERANCES = (3e-2, 1e-2, 3e-3, 1e-3)
REPEATS = 3


def measure(loose: float) -> dict[str, float]:
    """Return seconds (best of three), objective and test error with this tolerance between rounds."""
    split = mnist_odd_even(10_000)
    cgens.colgen.LOOSE_TOL = loose
    model = CGEnsClassifier(loss="hinge", C=1e-3, n_estimators=500)
    return {
        "loose_tol": loose,
        "seconds": min(seconds_to_fit(model, split) for _ in range(REPEATS)),
        "sweeps": float(model.trace_.n_iter.sum()),
        "primal": model.certificate_.primal,
        "error": error_percent(model, split),
    }


def main() -> None:
    runs = [measure(loose) for loose in TOLERANCES]
    table = Table("tolerance", "seconds", "sweeps", "objective", "test error %")
    for run in runs:
        table.add(
            f"{run['loose_tol']:g}", f"{run['seconds']:.2f}", f"{run['sweeps']:.0f}", f"{run['primal']:.4f}",
            f"{run['error']:.2f}",
        )  # fmt: skip
    print(table)
    save_results("loose_tolerance", {"runs": runs})


if __name__ == "__main__":
    main()
