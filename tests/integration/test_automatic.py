"""The automatic model as users see it."""

from __future__ import annotations

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score

from cgens import CGEnsClassifier, CGEnsClassifierCV, CGEnsOutlierDetector, CGEnsRegressor
from cgens.automatic.spec import Automatic
from cgens.baselines import AdaBoostClassifier
from cgens.inspection import check_certificate
from cgens.masters import Huber
from cgens.weak_learners import Mixture, Stump


def rows_of(rng, m=180):
    X = rng.normal(size=(m, 4))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=m)


#: An estimator and its target, given the rows and a number for each of them.
TASKS = {
    "two classes": (CGEnsClassifier, lambda X, f: np.where(f > 0, "yes", "no")),
    "three classes": (CGEnsClassifier, lambda X, f: np.digitize(f, [-0.5, 0.5])),
    "labels": (CGEnsClassifier, lambda X, f: np.column_stack([f > 0, X[:, 1] > 0.3, X[:, 0] > f]).astype(int)),
    "regression": (CGEnsRegressor, lambda X, f: 1e3 + 50 * f),
    "two outputs": (CGEnsRegressor, lambda X, f: np.column_stack([f, 2 * X[:, 0] - 7])),
}


def fitted(name, rng, **params):
    X, f = rows_of(rng, 300)
    make, target = TASKS[name]
    y = target(X, f)
    options = {"n_estimators": 60, "random_state": 0, "n_jobs": 1, **params}
    return make("auto", **options).fit(X[:180], y[:180]), X, y


@pytest.mark.parametrize("name", TASKS)
def test_predicts_and_is_certified(name, rng):
    model, X, y = fitted(name, rng)
    assert model.score(X[180:], y[180:]) > {"labels": 0.5, "three classes": 0.65}.get(name, 0.75)
    assert 0 < model.n_columns_ == len(model.ensemble_) <= 60
    assert check_certificate(model, X[:180], y[:180]).problems == ()
    assert model.certificate_.primal == pytest.approx(sum(own.certificate_.primal for own in model.parts_.values()))
    cosines = model.parts_["cosines"].certificate_
    assert cosines.full_lower_bound < cosines.dual <= cosines.primal * (1 + 1e-12)
    assert model.certificate_.scope == ("pool" if set(model.parts_) == {"cosines"} else "restricted")
    assert {part.name for part in model.auto_.parts} == set(model.parts_)


@pytest.mark.parametrize("name", ["two classes", "three classes", "labels"])
def test_probabilities_agree_with_predictions_and_beat_the_shares_of_the_classes(name, rng):
    model, X, y = fitted(name, rng)
    probabilities, predicted = model.predict_proba(X[180:]), model.predict(X[180:])
    if name == "labels":
        assert np.array_equal(probabilities > 0.5, predicted == 1)
        return
    assert np.allclose(probabilities.sum(axis=1), 1.0)
    assert np.array_equal(model.classes_[probabilities.argmax(axis=1)], predicted)
    shares = np.tile([np.mean(y[:180] == own) for own in model.classes_], (120, 1))
    assert log_loss(y[180:], probabilities) < 0.7 * log_loss(y[180:], shares)


def same_model(one, other, X):
    assert [part.weight for part in one.auto_.parts] == [part.weight for part in other.auto_.parts]
    assert one.decision_function(X).tobytes() == other.decision_function(X).tobytes()


def test_threads_row_order_and_copies_change_no_bit(rng):
    X, f = rows_of(rng)
    y, weight, order = (f > 0).astype(int), rng.integers(1, 3, 180), rng.permutation(180)
    options = {"n_estimators": 40, "random_state": 0}
    model = CGEnsClassifier("auto", **options, n_jobs=1).fit(X, y, weight)
    same_model(model, CGEnsClassifier("auto", **options, n_jobs=2).fit(X[order], y[order], weight[order]), X)
    copies = np.repeat(np.arange(180), weight)
    same_model(model, CGEnsClassifier("auto", **options, n_jobs=1).fit(X[copies], y[copies]), X)


def test_frames_with_gaps_and_categories(rng):
    X, f = rows_of(rng, 240)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=rng.choice(["x", "y", "z"], 240))
    y = (f + (frame["kind"] == "y") > 0.3).to_numpy()
    frame.loc[rng.random(240) < 0.2, "b"] = np.nan
    model = CGEnsClassifier("auto", n_estimators=60, random_state=0, n_jobs=1).fit(frame[:180], y[:180])
    assert model.score(frame[180:], y[180:]) > 0.7
    shuffled = frame[["kind", "d", "c", "b", "a"]]
    assert model.predict_proba(shuffled).tobytes() == model.predict_proba(frame).tobytes()
    later = frame[180:].assign(kind="unseen", a=None).astype({"a": float})
    assert np.isfinite(model.predict_proba(later)).all()


