"""Stages, importances and warm start of the estimator."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from cgens import CGEnsClassifier
from cgens.inspection import check_certificate
from cgens.weak_learners import Stump
from tests.contract.cosines import Cosines
from tests.integration.small_data import SMALL_DATA, breast_cancer, noisy
from tests.tolerances import CLOSED_FORM, IMPORTANCE, NEGATIVE_GAP


@pytest.fixture(params=SMALL_DATA)
def data(request):
    return SMALL_DATA[request.param]()


def test_one_stage_a_column_and_the_last_is_the_model(data):
    X, y = data
    model = CGEnsClassifier(n_jobs=1, n_estimators=12).fit(X, y)
    stages, labels = list(model.staged_decision_function(X)), list(model.staged_predict(X))
    assert len(stages) == len(labels) == model.n_columns_
    scale = CLOSED_FORM * np.abs(model.ensemble_.weights).sum()
    assert np.allclose(stages[-1], model.decision_function(X), rtol=0, atol=scale)
    assert np.array_equal(labels[-1], model.predict(X))
    assert all(stage.shape == (len(X),) for stage in stages)


def test_stage_k_is_the_svm_over_k_columns(data):
    """Weights differ from stage to stage (fully corrective), and each stage's value is the trace's."""
    X, y = data
    model = CGEnsClassifier(n_jobs=1, n_estimators=6).fit(X, y)
    signs = np.where(y > 0, 1.0, -1.0)
    for k, stage in enumerate(model.staged_decision_function(X), start=1):
        weights = model.ensemble_.history[k][0]
        assert weights.shape == (k, 1)
        primal = 0.5 * np.sum(weights**2) + model.C_ * np.maximum(0, 1 - signs * stage).sum()
        assert primal == pytest.approx(model.trace_.primal[k], rel=CLOSED_FORM)


def test_decision_and_prediction_belong_together(data):
    X, y = data
    model = CGEnsClassifier(n_jobs=1, n_estimators=10).fit(X, y)
    decision = model.decision_function(X)
    assert decision.shape == (len(X),)
    assert np.array_equal(model.predict(X), model.classes_[(decision > 0).astype(int)])
    assert model.score(X, y) > max(np.mean(y), 1 - np.mean(y)) - 0.01


@pytest.mark.parametrize("weighted", [False, True])
def test_importances_are_the_spread_of_each_features_part(data, weighted, rng):
    X, y = data
    weight = rng.integers(1, 5, len(y)).astype(float) if weighted else np.ones(len(y))
    model = CGEnsClassifier(n_jobs=1, n_estimators=40).fit(X, y, sample_weight=weight)
    parts = np.zeros(X.shape)
    for learner, w in zip(model.ensemble_.learners, model.ensemble_.weights[:, 0], strict=True):
        parts[:, learner.feature] += w * learner.respond(X)
    mean = np.average(parts, axis=0, weights=weight)
    spread = np.sqrt(np.average((parts - mean) ** 2, axis=0, weights=weight))
    assert np.allclose(model.feature_importances_, spread / spread.sum(), rtol=0, atol=IMPORTANCE)
    assert model.feature_importances_.sum() == pytest.approx(1.0, rel=CLOSED_FORM)


def test_importances_need_stumps(rng):
    X, y = noisy()
    model = CGEnsClassifier(Cosines(), n_estimators=5, random_state=0).fit(X, y)
    assert not hasattr(model, "feature_importances_")


def test_a_family_of_ones_own():
    """Scope, certificate and prediction of a family that the library has never seen."""
    X, y = noisy()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = CGEnsClassifier(Cosines(n_candidates=200, gamma=0.1), C=1.0, n_estimators=60, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8
    assert model.certificate_.scope == "pool"
    assert model.certificate_.relative_gap <= model.tol
    fresh = CGEnsClassifier(Cosines(fresh=True), n_estimators=20, random_state=0).fit(X, y)
    assert fresh.certificate_.scope == "restricted"
    assert fresh.bound_duals_ is None
    assert check_certificate(fresh, X, y).agrees
    again = CGEnsClassifier(Cosines(fresh=True), n_estimators=20, random_state=0).fit(X, y)
    assert np.array_equal(again.decision_function(X), fresh.decision_function(X))
    other = CGEnsClassifier(Cosines(fresh=True), n_estimators=20, random_state=1).fit(X, y)
    assert not np.array_equal(other.decision_function(X), fresh.decision_function(X))


def test_warm_start_goes_on(data):
    X, y = data
    model = CGEnsClassifier(n_jobs=1, n_estimators=3, warm_start=True).fit(X, y)
    first = model.ensemble_.learners
    model.set_params(n_estimators=6).fit(X, y)
    assert model.ensemble_.learners[:3] == first
    assert model.n_columns_ == 6
    assert model.n_iter_ == 3
    assert len(list(model.staged_decision_function(X))) == 6
    assert check_certificate(model, X, y).problems == ()


def test_warm_start_without_more_to_do():
    X, y = noisy()
    model = CGEnsClassifier(n_jobs=1, n_estimators=8, warm_start=True).fit(X, y)
    learners, primal = model.ensemble_.learners, model.certificate_.primal
    model.fit(X, y)
    assert model.ensemble_.learners == learners
    assert model.n_iter_ == 0
    assert model.certificate_.primal == pytest.approx(primal, rel=2 * model.tol), "both are within tol of the optimum"


def test_warm_start_with_a_new_tolerance_and_cost():
    X, y = noisy()
    model = CGEnsClassifier(n_jobs=1, n_estimators=20, warm_start=True).fit(X, y)
    model.set_params(tol=1e-8, C=0.3).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-8
    assert model.C_ == 0.3
    assert check_certificate(model, X, y).problems == ()


@pytest.mark.parametrize("change", ["other rows", "other bins"])
def test_a_bound_of_the_pool_holds_for_columns_from_elsewhere(change):
    """Columns of an earlier fit may not be in today's pool: a bound for the pool is then none for the model."""
    X, y = breast_cancer(120)
    model = CGEnsClassifier(n_jobs=1, n_estimators=50, warm_start=True, C=10.0).fit(X, y)
    if change == "other bins":
        model.set_params(weak_learner=Stump(max_bins=4)).fit(X, y)
    else:
        X, y = X[::7], y[::7]
        model.fit(X, y)
    certificate = model.certificate_
    if certificate.full_lower_bound is not None:
        assert certificate.full_lower_bound <= certificate.primal * (1 + NEGATIVE_GAP)
        assert certificate.full_relative_gap >= -NEGATIVE_GAP


def test_no_warning_on_ordinary_data(data):
    X, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = CGEnsClassifier().fit(X, y)
    assert model.certificate_.relative_gap <= model.tol
