"""Threads, SIMD levels and the types of columns change no bit of a kernel's result."""

from __future__ import annotations

import numpy as np
import pytest

from cgens._core import (
    DualCd,
    GramLs,
    StepTables,
    StumpPool,
    StumpScan,
    StumpTable,
    TreeGrower,
    TreeTables,
    order_rows,
    order_sparse_rows,
    price_candidates,
    respond_stumps,
    take_cosines,
)
from cgens.weak_learners.split import Split, SplitArrays
from tests.native.tables import compressed_columns, each_simd_level, make_pool, with_gaps

# Small problems use one thread: the large table has work for four in every parallel region. The small one has fewer
# rows than columns; their numbers do or do not fill a lane, and exceed the 64 that a store holds at first.
N_ROWS = {"small": 60, "large": 9000}
N_COLUMNS = {"small": (5, 37, 80), "large": (30,)}
TYPES = {"small": ("bbb", "fff", "ddd", "bfd", "fbd", "dfb"), "large": ("bfd",)}


# Of the forty features, the last ten are categories; every third has gaps.
IS_CATEGORY = np.arange(40) >= 30


@pytest.fixture(scope="module")
def tables() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 40)).round(2) * (rng.random((9000, 40)) < 0.9)
    X[:, IS_CATEGORY] = np.floor(rng.exponential(3.0, (9000, 10)))
    X[:, ::3] = with_gaps(rng, X[:, ::3], 0.1)
    return {size: X[:n].copy() for size, n in N_ROWS.items()}


def pool_of(X, n_threads, weight=None, max_bins=256):
    return make_pool(X, weight, max_bins, IS_CATEGORY, 5.0, n_threads)


def bits(*parts):
    return [part.tobytes() if isinstance(part, np.ndarray) else part for part in parts]


