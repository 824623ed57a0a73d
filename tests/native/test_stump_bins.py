"""Where thresholds lie: between neighbours whatever their size, and at shares of the weight where there are many."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.native.tables import TABLES, make_pool, make_scan
from tests.reference.naive_stumps import naive_thresholds

AWKWARD = {
    "huge": [-1.7e308, -1e300, 1e300, 1.7e308],
    "huge neighbours": [1e300, np.nextafter(1e300, 2e300), np.nextafter(-1e300, 0), -1e300],
    "tiny": [-1e-300, 0.0, 1e-300, 2e-300],
    "denormal": [0.0, 5e-324, 1e-323, 1.5e-323, -5e-324],
    "neighbours of 1": [1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 0), np.nextafter(np.nextafter(1.0, 2), 2)],
    "both zeros": [-0.0, 0.0, 1.0, -1.0],
    "all at once": [-1.7e308, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, np.nextafter(1.0, 2), 1.7e308],
}
AWKWARD32 = {
    "huge": [-3e38, -1e38, 1e38, 3e38],
    "denormal": [0.0, 1e-45, 3e-45, -1e-45],
    "neighbours of 1": [1.0, np.nextafter(np.float32(1), np.float32(2)), np.nextafter(np.float32(1), np.float32(0))],
}


def assert_separates_all_neighbours(values: np.ndarray) -> None:
    distinct = np.unique(values.astype(np.float64))
    for max_bins in (None, 256):
        thresholds = make_pool(values[:, None], max_bins=max_bins).thresholds(0)
        assert len(thresholds) == len(distinct) - 1
        assert np.all(np.isfinite(thresholds))
        assert np.all(distinct[:-1] <= thresholds)
        assert np.all(thresholds < distinct[1:])


@pytest.mark.parametrize("name", AWKWARD)
def test_thresholds_separate_awkward_neighbours(name):
    assert_separates_all_neighbours(np.array(AWKWARD[name]))


@pytest.mark.parametrize("name", AWKWARD32)
def test_thresholds_separate_awkward_neighbours_in_float32(name):
    assert_separates_all_neighbours(np.array(AWKWARD32[name], dtype=np.float32))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_thresholds_separate_any_numbers(values):
    assert_separates_all_neighbours(np.array(values))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=30))
def test_thresholds_separate_any_numbers_in_float32(values):
    assert_separates_all_neighbours(np.array(values, dtype=np.float32))


@pytest.mark.parametrize("max_bins", [2, 3, 8, 255, 256, 1000, 1025, 5000])
@pytest.mark.parametrize("name", TABLES)
def test_thresholds_follow_the_rule(name, max_bins, rng):
    """Integer weights: their sums are exact, so both sides close each bin at the same value."""
    X, weight = TABLES[name], rng.integers(1, 7, len(TABLES[name])).astype(float)
    pool = make_pool(X, weight, max_bins)
    for feature in range(X.shape[1]):
        thresholds = pool.thresholds(feature)
        assert thresholds.tolist() == naive_thresholds(X[:, feature], weight, max_bins)
        assert len(thresholds) < max_bins


@pytest.mark.parametrize("n", [1000, 1500])
def test_every_midpoint_means_every_one_whatever_the_weights(n, rng):
    values, weight = rng.permutation(n) * 2.0, rng.integers(1, 7, n).astype(float)
    thresholds = make_pool(values[:, None], weight, max_bins=None).thresholds(0)
    assert thresholds.tolist() == [2.0 * k + 1 for k in range(n - 1)]


def test_bins_have_about_equal_weight(rng):
    values = rng.normal(size=2000)
    thresholds = make_pool(values[:, None], max_bins=16).thresholds(0)
    counts = np.bincount(np.searchsorted(thresholds, values), minlength=16)
    assert len(thresholds) == 15
    assert counts.min() >= 2000 // 16
    assert counts.max() <= 2000 // 16 + 1


def test_a_heavy_value_does_not_starve_the_bins_after_it(rng):
    values = np.concatenate([np.zeros(3000), rng.random(1000)])
    thresholds = make_pool(values[:, None], max_bins=32).thresholds(0)
    assert len(thresholds) == 31
    assert np.bincount(np.searchsorted(thresholds, values))[1:].max() <= 1000 // 31 + 1


def test_weights_count_as_copies(rng):
    """Weighted quantiles of rows are quantiles of their copies."""
    values, weight = rng.normal(size=500), rng.integers(1, 9, 500)
    copies = np.repeat(values, weight)
    weighted = make_pool(values[:, None], weight.astype(float), 20).thresholds(0)
    assert np.array_equal(weighted, make_pool(copies[:, None], max_bins=20).thresholds(0))


def test_bins_do_not_depend_on_threads(rng):
    X = rng.normal(size=(400, 50))
    one, two = make_pool(X, max_bins=30), make_pool(X, max_bins=30, n_threads=2)
    for feature in range(50):
        assert np.array_equal(one.thresholds(feature), two.thresholds(feature))


def test_memory_order_does_not_matter(rng):
    X = rng.normal(size=(80, 9)).round(1)
    duals = rng.integers(-5, 6, 80).astype(float)
    wide = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)
    expected = make_scan(X).price(duals)
    for same in (np.asfortranarray(X), wide[::2, ::3], X[::-1, ::-1].copy()[::-1, ::-1]):
        assert np.array_equal(same, X)
        assert make_scan(same).price(duals) == expected
