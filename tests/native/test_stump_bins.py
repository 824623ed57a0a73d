"""Thresholds are between adjacent values of any size, or at quantiles of the weight if there are many.

Levels have a bin of their own if they have enough weight. Gaps are beyond all values.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.native.tables import TABLES, binning, integers, make_pool, make_scan, same_tables
from tests.reference.naive_stumps import naive_levels, naive_thresholds

ONE32 = np.float32(1)
AWKWARD = {
    "huge": [-1.7e308, -1e300, 1e300, 1.7e308],
    "huge and adjacent": [1e300, np.nextafter(1e300, 2e300), np.nextafter(-1e300, 0), -1e300],
    "tiny": [-1e-300, 0.0, 1e-300, 2e-300],
    "denormal": [0.0, 5e-324, 1e-323, 1.5e-323, -5e-324],
    "adjacent to 1": [1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 0), np.nextafter(np.nextafter(1.0, 2), 2)],
    "both zeros": [-0.0, 0.0, 1.0, -1.0],
    "all together": [-1.7e308, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, np.nextafter(1.0, 2), 1.7e308],
    "huge, float32": np.array([-3e38, -1e38, 1e38, 3e38], dtype=np.float32),
    "denormal, float32": np.array([0.0, 1e-45, 3e-45, -1e-45], dtype=np.float32),
    "adjacent to 1, float32": np.array([1.0, np.nextafter(ONE32, 2 * ONE32), np.nextafter(ONE32, 0 * ONE32)], "f4"),
}


def assert_separates_adjacent_values(values: np.ndarray) -> None:
    """Distinct values are found by hashing (up to 1024 bins) or by sorting."""
    distinct = np.unique(values.astype(np.float64))
    for max_bins in (None, 256, 1025):
        thresholds = make_pool(values[:, None], max_bins=max_bins).thresholds(0)
        assert len(thresholds) == len(distinct) - 1
        assert np.all(np.isfinite(thresholds))
        assert np.all(distinct[:-1] <= thresholds)
        assert np.all(thresholds < distinct[1:])


@pytest.mark.parametrize("name", AWKWARD)
def test_thresholds_separate_awkward_values(name):
    assert_separates_adjacent_values(np.array(AWKWARD[name]))


def finite(dtype: type) -> st.SearchStrategy:
    elements = hnp.from_dtype(np.dtype(dtype), allow_nan=False, allow_infinity=False)
    return hnp.arrays(dtype, st.integers(1, 30), elements=elements)


@given(finite(np.float64) | finite(np.float32))
def test_thresholds_separate_any_numbers(values):
    assert_separates_adjacent_values(values)


@pytest.mark.parametrize("max_bins", [2, 3, 8, 255, 256, 1000, 1025, 5000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_thresholds_follow_the_rule(dtype, max_bins, rng):
    """Sums of integer weights are exact, so that both codes end each bin at the same value."""
    many = 2.0 * rng.permutation(1500)[:, None]
    for name, X in {**TABLES, "more than 1024 values": many}.items():
        X, weight = X.astype(dtype), rng.integers(1, 7, len(X)).astype(float)
        pool = make_pool(X, weight, max_bins)
        found = [pool.thresholds(feature).tolist() for feature in range(X.shape[1])]
        assert found == [naive_thresholds(column, weight, max_bins) for column in X.T.astype(np.float64)], name
        assert max(np.isfinite(thresholds).sum() for thresholds in found) < max_bins


@pytest.mark.parametrize("least", [0.0, 3.0, 10.0, 1e9])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_levels_follow_the_rule(dtype, least, rng):
    for name in (name for name in TABLES if binning(name)):
        X, is_category = TABLES[name].astype(dtype), binning(name)["is_category"]
        weight = rng.integers(1, 7, len(X)).astype(float)
        pool = make_pool(X, weight, 8, is_category, least)
        for feature in range(X.shape[1]):
            levels, thresholds = pool.levels(feature), pool.thresholds(feature)
            assert levels.dtype == np.uint32
            if is_category[feature]:
                assert levels.tolist() == naive_levels(X[:, feature], weight, least), name
                assert len(thresholds) == 0
            else:
                assert len(levels) == 0
                assert thresholds.tolist() == naive_thresholds(X[:, feature].astype(np.float64), weight, 8)


def test_a_level_of_the_least_weight_up_to_rounding_is_not_rare():
    X = np.repeat([[0.0], [1.0]], [50, 49], axis=0)
    weight = np.full(99, 0.1)
    assert np.cumsum(weight)[49] < 5.0
    assert make_pool(X, weight, is_category=np.array([True]), min_level_weight=5.0).levels(0).tolist() == [0]


def test_bins_have_about_equal_weight_even_after_a_heavy_value(rng):
    for values, max_bins, n_heavy in ((rng.normal(size=2000), 16, 0), (np.r_[np.zeros(3000), rng.random(1000)], 32, 1)):
        thresholds = make_pool(values[:, None], max_bins=max_bins).thresholds(0)
        counts = np.bincount(np.searchsorted(thresholds, values), minlength=max_bins)[n_heavy:]
        assert len(thresholds) == max_bins - 1
        assert counts.min() >= counts.sum() // len(counts)
        assert counts.max() <= counts.sum() // len(counts) + 1


def test_weights_count_as_copies(rng):
    values, weight = rng.normal(size=500), rng.integers(1, 9, 500)
    copies = np.repeat(values, weight)
    weighted = make_pool(values[:, None], weight.astype(float), 20).thresholds(0)
    assert np.array_equal(weighted, make_pool(copies[:, None], max_bins=20).thresholds(0))


@pytest.mark.parametrize("weight", [0.1, 1 / 3, 0.7])
def test_the_unit_of_the_weights_does_not_matter(weight, rng):
    """Sums of equal weights that are not exact may be just below the share that they complete."""
    values = rng.normal(size=(600, 1))
    for max_bins in (3, 5, 6, 10, 12, 20):
        unweighted = make_pool(values, max_bins=max_bins).thresholds(0)
        assert np.array_equal(make_pool(values, np.full(600, weight), max_bins).thresholds(0), unweighted)


def test_memory_order_does_not_matter(rng):
    X, duals = rng.normal(size=(80, 9)).round(1), integers(rng, 80)
    assert len({make_scan(same).price(duals) for same in same_tables(X)}) == 1
