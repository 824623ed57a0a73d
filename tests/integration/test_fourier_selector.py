"""Selected cosines as features for another model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from cgens import CGEnsClassifier, CGEnsRegressor, FourierSelector
from cgens.weak_learners import Fourier, FourierLearner, Stump
from tests.integration.small_data import noisy
from tests.tolerances import CLOSED_FORM, COSINE

X, Y = noisy()
REGRESSION = np.sin(X[:, 0]) + X[:, 1]
COSINES = Fourier(n_candidates=100)


def select(y=Y, X=X, n_components=12, fourier=COSINES, **options):
    return FourierSelector(n_components, fourier, random_state=0, n_jobs=1, **options).fit(X, y)


#: Targets, and the model that selects cosines for each.
TARGETS = {
    "binary": (Y, CGEnsClassifier),
    "text": (np.where(Y > 0, "yes", "no"), CGEnsClassifier),
    "three classes": (np.digitize(X[:, 0], [-1, 1]), CGEnsClassifier),
    "multilabel": (np.column_stack([Y, 1 - Y, X[:, 1] > 0]).astype(int), CGEnsClassifier),
    "regression": (REGRESSION, CGEnsRegressor),
    "multioutput": (np.column_stack([REGRESSION, X[:, 2] ** 2]), CGEnsRegressor),
}


@pytest.mark.parametrize("name", TARGETS)
def test_features_are_the_columns_of_the_model(name):
    y, kind = TARGETS[name]
    selector = select(y)
    model = kind(COSINES, n_estimators=12, random_state=0, n_jobs=1).fit(X, y)
    assert type(selector.model_) is kind
    assert selector.ensemble_.learners == model.ensemble_.learners
    assert np.array_equal(selector.transform(X), model.ensemble_.respond(X))
    assert all(isinstance(learner, FourierLearner) for learner in selector.ensemble_.learners)


def test_features_are_cosines_and_the_model_is_linear_in_them():
    selector = select()
    for feature, learner in zip(selector.transform(X).T, selector.ensemble_.learners, strict=True):
        expected = np.sqrt(2) * np.cos(X @ learner.theta - learner.kappa)
        sign = np.sign(feature[0] * expected[0])
        assert np.allclose(feature, sign * expected, rtol=0, atol=10 * COSINE)
    model = selector.model_
    decision = selector.transform(X) @ model.ensemble_.weights[:, 0] + model.ensemble_.intercept[0]
    assert np.allclose(decision, model.decision_function(X), rtol=0, atol=CLOSED_FORM * 12)


def test_integers_are_classes_unless_there_are_many():
    """The target of `load_diabetes` has 214 distinct integers: they are not classes of two rows each."""
    assert type(select(np.round(3 * REGRESSION).astype(int)).model_) is CGEnsClassifier
    rows, y = load_diabetes(return_X_y=True)
    assert type(select(y, rows).model_) is CGEnsRegressor


def test_more_components_than_candidates():
    selector = select(n_components=50, fourier=Fourier(n_candidates=10, learn=False))
    assert selector.transform(X).shape == (90, 10)
    assert len(selector.get_feature_names_out()) == 10


def test_data_frames_in_and_out():
    frame = pd.DataFrame(X, columns=list("abcdef"), index=np.arange(100, 190))
    selector = FourierSelector(5, COSINES, random_state=0).set_output(transform="pandas").fit(frame, Y)
    features = selector.transform(frame)
    assert features.columns.tolist() == [f"fourierselector{k}" for k in range(5)]
    assert features.index.equals(frame.index)
    assert np.array_equal(features.to_numpy(), select(n_components=5).transform(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, int])
def test_the_dtype_of_floats_is_kept(dtype):
    features = select(X=X.astype(dtype)).transform(X.astype(dtype))
    assert features.dtype == (np.float64 if dtype is int else dtype)
    assert features.shape == (90, 12)


def test_before_a_linear_model():
    images, digits = load_digits(return_X_y=True)
    images = images / 16
    train, test = (images[:400], digits[:400]), (images[900:], digits[900:])
    linear = LogisticRegression(max_iter=2000)
    model = make_pipeline(FourierSelector(100, random_state=0, n_jobs=1), linear).fit(*train)
    assert model.score(*test) > clone(linear).fit(*train).score(*test)


def test_before_linear_regression(rng):
    rows = rng.normal(size=(600, 5))
    y = np.sin(2 * rows[:, 0]) + rows[:, 1] * rows[:, 2]
    model = make_pipeline(FourierSelector(100, random_state=0, n_jobs=1), Ridge(1e-2)).fit(rows[:400], y[:400])
    assert model.score(rows[400:], y[400:]) > 0.7


def test_grid_search_over_the_width():
    selector = FourierSelector(10, Fourier(n_candidates=50), random_state=0, n_jobs=1)
    pipeline = make_pipeline(selector, LogisticRegression())
    grid = {"fourierselector__fourier__gamma": [0.01, 1.0], "fourierselector__n_components": [5, 10]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, Y)
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    assert selector.fourier.gamma == "scale"


def test_sample_weights_count_as_copies(rng):
    weight = rng.integers(0, 3, 90)
    weighted = FourierSelector(8, COSINES, random_state=0).fit(X, Y, sample_weight=weight)
    copied = select(np.repeat(Y, weight), np.repeat(X, weight, axis=0), n_components=8)
    assert weighted.transform(X).tobytes() == copied.transform(X).tobytes()


def test_constant_features_leave_nothing_to_select():
    constant = np.ones((10, 2))
    with pytest.warns(UserWarning, match="constant"):
        selector = select(np.arange(10) % 2, constant)
    assert selector.transform(constant).shape == (10, 0)


#: Bad X and y are in scikit-learn's checks.
REFUSED = {
    "a name": ({"fourier": "fourier"}, TypeError, r"fourier.*Fourier.*got 'fourier'"),
    "a class": ({"fourier": Fourier}, TypeError, r"fourier.*Fourier.*class"),
    "another family": ({"fourier": Stump()}, TypeError, r"fourier.*Fourier.*got Stump\(\)"),
    "a bad width": ({"fourier": Fourier(gamma=-1)}, ValueError, r"Fourier: gamma.*-1"),
    "no components": ({"n_components": 0}, ValueError, r"n_components.*\b0\b"),
    "half a component": ({"n_components": 2.5}, ValueError, r"n_components.*2\.5"),
    "C": ({"C": -1.0}, ValueError, r"C .*-1\.0"),
    "another task": ({"task": "ranking"}, ValueError, r"task.*'ranking'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_parameters_are_refused_and_do_not_change_the_selector(name):
    parameters, error, pattern = REFUSED[name]
    selector = select()
    before = selector.transform(X).tobytes()
    with pytest.raises(error, match=pattern):
        selector.set_params(**parameters).fit(X, Y)
    assert selector.transform(X).tobytes() == before
