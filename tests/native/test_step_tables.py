"""Prediction by step tables equals the sum over the stumps, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgens._core import StepTables, respond_stumps


def slow_decision(X, features, thresholds, weights):
    """Return sum_j w_j h_j(x_i). Weights are integers here, so that any order of adding gives the same."""
    responses = np.where(X[:, features].astype(np.float64) > thresholds, 1.0, -1.0)
    return responses @ weights


def assert_equals_sum(X, features, thresholds, weights, n_threads=1):
    tables = StepTables(features, thresholds, weights)
    decision = tables.decide(X, n_threads).reshape(len(X), weights.shape[1])
    assert np.array_equal(decision, slow_decision(X, features, thresholds, weights))
    responses = respond_stumps(X, features, thresholds, n_threads).reshape(len(X), len(features))
    assert np.array_equal(responses, np.where(X[:, features].astype(np.float64) > thresholds, 1, -1))


def make_stumps(rng, n_stumps, n_features, thresholds=None, n_outputs=1):
    features = rng.integers(0, n_features, n_stumps)
    thresholds = rng.normal(size=n_stumps) if thresholds is None else thresholds
    return features, thresholds, rng.integers(-20, 21, size=(n_stumps, n_outputs)).astype(np.float64)


# From one stump a feature to hundreds: few are counted, many are looked up in cells.
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("n_stumps", [0, 1, 8, 9, 30, 300])
def test_decision_equals_sum(n_stumps, n_outputs, rng):
    X = rng.normal(size=(600, 4))
    features, thresholds, weights = make_stumps(rng, n_stumps, 4, n_outputs=n_outputs)
    for n_threads in (1, 2, 3):
        assert_equals_sum(X, features, thresholds, weights, n_threads)


CROWDS = {
    "crowded at one end": np.concatenate([1e-9 * np.arange(200), [1e9]]),
    "crowded in the middle": np.concatenate([[-1e300], 1.0 + 1e-15 * np.arange(100), [1e300]]),
    "whole range of doubles": np.concatenate([[-1.7e308], np.linspace(-1, 1, 50), [1.7e308]]),
    "geometric": np.concatenate([-np.geomspace(1e-300, 1e300, 60), np.geomspace(1e-300, 1e300, 60)]),
    "denormal": 5e-324 * np.arange(40),
    "all equal": np.full(30, 2.0),
    "repeated": np.repeat([1.0, 2.0, 3.0], 7),
    "neighbours": 1.0 + np.finfo(float).eps * np.arange(50),
    "just above the limit": np.arange(9.0),
}


@pytest.mark.parametrize("name", CROWDS)
def test_lookup_in_crowded_thresholds(name, rng):
    thresholds = CROWDS[name]
    n = len(thresholds)
    features, _, weights = make_stumps(rng, n, 1, thresholds)
    around = np.concatenate(
        [
            thresholds,
            np.nextafter(thresholds, np.inf),
            np.nextafter(thresholds, -np.inf),
            [0.0, -0.0, 1.79e308, -1.79e308, 5e-324, -5e-324],
            rng.normal(size=50),
        ]
    )
    shuffled = rng.permutation(n)
    X = around[np.isfinite(around)][:, None]
    assert_equals_sum(X, features, np.ascontiguousarray(thresholds[shuffled]), weights)


@given(
    thresholds=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=9, max_size=25),
    values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=15),
)
def test_lookup_of_any_numbers(thresholds, values):
    t = np.array(thresholds)
    X = np.concatenate([t, np.array(values)])[:, None]
    weights = np.arange(1.0, len(t) + 1)[:, None]
    assert_equals_sum(X, np.zeros(len(t), dtype=np.int64), t, weights)


def test_float32_is_compared_as_the_number_it_is(rng):
    X = rng.normal(size=(400, 3)).astype(np.float32)
    features, _, weights = make_stumps(rng, 60, 3)
    thresholds = X[rng.integers(0, 400, 60), features].astype(np.float64)
    assert_equals_sum(X, features, thresholds, weights)
    assert_equals_sum(X, features, thresholds + 1e-12, weights)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_order_does_not_matter(dtype, rng):
    X = rng.normal(size=(300, 5)).astype(dtype)
    stumps = make_stumps(rng, 80, 5)
    wide = np.zeros((600, 15), dtype=dtype)
    wide[::2, ::3] = X
    read_only = X.copy()
    read_only.flags.writeable = False
    backwards = X[::-1, ::-1].copy()[::-1, ::-1]
    assert backwards.strides[0] < 0
    for same in (X, np.asfortranarray(X), wide[::2, ::3], backwards, read_only):
        assert_equals_sum(same, *stumps)


def test_columns_beyond_the_used_ones_are_ignored(rng):
    X = rng.normal(size=(50, 9))
    features, thresholds, weights = make_stumps(rng, 12, 3)
    tables = StepTables(features, thresholds, weights)
    assert np.array_equal(tables.decide(X, 1), tables.decide(X[:, :3], 1))


def test_no_rows(rng):
    tables = StepTables(*make_stumps(rng, 12, 3))
    assert tables.decide(np.zeros((0, 3)), 2).shape == (0,)
