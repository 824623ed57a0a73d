"""Multilabel: y is an indicator matrix, and each label is one output over the same columns."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from cgens import CGEnsClassifier
from cgens.inspection import check_certificate
from tests.integration.small_data import flowers, topics
from tests.models import answer, make
from tests.tolerances import CLOSED_FORM

X, Y = topics()
LOSSES = ["least_squares", "hinge"]
MODELS = ["multilabel", "multilabel, hinge", "AdaBoost.MH, multilabel"]
every_model = pytest.mark.parametrize("name", MODELS)
every_loss = pytest.mark.parametrize("loss", LOSSES)


def fit(X=X, y=Y, weight=None, **options):
    return CGEnsClassifier(**{"weak_learner": "stump", "n_estimators": 30, "n_jobs": 1, **options}).fit(
        X, y, sample_weight=weight
    )


@every_model
def test_most_labels_are_right(name):
    model = make(name, C=0.1, n_estimators=60).fit(X, Y)
    assert np.mean(model.predict(X) == Y) > 0.85
    assert model.score(X, Y) > 0.5


KINDS = {
    "bool": Y.astype(bool),
    "float": Y.astype(float),
    "int8": Y.astype(np.int8),
    "list": Y.tolist(),
    "frame": pd.DataFrame(Y, columns=list("abc")),
    "csr": sparse.csr_matrix(Y),
    "csc": sparse.csc_matrix(Y),
    "coo": sparse.coo_matrix(Y),
    "csr array": sparse.csr_array(Y),
    "Fortran": np.asfortranarray(Y),
}


@every_model
def test_any_kind_of_indicator(name):
    expected = answer(make(name).fit(X, Y), X).tobytes()
    for kind, indicator in KINDS.items():
        model = make(name).fit(X, indicator)
        assert answer(model, X).tobytes() == expected, kind
        assert model.predict(X).shape == Y.shape


@every_loss
@pytest.mark.parametrize("value", [0, 1])
def test_a_constant_label(value, loss):
    y = Y.copy()
    y[:, 2] = value
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit(y=y, loss=loss)
    assert check_certificate(model, X, y).problems == ()
    assert np.allclose(model.decision_function(X)[:, 2], 2 * value - 1, rtol=0, atol=CLOSED_FORM)
    assert model.predict(X)[:, 2].tolist() == [value] * len(X)
    if loss == "least_squares":  # in closed form, so that it does not affect the other labels
        others = fit(y=np.delete(y, 2, axis=1), loss=loss)
        assert others.ensemble_.learners == model.ensemble_.learners
        rest = np.delete(model.decision_function(X), 2, axis=1)
        assert np.allclose(rest, others.decision_function(X), rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize("value", [0, 1])
def test_a_constant_label_in_boosting(value):
    """No weak learner is constant, so that the prediction need not be, but it is finite."""
    y = Y.copy()
    y[:, 2] = value
    model = make("AdaBoost.MH, multilabel", n_estimators=100).fit(X, y)
    assert np.all(np.isfinite(model.decision_function(X)))
    assert np.mean(model.predict(X)[:, 2] == value) > 0.9


@every_loss
def test_only_constant_labels(loss):
    y = np.tile([0, 1], (len(X), 1))
    with pytest.warns(UserWarning, match="constant"):
        model = fit(y=y, loss=loss)
    assert model.n_columns_ == 0
    assert np.array_equal(model.predict(X), y)
    assert check_certificate(model, X, y).problems == ()


@every_loss
def test_one_row_per_label(loss):
    y = np.eye(6, dtype=int)
    model = fit(X[:6], y, loss=loss, C=100.0)
    assert check_certificate(model, X[:6], y).problems == ()
    assert np.array_equal(model.predict(X[:6]), y)


def test_an_indicator_of_one_column_is_binary():
    with pytest.warns(UserWarning, match="1d array"):
        model = fit(y=Y[:, :1])
    assert model.decision_function(X).tobytes() == fit(y=Y[:, 0]).decision_function(X).tobytes()
    assert model.predict(X).shape == (len(X),)


def test_adaboost_mh_treats_classes_as_labels():
    X, y = flowers()
    classes, labels = make("AdaBoost.MH").fit(X, y), make("AdaBoost.MH").fit(X, np.eye(3, dtype=int)[y])
    assert classes.ensemble_.learners == labels.ensemble_.learners
    assert classes.decision_function(X).tobytes() == labels.decision_function(X).tobytes()
    assert np.array_equal(classes.predict(X), labels.decision_function(X).argmax(axis=1))


REFUSED = {
    "1 and 4": (lambda: fit(y=3 * Y + 1), "0 and 1"),
    "-1 and 1": (lambda: fit(y=2 * Y - 1), "0 and 1"),
    "halves": (lambda: fit(y=Y + 0.5), "continuous|0 and 1"),
    "balanced": (lambda: fit(class_weight="balanced"), r"class_weight.*sample_weight"),
    "a class weight": (lambda: fit(class_weight={0: 2.0}), r"class_weight.*sample_weight"),
    "class weights per label": (lambda: fit(class_weight=[{0: 1.0, 1: 2.0}] * 3), r"class_weight.*sample_weight"),
    "NaN": (lambda: fit(y=np.where(np.arange(3) == 1, np.nan, Y)), "NaN"),
    "three axes": (lambda: fit(y=Y[:, :, None]), "dim 3"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    act, pattern = REFUSED[name]
    with pytest.raises(ValueError, match=r"(?s)" + pattern):
        act()
