"""A table of prices over many changes by rank one: what it means for least squares, and how far rounding takes it."""

from __future__ import annotations

import numpy as np
import pytest

from cgens._core import GramLs, StumpTable
from tests.native.tables import TABLES, each_simd_level, integers, make_pool
from tests.reference.naive_least_squares import NaiveCurvature, grown_models
from tests.reference.naive_stumps import naive_pool, pool_matrix
from tests.tolerances import CLOSED_FORM


def least_squares_walk(X, rng, n_outputs=2, n_columns=15, C=1.0):
    """Return the pool, its responses, and models that grew by some of them, not one of them twice."""
    target, scale = rng.normal(size=(len(X), n_outputs)), C * (rng.random(len(X)) + 0.1)
    stumps = naive_pool(X)
    responses = pool_matrix(stumps, len(X))
    chosen = rng.permutation(len(stumps))[:n_columns]
    return stumps, responses, grown_models(responses[:, chosen], target, scale)


def entry_reader(X, stumps):
    """Return a function of a table: the prices (n, l) and g'Pg (n,) of all candidates."""
    pool = make_pool(X)
    bins = [np.searchsorted(pool.thresholds(stump.feature), stump.threshold) for stump in stumps]

    def read(table):
        entries = np.array([table.entries(s.feature, below) for s, below in zip(stumps, bins, strict=True)])
        return entries[:, :-1], entries[:, -1]

    return read


@pytest.mark.parametrize(
    ("name", "C"), [("many values", 1.0), ("many values", 1e3), ("few values", 1e-3), ("sparse, two blocks", 1.0)]
)
def test_prices_and_gains_are_those_of_the_model(name, C, rng):
    X = TABLES[name]
    stumps, responses, models = least_squares_walk(X, rng, C=C)
    table, curvature, read = StumpTable(make_pool(X), 2, 1), NaiveCurvature(models), entry_reader(X, stumps)
    table.set_duals(models[0].duals)
    table.set_curvature(curvature.diagonal)
    size, keys = C * len(X), [stump.key for stump in stumps]
    for k, model in enumerate(models[1:]):
        best = table.change(*curvature.step(k), "gain")
        prices, quadratic = read(table)
        expected, gains = responses.T @ model.duals, model.gains(responses)
        assert np.allclose(prices, expected, rtol=0, atol=CLOSED_FORM * size)
        assert np.allclose(quadratic, model.quadratic(responses), rtol=0, atol=CLOSED_FORM * size)
        assert gains[keys.index(best[1:3])] == pytest.approx(gains.max(), rel=CLOSED_FORM, abs=CLOSED_FORM * size)
        assert best[5] == pytest.approx(np.abs(expected).max(), abs=CLOSED_FORM * size)
        assert best[6] == pytest.approx(np.sum(expected**2), abs=CLOSED_FORM * size**2)


def test_curvature_can_be_followed_alone(rng):
    """As where duals are set again but g'Pg is kept: the same numbers as both together."""
    X = TABLES["many values"]
    stumps, _, models = least_squares_walk(X, rng)
    both, alone, curvature = StumpTable(make_pool(X), 2, 1), StumpTable(make_pool(X), 2, 1), NaiveCurvature(models)
    for table in (both, alone):
        assert not table.has_curvature
        table.set_curvature(curvature.diagonal)
        assert table.has_curvature
    both.set_duals(models[0].duals)
    for k in range(curvature.n_steps):
        direction, step, denominator = curvature.step(k)
        both.change(direction, step, denominator, "max")
        alone.change_curvature(direction, denominator)
    read = entry_reader(X, stumps)
    assert np.array_equal(read(both)[1], read(alone)[1])
    assert not read(alone)[0].any()


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_drift_bounds_what_rounding_did(scale, rng):
    """Against the same changes in long double."""
    X = TABLES["many values"]
    stumps = naive_pool(X)
    responses, read = pool_matrix(stumps, len(X)).astype(np.longdouble), entry_reader(X, stumps)
    table, duals = StumpTable(make_pool(X), 2, 1), scale * rng.normal(size=(len(X), 2))
    table.set_duals(duals)
    exact, last = responses.T @ duals, 0.0
    for _ in range(50):
        direction, step = rng.normal(size=len(X)), scale * rng.normal(size=2)
        table.change(direction, step, 2.0, "max")
        exact = exact - np.outer(responses.T @ direction, step)
        assert np.abs(read(table)[0] - exact).max() <= table.drift
        assert last < table.drift
        last = table.drift
    assert table.drift <= CLOSED_FORM * float(np.abs(exact).max()), "a bound that is of use"
    table.set_duals(duals)
    assert table.drift < last, "set again, it is as at the beginning"


