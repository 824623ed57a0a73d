"""Measurements used by several benchmarks."""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter
from typing import Any

from evaluation.splits import Split


def seconds_to_fit(model: Any, split: Split) -> float:
    """Return the wall time of one fit."""
    start = perf_counter()
    model.fit(split.X, split.y)
    return perf_counter() - start


def microseconds_per_prediction(model: Any, split: Split) -> float:
    """Return the time per row of predicting the whole test set at once, the best of three."""
    times = []
    for _ in range(3):
        start = perf_counter()
        model.predict(split.X_test)
        times.append(perf_counter() - start)
    return 1e6 * min(times) / len(split.y_test)


def memory_growth(split: str, model: str) -> float:
    """Return by how many MB a fit increases the peak memory of a new process that already holds X (Linux only).

    Both arguments are Python expressions with the names of `evaluation.splits`, `cgens` and `lightgbm`.
    """
    script = f"""
import cgens, lightgbm
from evaluation.splits import mnist, mnist_odd_even
split, model = {split}, {model}
open("/proc/self/clear_refs", "w").write("5")
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
before = peak()
model.fit(split.X, split.y)
print((peak() - before) / 1024)
"""
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return float(finished.stdout.split()[-1])
