"""Trees equal naive ones, and so do their responses. Inputs are integers: results are exact."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgens._core import TreeGrower, TreeTables
from tests.native.tables import TABLES, any_table, binning, integers, make_pool, same_tables, with_gaps
from tests.reference.naive_trees import NaiveGrower, naive_walk


def all_allowed(X):
    return np.ones(X.shape[1], dtype=np.uint8)


#: Bytes of stored histograms: none; one or a few, depending on the table; all.
BUDGETS = (0, 3000, 2**26)


def grow(X, along, weight=None, allowed=None, max_leaves=8, min_weight=1.0, real=True, drawn=None, seed=None, **bins):
    weight = np.ones(len(X)) if weight is None else weight
    pool = make_pool(X, weight, **bins)
    allowed = all_allowed(X) if allowed is None else allowed
    growers = [TreeGrower(pool, weight, 1, budget) for budget in BUDGETS]
    trees = [own.grow(along, allowed, max_leaves, min_weight, real, drawn, seed) for own in growers]
    assert all(equal_bits(own, trees[-1]) for own in trees), "histograms are stored or made again"
    return trees[-1]


def features_of(pool, is_category=None):
    """Return the thresholds of numbers and the levels of categories."""
    is_category = [False] * pool.n_features if is_category is None else is_category
    return [
        frozenset(pool.levels(f).tolist()) if is_category[f] else pool.thresholds(f).tolist()
        for f in range(pool.n_features)
    ]


def parts_of(levels, level_begin):
    return [levels[a:b].tolist() for a, b in pairwise(level_begin)]


def leaves_of(X, tree):
    """Return the number of the leaf that each row reaches, given what `grow` returned."""
    features, left, right, thresholds, _, _, gaps_right, level_begin, levels, _ = tree
    numbers = np.arange(len(features), dtype=np.float32)
    begin = np.array([0, len(features)])
    trees = TreeTables(begin, features, left, right, thresholds, numbers, gaps_right, level_begin, levels)
    return trees.respond(X, 1).astype(int).tolist()


def assert_equals_naive(
    X, along, weight=None, allowed=None, max_leaves=8, min_weight=1.0, real=True, drawn=None, seed=None, **bins
):
    """Compare all nodes, and the leaves of the training rows, also as new rows. Returns the naive tree."""
    weight = np.ones(len(X)) if weight is None else weight
    allowed = all_allowed(X) if allowed is None else allowed
    own = grow(X, along, weight, allowed, max_leaves, min_weight, real, drawn, seed, **bins)
    features, left, right, thresholds, sums, weights, gaps_right, level_begin, levels, leaf_of = own
    splits = features_of(make_pool(X, weight, **bins), bins.get("is_category"))
    tree = NaiveGrower(X, along, weight, splits, allowed, min_weight, real, drawn, seed).grow(max_leaves)
    found = [
        features.tolist(),
        [None if np.isnan(threshold) else threshold for threshold in thresholds.tolist()],
        parts_of(levels, level_begin),
        gaps_right.tolist(),
        *(part.tolist() for part in (left, right, sums, weights)),
    ]
    names = ("feature", "threshold", "levels", "gaps_right")
    expected = [[getattr(node.split, name) for node in tree.nodes] for name in names]
    expected += [[getattr(node, name) for node in tree.nodes] for name in ("left", "right", "sum", "weight")]
    expected[2] = list(map(list, expected[2]))
    assert found == expected
    assert leaf_of.tolist() == tree.leaf_of(len(X)).tolist() == leaves_of(X, own)
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
    kept = {"real": real, **binning(name)}
    for max_leaves in (1, 2, 5):
        assert_equals_naive(X, along, max_leaves=max_leaves, max_bins=many, **kept)
    assert_equals_naive(X, along, max_leaves=40, min_weight=0.0, max_bins=few, **kept)
    assert_equals_naive(X, ties, max_leaves=6, max_bins=many, **kept)
    assert_equals_naive(X, np.zeros(len(X)), max_bins=few, **kept)
    assert_equals_naive(X, along, weight, max_leaves=6, max_bins=2, **kept)
    assert_equals_naive(X, along, weight, max_leaves=6, min_weight=7.0, max_bins=many, **kept)
    assert_equals_naive(X, along, weight, max_leaves=6, min_weight=weight.sum() / 3, max_bins=few, **kept)
    assert_equals_naive(X, ties, weight, max_leaves=9, max_bins=few, **kept)
    drawn = (rng.random(len(X)) < 0.7).astype(np.uint8)
    drawn[:1] = 1
    for seed in (None, 7):
        assert_equals_naive(X, along, weight, max_leaves=6, drawn=drawn, seed=seed, max_bins=many, **kept)
        assert_equals_naive(X, ties, max_leaves=9, min_weight=3.0, drawn=drawn, seed=seed, max_bins=few, **kept)


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


@settings(max_examples=150)
@given(table=any_table(), data=st.data())
def test_trees_equal_naive_ones_on_any_table(table, data):
    def column(low, high, n):
        return np.array(data.draw(st.lists(st.integers(low, high), min_size=n, max_size=n)), dtype=float)

    X, bins = table
    assert_equals_naive(
        X,
        along=column(-4, 4, len(X)),
        weight=column(1, 5, len(X)),
        allowed=column(0, 1, X.shape[1]).astype(np.uint8),
        max_leaves=data.draw(st.integers(1, 9)),
        min_weight=data.draw(st.sampled_from([0.0, 0.5, 1.0, 3.0, 10.0])),
        real=data.draw(st.booleans()),
        drawn=np.maximum(column(0, 1, len(X)), np.arange(len(X)) == 0).astype(np.uint8),
        seed=data.draw(st.sampled_from([None, 0, 1, 2**64 - 1])),
        max_bins=data.draw(st.sampled_from([None, 2, 3])),
        **bins,
    )


def grow_levels(codes, along, weight=None, **options):
    """Return what a tree of one split on a category says: the levels that go right, and whether gaps do."""
    weight = np.ones(len(codes)) if weight is None else np.array(weight, dtype=float)
    options = {"is_category": np.array([True]), "max_leaves": 2, **options}
    X, along = np.array(codes, dtype=float)[:, None], np.array(along, dtype=float)
    assert_equals_naive(X, along, weight, **options)
    *_, gaps_right, level_begin, levels, _ = grow(X, along, weight, **options)
    return parts_of(levels, level_begin)[0], bool(gaps_right[0])


GAP = np.nan
# The codes of six rows -> which levels and whether gaps go right, with along = -1, -1, -1, 1, 1, 1.
SIDES = {
    "the heavier side is left": ([0, 0, 1, 2, 2, 2], {"weight": [1, 1, 1, 9, 9, 9]}, ([0, 1], False)),
    "of equal sides the lower is left": ([0, 0, 1, 2, 2, 3], {}, ([2, 3], False)),
    "the side of rare levels is left": ([0, 0, 0, 1, 2, 3], {"min_level_weight": 2}, ([0], False)),
    "rare levels are left, and the heavier side is right": (
        [0, 0, 0, 1, 2, 3],
        {"weight": [9, 9, 9, 1, 1, 1], "min_level_weight": 2},
        ([0], True),
    ),
    "gaps are on their own side": ([0, 0, 1, GAP, GAP, 2], {}, ([2], True)),
    "gaps are left with the heavier side": (
        [0, 0, 1, GAP, GAP, 2],
        {"weight": [1, 1, 1, 9, 9, 9]},
        ([0, 1], False),
    ),
    "only gaps are right": ([0, 0, 1, GAP, GAP, GAP], {}, ([], True)),
}


@pytest.mark.parametrize("name", SIDES)
def test_sides_of_levels_and_gaps(name):
    codes, options, expected = SIDES[name]
    assert grow_levels(codes, [-1, -1, -1, 1, 1, 1], **options) == expected


def test_rows_of_negligible_weight_reach_their_leaf():
    """A gap without weight or dual counts as none, but goes where gaps do."""
    X, weight = np.array([[0.0], [0.0], [0.0], [1.0], [2.0], [GAP]]), np.array([9.0, 9.0, 9.0, 1.0, 1.0, 1e-18])
    along, bins = np.array([-1.0, -1, -1, 1, 1, 0]), {"is_category": np.array([True]), "min_level_weight": 2.0}
    tree = grow(X, along, weight, max_leaves=2, **bins)
    assert tree[6].tolist() == [1, 0, 0], "gaps go right"
    assert tree[-1].tolist() == leaves_of(X, tree) == [2, 2, 2, 1, 1, 2]


def test_a_level_of_negligible_weight_does_not_prevent_a_split():
    """Its mean is infinite if means are not shrunk, as here, where rows do not scatter around those of their levels."""
    X, weight = np.array([[0.0], [0], [0], [1], [1], [1], [2]]), np.array([1.0, 1, 1, 1, 1, 1, 1e-18])
    tree = grow(X, np.array([-1.0, -1, -1, 1, 1, 1, 5]), weight, max_leaves=2, is_category=np.array([True]))
    assert tree[0].tolist() == [0, -1, -1]
    assert tree[-1].tolist() == leaves_of(X, tree)
    assert len({*tree[-1][:3].tolist()} | {*tree[-1][3:6].tolist()}) == 2


@pytest.mark.parametrize("seed", range(5))
def test_many_levels_without_an_effect_lose_against_a_small_effect(seed):
    """The best split of their means would gain about three times as much by chance."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 200, 2000), rng.normal(size=2000)])
    along = np.round(10 * (rng.normal(size=2000) + 0.15 * np.sign(X[:, 1])))
    bins = {"max_bins": 8, "is_category": np.array([True, False])}
    for real in (True, False):
        assert assert_equals_naive(X, along, max_leaves=2, real=real, **bins).nodes[0].split.feature == 1


