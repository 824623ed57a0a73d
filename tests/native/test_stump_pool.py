"""A pool has all stumps of the enumeration, and that of sparse columns equals that of the dense table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cgens._core import StumpPool, StumpScan, StumpTable, TreeGrower, respond_stumps
from cgens.weak_learners.split import SplitArrays
from tests.native.tables import TABLES, any_table, binning, compressed_columns, integers, make_pool
from tests.reference.naive_stumps import naive_candidates, naive_pool

NO_LEVELS = np.array([], dtype=np.uint32)


def split_of(pool, candidate):
    """Return (feature, threshold, levels, gaps_above) as in the enumeration."""
    feature, threshold, levels, gaps_above, _ = pool.split(candidate)
    assert levels.dtype == np.uint32
    return feature, None if np.isnan(threshold) else threshold, tuple(levels.tolist()), gaps_above


def find(pool, feature, threshold, levels, gaps_above):
    threshold = np.nan if threshold is None else threshold
    return pool.find(feature, threshold, np.array(levels, dtype=np.uint32), gaps_above)


def assert_has_all_candidates(X, **options):
    """Each has its split, its responses, also as on new rows, and is found by its split: the first of equal ones."""
    pool, stumps = make_pool(X, **options), naive_candidates(X, **options)
    table, first = StumpTable(pool, 1, 1), {}
    assert pool.n_cells == len(stumps)
    assert pool.n_candidates == len(naive_pool(X, **options))
    arrays = vars(SplitArrays.of(stumps))
    new = respond_stumps(X, **arrays, n_threads=1).reshape(len(X), len(stumps))
    for stump in stumps:
        split = (stump.feature, stump.threshold, stump.levels, stump.gaps_above)
        assert split_of(pool, stump.candidate) == split
        for response in (pool.respond(stump.candidate), table.respond(stump.candidate), new[:, stump.candidate]):
            assert tuple(response) == stump.response
        candidate = first.setdefault(split, stump.candidate)
        has_gaps = pool.split(stump.candidate)[4]
        assert has_gaps == np.isnan(X[:, stump.feature]).any()
        for gaps_above in (stump.gaps_above, not stump.gaps_above)[: 1 if has_gaps else 2]:
            assert find(pool, *split[:3], gaps_above) == candidate


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", TABLES)
def test_candidates_equal_enumeration(name, dtype):
    X = TABLES[name].astype(dtype)
    for max_bins in (None, 8, 2):
        assert_has_all_candidates(X, max_bins=max_bins, **binning(name))


@settings(max_examples=80)
@given(table=any_table(), max_bins=st.sampled_from([None, 2, 3]))
def test_candidates_equal_enumeration_on_any_table(table, max_bins):
    X, options = table
    assert_has_all_candidates(X, max_bins=max_bins, **options)


@pytest.mark.parametrize("name", TABLES)
def test_a_response_is_taken_with_its_repetitions(name, rng):
    """Whichever of them is taken: on the same feature or another, up to sign."""
    options = {"max_bins": 16, **binning(name)}
    pool, stumps = make_pool(TABLES[name], **options), naive_candidates(TABLES[name], **options)
    scan, duals, taken = StumpScan(pool, 1), integers(rng, len(TABLES[name]), most=40), set()
    for candidate in rng.permutation(len(stumps)):
        response = stumps[candidate].response
        assert pool.take(candidate) == (response not in taken)
        assert not pool.take(candidate)
        taken |= {response, tuple(-sign for sign in response)}
        free = [abs(np.dot(stump.response, duals)) for stump in stumps if stump.response not in taken]
        assert abs(scan.price(duals)[2]) == max(free, default=0.0)
    assert len(taken) == 2 * pool.n_candidates


# A table, what is not a split of it -> find returns None.
NO_SPLITS = {
    "another threshold": ("many values", (0, 0.123, (), False)),
    "a threshold below all": ("many values", (0, -100.0, (), False)),
    "a threshold above all": ("many values", (0, 100.0, (), False)),
    "NaN among numbers": ("many values", (0, None, (), False)),
    "levels of numbers": ("many values", (0, None, (0,), False)),
    "infinity without gaps": ("many values", (0, np.inf, (), True)),
    "infinity with gaps below": ("gaps in few values", (0, np.inf, (), False)),
    "a column of gaps": ("columns of gaps", (0, np.inf, (), True)),
    "a constant": ("all constant", (0, 2.5, (), False)),
    "an unknown level": ("few levels", (3, None, (5,), False)),
    "no levels": ("few levels", (3, None, (), False)),
    "two levels": ("few levels", (3, None, (1, 2), False)),
    "levels that do not ascend": ("rare levels", (0, None, (1, 0), False)),
    "a level and gaps": ("levels and gaps", (2, None, (1,), True)),
    "a single level": ("few levels", (0, None, (0,), False)),
    "a threshold of levels": ("levels and gaps", (2, 0.5, (), True)),
}


@pytest.mark.parametrize("name", NO_SPLITS)
def test_other_splits_are_not_found(name):
    table, split = NO_SPLITS[name]
    assert find(make_pool(TABLES[table], **binning(table)), *split) is None


def both_pools(X, rows, weight, max_bins, stored=False):
    """Return the pools of a dense table and of the same in compressed columns."""
    dense = StumpPool(X, rows, weight, max_bins, 1)
    return dense, StumpPool.of_columns(*compressed_columns(X, stored), len(X), rows, weight, max_bins, 1)


def assert_same_pools(dense, sparse, weight, rng):
    """Compare candidates, thresholds, responses, prices, and trees over the pools."""
    assert (dense.n_cells, dense.n_candidates) == (sparse.n_cells, sparse.n_candidates)
    for feature in range(dense.n_features):
        assert sparse.thresholds(feature).tolist() == dense.thresholds(feature).tolist()
    duals = integers(rng, len(weight), 3)
    tables = [StumpTable(pool, 3, 1) for pool in (dense, sparse)]
    assert tables[0].reprice(duals, "votes") == tables[1].reprice(duals, "votes")
    for candidate in range(dense.n_cells):
        assert split_of(sparse, candidate) == split_of(dense, candidate)
        assert np.array_equal(sparse.respond(candidate), dense.respond(candidate))
        assert np.array_equal(tables[1].respond(candidate), dense.respond(candidate))
        assert np.array_equal(tables[1].entries(candidate), tables[0].entries(candidate))
    scans, allowed = [StumpScan(pool, 1) for pool in (dense, sparse)], np.ones(dense.n_features, dtype=np.uint8)
    for own in duals.T.copy():
        assert scans[0].price(own) == scans[1].price(own)
        trees = [TreeGrower(pool, weight, 1).grow(own, allowed, 6, 1.0, True) for pool in (dense, sparse)]
        assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(*trees, strict=True))


@pytest.mark.parametrize("max_bins", [2, 8, 1000, 1025])
@pytest.mark.parametrize("name", TABLES)
def test_sparse_columns_equal_the_dense_table(name, max_bins, rng):
    """Without the zeros, with some, or with all of them stored; of all rows or some of them, in another order."""
    X = TABLES[name]
    for dtype, share in ((np.float64, 0.0), (np.float64, 0.5), (np.float32, 0.0), (np.float32, 1.0)):
        rows = rng.permutation(len(X))[: None if share == 0.5 else (len(X) + 1) // 2]
        weight = rng.integers(1, 6, len(rows)).astype(float)
        pools = both_pools(X.astype(dtype), rows, weight, max_bins, rng.random(X.shape) < share)
        assert_same_pools(*pools, weight, rng)


@settings(max_examples=100)
@given(
    X=hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 12), st.integers(1, 6)),
        elements=st.sampled_from([0.0, -0.0, 0.0, 0.0, 1.0, -1.0, 2.5, np.nan]),
    ),
    seed=st.integers(0, 1000),
    max_bins=st.sampled_from([2, 3, 13]),
)
def test_sparse_columns_equal_any_dense_table(X, seed, max_bins):
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(X))[: rng.integers(1, len(X) + 1)]
    weight = rng.integers(1, 6, len(rows)).astype(float)
    assert_same_pools(*both_pools(X, rows, weight, max_bins, rng.random(X.shape) < 0.3), weight, rng)


def test_a_sparse_column_with_more_bins_than_sixteen_bits(rng):
    n = 70_000
    X = np.column_stack([rng.permutation(n), rng.permutation(n) * (rng.random(n) < 0.1)]).astype(float)
    dense, sparse = both_pools(X, np.arange(n), np.ones(n), n)
    duals = integers(rng, n)
    assert dense.n_cells == sparse.n_cells > 70_000
    assert StumpScan(dense, 1).price(duals) == StumpScan(sparse, 1).price(duals)
    best = StumpScan(dense, 1).price(duals)[1]
    assert np.array_equal(dense.respond(best), sparse.respond(best))


def test_rows_are_read_through_the_index(rng):
    for name in ("many values", "mixed"):
        X = TABLES[name]
        rows, duals, weight = rng.permutation(len(X))[:35], integers(rng, 35), rng.integers(1, 5, 35).astype(float)
        flags = binning(name).get("is_category", np.zeros(X.shape[1])).astype(np.uint8)
        indexed = StumpPool(X, rows, weight, 256, 1, None, flags, 4.0)
        copied = make_pool(X[rows], weight, 256, flags, 4.0)
        assert indexed.n_cells == copied.n_cells
        assert StumpScan(indexed, 1).price(duals) == StumpScan(copied, 1).price(duals)


@pytest.mark.parametrize("sparse", [False, True])
def test_binning_can_be_interrupted(sparse, rng):
    """By a poll that returns True, and is not called again, or raises an exception."""
    X = rng.normal(size=(200_000, 30))
    table = (*compressed_columns(X), len(X)) if sparse else (X,)
    make, rest = StumpPool.of_columns if sparse else StumpPool, (np.arange(len(X)), np.ones(len(X)), 256, 1)
    calls = []
    with pytest.raises(KeyboardInterrupt):
        make(*table, *rest, lambda: calls.append("once") is None)
    assert calls == ["once"]
    with pytest.raises(ZeroDivisionError):
        make(*table, *rest, lambda: 1 / 0)
