"""scikit-learn's own checks, none of them expected to fail; and the tools that people use estimators with."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from cgens import CGEnsClassifier, CGEnsClassifierCV, CGEnsRegressor, CGEnsRegressorCV, FourierSelector
from cgens.weak_learners import Box, Fourier, Linear, Mixture, Perceptron, SklearnLearner, Stump, Tree
from tests.contract.cosines import Cosines
from tests.integration.small_data import breast_cancer, iris, noisy

ESTIMATORS = [
    CGEnsClassifier(n_estimators=20),
    CGEnsClassifier(Stump(max_bins=8), n_estimators=5, n_jobs=1),
    CGEnsClassifier(loss="hinge", n_estimators=10),
    CGEnsClassifier(loss="least_squares", n_estimators=10),
    CGEnsRegressor(n_estimators=10),
    CGEnsClassifierCV(Cs=2, n_estimators=10),
    CGEnsClassifierCV(loss="hinge", Cs=2, n_estimators=10),
    CGEnsRegressorCV(Cs=2, n_estimators=10),
]

SMALL = {"n_estimators": 20, "random_state": 0, "n_jobs": 1}

#: Every family, with a pool that is small enough for hundreds of fits.
OTHER_FAMILIES = [
    CGEnsClassifier(Perceptron(50), **SMALL),
    CGEnsClassifier(Fourier(n_candidates=50), **SMALL),
    CGEnsClassifier(Fourier(n_candidates=50, pool="fresh", learn=False), loss="least_squares", **SMALL),
    CGEnsClassifier(Fourier(learn=True), loss="least_squares", **SMALL),
    CGEnsClassifier(Tree(4, min_samples_leaf=1), **SMALL),
    CGEnsClassifier(Box(n_candidates=30), **SMALL),
    CGEnsClassifier(Linear(), **SMALL),
    CGEnsClassifier(SklearnLearner(DecisionTreeClassifier(max_depth=2)), **SMALL),
    CGEnsClassifier(Mixture([Stump(), Fourier(n_candidates=50)]), **SMALL),
    CGEnsClassifier(["stump", "linear"], **SMALL),
    CGEnsRegressor(Fourier(), **SMALL),
    CGEnsRegressor(Tree(4, min_samples_leaf=1), **SMALL),
    FourierSelector(10, Fourier(n_candidates=50), random_state=0, n_jobs=1),
]


@parametrize_with_checks(ESTIMATORS)
def test_sklearn_check(estimator, check):
    check(estimator)


@parametrize_with_checks(OTHER_FAMILIES)
def test_sklearn_check_of_other_families(estimator, check):
    check(estimator)


def test_tags_say_what_an_estimator_takes():
    for estimator in ESTIMATORS:
        tags = get_tags(estimator)
        assert is_classifier(estimator) != is_regressor(estimator)
        if is_classifier(estimator):
            assert tags.classifier_tags.multi_class
            assert tags.classifier_tags.multi_label
        else:
            assert tags.target_tags.multi_output
        assert not tags.input_tags.sparse
        assert not tags.input_tags.allow_nan


@pytest.mark.parametrize("estimator", ESTIMATORS[2:], ids=repr)
def test_pickle_round_trip_of_every_estimator(estimator):
    X, y = load_iris(return_X_y=True)
    model = clone(estimator).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict(X).tobytes() == model.predict(X).tobytes()
    assert copy.certificate_ == model.certificate_
    assert [s.tobytes() for s in copy.staged_predict(X)] == [s.tobytes() for s in model.staged_predict(X)]


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_pickle_round_trip(protocol):
    X, y = noisy()
    model = CGEnsClassifier(Stump(max_bins=20), n_estimators=15).fit(X, y)
    copy = pickle.loads(pickle.dumps(model, protocol))
    assert copy.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    assert copy.certificate_ == model.certificate_
    assert copy.certificate_.status is model.certificate_.status
    assert copy.ensemble_.learners == model.ensemble_.learners
    assert [s.tolist() for s in copy.staged_decision_function(X)] == [
        s.tolist() for s in model.staged_decision_function(X)
    ]
    copy.set_params(n_estimators=20, warm_start=True).fit(X, y)
    assert copy.n_columns_ == 20


def test_clone_copies_parameters_and_nothing_else():
    model = CGEnsClassifier(Stump(max_bins=7), C=3.0).fit(*noisy())
    fresh = clone(model)
    assert not hasattr(fresh, "ensemble_")
    assert fresh.get_params()["weak_learner__max_bins"] == 7
    assert fresh.weak_learner is not model.weak_learner
    assert fresh.C == 3.0


def test_constructor_only_stores():
    odd = object()
    model = CGEnsClassifier(weak_learner=odd, loss=odd, C=odd, n_estimators=odd, tol=odd)
    assert all(
        model.get_params(deep=False)[name] is odd for name in ("weak_learner", "loss", "C", "n_estimators", "tol")
    )


def test_grid_search_over_nested_parameters():
    X, y = noisy()
    grid = {"weak_learner__max_bins": [2, 16, None], "C": [0.01, 0.1, "scale"]}
    search = GridSearchCV(CGEnsClassifier(Stump(), n_estimators=10, n_jobs=1), grid, cv=3).fit(X, y)
    assert len(search.cv_results_["params"]) == 9
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    assert search.best_estimator_.weak_learner.max_bins == search.best_params_["weak_learner__max_bins"]
    assert search.best_score_ > 0.5


def test_grid_search_over_families():
    X, y = noisy()
    grid = {"weak_learner": ["stump", Stump(4), Cosines(gamma=0.1)]}
    search = GridSearchCV(CGEnsClassifier(n_estimators=10, n_jobs=1, random_state=0), grid, cv=3).fit(X, y)
    assert search.best_params_["weak_learner"] in grid["weak_learner"]


def test_pipeline_calibration_and_cross_validation():
    X, y = breast_cancer(200)
    pipeline = make_pipeline(StandardScaler(), CGEnsClassifier(n_estimators=30, n_jobs=1))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    probabilities = CalibratedClassifierCV(CGEnsClassifier(n_estimators=10, n_jobs=1), cv=3).fit(X, y).predict_proba(X)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert not hasattr(CGEnsClassifier(), "predict_proba")
    assert not hasattr(CGEnsClassifier(n_jobs=1).fit(X, y), "coef_")


def test_pipeline_and_grid_search_of_a_regressor():
    X, y = load_diabetes(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), CGEnsRegressor(n_estimators=30, n_jobs=1))
    grid = {"cgensregressor__C": [0.003, 0.03, "scale"], "cgensregressor__pricing": ["gain", "max"]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert len(search.cv_results_["params"]) == 6
    assert search.best_score_ > 0.3
    several = cross_val_score(pipeline, X, np.column_stack([y, -y]), cv=3)
    assert several.mean() > 0.3


def test_search_in_a_pipeline():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), CGEnsClassifierCV(Cs=3, n_estimators=15, cv=3, n_jobs=1))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9


def test_more_classes_one_against_the_rest_by_scikit_learn():
    X, y = load_iris(return_X_y=True)
    model = OneVsRestClassifier(CGEnsClassifier(n_estimators=20, n_jobs=1)).fit(X, y)
    assert model.score(X, y) > 0.9


def fit_and_decide(X, y, n_jobs):
    return CGEnsClassifier(n_estimators=20, n_jobs=n_jobs).fit(X, y).decision_function(X)


@pytest.mark.parametrize("backend", ["loky", "threading"])
@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_joblib(backend, n_jobs):
    X, y = iris()
    expected = fit_and_decide(X, y, 1)
    decisions = Parallel(n_jobs=2, backend=backend)(delayed(fit_and_decide)(X, y, n_jobs) for _ in range(4))
    assert all(decision.tobytes() == expected.tobytes() for decision in decisions)


def test_prediction_of_one_model_from_many_threads():
    X, y = breast_cancer(200)
    model = CGEnsClassifier(n_estimators=50).fit(X, y)
    expected = model.decision_function(X).tobytes()
    decisions = Parallel(n_jobs=4, backend="threading")(delayed(model.decision_function)(X) for _ in range(20))
    assert all(decision.tobytes() == expected for decision in decisions)


@pytest.fixture
def frame():
    X, y = iris()
    return pd.DataFrame(X, columns=["a", "b", "c", "d"]), pd.Series(np.where(y > 0, "yes", "no"))


def test_data_frame(frame):
    X, y = frame
    model = CGEnsClassifier(n_estimators=10).fit(X, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert set(model.predict(X)) == {"yes", "no"}
    plain = CGEnsClassifier(n_estimators=10).fit(X.to_numpy(), y.to_numpy())
    assert plain.decision_function(X.to_numpy()).tobytes() == model.decision_function(X).tobytes()
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X.rename(columns={"a": "z"}))


def test_data_frame_of_mixed_number_types(frame):
    X, y = frame
    mixed = X.assign(e=(X["a"] > 5), f=X["b"].astype("float32"), g=(10 * X["c"]).astype("int16"))
    model = CGEnsClassifier(n_estimators=10).fit(mixed, y)
    assert model.n_features_in_ == 7
    nullable = mixed.assign(g=mixed["g"].astype("Int64"), e=mixed["e"].astype("boolean"))
    again = CGEnsClassifier(n_estimators=10).fit(nullable, y)
    assert again.decision_function(nullable).tobytes() == model.decision_function(mixed).tobytes()
