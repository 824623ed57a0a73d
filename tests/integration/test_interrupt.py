"""Ctrl-C: heard within a second, nothing lost, and never swallowed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from cgens import CGEnsClassifier, CGEnsClassifierCV, CGEnsRegressor, generate_columns
from cgens._core import DualCd
from cgens.inspection import check_certificate
from cgens.interrupt import InterruptGuard
from cgens.masters import Hinge
from cgens.types import Status
from cgens.weak_learners import Stump
from tests.integration.small_data import noisy
from tests.tolerances import INTERRUPT_SECONDS

PRELUDE = """
import json, sys, time
import numpy as np
from cgens import CGEnsClassifier, CGEnsClassifierCV, CGEnsRegressor, CGEnsRegressorCV, generate_columns
from cgens.masters import Hinge
from cgens.weak_learners import Stump

rng = np.random.default_rng(0)

def say(**facts):
    print(json.dumps(facts), flush=True)
"""

FIT_UNTIL_CTRL_C = """
say(ready=True)
try:
    model.fit(X, y)
    say(finished=True)
except KeyboardInterrupt:
    caught = time.monotonic()
    stages = sum(1 for _ in model.staged_predict(X[:5]))
    certificate = model.certificate_
    say(
        caught=caught, status=certificate.status, columns=model.n_columns_, predictions=len(model.predict(X)),
        stages=stages, duals=len(model.duals_), primal=certificate.primal, dual=certificate.dual,
        importances=len(model.feature_importances_), rounds=len(model.trace_),
    )
"""

LONG_FIT = (
    """
X = rng.normal(size=(3000, 60))
y = (X[:, :5].sum(axis=1) + 2 * rng.normal(size=3000) > 0).astype(int)
model = CGEnsClassifier(n_estimators=100_000, tol=1e-6, C=0.1)
"""
    + FIT_UNTIL_CTRL_C
)

# The same in closed form, for several outputs at once.
LONG_REGRESSION = (
    """
X = rng.normal(size=(3000, 60))
y = X[:, :5] + 2 * rng.normal(size=(3000, 5))
model = CGEnsRegressor(n_estimators=100_000, C=0.1)
"""
    + FIT_UNTIL_CTRL_C
)

LONG_SEARCH = """
X = rng.normal(size=(3000, 60))
y = X[:, :5].sum(axis=1) + 2 * rng.normal(size=3000)
search = CGEnsRegressorCV(n_estimators=2000) if {numbers} else CGEnsClassifierCV(loss="hinge", n_estimators=2000)
given = set(vars(search))
say(ready=True)
try:
    search.fit(X, y if {numbers} else y > 0)
    say(finished=True)
except KeyboardInterrupt:
    say(caught=time.monotonic(), stored=sorted(set(vars(search)) - given))
"""

# Some fifteen seconds of drawing before the first round.
LONG_DRAW = """
from cgens.weak_learners import Perceptron
X = rng.normal(size=(60_000, 100)).astype(np.float32)
model = CGEnsClassifier(Perceptron(4000, learn=False))
say(ready=True)
try:
    model.fit(X, X[:, 0] > 0)
    say(finished=True)
except KeyboardInterrupt:
    say(caught=time.monotonic(), fitted=hasattr(model, "ensemble_"))
"""

# Learning takes most of the time; some rounds are done when the signal comes.
LONG_LEARNING = """
from cgens.weak_learners import Fourier
X = rng.normal(size=(40_000, 60)).astype(np.float32)
model = CGEnsRegressor(Fourier(learn=True), C=1e-3, n_estimators=2000)
say(ready=True)
try:
    model.fit(X, np.cos(X[:, 0] + X[:, 1]) + X[:, 2])
    say(finished=True)
except KeyboardInterrupt:
    say(caught=time.monotonic(), status=model.certificate_.status, columns=model.n_columns_)
