"""A table of prices after many changes by rank one: least-squares masters, and rounding errors."""

from __future__ import annotations

import numpy as np
import pytest

from cgens._core import StumpTable
from tests.native.tables import TABLES, integers, make_pool
from tests.reference.naive_least_squares import NaiveCurvature, grown_models
from tests.reference.naive_stumps import naive_pool, pool_matrix
from tests.tolerances import CLOSED_FORM


def least_squares_walk(X, rng, n_outputs=2, n_columns=15, C=1.0):
    """Return the pool, its responses, and models that grew by some of them."""
    target, scale = rng.normal(size=(len(X), n_outputs)), C * (rng.random(len(X)) + 0.1)
    stumps = naive_pool(X)
    responses = pool_matrix(stumps, len(X))
    chosen = rng.permutation(len(stumps))[:n_columns]
    return stumps, responses, grown_models(responses[:, chosen], target, scale)


def entry_reader(X, stumps):
    """Return a function that returns the prices (n, l) and g'Pg (n,) of all candidates in a table."""
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


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_drift_bounds_the_rounding_error(scale, rng):
    """Compared with the same changes in long double."""
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
    assert table.drift <= CLOSED_FORM * float(np.abs(exact).max()), "the bound is useful"
    table.set_duals(duals)
    assert table.drift < last, "it is reset with the duals"


@pytest.mark.parametrize("n", [65_536, 65_537])
def test_row_numbers_beyond_sixteen_bits(n, rng):
    """The last row differs from the first, with which it would be confused in 16 bits."""
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
