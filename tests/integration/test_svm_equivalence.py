"""Solved to the end over a fixed pool, the ensemble *is* the SVM with the kernel of that pool."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from cgens import CGEnsClassifier, CGEnsRegressor
from cgens.types import Status
from cgens.weak_learners import Box, Fourier, Linear, Mixture, Perceptron, Stump
from tests.integration.small_data import SMALL_DATA, flowers, noisy, topics
from tests.reference.naive_hinge import hinge_primal, naive_hinge
from tests.reference.naive_loop import naive_column_generation
from tests.reference.naive_stumps import naive_pool
from tests.tolerances import (
    CLOSED_FORM,
    LIBSVM_OBJECTIVE,
    POOL_SLACK,
    SAME_OPTIMUM,
    SVC_DECISION,
    SVC_OBJECTIVE,
    TIGHT,
)

TOL = 1e-8
COSINES = Fourier(n_candidates=80, standardize=True, learn=False)
PERCEPTRONS = Perceptron(n_candidates=80, standardize=True, learn=False)

#: Random pools; that of stumps is enumerated by naive code.
DRAWN = {
    "Fourier": COSINES,
    "Fourier, few inputs": Fourier([0.1, 1.0], 80, n_inputs=[1, 2], standardize=True, learn=False),
    "Perceptron": PERCEPTRONS,
    "Box": Box(n_candidates=80),
    "Linear": Linear(),
    "Fourier and Linear": Mixture([COSINES, Linear()]),
    "Perceptron and Box, each on its columns": Mixture([(PERCEPTRONS, [0, 1]), (Box(n_candidates=80), [1, 2])]),
}


def load(name):
    """Return a data set with at most four features, so that its pool of stumps is small."""
    X, y = SMALL_DATA[name]()
    return X[:, :4], y


def to_the_end(family, X, y, C, weight=None, kind=CGEnsClassifier, **options):
    options = {"tol": TOL, "random_state": 3, "n_jobs": 1, **options}
    if kind is CGEnsClassifier:
        options = {"loss": "hinge", **options}
    return kind(family, C=C, n_estimators=100_000, **options).fit(X, y, sample_weight=weight)


def drawn_pool(family, X, weight=None):
    """Return a function of rows to responses of the whole pool.

    With a tiny C the residuals stay what they are, so that no column comes to be worth nothing: all of them are taken.
    """
    y = np.random.default_rng(0).normal(size=len(X))
    everything = to_the_end(family, X, y, 1e-9, weight, CGEnsRegressor)
    assert everything.n_columns_ == everything.certificate_.n_candidates
    return everything.ensemble_.respond


def stump_pool(X, weight=None, max_bins=256):
    """Return the same for stumps, by naive code."""
    pool = naive_pool(X, np.ones(len(X)) if weight is None else weight, max_bins)
    features, thresholds = np.array([own.feature for own in pool]), np.array([own.threshold for own in pool])
    return lambda rows: np.where(rows[:, features] > thresholds, 1.0, -1.0)


def assert_equals_svc(model, respond, X, y, C, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    svc = naive_hinge(respond(X).astype(float), np.where(y > 0, 1.0, -1.0), C * weight)
    certificate = model.certificate_
    assert certificate.status is Status.OPTIMAL
    assert certificate.scope == "pool"
    assert certificate.n_candidates == len(svc.weights)
    # LIBSVM keeps kernels in float32, exact for responses of +-1 only: its dual value is sharp, its primal less so.
    assert certificate.primal == pytest.approx(svc.dual, rel=SVC_OBJECTIVE)
    assert certificate.full_relative_gap <= model.tol + POOL_SLACK
    new = X + np.random.default_rng(0).normal(scale=0.3 * X.std(axis=0), size=X.shape)
    for rows in (X, new):
        expected = respond(rows).astype(float) @ svc.weights + svc.intercept
        assert np.abs(model.decision_function(rows) - expected).max() <= SVC_DECISION


@pytest.mark.parametrize("C", [0.003, 0.1, 3.0])
@pytest.mark.parametrize("name", DRAWN)
def test_every_drawn_pool(name, C, rng):
    """On one data set each, in turn."""
    X, y = SMALL_DATA[["breast cancer", "noisy", "wine"][(list(DRAWN).index(name) + int(C)) % 3]]()
    for weight in (None, rng.random(len(y)) + 0.5):  # not integers, with which the bias may not be unique
        model = to_the_end(DRAWN[name], X, y, C, weight)
        assert_equals_svc(model, drawn_pool(DRAWN[name], X, weight), X, y, C, weight)


@pytest.mark.parametrize("C", [0.001, 0.1, 3.0])
@pytest.mark.parametrize("name", SMALL_DATA)
def test_stumps(name, C, rng):
    X, y = load(name)
    for weight in (None, rng.random(len(y)) + 0.5):  # not integers, with which the bias may not be unique
        assert_equals_svc(to_the_end("stump", X, y, C, weight), stump_pool(X, weight), X, y, C, weight)


@pytest.mark.parametrize("max_bins", [2, 4, 16])
def test_stumps_with_few_bins(max_bins):
    X, y = noisy()
    assert_equals_svc(to_the_end(Stump(max_bins), X, y, 0.1), stump_pool(X, max_bins=max_bins), X, y, 0.1)


@cache
def optimum_over_all_stumps(name, C):
    X, y = load(name)
    return naive_hinge(stump_pool(X)(X), np.where(y > 0, 1.0, -1.0), np.full(len(y), C)).primal


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-5])
@pytest.mark.parametrize("name", SMALL_DATA)
def test_the_certificate_of_the_pool_closes_to_tol(name, tol):
    """At any tolerance: the gap holds for all stumps, not only for the selected ones."""
    model = to_the_end("stump", *load(name), "scale", tol=tol)
    certificate, optimum = model.certificate_, optimum_over_all_stumps(name, model.C_)
    assert certificate.status is Status.OPTIMAL
    assert certificate.relative_gap <= tol
    assert certificate.full_relative_gap <= tol + POOL_SLACK
    assert certificate.full_lower_bound <= optimum * (1 + LIBSVM_OBJECTIVE)
    assert certificate.primal <= optimum / (1 - tol) * (1 + LIBSVM_OBJECTIVE)


@pytest.mark.parametrize("n_columns", [1, 5, 20])
@pytest.mark.parametrize("name", SMALL_DATA)
def test_every_model_is_the_svm_over_the_selected_columns(name, n_columns):
    X, y = SMALL_DATA[name]()
    model = CGEnsClassifier(loss="hinge", C=0.1, n_estimators=n_columns, tol=TOL, n_jobs=1).fit(X, y)
    H, signs = model.ensemble_.respond(X).astype(float), np.where(y > 0, 1.0, -1.0)
    bound = np.full(len(y), 0.1)
    assert model.certificate_.primal == pytest.approx(naive_hinge(H, signs, bound).primal, rel=LIBSVM_OBJECTIVE)
    own = hinge_primal(H, signs, bound, model.ensemble_.weights[:, 0], model.ensemble_.intercept[0])
    assert model.certificate_.primal == pytest.approx(own, rel=CLOSED_FORM)


@pytest.mark.parametrize("name", ["iris", "contradictory"])
def test_equals_column_generation_with_naive_parts(name):
    """One page of simple code selects from the same pool and reaches the same objective."""
    X, y = SMALL_DATA[name]()
    naive = naive_column_generation(X, np.where(y > 0, 1.0, -1.0), np.full(len(y), 0.02))
    model = to_the_end("stump", X, y, 0.02)
    assert naive.converged
    assert model.certificate_.primal == pytest.approx(naive.solution.primal, rel=LIBSVM_OBJECTIVE)
    first = model.ensemble_.learners[0]
    assert (first.feature, first.threshold) == naive.stumps[0].key


def few_flowers():
    X, y = flowers()
    return X.round(), np.eye(3, dtype=int)[y], y


def few_topics():
    X, y = topics()
    return X[:, :4], y, y


@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("data", [few_flowers, few_topics])
def test_several_outputs_are_one_problem_each(data, C):
    """Over all stumps of a small pool, solved tightly: one problem per class against the rest, or per label."""
    X, indicator, y = data()
    model = to_the_end("stump", X, y, C, loss="hinge", tol=TIGHT)
    assert model.certificate_.status is Status.OPTIMAL
    alone = [to_the_end("stump", X, own, C, tol=TIGHT) for own in indicator.T]
    for decision, own in zip(model.decision_function(X).T, alone, strict=True):
        assert np.abs(decision - own.decision_function(X)).max() <= SVC_DECISION
    total = sum(own.certificate_.primal for own in alone)
    assert model.certificate_.primal == pytest.approx(total, rel=SAME_OPTIMUM + POOL_SLACK)


@pytest.mark.parametrize("name", DRAWN)
def test_least_squares_over_the_whole_pool_is_ridge_regression(name):
    """At the end all columns of the pool may be in the model: W solves (H'CH + 1) W = H'Cy with centred H and y."""
    X, _ = noisy()
    y = np.sin(X[:, 0]) + X[:, 1]
    model = to_the_end(DRAWN[name], X, y, 0.02, kind=CGEnsRegressor)
    H = drawn_pool(DRAWN[name], X)(X).astype(float)
    centred = H - H.mean(axis=0)
    weights = np.linalg.solve(centred.T @ centred + np.eye(len(H.T)) / 0.02, centred.T @ (y - y.mean()))
    expected = centred @ weights + y.mean()
    misses = y - expected
    primal = 0.5 * weights @ weights + 0.01 * misses @ misses
    assert model.certificate_.status is Status.OPTIMAL
    assert model.certificate_.primal == pytest.approx(primal, rel=SVC_OBJECTIVE)
    assert model.certificate_.full_lower_bound <= primal * (1 + CLOSED_FORM)
    assert np.abs(model.predict(X) - expected).max() <= SVC_DECISION
