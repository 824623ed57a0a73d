"""Run to the end, the ensemble *is* the SVM with the kernel of its pool."""

from __future__ import annotations

import numpy as np
import pytest

from cgens import CGEnsClassifier
from cgens.types import Status
from cgens.weak_learners import Stump
from tests.integration.small_data import SMALL_DATA
from tests.reference.naive_hinge import hinge_primal, naive_hinge
from tests.reference.naive_loop import naive_column_generation
from tests.reference.naive_stumps import naive_pool, pool_matrix
from tests.tolerances import CLOSED_FORM, LIBSVM_OBJECTIVE, POOL_SLACK, SVC_DECISION, SVC_OBJECTIVE

TOL = 1e-8


def to_the_end(X, y, C, sample_weight=None, tol=TOL, weak_learner="stump", **options):
    model = CGEnsClassifier(weak_learner, C=C, n_estimators=100_000, tol=tol, n_jobs=1, **options)
    return model.fit(X, y, sample_weight=sample_weight)


def assert_equals_svc(model, X, y, C, weight=None, max_bins=256):
    signs = np.where(y > 0, 1.0, -1.0)
    weight = np.ones(len(y)) if weight is None else weight
    pool = naive_pool(X, weight, max_bins)
    svc = naive_hinge(pool_matrix(pool, len(X)), signs, C * weight)
    certificate = model.certificate_
    assert certificate.status is Status.OPTIMAL
    assert certificate.n_candidates == len(pool)
    assert certificate.primal == pytest.approx(svc.primal, rel=SVC_OBJECTIVE)
    assert certificate.full_relative_gap <= model.tol
    new = X + np.random.default_rng(0).normal(scale=0.3 * X.std(axis=0), size=X.shape)
    for rows in (X, new):
        H = np.column_stack([np.where(rows[:, stump.feature] > stump.threshold, 1.0, -1.0) for stump in pool])
        expected = H @ svc.weights + svc.intercept
        assert np.abs(model.decision_function(rows) - expected).max() <= SVC_DECISION


@pytest.mark.parametrize("C", [0.001, 0.1, 3.0])
@pytest.mark.parametrize("name", SMALL_DATA)
def test_equals_svc_on_the_kernel_of_the_pool(name, C):
    X, y = SMALL_DATA[name]()
    assert_equals_svc(to_the_end(X, y, C), X, y, C)


@pytest.mark.parametrize("name", ["iris", "noisy", "contradictory"])
def test_equals_svc_with_weights(name, rng):
    X, y = SMALL_DATA[name]()
    weight = rng.integers(1, 5, len(y)).astype(float)
    assert_equals_svc(to_the_end(X, y, 0.05, weight), X, y, 0.05, weight)


@pytest.mark.parametrize("max_bins", [2, 4, 16])
def test_equals_svc_with_bins(max_bins):
    X, y = SMALL_DATA["noisy"]()
    model = to_the_end(X, y, 0.1, weak_learner=Stump(max_bins))
    assert_equals_svc(model, X, y, 0.1, max_bins=max_bins)


@pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-3, 1e-5])
@pytest.mark.parametrize("name", SMALL_DATA)
def test_certificate_of_the_pool_closes_to_tol(name, tol):
    """At any tolerance: the promise is the gap that was asked for, and it is kept for all stumps there are."""
    X, y = SMALL_DATA[name]()
    model = to_the_end(X, y, "scale", tol=tol)
    certificate = model.certificate_
    assert certificate.status is Status.OPTIMAL
    assert certificate.relative_gap <= tol
    assert certificate.full_relative_gap <= tol + POOL_SLACK
    signs = np.where(y > 0, 1.0, -1.0)
    svc = naive_hinge(pool_matrix(naive_pool(X), len(X)), signs, np.full(len(y), model.C_))
    assert certificate.full_lower_bound <= svc.primal * (1 + LIBSVM_OBJECTIVE)
    assert certificate.primal <= svc.primal / (1 - tol) * (1 + LIBSVM_OBJECTIVE)


@pytest.mark.parametrize("n_columns", [1, 5, 20])
@pytest.mark.parametrize("name", SMALL_DATA)
def test_on_the_way_it_is_the_svm_over_the_selected_columns(name, n_columns):
    X, y = SMALL_DATA[name]()
    model = CGEnsClassifier(C=0.1, n_estimators=n_columns, tol=TOL, n_jobs=1).fit(X, y)
    H, signs = model.ensemble_.respond(X).astype(float), np.where(y > 0, 1.0, -1.0)
    bound = np.full(len(y), 0.1)
    svc = naive_hinge(H, signs, bound)
    assert model.certificate_.primal == pytest.approx(svc.primal, rel=LIBSVM_OBJECTIVE)
    weights, intercept = model.ensemble_.weights[:, 0], model.ensemble_.intercept[0]
    assert model.certificate_.primal == pytest.approx(
        hinge_primal(H, signs, bound, weights, intercept), rel=CLOSED_FORM
    )


@pytest.mark.parametrize("name", ["iris", "contradictory"])
def test_equals_column_generation_with_naive_parts(name):
    """One page of obvious code selects from the same pool and arrives at the same value."""
    X, y = SMALL_DATA[name]()
    signs = np.where(y > 0, 1.0, -1.0)
    naive = naive_column_generation(X, signs, np.full(len(y), 0.02))
    model = to_the_end(X, y, 0.02)
    assert naive.converged
    assert model.certificate_.primal == pytest.approx(naive.solution.primal, rel=LIBSVM_OBJECTIVE)
    first = model.ensemble_.learners[0]
    assert (first.feature, first.threshold) == naive.stumps[0].key
