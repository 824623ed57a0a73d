"""Callbacks: plain functions with every estimator on the loop, and scikit-learn's own."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cgens import CGEnsClassifier, CGEnsOutlierDetector
from cgens.types import Status
from tests.integration.small_data import noisy
from tests.models import ON_THE_LOOP, assert_same_model, data_of, fitted, make

X, Y = noisy()
SMALL = {"weak_learner": "stump", "n_estimators": 6, "n_jobs": 1}


@pytest.mark.parametrize("name", ON_THE_LOOP)
def test_a_function_sees_every_round(name):
    once, A, y = fitted(name)
    rounds = []
    model = make(name).set_callbacks(rounds.append).fit(A, y)  # append returns None: the fit goes on
    assert_same_model(model, once, A)
    assert [state.n_columns for state in rounds] == list(range(1, model.n_columns_ + 1))
    assert [state.learner for state in rounds] == list(model.ensemble_.learners)


@pytest.mark.parametrize("name", ON_THE_LOOP)
def test_a_function_can_stop(name):
    A, y = data_of(name)
    model = make(name).set_callbacks(lambda state: state.n_columns == 2, lambda state: False).fit(A, y)
    assert model.n_columns_ == 2
    assert model.certificate_.status is Status.STOPPED


def test_outliers_too():
    seen = []
    CGEnsOutlierDetector(n_estimators=6, n_jobs=1).set_callbacks(seen.append).fit(X)
    assert len(seen) == 6


def test_callbacks_can_be_removed_and_are_cloned():
    seen = []
    model = CGEnsClassifier(**SMALL).set_callbacks(seen.append)
    clone(model).fit(X, Y)
    assert len(seen) == 6
    model.set_callbacks().fit(X, Y)
    assert len(seen) == 6


def test_an_error_in_a_callback_leaves_the_estimator_unchanged():
    model = CGEnsClassifier(**SMALL).set_callbacks(lambda state: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.fit(X, Y)
    assert not hasattr(model, "ensemble_")
    assert not hasattr(model, "_callback_fit_ctx")


@pytest.mark.parametrize("wrong", ["print", 3, ScoringMonitor, None])
def test_what_is_no_callback_is_refused(wrong):
    with pytest.raises(TypeError, match=r"(?i)callback"):
        CGEnsClassifier().set_callbacks(wrong)


class Recorder:
    """A callback with scikit-learn's interface that records what it is called with."""

    def __init__(self, stop_at=None):
        self.events, self.stop_at = [], stop_at

    def setup(self, estimator, context):
        self.events.append(("setup", estimator))

    def teardown(self, estimator, context):
        self.events.append(("teardown", estimator))

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context, *, X, y, metadata, fitted_estimator):
        score = accuracy_score(y, fitted_estimator.predict(X), **(metadata or {}))
        self.events.append(("end", context.task_name, context.task_id, score))
        return context.task_name == "round" and context.task_id == self.stop_at


def test_the_interface_of_scikit_learn():
    recorder, weight = Recorder(), np.where(Y, 2.0, 1.0)
    model = CGEnsClassifier(**SMALL).set_callbacks(recorder)
    model.fit(X, Y, weight)
    kinds = [event[0] for event in recorder.events]
    assert kinds == ["setup", "begin", *["begin", "end"] * 6, "end", "teardown"]
    assert recorder.events[0][1] is recorder.events[-1][1] is model
    stages = [accuracy_score(Y, labels, sample_weight=weight) for labels in model.staged_predict(X)]
    ends = [event for event in recorder.events if event[0] == "end"]
    assert [event[1:3] for event in ends] == [*(("round", k) for k in range(6)), ("fit", 0)]
    assert [event[3] for event in ends] == [*stages[:-1], pytest.approx(stages[-1], abs=0.05), stages[-1]]
    assert_same_model(model, CGEnsClassifier(**SMALL).fit(X, Y, weight), X)


def test_a_scikit_learn_callback_can_stop():
    model = CGEnsClassifier(**SMALL).set_callbacks(Recorder(stop_at=2)).fit(X, Y)
    assert model.n_columns_ == 3


@pytest.mark.parametrize("name", ["binary", "multiclass, softmax", "regression", "AdaBoost"])
def test_scoring_monitor(name):
    A, y = data_of(name)
    monitor = ScoringMonitor(scoring="r2" if "regression" in name else "accuracy")
    model = make(name).set_callbacks(monitor).fit(A, y)
    rows = [row for row in monitor.get_logs().data if row["task_name"] == "round"]
    assert len(rows) == model.n_columns_
    assert all(np.isfinite(row["score" if "score" in row else monitor._scoring[0]]) for row in rows)


def test_callbacks_go_through_meta_estimators():
    monitor = ScoringMonitor(scoring="accuracy")
    pipeline = make_pipeline(StandardScaler(), CGEnsClassifier(**SMALL).set_callbacks(monitor))
    GridSearchCV(pipeline, {"cgensclassifier__C": [0.1, 1.0]}, cv=2).fit(X, Y)
    rows = [row for row in monitor.get_logs().data if row["task_name"] == "round"]
    assert len(rows) == 5 * 6, "two folds of two values, and the refit"


def test_progress_bar():
    model = CGEnsClassifier(**SMALL).set_callbacks(ProgressBar()).fit(X, Y)
    assert model.n_columns_ == 6


WITHOUT = """
import sys
import sklearn.decomposition, sklearn.ensemble, sklearn.linear_model
import sklearn.model_selection, sklearn.pipeline, sklearn.svm
from sklearn.datasets import load_iris
sys.modules["sklearn.callback"] = None  # importing it fails, as in scikit-learn before 1.9
from cgens import CGEnsClassifier
X, y = load_iris(return_X_y=True)
model = CGEnsClassifier().set_callbacks(lambda state: state.n_columns == 4).fit(X, y)
assert model.n_columns_ == 4
class Task:
    def on_fit_task_end(self, estimator, context): ...
try:
    model.set_callbacks(Task())
except TypeError as error:
    assert "1.9" in str(error)
else:
    raise AssertionError
"""


def test_functions_work_without_scikit_learns_callbacks():
    subprocess.run([sys.executable, "-c", WITHOUT], check=True)
