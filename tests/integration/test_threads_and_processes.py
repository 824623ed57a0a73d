"""Threads and forked processes give the same results, and no number of threads ends the process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from cgens import _core
from cgens.estimators._parameters import resolve_threads

#: Fits with enough work for two threads, and the bits of their results.
SCRIPT = """
import multiprocessing, os
import numpy as np
from cgens import CGEnsClassifier, CGEnsRegressorCV, _core

_core.force_work_per_thread(3e4)
rng = np.random.default_rng(0)
X = rng.normal(size=(6000, 20))
y = (X[:, 0] + X[:, 1] > rng.normal(size=6000)).astype(int)

def decide(n_jobs, loss="hinge"):
    return CGEnsClassifier(loss=loss, n_estimators=12, n_jobs=n_jobs).fit(X, y).decision_function(X).tobytes()

def search(n_jobs):
    return CGEnsRegressorCV(n_estimators=6, cv=2, n_jobs=n_jobs).fit(X[:1000], X[:1000, 0]).scores_.tobytes()

def everything(n_jobs):
    return decide(n_jobs), decide(n_jobs, "least_squares"), search(n_jobs)
"""

#: Children of `os.fork`, of `Process` and of a `Pool`: each fits with one thread, whatever `n_jobs` is.
FORK = """
expected = everything(2)
model = CGEnsClassifier(loss="hinge", n_estimators=12, n_jobs=2).fit(X, y)

reader, writer = os.pipe()
pid = os.fork()
if pid == 0:
    os.write(writer, b"same" if all(everything(n_jobs) == expected for n_jobs in (1, 2, None)) else b"different")
    os._exit(0)
os.waitpid(pid, 0)
answer = os.read(reader, 20)
assert answer == b"same", answer

def child_decides(queue):
    queue.put((_core.usable_threads(8), decide(2)))

context = multiprocessing.get_context("fork")
queue = context.Queue()
children = [context.Process(target=child_decides, args=(queue,)) for _ in range(2)]
for child in children:
    child.start()
answers = [queue.get(timeout=60) for _ in children]
for child in children:
    child.join(60)
assert answers == [(1, expected[0])] * 2

with context.Pool(2) as pool:
    parts = pool.map(model.decision_function, [X[:2500], X[2500:]])
assert np.concatenate(parts).tobytes() == expected[0]

assert _core.usable_threads(2) == 2
assert everything(2) == expected
"""


def run(script):
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert finished.returncode == 0, finished.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_fits_and_predicts():
    run(SCRIPT + FORK)


FAR_TOO_MANY = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (3 * 10**9, 3 * 10**9))  # enough for some hundred threads at most
model = CGEnsClassifier("stump", n_estimators=10, n_jobs=600).fit(X, rng.integers(0, 2, len(X)))
used = len({learner.feature for learner in model.ensemble_.learners})
many = np.broadcast_to(X[:1], (int(2e7 / used), 20))  # takes no memory, but has enough work for 600 threads
decision = model.decision_function(many)
assert np.all(decision == model.decision_function(X[:1]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the memory limit is specific to Linux")
def test_far_too_many_threads_do_not_end_the_process():
    run(SCRIPT + FAR_TOO_MANY)


def test_limits_of_threadpoolctl_are_honoured():
    with threadpool_limits(1):
        assert resolve_threads(None) == 1
    with threadpool_limits(2):
        assert resolve_threads(None) == 2


def test_n_jobs_counts_as_in_joblib():
    assert resolve_threads(1) == 1
    assert resolve_threads(2) == 2
    assert resolve_threads(-1) == joblib.cpu_count()


def test_other_threads_run_while_the_core_works(rng):
    """The GIL is released in a solve."""
    y = np.where(rng.random(5000) < 0.5, 1.0, -1.0)
    solver = _core.DualCd(y, np.where(y < 0, -1e3, 0.0), np.where(y > 0, 1e3, 0.0), 1)
    for _ in range(50):
        solver.add(np.where(rng.random(5000) < 0.5, 1, -1).astype(np.int8))
    end = time.monotonic() + 0.5
    worker = threading.Thread(target=solver.solve, args=(1e-300, 10**9, lambda: time.monotonic() > end))
    worker.start()
    ticks = 0
    while worker.is_alive():
        time.sleep(0.005)
        ticks += 1
    assert ticks > 10
