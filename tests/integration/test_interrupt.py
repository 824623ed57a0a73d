"""Ctrl-C ends a fit within a second, keeps the finished rounds, and is always re-raised."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from cgens import CGEnsClassifier, CGEnsClassifierCV, CGEnsRegressor, CGEnsRegressorCV, generate_columns
from cgens._core import DualCd
from cgens.baselines import (
    AdaBoostClassifier,
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    LPBoostClassifier,
    MultiBoostClassifier,
)
from cgens.inspection import check_certificate
from cgens.interrupt import InterruptGuard
from cgens.masters import Hinge, LeastSquares, LPBoost, MultiBoost
from cgens.types import Status
from cgens.weak_learners import Fourier, Perceptron, Stump
from tests.integration.small_data import noisy, wines
from tests.models import SEARCH, STAGE_WISE, data_of, every_on_the_loop, make
from tests.tolerances import INTERRUPT_SECONDS


@contextmanager
def ctrl_c(after):
    """Send SIGINT after so many seconds, and check that the body ends within a second of that.

    Another process sends it, so that it also works if the body never lets another thread run.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    sender = subprocess.Popen(["sh", "-c", f"sleep {after}; kill -INT {os.getpid()}"])
    due = time.monotonic() + after
    try:
        yield
        ended = time.monotonic()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # if the body ended before the signal
        sender.wait()
        signal.signal(signal.SIGINT, before)
    assert due < ended < due + INTERRUPT_SECONDS


def long_table(n_rows=3000, n_features=60):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_rows, n_features)), rng


def long_problem(kind):
    X, rng = long_table()
    score = X[:, :5].sum(axis=1) + 2 * rng.normal(size=len(X))
    return X, {"binary": score > 0, "multiclass": np.digitize(score, [0, 2]), "multioutput": X[:, :5] + score[:, None]}[
        kind
    ]


#: Fits of minutes, of many short rounds.
MANY_ROUNDS = {
    "hinge": (CGEnsClassifier(loss="hinge", n_estimators=100_000, tol=1e-6, C=0.1), "binary"),
    "least squares": (CGEnsRegressor(n_estimators=100_000, C=0.1), "multioutput"),
    "LPBoost": (LPBoostClassifier(n_estimators=100_000, C=1.0), "binary"),
    "LPBoost, ipm": (LPBoostClassifier(n_estimators=100_000, C=1.0, solver="ipm"), "binary"),
    "MultiBoost": (MultiBoostClassifier(n_estimators=100_000, nu=1e-6), "multiclass"),
    "AdaBoost.ECC": (AdaBoostECCClassifier(n_estimators=1_000_000), "multiclass"),
    "LPBoost, nu": (LPBoostClassifier(nu=0.3, n_estimators=100_000), "binary"),
    "AdaBoost": (AdaBoostClassifier(n_estimators=1_000_000), "binary"),
    "AdaBoost.MH": (AdaBoostMHClassifier(n_estimators=1_000_000), "multiclass"),
}
SLOW = ["LPBoost, ipm", "LPBoost, nu", "AdaBoost", "AdaBoost.MH"]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in MANY_ROUNDS]
)
def test_a_long_fit(name):
    model, kind = MANY_ROUNDS[name]
    X, y = long_problem(kind)
    with ctrl_c(0.6), pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.certificate_.status is Status.INTERRUPTED
    assert model.n_columns_ == sum(1 for _ in model.staged_predict(X[:5])) == len(model.trace_) - 1 > 0
    assert len(model.predict(X)) == len(model.duals_) == len(X)
    assert len(model.feature_importances_) == X.shape[1]
    assert model.certificate_.dual <= model.certificate_.primal


@pytest.mark.parametrize(
    "search", [CGEnsRegressorCV(n_estimators=2000), CGEnsClassifierCV(loss="hinge", n_estimators=2000)]
)
def test_a_long_search_stores_nothing(search):
    X, y = long_problem("binary")
    with ctrl_c(0.6), pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert set(vars(search)) == set(search.get_params(deep=False))


def test_drawing_a_large_pool():
    """It takes some seconds before the first round."""
    X, _ = long_table(20_000)
    model = CGEnsClassifier(Perceptron(4000, learn=False))
    with ctrl_c(0.5), pytest.raises(KeyboardInterrupt):
        model.fit(X.astype(np.float32), X[:, 0] > 0)
    assert not hasattr(model, "ensemble_")