def test_pickles_clones_and_searches(rng):
    model, X, y = fitted("two classes", rng)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert again.auto_.summary() == model.auto_.summary()
    assert cross_val_score(clone(model), X, y, cv=2).mean() > 0.7


def test_it_tells_what_it_decided(rng):
    model, _, _ = fitted("regression", rng)
    told = model.auto_
    assert re.search(r"\d+% cosines \(\d+ of \d+\).*squared error is \d+% .*180 rows took", told.summary())
    assert set(told.group_errors) >= set(told.groups)
    assert len(told.group_errors) == 9
    assert told.group_penalties.keys() == told.group_errors.keys()
    assert told.n_honest_rows == 180
    assert 0 < told.honest_error < 0.5
    assert all(len(metric) == 4 for metric in told.metrics.values())
    assert all(sum(metric.values()) == pytest.approx(1.0) for metric in told.metrics.values())
    for part in told.parts:
        own = model.parts_[part.name]
        assert (own.C_, own.n_columns_, own.certificate_.n_candidates) == (part.C, part.n_columns, part.n_candidates)
        assert part.n_candidates is None if "trees" in part.name else part.n_columns <= part.n_candidates


def test_staged_predictions_are_those_of_the_final_model(rng):
    model, X, _ = fitted("three classes", rng)
    assert [own.tolist() for own in model.staged_predict(X)] == [model.predict(X).tolist()]


@pytest.mark.parametrize("constant", ["features", "target"])
def test_a_model_without_parts_is_constant(constant, rng):
    X, f = rows_of(rng, 60)
    X, y = (np.ones((60, 2)), f) if constant == "features" else (X, np.full(60, 3.0))
    with pytest.warns(UserWarning, match="the model is constant"):
        model = CGEnsRegressor("auto", random_state=0).fit(X, y)
    assert np.allclose(model.predict(X), y.mean())
    assert "constant" in model.auto_.summary()
    assert check_certificate(model, X, y).agrees


def test_duals_belong_to_the_parts(rng):
    model, _, _ = fitted("two classes", rng)
    with pytest.raises(AttributeError, match="parts_"):
        _ = model.duals_
    assert all(len(part.duals_) == 180 for part in model.parts_.values())


#: Parameters of a single family, in place of which stumps are used.
OF_ONE_FAMILY = {
    "C": (CGEnsClassifier, {"C": 1.0}),
    "pricing": (CGEnsClassifier, {"pricing": "max"}),
    "loss": (CGEnsClassifier, {"loss": "hinge"}),
    "loss as an object": (CGEnsRegressor, {"loss": Huber()}),
    "warm start": (CGEnsClassifier, {"warm_start": True}),
    "early stopping": (CGEnsRegressor, {"early_stopping": True}),
    "checkpoint": (CGEnsRegressor, {"checkpoint": "fit"}),
}


@pytest.mark.parametrize("name", OF_ONE_FAMILY)
def test_parameters_of_a_single_family_select_stumps(name, rng, tmp_path):
    X, f = rows_of(rng, 60)
    make, params = OF_ONE_FAMILY[name]
    if name == "checkpoint":
        params = {"checkpoint": tmp_path / "fit"}
    y = (f > 0).astype(int)
    model, plain = (make(**own, n_estimators=5, **params).fit(X, y) for own in ({}, {"weak_learner": "stump"}))
    assert isinstance(model.weak_learner_, Stump)
    assert not hasattr(model, "auto_")
    assert model.predict(X).tobytes() == plain.predict(X).tobytes()


def test_a_callback_selects_stumps(rng):
    X, f = rows_of(rng, 60)
    rounds = []
    model = CGEnsRegressor(n_estimators=4).set_callbacks(lambda state: rounds.append(state.n_columns)).fit(X, f)
    assert isinstance(model.weak_learner_, Stump)
    assert rounds == [1, 2, 3, 4]


def test_it_is_the_default(rng):
    X, f = rows_of(rng, 60)
    for make, y in ((CGEnsClassifier, f > 0), (CGEnsRegressor, f)):
        model = make(random_state=0).fit(X, y)
        assert isinstance(model.weak_learner_, Automatic)
        assert model.n_columns_ <= 750
        assert model.predict(X).tobytes() == make("auto", random_state=0).fit(X, y).predict(X).tobytes()


@pytest.mark.parametrize("wide", [False, True])
def test_sparse_rows(wide, rng):
    """Few become dense; for many, the default is stumps."""
    X, f = rows_of(rng, 120)
    X[np.abs(X) < 0.3] = 0.0
    rows = sparse.csr_array(X)
    if wide:
        rows = sparse.hstack([rows, sparse.csr_array((120, 10**6))]).tocsr()
    model = CGEnsClassifier(n_estimators=10, random_state=0).fit(rows, f > 0)
    assert isinstance(model.weak_learner_, Stump if wide else Automatic)
    assert model.score(rows, f > 0) > 0.7
    if not wide:
        dense = CGEnsClassifier(n_estimators=10, random_state=0).fit(X, f > 0)
        assert np.allclose(dense.decision_function(X), model.decision_function(rows))


