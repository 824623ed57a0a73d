"""Cross-validation of C and of the number of columns: the results, the choice, and what they must not depend on."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from cgens import CGEnsClassifier, CGEnsClassifierCV, CGEnsRegressor, CGEnsRegressorCV
from cgens.inspection import check_certificate
from cgens.masters import LeastSquares
from cgens.weak_learners import Stump
from tests.contract.cosines import Cosines
from tests.integration.searches import PATIENTS, SMALL, TOPICS, TUMOURS, WINES, assert_same_choice, classify, regress
from tests.tolerances import CLOSED_FORM, INTERRUPT_SECONDS

# A search of every kind, and data for it.
KINDS = {
    "classes": (CGEnsClassifierCV(), WINES),
    "classes, max": (CGEnsClassifierCV(pricing="max"), WINES),
    "two classes": (CGEnsClassifierCV(), TUMOURS),
    "two classes, least squares": (CGEnsClassifierCV(loss="least_squares"), TUMOURS),
    "one against the rest": (CGEnsClassifierCV(loss="hinge"), WINES),
    "labels": (CGEnsClassifierCV(), TOPICS),
    "labels, hinge": (CGEnsClassifierCV(loss="hinge"), TOPICS),
    "numbers": (CGEnsRegressorCV(), PATIENTS),
    "several numbers": (CGEnsRegressorCV(), (PATIENTS[0], np.column_stack([PATIENTS[1], PATIENTS[0][:, 2]]))),
}


@pytest.fixture(params=KINDS)
def kind(request):
    """Return a small search and its data."""
    estimator, (X, y) = KINDS[request.param]
    return clone(estimator).set_params(**SMALL), X, y


def test_results_as_scikit_learn_has_them(kind):
    search, X, y = kind
    model = search.fit(X, y)
    results = model.cv_results_
    assert model.scores_.shape == (3, 3, 3)
    assert model.Cs_.shape == model.columns_.shape == (3,)
    splits = [f"split{k}_test_score" for k in range(3)]
    summary = ["mean_test_score", "std_test_score", "rank_test_score"]
    assert list(results) == ["param_C", "param_n_estimators", "params", *splits, *summary]
    assert all(len(values) == 9 for values in results.values())
    for k, name in enumerate(splits):
        assert np.array_equal(results[name], model.scores_[k].ravel())
    stacked = np.array([results[name] for name in splits])
    assert np.allclose(results["mean_test_score"], stacked.mean(axis=0), rtol=0, atol=CLOSED_FORM)
    assert np.allclose(results["std_test_score"], stacked.std(axis=0), rtol=0, atol=CLOSED_FORM)
    for number, params in enumerate(results["params"]):
        assert params == {"C": results["param_C"][number], "n_estimators": results["param_n_estimators"][number]}
        assert params["C"] == model.Cs_[number // 3]
        assert params["n_estimators"] == model.columns_[number % 3]
    better = results["mean_test_score"][:, None] > results["mean_test_score"]
    assert np.array_equal(results["rank_test_score"], 1 + better.sum(axis=0))


def test_the_best_is_chosen(kind):
    search, X, y = kind
    model = search.fit(X, y)
    mean = model.cv_results_["mean_test_score"]
    assert model.best_params_ == {"C": model.C_, "n_estimators": model.n_columns_}
    assert model.best_params_ == model.cv_results_["params"][model.best_index_]
    assert model.best_score_ == pytest.approx(mean.max(), rel=CLOSED_FORM)
    as_good = [p for p, m in zip(model.cv_results_["params"], mean, strict=True) if m == mean.max()]
    assert model.best_params_ == min(as_good, key=lambda p: (p["n_estimators"], p["C"]))


def test_the_best_estimator_is_a_plain_fit(kind):
    search, X, y = kind
    model = search.fit(X, y)
    family = CGEnsClassifier if isinstance(search, CGEnsClassifierCV) else CGEnsRegressor
    assert type(model.best_estimator_) is family
    options = {"loss": search.loss, "pricing": search.pricing, "n_jobs": 1}
    plain = family(C=model.C_, n_estimators=model.n_columns_, **options).fit(X, y)
    assert plain.get_params() == model.best_estimator_.get_params()
    assert plain.certificate_ == model.certificate_
    assert plain.ensemble_.learners == model.ensemble_.learners
    assert plain.predict(X).tobytes() == model.predict(X).tobytes()
    assert [s.tobytes() for s in plain.staged_predict(X)] == [s.tobytes() for s in model.staged_predict(X)]
    assert np.array_equal(plain.feature_importances_, model.feature_importances_)
    assert model.n_features_in_ == X.shape[1]
    assert model.score(X, y) == plain.score(X, y)
    assert check_certificate(model.best_estimator_, X, y).problems == ()
    if family is CGEnsClassifier:
        assert plain.decision_function(X).tobytes() == model.decision_function(X).tobytes()
        assert np.array_equal(model.classes_, plain.classes_)


def test_not_fitted():
    for search in (CGEnsClassifierCV(), CGEnsRegressorCV()):
        with pytest.raises(NotFittedError, match=type(search).__name__):
            search.predict(WINES[0])
        for name in ("ensemble_", "certificate_", "feature_importances_", "best_estimator_"):
            assert not hasattr(search, name)


def test_clone_and_parameters(kind):
    search, X, y = kind
    model = clone(search.fit(X, y))
    assert not hasattr(model, "best_estimator_")
    assert model.get_params() == search.get_params()
    nested = CGEnsClassifierCV(Stump()).set_params(weak_learner__max_bins=3)
    assert clone(nested).weak_learner.max_bins == 3


@pytest.mark.parametrize("weighted_class", [None, "balanced"])
def test_weights_are_copies_of_classes(weighted_class, rng):
    X, y = WINES
    weight = rng.integers(1, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    for loss in ("least_squares", "hinge"):
        options = {"loss": loss, "class_weight": weighted_class}
        assert_same_choice(classify(weight=weight, **options), classify(X[copies], y[copies], **options), X)


def test_weights_are_copies(kind, rng):
    search, X, y = kind
    weight = rng.integers(1, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    weighted, repeated = clone(search).fit(X, y, weight), clone(search).fit(X[copies], y[copies])
    assert_same_choice(weighted, repeated, X)


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "accuracy"])
def test_weights_are_copies_for_a_scorer(scoring, rng):
    X, y = WINES
    weight = rng.integers(1, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    assert_same_choice(classify(weight=weight, scoring=scoring), classify(X[copies], y[copies], scoring=scoring), X)


def test_the_order_of_rows_does_not_matter(kind, rng):
    search, X, y = kind
    order = rng.permutation(len(y))
    weight = rng.integers(1, 4, len(y)).astype(float)
    straight = clone(search).fit(X, y, weight)
    assert_same_choice(straight, clone(search).fit(X[order], y[order], weight[order]), X)


def test_rows_of_zero_weight_are_not_there(kind, rng):
    search, X, y = kind
    weight = (rng.random(len(y)) < 0.7).astype(float)
    kept = weight > 0
    assert_same_choice(clone(search).fit(X, y, weight), clone(search).fit(X[kept], y[kept]), X)


def test_threads_do_not_matter(kind):
    search, X, y = kind
    one, two = clone(search).fit(X, y), clone(search).set_params(n_jobs=2).fit(X, y)
    assert one.scores_.tobytes() == two.scores_.tobytes()
    assert_same_choice(one, two, X)


@pytest.mark.parametrize("loss", ["least_squares", "hinge"])
def test_a_family_that_draws_is_repeated_by_its_seed(loss):
    X, y = TUMOURS
    options = {"weak_learner": Cosines(gamma=1e-3, fresh=True), "loss": loss}
    one, two = classify(X, y, random_state=0, **options), classify(X, y, random_state=0, n_jobs=2, **options)
    assert one.scores_.tobytes() == two.scores_.tobytes()
    assert_same_choice(one, two, X)
    other = classify(X, y, random_state=1, **options)
    assert not np.array_equal(one.scores_, other.scores_)
    assert not hasattr(one, "feature_importances_")


def test_a_second_fit_is_the_same(kind):
    search, X, y = kind
    first = clone(search).fit(X, y)
    second = clone(search).fit(*WINES) if isinstance(search, CGEnsClassifierCV) else clone(search).fit(X[:50], y[:50])
    second.fit(X, y)
    assert first.scores_.tobytes() == second.scores_.tobytes()
    assert_same_choice(first, second, X)


def test_a_constant_target():
    X, _ = PATIENTS
    with pytest.warns(UserWarning, match="constant"):
        model = regress(X, np.full(len(X), 2.0))
    assert np.allclose(model.predict(X), 2.0, rtol=0, atol=CLOSED_FORM)


def test_shapes_of_targets():
    X, y = PATIENTS
    assert regress().predict(X).shape == (150,)
    assert regress(y=y[:, None]).predict(X).shape == (150, 1)
    several = regress(y=np.column_stack([y, -y, y**2]))
    assert several.predict(X).shape == (150, 3)
    assert several.n_outputs_ == 3
    labels = classify(*TOPICS)
    assert labels.predict(TOPICS[0]).shape == labels.decision_function(TOPICS[0]).shape == (100, 3)
    assert classify().decision_function(WINES[0]).shape == (178, 3)
    assert classify(*TUMOURS).decision_function(TUMOURS[0]).shape == (150,)


def test_verbose_draws_one_bar_for_all_folds(capsys):
    classify()
    assert capsys.readouterr() == ("", "")
    classify(verbose=1)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "36/36 columns" in captured.err  # three folds of twelve


def press_in_this_thread():
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)


def press_in_any_thread():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("press", [press_in_any_thread, press_in_this_thread])
def test_ctrl_c_amid_a_path_is_heard(press, monkeypatch):
    """After the columns are found, all values of C are solved for: that must not take Ctrl-C's second either."""
    solve_path, once = LeastSquares.solve_path, iter([press])

    def press_and_wait(self, problem, interrupted):
        for press_it in once:
            press_it()
        end = time.monotonic() + 3
        while time.monotonic() < end and not interrupted():
            time.sleep(0.01)
        return solve_path(self, problem, interrupted)

    monkeypatch.setattr(LeastSquares, "solve_path", press_and_wait)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    search = CGEnsClassifierCV(**{**SMALL, "n_jobs": 2, "cv": 2})
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            search.fit(*WINES)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - began < INTERRUPT_SECONDS
    assert not hasattr(search, "best_estimator_")
    assert not hasattr(search, "scores_")