@pytest.mark.slow
def test_learning_columns_keeps_the_finished_rounds():
    X, _ = long_table(10_000)
    model = CGEnsRegressor(Fourier(learn=True), C=1e-3, n_estimators=2000)
    with ctrl_c(2.0), pytest.raises(KeyboardInterrupt):
        model.fit(X.astype(np.float32), np.cos(X[:, 0] + X[:, 1]) + X[:, 2])
    assert model.certificate_.status is Status.INTERRUPTED
    assert model.n_columns_ > 0


def random_signs(rng, *shape):
    return np.where(rng.random(shape) < 0.5, 1, -1).astype(np.int8)


def test_one_long_solve_of_the_hinge_loss():
    """With random labels, a large C and no limit on sweeps each solve takes minutes."""
    X, rng = long_table(20_000, 40)
    y = random_signs(rng, 20_000).astype(float)
    master = Hinge(C=100.0, max_sweeps=10**9, quick_sweeps=10**9)
    with ctrl_c(0.8):
        ensemble, trace = generate_columns(master, Stump(), X, y, tol=1e-9, max_columns=40, n_threads=2)
    assert trace.certificate.status is Status.INTERRUPTED
    assert len(ensemble) == len(trace) - 1


#: One solve of about a second or more over a fixed set of columns.
SOLVES = {
    "LPBoost": (LPBoost(C=1.0), 4000, 400),
    "LPBoost, nu": (LPBoost(nu=0.5), 4000, 400),
    "LPBoost, primal": (LPBoost(C=1.0, solver="primal"), 4000, 400),
    "LPBoost, ipm": (LPBoost(C=1.0, solver="ipm"), 4000, 400),
    "MultiBoost": (MultiBoost(1e-9, 10**9), 50_000, 300),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLVES)
def test_one_long_solve_of_boosting(name):
    master, n_rows, n_columns = SOLVES[name]
    rng = np.random.default_rng(0)
    y = random_signs(rng, n_rows).astype(float)
    target = np.outer(y, [1, -1]) if name == "MultiBoost" else y[:, None]
    restricted = master.begin(target, np.ones(n_rows), 1)
    for column in random_signs(rng, n_columns, n_rows):
        restricted.add(column)
    with ctrl_c(0.2), InterruptGuard() as guard:
        solution = restricted.solve(1e-12, guard.requested)
    assert solution.status is Status.INTERRUPTED
    assert len(solution.weights) == n_columns
    assert np.isfinite(solution.weights).all()
    assert solution.dual <= solution.primal


class PressesCtrlC(BaseEstimator):
    """Stumps; Ctrl-C is pressed during the n-th search."""

    def __init__(self, n):
        self.n = n

    def begin(self, *arguments):
        return PressingPricer(Stump().begin(*arguments), self.n)


class PressingPricer:
    def __init__(self, live, searches_left):
        self.live = live
        self.searches_left = searches_left

    def price(self, *arguments):
        self.searches_left -= 1
        if self.searches_left == 0:
            signal.raise_signal(signal.SIGINT)
        return self.live.price(*arguments)


@pytest.mark.parametrize("n", [1, 2, 6])
@every_on_the_loop
def test_pressed_during_the_search_of_a_round(name, n):
    """The round is finished, the next one is not begun, and KeyboardInterrupt is raised."""
    X, y = data_of(name)
    model = make(name, weak_learner=PressesCtrlC(n), n_estimators=30)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.certificate_.status is Status.INTERRUPTED
    assert model.n_columns_ == len(list(model.staged_predict(X))) == len(model.ensemble_.weights) == n
    assert model.predict(X).shape == y.shape
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if name in STAGE_WISE:
        shorter = make(name, n_estimators=n).fit(X, y)
        assert model.ensemble_.learners == shorter.ensemble_.learners
        assert model.decision_function(X).tobytes() == shorter.decision_function(X).tobytes()


