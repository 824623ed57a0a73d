"""Prediction by step tables equals the sum over the stumps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgens._core import StepTables, respond_stumps
from cgens.weak_learners.split import Split, SplitArrays
from tests.native.tables import integers, same_tables, with_gaps
from tests.reference.naive_stumps import is_above

#: The features of the tables from the fifth on are categories, with levels below this.
N_LEVELS = [1, 3, 200]


def assert_equals_sum(X, splits, weights, n_threads=1):
    """sum_j w_j h_j(x_i), with integer weights, so that the order of the sum does not matter."""
    columns = X.T.astype(np.float64).tolist()
    sides = [[is_above(x, own.threshold, own.levels, own.gaps_above) for x in columns[own.feature]] for own in splits]
    assert all(np.array_equal(own.is_above(X[:, own.feature]), side) for own, side in zip(splits, sides, strict=True))
    expected = np.where(np.array(sides, dtype=bool).reshape(len(splits), len(X)).T, 1, -1)
    stumps = vars(SplitArrays.of(splits))
    decision = StepTables(**stumps, weights=weights).decide(X, n_threads)
    assert np.array_equal(decision.reshape(len(X), weights.shape[1]), expected @ weights)
    response = respond_stumps(X, **stumps, n_threads=n_threads)
    assert response.dtype == np.int8
    assert np.array_equal(response.reshape(expected.shape), expected)


def numbers(features, thresholds, gaps_above=False):
    return [Split(int(f), float(t), (), gaps_above) for f, t in zip(features, thresholds, strict=True)]


def make_stumps(rng, n_stumps, n_features, n_outputs=1):
    splits = numbers(rng.integers(0, n_features, n_stumps), rng.normal(size=n_stumps))
    return splits, integers(rng, n_stumps, n_outputs, most=20)


def make_mixed(rng, n_stumps, n_rows, n_outputs):
    """Return rows with gaps and levels, some of which no split has, and splits of every kind, with their weights."""
    X = np.column_stack([rng.normal(size=(n_rows, 4)), rng.integers(0, np.array(N_LEVELS) + 2, (n_rows, 3))])
    splits = []
    for feature in rng.integers(0, 7, n_stumps).tolist():
        gaps_above = bool(rng.random() < 0.5)
        if feature < 4:
            threshold = float(rng.normal()) if rng.random() < 0.9 else np.inf
            splits.append(Split(feature, threshold, (), gaps_above))
        else:
            levels = np.flatnonzero(rng.random(N_LEVELS[feature - 4]) < rng.choice([0.0, 0.1, 0.6, 1.0]))
            splits.append(Split(feature, None, tuple(levels.tolist()), gaps_above))
    return with_gaps(rng, X), splits, integers(rng, n_stumps, n_outputs, most=20)


# From one stump per feature to hundreds: few are counted, many are looked up in cells.
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("n_stumps", [0, 1, 8, 9, 30, 300])
def test_decision_equals_sum(n_stumps, n_outputs, rng):
    X, stumps = rng.normal(size=(300, 4)), make_stumps(rng, n_stumps, 4, n_outputs)
    for n_threads in (1, 2, 3):
        assert_equals_sum(X, *stumps, n_threads)
    assert_equals_sum(X[:0], *stumps)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("n_stumps", [1, 7, 30, 300])
def test_decision_equals_sum_with_gaps_and_levels(n_stumps, n_outputs, rng):
    X, *stumps = make_mixed(rng, n_stumps, 150, n_outputs)
    assert_equals_sum(X, *stumps)
    assert_equals_sum(X.astype(np.float32), *stumps, n_threads=2)


# Splits of one feature -> the sums of their responses, weighted by 1, 10, ..., at a gap, at 0, 1, 2, and at 2^31.
SPECIAL = {
    "gaps against numbers": ([Split(0, np.inf, (), True)], [1, -1, -1, -1, -1]),
    "nothing above": ([Split(0, np.inf, (), False)], [-1, -1, -1, -1, -1]),
    "both sides of gaps": ([Split(0, 0.5, (), True), Split(0, 0.5, (), False)], [-9, -11, 11, 11, 11]),
    "no level": ([Split(0, None, (), False)], [-1, -1, -1, -1, -1]),
    "gaps against levels": ([Split(0, None, (), True)], [1, -1, -1, -1, -1]),
    "levels and gaps": ([Split(0, None, (0, 2), True), Split(0, None, (2,), False)], [-9, -9, -11, 11, -11]),
    "numbers and levels": ([Split(0, None, (1,), False), Split(0, 0.5, (), True)], [9, -11, 11, 9, 9]),
    "levels and numbers": ([Split(0, 1.5, (), True), Split(0, None, (1, 2), True)], [11, -11, 9, 11, -9]),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_splits(name):
    splits, expected = SPECIAL[name]
    X, weights = np.array([[np.nan], [0.0], [1.0], [2.0], [2.0**31]]), 10.0 ** np.arange(len(splits))[:, None]
    assert StepTables(**vars(SplitArrays.of(splits)), weights=weights).decide(X, 1).tolist() == expected
    assert_equals_sum(X, splits, weights)


@pytest.mark.parametrize("code", [-1.0, -1e300, 1e300, np.inf, -np.inf, 2.0**32, 2.0**64])
def test_what_is_no_code_has_no_level(code):
    splits = [Split(0, None, (0, 1, 70), True), Split(0, None, (2,), False)]
    assert_equals_sum(np.array([[code], [2.0]]), splits, np.array([[1.0], [10.0]]))


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
    X = around[np.isfinite(around)][:, None]
    assert_equals_sum(X, numbers(np.zeros(len(thresholds)), thresholds), weights)


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
    features, weights = rng.integers(0, 3, 60), integers(rng, 60, 1, most=20)
    thresholds = X[rng.integers(0, 400, 60), features].astype(np.float64)
    assert_equals_sum(X, numbers(features, thresholds), weights)
    assert_equals_sum(X, numbers(features, thresholds + 1e-12), weights)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_layout_and_unused_columns_do_not_matter(dtype, rng):
    X, splits, weights = make_mixed(rng, 80, 100, 2)
    X = np.column_stack([X, X]).astype(dtype)
    for same in same_tables(X):
        assert_equals_sum(same, splits, weights)
    tables = StepTables(**vars(SplitArrays.of(splits)), weights=weights)
    assert np.array_equal(tables.decide(X, 1), tables.decide(X[:, :7], 1))
