"""Changes of the problem that must not change the model, or change it in a known way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from cgens import CGEnsClassifier, CGEnsRegressor, generate_columns
from cgens.masters import Hinge
from cgens.weak_learners import Box, Fourier, Linear, Mixture, Perceptron, Stump, Tree
from tests.property.problems import larger_problem, problems, target_of
from tests.tolerances import CLOSED_FORM, POOL_SLACK, RESPONSE, SAME_OPTIMUM, TIGHT

some = settings(max_examples=15)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of constant models

MONOTONE = {
    "scaled": lambda x: 3.7 * x,
    "shifted": lambda x: x + 1000.0,
    "cubed": lambda x: x**3,
    "exponential": np.exp,
    "ranks": lambda x: np.unique(x, return_inverse=True)[1].astype(float),
    "tiny": lambda x: 1e-150 * x,
    "huge": lambda x: 1e150 * x,
}


def columns(X, problem, C=0.5):
    """Run the loop itself, which keeps the order of the rows: an estimator derives it from the contents of X."""
    y = np.where(problem.y > 0, 1.0, -1.0)
    return generate_columns(
        Hinge(C), Stump(), np.ascontiguousarray(X), y, sample_weight=problem.weight, max_columns=15, tol=1e-4
    )


def fit_tightly(X, y, C, weight=None, family="stump"):
    model = CGEnsClassifier(family, C=C, n_estimators=1000, tol=TIGHT, random_state=3, n_jobs=1)
    return model.fit(X, y, sample_weight=weight)


def assert_same_splits(X, first, changed_X, second):
    assert np.array_equal(first[0].respond(X), second[0].respond(np.ascontiguousarray(changed_X)))
    assert [learner.feature for learner in first[0].learners] == [learner.feature for learner in second[0].learners]
    assert np.array_equal(first[0].weights, second[0].weights)
    assert np.array_equal(first[1].duals, second[1].duals)
    assert first[1].certificate == second[1].certificate


@pytest.mark.parametrize("name", MONOTONE)
@some
@given(problem=problems())
def test_monotone_changes_keep_the_splits(name, problem):
    changed = problem.X.copy()
    changed[:, 0] = MONOTONE[name](problem.X[:, 0])
    if len(np.unique(changed[:, 0])) < len(np.unique(problem.X[:, 0])):
        return  # rounding merged two values
    assert_same_splits(problem.X, columns(problem.X, problem), changed, columns(changed, problem))


@some
@given(problem=problems())
def test_redundant_features_change_nothing(problem):
    """Repeated, mirrored and constant features add no responses."""
    X = problem.X
    changed = np.column_stack([X, X, -X, 2 * X + 1, np.full(len(X), 4.0)])
    first, second = columns(X, problem), columns(changed, problem)
    assert_same_splits(X, first, changed, second)
    assert first[0].learners == second[0].learners


@some
@given(problem=problems(most_rows=30), C=st.sampled_from([0.05, 1.0]))
def test_swapped_labels_have_the_same_optimum(problem, C):
    plain, swapped = (fit_tightly(problem.X, y, C, problem.weight) for y in (problem.y, 1 - problem.y))
    assert plain.certificate_.primal == pytest.approx(swapped.certificate_.primal, rel=SAME_OPTIMUM + POOL_SLACK)


#: Families that standardize features. Learned columns are left out: they depend on random halves of the rows, whose
#: order depends on their contents.
UNITS = {
    "fourier": Fourier(n_candidates=80, standardize=True, learn=False),
    "fourier, few inputs": Fourier(["scale", 0.3], 80, n_inputs=[1, 2], standardize=True, learn=False),
    "perceptron": Perceptron(80, standardize=True, learn=False),
    "linear": Linear(),
    "mixture": Mixture([(Fourier(n_candidates=40, standardize=True, learn=False), [0, 2]), Linear()]),
}
seeds = pytest.mark.parametrize("seed", range(3))


def in_other_units(X, seed):
    return X * np.random.default_rng(seed).uniform(0.01, 100.0, X.shape[1])


@pytest.mark.parametrize("name", UNITS)
@seeds
def test_units_of_standardized_features_do_not_matter(name, seed):
    problem = larger_problem(seed)
    model = CGEnsClassifier(UNITS[name], loss="least_squares", n_estimators=8, random_state=3, n_jobs=1)
    tables = (problem.X, in_other_units(problem.X, seed))
    decisions = [clone(model).fit(X, target_of(problem, "multiclass")).decision_function(X) for X in tables]
    assert np.allclose(*decisions, rtol=0, atol=RESPONSE * np.abs(decisions[0]).max())


@pytest.mark.parametrize("name", UNITS)
def test_units_do_not_matter_for_the_optimum_of_a_pool(name):
    """The hinge loss is solved loosely between rounds, so that rows in another order may give other columns."""
    problem = larger_problem(5)
    family = clone(UNITS[name])
    family.set_params(**{key: 6 for key in family.get_params() if key.endswith("n_candidates")})
    tables = (problem.X, in_other_units(problem.X, 5))
    plain, scaled = (fit_tightly(X, problem.y, 0.1, family=family).certificate_ for X in tables)
    assert plain.n_candidates == scaled.n_candidates
    assert plain.primal == pytest.approx(scaled.primal, rel=SAME_OPTIMUM + RESPONSE)


#: Families of thresholds on single features.
THRESHOLDS = {
    "stump": Stump(),
    "tree": Tree(4, min_samples_leaf=5),
    "tree, signs": Tree(4, leaves="sign", min_samples_leaf=5),
    "tree, random": Tree(4, min_samples_leaf=5, splitter="random"),
    "box": Box(n_candidates=80),
    "box, fresh": Box([1, 2], 40, pool="fresh"),
}


def splits_of(learner):
    """Return the features and thresholds of a learner without those of leaves."""
    if hasattr(learner, "threshold"):
        return np.array([learner.feature]), np.array([learner.threshold])
    if hasattr(learner, "splits"):
        return tuple(np.array([getattr(own, name) for own in learner.splits]) for name in ("feature", "threshold"))
    return learner.features[learner.features >= 0], learner.thresholds[learner.features >= 0]


@pytest.mark.parametrize("name", THRESHOLDS)
@seeds
def test_thresholds_scale_with_their_features(name, seed):
    """Powers of two, so that no midpoint is rounded, and real targets, so that no two splits are tied."""
    problem = larger_problem(seed)
    target = problem.y + problem.rng.normal(size=len(problem.y))
    powers = 2.0 ** problem.rng.integers(-20, 20, problem.X.shape[1])
    model = CGEnsRegressor(THRESHOLDS[name], n_estimators=8, random_state=3, n_jobs=1)
    plain, scaled = clone(model).fit(problem.X, target), clone(model).fit(problem.X * powers, target)
    for one, other in zip(plain.ensemble_.learners, scaled.ensemble_.learners, strict=True):
        features, thresholds = splits_of(one)
        assert np.array_equal(features, splits_of(other)[0])
        assert np.array_equal(thresholds * powers[features], splits_of(other)[1])
    predicted = plain.predict(problem.X), scaled.predict(problem.X * powers)
    assert np.allclose(
        *predicted, rtol=0, atol=(RESPONSE if name in ("tree", "tree, random") else CLOSED_FORM) * np.abs(target).max()
    )