@pytest.mark.parametrize("n", [65_536, 65_537])
def test_row_numbers_beyond_sixteen_bits(n, rng):
    """The last row is told from the first, which it would be mixed up with in 16 bits."""
    X = np.column_stack([rng.integers(0, 3, n), np.arange(n) == n - 1, np.arange(n) == 0]).astype(float)
    keys = [(0, 0.5), (0, 1.5), (1, 0.5), (2, 0.5)]
    responses = np.column_stack([np.where(X[:, f] > t, 1.0, -1.0) for f, t in keys])
    duals, direction, step = integers(rng, n, 2), integers(rng, n), np.array([2.0, -1.0])
    duals[[0, -1]] = [[7.0, -3.0], [-4.0, 9.0]]
    table = StumpTable(make_pool(X), 2, 1)
    table.set_duals(duals)
    for after in (duals, duals - np.outer(direction, step)):
        prices = responses.T @ after
        k, output = np.unravel_index(np.argmax(np.abs(prices)), prices.shape)
        largest = np.abs(prices).max()
        expected = (True, *keys[k], output, prices[k, output], largest, np.sum(prices**2), largest)
        assert table.find_best("max") == expected
        for (feature, threshold), own in zip(keys, prices, strict=True):
            assert table.entries(feature, int(threshold))[:2].tolist() == own.tolist()
        table.change(direction, step, 2.0, "max")
    for k, key in enumerate(keys):
        assert np.array_equal(table.respond(*key), responses[:, k])


def walk_bits(X, n_outputs, n_threads, max_bins=256):
    """Return all that a table says on a walk, as it comes from a least-squares master over the stumps it finds."""
    rng = np.random.default_rng(11)
    target, scale = rng.normal(size=(len(X), n_outputs)), rng.random(len(X)) + 0.1
    master, pool = GramLs(target, scale, 1), make_pool(X, max_bins=max_bins, n_threads=n_threads)
    table = StumpTable(pool, n_outputs, n_threads)
    table.set_curvature(scale)
    table.set_duals(master.duals(np.zeros((0, n_outputs))).reshape(len(X), n_outputs))
    found, said = table.find_best("gain"), []
    for k in range(6):
        said.append((found, table.drift, table.entries(found[1], 0).tobytes()))
        pool.take(*found[1:3])
        master.add(pool.respond(*found[1:3]))
        _, step, denominator = master.step(k)
        found = table.change(master.direction(k), step, denominator, "gain" if k % 3 else "max")
    table.change_curvature(master.direction(0), 8.0)
    return said, [table.find_best(rule) for rule in ("max", "gain", "votes")]


@pytest.mark.parametrize("name", ["many values", "sparse, two blocks", "more than 256 values"])
def test_simd_levels_give_the_same_bits(name, restore_simd_level):
    results = [walk_bits(TABLES[name], 3, 1, max_bins=500) for _ in each_simd_level()]
    assert all(result == results[0] for result in results)


def test_threads_give_the_same_bits():
    """Small work is done by one thread: here every parallel region has work for four."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 40)).round(2) * (rng.random((9000, 40)) < 0.9)
    one = walk_bits(X, 4, 1)
    for n_threads in (2, 3, 4):
        assert walk_bits(X, 4, n_threads) == one
