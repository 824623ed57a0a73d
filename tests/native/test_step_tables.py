"""Prediction by step tables equals the sum over the stumps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgens._core import StepTables, respond_stumps
from tests.native.tables import integers, same_tables


def assert_equals_sum(X, features, thresholds, weights, n_threads=1):
    """sum_j w_j h_j(x_i), with integer weights, so that the order of the sum does not matter."""
    expected = np.where(X[:, features].astype(np.float64) > thresholds, 1, -1)
    decision = StepTables(features, thresholds, weights).decide(X, n_threads)
    assert np.array_equal(decision.reshape(len(X), weights.shape[1]), expected @ weights)
    assert np.array_equal(respond_stumps(X, features, thresholds, n_threads).reshape(expected.shape), expected)


def make_stumps(rng, n_stumps, n_features, n_outputs=1):
    return rng.integers(0, n_features, n_stumps), rng.normal(size=n_stumps), integers(rng, n_stumps, n_outputs, most=20)


# From one stump per feature to hundreds: few are counted, many are looked up in cells.
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("n_stumps", [0, 1, 8, 9, 30, 300])
def test_decision_equals_sum(n_stumps, n_outputs, rng):
    X, stumps = rng.normal(size=(600, 4)), make_stumps(rng, n_stumps, 4, n_outputs)
    for n_threads in (1, 2, 3):
        assert_equals_sum(X, *stumps, n_threads)
    assert_equals_sum(X[:0], *stumps)


CROWDS = {
    "crowded at one end": np.concatenate([1e-9 * np.arange(200), [1e9]]),
    "crowded in the middle": np.concatenate([[-1e300], 1.0 + 1e-15 * np.arange(100), [1e300]]),
    "whole range of doubles": np.concatenate([[-1.7e308], np.linspace(-1, 1, 50), [1.7e308]]),
    "geometric": np.concatenate([-np.geomspace(1e-300, 1e300, 60), np.geomspace(1e-300, 1e300, 60)]),
    "denormal": 5e-324 * np.arange(40),
    "all equal": np.full(30, 2.0),
    "repeated": np.repeat([1.0, 2.0, 3.0], 7),
    "adjacent": 1.0 + np.finfo(float).eps * np.arange(50),
    "just above the limit": np.arange(9.0),
}


def assert_looks_up(thresholds, values):
    """At the thresholds, just beside them, and at the values."""
    with np.errstate(over="ignore"):
        beside = [np.nextafter(thresholds, end) for end in (np.inf, -np.inf)]
    around = np.concatenate([thresholds, *beside, values])
    weights = np.arange(1.0, len(thresholds) + 1)[:, None]
    assert_equals_sum(around[np.isfinite(around)][:, None], np.zeros(len(thresholds), dtype=int), thresholds, weights)


@pytest.mark.parametrize("name", CROWDS)
def test_lookup_in_crowded_thresholds(name, rng):
    ends = [0.0, -0.0, 1.79e308, -1.79e308, 5e-324, -5e-324]
    assert_looks_up(rng.permutation(CROWDS[name]), np.concatenate([ends, rng.normal(size=50)]))


@given(
    thresholds=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=9, max_size=25),
    values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=15),
)
def test_lookup_of_any_numbers(thresholds, values):
    assert_looks_up(np.array(thresholds), np.array(values))


def test_float32_is_compared_in_float64(rng):
    X = rng.normal(size=(400, 3)).astype(np.float32)
    features, _, weights = make_stumps(rng, 60, 3)
    thresholds = X[rng.integers(0, 400, 60), features].astype(np.float64)
    assert_equals_sum(X, features, thresholds, weights)
    assert_equals_sum(X, features, thresholds + 1e-12, weights)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_layout_and_unused_columns_do_not_matter(dtype, rng):
    X, stumps = rng.normal(size=(300, 5)).astype(dtype), make_stumps(rng, 80, 3)
    for same in same_tables(X):
        assert_equals_sum(same, *stumps)
    assert np.array_equal(StepTables(*stumps).decide(X, 1), StepTables(*stumps).decide(X[:, :3], 1))
