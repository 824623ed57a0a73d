"""Changes of the problem that must not change the answer, or change it in a known way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgens import generate_columns
from cgens.masters import Hinge
from cgens.weak_learners import Stump
from tests.property.problems import costs, fit, problems
from tests.tolerances import NEGATIVE_GAP, POOL_SLACK, SAME_OPTIMUM, TIGHT

pytestmark = pytest.mark.filterwarnings("ignore:No weak learner tells the classes apart")

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
    """Run the loop itself: rows stay in their order, which an estimator derives from the contents of X."""
    y = np.where(problem.y > 0, 1.0, -1.0)
    return generate_columns(
        Hinge(C), Stump(), np.ascontiguousarray(X), y, sample_weight=problem.weight, max_columns=15, tol=1e-4
    )


def assert_same_splits(X, first, changed_X, second):
    assert np.array_equal(first[0].respond(X), second[0].respond(np.ascontiguousarray(changed_X)))
    assert [learner.feature for learner in first[0].learners] == [learner.feature for learner in second[0].learners]
    assert np.array_equal(first[0].weights, second[0].weights)
    assert np.array_equal(first[1].duals, second[1].duals)
    assert first[1].certificate == second[1].certificate


@pytest.mark.parametrize("name", MONOTONE)
@given(problem=problems())
def test_monotone_changes_keep_the_splits(name, problem):
    changed = problem.X.copy()
    changed[:, 0] = MONOTONE[name](problem.X[:, 0])
    if len(np.unique(changed[:, 0])) < len(np.unique(problem.X[:, 0])):
        return  # rounding made two values one
    assert_same_splits(problem.X, columns(problem.X, problem), changed, columns(changed, problem))


@given(problem=problems())
def test_features_that_say_nothing_new_change_nothing(problem):
    """Repeated, mirrored and constant features have no responses of their own."""
    X = problem.X
    changed = np.column_stack([X, X, -X, 2 * X + 1, np.full(len(X), 4.0)])
    first, second = columns(X, problem), columns(changed, problem)
    assert_same_splits(X, first, changed, second)
    assert first[0].learners == second[0].learners


@given(problem=problems(most_rows=30), C=st.sampled_from([0.05, 1.0]))
def test_monotone_changes_keep_the_optimum(problem, C):
    """Through the estimator the rows come in another order, so that duals differ; the optimum does not."""
    options = {"C": C, "n_estimators": 1000, "tol": TIGHT}
    plain, changed = fit(problem.X, problem.y, **options), fit(problem.X**3 + 5, problem.y, **options)
    distinct = [len(np.unique(column)) for column in problem.X.T]
    if distinct == [len(np.unique(column)) for column in (problem.X**3 + 5).T]:
        assert plain.certificate_.primal == pytest.approx(changed.certificate_.primal, rel=SAME_OPTIMUM + POOL_SLACK)
        assert plain.certificate_.n_candidates == changed.certificate_.n_candidates


@given(problem=problems(most_rows=30), C=st.sampled_from([0.05, 1.0]))
def test_swapped_labels_have_the_same_optimum(problem, C):
    options = {"C": C, "n_estimators": 1000, "tol": TIGHT}
    plain, swapped = (
        fit(problem.X, problem.y, problem.weight, **options),
        fit(problem.X, 1 - problem.y, problem.weight, **options),
    )
    assert plain.certificate_.primal == pytest.approx(swapped.certificate_.primal, rel=SAME_OPTIMUM + POOL_SLACK)


@given(problem=problems(), C=costs)
def test_names_of_labels_do_not_matter(problem, C):
    numbers = fit(problem.X, problem.y, C=C)
    for labels in (np.array(["ja", "nein"]), np.array([-1, 1]), np.array([False, True]), np.array([-2.0, 7.0])):
        named = fit(problem.X, labels[problem.y], C=C)
        assert named.classes_.tolist() == labels.tolist()
        assert named.decision_function(problem.X).tobytes() == numbers.decision_function(problem.X).tobytes()
        assert np.array_equal(named.predict(problem.X), labels[numbers.predict(problem.X)])


@given(problem=problems(), C=costs)
def test_gaps_are_never_negative(problem, C):
    model = fit(problem.X, problem.y, problem.weight, C=C, n_estimators=40)
    assert np.all(model.trace_.relative_gap >= -NEGATIVE_GAP)
    assert model.certificate_.full_relative_gap >= -NEGATIVE_GAP
    assert model.certificate_.relative_gap <= model.tol
    assert np.all(np.diff(np.maximum.accumulate(model.trace_.full_lower_bound)) >= 0)
    assert model.certificate_.full_lower_bound <= model.trace_.primal.min() * (1 + NEGATIVE_GAP)