"""

# Random labels, a large C and no limit of sweeps: each solve takes minutes.
LONG_SOLVE = """
X = rng.normal(size=(20_000, 40))
y = np.where(rng.random(20_000) < 0.5, 1.0, -1.0)
master = Hinge(C=100.0, max_sweeps=10**9, quick_sweeps=10**9)
say(ready=True)
ensemble, trace = generate_columns(master, Stump(), X, y, tol=1e-9, max_columns=40, n_threads=2)
say(caught=time.monotonic(), status=trace.certificate.status, columns=len(ensemble), rounds=len(trace))
"""

SECOND_SIGNAL = """
import os, signal
from cgens.interrupt import InterruptGuard
say(ready=True)
try:
    with InterruptGuard() as guard:
        while not guard.requested():
            time.sleep(0.01)
        say(heard=True)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
        say(finished=True)
except KeyboardInterrupt:
    say(caught=time.monotonic())
"""


def run_and_interrupt(script: str, after: float) -> tuple[float, list[dict]]:
    """Run a script, send SIGINT `after` seconds from "ready", return when it was sent and what was said since."""
    process = subprocess.Popen(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert json.loads(process.stdout.readline()) == {"ready": True}
        time.sleep(after)
        assert process.poll() is None, "it ended before the signal"
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, err
    return sent, [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize(
    ("script", "after"),
    [(LONG_FIT, 1.0), (LONG_FIT, 1.6), pytest.param(LONG_REGRESSION, 1.0, marks=pytest.mark.slow)],
)
def test_a_long_fit(script, after):
    sent, (facts,) = run_and_interrupt(script, after)
    assert facts.get("status") == "interrupted", facts
    assert facts["caught"] - sent < INTERRUPT_SECONDS
    assert facts["columns"] == facts["stages"] == facts["rounds"] - 1 > 0
    assert facts["predictions"] == facts["duals"] == 3000
    assert facts["importances"] == 60
    assert facts["dual"] <= facts["primal"]


@pytest.mark.parametrize("numbers", [pytest.param(True, marks=pytest.mark.slow), False])
def test_a_long_search_stores_nothing(numbers):
    sent, (facts,) = run_and_interrupt(LONG_SEARCH.format(numbers=numbers), 1.0)
    assert facts.get("stored") == [], facts
    assert facts["caught"] - sent < INTERRUPT_SECONDS


def test_one_long_solve():
    sent, (facts,) = run_and_interrupt(LONG_SOLVE, 1.5)
    assert facts.get("status") == "interrupted", facts
    assert facts["caught"] - sent < INTERRUPT_SECONDS
    assert facts["columns"] == facts["rounds"] - 1


def test_a_long_draw_leaves_nothing():
    sent, (facts,) = run_and_interrupt(LONG_DRAW, 1.0)
    assert facts.get("fitted") is False, facts
    assert facts["caught"] - sent < INTERRUPT_SECONDS


@pytest.mark.slow
def test_long_learning_keeps_the_rounds_done():
    sent, (facts,) = run_and_interrupt(LONG_LEARNING, 8.0)
    assert facts.get("status") == "interrupted", facts
    assert facts["columns"] > 0
    assert facts["caught"] - sent < INTERRUPT_SECONDS


class PressesCtrlC(BaseEstimator):
    """A family that behaves like another one, while whose n-th search Ctrl-C is pressed."""

    def __init__(self, family, n):
        self.family = family
        self.n = n

    def begin(self, sample, rng, n_threads):
        return PressingPricer(self.family.begin(sample, rng, n_threads), self.n)


class PressingPricer:
    def __init__(self, live, searches_left):
        self.live = live
        self.searches_left = searches_left

    def price(self, duals, taken, rule):
        self.searches_left -= 1
        if self.searches_left == 0:
            signal.raise_signal(signal.SIGINT)
        return self.live.price(duals, taken, rule)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("n", [1, 2, 10])
def test_interrupted_whatever_the_state_of_the_solver(C, n):
    """Also where the solve between rounds was a quick one that had not converged yet."""
    X, y = noisy()
    model = CGEnsClassifier(PressesCtrlC(Stump(), n), C=C, n_estimators=50)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.certificate_.status is Status.INTERRUPTED
    assert model.n_columns_ == n
    assert len(model.predict(X)) == len(X)
    assert len(list(model.staged_predict(X))) == n
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("C", [0.01, 100.0])
@pytest.mark.parametrize("n", [1, 2, 10])
@pytest.mark.parametrize("pricing", ["gain", "max"])
def test_least_squares_interrupted(C, n, pricing):
    X, y = noisy()
    model = CGEnsRegressor(PressesCtrlC(Stump(), n), C=C, n_estimators=50, pricing=pricing)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, np.column_stack([y, X[:, 0]]))
    assert model.certificate_.status is Status.INTERRUPTED
    assert model.n_columns_ == len(list(model.staged_predict(X))) == n
    assert model.predict(X).shape == (len(X), 2)


@pytest.mark.parametrize("loss", ["hinge", "least_squares"])
def test_a_fit_goes_on_after_ctrl_c(loss):
    X, y = noisy()
    model = CGEnsClassifier(PressesCtrlC(Stump(), 3), loss=loss, n_estimators=10, warm_start=True)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    model.set_params(weak_learner="stump").fit(X, y)
    assert model.n_columns_ == 10
    assert check_certificate(model, X, y).problems == ()


def test_a_search_interrupted_stores_nothing():
    X, y = noisy()
    search = CGEnsClassifierCV(PressesCtrlC(Stump(), 3), n_estimators=10, cv=3, n_jobs=2)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert set(vars(search)) == set(search.get_params(deep=False))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_callback_that_presses_ctrl_c():
    X, y = noisy()
    hopeless = Hinge(C=100.0, max_sweeps=1, quick_sweeps=1)

    def press(state):
        if state.n_columns == 4:
            signal.raise_signal(signal.SIGINT)

    ensemble, trace = generate_columns(hopeless, Stump(), X, np.where(y > 0, 1.0, -1.0), tol=1e-9, callback=press)
    assert trace.certificate.status is Status.INTERRUPTED
    assert len(ensemble) == 4


def test_the_solver_asks_often_enough_amid_newton_steps(rng):
    """Some thousand duals inside their box make the Newton steps as large as they get."""
    y = np.where(rng.random(2000) < 0.5, 1.0, -1.0)
    solver = DualCd(y, np.where(y < 0, -1e4, 0.0), np.where(y > 0, 1e4, 0.0), 1)
    for _ in range(400):
        solver.add(np.where(rng.random(2000) < 0.5, 1, -1).astype(np.int8))
    asked = [time.monotonic()]

    def poll() -> bool:
        asked.append(time.monotonic())
        return asked[-1] - asked[0] > 3

    assert solver.solve(1e-300, 10**9, poll)[3] == "interrupted"
    asked.append(time.monotonic())
    assert np.diff(asked).max() < INTERRUPT_SECONDS


def test_a_second_signal_raises_at_once():
    sent, facts = run_and_interrupt(SECOND_SIGNAL, 0.1)
    assert facts[0] == {"heard": True}
    assert facts[1]["caught"] - sent < INTERRUPT_SECONDS


def test_guard_restores_the_handler():
    before = signal.getsignal(signal.SIGINT)
    with InterruptGuard() as guard:
        assert not guard.requested()
        signal.raise_signal(signal.SIGINT)
        assert guard.requested()
    assert signal.getsignal(signal.SIGINT) is before


def test_guard_leaves_a_programs_own_handler_alone():
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    try:
        with InterruptGuard() as guard:
            signal.raise_signal(signal.SIGINT)
            assert not guard.requested()
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [1]


def test_guard_restores_the_handler_after_an_error():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(RuntimeError), InterruptGuard():
        raise RuntimeError
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("loss", ["hinge", "least_squares"])
def test_ctrl_c_before_the_first_new_column_leaves_a_warm_start_as_it_was(loss, monkeypatch):
    X, y = noisy()
    model = CGEnsClassifier(loss=loss, n_estimators=5, warm_start=True, n_jobs=1).fit(X, y)
    before, certificate = model.decision_function(X), model.certificate_
    monkeypatch.setattr(InterruptGuard, "requested", lambda self: True)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(n_estimators=10).fit(X, y)
    monkeypatch.undo()
    assert np.array_equal(model.decision_function(X), before)
    assert model.certificate_ == certificate
    assert model.fit(X, y).n_columns_ == 10
