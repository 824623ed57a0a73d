"""Rows, duals and models to price columns with, and what every pricing must say."""

from __future__ import annotations

import numpy as np
import pytest

from cgens.types import Duals, Sample
from tests.reference.naive_least_squares import NaiveCurvature, naive_model
from tests.tolerances import CLOSED_FORM


def rows_to_price(rng):
    """Return 70 weighted rows in another order than in X, some of X's rows left out."""
    X = np.column_stack([rng.normal(size=(80, 3)), rng.integers(0, 4, size=(80, 2)), np.zeros(80)])
    return Sample(X, rng.permutation(80)[:70], rng.integers(1, 4, 70).astype(float))


def begin(case, sample, seed=0, n_threads=1):
    return case.spec.begin(sample, np.random.default_rng(seed), n_threads)


def balanced_duals(rng, m=70, n_outputs=1):
    duals = rng.normal(size=(m, n_outputs))
    return Duals(duals - duals.mean(axis=0))


def curved_duals(models, by_steps=True):
    """Return the duals of the last model, with the curvature that its growth has."""
    duals = Duals(models[-1].duals)
    duals.curvature, duals.by_steps = NaiveCurvature(tuple(models)), by_steps
    return duals


def empty_model(rng, n_outputs, C=1.0):
    return naive_model(np.zeros((70, 0)), rng.normal(size=(70, n_outputs)), C * rng.integers(1, 4, 70))


def candidates_of(case, pricer, sample):
    """Return all learners of a finite pool, and their responses, shape (m, n)."""
    X = sample.matrix()
    candidates = case.candidates(pricer, X)
    return candidates, np.array([learner.respond(X) for learner in candidates], dtype=float).T


def assert_priced(pricing, candidates, responses, duals, taken):
    """All figures but the choice of the column."""
    prices = responses.T @ duals.array
    free = [learner.key not in taken for learner in candidates]
    scale = CLOSED_FORM * np.abs(duals.array).sum()
    assert pricing.n_candidates == len(candidates)
    assert pricing.energy == pytest.approx(np.sum(prices**2), rel=CLOSED_FORM)
    assert pricing.largest_price() == pytest.approx(np.abs(prices[free]).max(), abs=scale)
    column = pricing.column
    own = column.response @ duals.array
    assert column.learner.key not in taken
    assert column.score == pytest.approx(own[column.output], abs=scale)
    assert abs(column.score) == pytest.approx(np.abs(own).max(), abs=scale)


def votes_for(responses, duals):
    """Return the sum of |price| over outputs of columns, shape (m, n) to (n,)."""
    return np.abs(responses.T.astype(float) @ duals.array).sum(axis=1)
