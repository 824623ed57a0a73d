"""Memory of a large fit, over what X itself takes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.data_folder import needs_data

ROOT = Path(__file__).resolve().parents[2]

# Writing 5 to clear_refs starts the peak (VmHWM) anew: what loading the data took is then forgotten.
SCRIPT = r"""
import re
from pathlib import Path
from evaluation.splits import mnist_odd_even
from cgens import CGEnsClassifier

def kilobytes(name):
    return int(re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text()).group(1))

split = mnist_odd_even(60_000)
model = CGEnsClassifier(n_estimators=100)
Path("/proc/self/clear_refs").write_text("5")
before = kilobytes("VmRSS")
model.fit(split.X, split.y)
print((kilobytes("VmHWM") - before) / 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak of memory is read from Linux's /proc")
@needs_data
def test_sixty_thousand_rows_take_less_than_500_megabytes():
    command = [sys.executable, "-c", SCRIPT]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert finished.returncode == 0, finished.stderr
    assert 0 < float(finished.stdout) < 500