def columns_of_all_types(size, rng, about):
    """Yield signs that agree with `about` on 60 % of the rows, of one type or of three, for which a store widens."""
    for n_columns in N_COLUMNS[size]:
        H = np.where(rng.random((n_columns, len(about))) < 0.6, about, -about)
        yield [[h.astype(types[3 * k // n_columns]) for k, h in enumerate(H)] for types in TYPES[size]]


def only(results):
    """Return the common result of columns of all types."""
    first, *others = results
    assert all(other == first for other in others)
    return first


def descent(size, X, rng, n_threads):
    y = np.where(rng.random(len(X)) < 0.5, 1.0, -1.0)

    def solve(columns):
        solver = DualCd(y, np.where(y < 0, -1e-2, 0.0), np.where(y > 0, 1e-2, 0.0), n_threads)
        for column in columns:
            solver.add(column)
        return bits(solver.solve(1e-6, 1000, lambda: False), solver.bias, solver.weights(), solver.duals())

    return [only(map(solve, of_all_types)) for of_all_types in columns_of_all_types(size, rng, y)]


def least_squares(size, X, rng, n_threads):
    target, candidate = rng.normal(size=(len(X), 3)), rng.normal(size=len(X))
    weights_of_rows = {1.0: rng.random(len(X)) + 0.01, 2.0: rng.integers(1, 6, len(X)).astype(float)}
    weights_of_rows[1e9] = 1e9 * weights_of_rows[1.0]

    def solve(columns, C):
        solver, n = GramLs(target, weights_of_rows[C], n_threads), len(columns)
        for column in columns:
            solver.add(column)
        weights = solver.weights().reshape(-1, 3)
        steps = [part for k in range(n) for part in bits(*solver.step(k), solver.direction(k))]
        others = bits(*solver.resolve(3.0, [n // 2, n]), solver.quadratic(candidate[None], n))
        others += bits(solver.solve_factor(weights), solver.decisions(weights), solver.prices(target))
        others += bits(solver.centred_rows(np.arange(2, 9)))
        updated = bits(weights, solver.primal, solver.duals(weights), solver.intercept(weights))
        return updated, steps, others, bits(solver.solve(1e-9), solver.weights(), solver.primal)

    return [
        only(solve(columns, C) for columns in of_all_types)
        for C in ((1.0, 2.0, 1e9) if size == "small" else (1.0, 2.0))
        for of_all_types in columns_of_all_types(size, rng, np.sign(target[:, 0]))
    ]


def scan(size, X, rng, n_threads):
    """Over the table, and over its numbers in compressed columns."""
    numbers, rows = X[:, ~IS_CATEGORY], np.arange(len(X))
    sparse = StumpPool.of_columns(*compressed_columns(numbers), len(X), rows, np.ones(len(X)), 256, n_threads)
    for pool in (pool_of(X, n_threads), sparse):
        live, duals, results = StumpScan(pool, n_threads), rng.normal(size=len(X)), [pool.n_candidates]
        for _ in range(5):
            results.append(live.price(duals))
            duals = np.where(rng.random(len(X)) < 0.6, rng.normal(size=len(X)), duals)
        yield results
        yield bits(*(edges(feature) for feature in range(pool.n_features) for edges in (pool.thresholds, pool.levels)))


def price_table(size, X, rng, n_threads):
    """Follow a least-squares master over the stumps that are found."""
    target, scale = rng.normal(size=(len(X), 4)), rng.random(len(X)) + 0.1
    master, pool = GramLs(target, scale, 1), pool_of(X, n_threads)
    table = StumpTable(pool, 4, n_threads)
    table.set_curvature(scale)
    table.reprice(master.duals(np.zeros((0, 4))).reshape(len(X), 4), "max")
    found, results = table.find_best("gain"), []
    rough = StumpTable(pool, 4, n_threads)
    rough.set_curvature(scale)
    results += bits(rough.reprice(target, "gain", scale - scale.mean(), 2.0, rough=True))
    for k in range(6):
        results += bits(found, table.drift, table.entries(found[1]))
        pool.take(found[1])
        master.add(pool.respond(found[1]))
        _, step, denominator = master.step(k)
        found = table.change(master.direction(k), step, denominator, "gain" if k % 3 else "max")
    table.change_curvature(master.direction(0), 8.0)
    return results, [table.find_best(rule) for rule in ("max", "gain", "votes")]


def trees(size, X, rng, n_threads):
    weight, allowed = rng.random(len(X)) + 0.1, np.ones(X.shape[1], dtype=np.uint8)
    along = weight * (rng.normal(size=len(X)) + 2 * (X[:, 1] > 0) - 2 * (X[:, 31] > 1))
    grower = TreeGrower(pool_of(X, n_threads, weight, 64), weight, n_threads)
    for real in (True, False):
        tree = grower.grow(along, allowed, 9, 0.1, real)
        features, left, right, thresholds, sums, _, gaps_right, level_begin, levels, _ = tree
        assert len(features) == 17
        assert {*IS_CATEGORY[features[features >= 0]]} == {True, False}
        nodes = features, left, right, thresholds, sums.astype(np.float32), gaps_right
        two = [np.concatenate([part, part]) for part in nodes]
        ends = np.concatenate([level_begin, level_begin[1:] + len(levels)])
        trees = TreeTables(np.array([0, 17, 34]), *two, ends, np.concatenate([levels, levels]))
        yield bits(*tree, *(trees.respond(A, n_threads) for A in (X, X.astype("f"))))


def prediction(size, X, rng, n_threads):
    """Of stumps on all features, also with levels and gaps."""
    features, thresholds, gaps = rng.integers(0, 40, 300).tolist(), rng.normal(size=300).tolist(), rng.random(300) < 0.5
    levels = [tuple(np.flatnonzero(rng.random(50) < 0.1).tolist()) for _ in features]
    splits = [
        Split(f, None, own, bool(gap)) if IS_CATEGORY[f] else Split(f, threshold, (), bool(gap))
        for f, threshold, own, gap in zip(features, thresholds, levels, gaps, strict=True)
    ]
    stumps = vars(SplitArrays.of(splits))
    steps = StepTables(**stumps, weights=rng.normal(size=(300, 2)))
    for A in (X, X.astype(np.float32)):
        yield bits(steps.decide(A, n_threads), respond_stumps(A, **stumps, n_threads=n_threads))


def row_order(size, X, rng, n_threads):
    rest = rng.choice([-1.0, 1.0], size=(len(X), 1)), rng.random(len(X)), n_threads
    dense, compressed = order_rows(X, *rest), order_sparse_rows(*compressed_columns(X.T), X.shape[1], *rest)
    assert bits(*dense) == bits(*compressed)
    return bits(*dense)


def candidates(size, X, rng, n_threads):
    """Each has the same price alone; a thread gets sixteen, and some remain."""
    n, m = 100, len(X) // 16 * 16
    signs, duals = rng.integers(-1, 2, (n, m)).astype(np.int8), rng.normal(size=(2, m))
    for responses in (signs, (signs * rng.random((n, m))).astype(np.float32)):
        together = price_candidates(responses, duals, n_threads).reshape(n, 2)
        for j in (0, 15, 16, 99):
            assert np.array_equal(price_candidates(responses[j : j + 1], duals, n_threads), together[j])
            assert price_candidates(responses[j : j + 1], duals[1:], n_threads)[0] == together[j, 1]
        yield bits(together)


def cosines(size, X, rng, n_threads):
    lengths = (1, 3, 4, 5, 4095, 4096, 4097) if size == "small" else (100_003,)
    return bits(*(take_cosines(100 * rng.normal(size=(1, n)), n_threads) for n in lengths))


KERNELS = [descent, least_squares, scan, price_table, trees, prediction, row_order, candidates, cosines]


@pytest.mark.parametrize("size", N_ROWS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_bits_depend_on_neither_threads_nor_simd_level(kernel, size, tables, restore_simd_level):
    first, *others = (
        list(kernel(size, tables[size], np.random.default_rng(7), n_threads))
        for _ in each_simd_level()
        for n_threads in ((1, 2, 3, 4) if size == "large" else (1, 2))
    )
    assert all(other == first for other in others)


@pytest.mark.parametrize("n_threads", [-5, 0, 1])
def test_n_threads_below_one_means_one(n_threads, tables):
    assert len(order_rows(tables["large"], np.ones((9000, 1)), np.ones(9000), n_threads)[2]) == 9000
