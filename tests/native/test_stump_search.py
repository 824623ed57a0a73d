"""The search for the best stump equals an enumeration of the pool, with new duals or after a change by rank one.

Duals, directions and steps are integers, and sums of weights and denominators are powers of two: results are exact.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgens._core import StumpScan, StumpTable
from tests.native.tables import TABLES, any_table, binning, integers, make_pool, make_scan
from tests.reference.naive_stumps import NaiveTable, naive_pool
from tests.tolerances import CLOSED_FORM

RULES = ("max", "gain", "votes")
NOTHING = (False, 0, 0, 0.0, 0.0, 0.0, 0.0)


@cache
def stumps_of(name, max_bins):
    """Return the enumeration of one of the tables."""
    return naive_pool(TABLES[name], None, max_bins, **binning(name))


def start(X, duals, diagonal, stumps=None, **options):
    """Return the pool, the table of prices over it, and the enumeration."""
    stumps = naive_pool(X, **options) if stumps is None else stumps
    pool = make_pool(X, **options)
    assert pool.n_candidates == len(stumps)
    table, naive = StumpTable(pool, duals.shape[1], 1), NaiveTable(stumps, len(X), duals.shape[1])
    for search in (table, naive):
        search.set_curvature(diagonal)
        search.reprice(duals, "max")
    return pool, table, naive


def whole_diagonal(m, rng=None):
    """Return positive integers whose sum is a power of two; random ones are large enough for some changes."""
    diagonal = np.ones(m) if rng is None else rng.integers(1000, 2000, m).astype(float)
    diagonal[0] += 2.0 ** np.ceil(np.log2(diagonal.sum())) - diagonal.sum()
    return diagonal


def take(pool, table, naive, found):
    """Take the stump that was found, if any; its responses on the training rows are those of the enumeration."""
    if found[0]:
        (stump,) = (stump for stump in naive.stumps if stump.candidate == found[1])
        for response in (pool.respond(stump.candidate), table.respond(stump.candidate)):
            assert response.dtype == np.int8
            assert tuple(response) == stump.response
        assert pool.take(stump.candidate)
        assert not pool.take(stump.candidate), "taken before"
        naive.taken.add(stump.candidate)


def assert_same_entries(table, alone, naive, pool):
    """Compare every price and every g'Pg, updated with the prices or alone; a repeated response has the price 0."""
    expected = {stump.candidate: [*naive.prices[k], naive.curvature[k]] for k, stump in enumerate(naive.stumps)}
    for candidate in range(pool.n_cells):
        entries = table.entries(candidate).tolist()
        assert alone.entries(candidate).tolist() == [0.0, entries[-1]]
        if candidate in expected:
            assert entries == expected[candidate]
        else:
            assert not any(entries[:-1])


def assert_equals_enumeration(X, rng, rule, n_outputs=3, **options):
    """Set duals, find the best stump, take it, change the duals, and repeat."""
    diagonal = whole_diagonal(len(X), rng)
    pool, table, naive = start(X, integers(rng, len(X), n_outputs), diagonal, **options)
    alone, found = StumpTable(pool, 1, 1), table.find_best(rule)
    alone.set_curvature(diagonal)
    for _ in range(4):
        assert found == naive.find_best(rule) == table.find_best(rule)
        assert_same_entries(table, alone, naive, pool)
        take(pool, table, naive, found)
        direction, step = integers(rng, len(X), most=2), integers(rng, n_outputs, most=2)
        naive.change(direction, step, 8.0)
        alone.change_curvature(direction, 8.0)
        found = table.change(direction, step, 8.0, rule)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", TABLES)
def test_tables_equal_enumeration(name, rule, rng):
    X = TABLES[name]
    for max_bins in (None, 256, 8, 2) if len(X) > 256 else (None, 8, 2):
        options = {"max_bins": max_bins, **binning(name)}
        assert_equals_enumeration(X, rng, rule, stumps=stumps_of(name, max_bins), **options)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n_outputs", [1, 2, 7])
def test_any_number_of_outputs_and_float32(n_outputs, rule, rng):
    for name in ("few values", "sparse, two blocks", "gaps in many values", "mixed"):
        assert_equals_enumeration(TABLES[name].astype(np.float32), rng, rule, n_outputs, **binning(name))


