"""Families that propose one learner per round: they propose another one if the first is taken."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from cgens import CGEnsClassifier
from cgens.coding import simplex_codes
from cgens.types import Duals, Sample
from cgens.weak_learners import SklearnLearner, Tree
from cgens.weak_learners.search.proposals import merit_of, random_directions
from cgens.weak_learners.tree import TreeMaker
from tests.reference.naive_least_squares import NaiveCurvature, naive_model
from tests.tolerances import CLOSED_FORM

X = np.random.default_rng(0).normal(size=(60, 3))


def pricer_of(family, seed=0):
    return family.begin(Sample(X, np.arange(60), np.ones(60)), np.random.default_rng(seed), 1)


def duals_of(rng, n_outputs=1):
    array = rng.normal(size=(60, n_outputs))
    return Duals(array - array.mean(axis=0))


@pytest.mark.parametrize("seed", range(5))
def test_a_taken_proposal_does_not_end_the_search(seed, rng):
    """Each feature has a stump of its own, so that the same duals have several."""
    pricer, duals, taken = pricer_of(Tree(2, min_samples_leaf=1, max_features=0.34), seed), duals_of(rng), {}
    for _ in range(2):
        column = pricer.price(duals, taken.keys(), "max").column
        assert column is not None
        assert column.learner.key not in taken
        taken[column.learner.key] = None


@pytest.mark.parametrize("seed", range(3))
def test_no_fit_of_trees_is_optimal_before_all_features_are_used(seed):
    rows, y = X[:16], X[:16, 0] - X[:16, 1] + np.random.default_rng(1).normal(size=16) > 0
    model = CGEnsClassifier(Tree(2, min_samples_leaf=1), C=1.0, n_estimators=50, random_state=seed, n_jobs=1)
    model.fit(rows, y)
    assert model.certificate_.status == "optimal"
    used = np.unique(np.concatenate([learner.features for learner in model.ensemble_.learners]))
    assert used.tolist() == [-1, 0, 1, 2]


@pytest.mark.parametrize("max_features", [1.0, 0.5])
def test_each_further_attempt_at_a_tree_allows_half_as_many_features(max_features, rng):
    rows = rng.normal(size=(100, 8))
    spec, sample = Tree(30, min_samples_leaf=1, max_features=max_features), Sample(rows, np.arange(100), np.ones(100))
    maker = TreeMaker(spec, sample, rng, 1)
    for attempt, n_allowed in enumerate([8, 4, 2, 1, 1] if max_features == 1.0 else [4, 2, 1, 1]):
        used = []
        for _ in range(40):
            learner, _ = maker(rng.normal(size=100), attempt)
            used.append(set(learner.features.tolist()) - {-1})
        assert max(map(len, used)) == n_allowed, "30 leaves have use for all of them"
        assert set().union(*used) == set(range(8)), "others in each tree"


@pytest.mark.parametrize("family", [Tree(3, min_samples_leaf=2), SklearnLearner(DecisionTreeClassifier(max_depth=2))])
def test_no_response_is_proposed_twice(family, rng):
    pricer, taken, responses = pricer_of(family), {}, set()
    for _ in range(10):
        column = pricer.price(duals_of(rng, 3), taken.keys(), "max").column
        taken[column.learner.key] = None
        turned = column.response if column.response[0] > 0 else -column.response
        responses.add(turned.tobytes())
    assert len(responses) == 10


def test_directions_are_of_length_one(rng):
    duals = duals_of(rng, 4)
    directions = random_directions(duals, rng)
    assert directions.shape == (4, 4)
    assert np.allclose(np.linalg.norm(directions, axis=1), 1.0, rtol=CLOSED_FORM)
    assert random_directions(duals_of(rng), rng).tolist() == [[1.0]]


@pytest.mark.parametrize("n_classes", [3, 4, 7])
def test_directions_for_classes_separate_two_halves(n_classes, rng):
    duals, codes = duals_of(rng, n_classes - 1), simplex_codes(n_classes)
    duals.class_codes = lambda: codes
    for direction in random_directions(duals, rng):
        sides = codes @ direction
        above = sides > sides.mean()
        assert above.sum() == n_classes // 2
        assert np.ptp(sides[above]) <= CLOSED_FORM
        assert np.ptp(sides[~above]) <= CLOSED_FORM


def test_directions_for_regression_follow_the_residuals(rng):
    """v ~ N(0, R'R): an output without residuals has no part in it."""
    duals = duals_of(rng, 3)
    duals.array[:, 1] = 0.0
    directions = np.vstack([random_directions(duals, rng) for _ in range(20)])
    assert np.abs(directions[:, 1]).max() <= CLOSED_FORM
    assert np.abs(directions[:, [0, 2]]).min() > 0


def test_merit_is_the_price_or_the_gain(rng):
    models = [naive_model(np.zeros((60, 0)), rng.normal(size=(60, 2)), np.ones(60))]
    models.append(models[0].grown(rng.normal(size=60)))
    duals = Duals(models[-1].duals)
    duals.curvature = NaiveCurvature(tuple(models))
    response = rng.normal(size=60)
    prices = response @ duals.array
    assert merit_of(response, prices, duals, "max") == np.abs(prices).max()
    gain = models[-1].gains(response[:, None])[0]
    assert merit_of(response, prices, duals, "gain") == pytest.approx(2 * gain, rel=CLOSED_FORM)
