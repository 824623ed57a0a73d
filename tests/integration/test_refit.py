"""What a second fit may and may not leave behind, and what must survive it."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

from cgens import CGEnsClassifier, colgen
from cgens.inspection import check_certificate
from cgens.weak_learners import Stump


def table(rng: np.random.Generator, n: int = 80) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, 4))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, "b", "a")


@pytest.mark.parametrize("broken", [{"C": -1.0}, {"n_estimators": 0}, {"weak_learner": Stump(1)}, {"tol": 0.0}])
def test_a_fit_that_fails_leaves_the_model_as_it_was(rng, broken):
    X, y = table(rng)
    model = CGEnsClassifier(n_estimators=10).fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match=r"\w"):
        model.set_params(**broken).fit(X[:, :2], np.where(y == "a", "d", "c"))
    assert model.classes_.tolist() == ["a", "b"]
    assert model.n_features_in_ == 4
    assert np.array_equal(model.decision_function(X), before)


def test_names_of_an_earlier_table_are_forgotten(rng):
    pandas = pytest.importorskip("pandas")
    X, y = table(rng)
    model = CGEnsClassifier(n_estimators=5).fit(pandas.DataFrame(X, columns=list("wxyz")), y)
    assert not hasattr(model.fit(X, y), "feature_names_in_")


def test_a_warm_start_on_other_rows_adds_no_response_twice(rng):
    X, y = table(rng, 600)
    model = CGEnsClassifier(n_estimators=60, warm_start=True).fit(X, y)
    few, labels = X[:40], y[:40]
    model.set_params(n_estimators=150).fit(few, labels)
    added = model.ensemble_.respond(few)[:, 60:]
    earlier = {np.sign(column * column[0]).tobytes() for column in model.ensemble_.respond(few)[:, :60].T}
    new = [np.sign(column * column[0]).tobytes() for column in added.T]
    assert len(new) > 0
    assert len(set(new)) == len(new)
    assert not earlier & set(new)


@pytest.mark.parametrize("heavy", [1e6, 1e9, 1e12, 1e15])
def test_classes_of_very_different_weight_have_no_negative_gap(rng, heavy):
    X, y = table(rng, 50)
    weight = np.ones(50)
    weight[0] = heavy
    model = CGEnsClassifier(n_estimators=20).fit(X, y, sample_weight=weight)
    # Rounding of 1 - y F is multiplied by C s_i: 16 of it is the most that may show.
    slack = 16 * np.finfo(float).eps * model.C_ * heavy / model.certificate_.primal
    assert np.all(model.trace_.relative_gap >= -1e-12 - slack)
    assert check_certificate(model, X, y, weight).agrees


def test_ctrl_c_while_the_certificate_is_made_is_not_lost(rng, monkeypatch):
    X, y = table(rng)
    finish = colgen._Loop.finish

    def press_and_finish(self, *arguments):
        result = finish(self, *arguments)
        os.kill(os.getpid(), signal.SIGINT)
        return result

    monkeypatch.setattr(colgen._Loop, "finish", press_and_finish)
    model = CGEnsClassifier(n_estimators=5)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert model.certificate_.status == "interrupted"
    assert model.n_columns_ == 5


@pytest.mark.parametrize("C", [1e-9, 1e-6, 1e-3])
def test_a_tiny_c_converges_as_fast_as_any(rng, C):
    X, y = table(rng, 300)
    model = CGEnsClassifier(C=C, n_estimators=10, tol=1e-6).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-6
    assert model.trace_.n_iter.sum() < 2000


def test_every_round_sweeps(rng):
    """Fully corrective: the older weights move in every round, also where the gap was small enough without."""
    X, y = table(rng, 400)
    model = CGEnsClassifier(n_estimators=60).fit(X, y)
    assert np.all(model.trace_.n_iter[1:] >= 1)
