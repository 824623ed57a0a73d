"""Trees equal naive ones, and so do their responses. Inputs are integers: results are exact."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cgens._core import TreeGrower, TreeTables
from tests.native.tables import TABLES, integers, make_pool, same_tables
from tests.reference.naive_trees import naive_tree, naive_walk


def all_allowed(X):
    return np.ones(X.shape[1], dtype=np.uint8)


def grow(X, along, weight=None, allowed=None, max_leaves=8, min_weight=1.0, real=True, max_bins=None):
    weight = np.ones(len(X)) if weight is None else weight
    grower = TreeGrower(make_pool(X, weight, max_bins), weight, 1)
    return grower.grow(along, all_allowed(X) if allowed is None else allowed, max_leaves, min_weight, real)


def assert_equals_naive(X, along, weight=None, allowed=None, max_leaves=8, min_weight=1.0, real=True, max_bins=None):
    found = grow(X, along, weight, allowed, max_leaves, min_weight, real, max_bins)
    weight = np.ones(len(X)) if weight is None else weight
    pool = make_pool(X, weight, max_bins)
    thresholds = [pool.thresholds(f) for f in range(X.shape[1])]
    allowed = all_allowed(X) if allowed is None else allowed
    tree = naive_tree(X, along, weight, thresholds, allowed, max_leaves, min_weight, real)
    parts = ("feature", "left", "right", "threshold", "sum", "weight")
    for part, values in zip(parts, found, strict=False):
        assert values.tolist() == [getattr(node, part) for node in tree.nodes], part
    assert found[6].tolist() == tree.leaf_of(len(X)).tolist()
    return tree


def equal_bits(one, other):
    return all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("real", [True, False])
@pytest.mark.parametrize("name", TABLES)
def test_trees_equal_naive_ones(name, real, rng):
    X = TABLES[name]
    along, weight = integers(rng, len(X)), rng.integers(1, 9, len(X)).astype(float)
    ties = np.where(np.arange(len(X)) % 2 == 0, 1.0, -1.0)  # many splits are tied: the first wins
    many, few = (16, 4) if len(X) > 100 else (None, 4)
    for max_leaves in (1, 2, 5):
        assert_equals_naive(X, along, max_leaves=max_leaves, real=real, max_bins=many)
    assert_equals_naive(X, along, max_leaves=40, min_weight=0.0, real=real, max_bins=few)
    assert_equals_naive(X, ties, max_leaves=6, real=real, max_bins=many)
    assert_equals_naive(X, np.zeros(len(X)), real=real, max_bins=few)
    assert_equals_naive(X, along, weight, None, 6, 1.0, real, 2)
    assert_equals_naive(X, along, weight, None, 6, 7.0, real, many)
    assert_equals_naive(X, along, weight, None, 6, weight.sum() / 3, real, few)


@pytest.mark.parametrize("real", [True, False])
def test_no_leaf_is_lighter_than_the_minimum(real):
    """Also if that exceeds the weight of all rows, with small weights, or beyond all integers."""
    X = np.arange(100.0)[:, None]
    along = 2 * X[:, 0] - 99
    for weight in (np.ones(100), np.full(100, 2.0**-7)):
        total = weight.sum()
        for least in (0.03 * total, 0.5 * total, 0.51 * total, total, 1.01 * total, 20.0, 5e3, 1e6, 1e20, 1e300):
            tree = assert_equals_naive(X, along, weight, min_weight=least, real=real)
            assert all(node.weight >= least for node in tree.nodes[1:])
            assert (len(tree.nodes) > 1) == (least <= 0.5 * total)


@given(
    X=hnp.arrays(np.float64, st.tuples(st.integers(1, 14), st.integers(1, 5)), elements=st.integers(-3, 3)),
    data=st.data(),
)
def test_trees_equal_naive_ones_on_any_table(X, data):
    def column(low, high, n):
        return np.array(data.draw(st.lists(st.integers(low, high), min_size=n, max_size=n)), dtype=float)

    assert_equals_naive(
        X,
        along=column(-4, 4, len(X)),
        weight=column(1, 5, len(X)),
        allowed=column(0, 1, X.shape[1]).astype(np.uint8),
        max_leaves=data.draw(st.integers(1, 9)),
        min_weight=data.draw(st.sampled_from([0.0, 0.5, 1.0, 3.0, 10.0])),
        real=data.draw(st.booleans()),
        max_bins=data.draw(st.sampled_from([None, 2, 3])),
    )


@pytest.mark.parametrize("used", [[], [0], [39], [3, 17, 38]])
def test_features_that_are_not_allowed_are_not_used(used, rng):
    X, along = TABLES["sparse, two blocks"], integers(rng, 50)
    allowed = np.isin(np.arange(40), used).astype(np.uint8)
    for real in (True, False):
        tree = assert_equals_naive(X, along, allowed=allowed, real=real)
        assert {node.feature for node in tree.nodes} <= {-1, *used}


def test_signs_that_agree_are_not_split(rng):
    """The |G| of the parts add up exactly to that of the whole."""
    X = TABLES["many values"]
    for _ in range(20):
        assert grow(X, rng.random(60) + 0.1, real=False)[0].tolist() == [-1]


@pytest.mark.parametrize("real", [True, False])
def test_rows_whose_weight_is_negligible_count_with_their_duals(real, rng):
    """Their weight rounds to 0 beside the others', but their duals do not."""
    X, along = rng.permutation(20).astype(float)[:, None], integers(rng, 20)
    weight = np.where(np.arange(20) % 2 == 0, 1.0, 1e-18)
    *_, sums, _, leaf_of = grow(X, along, weight, min_weight=0.0, real=real)
    leaves = np.unique(leaf_of)
    assert len(leaves) > 2
    assert sums[leaves].tolist() == [along[leaf_of == leaf].sum() for leaf in leaves]


