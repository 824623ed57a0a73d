"""Run to the end over a fixed pool of any family, the ensemble *is* the SVM with the kernel of that pool."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils import check_random_state

from cgens import CGEnsClassifier, CGEnsRegressor
from cgens.sample_order import SampleOrder
from cgens.types import Sample, Status
from cgens.weak_learners import Box, Fourier, Linear, Mixture, Perceptron
from tests.integration.small_data import SMALL_DATA, noisy
from tests.reference.naive_hinge import naive_hinge
from tests.tolerances import CLOSED_FORM, POOL_SLACK, SVC_DECISION, SVC_OBJECTIVE

TOL = 1e-8

COSINES = Fourier(n_candidates=150, standardize=True, learn=False)
PERCEPTRONS = Perceptron(n_candidates=150, standardize=True, learn=False)

FAMILIES = {
    "Fourier": COSINES,
    "Fourier of few inputs": Fourier([0.1, 1.0], 150, n_inputs=[1, 2], standardize=True, learn=False),
    "Perceptron": PERCEPTRONS,
    "Box": Box(n_candidates=150),
    "Linear": Linear(),
    "Fourier and Linear": Mixture([COSINES, Linear()]),
    "Perceptron and Box, each on its columns": Mixture([(PERCEPTRONS, [0, 1]), (Box(n_candidates=100), [1, 2])]),
}


class Kept:
    """A family that keeps what it began."""

    def __init__(self, family):
        self.family = family

    def begin(self, sample, rng, n_threads):
        self.pricer = self.family.begin(sample, rng, n_threads)
        return self.pricer

    def pool(self):
        if not isinstance(self.family, Mixture):
            return self.pricer.pool()
        own = enumerate(self.pricer.pricers)
        return [self.pricer.learner(k, learner) for k, pricer in own for learner in pricer.pool()]


def to_the_end(family, X, y, C, sample_weight=None):
    kept = Kept(family)
    model = CGEnsClassifier(kept, loss="hinge", C=C, n_estimators=100_000, tol=TOL, random_state=3, n_jobs=1)
    return model.fit(X, y, sample_weight=sample_weight), kept.pool()


def matrix(pool, X):
    return np.column_stack([learner.respond(X) for learner in pool]).astype(float)


def assert_equals_svc(model, pool, X, y, C, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    svc = naive_hinge(matrix(pool, X), np.where(y > 0, 1.0, -1.0), C * weight)
    certificate = model.certificate_
    assert certificate.status is Status.OPTIMAL
    assert certificate.scope == "pool"
    assert certificate.n_candidates == len(pool)
    # LIBSVM keeps kernels in float32, exact for responses of +-1 only: its dual value is sharp, its primal less so.
    assert certificate.primal == pytest.approx(svc.dual, rel=SVC_OBJECTIVE)
    assert certificate.full_relative_gap <= model.tol + POOL_SLACK
    new = X + np.random.default_rng(0).normal(scale=0.3 * X.std(axis=0), size=X.shape)
    for rows in (X, new):
        expected = matrix(pool, rows) @ svc.weights + svc.intercept
        assert np.abs(model.decision_function(rows) - expected).max() <= SVC_DECISION


@pytest.mark.parametrize("C", [0.003, 0.1, 3.0])
@pytest.mark.parametrize("data", ["breast cancer", "noisy", "wine"])
@pytest.mark.parametrize("name", FAMILIES)
def test_equals_svc_on_the_kernel_of_the_pool(name, data, C):
    X, y = SMALL_DATA[data]()
    model, pool = to_the_end(FAMILIES[name], X, y, C)
    assert_equals_svc(model, pool, X, y, C)


@pytest.mark.parametrize("name", FAMILIES)
def test_equals_svc_with_weights(name, rng):
    X, y = SMALL_DATA["noisy"]()
    weight = rng.integers(1, 5, len(y)).astype(float)
    model, pool = to_the_end(FAMILIES[name], X, y, 0.05, weight)
    assert_equals_svc(model, pool, X, y, 0.05, weight)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_pool_is_the_same_wherever_it_is_asked_for(name):
    """The random numbers of a fit come from its random_state alone, and rows in their canonical order."""
    X, y = noisy()
    _, pool = to_the_end(FAMILIES[name], X, y, 0.1)
    order = SampleOrder.of(X, np.where(y > 0, 1.0, -1.0)[:, None], np.ones(len(y)), 1)
    again = Kept(FAMILIES[name])
    seed = check_random_state(3).randint(2**31)
    again.begin(Sample(X, order.rows, order.weight), np.random.default_rng(seed), 1)
    assert again.pool() == pool


@pytest.mark.parametrize("name", FAMILIES)
def test_least_squares_over_the_whole_pool_is_ridge_regression(name):
    """At the end every column of the pool may be in the model: W solves (H'CH + 1) W = H'Cy with centred H and y."""
    X, _ = noisy()
    y = np.sin(X[:, 0]) + X[:, 1]
    kept = Kept(FAMILIES[name])
    model = CGEnsRegressor(kept, C=0.02, n_estimators=100_000, tol=TOL, random_state=3, n_jobs=1).fit(X, y)
    H = matrix(kept.pool(), X)
    centred = H - H.mean(axis=0)
    weights = np.linalg.solve(centred.T @ centred + np.eye(len(H.T)) / 0.02, centred.T @ (y - y.mean()))
    expected = centred @ weights + y.mean()
    misses = y - expected
    primal = 0.5 * weights @ weights + 0.01 * misses @ misses
    assert model.certificate_.status is Status.OPTIMAL
    assert model.certificate_.primal == pytest.approx(primal, rel=SVC_OBJECTIVE)
    assert model.certificate_.full_lower_bound <= primal * (1 + CLOSED_FORM)
    assert np.abs(model.predict(X) - expected).max() <= SVC_DECISION