@settings(max_examples=150)
@given(
    table=any_table(),
    seed=st.integers(0, 1000),
    rule=st.sampled_from(RULES),
    max_bins=st.sampled_from([None, 2, 3, 4]),
)
def test_searches_equal_enumeration_on_any_table(table, seed, rule, max_bins):
    (X, options), rng = table, np.random.default_rng(seed)
    options |= {"weight": rng.integers(1, 6, len(X)).astype(float), "max_bins": max_bins}
    assert_equals_enumeration(X, rng, rule, rng.integers(1, 4), **options)
    assert_scan_equals_table(make_pool(X, **options), [integers(rng, len(X), most=2) for _ in range(4)])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", TABLES)
def test_the_first_of_ties_wins(name, rule):
    """With duals of +-1, in outputs that are equal or opposite, many prices are tied."""
    m = len(TABLES[name])
    duals = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)[:, None] * [1.0, -1.0, 1.0]
    pool, table, naive = start(TABLES[name], duals, whole_diagonal(m), stumps_of(name, None), **binning(name))
    for _ in range(6):
        found = table.find_best(rule)
        assert found == naive.find_best(rule)
        assert found[2] == 0, "the first of equal outputs"
        take(pool, table, naive, found)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "name", ["few values", "repeated and sign-flipped features", "two rows", "columns of gaps", "rare levels and gaps"]
)
def test_a_pool_can_be_exhausted(name, rule):
    """The best stumps come first, and the energy is that of the whole pool, taken or not."""
    m = len(TABLES[name])
    duals = np.arange(1.0, 2 * m + 1).reshape(m, 2) ** 2
    pool, table, naive = start(TABLES[name], duals, np.ones(m), stumps_of(name, None), **binning(name))
    sizes = []
    while (found := table.find_best(rule))[0]:
        assert found[4:6] == naive.find_best(rule)[4:6]
        take(pool, table, naive, found)
        sizes.append(found[4])
    assert len(naive.taken) == len(sizes) == pool.n_candidates
    assert sizes == sorted(sizes, reverse=True)
    assert found[4] == 0
    assert found[5] == naive.find_best(rule)[5] > 0


@pytest.mark.parametrize("rule", RULES)
def test_zero_duals_find_nothing(rule):
    X = TABLES["few values"]
    table = StumpTable(make_pool(X), 2, 1)
    assert not table.has_curvature
    table.set_curvature(np.ones(len(X)))
    assert table.has_curvature
    assert table.find_best(rule) == NOTHING, "before any duals"
    assert table.reprice(np.zeros((len(X), 2)), rule) == NOTHING
    assert table.find_best(rule) == NOTHING
    assert table.change(np.arange(len(X)) * 1.0, np.zeros(2), 2.0, rule) == NOTHING
    assert table.change(np.zeros(len(X)), np.ones(2), 2.0, rule) == NOTHING
    assert make_scan(X).price(np.zeros(len(X))) == (False, 0, 0.0, 0.0)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n_outputs", [1, 2, 3, 7, 8, 9, 10, 15, 17])
@pytest.mark.parametrize("name", ["few values", "mixed"])
def test_prices_of_any_number_of_outputs_and_a_change_of_curvature_in_one_pass(name, n_outputs, rule, rng):
    """Whole numbers, whose sums are exact; rounded to 32 bits, they still are."""
    X = TABLES[name]
    duals = rng.integers(-50, 51, (len(X), n_outputs)).astype(float)
    direction = rng.integers(-3, 4, len(X)).astype(float)
    for rough in (False, True):
        stumps, diagonal = stumps_of(name, None), whole_diagonal(len(X), rng)
        _, table, naive = start(X, duals[::-1].copy(), diagonal, stumps, **binning(name))
        assert table.reprice(duals, rule, direction, 8.0, rough) == naive.reprice(duals, rule, direction, 8.0)
        assert table.find_best(rule) == naive.find_best(rule)


def test_rough_prices_are_accurate_to_a_millionth_of_the_duals(rng):
    """Of many rows, most of whose duals are tiny."""
    X = rng.normal(size=(5000, 3))
    duals = rng.normal(size=(5000, 4)) * np.exp(rng.normal(scale=3, size=(5000, 1)))
    table = StumpTable(make_pool(X, max_bins=256), 4, 1)
    exact, rough = table.reprice(duals, "max"), table.reprice(duals, "max", rough=True)
    assert rough[1:3] == exact[1:3]
    assert rough[3] == pytest.approx(exact[3], abs=1e-6 * np.abs(duals[:, exact[2]]).sum())
    assert rough[3] != exact[3]


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e-12, 1.0, 1e12, 1e140])
def test_real_duals_are_priced_to_rounding(scale, rng):
    X, duals = TABLES["many values"], scale * rng.normal(size=(60, 2))
    _, table, naive = start(X, duals, np.ones(60), stumps_of("many values", None))
    found, expected = table.find_best("max"), naive.find_best("max")
    assert found[:3] == expected[:3]
    assert found[3] == pytest.approx(expected[3], rel=CLOSED_FORM)
    assert found[4] == abs(found[3])


