"""Multiclass: simplex codes with least squares, or one-vs-rest with the hinge loss."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from cgens import CGEnsClassifier
from cgens.inspection import check_certificate
from cgens.weak_learners import Stump
from tests.integration.small_data import flowers, wines
from tests.tolerances import CLOSED_FORM

LOSSES = ["least_squares", "hinge"]
FLOWERS = flowers()
DIGITS = load_digits(return_X_y=True)
every_loss = pytest.mark.parametrize("loss", LOSSES)


def fit(X, y, weight=None, **options):
    return CGEnsClassifier(**{"n_estimators": 30, "n_jobs": 1, **options}).fit(X, y, sample_weight=weight)


def fit_and_check(X, y, weight=None, **options):
    model = fit(X, y, weight, **options)
    assert check_certificate(model, X, y, weight).problems == ()
    assert np.all(np.isfinite(model.decision_function(X)))
    assert model.certificate_.relative_gap <= model.tol
    return model


def assert_same_decisions(first, second, X):
    assert first.ensemble_.learners == second.ensemble_.learners
    assert first.decision_function(X).tobytes() == second.decision_function(X).tobytes()


@every_loss
@pytest.mark.parametrize(
    ("data", "columns", "least"),
    [(FLOWERS, 40, 0.9), (wines(), 60, 0.9), (DIGITS, 150, 0.88)],
    ids=["flowers", "wines", "digits"],
)
def test_accuracy_on_new_rows(loss, data, columns, least):
    X, X_test, y, y_test = train_test_split(*data, random_state=0, stratify=data[1])
    model = fit(X, y, loss=loss, n_estimators=columns)
    assert model.score(X_test, y_test) >= least
    assert model.certificate_.relative_gap <= model.tol


@every_loss
def test_a_class_of_one_row(loss):
    X, y = FLOWERS
    X, y = np.vstack([X, [20.0, 20.0, 20.0, 20.0]]), np.append(y, 7)
    model = fit_and_check(X, y, loss=loss, C=10.0, n_estimators=60)
    assert model.predict(X[-1:]).tolist() == [7]
    assert model.decision_function(X).shape == (151, 4)


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@every_loss
def test_every_row_is_a_class(rng, loss):
    X, y = rng.normal(size=(20, 4)), rng.permutation(20)
    model = fit_and_check(X, y, loss=loss, C=100.0, n_estimators=300)
    assert np.array_equal(model.predict(X), y)


@pytest.mark.slow
def test_many_classes(rng):
    X = rng.normal(size=(800, 5))
    y = np.arange(800) % 400
    X[:, 0] += y
    model = fit_and_check(X, y, n_estimators=12, C=1.0, weak_learner=Stump(max_bins=16))
    assert model.decision_function(X[:5]).shape == (5, 400)
    assert model.duals_.shape == (800, 399)
    assert model.score(X, y) > 5 / 400


@every_loss
def test_class_weights_are_sample_weights(rng, loss):
    X, y = FLOWERS[0][20:130], FLOWERS[1][20:130]
    weight = rng.integers(1, 4, len(y)).astype(float)
    by_class = fit(X, y, weight, loss=loss, class_weight={0: 4.0, 2: 0.5}, C=0.01)
    by_row = weight * np.array([4.0, 1.0, 0.5])[y]
    assert_same_decisions(by_class, fit(X, y, by_row, loss=loss, C=0.01), X)
    totals = np.bincount(y, weights=weight)
    balanced = fit(X, y, weight, loss=loss, class_weight="balanced", C=0.01)
    explicit = fit(X, y, weight * (totals.sum() / (3 * totals))[y], loss=loss, C=0.01)
    assert balanced.ensemble_.learners == explicit.ensemble_.learners
    assert np.allclose(balanced.decision_function(X), explicit.decision_function(X), rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize(("loss", "gone"), [("auto", [2, 3, 0, 4]), ("least_squares", [1, 4]), ("hinge", [1, 4])])
@pytest.mark.parametrize("how", ["sample weights", "class weights", "balanced"])
def test_a_class_without_weight_is_ignored(loss, how, gone):
    """Also if two classes are left, whose default loss differs."""
    X, y = load_digits(n_class=6, return_X_y=True)
    X, y = X[:200], y[:200]
    kept = ~np.isin(y, gone)
    options = {"weak_learner": "stump", "loss": loss, "n_estimators": 10}
    weight = None if how == "class weights" else kept.astype(float)
    if how == "class weights":
        model = fit(X, y, **options, class_weight=dict.fromkeys(gone, 0.0), C=0.01)
        without = fit(X[kept], y[kept], **options, C=0.01)
    else:
        options["class_weight"] = "balanced" if how == "balanced" else None
        model, without = fit(X, y, weight, **options), fit(X[kept], y[kept], **options)
        assert model.C_ == without.C_
    assert model.classes_.tolist() == without.classes_.tolist() == sorted(set(range(6)) - set(gone))
    assert model.loss_ == without.loss_
    assert_same_decisions(model, without, X)
    assert np.array_equal(model.duals_[kept], without.duals_)
    assert not model.duals_[~kept].any()
    assert check_certificate(model, X, y, weight).problems == ()


@every_loss
@pytest.mark.parametrize("C", [1e-90, 1e-12, 1e-4, 1e4])
def test_any_c(loss, C):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit_and_check(*FLOWERS, loss=loss, C=C, n_estimators=10)
    assert model.certificate_.primal > 0
