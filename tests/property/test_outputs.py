"""Several outputs and the closed form of least squares: the same bits whatever the rows' order, copies and threads."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from cgens import CGEnsClassifier, CGEnsRegressor, _core
from cgens.inspection import check_certificate
from cgens.weak_learners import Stump
from tests.property.problems import Problem, assert_same_model, costs, decide, problems
from tests.tolerances import CLOSED_FORM, NEGATIVE_GAP

pytestmark = pytest.mark.filterwarnings("ignore:No weak learner tells the")


def scores(problem: Problem) -> np.ndarray:
    """Return a number a row that the features say something about."""
    return problem.X.sum(axis=1) + problem.rng.normal(scale=0.7, size=len(problem.y))


def classes(problem: Problem, n_classes: int = 4) -> np.ndarray:
    ranks = scores(problem).argsort().argsort()
    return ranks * n_classes // len(ranks)


def labels(problem: Problem) -> np.ndarray:
    ranks = scores(problem).argsort().argsort()
    return np.column_stack([problem.y, ranks % 2, 2 * ranks < len(ranks)]).astype(int)


def numbers(problem: Problem) -> np.ndarray:
    return scores(problem)


def counts(problem: Problem) -> np.ndarray:
    """Return few distinct numbers: many rows are the same with their target."""
    return np.round(scores(problem)) + problem.y


def two_columns(problem: Problem) -> np.ndarray:
    return np.column_stack([counts(problem), np.cos(problem.X[:, 0]) + problem.y])


LEAST_SQUARES = {
    "classes": (CGEnsClassifier(), classes),
    "classes, max": (CGEnsClassifier(pricing="max"), classes),
    "two classes": (CGEnsClassifier(loss="least_squares"), lambda problem: problem.y),
    "labels": (CGEnsClassifier(), labels),
    "numbers": (CGEnsRegressor(pricing="max"), numbers),
    "counts": (CGEnsRegressor(), counts),
    "two columns": (CGEnsRegressor(), two_columns),
    "two columns, max": (CGEnsRegressor(pricing="max"), two_columns),
}
MODELS = {
    **LEAST_SQUARES,
    "one against the rest": (CGEnsClassifier(loss="hinge"), classes),
}
every_model = pytest.mark.parametrize("name", MODELS)
few = settings(max_examples=8)  # of every model


def prepare(name, problem, **options):
    """Return a function that fits this model to rows of X and y, and the problem's target."""
    estimator, target = MODELS[name]
    options = {"n_estimators": 15, "n_jobs": 1, **options}

    def fit(X, y, weight=None, **more):
        return clone(estimator).set_params(**{**options, **more}).fit(X, y, sample_weight=weight)

    return fit, target(problem)


@every_model
@few
@given(problem=problems(), C=costs, max_bins=st.sampled_from([256, 4]))
def test_weights_are_copies(name, problem, C, max_bins):
    copies = np.repeat(np.arange(len(problem.y)), problem.weight.astype(int))
    fit, y = prepare(name, problem, C=C, weak_learner=Stump(max_bins))
    weighted, repeated = fit(problem.X, y, problem.weight), fit(problem.X[copies], y[copies])
    assert weighted.C_ == repeated.C_
    assert_same_model(weighted, repeated, problem.X)


@every_model
@few
@given(problem=problems(), C=costs)
def test_row_order_does_not_matter(name, problem, C):
    order = problem.rng.permutation(len(problem.y))
    fit, y = prepare(name, problem, C=C)
    straight = fit(problem.X, y, problem.weight)
    shuffled = fit(problem.X[order], y[order], problem.weight[order])
    assert_same_model(straight, shuffled, problem.X)
    assert np.array_equal(straight.duals_[order], shuffled.duals_)
    assert np.array_equal(straight.feature_importances_, shuffled.feature_importances_)


@every_model
@few
@given(problem=problems(), C=costs)
def test_row_order_does_not_matter_with_real_weights(name, problem, C):
    order = problem.rng.permutation(len(problem.y))
    weight = problem.weight * problem.rng.random(len(problem.y))
    fit, y = prepare(name, problem, C=C)
    straight, shuffled = fit(problem.X, y, weight), fit(problem.X[order], y[order], weight[order])
    assert straight.C_ == shuffled.C_
    assert_same_model(straight, shuffled, problem.X)


@every_model
@few
@given(problem=problems(), C=costs)
def test_rows_of_zero_weight_are_not_there(name, problem, C):
    weight = np.where(problem.rng.random(len(problem.y)) < 0.3, 0.0, problem.weight)
    fit, y = prepare(name, problem, C=C)
    weight[np.unique(classes(problem), return_index=True)[1]] = 1.0  # one of each class stays
    weight[:2] = 1.0
    kept = weight > 0
    with_them, without = fit(problem.X, y, weight), fit(problem.X[kept], y[kept], weight[kept])
    assert_same_model(with_them, without, problem.X)
    assert np.array_equal(with_them.duals_[kept], without.duals_)
    assert not with_them.duals_[~kept].any()


