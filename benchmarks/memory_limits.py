"""Fits of 200 000 rows x 20 inputs that may add so many megabytes to the address space of their process, and no more.

Each has a process of its own, with two threads, and has to end in a model or in MemoryError, never in another way.

    python -m benchmarks.memory_limits                     0, 10, ..., 400 MB; some ten minutes
    python -m benchmarks.memory_limits --step 50 --kinds trees
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from benchmarks.report import Table

KINDS = {
    "hinge": 'CGEnsClassifier("stump", loss="hinge", n_estimators=5, n_jobs=2)',
    "least squares": 'CGEnsClassifier("stump", loss="least_squares", n_estimators=5, n_jobs=2)',
    "logistic": 'CGEnsClassifier("stump", loss="logistic", n_estimators=5, n_jobs=2)',
    "trees": 'CGEnsClassifier("tree", loss="logistic", n_estimators=5, n_jobs=2, random_state=0)',
    "cosines": 'CGEnsClassifier("fourier", loss="logistic", n_estimators=5, n_jobs=2, random_state=0)',
}
#: The ways in which a fit may end.
ENDS = ("model", "MemoryError")
#: A small fit loads the libraries before the limit is set.
SCRIPT = """
import resource, warnings
import numpy as np
from cgens import CGEnsClassifier

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.standard_normal((200_000, 20))
y = X[:, :4].sum(axis=1) + rng.standard_normal(len(X)) > 0
model = {model}.fit(X[:2000], y[:2000])
size = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (size + {megabytes} * 10**6, -1))
try:
    model = {model}.fit(X, y)
except MemoryError:
    print("MemoryError")
else:
    print("model")
"""


def end_of_fit(kind: str, megabytes: int) -> str:
    """Return how a fit ends that may add so much memory: one of `ENDS`, or what it printed to stderr last."""
    script = SCRIPT.format(model=KINDS[kind], megabytes=megabytes)
    try:
        run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return "no end within two minutes"
    if run.returncode == 0 and run.stdout.strip() in ENDS:
        return run.stdout.strip()
    return f"exit code {run.returncode}: {run.stderr.strip().splitlines()[-1:]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step", type=int, default=10)
    parser.add_argument("--most", type=int, default=400)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    options = parser.parse_args()
    text = Table("fit", "end", "limits, MB")
    for kind in options.kinds:
        found: dict[str, list[str]] = {}
        for megabytes in range(0, options.most + 1, options.step):
            found.setdefault(end_of_fit(kind, megabytes), []).append(str(megabytes))
        for end, limits in found.items():
            text.add(kind, end, ", ".join(limits))
    print(text)


if __name__ == "__main__":
    main()