@pytest.mark.parametrize("used", [[], [0], [39], [3, 17, 38]])
def test_features_that_are_not_allowed_are_not_used(used, rng):
    X, along = TABLES["sparse, two blocks"], integers(rng, 50)
    allowed = np.isin(np.arange(40), used).astype(np.uint8)
    for real in (True, False):
        tree = assert_equals_naive(X, along, allowed=allowed, real=real)
        assert {node.split.feature for node in tree.nodes} <= {-1, *used}


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
    tree = grow(X, along, weight, min_weight=0.0, real=real)
    sums, leaf_of = tree[4], tree[-1]
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
    for name in ("many values", "rare levels and gaps"):
        X, along, weight = TABLES[name], integers(rng, 60), rng.integers(1, 5, 60).astype(float)
        tree = list(grow(X, along, weight, **binning(name)))
        assert len(tree[0]) > 5
        tree[4] = np.ldexp(tree[4], power)  # the sums
        assert equal_bits(tree, grow(X, np.ldexp(along, power), weight, **binning(name)))


N_LEVELS = 150


def forest(rng, d, sizes):
    """Return the arguments of `TreeTables`: random trees with so many leaves each; the last feature is a category."""
    nodes, begin = [], [0]  # feature, left, right
    for n_leaves in sizes:
        tree = [[-1, -1, -1]]
        for _ in range(n_leaves - 1):
            at = rng.choice([k for k, node in enumerate(tree) if node[0] < 0])
            tree[at] = [int(rng.integers(d)), len(tree), len(tree) + 1]
            tree += [[-1, -1, -1], [-1, -1, -1]]
        nodes += tree
        begin.append(len(nodes))
    features, left, right = np.ascontiguousarray(np.array(nodes, dtype=np.int32).reshape(-1, 3).T)
    thresholds, values = rng.integers(-3, 4, len(nodes)) / 2, rng.normal(size=len(nodes)).astype(np.float32)
    thresholds[features == d - 1] = np.nan
    shares = rng.choice([0.0, 0.02, 0.5], len(nodes)) * (features == d - 1)
    levels = [np.flatnonzero(rng.random(N_LEVELS) < share) for share in shares]
    level_begin = np.cumsum([0, *map(len, levels)])
    levels = np.concatenate([*levels, []]).astype(np.uint32)
    gaps_right = rng.integers(0, 2, len(nodes)).astype(np.uint8)
    return np.array(begin), features, left, right, thresholds, values, gaps_right, level_begin, levels


