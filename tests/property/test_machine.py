"""The machine does not matter: threads, SIMD level, memory order, precision of the input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgens import _core
from cgens.weak_learners import Stump
from tests.property.problems import assert_same_model, costs, fit, problems

pytestmark = pytest.mark.filterwarnings("ignore:No weak learner tells the classes apart")


@given(problem=problems(), C=costs, max_bins=st.sampled_from([256, None, 3]))
def test_threads_do_not_matter(problem, C, max_bins):
    options = {"C": C, "weak_learner": Stump(max_bins)}
    one = fit(problem.X, problem.y, problem.weight, n_jobs=1, **options)
    two = fit(problem.X, problem.y, problem.weight, n_jobs=2, **options)
    assert_same_model(one, two, problem.X)
    assert np.array_equal(one.duals_, two.duals_)
    assert np.array_equal(one.trace_.primal, two.trace_.primal)
    assert np.array_equal(one.trace_.full_lower_bound, two.trace_.full_lower_bound)


def test_threads_do_not_matter_on_a_larger_table(rng):
    """Small work is done by one thread. Here every parallel region has work for three."""
    X = rng.normal(size=(8000, 60)) * (rng.random((8000, 60)) < 0.8)
    y = (X[:, :9].sum(axis=1) + rng.normal(size=8000) > 0).astype(int)
    models = [fit(X, y, n_jobs=n_jobs, n_estimators=160) for n_jobs in (1, 2, 3)]
    for other in models[1:]:
        assert_same_model(models[0], other, X)
        assert np.array_equal(models[0].duals_, other.duals_)
        assert np.array_equal(models[0].trace_.full_lower_bound, other.trace_.full_lower_bound)


@given(problem=problems(), C=costs)
def test_simd_level_does_not_matter(problem, C, restore_simd_level):
    models = []
    for level in _core.simd_levels():
        _core.force_simd_level(level)
        assert _core.simd_level() == level
        models.append(fit(problem.X, problem.y, problem.weight, C=C, n_estimators=40))
    for other in models[1:]:
        assert_same_model(models[0], other, problem.X)
        assert np.array_equal(models[0].duals_, other.duals_)


def test_the_baseline_is_always_there():
    levels = _core.simd_levels()
    assert levels[0] == "baseline"
    assert _core.simd_level() == levels[-1]


@given(problem=problems())
def test_memory_order_does_not_matter(problem):
    X, y = problem.X, problem.y
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan)
    wide[::2, ::3] = X
    backwards = X[::-1, ::-1].copy()[::-1, ::-1]
    frozen = X.copy()
    frozen.flags.writeable = False
    plain = fit(X, y)
    for same in (np.asfortranarray(X), wide[::2, ::3], backwards, frozen):
        assert_same_model(plain, fit(same, y), X)
        assert plain.decision_function(same).tobytes() == plain.decision_function(X).tobytes()


@given(problem=problems())
def test_precision_of_the_input_does_not_matter(problem):
    """float32 numbers are float64 numbers: the same values give the same model."""
    single = problem.X.astype(np.float32)
    double = single.astype(np.float64)
    assert_same_model(fit(single, problem.y), fit(double, problem.y), double)
    model = fit(single, problem.y)
    assert model.decision_function(single).tobytes() == model.decision_function(double).tobytes()


@given(problem=problems(), dtype=st.sampled_from([np.int8, np.int64, np.uint16, np.float16, np.bool_]))
def test_other_number_types_are_converted(problem, dtype):
    X = np.abs(problem.X).round().astype(dtype)
    assert_same_model(fit(X, problem.y), fit(X.astype(np.float64), problem.y), X.astype(np.float64))


@given(problem=problems())
def test_input_is_left_alone(problem):
    X, y, weight = problem.X.copy(), problem.y.copy(), problem.weight.copy()
    model = fit(X, y, weight)
    model.decision_function(X)
    assert np.array_equal(X, problem.X)
    assert np.array_equal(y, problem.y)
    assert np.array_equal(weight, problem.weight)
