"""Any number of classes: simplex codes and least squares, or one against the rest with the hinge loss."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from cgens import CGEnsClassifier
from cgens.coding import simplex_codes
from cgens.inspection import check_certificate
from cgens.types import Status
from cgens.weak_learners import Stump
from tests.integration.small_data import SMALL_DATA, noisy
from tests.tolerances import (
    CLOSED_FORM,
    IMPORTANCE,
    LOOSE_ROUNDS,
    NEGATIVE_GAP,
    POOL_SLACK,
    SAME_OPTIMUM,
    SVC_DECISION,
    TIGHT,
)

LOSSES = ["least_squares", "hinge"]
FLOWERS = load_iris(return_X_y=True)
WINES = load_wine(return_X_y=True)
DIGITS = load_digits(return_X_y=True)
SETS = {"iris": FLOWERS, "wine": WINES, "digits": (DIGITS[0][:400], DIGITS[1][:400])}


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


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("data", "columns", "least"), [(FLOWERS, 40, 0.9), (WINES, 60, 0.9), (DIGITS, 150, 0.88)], ids=SETS
)
def test_accuracy_on_new_rows(loss, data, columns, least):
    X, X_test, y, y_test = train_test_split(*data, random_state=0, stratify=data[1])
    model = fit(X, y, loss=loss, n_estimators=columns)
    assert model.score(X_test, y_test) >= least
    assert model.certificate_.relative_gap <= model.tol


@pytest.mark.parametrize("pricing", ["gain", "max"])
@pytest.mark.parametrize("name", SETS)
def test_objectives_fall_and_gaps_are_never_negative(name, pricing):
    model = fit_and_check(*SETS[name], pricing=pricing)
    assert np.all(np.diff(model.trace_.primal) < 0)
    assert np.all(model.trace_.relative_gap >= -NEGATIVE_GAP)
    assert model.certificate_.full_relative_gap >= -NEGATIVE_GAP


@pytest.mark.parametrize("loss", ["auto", *LOSSES])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_shapes(loss, n_classes):
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    X, y = X[:200], y[:200]
    model = fit(X, y, loss=loss, n_estimators=15)
    assert model.loss_ == {"auto": "hinge" if n_classes == 2 else "least_squares"}.get(loss, loss)
    n_outputs = {2: 1}.get(n_classes, n_classes if model.loss_ == "hinge" else n_classes - 1)
    assert model.classes_.tolist() == list(range(n_classes))
    assert model.decision_function(X).shape == ((200,) if n_classes == 2 else (200, n_classes))
    assert model.duals_.shape == ((200,) if n_classes == 2 else (200, n_outputs))
    assert model.bound_duals_.shape == model.duals_.shape
    assert model.ensemble_.weights.shape == (15, n_outputs)
    assert model.predict(X).shape == (200,)
    assert model.feature_importances_.shape == (64,)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", SETS)
def test_the_largest_decision_wins(name, loss):
    X, y = SETS[name]
    model = fit(X, y, loss=loss)
    assert np.array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])


@pytest.mark.parametrize("name", SETS)
def test_decisions_are_inner_products_with_the_codes(name):
    X, y = SETS[name]
    model = fit(X, y)
    codes = simplex_codes(len(model.classes_))
    decision = model.ensemble_.respond(X) @ model.ensemble_.weights + model.ensemble_.intercept
    assert np.allclose(model.decision_function(X), decision @ codes.T, rtol=0, atol=CLOSED_FORM)
    assert np.allclose(model.decision_function(X).sum(axis=1), 0, rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", SETS)
def test_one_stage_a_column_and_the_last_is_the_model(name, loss):
    X, y = SETS[name]
    model = fit(X, y, loss=loss)
    stages, labels = list(model.staged_decision_function(X)), list(model.staged_predict(X))
    assert len(stages) == len(labels) == model.n_columns_
    scale = CLOSED_FORM * np.abs(model.ensemble_.weights).sum()
    assert np.allclose(stages[-1], model.decision_function(X), rtol=0, atol=scale)
    assert np.array_equal(labels[-1], model.predict(X))
    for stage, label in zip(stages, labels, strict=True):
        assert np.array_equal(label, model.classes_[stage.argmax(axis=1)])


@pytest.mark.parametrize("pricing", ["gain", "max"])
def test_stage_k_is_the_optimum_over_k_columns(pricing):
    """Every stage, though it is kept as a step of rank one, is the model that a fit of k columns ends with."""
    X, y = WINES
    model = fit(X, y, C=0.5, pricing=pricing)
    for k, stage in enumerate(model.staged_decision_function(X), start=1):
        shorter = fit(X, y, C=0.5, pricing=pricing, n_estimators=k)
        assert shorter.ensemble_.learners == model.ensemble_.learners[:k]
        assert np.allclose(stage, shorter.decision_function(X), rtol=0, atol=CLOSED_FORM)


LABELS = {
    "text": np.array(["setosa", "versicolor", "virginica"]),
    "objects": np.array(["b", "aa", "c"], dtype=object),
    "integers with gaps": np.array([-7, 3, 1000]),
    "unsigned": np.array([0, 100, 255], dtype=np.uint8),
    "floats": np.array([-2.0, 0.0, 7.0]),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", LABELS)
def test_names_of_labels_do_not_matter(name, loss):
    X, y = FLOWERS
    ascending = np.unique(LABELS[name])
    named = fit(X, ascending[y], loss=loss)
    numbers = fit(X, y, loss=loss)
    assert named.classes_.tolist() == ascending.tolist()
    assert named.classes_.dtype == LABELS[name].dtype
    assert named.decision_function(X).tobytes() == numbers.decision_function(X).tobytes()
    assert np.array_equal(named.predict(X), ascending[numbers.predict(X)])


@pytest.mark.parametrize("loss", LOSSES)
def test_truth_values_are_labels(loss):
    X, y = noisy()
    model = fit_and_check(X, y.astype(bool), loss=loss)
    assert model.classes_.tolist() == [False, True]
    assert model.predict(X).dtype == bool
    assert_same_decisions(model, fit(X, y, loss=loss), X)


def test_pandas_labels():
    X, y = FLOWERS
    names = np.array(["u", "v", "w"])[y]
    plain = fit(X, names)
    for labels in (pd.Series(names), pd.Series(names, dtype="category"), pd.Categorical(names), names.tolist()):
        model = fit(pd.DataFrame(X), labels)
        assert model.classes_.tolist() == ["u", "v", "w"]
        assert model.decision_function(X).tobytes() == plain.decision_function(X).tobytes()
        assert np.array_equal(model.predict(X), plain.predict(X))


@pytest.mark.parametrize("loss", LOSSES)
def test_a_class_of_one_row(loss):
    X, y = FLOWERS
    X, y = np.vstack([X, [20.0, 20.0, 20.0, 20.0]]), np.append(y, 7)
    model = fit_and_check(X, y, loss=loss, C=10.0, n_estimators=60)
    assert model.predict(X[-1:]).tolist() == [7]
    assert model.decision_function(X).shape == (151, 4)


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@pytest.mark.parametrize("loss", LOSSES)
def test_every_row_its_own_class(rng, loss):
    X = rng.normal(size=(25, 4))
    y = rng.permutation(25)
    model = fit_and_check(X, y, loss=loss, C=100.0, n_estimators=500)
    assert np.array_equal(model.predict(X), y)


def test_a_thousand_classes(rng):
    X = rng.normal(size=(2000, 5))
    y = np.arange(2000) % 1000
    X[:, 0] += y
    model = fit_and_check(X, y, n_estimators=12, C=1.0, weak_learner=Stump(max_bins=16))
    assert model.decision_function(X[:5]).shape == (5, 1000)
    assert model.duals_.shape == (2000, 999)
    assert model.score(X, y) > 5 / 1000


@pytest.mark.parametrize("pricing", ["gain", "max"])
def test_more_columns_than_rows(rng, pricing):
    X = rng.normal(size=(30, 60))
    y = np.arange(30) % 3
    model = fit_and_check(X, y, C=1.0, n_estimators=200, pricing=pricing)
    assert model.n_columns_ == 200
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("loss", LOSSES)
def test_features_that_say_nothing_new(loss):
    """Repeated, mirrored, shifted and constant features: the same splits, up to the order of equal ones."""
    X, y = FLOWERS
    wide = np.column_stack([X, X, -X, 2 * X + 1, np.full(len(X), 4.0)])
    options = {"loss": loss, "n_estimators": 10_000, "C": 0.05, "tol": 1e-6}
    plain, same = fit(X, y, **options), fit_and_check(wide, y, **options)
    assert same.certificate_.n_candidates == plain.certificate_.n_candidates
    assert same.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=2 * plain.tol)
    assert all(learner.feature < 4 for learner in same.ensemble_.learners)


@pytest.mark.parametrize("loss", LOSSES)
def test_class_weights_are_sample_weights(rng, loss):
    X, y = SETS["digits"]
    weight = rng.integers(1, 4, len(y)).astype(float)
    factors = {k: 2.0 ** (k % 3) for k in range(1, 10)}
    by_row = weight * np.array([factors.get(k, 1.0) for k in y])
    by_class = fit(X, y, weight, loss=loss, class_weight=factors, C=0.01)
    assert_same_decisions(by_class, fit(X, y, by_row, loss=loss, C=0.01), X)
    assert check_certificate(by_class, X, y, weight).problems == ()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_balanced_class_weights_are_sample_weights(rng, loss, weighted):
    X, y = SETS["iris"]
    X, y = X[20:130], y[20:130]
    weight = rng.integers(1, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    totals = np.bincount(y, weights=weight)
    by_row = weight * (totals.sum() / (3 * totals))[y]
    balanced = fit(X, y, weight, loss=loss, class_weight="balanced", C=0.01)
    explicit = fit(X, y, by_row, loss=loss, C=0.01)
    assert balanced.ensemble_.learners == explicit.ensemble_.learners
    assert np.allclose(balanced.decision_function(X), explicit.decision_function(X), rtol=0, atol=CLOSED_FORM)
    assert check_certificate(balanced, X, y, weight).problems == ()


@pytest.mark.parametrize("loss", ["auto", *LOSSES])
@pytest.mark.parametrize("how", ["sample weights", "class weights", "balanced"])
@pytest.mark.parametrize("gone", [[1, 4], [9, 8, 7, 6, 5, 4, 3, 0]])
def test_a_class_of_no_weight_is_not_there(loss, how, gone):
    X, y = SETS["digits"]
    kept = ~np.isin(y, gone)
    options = {"loss": loss, "n_estimators": 10}
    weight = None if how == "class weights" else kept.astype(float)
    if how == "class weights":
        model = fit(X, y, **options, class_weight=dict.fromkeys(gone, 0.0), C=0.01)
        without = fit(X[kept], y[kept], **options, C=0.01)
    else:
        options["class_weight"] = "balanced" if how == "balanced" else None
        model, without = fit(X, y, weight, **options), fit(X[kept], y[kept], **options)
        assert model.C_ == without.C_
    assert model.classes_.tolist() == without.classes_.tolist() == sorted(set(range(10)) - set(gone))
    assert model.loss_ == without.loss_
    assert_same_decisions(model, without, X)
    assert np.array_equal(model.duals_[kept], without.duals_)
    assert not model.duals_[~kept].any()
    assert check_certificate(model, X, y, weight).problems == ()


@pytest.mark.parametrize("loss", LOSSES)
def test_no_classes_of_any_weight_is_one_sentence(loss):
    X, y = FLOWERS
    with pytest.raises(ValueError, match=r"Two classes.*weight 0.*1 class"):
        fit(X, y, (y == 1).astype(float), loss=loss)
    with pytest.raises(ValueError, match=r"Two classes.*weight 0.*1 class"):
        fit(X, y, loss=loss, class_weight={0: 0.0, 2: 0.0})


@pytest.mark.parametrize("loss", LOSSES)
def test_warm_start_is_one_fit(loss):
    X, y = SETS["digits"]
    model = fit(X, y, loss=loss, warm_start=True, n_estimators=12, tol=TIGHT)
    model.set_params(n_estimators=30).fit(X, y)
    at_once = fit(X, y, loss=loss, n_estimators=30, tol=TIGHT)
    assert model.n_columns_ == len(list(model.staged_predict(X))) == 30
    assert model.n_iter_ == 18
    assert check_certificate(model, X, y).problems == ()
    if loss == "least_squares":  # between rounds the hinge loss is solved loosely: columns may differ
        assert model.ensemble_.learners == at_once.ensemble_.learners
        assert np.allclose(model.decision_function(X), at_once.decision_function(X), rtol=0, atol=CLOSED_FORM)
    assert model.certificate_.primal == pytest.approx(at_once.certificate_.primal, rel=LOOSE_ROUNDS)


@pytest.mark.parametrize(("before", "after"), [(3, 4), (4, 2), (2, 3)])
def test_warm_start_with_other_classes(before, after):
    X, y = SETS["digits"]
    model = fit(X[y < before], y[y < before], loss="least_squares", warm_start=True)
    decision = model.decision_function(X)
    with pytest.raises(ValueError, match=rf"warm_start.*{before - 1} outputs.*{after - 1}"):
        model.set_params(n_estimators=40).fit(X[y < after], y[y < after])
    assert model.classes_.tolist() == list(range(before))
    assert model.decision_function(X).tobytes() == decision.tobytes()


def test_warm_start_with_another_loss():
    X, y = FLOWERS
    model = fit(X, y, warm_start=True)
    with pytest.raises(ValueError, match=r"2 outputs.*3"):
        model.set_params(loss="hinge", n_estimators=40).fit(X, y)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_the_hinge_loss_is_one_against_the_rest(C):
    """All stumps of a small pool taken and solved tightly: each output is the binary problem of its class."""
    X, y = FLOWERS
    X = X.round()
    options = {"loss": "hinge", "C": C, "n_estimators": 10_000, "tol": TIGHT}
    model = fit_and_check(X, y, **options)
    assert model.certificate_.status is Status.OPTIMAL
    binary = [fit(X, y == k, **options) for k in range(3)]
    for decision, own in zip(model.decision_function(X).T, binary, strict=True):
        assert np.abs(decision - own.decision_function(X)).max() <= SVC_DECISION
    assert model.certificate_.primal == pytest.approx(
        sum(own.certificate_.primal for own in binary), rel=SAME_OPTIMUM + POOL_SLACK
    )


def test_the_hinge_loss_is_scikit_learns_svm_of_each_class():
    X, y = WINES
    model = fit(X, y, loss="hinge", C=0.02, n_estimators=20, tol=TIGHT)
    H = model.ensemble_.respond(X).astype(float)
    for k, decision in enumerate(model.decision_function(X).T):
        svc = SVC(kernel="linear", C=0.02, tol=1e-8).fit(H, y == k)
        assert np.abs(decision - svc.decision_function(H)).max() <= SVC_DECISION


def ridge(model, X, target, weight=None):
    """Return scikit-learn's solution over the columns that the model selected."""
    H = model.ensemble_.respond(X).astype(float)
    return Ridge(alpha=1 / model.C_).fit(H, target, sample_weight=weight).predict(H)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("pricing", ["gain", "max"])