def rows_for(rng, n_rows, d, dtype):
    """Return rows with gaps and with levels, some of them unknown; many numbers equal a threshold."""
    X = np.column_stack([integers(rng, n_rows, d - 1, most=4) / 2, rng.integers(0, N_LEVELS + 50, n_rows)])
    return with_gaps(rng, X, 0.1).astype(dtype)


def walk(X, begin, features, left, right, thresholds, values, gaps_right, level_begin, levels):
    """Return the responses, flat, by one walk per row and tree."""
    trees, levels = [slice(a, b) for a, b in pairwise(begin)], parts_of(levels, level_begin)
    return [
        float(
            values[own][naive_walk(x, *(part[own] for part in (features, left, right, thresholds, gaps_right, levels)))]
        )
        for x in X
        for own in trees
    ]


def numbers_only(trees):
    """Return the trees with the last feature as a number."""
    return (*trees[:4], np.nan_to_num(trees[4]), *trees[5:7], 0 * trees[7], trees[8][:0])


def respond_trees(X, *trees, n_threads=1):
    return TreeTables(*trees).respond(X, n_threads)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_decisions_are_weighted_sums_of_responses(dtype, n_outputs, rng):
    trees, X = forest(rng, 4, [1, 2, 5, 9, 30]), rows_for(rng, 300, 4, dtype)
    weights = rng.normal(size=(5, n_outputs))
    expected = np.zeros((300, n_outputs))
    for response, weight in zip(respond_trees(X, *trees).reshape(300, 5).T, weights, strict=True):
        expected += np.multiply.outer(response.astype(float), weight)  # tree by tree, for the same bits
    for n_threads in (1, 2):
        assert TreeTables(*trees).decide(X, weights, n_threads).tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("categories", [True, False])
