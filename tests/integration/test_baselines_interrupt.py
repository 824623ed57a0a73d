"""Ctrl-C in a fit of the rivals: heard within a second, also in the middle of a solve, and the rounds done are kept."""

from __future__ import annotations

import signal

import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from cgens.baselines import (
    AdaBoostClassifier,
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    LPBoostClassifier,
    MultiBoostClassifier,
)
from cgens.types import Status
from cgens.weak_learners import Stump
from tests.integration.small_data import noisy
from tests.integration.test_interrupt import FIT_UNTIL_CTRL_C, PressesCtrlC, run_and_interrupt
from tests.tolerances import INTERRUPT_SECONDS

DATA = """
from cgens.baselines import *
X = rng.normal(size=(3000, 60))
score = X[:, :5].sum(axis=1) + 2 * rng.normal(size=3000)
y = (score > 0).astype(int) + (0 if {two_classes} else (score > 2).astype(int))
"""

#: Fits of minutes: many rounds, of which each is short.
MANY_ROUNDS = {
    "LPBoost": ("LPBoostClassifier(n_estimators=100_000, C=1.0)", True),
    "LPBoost of nu": ("LPBoostClassifier(nu=0.3, n_estimators=100_000)", True),
    "LPBoost by ipm": ("LPBoostClassifier(n_estimators=100_000, C=1.0, solver='ipm')", True),
    "MultiBoost": ("MultiBoostClassifier(n_estimators=100_000, nu=1e-6)", False),
    "AdaBoost": ("AdaBoostClassifier(n_estimators=1_000_000)", True),
    "AdaBoost.ECC": ("AdaBoostECCClassifier(n_estimators=1_000_000)", False),
    "AdaBoost.MH": ("AdaBoostMHClassifier(n_estimators=1_000_000)", False),
}

# One solve of many seconds. All columns are there from the beginning; `solve` is what the signal meets.
LONG_SOLVE = """
from cgens.masters import {name}
X = rng.normal(size=({n_rows}, {n_columns}))
signs = np.where(rng.random({n_rows}) < 0.5, 1.0, -1.0)
live = {master}.begin({target}, np.ones({n_rows}), 1)
for column in np.where(X.T > 0, 1, -1).astype(np.int8):
    live.add(column)
from cgens.interrupt import InterruptGuard
with InterruptGuard() as guard:
    say(ready=True)
    solution = live.solve(1e-12, guard.requested)
    say(caught=time.monotonic(), status=solution.status, weights=len(solution.weights), primal=solution.primal,
        dual=solution.dual, finite=bool(np.isfinite(solution.weights).all()))
"""

SOLVES = {
    "LPBoost": ("LPBoost", "LPBoost(C=1.0)", "signs[:, None]", 6000, 500),
    "LPBoost of nu": ("LPBoost", "LPBoost(nu=0.5)", "signs[:, None]", 6000, 500),
    "LPBoost, primal": ("LPBoost", "LPBoost(C=1.0, solver='primal')", "signs[:, None]", 6000, 500),
    "LPBoost by ipm": ("LPBoost", "LPBoost(C=1.0, solver='ipm')", "signs[:, None]", 6000, 500),
    "MultiBoost": ("MultiBoost", "MultiBoost(1e-9, 10**9)", "np.outer(signs, [1, -1])", 100_000, 400),
}


@pytest.mark.parametrize(
    "name",
    [own if own in ("LPBoost", "MultiBoost") else pytest.param(own, marks=pytest.mark.slow) for own in MANY_ROUNDS],
)
def test_a_long_fit(name):
    model, two_classes = MANY_ROUNDS[name]
    script = DATA.format(two_classes=two_classes) + f"model = {model}\n" + FIT_UNTIL_CTRL_C
    sent, (facts,) = run_and_interrupt(script, 1.5)
    assert facts.get("status") == "interrupted", facts
    assert facts["caught"] - sent < INTERRUPT_SECONDS
    assert facts["columns"] == facts["stages"] == facts["rounds"] - 1 > 0
    assert facts["predictions"] == facts["duals"] == 3000
    assert facts["importances"] == 60
    assert facts["dual"] <= facts["primal"]


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLVES)
def test_one_long_solve(name):
    master, spec, target, n_rows, n_columns = SOLVES[name]
    script = LONG_SOLVE.format(name=master, master=spec, target=target, n_rows=n_rows, n_columns=n_columns)
    sent, (facts,) = run_and_interrupt(script, 2.0)
    assert facts.get("status") == "interrupted", facts
    assert facts["caught"] - sent < INTERRUPT_SECONDS
    assert facts["weights"] == n_columns
    assert facts["finite"]
    assert facts["dual"] <= facts["primal"]


RIVALS = {
    "AdaBoost": (AdaBoostClassifier(), noisy),
    "AdaBoost.MH": (AdaBoostMHClassifier(), lambda: load_iris(return_X_y=True)),
    "AdaBoost.ECC": (AdaBoostECCClassifier(random_state=0), lambda: load_iris(return_X_y=True)),
    "MultiBoost": (MultiBoostClassifier(), lambda: load_iris(return_X_y=True)),
    "LPBoost": (LPBoostClassifier(), noisy),
    "LPBoost of nu": (LPBoostClassifier(nu=0.5), noisy),
}


@pytest.mark.parametrize("n", [1, 2, 6])
@pytest.mark.parametrize("name", RIVALS)
def test_pressed_in_the_search_of_a_round(name, n):
    """The round is finished, the next one not begun, and Ctrl-C goes on."""
    estimator, load = RIVALS[name]
    X, y = load()
    model = clone(estimator).set_params(weak_learner=PressesCtrlC(Stump(), n), n_estimators=30)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.certificate_.status is Status.INTERRUPTED
    assert model.n_columns_ == len(list(model.staged_predict(X))) == n
    assert model.ensemble_.weights.shape[0] == n
    assert len(model.predict(X)) == len(X)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("name", ["AdaBoost", "AdaBoost.MH", "AdaBoost.ECC"])
def test_stage_wise_rounds_are_those_of_a_shorter_fit(name):
    estimator, load = RIVALS[name]
    X, y = load()
    model = clone(estimator).set_params(weak_learner=PressesCtrlC(Stump(), 4), n_estimators=30)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    shorter = clone(estimator).set_params(weak_learner=Stump(), n_estimators=4).fit(X, y)
    assert model.ensemble_.learners == shorter.ensemble_.learners
    assert model.decision_function(X).tobytes() == shorter.decision_function(X).tobytes()
