"""Several labels a row: y as an indicator matrix, one output a label, all over the same columns."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import Ridge

from cgens import CGEnsClassifier
from cgens.inspection import check_certificate
from cgens.types import Status
from tests.tolerances import CLOSED_FORM, NEGATIVE_GAP, SVC_DECISION, TIGHT

LOSSES = ["least_squares", "hinge"]
X, Y = make_multilabel_classification(n_samples=150, n_features=8, n_classes=4, random_state=3)


def fit(X=X, y=Y, weight=None, **options):
    return CGEnsClassifier(**{"n_estimators": 30, "n_jobs": 1, **options}).fit(X, y, sample_weight=weight)


def fit_and_check(X=X, y=Y, weight=None, **options):
    model = fit(X, y, weight, **options)
    assert check_certificate(model, X, y, weight).problems == ()
    assert np.all(np.isfinite(model.decision_function(X)))
    assert model.certificate_.relative_gap <= model.tol
    return model


@pytest.mark.parametrize("loss", ["auto", *LOSSES])
def test_shapes(loss):
    model = fit(loss=loss)
    assert model.loss_ == {"auto": "least_squares"}.get(loss, loss)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.decision_function(X).shape == model.duals_.shape == model.bound_duals_.shape == (150, 4)
    assert model.predict(X).shape == (150, 4)
    assert model.ensemble_.weights.shape == (30, 4)
    assert np.array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))
    stages, labels = list(model.staged_decision_function(X)), list(model.staged_predict(X))
    assert [stage.shape for stage in stages] == [label.shape for label in labels] == [(150, 4)] * 30
    assert np.array_equal(labels[-1], model.predict(X))


@pytest.mark.parametrize("loss", LOSSES)
def test_score_is_the_share_of_rows_with_all_labels_right(loss):
    model = fit(loss=loss, C=0.1, n_estimators=100)
    assert model.score(X, Y) == np.mean((model.predict(X) == Y).all(axis=1))
    assert model.score(X, Y) > 0.5
    assert np.mean(model.predict(X) == Y) > 0.85


KINDS = {
    "bool": Y.astype(bool),
    "float": Y.astype(float),
    "int8": Y.astype(np.int8),
    "list": Y.tolist(),
    "frame": pd.DataFrame(Y, columns=list("abcd")),
    "csr": sparse.csr_matrix(Y),
    "csc": sparse.csc_matrix(Y),
    "coo": sparse.coo_matrix(Y),
    "csr array": sparse.csr_array(Y),
    "Fortran": np.asfortranarray(Y),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", KINDS)
def test_any_kind_of_indicator(kind, loss):
    model = fit(y=KINDS[kind], loss=loss, n_estimators=10)
    assert model.decision_function(X).tobytes() == fit(loss=loss, n_estimators=10).decision_function(X).tobytes()
    assert model.predict(X).shape == (150, 4)


@pytest.mark.parametrize("pricing", ["gain", "max"])
def test_least_squares_is_ridge_on_signs(pricing):
    weight = np.random.default_rng(0).random(len(X)) + 0.1
    model = fit_and_check(weight=weight, pricing=pricing)
    H = model.ensemble_.respond(X).astype(float)
    expected = Ridge(alpha=1 / model.C_).fit(H, 2.0 * Y - 1, sample_weight=weight).predict(H)
    assert np.allclose(model.decision_function(X), expected, rtol=0, atol=CLOSED_FORM)


def test_the_hinge_loss_is_one_problem_a_label():
    few = X[:, :4]
    options = {"loss": "hinge", "C": 0.05, "n_estimators": 10_000, "tol": TIGHT}
    model = fit_and_check(few, Y, **options)
    assert model.certificate_.status is Status.OPTIMAL
    for decision, y in zip(model.decision_function(few).T, Y.T, strict=True):
        own = fit(few, y, **options)
        assert np.abs(decision - own.decision_function(few)).max() <= SVC_DECISION


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("value", [0, 1])
def test_a_constant_label(value, loss):
    y = Y.copy()
    y[:, 2] = value
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit_and_check(y=y, loss=loss)
    sign = 2 * value - 1
    assert np.allclose(model.decision_function(X)[:, 2], sign, rtol=0, atol=CLOSED_FORM)
    assert model.predict(X)[:, 2].tolist() == [value] * len(X)
    if loss == "least_squares":  # in closed form: the other labels then do not notice
        others = fit(y=np.delete(y, 2, axis=1))
        assert others.ensemble_.learners == model.ensemble_.learners
        rest = np.delete(model.decision_function(X), 2, axis=1)
        assert np.allclose(rest, others.decision_function(X), rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize("loss", LOSSES)
def test_constant_labels_alone(loss):
    y = np.tile([0, 1], (len(X), 1))
    with pytest.warns(UserWarning, match="constant"):
        model = fit(y=y, loss=loss)
    assert model.n_columns_ == 0
    assert np.array_equal(model.predict(X), y)
    assert check_certificate(model, X, y).problems == ()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "options", [{"loss": "hinge"}, {"pricing": "gain"}, {"pricing": "max"}, {"C": 100.0, "tol": 1e-6}], ids=str
)
def test_certificates_agree(options, weighted, rng):
    weight = rng.integers(0, 4, len(X)).astype(float) if weighted else None
    model = fit_and_check(weight=weight, **options)
    assert np.all(model.trace_.relative_gap >= -NEGATIVE_GAP)
    assert model.certificate_.full_relative_gap >= -NEGATIVE_GAP


@pytest.mark.parametrize("loss", LOSSES)
def test_one_row_of_one_label_each(loss):
    y = np.eye(6, dtype=int)
    model = fit_and_check(X[:6], y, loss=loss, C=100.0)
    assert np.array_equal(model.predict(X[:6]), y)


def test_an_indicator_of_one_column_is_two_classes():
    with pytest.warns(UserWarning, match="1d array"):
        model = fit(y=Y[:, :1])
    assert model.decision_function(X).tobytes() == fit(y=Y[:, 0]).decision_function(X).tobytes()
    assert model.predict(X).shape == (150,)


def test_several_targets_of_several_classes_are_refused():
    y = np.column_stack([Y[:, 0], Y[:, 1] + 2 * Y[:, 2]])
    with pytest.raises(ValueError, match=r"y has 2 columns.*indicator of 0 and 1.*MultiOutputClassifier\.$"):
        fit(y=y)


@pytest.mark.parametrize("y", [3 * Y + 1, 2 * Y - 1, Y + 0.5], ids=["1 and 4", "-1 and 1", "halves"])
def test_an_indicator_of_other_numbers_is_refused(y):
    with pytest.raises(ValueError, match=r"indicator of 0 and 1|continuous"):
        fit(y=y)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0}, [{0: 1.0, 1: 2.0}] * 4])
def test_class_weights_are_refused(class_weight):
    with pytest.raises(ValueError, match=r"class_weight is for one label a row.*sample_weight"):
        fit(class_weight=class_weight)


BAD = {
    "too few rows": (lambda: fit(y=Y[:-1]), r"150.*149"),
    "NaN": (lambda: fit(y=np.where(np.arange(4) == 1, np.nan, Y)), "NaN"),
    "all weights zero": (lambda: fit(weight=np.zeros(150)), "(?i)weight"),
    "three axes": (lambda: fit(y=Y[:, :, None]), "dim 3"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence(name):
    act, pattern = BAD[name]
    with pytest.raises(ValueError, match=r"(?s)" + pattern):
        act()


def test_warm_start():
    for loss in LOSSES:
        model = fit(loss=loss, warm_start=True, n_estimators=8)
        model.set_params(n_estimators=20).fit(X, Y)
        assert model.n_columns_ == 20
        assert check_certificate(model, X, Y).problems == ()
        with pytest.raises(ValueError, match=r"4 outputs.*3"):
            model.set_params(n_estimators=30).fit(X, Y[:, :3])


def test_labels_after_classes_and_classes_after_labels():
    """A second fit of another kind leaves nothing of the first."""
    model = fit()
    model.fit(X, Y[:, 0])
    assert model.predict(X).shape == (150,)
    assert model.decision_function(X).tobytes() == fit(y=Y[:, 0]).decision_function(X).tobytes()
    model.fit(X, Y)
    assert model.decision_function(X).tobytes() == fit().decision_function(X).tobytes()
