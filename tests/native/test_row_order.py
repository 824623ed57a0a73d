"""The canonical order: identical rows merged, nothing lost, whatever order the rows come in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cgens._core import order_rows
from cgens.sample_order import SampleOrder
from tests.reference.naive_order import merged_rows

tables = hnp.arrays(np.float64, st.tuples(st.integers(1, 12), st.integers(1, 3)), elements=st.integers(-1, 1))


def contents(X, target, rows):
    return [(*x, *t) for x, t in zip(X[rows].tolist(), target[rows].tolist(), strict=True)]


@given(X=tables, data=st.data())
def test_merging_equals_a_dictionary(X, data):
    n = len(X)
    target = np.array(data.draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=n, max_size=n)))[:, None]
    weight = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.1, 0.7, 1.0, 3.0]), min_size=n, max_size=n)))
    rows, merged, position = order_rows(X, target, weight, 1)
    assert dict(zip(contents(X, target, rows), merged.tolist(), strict=True)) == merged_rows(X, target, weight)
    assert np.array_equal(position == -1, weight == 0)
    kept = position >= 0
    assert contents(X, target, rows[position[kept]]) == contents(X, target, np.flatnonzero(kept))


@given(X=tables, seed=st.integers(0, 1000))
def test_the_order_of_the_input_does_not_matter(X, seed):
    rng = np.random.default_rng(seed)
    target = rng.choice([-1.0, 1.0], size=(len(X), 1))
    weight = rng.random(len(X))
    shuffled = rng.permutation(len(X))
    rows, merged, _ = order_rows(X, target, weight, 1)
    others, other_merged, _ = order_rows(
        np.ascontiguousarray(X[shuffled]), np.ascontiguousarray(target[shuffled]), weight[shuffled].copy(), 2
    )
    assert contents(X, target, rows) == contents(X[shuffled], target[shuffled], others)
    assert np.array_equal(merged, other_merged)


def test_memory_order_precision_and_threads_do_not_matter(rng):
    X = rng.integers(0, 50, size=(700, 5)).astype(np.float64)
    target, weight = rng.choice([-1.0, 1.0], size=(700, 1)), rng.random(700)
    expected = order_rows(X, target, weight, 1)
    wide = np.zeros((1400, 10))
    wide[::2, ::2] = X
    backwards = X[::-1].copy()[::-1]
    for same in (np.asfortranarray(X), wide[::2, ::2], backwards, X.astype(np.float32)):
        for n_threads in (1, 2, 3):
            found = order_rows(same, target, weight, n_threads)
            assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def test_both_zeros_are_one_number():
    X = np.array([[0.0, 1.0], [-0.0, 1.0]])
    rows, weight, position = order_rows(X, np.ones((2, 1)), np.array([1.0, 2.0]), 1)
    assert len(rows) == 1
    assert weight.tolist() == [3.0]
    assert position.tolist() == [0, 0]


def test_contradictory_rows_stay_apart():
    rows, weight, _ = order_rows(np.zeros((2, 1)), np.array([[1.0], [-1.0]]), np.ones(2), 1)
    assert sorted(rows.tolist()) == [0, 1]
    assert weight.tolist() == [1.0, 1.0]


def test_columns_are_told_apart():
    """Rows that hold the same numbers in another order are other rows."""
    X = np.array([[1.0, 2.0], [2.0, 1.0]])
    assert len(order_rows(X, np.ones((2, 1)), np.ones(2), 1)[0]) == 2


@pytest.mark.parametrize("n", [1, 257, 1000])
def test_distinct_rows_are_a_permutation(n, rng):
    X = rng.permutation(n).astype(np.float64)[:, None]
    rows, weight, position = order_rows(X, np.ones((n, 1)), np.ones(n), 2)
    assert sorted(rows.tolist()) == list(range(n))
    assert np.array_equal(rows[position], np.arange(n))
    assert np.all(weight == 1.0)


def test_duals_are_handed_out_by_weight():
    X = np.array([[0.0], [1.0], [0.0], [5.0]])
    weight = np.array([1.0, 2.0, 3.0, 0.0])
    order = SampleOrder.of(X, np.ones((4, 1)), weight, 1)
    duals = np.zeros((2, 1))
    duals[order.position[0]], duals[order.position[1]] = 8.0, 5.0
    assert order.spread_duals(duals).ravel().tolist() == [2.0, 5.0, 6.0, 0.0]
