"""Measurements used by several benchmarks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
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


def reset_peak_memory() -> None:
    """Forget the peak memory of this process (Linux only)."""
    Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> float:
    """Return the peak memory of this process in MB (Linux only)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def memory_growth(split: str, model: str) -> float:
    """Return by how many MB a fit increases the peak memory of a new process that already holds X (Linux only).

    Both arguments are Python expressions with the names of `evaluation.splits`, `cgens` and `lightgbm`.
    """
    script = f"""
import cgens, lightgbm
from benchmarks.measure import peak_memory, reset_peak_memory
from evaluation.splits import mnist, mnist_odd_even
split, model = {split}, {model}
reset_peak_memory()
before = peak_memory()
model.fit(split.X, split.y)
print(peak_memory() - before)
"""
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return float(finished.stdout.split()[-1])