@pytest.mark.parametrize("name", SMALL_DATA)
def test_least_squares_for_two_classes_is_ridge(name, pricing, weighted, rng):
    X, y = SMALL_DATA[name]()
    weight = rng.random(len(y)) + 0.1 if weighted else None
    model = fit_and_check(X, y, weight, loss="least_squares", pricing=pricing)
    expected = ridge(model, X, np.where(y > 0, 1.0, -1.0), weight)
    assert np.allclose(model.decision_function(X), expected, rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("pricing", ["gain", "max"])
@pytest.mark.parametrize("name", SETS)
def test_more_classes_are_ridge_on_simplex_codes(name, pricing, weighted, rng):
    X, y = SETS[name]
    weight = rng.random(len(y)) + 0.1 if weighted else None
    model = fit_and_check(X, y, weight, pricing=pricing)
    codes = simplex_codes(len(model.classes_))
    expected = ridge(model, X, codes[y], weight) @ codes.T
    assert np.allclose(model.decision_function(X), expected, rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_importances_are_the_spread_of_each_features_part(loss, weighted, rng):
    """Over all outputs: the root of the summed variances."""
    X, y = WINES
    weight = rng.integers(1, 5, len(y)).astype(float) if weighted else np.ones(len(y))
    model = fit(X, y, weight, loss=loss)
    parts = np.zeros((*X.shape, model.ensemble_.weights.shape[1]))
    for learner, w in zip(model.ensemble_.learners, model.ensemble_.weights, strict=True):
        parts[:, learner.feature] += np.multiply.outer(learner.respond(X), w)
    mean = np.average(parts, axis=0, weights=weight)
    spread = np.sqrt(np.average((parts - mean) ** 2, axis=0, weights=weight).sum(axis=1))
    assert np.allclose(model.feature_importances_, spread / spread.sum(), rtol=0, atol=IMPORTANCE)


def test_constant_features_give_the_heaviest_class():
    X, y = np.full((6, 2), 2.5), np.array([0, 1, 1, 1, 2, 2])
    for loss in LOSSES:
        with pytest.warns(UserWarning, match="constant"):
            model = CGEnsClassifier(loss=loss).fit(X, y)
        assert model.n_columns_ == 0
        assert model.predict(X).tolist() == [1] * 6
        assert check_certificate(model, X, y).problems == ()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [1e-90, 1e-12, 1e-4, 1e4])
def test_any_cost(loss, C):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit_and_check(*SETS["iris"], loss=loss, C=C, n_estimators=10)
    assert model.certificate_.primal > 0