@every_model
@few
@given(problem=problems(), C=costs, max_bins=st.sampled_from([256, None, 3]))
def test_threads_do_not_matter(name, problem, C, max_bins):
    fit, y = prepare(name, problem, C=C, weak_learner=Stump(max_bins))
    one, two = fit(problem.X, y, problem.weight), fit(problem.X, y, problem.weight, n_jobs=2)
    assert_same_model(one, two, problem.X)
    assert np.array_equal(one.duals_, two.duals_)
    assert np.array_equal(one.trace_.primal, two.trace_.primal)
    assert np.array_equal(one.trace_.full_lower_bound, two.trace_.full_lower_bound)


@pytest.mark.parametrize("name", ["classes", "classes, max", "one against the rest", "counts", "two columns"])
def test_threads_do_not_matter_on_a_larger_table(name, rng):
    """Small work is done by one thread. Here every parallel region has work for three."""
    X = np.round(rng.normal(size=(6000, 40)), 1) * (rng.random((6000, 40)) < 0.8)
    fit, y = prepare(name, Problem(X, (X[:, 0] > 0).astype(int), np.ones(6000), 1), n_estimators=60)
    models = [fit(X, y, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    for other in models[1:]:
        assert_same_model(models[0], other, X)
        assert np.array_equal(models[0].duals_, other.duals_)
        assert np.array_equal(models[0].trace_.full_lower_bound, other.trace_.full_lower_bound)


@every_model
@few
@given(problem=problems(), C=costs)
def test_simd_level_does_not_matter(name, problem, C, restore_simd_level):
    fit, y = prepare(name, problem, C=C, n_estimators=30)
    models = []
    for level in _core.simd_levels():
        _core.force_simd_level(level)
        models.append(fit(problem.X, y, problem.weight))
    for other in models[1:]:
        assert_same_model(models[0], other, problem.X)
        assert np.array_equal(models[0].duals_, other.duals_)


@every_model
@few
@given(problem=problems())
def test_memory_order_and_precision_do_not_matter(name, problem):
    single = problem.X.astype(np.float32)
    X = single.astype(np.float64)
    fit, y = prepare(name, problem)
    plain = fit(X, y)
    wide = np.repeat(y, 2, axis=0)[::2]
    for same_X, same_y in ((np.asfortranarray(X), y), (single, y), (X, wide), (X[::-1].copy()[::-1], y)):
        assert_same_model(plain, fit(same_X, same_y), X)


@every_model
@few
@given(problem=problems(), C=st.sampled_from([0.1, 5.0]))
def test_weights_times_c_is_what_counts(name, problem, C):
    fit, y = prepare(name, problem)
    by_weight, by_cost = fit(problem.X, y, problem.weight * 4, C=C), fit(problem.X, y, problem.weight, C=4 * C)
    assert_same_model(by_weight, by_cost, problem.X)


@every_model
@few
@given(problem=problems())
def test_input_is_left_alone(name, problem):
    fit, y = prepare(name, problem)
    X, target, weight = problem.X.copy(), y.copy(), problem.weight.copy()
    decide(fit(X, target, weight), X)
    assert np.array_equal(X, problem.X)
    assert np.array_equal(target, y)
    assert np.array_equal(weight, problem.weight)


@every_model
@few
@given(problem=problems(), C=costs, n_columns=st.sampled_from([1, 15, 1000]))
def test_certificates_hold(name, problem, C, n_columns):
    fit, y = prepare(name, problem, C=C, n_estimators=n_columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fit(problem.X, y, problem.weight)
    assert check_certificate(model, problem.X, y, problem.weight).problems == ()
    assert np.all(model.trace_.relative_gap >= -NEGATIVE_GAP)
    assert model.certificate_.full_relative_gap >= -NEGATIVE_GAP
    assert model.certificate_.relative_gap <= model.tol


@pytest.mark.parametrize("name", LEAST_SQUARES)
@few
@given(problem=problems(), C=costs)
def test_every_column_lowers_the_objective(name, problem, C):
    """And the last stage is the model, though stages are made of steps of rank one."""
    fit, y = prepare(name, problem, C=C)
    model = fit(problem.X, y, problem.weight)
    primal = model.trace_.primal
    assert np.all(np.diff(primal) <= NEGATIVE_GAP * primal[0])
    stages = list(model.ensemble_.staged(problem.X))
    expected = model.ensemble_.decision(problem.X)
    assert np.allclose(stages[-1], expected, rtol=0, atol=CLOSED_FORM * max(1.0, np.abs(expected).max()))