@pytest.mark.parametrize("budget", [1e-6, 0.05, 60.0])
def test_a_time_budget_leaves_out_what_there_is_no_time_for(budget, rng):
    model, X, y = fitted("two classes", rng, time_budget=budget)
    assert model.score(X[180:], y[180:]) > 0.7
    assert check_certificate(model, X[:180], y[:180]).problems == ()
    told, summary = model.auto_, model.auto_.summary()
    n_left_out = len(told.left_out.get("groups of cosines", ()))
    assert len(told.group_errors) + n_left_out == 9
    assert ("no time" in summary) == bool(told.left_out)
    if budget < 1e-3:
        assert n_left_out == 8
        assert re.search(r"no time for 8 groups of cosines, .*large trees", summary)


def test_it_shows_each_step(rng, capsys):
    X, f = rows_of(rng, 60)
    CGEnsRegressor(n_estimators=20, random_state=0, verbose=1).fit(X, f)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 6
    assert all(re.fullmatch(r"automatic model: [\w ]+, \d+\.\d s", line) for line in lines)


REFUSED = {
    "search": (CGEnsClassifierCV, {}, "CGEnsClassifierCV.*tunes itself"),
    "outliers": (CGEnsOutlierDetector, {}, "CGEnsOutlierDetector"),
    "baseline": (AdaBoostClassifier, {}, "AdaBoostClassifier"),
    "time budget": (CGEnsRegressor, {"time_budget": -1}, "time_budget must be a finite number > 0; got -1"),
    "size": (CGEnsRegressor, {"n_estimators": "many"}, "n_estimators must be an integer >= 1 or 'auto'; got 'many'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name, rng):
    X, f = rows_of(rng, 60)
    make, params, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        make(weak_learner="auto", **params).fit(X, (f > 0).astype(int))


def test_a_warm_start_does_not_continue_it(rng):
    model, X, y = fitted("regression", rng)
    with pytest.raises(ValueError, match=r"warm_start=True cannot continue an automatic model"):
        model.set_params(warm_start=True).fit(X, y)


@pytest.mark.parametrize("size", [1e-200, 1e-30, 1e30, 1e200])
def test_targets_of_any_size(size, rng):
    X, f = rows_of(rng)
    model = CGEnsRegressor("auto", n_estimators=60, random_state=0)
    if 1e-100 < size < 1e100:
        assert model.fit(X, size * f).score(X, size * f) > 0.7
        return
    with pytest.raises(ValueError, match=r"target has a range of .*Rescale the target"):
        model.fit(X, size * f)


def test_it_is_not_a_member_of_a_mixture(rng):
    X, f = rows_of(rng, 60)
    with pytest.raises((TypeError, ValueError), match=r"auto|stump"):
        CGEnsRegressor(Mixture(["auto", "stump"])).fit(X, f)


@pytest.mark.parametrize("how", ["equal class weights", "equal sample weights"])
def test_weights_count_by_their_ratios(how, rng):
    X, f = rows_of(rng)
    y = f > 0
    params = {"class_weight": {0: 100.0, 1: 100.0}} if "class" in how else {}
    weight = np.full(len(X), 10.0) if "sample" in how else None
    plain = CGEnsClassifier(n_estimators=40, random_state=0, n_jobs=1).fit(X, y)
    other = clone(plain).set_params(**params).fit(X, y, weight)
    assert other.auto_.honest_error == pytest.approx(plain.auto_.honest_error, rel=1e-6)
    assert np.allclose(other.decision_function(X), plain.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("how", ["balanced", "sample weights", "ages"])
def test_rows_that_count_several_times_are_not_memorized(how):
    """They are held out as a whole."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 8)), rng.random(300) < 0.1
    weight = {"balanced": None, "sample weights": np.where(y, 9.0, 1.0), "ages": 2.0 ** -rng.integers(0, 9, 300)}[how]
    model = CGEnsClassifier(class_weight="balanced" if how == "balanced" else None, random_state=0, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert model.fit(X, y, weight).auto_.honest_error > 0.9


def test_copies_of_few_different_rows_count():
    """In tables of few categories the same inputs have several targets, each many times."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (2000, 1))
    y = rng.random(2000) < np.where(X[:, 0] == 1, 0.4, 0.2)
    model = CGEnsClassifier(random_state=0, n_jobs=1).fit(X, y)
    assert np.allclose(model.predict_proba([[0], [1]])[:, 1], [0.2, 0.4], atol=0.04)
