"""The kernels with several threads. Small work is done by one, so that these tables are large enough for four."""

from __future__ import annotations

import numpy as np
import pytest

from cgens._core import DualCd, StepTables, StumpScan, order_rows, respond_stumps, usable_threads
from tests.native.tables import make_pool

N_ROWS, N_THREADS = 9000, [2, 3, 4]


@pytest.fixture(scope="module")
def table() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(N_ROWS, 50)).round(2) * (rng.random((N_ROWS, 50)) < 0.9)


def search(table, rng, n_threads):
    pool = make_pool(table, max_bins=256, n_threads=n_threads)
    scan, duals = StumpScan(pool, n_threads), rng.normal(size=N_ROWS)
    yield pool.n_candidates
    for _ in range(5):
        yield scan.price(duals)
        duals = np.where(rng.random(N_ROWS) < 0.6, rng.normal(size=N_ROWS), duals)
    for feature in range(table.shape[1]):
        yield pool.thresholds(feature).tobytes()


def row_order(table, rng, n_threads):
    target, weight = rng.choice([-1.0, 1.0], size=(N_ROWS, 1)), rng.random(N_ROWS)
    for part in order_rows(table, target, weight, n_threads):
        yield part.tobytes()


def prediction(table, rng, n_threads):
    features, thresholds = rng.integers(0, 50, 300), rng.normal(size=300)
    tables = StepTables(features, thresholds, rng.normal(size=(300, 2)))
    for X in (table, table.astype(np.float32)):
        yield tables.decide(X, n_threads).tobytes()
        yield respond_stumps(X, features, thresholds, n_threads).tobytes()


def descent(table, rng, n_threads):
    y = np.where(rng.random(N_ROWS) < 0.5, 1.0, -1.0)
    solver = DualCd(y, np.where(y < 0, -1e-3, 0.0), np.where(y > 0, 1e-3, 0.0), n_threads)
    for _ in range(100):
        solver.add(np.where(rng.random(N_ROWS) < 0.6, y, -y).astype(np.int8))
    yield solver.solve(1e-4, 1000, lambda: False)
    yield solver.bias, solver.weights().tobytes(), solver.duals().tobytes()


@pytest.mark.parametrize("kernel", [search, row_order, prediction, descent])
def test_threads_give_the_same_bits(kernel, table):
    one, *several = (list(kernel(table, np.random.default_rng(7), n_threads)) for n_threads in (1, *N_THREADS))
    assert all(other == one for other in several)


@pytest.mark.parametrize("n_threads", [-5, 0, 1])
def test_useless_numbers_of_threads_mean_one(n_threads, table):
    assert usable_threads(n_threads) == 1
    assert len(order_rows(table, np.ones((N_ROWS, 1)), np.ones(N_ROWS), n_threads)[2]) == N_ROWS
