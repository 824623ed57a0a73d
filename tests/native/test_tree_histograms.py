"""Trees equal naive ones however their histograms are made: stored, subtracted, or of few marked bins."""

from __future__ import annotations

import numpy as np
import pytest

from cgens._core import TreeGrower
from tests.native.tables import integers, make_pool, with_gaps
from tests.native.test_trees import all_allowed, assert_equals_naive, equal_bits, grow


def large_table(rng, kind, n_rows, n_levels=6):
    """Return a table with more rows than bins, how to bin it, and what depends on it."""
    numbers = rng.normal(size=(n_rows, 3))
    numbers[:, 1] = np.floor(4 * numbers[:, 1])
    levels = rng.integers(0, n_levels, (n_rows, 2)).astype(float)
    along = integers(rng, n_rows) + 3 * np.sign(numbers[:, 0]) + 3 * (levels[:, 0] % 3)
    X, is_category = np.column_stack([numbers, levels]), np.arange(5) > 2
    if kind == "numbers":
        return numbers, {}, along
    if kind == "mostly zeros":
        return numbers * (rng.random(numbers.shape) < 0.15), {}, along
    if kind == "one feature":
        return numbers[:, :1], {}, along
    return (X if kind == "categories" else with_gaps(rng, X)), {"is_category": is_category}, along


KINDS = ("numbers", "mostly zeros", "one feature", "categories", "categories and gaps")


@pytest.mark.parametrize("drawn", [None, 0.7, 0.1])
@pytest.mark.parametrize("kind", KINDS)
def test_large_nodes_equal_naive_ones(kind, drawn, rng):
    """Their histograms are stored, and the larger child of two is the difference; small nodes follow below them."""
    X, bins, along = large_table(rng, kind, 600)
    weight = rng.integers(1, 9, len(X)).astype(float)
    if drawn is not None:
        drawn = (rng.random(len(X)) < drawn).astype(np.uint8)
    for max_bins, seed in ((4, None), (24, None), (24, 3)):
        assert_equals_naive(X, along, weight, max_leaves=14, drawn=drawn, seed=seed, max_bins=max_bins, **bins)
    assert_equals_naive(X, along, max_leaves=14, min_weight=40.0, drawn=drawn, max_bins=8, **bins)
    assert_equals_naive(X, along, max_leaves=14, real=False, drawn=drawn, max_bins=8, **bins)


@pytest.mark.parametrize("n_levels", [120, 300])
def test_categories_with_many_levels(n_levels, rng):
    """Bins of less and of more than eight bits."""
    X, bins, along = large_table(rng, "categories and gaps", 700, n_levels)
    assert_equals_naive(X, along, max_leaves=9, max_bins=512, **bins)
    assert_equals_naive(X, along, max_leaves=9, seed=1, max_bins=16, **bins)


def test_blocks_of_rows_go_to_their_sides(rng):
    """More rows than one thread moves at once, of which some are not drawn."""
    X, bins, along = large_table(rng, "categories and gaps", 50_000)
    drawn, options = (rng.random(len(X)) < 0.7).astype(np.uint8), {"max_bins": 8, **bins}
    assert_equals_naive(X, along, max_leaves=6, drawn=drawn, **options)
    grower = TreeGrower(make_pool(X, **options), np.ones(len(X)), 3)
    tree = grower.grow(along, all_allowed(X), 6, 1.0, True, drawn)
    assert equal_bits(tree, grow(X, along, max_leaves=6, drawn=drawn, **options))


@pytest.mark.parametrize("kind", KINDS)
def test_a_grower_remembers_nothing(kind, rng):
    """Neither rows nor features, nor sums."""
    X, bins, first = large_table(rng, kind, 600)
    second, some = integers(rng, 600), all_allowed(X)
    some[::2] = 0 if len(some) > 1 else 1
    drawn = (rng.random(600) < 0.5).astype(np.uint8)
    grower = TreeGrower(make_pool(X, max_bins=16, **bins), np.ones(600), 1)
    before = grower.grow(first, some, 16, 1.0, True)
    grower.grow(second, all_allowed(X), 30, 3.0, False, drawn, 1)
    assert equal_bits(before, grower.grow(first, some, 16, 1.0, True))
