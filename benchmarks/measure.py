"""What several benchmarks measure alike."""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter
from typing import Any

from benchmarks.data import Split


def seconds_to_fit(model: Any, split: Split) -> float:
    """Return the wall time of one fit."""
    began = perf_counter()
    model.fit(split.X, split.y)
    return perf_counter() - began


def microseconds_a_prediction(model: Any, split: Split) -> float:
    """Return the time of predicting all test rows at once, per row, the best of three."""
    times = []
    for _ in range(3):
        began = perf_counter()
        model.predict(split.X_test)
        times.append(perf_counter() - began)
    return 1e6 * min(times) / len(split.y_test)


def memory_growth(split: str, model: str) -> float:
    """Return by how many MB a fit raises the peak memory of a fresh process that already holds X (Linux).

    Both are expressions, over the names of `benchmarks.data`, `cgens` and `lightgbm`.
    """
    script = f"""
import cgens, lightgbm
from benchmarks.data import mnist, mnist_odd_even
split, model = {split}, {model}
open("/proc/self/clear_refs", "w").write("5")
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
before = peak()
model.fit(split.X, split.y)
print((peak() - before) / 1024)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])
