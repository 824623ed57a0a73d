"""check_certificate agrees with honest models and objects to tampered ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine, make_multilabel_classification

from cgens import CGEnsClassifier, CGEnsRegressor
from cgens.inspection import check_certificate
from cgens.weak_learners import Stump
from tests.integration.small_data import SMALL_DATA, breast_cancer, noisy
from tests.tolerances import CLOSED_FORM, NEGATIVE_GAP, POOL_SLACK


def with_copies(X, y, rng):
    rows = rng.integers(0, len(y), 2 * len(y))
    return X[rows], y[rows], None


def with_integer_weights(X, y, rng):
    return X, y, rng.integers(1, 6, len(y)).astype(float)


def with_real_weights(X, y, rng):
    return X, y, rng.random(len(y)) + 0.01


def with_zero_weights(X, y, rng):
    weight = rng.integers(0, 3, len(y)).astype(float)
    weight[np.unique(y, axis=0, return_index=True)[1]] = 1.0  # one of each class stays
    return X, y, weight


def with_copies_and_weights(X, y, rng):
    X, y, _ = with_copies(X, y, rng)
    return with_zero_weights(X, y, rng)


def plain(X, y, rng):
    return X, y, None


SAMPLES = [plain, with_copies, with_integer_weights, with_real_weights, with_zero_weights, with_copies_and_weights]
OPTIONS = {
    "default": {},
    "large C": {"C": 10.0, "tol": 1e-6},
    "class weights": {"class_weight": {0: 3.0, 1: 0.5}},
    "one class weight": {"class_weight": {1: 0.1}},
    "balanced": {"class_weight": "balanced"},
    "eight bins": {"weak_learner": Stump(max_bins=8)},
    "eight bins, balanced": {"weak_learner": Stump(max_bins=8), "class_weight": "balanced"},
    "every midpoint": {"weak_learner": Stump(max_bins=None)},
    "one column": {"n_estimators": 1},
    "to the end": {"n_estimators": 100_000},
}


def fit(X, y, weight=None, **options):
    return CGEnsClassifier(**{"n_estimators": 30, "n_jobs": 1, **options}).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("option", OPTIONS)
def test_agrees(option, sample, rng):
    X, y, weight = sample(*noisy(), rng)
    model = fit(X, y, weight, **OPTIONS[option])
    check = check_certificate(model, X, y, weight)
    assert check.problems == ()
    assert check.agrees
    certificate = model.certificate_
    for name in ("primal", "dual", "full_lower_bound"):
        assert getattr(check, name) == pytest.approx(getattr(certificate, name), rel=CLOSED_FORM)
    assert check.n_candidates == certificate.n_candidates
    assert certificate.relative_gap <= model.tol


def wines():
    X, y = load_wine(return_X_y=True)
    return X[::2, :5], y[::2]


def topics():
    return make_multilabel_classification(n_samples=80, n_features=6, n_classes=3, random_state=3)


def numbers():
    X, _ = noisy()
    return X, np.sin(X[:, 0]) + X[:, 1] ** 2


def columns_of_numbers():
    X, y = numbers()
    return X, np.column_stack([y, 1e3 * X[:, 2], y.round()])


# Every loss, every way of pricing, one output and several.
KINDS = {
    "two classes, hinge": (CGEnsClassifier(), noisy),
    "two classes, gain": (CGEnsClassifier(loss="least_squares", pricing="gain"), noisy),
    "two classes, max": (CGEnsClassifier(loss="least_squares", pricing="max"), noisy),
    "classes, hinge": (CGEnsClassifier(loss="hinge"), wines),
    "classes, gain": (CGEnsClassifier(loss="least_squares", pricing="gain"), wines),
    "classes, max": (CGEnsClassifier(loss="least_squares", pricing="max"), wines),
    "labels, hinge": (CGEnsClassifier(loss="hinge"), topics),
    "labels, gain": (CGEnsClassifier(pricing="gain"), topics),
    "labels, max": (CGEnsClassifier(pricing="max"), topics),
    "numbers, gain": (CGEnsRegressor(pricing="gain"), numbers),
    "numbers, max": (CGEnsRegressor(pricing="max"), numbers),
    "columns of numbers, gain": (CGEnsRegressor(pricing="gain"), columns_of_numbers),
    "columns of numbers, max": (CGEnsRegressor(pricing="max"), columns_of_numbers),
}
LEAST_SQUARES = [name for name in KINDS if "hinge" not in name]


def fit_kind(kind, X, y, weight=None, **options):
    return clone(KINDS[kind][0]).set_params(n_jobs=1, **options).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("sample", [plain, with_real_weights, with_copies_and_weights])
@pytest.mark.parametrize("kind", KINDS)
def test_agrees_for_every_loss_and_pricing(kind, sample, rng):
    X, y, weight = sample(*KINDS[kind][1](), rng)
    for options in (
        {},
        {"C": 10.0, "tol": 1e-6},
        {"C": 1e-6},
        {"weak_learner": Stump(8)},
        {"weak_learner": Stump(None)},
    ):
        model = fit_kind(kind, X, y, weight, n_estimators=20, **options)
        check = check_certificate(model, X, y, weight)
        assert check.problems == ()
        assert check.n_candidates == model.certificate_.n_candidates
        assert model.certificate_.relative_gap <= model.tol
        assert np.all(model.trace_.relative_gap >= -NEGATIVE_GAP)
        assert model.certificate_.full_relative_gap >= -NEGATIVE_GAP


@pytest.mark.parametrize("kind", KINDS)
def test_agrees_at_the_end_of_the_pool(kind):
    """No column is missing: the bound of the pool meets the objective."""
    X, y = KINDS[kind][1]()
    model = fit_kind(kind, X[:, :3], y, C=0.1, tol=1e-6, n_estimators=100_000)
    assert check_certificate(model, X[:, :3], y).problems == ()
    assert model.certificate_.status == "optimal"
    assert -NEGATIVE_GAP <= model.certificate_.full_relative_gap <= model.tol + POOL_SLACK


@pytest.mark.parametrize("kind", ["classes, hinge", "classes, gain", "classes, max"])
@pytest.mark.parametrize("class_weight", [{0: 3.0, 2: 0.5}, "balanced", {1: 0.0}])
def test_agrees_with_weights_of_many_classes(kind, class_weight, rng):
    X, y, weight = with_zero_weights(*wines(), rng)
    model = fit_kind(kind, X, y, weight, class_weight=class_weight, n_estimators=20)
    assert check_certificate(model, X, y, weight).problems == ()


@pytest.mark.parametrize("name", SMALL_DATA)
def test_agrees_on_all_data(name):
    X, y = SMALL_DATA[name]()
    assert check_certificate(fit(X, y), X, y).problems == ()


@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [False, True], [3.0, 8.0]])
def test_agrees_with_other_labels(labels):
    X, y = noisy()
    named = np.array(labels)[y]
    assert check_certificate(fit(X, named, class_weight={labels[1]: 2.0}), X, named).problems == ()


def test_agrees_in_float32():
    X, y = noisy()
    single = X.astype(np.float32)
    assert check_certificate(fit(single, y), single, y).problems == ()


def test_agrees_with_lists():
    X, y = noisy()
    assert check_certificate(fit(X.tolist(), y.tolist()), X.tolist(), y.tolist()).agrees


def change_duals(model):
    model.duals_ = model.duals_ * 1.01


def unbalance_duals(model):
    model.duals_[np.argmax(model.duals_)] *= 0.5


def swap_duals(model):
    """Still in the box and still balanced, but of other rows: the dual value is another."""
    duals = model.duals_.copy()
    positive = np.flatnonzero(duals > 0)
    duals[positive] = np.roll(duals[positive], 1)
    assert not np.array_equal(duals, model.duals_)
    model.duals_ = duals


def change_weights(model):
    weights = model.ensemble_.weights.copy()
    weights[0] *= 1.001
    model.ensemble_ = replace(model.ensemble_, weights=weights)


def change_intercept(model):
    model.ensemble_ = replace(model.ensemble_, intercept=model.ensemble_.intercept + 0.01)


def change_learner(model):
    learners = list(model.ensemble_.learners)
    learners[0] = replace(learners[0], threshold=learners[0].threshold + 1.0)
    model.ensemble_ = replace(model.ensemble_, learners=tuple(learners))


def reshape_bound_duals(model):
    """Scaling alone would be fine: the bound is the best over all scales of its duals."""
    rng = np.random.default_rng(0)
    duals = model.bound_duals_.copy()
    for own in (np.flatnonzero(duals > 0)[::2], np.flatnonzero(duals < 0)[::2]):
        duals[own] *= rng.permutation(np.linspace(0.2, 0.9, len(own)))
    duals[duals > 0] *= min(1.0, -duals[duals < 0].sum() / duals[duals > 0].sum())
    duals[duals < 0] *= min(1.0, -duals[duals > 0].sum() / duals[duals < 0].sum())
    model.bound_duals_ = duals


def change_cost(model):
    model.C_ = model.C_ * 0.5


def change_certificate(**changes):
    def change(model):
        values = {name: getattr(model.certificate_, name) for name in changes}
        model.certificate_ = replace(model.certificate_, **{name: changes[name](values[name]) for name in changes})

    return change


TAMPERINGS = {
    "duals": change_duals,
    "unbalanced duals": unbalance_duals,
    "swapped duals": swap_duals,
    "weights": change_weights,
    "intercept": change_intercept,
    "learner": change_learner,
    "bound duals": reshape_bound_duals,
    "C": change_cost,
    "primal": change_certificate(primal=lambda value: value * 0.999),
    "dual": change_certificate(dual=lambda value: value * 1.001),
    "relative gap": change_certificate(relative_gap=lambda value: value + 1e-6),
    "number of candidates": change_certificate(n_candidates=lambda value: value + 1),
    "largest price": change_certificate(max_price=lambda value: value * 0.9),
    "bound of the pool": change_certificate(full_lower_bound=lambda value: value * 1.001),
    "gap of the pool": change_certificate(full_relative_gap=lambda value: value / 2),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_objects_to_tampering(name):
    X, y = breast_cancer(200)
    model = fit(X, y, C=0.05)
    assert check_certificate(model, X, y).agrees
    TAMPERINGS[name](model)
    check = check_certificate(model, X, y)
    assert not check.agrees
    assert check.problems
    assert all(sentence.endswith(".") for sentence in check.problems)


def permute_rows(name):
    """Still balanced, but the duals of other rows."""

    def change(model):
        setattr(model, name, np.roll(getattr(model, name), 1, axis=0))

    return change


def unbalance_one_row(model):
    duals = model.duals_.copy()
    duals[np.argmax(np.abs(duals).reshape(len(duals), -1).sum(axis=1))] *= 0.5
    model.duals_ = duals


def negate_weight(model):
    weights = model.ensemble_.weights.copy()
    weights[0] *= -1
    model.ensemble_ = replace(model.ensemble_, weights=weights)


def change_bound_duals(model):
    """Twice the duals of the first rows, less the mean of what that adds."""
    duals = model.bound_duals_.copy()
    duals[:20] *= 2
    model.bound_duals_ = duals - duals.mean(axis=0)


LEAST_SQUARES_TAMPERINGS = {
    **{name: TAMPERINGS[name] for name in TAMPERINGS if "duals" not in name},
    "learner": negate_weight,
    "duals": change_duals,
    "unbalanced duals": unbalance_one_row,
    "duals of other rows": permute_rows("duals_"),
    "bound duals of other rows": permute_rows("bound_duals_"),
    "bound duals": change_bound_duals,
}


@pytest.mark.parametrize("kind", ["two classes, gain", "classes, max", "numbers, max", "columns of numbers, gain"])
@pytest.mark.parametrize("name", LEAST_SQUARES_TAMPERINGS)
def test_objects_to_tampering_with_least_squares(name, kind):
    X, y = KINDS[kind][1]()
    model = fit_kind(kind, X, y, C=0.05, n_estimators=20)
    assert check_certificate(model, X, y).agrees
    LEAST_SQUARES_TAMPERINGS[name](model)
    check = check_certificate(model, X, y)
    assert check.problems
    assert all(sentence.endswith(".") for sentence in check.problems)


@pytest.mark.parametrize("kind", LEAST_SQUARES)
def test_a_multiple_of_the_bound_duals_proves_the_same(kind):
    """The bound is the best over all scales of its duals: what is scaled is no lie."""
    X, y = KINDS[kind][1]()
    model = fit_kind(kind, X, y, n_estimators=20)
    model.bound_duals_ = 0.25 * model.bound_duals_
    assert check_certificate(model, X, y).agrees


@pytest.mark.parametrize("kind", KINDS)
def test_objects_to_other_data_for_every_loss(kind):
    X, y = KINDS[kind][1]()
    model = fit_kind(kind, X, y, n_estimators=20)
    assert check_certificate(model, X, y[::-1]).problems
    assert check_certificate(model, X[::-1], y).problems
    assert check_certificate(model, X, y, np.arange(1.0, len(y) + 1)).problems


def test_objects_to_other_data():
    X, y = noisy()
    model = fit(X, y)
    assert check_certificate(model, X, 1 - y).problems
    assert check_certificate(model, X[::-1], y).problems
    assert check_certificate(model, X, y, np.arange(1.0, len(y) + 1)).problems


@pytest.mark.parametrize("C", ["scale", 1e-3, 1.0, 100.0])
@pytest.mark.parametrize("name", SMALL_DATA)
def test_gaps_are_never_negative(name, C):
    X, y = SMALL_DATA[name]()
    model = fit(X, y, C=C, n_estimators=60)
    assert np.all(model.trace_.relative_gap >= -NEGATIVE_GAP)
    assert model.certificate_.full_relative_gap >= -NEGATIVE_GAP


def test_relative_gap_and_bounds_belong_together():
    X, y = noisy()
    certificate = fit(X, y).certificate_
    assert certificate.relative_gap == (certificate.primal - certificate.dual) / certificate.primal
    gap = (certificate.primal - certificate.full_lower_bound) / certificate.primal
    assert certificate.full_relative_gap == gap
    assert certificate.scope == "pool"
