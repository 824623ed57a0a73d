"""Searches without a pool: the figures of their candidates are right, and they keep searching."""

from __future__ import annotations

import numpy as np
import pytest

from cgens import CGEnsClassifier, CGEnsRegressor, generate_columns
from cgens.masters import LeastSquares
from cgens.types import Status
from cgens.weak_learners import Box, Fourier, Perceptron, Tree
from cgens.weak_learners.projections.learned import MAX_ROUNDS, LearnedPricer
from tests.tolerances import CLOSED_FORM


@pytest.fixture
def waves(rng):
    X = rng.normal(size=(400, 4))
    return X, np.cos(2 * X[:, 0] + X[:, 1]) + np.sin(X[:, 2]) + 0.1 * rng.normal(size=400)


@pytest.fixture
def refreshes(monkeypatch):
    """Return a list to which the number of columns is appended whenever candidates are learned."""
    counted, original = [], LearnedPricer._refresh

    def counting(self, duals, taken, rule):
        counted.append(duals.curvature.n_steps)
        original(self, duals, taken, rule)

    monkeypatch.setattr(LearnedPricer, "_refresh", counting)
    return counted


@pytest.mark.parametrize("family", [Fourier(learn=True), Perceptron(learn=True)], ids=["fourier", "perceptron"])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_gains_follow_the_master_between_refreshes(family, C, waves, monkeypatch):
    errors, original = [], LearnedPricer._best

    def comparing(self, duals, taken, rule):
        found = original(self, duals, taken, rule)
        table, responses = self._prices.table, self._candidates.responses[:, :400]
        exact = duals.curvature.quadratic(responses.T)
        scale = 1.0 + duals.curvature.diagonal.sum()
        errors.append(np.abs(table.curvature - exact).max() / scale)
        errors.append(np.abs(table.prices - responses @ duals.array).max() / np.abs(duals.array).sum())
        return found

    monkeypatch.setattr(LearnedPricer, "_best", comparing)
    X, y = waves
    generate_columns(LeastSquares(C), family, X, y, max_columns=40, pricing="gain", rng=np.random.default_rng(0))
    assert len(errors) >= 80
    assert max(errors) <= CLOSED_FORM


def test_a_family_of_a_mixture_is_learned_again_even_if_it_is_not_selected(waves, refreshes):
    X, y = waves
    families = [Tree(32, min_samples_leaf=5), Fourier(learn=True)]
    CGEnsRegressor(families, n_estimators=80, C=0.01, random_state=0).fit(X, y)
    assert len(refreshes) >= 80 // MAX_ROUNDS
    assert max(np.diff(refreshes)) <= MAX_ROUNDS


@pytest.mark.parametrize("loss", ["hinge", "least_squares"])
@pytest.mark.parametrize("family", [Perceptron(learn=True), Perceptron(learn=False, pool="fresh")], ids=repr)
def test_no_response_is_added_twice(family, loss, rng):
    X = rng.integers(0, 3, size=(300, 3)).astype(float)
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=300) > 2
    model = CGEnsClassifier(family, loss=loss, C=1.0, n_estimators=60, random_state=0).fit(X, y)
    responses = model.ensemble_.respond(X)
    assert len(np.unique(responses * responses[0], axis=1).T) == model.n_columns_


@pytest.mark.parametrize("family", [Perceptron(pool="fresh", learn=False), Box([1], pool="fresh")], ids=repr)
def test_fresh_candidates_are_drawn_until_all_columns_are_found(family):
    """On a line of 80 points there are 79 columns."""
    X = np.linspace(0, 1, 80)[:, None]
    y = np.sin(9 * X[:, 0])
    model = CGEnsRegressor(family, C=0.01, n_estimators=200, random_state=0).fit(X, y)
    assert model.n_columns_ == 79
    assert model.certificate_.status is Status.OPTIMAL


def test_trees_for_few_rows_and_small_weights(rng):
    X = rng.normal(size=(39, 3))
    for weight in (None, np.full(39, 1 / 39)):
        model = CGEnsClassifier("tree", n_estimators=5, random_state=0).fit(X, X[:, 0] > 0, weight)
        assert model.n_columns_ == 5


def test_a_tree_has_no_more_leaves_than_rows(rng):
    X = rng.normal(size=(50, 2))
    model = CGEnsRegressor(Tree(10**20, min_samples_leaf=1), n_estimators=3, random_state=0).fit(X, X[:, 0])
    assert max(len(tree.features) for tree in model.ensemble_.learners) <= 99