def test_responses_are_walks(categories, dtype, rng):
    trees, X = forest(rng, 4, [1, 2, 3, 8, 1, 20]), rows_for(rng, 80, 4, dtype)
    if not categories:
        trees = numbers_only(trees)
    expected = walk(X, *trees)
    for same in same_tables(X):
        found = respond_trees(same, *trees, n_threads=1)
        assert found.dtype == np.float32
        assert found.tolist() == expected
    assert (
        len(respond_trees(X[:0], *trees, n_threads=1)) == len(respond_trees(X, *forest(rng, 4, []), n_threads=1)) == 0
    )


@pytest.mark.parametrize("n_rows", [1, 7, 8, 9, 63, 64, 65, 150])
def test_rows_alone_and_together_reach_the_same_leaves(n_rows, rng):
    """Eight rows are walked together, or a row through eight trees, in tiles of 64 rows with or without gaps."""
    for trees in (
        forest(rng, 4, [1, 2, 3, 8, 1, 20, 40, 2, 2, 7]),
        forest(rng, 4, [1, 1]),
        numbers_only(forest(rng, 4, [5, 9])),
    ):
        X = np.nan_to_num(rows_for(rng, n_rows, 4, np.float64), nan=1.0)
        X[70:] = rows_for(rng, max(0, n_rows - 70), 4, np.float64)
        expected = walk(X, *trees)
        weights = rng.normal(size=(len(trees[0]) - 1, 1))
        together = TreeTables(*trees)
        alone = [together.decide(row[None], weights, 1) for row in X]
        for n_threads in (1, 2):
            assert together.respond(X, n_threads).tolist() == expected
            assert together.decide(X, weights, n_threads).tobytes() == np.concatenate(alone).tobytes()


def one_split(threshold, levels, gaps_right):
    """Return the arguments of `TreeTables` for a tree of one split, whose leaves have the values 1 and 2."""
    nodes = [np.array(part, dtype=np.int32) for part in ([0, -1, -1], [1, -1, -1], [2, -1, -1])]
    levels = np.array(levels, dtype=np.uint32)
    flags, begin = np.array([gaps_right, 0, 0], dtype=np.uint8), np.array([0, *3 * [len(levels)]])
    return np.array([0, 3]), *nodes, np.array([threshold, 0, 0]), np.arange(3, dtype=np.float32), flags, begin, levels


BELOW = float(np.nextafter(np.float32(0.1), np.float32(0)))
# A threshold or levels, whether gaps go right -> the side of values, where 1 is left and 2 right.
WALKS = {
    "float32": (0.1, [], 0, {np.float32(0.1): 2, np.float32(BELOW): 1}),
    "numbers": (0.1, [], 0, {0.1: 1, 0.2: 2, GAP: 1, np.inf: 2, -np.inf: 1}),
    "numbers, gaps right": (0.1, [], 1, {0.1: 1, 0.2: 2, GAP: 2, np.inf: 2, -np.inf: 1}),
    "gaps against numbers": (np.inf, [], 1, {0.1: 1, 1e308: 1, GAP: 2, np.inf: 1, -np.inf: 1}),
    "levels": (np.nan, [0, 63, 64, 129], 0, {0.0: 2, 1.0: 1, 63.0: 2, 64.0: 2, 65.0: 1, 129.0: 2, 191.0: 1, GAP: 1}),
    "unknown levels": (np.nan, [1], 1, {1.0: 2, 63.0: 1, 64.0: 1, 2.0**24: 1, 2.0**40: 1, GAP: 2}),
    "what is no code": (np.nan, [0, 70], 1, {-1.0: 1, -1e300: 1, 1e300: 1, np.inf: 1, -np.inf: 1}),
    "no levels": (np.nan, [], 0, {0.0: 1, 1.0: 1, GAP: 1}),
    "gaps against levels": (np.nan, [], 1, {0.0: 1, 1.0: 1, GAP: 2}),
}


@pytest.mark.parametrize("name", WALKS)
def test_sides_of_values(name):
    """Values are compared in float64."""
    threshold, levels, gaps_right, expected = WALKS[name]
    for x, side in expected.items():
        assert respond_trees(np.array([[x]]), *one_split(threshold, levels, gaps_right)).tolist() == [side], x


@pytest.mark.parametrize("real", [True, False])
def test_training_rows_reach_their_leaf(real, rng):
    X = TABLES["more than 256 values"]
    tree = grow(X, integers(rng, 400), max_leaves=12, real=real, max_bins=32)
    assert leaves_of(X, tree) == tree[-1].tolist()
