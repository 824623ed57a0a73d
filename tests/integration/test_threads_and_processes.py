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

from cgens import CGEnsClassifier, _core
from cgens.estimators._parameters import resolve_threads
from cgens.threads import map_in_threads, run_in_threads

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

#: Children of `os.fork`, of `Process` and of a `Pool`.
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
    queue.put(decide(2))

context = multiprocessing.get_context("fork")
queue = context.Queue()
children = [context.Process(target=child_decides, args=(queue,)) for _ in range(2)]
for child in children:
    child.start()
answers = [queue.get(timeout=60) for _ in children]
for child in children:
    child.join(60)
assert answers == [expected[0]] * 2

with context.Pool(2) as pool:
    parts = pool.map(model.decision_function, [X[:2500], X[2500:]])
assert np.concatenate(parts).tobytes() == expected[0]

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


#: What a task throws reaches the caller, whichever thread ran it, and the pool goes on to work.
MEMORY_RUNS_OUT = """
import resource

def fit(limit):
    before = int(open("/proc/self/statm").read().split()[0]) * 4096
    resource.setrlimit(resource.RLIMIT_AS, (before + limit, -1))
    try:
        return CGEnsClassifier("stump", n_estimators=10, n_jobs=2).fit(many, many[:, 0] > 0)
    except MemoryError:
        return None
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (-1, -1))

many = rng.normal(size=(200_000, 20))
decide(2)
assert fit(20_000_000) is None
model = fit(2 * 10**9)
assert model.n_columns_ == 10
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the memory limit is specific to Linux")
def test_memory_that_runs_out_in_a_thread_is_an_exception():
    run(SCRIPT + MEMORY_RUNS_OUT)


def test_several_threads_may_fit_at_once(rng):
    """All of them use the same threads of the core."""
    X = rng.normal(size=(3000, 12))
    y = X @ rng.normal(size=12) > 0
    expected = CGEnsClassifier("stump", n_estimators=20, n_jobs=1).fit(X, y).decision_function(X)
    found = {}

    def fit(number):
        model = CGEnsClassifier("stump", n_estimators=20, n_jobs=2 + number).fit(X, y)
        found[number] = model.decision_function(X)

    workers = [threading.Thread(target=fit, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(np.array_equal(found[number], expected) for number in range(4))


def test_functions_run_in_threads_until_one_fails():
    done = []

    def work(item):
        if item == 20:
            raise ZeroDivisionError
        done.append(item)

    assert map_in_threads(lambda item: item + 1, range(50), 3) == list(range(1, 51))
    with pytest.raises(ZeroDivisionError):
        run_in_threads(work, range(1000), 3)
    assert set(done) >= set(range(20))
    assert len(done) < 1000


def test_a_thread_that_cannot_be_started_is_done_without(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert map_in_threads(lambda item: -item, range(5), 3) == [0, -1, -2, -3, -4]


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
