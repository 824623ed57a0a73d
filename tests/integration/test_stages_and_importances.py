"""Stages are the models of the first columns; importances are the spread of each feature's part."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from cgens import CGEnsClassifier, CGEnsRegressor
from cgens.datasets import make_mixed
from cgens.weak_learners import Box, Tree
from tests.contract.cosines import Cosines
from tests.integration.small_data import noisy
from tests.models import (
    BOOSTERS,
    HINGE,
    LEAST_SQUARES,
    STAGE_WISE,
    answer,
    data_of,
    every_ensemble,
    every_on_the_loop,
    fitted,
    make,
)
from tests.tolerances import CLOSED_FORM, IMPORTANCE


def rounding(model):
    """Return by how much two sums of the same responses may differ."""
    return CLOSED_FORM * (1 + np.abs(model.ensemble_.weights).sum() + np.abs(model.ensemble_.intercept).sum())


@every_ensemble
def test_one_stage_per_column_and_the_last_is_the_model(name):
    model, X, y = fitted(name)
    predictions = list(model.staged_predict(X))
    assert len(predictions) == model.n_columns_
    assert all(stage.shape == y.shape for stage in predictions)
    if not is_classifier(model):
        assert np.allclose(predictions[-1], model.predict(X), rtol=0, atol=rounding(model) * np.abs(y).max())
        return
    assert np.array_equal(predictions[-1], model.predict(X))
    if hasattr(model, "staged_decision_function"):
        decisions = list(model.staged_decision_function(X))
        assert np.allclose(decisions[-1], model.decision_function(X), rtol=0, atol=rounding(model))
        for decision, labels in zip(decisions, predictions, strict=True):
            assert decision.shape == model.decision_function(X).shape
            best = decision.argmax(axis=1) if decision.ndim > labels.ndim else (decision > 0).astype(int)
            assert np.array_equal(labels, best)


@pytest.mark.parametrize("name", [*LEAST_SQUARES, *STAGE_WISE, "LPBoost", "LPBoost, nu"])
def test_stage_k_is_the_model_of_k_columns(name):
    """In stage-wise boosting because coefficients do not change, in the others because every round is solved."""
    model, X, _ = fitted(name, n_estimators=6)
    staged = model.staged_decision_function if is_classifier(model) else model.staged_predict
    for k, stage in enumerate(staged(X), start=1):
        shorter, _, _ = fitted(name, n_estimators=k)
        assert shorter.ensemble_.learners == model.ensemble_.learners[:k]
        assert np.allclose(stage, answer(shorter, X), rtol=0, atol=CLOSED_FORM * (1 + np.abs(stage).max()))


@pytest.mark.parametrize("name", HINGE)
def test_every_round_of_the_hinge_loss_sweeps(name):
    """Totally corrective: earlier weights change in every round, also if the gap is small enough without that."""
    assert np.all(fitted(name)[0].trace_.n_iter[1:] >= 1)


@pytest.mark.parametrize("weighted", [False, True])
@every_on_the_loop
def test_importances_are_the_spread_of_each_features_part(name, weighted, rng):
    """Over all outputs: the root of the summed variances."""
    X, y = data_of(name)
    weight = rng.integers(1, 5, len(y)).astype(float) if weighted else np.ones(len(y))
    model = make(name, n_estimators=30).fit(X, y, sample_weight=weight)
    parts = np.zeros((*X.shape, model.ensemble_.weights.shape[1]))
    for learner, w in zip(model.ensemble_.learners, model.ensemble_.weights, strict=True):
        parts[:, learner.feature] += np.multiply.outer(learner.respond(X), w)
    by_class = getattr(model, "class_weight", None) == "balanced"
    share = weight / np.bincount(y, weights=weight)[y] if by_class else weight
    mean = np.average(parts, axis=0, weights=share)
    spread = np.sqrt(np.average((parts - mean) ** 2, axis=0, weights=share).sum(axis=1))
    assert np.allclose(model.feature_importances_, spread / spread.sum(), rtol=0, atol=IMPORTANCE)
    assert model.feature_importances_.sum() == pytest.approx(1.0, rel=CLOSED_FORM)


def test_importances_of_stumps_with_gaps_and_categories():
    """The probability to be above two stumps follows from the means and the share of gaps."""
    X, y, _ = make_mixed(600, random_state=0)
    model = CGEnsRegressor("stump", n_estimators=80).fit(X, y)
    rows, spread = model.schema_.read(X).values, np.zeros(X.shape[1])
    kinds = {(learner.threshold is None, learner.gaps_above) for learner in model.ensemble_.learners}
    assert len(kinds) == 4, "numbers and categories, gaps on both sides"
    for feature in range(len(spread)):
        own = [j for j, learner in enumerate(model.ensemble_.learners) if learner.feature == feature]
        spread[feature] = np.std(model.ensemble_.respond(rows)[:, own] @ model.ensemble_.weights[own])
    assert np.allclose(model.feature_importances_, spread / spread.sum(), rtol=0, atol=IMPORTANCE)


@pytest.mark.parametrize("name", BOOSTERS)
def test_importances_of_trees_in_boosting(name):
    model, X, _ = fitted(name, weak_learner=Tree(3))
    assert model.feature_importances_.shape == (X.shape[1],)
    assert model.feature_importances_.sum() == pytest.approx(1.0, rel=CLOSED_FORM)
    assert not hasattr(fitted(name, weak_learner="perceptron")[0], "feature_importances_")


@pytest.mark.parametrize("leaves", ["real", "sign"])
def test_importances_of_trees(leaves, rng):
    """They find the relevant feature, whatever its unit."""
    X = rng.normal(size=(300, 6))
    y = X[:, 4] ** 2 + 0.1 * rng.normal(size=300)
    model = CGEnsRegressor(Tree(4, leaves=leaves), n_estimators=20, random_state=0, n_jobs=1).fit(X, y)
    importances = model.feature_importances_
    assert importances.shape == (6,)
    assert np.all(importances >= 0)
    assert importances.sum() == pytest.approx(1, abs=IMPORTANCE)
    assert importances[4] > 2 * np.delete(importances, 4).max()
    other = clone(model).fit(X * 2.0 ** np.arange(6), y)
    assert np.allclose(other.feature_importances_, importances, rtol=0, atol=IMPORTANCE)


@pytest.mark.parametrize("family", ["stump", Tree(3)], ids=str)
def test_importances_of_a_family_on_some_columns(family):
    X, y = noisy()
    options = {"loss": "least_squares", "n_estimators": 8, "random_state": 0, "n_jobs": 1}
    wide = CGEnsClassifier([(family, [3, 1])], **options).fit(X, y).feature_importances_
    narrow = CGEnsClassifier([family], **options).fit(X[:, [3, 1]], y).feature_importances_
    assert np.allclose(wide, [0.0, narrow[1], 0.0, narrow[0], 0.0, 0.0], rtol=0, atol=IMPORTANCE)


@pytest.mark.parametrize(
    "family", ["perceptron", "linear", Box(n_candidates=50), ["tree", "fourier"], Cosines()], ids=str
)
def test_other_families_have_no_importances(family):
    model = CGEnsClassifier(family, n_estimators=5, random_state=0, n_jobs=1).fit(*noisy())
    assert not hasattr(model, "feature_importances_")
    with pytest.raises(AttributeError, match=r"feature_importances_.*stumps.*trees"):
        _ = model.feature_importances_
