"""Dense tables: as sparse ones, with bins of any number of bytes, and with edges from a sample of many rows."""

from __future__ import annotations

import numpy as np
import pytest

from cgens._core import StumpPool, StumpScan, StumpTable
from tests.native.tables import compressed_columns, make_pool
from tests.reference.naive_stumps import naive_sample, naive_thresholds

#: As in sample_rows.hpp.
SAMPLED_ROWS = 2**18


@pytest.mark.parametrize("n_outputs", [1, 2, 3, 9, 17])
@pytest.mark.parametrize("rough", [False, True])
def test_prices_of_dense_and_sparse_tables_are_the_same(n_outputs, rough, rng):
    """Of one table in both forms: sums are exact integers, so that no bit differs."""
    X = rng.integers(0, 40, (700, 13)).astype(float) * (rng.random((700, 13)) < 0.7)
    sparse = StumpPool.of_columns(*compressed_columns(X), len(X), np.arange(len(X)), np.ones(len(X)), 256, 1)
    R, p, scale = rng.normal(size=(700, n_outputs)), rng.normal(size=700), rng.random(700) + 0.1
    found = []
    for pool in (make_pool(X, max_bins=256), sparse):
        table = StumpTable(pool, n_outputs, 1)
        table.set_curvature(scale)
        first = table.reprice(R, "gain", p, 2.0, rough)
        steps = table.change(p, np.ones(n_outputs), 1.5, "gain")
        entries = [table.entries(k).tobytes() for k in range(pool.n_cells)]
        responses = table.respond(first[1]).tobytes(), pool.respond(first[1]).tobytes()
        found.append((first, steps, entries, responses, table.drift, StumpScan(pool, 1).price(R[:, 0].copy())))
    assert found[0] == found[1]


@pytest.mark.parametrize(("n_rows", "n_bins"), [(300, 256), (3000, 257), (3000, 2999), (70_000, 66_000)])
def test_bins_of_one_two_and_four_bytes(n_rows, n_bins, rng):
    X = np.column_stack([rng.permutation(n_bins), rng.integers(0, n_bins, n_bins)]).astype(float)
    X = np.concatenate([X, X[rng.integers(0, n_bins, n_rows - n_bins)]]) if n_rows > n_bins else X[:n_rows]
    duals = rng.integers(-4, 5, len(X)).astype(float)
    found, candidate, price, _ = StumpScan(make_pool(X), 1).price(duals)
    order = np.argsort(X, axis=0, kind="stable")
    tails = duals[order][::-1].cumsum(axis=0)[::-1]
    splits = np.diff(np.take_along_axis(X, order, axis=0), axis=0) > 0
    prices = np.where(splits, np.abs(2 * tails[1:] - duals.sum()), 0.0)
    assert found
    assert abs(price) == prices.max()
    table = StumpTable(make_pool(X), 1, 1)
    assert abs(table.reprice(duals[:, None], "max")[3]) == prices.max()
    assert abs(table.respond(candidate).astype(float) @ duals) == prices.max()


@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows_have_the_edges_of_a_sample(weighted, rng):
    """Levels and few distinct values are still those of all rows, and gaps that the sample misses have a bin."""
    n = SAMPLED_ROWS + 6000
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 200, n), rng.integers(0, 5, n), rng.normal(size=n)])
    X[-1, 1], X[-3:, 3] = 1e6, np.nan
    weight = rng.exponential(size=n).round(3) + 0.001 if weighted else np.ones(n)
    is_category = np.array([0, 0, 1, 0])
    pool = make_pool(X, weight, 256, is_category, 1.0, n_threads=2)
    chosen, adjusted = naive_sample(weight, SAMPLED_ROWS)
    assert len(chosen) == SAMPLED_ROWS
    np.testing.assert_allclose(
        pool.thresholds(0), naive_thresholds(X[chosen, 0], adjusted, 256), rtol=1e-12, err_msg="quantiles of the sample"
    )
    assert pool.thresholds(1).tolist() == naive_thresholds(X[:, 1], weight, 256), "a value that one row has"
    assert pool.levels(2).tolist() == [0, 1, 2, 3, 4]
    assert pool.thresholds(3)[-1] == np.inf
    shares = np.histogram(X[:, 0], [-np.inf, *pool.thresholds(0), np.inf], weights=weight)[0] / weight.sum()
    assert np.abs(shares - 1 / 256).max() < 0.15 / 256, "bins of about equal weight"
    # Every row is in the bin of its value: the price of a threshold is the sum over the rows beyond it.
    duals = rng.integers(-3, 4, n).astype(float)
    _, candidate, price, _ = StumpScan(pool, 2).price(duals)
    feature, threshold, levels, gaps_above, _ = pool.split(candidate)
    x = X[:, feature]
    above = np.isin(x, levels) if np.isnan(threshold) else x > threshold
    signs = np.where(np.where(np.isnan(x), gaps_above, above), 1.0, -1.0)
    assert signs @ duals == price
    assert np.array_equal(pool.respond(candidate), signs)


def test_a_heavy_row_is_in_every_sample(rng):
    n = SAMPLED_ROWS + 1000
    weight = np.ones(n)
    weight[-1] = 3.0 * n
    chosen, adjusted = naive_sample(weight, SAMPLED_ROWS)
    assert chosen[-1] == n - 1
    assert adjusted[-1] == weight[-1]
    assert adjusted.sum() == pytest.approx(weight.sum(), rel=0.01)
    x = rng.normal(size=n)
    thresholds = make_pool(x[:, None], weight, 16).thresholds(0)
    heavy = np.searchsorted(thresholds, x[-1])
    shares = np.histogram(x, [-np.inf, *thresholds, np.inf], weights=weight)[0] / weight.sum()
    assert shares[heavy] > 0.74
    assert len(thresholds) == 15
