"""The kernels with several threads. Small work is done by one, so that these tables are large enough for four."""

from __future__ import annotations

import numpy as np
import pytest

from cgens._core import DualCd, StepTables, StumpScan, order_rows, respond_stumps
from tests.native.tables import make_pool

N_THREADS = [2, 3, 4]


@pytest.fixture(scope="module")
def table() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(9000, 50)).round(2) * (rng.random((9000, 50)) < 0.9)


@pytest.mark.parametrize("n_threads", N_THREADS)
def test_search(table, n_threads, rng):
    one, many = make_pool(table, max_bins=256), make_pool(table, max_bins=256, n_threads=n_threads)
    assert one.n_candidates == many.n_candidates
    single, several = StumpScan(one, 1), StumpScan(many, n_threads)
    duals = rng.normal(size=len(table))
    for _ in range(5):
        assert single.price(duals) == several.price(duals)
        duals = np.where(rng.random(len(table)) < 0.6, rng.normal(size=len(table)), duals)
    for feature in range(table.shape[1]):
        assert np.array_equal(one.thresholds(feature), many.thresholds(feature))


@pytest.mark.parametrize("n_threads", N_THREADS)
def test_row_order(table, n_threads, rng):
    target, weight = rng.choice([-1.0, 1.0], size=(len(table), 1)), rng.random(len(table))
    one, many = order_rows(table, target, weight, 1), order_rows(table, target, weight, n_threads)
    assert all(np.array_equal(a, b) for a, b in zip(one, many, strict=True))


@pytest.mark.parametrize("n_threads", N_THREADS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_prediction(table, n_threads, dtype, rng):
    X = table.astype(dtype)
    features, thresholds = rng.integers(0, 50, 300), rng.normal(size=300)
    tables = StepTables(features, thresholds, rng.normal(size=(300, 2)))
    assert np.array_equal(tables.decide(X, 1), tables.decide(X, n_threads))
    one, many = respond_stumps(X, features, thresholds, 1), respond_stumps(X, features, thresholds, n_threads)
    assert np.array_equal(one, many)


@pytest.mark.parametrize("n_threads", N_THREADS)
def test_descent(n_threads, rng):
    y = np.where(rng.random(9000) < 0.5, 1.0, -1.0)
    columns = [np.where(rng.random(9000) < 0.6, y, -y).astype(np.int8) for _ in range(200)]
    results = []
    for threads in (1, n_threads):
        solver = DualCd(y, np.where(y < 0, -1e-3, 0.0), np.where(y > 0, 1e-3, 0.0), threads)
        for column in columns:
            solver.add(column)
        report = solver.solve(1e-4, 1000, lambda: False)
        results.append((report, solver.bias, solver.weights().tobytes(), solver.duals().tobytes()))
    assert results[0] == results[1]