@pytest.mark.parametrize("name", ["binary", "multioutput", "multioutput, max"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_interrupted_in_any_state_of_the_solver(name, C):
    """Also if the last solve was a quick one that had not converged."""
    X, y = data_of(name)
    model = make(name, weak_learner=PressesCtrlC(10), C=C, n_estimators=50)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.certificate_.status is Status.INTERRUPTED
    assert model.n_columns_ == len(list(model.staged_predict(X))) == 10


def test_pressed_while_the_certificate_is_computed():
    """After the last round the pool is searched again for the largest price."""
    X, y = noisy()
    model = CGEnsClassifier(PressesCtrlC(6), n_estimators=5)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.certificate_.status is Status.INTERRUPTED
    assert model.n_columns_ == 5


@pytest.mark.parametrize("loss", ["hinge", "least_squares"])
def test_a_fit_can_be_continued_after_ctrl_c(loss):
    X, y = noisy()
    model = CGEnsClassifier(PressesCtrlC(3), loss=loss, n_estimators=10, warm_start=True)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    model.set_params(weak_learner="stump").fit(X, y)
    assert model.n_columns_ == 10
    assert check_certificate(model, X, y).problems == ()


@pytest.mark.parametrize("loss", ["hinge", "least_squares"])
def test_a_warm_start_interrupted_before_its_first_column_does_not_change_the_model(loss, monkeypatch):
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


def press_in_this_thread():
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)


def press_in_any_thread():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("press", [press_in_any_thread, press_in_this_thread])
def test_pressed_during_a_path(press, monkeypatch):
    """Once the columns are found, the problems of all values of C are solved, which can be interrupted as well."""
    solve_path, once = LeastSquares.solve_path, iter([press])

    def press_and_wait(self, problem, interrupted):
        for press_it in once:
            press_it()
        end = time.monotonic() + 3
        while time.monotonic() < end and not interrupted():
            time.sleep(0.01)
        return solve_path(self, problem, interrupted)

    monkeypatch.setattr(LeastSquares, "solve_path", press_and_wait)
    search = CGEnsClassifierCV(loss="least_squares", **{**SEARCH, "n_jobs": 2, "cv": 2})
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        search.fit(*wines())
    assert time.monotonic() - began < INTERRUPT_SECONDS
    assert set(vars(search)) == set(search.get_params(deep=False))


def test_a_callback_that_presses_ctrl_c():
    X, y = noisy()
    hopeless = Hinge(C=100.0, max_sweeps=1, quick_sweeps=1)

    def press(state):
        if state.n_columns == 4:
            signal.raise_signal(signal.SIGINT)

    ensemble, trace = generate_columns(hopeless, Stump(), X, np.where(y > 0, 1.0, -1.0), tol=1e-9, callback=press)
    assert trace.certificate.status is Status.INTERRUPTED
    assert len(ensemble) == 4


def test_the_solver_polls_often_enough_during_newton_steps(rng):
    """Newton steps are largest with some thousand duals inside their box."""
    y = random_signs(rng, 2000).astype(float)
    solver = DualCd(y, np.where(y < 0, -1e4, 0.0), np.where(y > 0, 1e4, 0.0), 1)
    for column in random_signs(rng, 400, 2000):
        solver.add(column)
    polled = [time.monotonic()]

    def poll() -> bool:
        polled.append(time.monotonic())
        return polled[-1] - polled[0] > 1

    assert solver.solve(1e-300, 10**9, poll)[3] == "interrupted"
    polled.append(time.monotonic())
    assert np.diff(polled).max() < INTERRUPT_SECONDS


def test_guard_raises_at_the_second_signal():
    with InterruptGuard() as guard:
        signal.raise_signal(signal.SIGINT)
        assert guard.requested()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_guard_restores_the_handler():
    before = signal.getsignal(signal.SIGINT)
    with InterruptGuard() as guard:
        assert not guard.requested()
        signal.raise_signal(signal.SIGINT)
        assert guard.requested()
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(RuntimeError), InterruptGuard():
        raise RuntimeError
    assert signal.getsignal(signal.SIGINT) is before


def test_guard_does_not_replace_a_custom_handler():
    received = []
    before = signal.signal(signal.SIGINT, lambda *_: received.append(1))
    try:
        with InterruptGuard() as guard:
            signal.raise_signal(signal.SIGINT)
            assert not guard.requested()
    finally:
        signal.signal(signal.SIGINT, before)
    assert received == [1]
