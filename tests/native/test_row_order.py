"""The canonical order of rows: identical rows are merged, and the original order does not matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cgens._core import order_rows
from cgens.sample_order import SampleOrder
from cgens.table import Table
from tests.native.tables import same_tables
from tests.reference.naive_order import merged_rows


def contents(X, target, rows):
    return [(*x, *t) for x, t in zip(X[rows].tolist(), target[rows].tolist(), strict=True)]


@given(
    X=hnp.arrays(
        np.float64, st.tuples(st.integers(1, 12), st.integers(1, 3)), elements=st.sampled_from([-1, -0.0, 0, 1])
    ),
    seed=st.integers(0, 1000),
)
def test_merging_equals_a_dictionary_in_any_order(X, seed):
    rng = np.random.default_rng(seed)
    target, weight = rng.choice([-1.0, 1.0], size=(len(X), 1)), rng.choice([0.0, 0.1, 0.7, 1.0, 3.0], size=len(X))
    rows, merged, position = order_rows(X, target, weight, 1)
    assert dict(zip(contents(X, target, rows), merged.tolist(), strict=True)) == merged_rows(X, target, weight)
    assert np.array_equal(position == -1, weight == 0)
    kept = position >= 0
    assert contents(X, target, rows[position[kept]]) == contents(X, target, np.flatnonzero(kept))
    shuffled = rng.permutation(len(X))
    others, other_merged, _ = order_rows(X[shuffled].copy(), target[shuffled].copy(), weight[shuffled].copy(), 2)
    assert contents(X, target, rows) == contents(X[shuffled], target[shuffled], others)
    assert np.array_equal(merged, other_merged)


def test_memory_order_precision_and_threads_do_not_matter(rng):
    X = rng.integers(0, 50, size=(700, 5)).astype(np.float64)
    X[350:] = X[:350]
    target, weight = np.ones((700, 1)), rng.random(700)
    expected = rows, merged, position = order_rows(X, target, weight, 1)
    assert len(rows) == 350
    assert np.array_equal(X[rows[position]], X)
    assert np.array_equal(merged[position[:350]], weight[:350] + weight[350:])
    for dtype in (np.float64, np.float32):
        for same in same_tables(X.astype(dtype)):
            for n_threads in (1, 2, 3):
                found = order_rows(same, target, weight, n_threads)
                assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


# X, target -> how many of two rows remain
PAIRS = {
    "both zeros are the same": ([[0.0, 1.0], [-0.0, 1.0]], [[1.0], [1.0]], 1),
    "contradictory rows stay separate": ([[0.0], [0.0]], [[1.0], [-1.0]], 2),
    "columns are distinguished": ([[1.0, 2.0], [2.0, 1.0]], [[1.0], [1.0]], 2),
    "outputs are distinguished": ([[0.0], [0.0]], [[1.0, 2.0], [2.0, 1.0]], 2),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_of_rows(name):
    X, target, n_left = PAIRS[name]
    rows, weight, position = order_rows(np.array(X), np.array(target), np.array([1.0, 2.0]), 1)
    assert len(rows) == len(weight) == n_left
    assert sorted(weight.tolist()) == ([3.0] if n_left == 1 else [1.0, 2.0])
    assert sorted(position.tolist()) == ([0, 0] if n_left == 1 else [0, 1])


def test_duals_are_divided_by_weight():
    X, weight = np.array([[0.0], [1.0], [0.0], [5.0]]), np.array([1.0, 2.0, 3.0, 0.0])
    order = SampleOrder.of(Table.of(X), np.ones((4, 1)), weight, 1)
    duals = np.zeros((2, 1))
    duals[order.position[:2]] = [[8.0], [5.0]]
    assert order.spread_duals(duals).ravel().tolist() == [2.0, 5.0, 6.0, 0.0]
