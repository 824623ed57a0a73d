"""Rows, duals and models for pricing columns, and what holds for every pricing."""

from __future__ import annotations

import numpy as np
import pytest

from cgens.types import Duals, Sample
from tests.reference.naive_least_squares import NaiveCurvature, naive_model
from tests.tolerances import CLOSED_FORM


def rows_to_price(rng):
    """Return 70 weighted rows in another order than in X, some rows of X left out."""
    X = np.column_stack([rng.normal(size=(80, 3)), rng.integers(0, 4, size=(80, 2)), np.zeros(80)])
    return Sample(X, rng.permutation(80)[:70], rng.integers(1, 4, 70).astype(float))


def begin(case, sample, seed=0, n_threads=1):
    return case.spec.begin(sample, np.random.default_rng(seed), n_threads)


def balanced_duals(rng, m=70, n_outputs=1):
    duals = rng.normal(size=(m, n_outputs))
    return Duals(duals - duals.mean(axis=0))


def curved_duals(models, by_steps=True):
    """Return the duals of the last model, with the curvature of its growth."""
    duals = Duals(models[-1].duals)
    duals.curvature, duals.by_steps = NaiveCurvature(tuple(models)), by_steps
    return duals


def empty_model(rng, n_outputs, C=1.0):
    """Return a model without columns of a random target; the weights are always the same."""
    return naive_model(np.zeros((70, 0)), rng.normal(size=(70, n_outputs)), C * (1.0 + np.arange(70) % 3))


def candidates_of(case, pricer, sample):
    """Return all learners of a finite pool, and their responses, shape (m, n)."""
    X = sample.matrix()
    candidates = case.candidates(pricer, X)
    return candidates, np.array([learner.respond(X) for learner in candidates], dtype=float).T


def merits(responses, duals, rule):
    """Return what the rule maximizes, for each column: shape (m, n) to (n,)."""
    prices = responses.T.astype(float) @ duals.array
    if rule == "gain":
        return np.sum(prices**2, axis=1) / (1.0 + duals.curvature.quadratic(responses))
    return np.abs(prices).max(axis=1) if rule == "max" else np.abs(prices).sum(axis=1)


def rounding(duals, rule):
    """Return the tolerance for a merit."""
    return CLOSED_FORM * (duals.curvature.models[0].primal if rule == "gain" else np.abs(duals.array).sum())


def assert_column(pricing, duals, taken, rule):
    """The column was free, and its price, output and merit are those of its response."""
    column = pricing.column
    own = column.response @ duals.array
    scale = CLOSED_FORM * np.abs(duals.array).sum()
    assert column.learner.key not in taken
    assert column.price == pytest.approx(own[column.output], abs=scale)
    assert abs(column.price) == pytest.approx(np.abs(own).max(), abs=scale)
    if pricing.merit is not None:
        expected = merits(column.response[:, None], duals, rule)[0]
        assert pricing.merit == pytest.approx(expected, abs=rounding(duals, rule))


def assert_best(pricing, candidates, responses, duals, taken, rule):
    """The figures are those of the whole pool, and the column is its best free one."""
    prices = responses.T @ duals.array
    free = [learner.key not in taken for learner in candidates]
    assert pricing.n_candidates == len(candidates)
    assert pricing.energy == pytest.approx(np.sum(prices**2), rel=CLOSED_FORM)
    largest, scale = np.abs(prices[free]).max(), CLOSED_FORM * np.abs(duals.array).sum()
    assert pricing.largest_price() == pytest.approx(largest, abs=scale)
    assert_column(pricing, duals, taken, rule)
    own, best = merits(pricing.column.response[:, None], duals, rule)[0], merits(responses[:, free], duals, rule).max()
    assert own == pytest.approx(best, abs=rounding(duals, rule))
    if rule == "max":
        assert abs(pricing.column.price) == pricing.largest_price()