def assert_scan_equals_table(pool, walk):
    """Every result has the bits of a table of one output, which computes its sums from scratch."""
    scan, table = StumpScan(pool, 1), StumpTable(pool, 1, 1)
    for step, duals in enumerate(walk):
        found, candidate, output, price, largest, energy, _ = table.reprice(duals[:, None], "max")
        assert scan.price(duals) == StumpScan(pool, 1).price(duals), f"{step}: a new scan finds something else"
        assert scan.price(duals)[:3] == (found, candidate, price), step
        assert scan.price(duals)[3] == energy or largest < 1e-150, step  # squares are denormal
        assert (output, largest) == (0, abs(price))
        if found:
            assert pool.take(candidate)


@pytest.mark.parametrize("name", TABLES)
def test_updated_scans_equal_tables(name, rng):
    """Over duals as in a fit, over ties, and over changes that could spoil sums kept from call to call."""
    n = len(TABLES[name])
    base, ties = rng.normal(size=n), np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    few = base + np.where(rng.permutation(n) < n // 10, rng.normal(size=n), 0.0)
    sparse, zeros = np.where(rng.random(n) < 0.2, few, 0.0), np.zeros(n)
    walk = [base, few, few, sparse, -sparse, base * 1e6, base * 1e6 + few, base, zeros, zeros, few * 1e-6, base]
    walk += [base / 3, base * 1e-300, base * 1e-310, sparse, np.full(n, 0.1), base.round(2), base * 1e150]
    pool = make_pool(TABLES[name], **binning(name))
    assert_scan_equals_table(pool, [ties, ties, integers(rng, n), *walk])


def test_more_bins_than_sixteen_bits_in_a_block(rng):
    """Three features with 30 000 distinct values are in one block, whose codes need 32 bits."""
    n = 30_000
    X = np.column_stack([rng.permutation(n), rng.permutation(n), rng.integers(0, 3, n), rng.permutation(n)]) * 1.0
    X = np.column_stack([X, X[:, ::-1], rng.permutation(n), np.zeros((n, 3)), rng.permutation(n)])
    duals = integers(rng, n, most=3)
    best_price, best_split, n_candidates, energy = 0.0, None, 0, 0.0
    for feature in (0, 1, 2, 3, 8, 12):  # the others are repeated or constant
        order = np.argsort(X[:, feature], kind="stable")
        ends = np.flatnonzero(np.diff(X[order, feature]) > 0)
        prices = duals.sum() - 2 * np.cumsum(duals[order])[ends]
        n_candidates += len(ends)
        energy += np.sum(prices**2)
        k = int(np.argmax(np.abs(prices)))
        if abs(prices[k]) > abs(best_price):
            low, high = X[order[ends[k]], feature], X[order[ends[k] + 1], feature]
            best_price, best_split = prices[k], (feature, 0.5 * low + 0.5 * high)
    pool = make_pool(X, n_threads=2)
    table = StumpTable(pool, 1, 2)
    table.reprice(duals[:, None], "max")
    assert pool.n_candidates == n_candidates
    best = pool.find(*best_split, np.array([], dtype=np.uint32), False)
    assert StumpScan(pool, 2).price(duals) == (True, best, best_price, energy)
    assert table.find_best("max")[:6] == (True, best, 0, best_price, abs(best_price), energy)
    for search in (pool, table):
        assert np.array_equal(search.respond(best), np.where(X[:, best_split[0]] > best_split[1], 1, -1))


def test_more_levels_than_sixteen_bits(rng):
    """A level has one row, and its price is twice the row's dual minus the total."""
    n = 70_000
    codes, duals = rng.permutation(n), integers(rng, n, most=50)
    duals[1234] = 99.0
    pool = make_pool(codes[:, None].astype(float), is_category=np.array([True]))
    prices = (2 * duals - duals.sum())[np.argsort(codes)]
    best, table = int(np.argmax(np.abs(prices))), StumpTable(pool, 1, 1)
    assert pool.n_candidates == n
    assert StumpScan(pool, 1).price(duals) == (True, best, prices[best], np.sum(prices**2))
    assert table.reprice(duals[:, None], "max")[1:4] == (best, 0, prices[best])
    for search in (pool, table):
        assert np.array_equal(search.respond(best), np.where(codes == best, 1, -1))
