"""Threads and forked children: the same answer in all of them, and no number of threads that kills the process."""

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

SCRIPT = """
import multiprocessing, os, sys
import numpy as np
from cgens import CGEnsClassifier, CGEnsRegressorCV, _core

rng = np.random.default_rng(0)
X = rng.normal(size=(6000, 50))  # work enough for two threads
y = (X[:, 0] + X[:, 1] > rng.normal(size=6000)).astype(int)

def decide(n_jobs, loss="hinge"):
    return CGEnsClassifier(loss=loss, n_estimators=30, n_jobs=n_jobs).fit(X, y).decision_function(X).tobytes()

def child_decides(queue):
    queue.put((_core.usable_threads(8), decide(2)))

expected = decide(2)
"""

FORK = """
reader, writer = os.pipe()
pid = os.fork()
if pid == 0:
    same = decide(2) == expected and decide(1) == expected and decide(None) == expected
    os.write(writer, b"same" if same else b"different")
    os._exit(0)
os.waitpid(pid, 0)
answer = os.read(reader, 20)
assert answer == b"same", answer
"""

LEAST_SQUARES = """
def search(n_jobs):
    return CGEnsRegressorCV(n_estimators=20, cv=2, n_jobs=n_jobs).fit(X[:1000], X[:1000, 0]).scores_.tobytes()

both = decide(2, "least_squares"), search(2)
reader, writer = os.pipe()
pid = os.fork()
if pid == 0:
    same = all((decide(n_jobs, "least_squares"), search(n_jobs)) == both for n_jobs in (1, 2, None))
    os.write(writer, b"same" if same else b"different")
    os._exit(0)
os.waitpid(pid, 0)
answer = os.read(reader, 20)
assert answer == b"same", answer
"""

MULTIPROCESSING = """
context = multiprocessing.get_context("fork")
queue = context.Queue()
children = [context.Process(target=child_decides, args=(queue,)) for _ in range(2)]
for child in children:
    child.start()
answers = [queue.get(timeout=60) for _ in children]
for child in children:
    child.join(60)
assert answers == [(1, expected)] * 2
"""

PREDICT_IN_CHILD = """
model = CGEnsClassifier(n_estimators=30, n_jobs=2).fit(X, y)
with multiprocessing.get_context("fork").Pool(2) as pool:
    parts = pool.map(model.decision_function, [X[:2500], X[2500:]])
assert np.concatenate(parts).tobytes() == expected
"""

PARENT_AFTERWARDS = """
assert _core.usable_threads(2) == 2
assert decide(2) == expected
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize(
    "body",
    [FORK, LEAST_SQUARES, MULTIPROCESSING, PREDICT_IN_CHILD],
    ids=["fork", "least squares", "multiprocessing", "predict"],
)
def test_a_forked_child_fits_and_predicts(body):
    began = time.monotonic()
    finished = subprocess.run(
        [sys.executable, "-c", SCRIPT + body + PARENT_AFTERWARDS],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    assert time.monotonic() - began < 60


FAR_TOO_MANY = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (6 * 10**9, 6 * 10**9))  # room for some hundred threads, not for thousands
model = CGEnsClassifier(n_estimators=60, n_jobs=5000).fit(X, rng.integers(0, 2, len(X)))
used = len({learner.feature for learner in model.ensemble_.learners})
many = np.broadcast_to(X[:1], (int(2e8 / used), 50))  # takes no memory; work enough for 5000 threads
decision = model.decision_function(many)
assert np.all(decision == model.decision_function(X[:1]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's here")
def test_far_too_many_threads_do_not_end_the_process():
    command = [sys.executable, "-c", SCRIPT + FAR_TOO_MANY]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert finished.returncode == 0, finished.stderr


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
    end = time.monotonic() + 1.0
    worker = threading.Thread(target=solver.solve, args=(1e-300, 10**9, lambda: time.monotonic() > end))
    worker.start()
    ticks = 0
    while worker.is_alive():
        time.sleep(0.005)
        ticks += 1
    assert ticks > 20
