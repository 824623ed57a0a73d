"""Row order does not matter and weights are repetition: the same bits, not merely close ones."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgens.weak_learners import Stump
from tests.property.problems import assert_same_model, costs, fit, problems
from tests.tolerances import CLOSED_FORM

class_weights = st.sampled_from([None, "balanced", {0: 0.1, 1: 0.3}])
pytestmark = pytest.mark.filterwarnings("ignore:No weak learner tells the classes apart")


@given(problem=problems(), C=costs, max_bins=st.sampled_from([256, 4]))
def test_weights_are_copies(problem, C, max_bins):
    copies = np.repeat(np.arange(len(problem.y)), problem.weight.astype(int))
    options = {"C": C, "weak_learner": Stump(max_bins)}
    weighted = fit(problem.X, problem.y, problem.weight, **options)
    repeated = fit(problem.X[copies], problem.y[copies], **options)
    assert_same_model(weighted, repeated, problem.X)
    together = np.bincount(copies, weights=repeated.duals_)
    assert np.allclose(together, weighted.duals_, rtol=CLOSED_FORM, atol=0)


@given(problem=problems(), C=costs, class_weight=class_weights)
def test_weights_are_copies_with_class_weights(problem, C, class_weight):
    copies = np.repeat(np.arange(len(problem.y)), problem.weight.astype(int))
    options = {"C": C, "class_weight": class_weight}
    weighted = fit(problem.X, problem.y, problem.weight, **options)
    repeated = fit(problem.X[copies], problem.y[copies], **options)
    assert_same_model(weighted, repeated, problem.X)


@given(problem=problems(), C=costs, class_weight=class_weights)
def test_row_order_does_not_matter(problem, C, class_weight):
    order = problem.rng.permutation(len(problem.y))
    options = {"C": C, "class_weight": class_weight}
    straight = fit(problem.X, problem.y, problem.weight, **options)
    shuffled = fit(problem.X[order], problem.y[order], problem.weight[order], **options)
    assert_same_model(straight, shuffled, problem.X)
    assert np.array_equal(straight.duals_[order], shuffled.duals_)
    assert np.array_equal(straight.feature_importances_, shuffled.feature_importances_)


@given(problem=problems(), C=costs, class_weight=class_weights)
def test_row_order_does_not_matter_with_real_weights(problem, C, class_weight):
    """Sums of weights that are no integers round differently in another order: nothing may depend on it."""
    order = problem.rng.permutation(len(problem.y))
    weight = problem.weight * problem.rng.random(len(problem.y))
    options = {"C": C, "class_weight": class_weight}
    straight = fit(problem.X, problem.y, weight, **options)
    shuffled = fit(problem.X[order], problem.y[order], weight[order], **options)
    assert straight.C_ == shuffled.C_
    assert_same_model(straight, shuffled, problem.X)


@given(problem=problems(), C=costs)
def test_rows_of_zero_weight_are_not_there(problem, C):
    weight = np.where(problem.rng.random(len(problem.y)) < 0.4, 0.0, problem.weight)
    weight[:2] = 1.0  # one of each class stays
    kept = weight > 0
    with_them = fit(problem.X, problem.y, weight, C=C)
    without = fit(problem.X[kept], problem.y[kept], weight[kept], C=C)
    assert_same_model(with_them, without, problem.X)
    assert np.array_equal(with_them.duals_[kept], without.duals_)
    assert not with_them.duals_[~kept].any()


@given(problem=problems(), power=st.sampled_from([-40, -3, 1, 10, 60]))
def test_the_scale_of_the_weights_cancels(problem, power):
    """Times a power of two, so that nothing is rounded: C = "scale" divides it out again."""
    plain = fit(problem.X, problem.y, problem.weight)
    scaled = fit(problem.X, problem.y, problem.weight * 2.0**power)
    assert scaled.C_ * 2.0**power == plain.C_
    assert_same_model(plain, scaled, problem.X)


@given(problem=problems(), C=st.sampled_from([0.1, 5.0]))
def test_weights_times_c_is_what_counts(problem, C):
    by_weight = fit(problem.X, problem.y, problem.weight * 4, C=C)
    assert_same_model(by_weight, fit(problem.X, problem.y, problem.weight, C=4 * C), problem.X)


@given(problem=problems())
def test_class_weight_is_sample_weight_by_class(problem):
    by_class = fit(problem.X, problem.y, problem.weight, C=0.5, class_weight={0: 2.0, 1: 0.25})
    by_row = fit(problem.X, problem.y, problem.weight * np.where(problem.y == 1, 0.25, 2.0), C=0.5)
    assert_same_model(by_class, by_row, problem.X)


def test_both_zeros_are_one_value(rng):
    X = rng.integers(-1, 2, size=(40, 3)).astype(float)
    y = (X.sum(axis=1) + rng.normal(size=40) > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same_model(fit(X, y), fit(np.where(X == 0, -0.0, X), y), X)
