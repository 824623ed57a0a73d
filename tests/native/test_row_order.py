"""The canonical order of rows: identical rows are merged, and the original order does not matter.

Compressed sparse rows have the order of the dense table.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csc_array, csr_array

from cgens._core import order_rows, order_sparse_rows
from cgens.sample_order import SampleOrder
from cgens.table import Table
from tests.native.tables import TABLES, compressed_columns, same_tables
from tests.reference.naive_order import contents, merged_rows

SMALL_TABLES = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 12), st.integers(1, 4)), elements=st.sampled_from([-1, -0.0, 0, 1, np.nan])
)


def order_compressed(X, stored, *rest):
    """Return the order of the rows in compressed form, with the zeros that `stored` marks."""
    return order_sparse_rows(*compressed_columns(X.T, stored.T), X.shape[1], *rest)


def equal(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@given(X=SMALL_TABLES, seed=st.integers(0, 1000))
def test_merging_equals_a_dictionary_in_any_order(X, seed):
    rng = np.random.default_rng(seed)
    target, weight = rng.choice([-1.0, 1.0], size=(len(X), 1)), rng.choice([0.0, 0.1, 0.7, 1.0, 3.0], size=len(X))
    rows, merged, position = order_rows(X, target, weight, 1)
    assert dict(zip(contents(X[rows], target[rows]), merged.tolist(), strict=True)) == merged_rows(X, target, weight)
    assert np.array_equal(position == -1, weight == 0)
    kept = position >= 0
    first = rows[position[kept]]
    assert contents(X[first], target[first]) == contents(X[kept], target[kept])
    shuffled = rng.permutation(len(X))
    others, other_merged, _ = order_rows(X[shuffled].copy(), target[shuffled].copy(), weight[shuffled].copy(), 2)
    assert contents(X[rows], target[rows]) == contents(X[shuffled][others], target[shuffled][others])
    assert np.array_equal(merged, other_merged)


@given(X=SMALL_TABLES, seed=st.integers(0, 1000), dtype=st.sampled_from([np.float64, np.float32]))
def test_sparse_rows_have_the_order_of_dense_ones(X, seed, dtype):
    rng, X = np.random.default_rng(seed), X.astype(dtype)
    rest = rng.choice([-1.0, 1.0], size=(len(X), 1)), rng.choice([0.0, 0.1, 0.7, 1.0], size=len(X)), 1
    for share in (0.0, 0.3, 1.0):
        assert equal(order_compressed(X, rng.random(X.shape) < share, *rest), order_rows(X, *rest))


@pytest.mark.parametrize("name", TABLES)
def test_tables_in_compressed_rows(name, rng):
    X = np.concatenate([TABLES[name], TABLES[name][::-1]])
    rest = np.ones((len(X), 2)), rng.random(len(X))
    expected = order_rows(X, *rest, 1)
    assert len(expected[0]) <= len(TABLES[name]), "gaps equal gaps"
    for n_threads in (1, 2, 3):
        assert equal(order_compressed(X, rng.random(X.shape) < 0.1, *rest, n_threads), expected)


def test_sparse_rows_of_many_columns(rng):
    """Blocks of rows are larger then."""
    indices = np.sort(rng.permutation(18_000)[:2100].reshape(700, 3), axis=1).astype(np.int32)
    indices[350:] = indices[:350]
    begin, data = np.arange(0, 2101, 3), np.ones(2100, dtype=np.float32)
    X = np.zeros((700, 18_000), dtype=np.float32)
    X[np.repeat(np.arange(700), 3), indices.ravel()] = 1.0
    rest = np.zeros((700, 1)), np.ones(700)
    for n_threads in (1, 2):
        found = order_sparse_rows(data, indices.ravel(), begin, 18_000, *rest, n_threads)
        assert equal(found, order_rows(X, *rest, 1))
    assert len(found[0]) == 350


def mix_bits(x):
    """The keys of the hash, as in native/mix_bits.hpp."""
    x = (x + 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    return x ^ x >> 31


def test_rows_with_the_same_hash_are_in_the_order_of_their_contents(rng):
    """The hash of a value is a product; where one factor is 0, the other does not matter."""
    low = -mix_bits(0) % 2**32
    high = rng.integers(0x3F000000, 0x40F00000, 20, dtype=np.uint64)
    values = (high << np.uint64(32) | np.uint64(low)).view(np.float64) * rng.choice([-1.0, 1.0], 20)
    values = np.concatenate([values, values])
    X = np.column_stack([values, np.full(40, np.nan), np.zeros(40)])
    rest = np.ones((40, 1)), np.ones(40), 1
    for own in (X[:, :1], X):
        for rows, merged, _ in (order_rows(own, *rest), order_compressed(own, np.zeros_like(own) > 0, *rest)):
            assert values[rows].tolist() == sorted(set(values.tolist()))
            assert np.all(merged == 2)


def test_memory_order_precision_and_threads_do_not_matter(rng):
    X = rng.integers(0, 50, size=(700, 5)).astype(np.float64)
    X[X == 49] = np.nan
    X[350:] = X[:350]
    target, weight = np.ones((700, 1)), rng.random(700)
    expected = rows, merged, position = order_rows(X, target, weight, 1)
    assert len(rows) == 350
    assert np.array_equal(X[rows[position]], X, equal_nan=True)
    assert np.array_equal(merged[position[:350]], weight[:350] + weight[350:])
    for dtype in (np.float64, np.float32):
        for same in same_tables(X.astype(dtype)):
            for n_threads in (1, 2, 3):
                found = order_rows(same, target, weight, n_threads)
                assert equal(found, expected)


# X, target -> how many of two rows remain
PAIRS = {
    "both zeros are the same": ([[0.0, 1.0], [-0.0, 1.0]], [[1.0], [1.0]], 1),
    "contradictory rows stay separate": ([[0.0], [0.0]], [[1.0], [-1.0]], 2),
    "gaps are the same": ([[np.nan, 1.0], [-np.nan, 1.0]], [[1.0], [1.0]], 1),
    "a gap is no number": ([[np.nan], [0.0]], [[1.0], [1.0]], 2),
    "gaps in other columns": ([[np.nan, 0.0], [0.0, np.nan]], [[1.0], [1.0]], 2),
    "columns are distinguished": ([[1.0, 2.0], [2.0, 1.0]], [[1.0], [1.0]], 2),
    "outputs are distinguished": ([[0.0], [0.0]], [[1.0, 2.0], [2.0, 1.0]], 2),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_of_rows(name):
    X, target, n_left = PAIRS[name]
    X, rest = np.array(X), (np.array(target), np.array([1.0, 2.0]), 1)
    for rows, weight, position in (order_rows(X, *rest), order_compressed(X, X == 0, *rest)):
        assert len(rows) == len(weight) == n_left
        assert sorted(weight.tolist()) == ([3.0] if n_left == 1 else [1.0, 2.0])
        assert sorted(position.tolist()) == ([0, 0] if n_left == 1 else [0, 1])


def test_duals_are_divided_by_weight():
    X, weight = np.array([[0.0], [1.0], [0.0], [5.0]]), np.array([1.0, 2.0, 3.0, 0.0])
    for same in (X, csr_array(X), csc_array(X)):
        order = SampleOrder.of(Table.of(same), np.ones((4, 1)), weight, 1)
        duals = np.zeros((2, 1))
        duals[order.position[:2]] = [[8.0], [5.0]]
        assert order.spread_duals(duals).ravel().tolist() == [2.0, 5.0, 6.0, 0.0]
