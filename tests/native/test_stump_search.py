"""The stump search equals the enumeration of the pool. Duals are integers, so that ``==`` is fair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cgens._core import StumpPool, StumpScan
from tests.native.tables import TABLES, make_pool, make_scan
from tests.reference.naive_stumps import naive_best, naive_pool, naive_prices
from tests.tolerances import CLOSED_FORM


def assert_equals_enumeration(X, duals, max_bins=None, weight=None, n_threads=1, n_taken=3):
    """Price, take what was found, and price again, some times over."""
    pool = make_pool(X, weight, max_bins, n_threads)
    scan = StumpScan(pool, n_threads)
    candidates = naive_pool(X, weight, max_bins)
    assert pool.n_candidates == len(candidates)
    energy = float(np.sum(naive_prices(candidates, duals) ** 2))
    taken = set()
    for _ in range(n_taken + 1):
        found, feature, threshold, price, found_energy = scan.price(duals)
        best = naive_best(candidates, duals, taken)
        assert found_energy == energy, "the energy counts the whole pool, taken or not"
        assert found == (best is not None)
        if best is None:
            return
        assert (feature, threshold) == best.key
        assert price == naive_prices([best], duals)[0]
        response = pool.respond(feature, threshold)
        assert response.dtype == np.int8
        assert tuple(response) == best.response
        assert pool.take(feature, threshold)
        taken.add(best.key)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("max_bins", [None, 256, 8, 2])
@pytest.mark.parametrize("name", TABLES)
def test_search_equals_enumeration(name, max_bins, n_threads, rng):
    X = TABLES[name]
    assert_equals_enumeration(X, rng.integers(-5, 6, len(X)).astype(float), max_bins, n_threads=n_threads)


@pytest.mark.parametrize("name", TABLES)
def test_search_in_float32_equals_enumeration(name, rng):
    X = TABLES[name].astype(np.float32)
    assert_equals_enumeration(X, rng.integers(-5, 6, len(X)).astype(float))


@pytest.mark.parametrize("name", TABLES)
def test_all_ties_go_to_the_first(name):
    """With duals of +-1 a great many prices are equal."""
    X = TABLES[name]
    assert_equals_enumeration(X, np.where(np.arange(len(X)) % 2 == 0, 1.0, -1.0), n_taken=6)


@pytest.mark.parametrize("name", ["few values", "repeated and sign-flipped features", "two rows"])
def test_everything_can_be_taken(name, rng):
    X = TABLES[name]
    duals = rng.integers(1, 50, len(X)).astype(float)
    assert_equals_enumeration(X, duals, n_taken=len(naive_pool(X)))


@given(
    X=hnp.arrays(np.float64, st.tuples(st.integers(1, 14), st.integers(1, 7)), elements=st.integers(-3, 3)),
    data=st.data(),
)
def test_search_equals_enumeration_on_any_table(X, data):
    duals = np.array(data.draw(st.lists(st.integers(-9, 9), min_size=len(X), max_size=len(X))), dtype=float)
    weight = np.array(data.draw(st.lists(st.integers(1, 5), min_size=len(X), max_size=len(X))), dtype=float)
    assert_equals_enumeration(X, duals, data.draw(st.sampled_from([None, 2, 3, 4])), weight)


def test_duals_of_zero_find_nothing():
    X = TABLES["few values"]
    assert make_scan(X).price(np.zeros(len(X))) == (False, 0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e-12, 1.0, 1e12, 1e150])
def test_real_duals_are_priced_to_rounding(scale, rng):
    X = TABLES["many values"]
    duals = rng.normal(size=len(X)) * scale
    pool = naive_pool(X)
    prices = naive_prices(pool, duals)
    found, feature, threshold, price, _ = make_scan(X).price(duals)
    assert found
    assert abs(price) == pytest.approx(np.abs(prices).max(), rel=CLOSED_FORM)
    own = [p for stump, p in zip(pool, prices, strict=True) if stump.key == (feature, threshold)]
    assert price == pytest.approx(own[0], rel=CLOSED_FORM)


def dual_vectors(n: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return a walk as a fit takes it, with the things that could upset sums kept from call to call."""
    base = rng.normal(size=n)
    few = base.copy()
    few[rng.permutation(n)[: n // 10]] += rng.normal(size=n // 10)
    sparse = np.where(rng.random(n) < 0.2, few, 0.0)
    return [
        base, few, few, sparse, -sparse, base * 1e6, base * 1e6 + few, base, np.zeros(n), np.zeros(n), few * 1e-6,
        base, base / 3, base * 1e-300, sparse, np.full(n, 0.1), base.round(2),
    ]  # fmt: skip


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("name", ["many values", "sparse, two blocks", "few values", "more than 256 values"])
def test_histograms_kept_up_to_date_equal_fresh_ones(name, n_threads, rng):
    X = TABLES[name]
    kept = make_scan(X, n_threads=n_threads)
    for step, duals in enumerate(dual_vectors(len(X), rng)):
        assert kept.price(duals) == make_scan(X).price(duals), step


def test_taken_stumps_stay_taken_when_duals_change(rng):
    X = TABLES["many values"]
    pool, taken = make_pool(X), set()
    scan = StumpScan(pool, 1)
    for duals in dual_vectors(len(X), rng):
        found, feature, threshold, _, _ = scan.price(duals)
        if found:
            assert (feature, threshold) not in taken
            taken.add((feature, threshold))
            pool.take(feature, threshold)
    assert len(taken) > 10


def test_searches_over_one_pool_share_what_is_taken(rng):
    """One search an output: what one of them found, none of them finds again, also on an equal feature."""
    pool = make_pool(TABLES["repeated and sign-flipped features"])
    first, second = StumpScan(pool, 1), StumpScan(pool, 1)
    duals = rng.normal(size=30)
    found, feature, threshold, price, energy = first.price(duals)
    assert second.price(duals) == (found, feature, threshold, price, energy)
    assert pool.take(feature, threshold)
    assert not pool.take(feature, threshold), "taken before"
    assert first.price(duals) == second.price(duals)
    assert first.price(duals)[1:3] != (feature, threshold)
    assert first.price(duals)[4] == energy


def test_rows_are_read_through_the_index(rng):
    X = TABLES["many values"]
    rows = rng.permutation(len(X))[:35]
    duals = rng.integers(-5, 6, len(rows)).astype(float)
    indexed = StumpScan(StumpPool(X, rows, np.ones(len(rows)), 256, 1), 1)
    assert indexed.price(duals) == make_scan(np.ascontiguousarray(X[rows]), max_bins=256).price(duals)


def test_more_bins_than_sixteen_bits_in_a_block(rng):
    """Three features of 30 000 distinct values lie in one block, whose codes then need 32 bits."""
    n = 30_000
    X = np.column_stack([rng.permutation(n), rng.permutation(n), rng.integers(0, 3, n), rng.permutation(n)]) * 1.0
    X = np.column_stack([X, X[:, ::-1], rng.permutation(n), np.zeros((n, 3)), rng.permutation(n)])
    duals = rng.integers(-3, 4, n).astype(float)
    best_price, best_key, n_candidates, energy = 0.0, None, 0, 0.0
    for feature in (0, 1, 2, 3, 8, 12):  # the others are repeated or constant
        order = np.argsort(X[:, feature], kind="stable")
        ends = np.flatnonzero(np.diff(X[order, feature]) > 0)
        prices = duals.sum() - 2 * np.cumsum(duals[order])[ends]
        n_candidates += len(ends)
        energy += np.sum(prices**2)
        k = int(np.argmax(np.abs(prices)))
        if abs(prices[k]) > abs(best_price):
            low, high = X[order[ends[k]], feature], X[order[ends[k] + 1], feature]
            best_price, best_key = prices[k], (feature, 0.5 * low + 0.5 * high)
    for n_threads in (1, 2):
        pool = make_pool(X, n_threads=n_threads)
        assert pool.n_candidates == n_candidates
        assert StumpScan(pool, n_threads).price(duals) == (True, *best_key, best_price, energy)
        assert np.array_equal(pool.respond(*best_key), np.where(X[:, best_key[0]] > best_key[1], 1, -1))