def test_gains_of_rounding_are_none(rng):
    """With the same mean everywhere, no split gains anything."""
    X = TABLES["many values"]
    for _ in range(20):
        weight = rng.random(60)
        assert grow(X, 0.1 * weight, weight, min_weight=0.0)[0].tolist() == [-1]


@pytest.mark.parametrize("power", [-1000, -60, 60, 900])
def test_powers_of_two_change_no_split(power, rng):
    X, along, weight = TABLES["many values"], integers(rng, 60), rng.integers(1, 5, 60).astype(float)
    *plain, sums, weights, leaf_of = grow(X, along, weight)
    assert equal_bits([*plain, np.ldexp(sums, power), weights, leaf_of], grow(X, np.ldexp(along, power), weight))


def test_a_grower_remembers_nothing(rng):
    X = TABLES["many values"]
    grower, first, second = TreeGrower(make_pool(X), np.ones(60), 1), integers(rng, 60), integers(rng, 60)
    before = grower.grow(first, all_allowed(X), 6, 1.0, True)
    grower.grow(second, all_allowed(X), 9, 3.0, False)
    assert equal_bits(before, grower.grow(first, all_allowed(X), 6, 1.0, True))


def forest(rng, d, sizes):
    """Return the arguments of `TreeTables` for random trees with so many leaves each."""
    nodes, begin = [], [0]  # feature, left, right
    for n_leaves in sizes:
        tree = [[-1, -1, -1]]
        for _ in range(n_leaves - 1):
            at = rng.choice([k for k, node in enumerate(tree) if node[0] < 0])
            tree[at] = [int(rng.integers(d)), len(tree), len(tree) + 1]
            tree += [[-1, -1, -1], [-1, -1, -1]]
        nodes += tree
        begin.append(len(nodes))
    integer = np.ascontiguousarray(np.array(nodes, dtype=np.int32).reshape(-1, 3).T)
    thresholds, values = rng.integers(-3, 4, len(nodes)) / 2, rng.normal(size=len(nodes)).astype(np.float32)
    return np.array(begin), *integer, thresholds, values


def walk(X, begin, features, left, right, thresholds, values):
    """Return the responses, flat, by one walk per row and tree."""
    trees = [slice(a, b) for a, b in pairwise(begin)]
    return [
        float(values[own][naive_walk(x, features[own], left[own], right[own], thresholds[own])])
        for x in X
        for own in trees
    ]


def respond_trees(X, *trees, n_threads=1):
    return TreeTables(*trees).respond(X, n_threads)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_decisions_are_weighted_sums_of_responses(dtype, n_outputs, rng):
    trees, X = forest(rng, 4, [1, 2, 5, 9, 30]), rng.normal(size=(300, 4)).astype(dtype)
    weights = rng.normal(size=(5, n_outputs))
    expected = np.zeros((300, n_outputs))
    for response, weight in zip(respond_trees(X, *trees).reshape(300, 5).T, weights, strict=True):
        expected += np.multiply.outer(response.astype(float), weight)  # tree by tree, for the same bits
    for n_threads in (1, 2):
        assert TreeTables(*trees).decide(X, weights, n_threads).tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_responses_are_walks(dtype, rng):
    trees = forest(rng, 4, [1, 2, 3, 8, 1, 20])
    X = (integers(rng, 50, 4, most=4) / 2).astype(dtype)  # many values equal a threshold
    expected = walk(X, *trees)
    for same in same_tables(X):
        found = respond_trees(same, *trees, n_threads=1)
        assert found.dtype == np.float32
        assert found.tolist() == expected
    assert (
        len(respond_trees(X[:0], *trees, n_threads=1)) == len(respond_trees(X, *forest(rng, 4, []), n_threads=1)) == 0
    )


def test_values_are_compared_in_float64_and_nan_goes_left(rng):
    *trees, thresholds, values = forest(rng, 1, [2])
    thresholds[0] = 0.1
    for x, leaf in ((np.float32(0.1), 2), (np.nextafter(np.float32(0.1), np.float32(0)), 1), (0.1, 1)):
        assert respond_trees(np.array([[x]]), *trees, thresholds, values, n_threads=1).tolist() == [values[leaf]]
    X = np.array([[np.nan], [np.inf], [-np.inf]])
    assert respond_trees(X, *trees, thresholds, values, n_threads=1).tolist() == values[[1, 2, 1]].tolist()


@pytest.mark.parametrize("real", [True, False])
def test_training_rows_reach_their_leaf(real, rng):
    X = TABLES["more than 256 values"]
    *nodes, _, _, leaf_of = grow(X, integers(rng, 400), max_leaves=12, real=real, max_bins=32)
    numbers = np.arange(len(nodes[0]), dtype=np.float32)
    assert respond_trees(X, np.array([0, len(numbers)]), *nodes, numbers).tolist() == leaf_of.tolist()
