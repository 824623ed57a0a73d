"""Grown trees equal naive ones, and walks through them are walks. Numbers are integers, so that ``==`` is fair."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cgens._core import StumpPool, TreeGrower, TreeTables
from tests.native.tables import TABLES, make_pool
from tests.reference.naive_trees import naive_tree, naive_walk

ONES = np.ones(4)
TABLE = np.arange(12.0).reshape(4, 3)


def all_allowed(X):
    return np.ones(X.shape[1], dtype=np.uint8)


def grow(X, along, weight=None, allowed=None, max_leaves=8, min_weight=1.0, real=True, max_bins=None, n_threads=1):
    weight = np.ones(len(X)) if weight is None else weight
    grower = TreeGrower(make_pool(X, weight, max_bins, n_threads), weight, n_threads)
    return grower.grow(along, all_allowed(X) if allowed is None else allowed, max_leaves, min_weight, real)


def assert_equals_naive(X, along, weight=None, allowed=None, max_leaves=8, min_weight=1.0, real=True, max_bins=None):
    found = grow(X, along, weight, allowed, max_leaves, min_weight, real, max_bins)
    weight = np.ones(len(X)) if weight is None else weight
    pool = make_pool(X, weight, max_bins)
    thresholds = [pool.thresholds(f) for f in range(X.shape[1])]
    allowed = all_allowed(X) if allowed is None else allowed
    tree = naive_tree(X, along, weight, thresholds, allowed, max_leaves, min_weight, real)
    features, left, right, cuts, sums, weights, leaf_of = (part.tolist() for part in found)
    assert features == [node.feature for node in tree.nodes]
    assert left == [node.left for node in tree.nodes]
    assert right == [node.right for node in tree.nodes]
    assert cuts == [node.threshold for node in tree.nodes]
    assert sums == [node.sum for node in tree.nodes]
    assert weights == [node.weight for node in tree.nodes]
    assert leaf_of == tree.leaf_of(len(X)).tolist()
    return tree


def integers(rng, n, most=5):
    return rng.integers(-most, most + 1, n).astype(float)


@pytest.mark.parametrize("real", [True, False])
@pytest.mark.parametrize("max_leaves", [1, 2, 5, 40])
@pytest.mark.parametrize("name", TABLES)
def test_trees_equal_naive_ones(name, max_leaves, real, rng):
    X = TABLES[name]
    if len(X) * max_leaves > 2000:
        max_leaves = 5
    max_bins = 16 if len(X) > 100 else None
    assert_equals_naive(X, integers(rng, len(X)), max_leaves=max_leaves, real=real, max_bins=max_bins)


@pytest.mark.parametrize("real", [True, False])
@pytest.mark.parametrize("max_bins", [2, 4, 256])
@pytest.mark.parametrize(
    "name", ["few values", "many values", "sparse, two blocks", "repeated and sign-flipped features"]
)
def test_trees_of_weighted_rows_equal_naive_ones(name, max_bins, real, rng):
    X = TABLES[name]
    weight = rng.integers(1, 9, len(X)).astype(float)
    for min_weight in (0.0, 1.0, 7.0, weight.sum() / 3):
        assert_equals_naive(X, integers(rng, len(X)), weight, None, 6, min_weight, real, max_bins)


@pytest.mark.parametrize("real", [True, False])
@pytest.mark.parametrize("name", TABLES)
def test_all_ties_go_to_the_first(name, real):
    """With numbers of +-1 a great many splits are equal."""
    X = TABLES[name]
    along = np.where(np.arange(len(X)) % 2 == 0, 1.0, -1.0)
    assert_equals_naive(X, along, max_leaves=6, real=real, max_bins=16 if len(X) > 100 else None)


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


@pytest.mark.parametrize("real", [True, False])
def test_features_that_are_not_allowed_are_not_used(real, rng):
    X, along = TABLES["sparse, two blocks"], integers(rng, 50)
    for used in ([], [0], [39], [3, 17, 38]):
        allowed = np.zeros(40, dtype=np.uint8)
        allowed[used] = 1
        tree = assert_equals_naive(X, along, allowed=allowed, real=real)
        assert {node.feature for node in tree.nodes} <= {-1, *used}


@pytest.mark.parametrize("min_weight", [3.0, 50.0, 51.0, 100.0, 101.0, 5e3, 1e6, 1e20, 1e300])
@pytest.mark.parametrize("real", [True, False])
def test_no_leaf_is_lighter_than_asked(min_weight, real, rng):
    X = np.arange(100.0)[:, None]
    features, *_, weights, _ = grow(X, integers(rng, 100), min_weight=min_weight, real=real)
    assert np.all(weights[features < 0] >= min(min_weight, 100.0))
    assert len(features) == 1 or min_weight <= 50


def test_least_weights_count_in_the_units_of_small_weights(rng):
    """Weights that add up to 1: no leaf has a weight of 20."""
    X = np.arange(100.0)[:, None]
    assert len(grow(X, integers(rng, 100), np.full(100, 0.01), min_weight=20.0)[0]) == 1


def test_numbers_of_zero_are_not_split():
    X = TABLES["few values"]
    features, *_, leaf_of = grow(X, np.zeros(len(X)))
    assert features.tolist() == [-1]
    assert not leaf_of.any()


def test_signs_that_agree_are_not_split(rng):
    """|G| of the parts is |G| of the whole, whatever the numbers: sums are exact."""
    X = TABLES["many values"]
    for _ in range(20):
        assert grow(X, rng.random(60) + 0.1, real=False)[0].tolist() == [-1]


@pytest.mark.parametrize("power", [-1000, -60, 60, 900])
def test_powers_of_two_change_no_split(power, rng):
    X, along, weight = TABLES["many values"], integers(rng, 60), rng.integers(1, 5, 60).astype(float)
    plain, scaled = grow(X, along, weight), grow(X, np.ldexp(along, power), weight)
    for k in (0, 1, 2, 3, 5, 6):
        assert np.array_equal(plain[k], scaled[k])
    assert np.array_equal(np.ldexp(plain[4], power), scaled[4])


def test_a_grower_remembers_nothing(rng):
    X = TABLES["many values"]
    grower = TreeGrower(make_pool(X), np.ones(60), 1)
    first, second = integers(rng, 60), integers(rng, 60)
    before = grower.grow(first, all_allowed(X), 6, 1.0, True)
    grower.grow(second, all_allowed(X), 9, 3.0, False)
    after = grower.grow(first, all_allowed(X), 6, 1.0, True)
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


def test_rows_are_read_through_the_index(rng):
    X, rows, along = TABLES["many values"], rng.permutation(60)[:35], integers(rng, 35)
    indexed = TreeGrower(StumpPool(X, rows, np.ones(35), 35, 1), np.ones(35), 1)
    copied = grow(np.ascontiguousarray(X[rows]), along, max_leaves=6)
    for a, b in zip(indexed.grow(along, all_allowed(X), 6, 1.0, True), copied, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("real", [True, False])
def test_threads_do_not_matter(real, rng):
    X = rng.normal(size=(6000, 40)).round(2) * (rng.random((6000, 40)) < 0.7)
    along, weight = rng.normal(size=6000), rng.random(6000) + 0.1
    one = grow(X, along, weight, max_leaves=12, real=real, max_bins=64)
    assert len(one[0]) == 23
    for n_threads in (2, 3, 4):
        several = grow(X, along, weight, max_leaves=12, real=real, max_bins=64, n_threads=n_threads)
        assert all(a.tobytes() == b.tobytes() for a, b in zip(one, several, strict=True))


def forest(rng, d, sizes):
    """Return the arrays of trees of so many leaves each, of random shape, as `TreeTables` takes them."""
    nodes = {name: [] for name in ("features", "left", "right", "thresholds")}
    begin = [0]
    for n_leaves in sizes:
        features, left, right = [-1], [-1], [-1]
        for _ in range(n_leaves - 1):
            at = rng.choice([k for k, feature in enumerate(features) if feature < 0])
            features[at], left[at], right[at] = int(rng.integers(d)), len(features), len(features) + 1
            features += [-1, -1]
            left, right = [*left, -1, -1], [*right, -1, -1]
        thresholds = rng.integers(-3, 4, len(features)) / 2
        for name, values in zip(nodes, (features, left, right, thresholds.tolist()), strict=True):
            nodes[name] += values
        begin.append(len(nodes["features"]))
    integer = [np.array(nodes[name], dtype=np.int32) for name in ("features", "left", "right")]
    values = rng.normal(size=begin[-1]).astype(np.float32)
    return np.array(begin, dtype=np.int64), *integer, np.array(nodes["thresholds"]), values


def walk(X, begin, features, left, right, thresholds, values):
    """Return the responses, flat, one walk a row and a tree."""
    trees = [slice(a, b) for a, b in pairwise(begin)]
    return [
        float(values[own][naive_walk(x, features[own], left[own], right[own], thresholds[own])])
        for x in X
        for own in trees
    ]


SHAPES = {
    "C": lambda X: X,
    "Fortran": np.asfortranarray,
    "rows": lambda X: np.repeat(X, 2, axis=0)[::2],
    "columns": lambda X: np.repeat(X, 3, axis=1)[:, ::3],
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "no rows": lambda X: X[:0],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_responses_are_walks(dtype, shape, rng):
    trees = forest(rng, 4, [1, 2, 3, 8, 1, 20])
    X = SHAPES[shape]((rng.integers(-4, 5, size=(50, 4)) / 2).astype(dtype))  # many of them on a threshold
    found = TreeTables(*trees).respond(X, n_threads=1)
    assert found.dtype == np.float32
    assert found.tolist() == walk(X, *trees)


def test_floats_are_compared_in_double():
    trees = forest(np.random.default_rng(0), 1, [2])
    trees[4][0] = 0.1
    X = np.array([[0.1], [np.nextafter(np.float32(0.1), np.float32(0))]], dtype=np.float32)
    assert float(X[0, 0]) > 0.1 > float(X[1, 0])
    assert TreeTables(*trees).respond(X, n_threads=1).tolist() == [float(trees[5][2]), float(trees[5][1])]


def test_a_number_that_is_none_goes_left_and_infinity_goes_its_way(rng):
    trees = forest(rng, 1, [2])
    X = np.array([[np.nan], [np.inf], [-np.inf]])
    assert TreeTables(*trees).respond(X, n_threads=1).tolist() == trees[5][[1, 2, 1]].tolist()


def test_no_trees_respond_nothing():
    empty, none = np.zeros(0, dtype=np.int32), np.zeros(0)
    tables = TreeTables(np.zeros(1, np.int64), empty, empty, empty, none, none.astype("f4"))
    assert len(tables.respond(TABLE, 1)) == 0
    assert tables.decide(TABLE, np.zeros((0, 2)), 1).tolist() == [0.0] * (2 * len(TABLE))


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_decisions_are_weighted_sums_of_responses(dtype, n_outputs, rng):
    trees, X = forest(rng, 4, [1, 2, 5, 9, 30]), rng.normal(size=(300, 4)).astype(dtype)
    weights = rng.integers(-8, 9, size=(5, n_outputs)).astype(float)
    tables = TreeTables(*trees)
    expected = np.zeros((300, n_outputs))
    for response, weight in zip(tables.respond(X, 1).reshape(300, 5).T, weights, strict=True):
        expected += np.multiply.outer(response.astype(float), weight)  # tree by tree: the same sums, to the bit
    for n_threads in (1, 2):
        assert tables.decide(X, weights, n_threads).tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_do_not_change_responses(dtype, rng):
    trees, X = forest(rng, 4, [8] * 30), rng.normal(size=(2000, 4)).astype(dtype)
    one = TreeTables(*trees).respond(X, n_threads=1)
    for n_threads in (2, 3, 4):
        assert TreeTables(*trees).respond(X, n_threads=n_threads).tobytes() == one.tobytes()


@pytest.mark.parametrize("real", [True, False])
def test_training_rows_walk_to_the_leaf_they_were_put_in(real, rng):
    X = TABLES["more than 256 values"]
    features, left, right, thresholds, _, _, leaf_of = grow(
        X, integers(rng, 400), max_leaves=12, real=real, max_bins=32
    )
    numbers = np.arange(len(features), dtype=np.float32)
    begin = np.array([0, len(features)], dtype=np.int64)
    assert TreeTables(begin, features, left, right, thresholds, numbers).respond(X, 1).tolist() == leaf_of.tolist()


def answer(X=TABLE, begin=(0, 3), features=(0, -1, -1), left=(1, -1, -1), right=(2, -1, -1), n_values=3, **dtypes):
    """Ask one tree of three nodes, with one thing wrong."""
    integer = dtypes.get("integer", np.int32)
    tables = TreeTables(
        np.array(begin, dtype=np.int64),
        *(np.array(part, dtype=integer) for part in (features, left, right)),
        np.zeros(3, dtype=dtypes.get("threshold", np.float64)),
        np.zeros(n_values, dtype=dtypes.get("value", np.float32)),
    )
    return tables.respond(X, n_threads=1)


def grower():
    return TreeGrower(make_pool(TABLE), ONES, 1)


FLAGS = np.ones(3, dtype=np.uint8)

BROKEN = {
    "no begin at all": lambda: answer(begin=()),
    "begin after 0": lambda: answer(begin=(1, 3)),
    "end too small": lambda: answer(begin=(0, 2)),
    "end too large": lambda: answer(begin=(0, 4)),
    "negative end": lambda: answer(begin=(0, -1)),
    "empty tree": lambda: answer(begin=(0, 0, 3)),
    "trees that overlap": lambda: answer(begin=(0, 3, 1, 3)),
    "feature out of range": lambda: answer(features=(3, -1, -1)),
    "feature out of the range of fewer columns": lambda: answer(X=TABLE[:, :0]),
    "child that is its parent": lambda: answer(left=(0, -1, -1)),
    "child before its parent": lambda: answer(features=(0, 0, -1), left=(1, 0, -1), right=(2, 2, -1)),
    "negative child": lambda: answer(right=(-1, -1, -1)),
    "child outside": lambda: answer(right=(3, -1, -1)),
    "child in the next tree": lambda: answer(begin=(0, 2, 3)),
    "too few children": lambda: answer(left=(1, -1)),
    "too many values": lambda: answer(n_values=4),
    "too few values": lambda: answer(n_values=2),
    "weights too short": lambda: TreeGrower(make_pool(TABLE), ONES[:3], 1),
    "weight of 0": lambda: TreeGrower(make_pool(TABLE), np.array([1.0, 0.0, 1.0, 1.0]), 1),
    "negative weight": lambda: TreeGrower(make_pool(TABLE), -ONES, 1),
    "weight of NaN": lambda: TreeGrower(make_pool(TABLE), np.full(4, np.nan), 1),
    "infinite weight": lambda: TreeGrower(make_pool(TABLE), np.full(4, np.inf), 1),
    "numbers too short": lambda: grower().grow(ONES[:3], FLAGS, 2, 1.0, True),
    "NaN among the numbers": lambda: grower().grow(np.array([1.0, np.nan, 1.0, 1.0]), FLAGS, 2, 1.0, True),
    "infinity among the numbers": lambda: grower().grow(np.full(4, -np.inf), FLAGS, 2, 1.0, True),
    "too few flags": lambda: grower().grow(ONES, FLAGS[:2], 2, 1.0, True),
    "no leaf": lambda: grower().grow(ONES, FLAGS, 0, 1.0, True),
    "negative least weight": lambda: grower().grow(ONES, FLAGS, 2, -1.0, True),
    "least weight of NaN": lambda: grower().grow(ONES, FLAGS, 2, np.nan, True),
    "infinite least weight": lambda: grower().grow(ONES, FLAGS, 2, np.inf, True),
}

WRONG_TYPE = {
    "integer rows": lambda: answer(X=TABLE.astype(int)),
    "64-bit nodes": lambda: answer(integer=np.int64),
    "float32 thresholds": lambda: answer(threshold=np.float32),
    "float64 values": lambda: answer(value=np.float64),
    "no pool": lambda: TreeGrower(None, ONES, 1),
    "float32 weights": lambda: TreeGrower(make_pool(TABLE), ONES.astype(np.float32), 1),
    "float32 numbers": lambda: grower().grow(ONES.astype(np.float32), FLAGS, 2, 1.0, True),
    "strided numbers": lambda: grower().grow(np.ones(8)[::2], FLAGS, 2, 1.0, True),
    "boolean flags": lambda: grower().grow(ONES, FLAGS.astype(bool), 2, 1.0, True),
    "negative number of leaves": lambda: grower().grow(ONES, FLAGS, -1, 1.0, True),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_contract_is_a_value_error(name):
    with pytest.raises(ValueError, match=r"\w"):
        BROKEN[name]()


@pytest.mark.parametrize("name", WRONG_TYPE)
def test_wrong_type_is_a_type_error_and_no_silent_copy(name):
    with pytest.raises(TypeError):
        WRONG_TYPE[name]()


def test_nodes_beyond_the_arrays_are_not_read():
    """Where begin goes down again, the first tree would reach beyond the end: here to features that X does not have."""
    features = np.array([-1, -1, -1, 99, 99], dtype=np.int32)[:3]
    children, begin = np.full(3, -1, dtype=np.int32), np.array([0, 5, 3])
    with pytest.raises(ValueError, match=r"begin|empty"):
        TreeTables(begin, features, children, children, np.zeros(3), np.zeros(3, np.float32))


def test_a_grower_works_after_a_refusal_and_keeps_its_pool_alive():
    live = grower()
    with pytest.raises(ValueError, match="one number per row"):
        live.grow(ONES[:3], FLAGS, 2, 1.0, True)
    assert live.grow(np.array([-1.0, -1.0, 1.0, 1.0]), FLAGS, 2, 1.0, True)[0].tolist() == [0, -1, -1]
