"""A table of prices after many changes by rank one, and with many rows."""

from __future__ import annotations

import numpy as np
import pytest

from cgens._core import StumpTable
from tests.native.tables import TABLES, integers, make_pool
from tests.reference.naive_stumps import naive_pool, pool_matrix
from tests.tolerances import CLOSED_FORM


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_drift_bounds_the_rounding_error(scale, rng):
    """Compared with the same changes in long double."""
    X = TABLES["many values"]
    stumps, pool = naive_pool(X), make_pool(X)
    responses = pool_matrix(stumps, len(X)).astype(np.longdouble)
    table, duals = StumpTable(pool, 2, 1), scale * (rng.random((len(X), 2)) + 1.0)

    def error(exact):
        return np.abs(np.array([table.entries(own.candidate)[:2] for own in stumps]) - exact).max()

    _, best, *_ = table.reprice(duals, "max")
    exact = responses.T @ duals
    assert 0 < error(exact) <= table.drift
    pool.take(best)  # the largest price still counts in the energy
    last = table.drift
    for _ in range(50):
        direction, step = rng.normal(size=len(X)), scale * rng.normal(size=2)
        table.change(direction, step, 2.0, "max")
        exact = exact - np.outer(responses.T @ direction, step)
        assert error(exact) <= table.drift
        assert last < table.drift
        last = table.drift
    assert table.drift <= CLOSED_FORM * float(np.abs(exact).max()), "the bound is useful"
    table.reprice(duals, "max")
    assert table.drift < last, "it is reset with the duals"


@pytest.mark.parametrize("n", [65_536, 65_537])
def test_row_numbers_beyond_sixteen_bits(n, rng):
    """The last row differs from the first, with which it would be confused in 16 bits."""
    X = np.column_stack([rng.integers(0, 3, n), np.arange(n) == n - 1, np.arange(n) == 0]).astype(float)
    splits = [(0, 0.5), (0, 1.5), (1, 0.5), (2, 0.5)]  # of the four candidates
    responses = np.column_stack([np.where(X[:, f] > t, 1.0, -1.0) for f, t in splits])
    duals, direction, step = integers(rng, n, 2), integers(rng, n), np.array([2.0, -1.0])
    duals[[0, -1]] = [[7.0, -3.0], [-4.0, 9.0]]
    table = StumpTable(make_pool(X), 2, 1)
    table.reprice(duals, "max")
    for after in (duals, duals - np.outer(direction, step)):
        prices = responses.T @ after
        k, output = np.unravel_index(np.argmax(np.abs(prices)), prices.shape)
        largest = np.abs(prices).max()
        expected = (True, k, output, prices[k, output], largest, np.sum(prices**2), largest)
        assert table.find_best("max") == expected
        assert [table.entries(candidate)[:2].tolist() for candidate in range(4)] == prices.tolist()
        table.change(direction, step, 2.0, "max")
    for candidate, response in enumerate(responses.T):
        assert np.array_equal(table.respond(candidate), response)
