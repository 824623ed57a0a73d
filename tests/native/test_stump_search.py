"""The searches for the best stump equal the enumeration of the pool, priced from new duals or changed by rank one.

Duals, directions and steps are integers, and sums of weights and denominators powers of two, so that ``==`` is fair.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cgens._core import StumpPool, StumpScan, StumpTable
from tests.native.tables import TABLES, integers, make_pool, make_scan
from tests.reference.naive_stumps import naive_pool, pool_matrix
from tests.tolerances import CLOSED_FORM

# Three rules of a table, and the scan, which is held against a table of one output by the rule "max".
SEARCHES = ("scan", "max", "gain", "votes")
NOTHING = (False, 0, 0.0, 0, 0.0, 0.0, 0.0, 0.0)


class Scan:
    """A scan that is asked like a table of one output."""

    def __init__(self, pool, n_threads=1):
        self.scan, self.duals = StumpScan(pool, n_threads), None

    def set_duals(self, duals):
        self.duals = np.ascontiguousarray(duals[:, 0])

    def set_curvature(self, diagonal):
        """A scan knows no g'Pg."""

    def change(self, direction, step, denominator, rule):
        self.duals = self.duals - step[0] * direction
        return self.find_best(rule)

    def find_best(self, rule):
        found, feature, threshold, price, energy = self.scan.price(self.duals)
        return (found, feature, threshold, 0, price, abs(price), energy, abs(price))


class NaiveTable:
    """Prices and g'Pg of all candidates, one row a candidate."""

    def __init__(self, stumps, n_rows, n_outputs):
        self.stumps = stumps
        self.responses = pool_matrix(stumps, n_rows)
        self.prices = np.zeros((len(stumps), n_outputs))
        self.curvature = np.zeros(len(stumps))
        self.taken = set()

    def set_duals(self, duals):
        self.prices = self.responses.T @ duals

    def set_curvature(self, diagonal):
        total = diagonal.sum()
        self.curvature = (total**2 - (self.responses.T @ diagonal) ** 2) / total

    def change(self, direction, step, denominator):
        along = self.responses.T @ direction
        self.prices = self.prices - np.outer(along, step)
        self.curvature = self.curvature - along**2 / denominator

    def find_best(self, rule):
        """Return what `StumpTable.find_best` does: the first of equals among those not taken, the energy of all."""
        free = np.array([stump.key not in self.taken for stump in self.stumps], dtype=bool)
        sizes, energy = np.abs(self.prices) * free[:, None], np.sum(self.prices**2)
        scores = {
            "gain": np.sum(sizes**2, axis=1) / (1.0 + self.curvature),
            "votes": sizes.sum(axis=1),
        }.get(rule, sizes.max(axis=1, initial=0.0))
        if not np.any(scores > 0):
            return (*NOTHING[:6], energy, 0.0)
        best = int(np.argmax(scores))
        output = int(np.argmax(sizes[best]))
        price = self.prices[best, output]
        return (True, *self.stumps[best].key, output, price, sizes.max(), energy, scores[best])


@cache
def stumps_of(name, max_bins):
    """Return the enumeration of one of the tables."""
    return naive_pool(TABLES[name], None, max_bins)


def start(X, search, n_outputs=3, stumps=None, weight=None, max_bins=None):
    """Return the pool, the search over it, and the enumeration."""
    n_outputs = 1 if search == "scan" else n_outputs
    stumps = naive_pool(X, weight, max_bins) if stumps is None else stumps
    pool = make_pool(X, weight, max_bins)
    assert pool.n_candidates == len(stumps)
    return (
        pool,
        Scan(pool) if search == "scan" else StumpTable(pool, n_outputs, 1),
        NaiveTable(stumps, len(X), n_outputs),
    )


def set_both(live, naive, duals, diagonal):
    for search in (live, naive):
        search.set_duals(duals[:, : naive.prices.shape[1]].copy())
        search.set_curvature(diagonal)


def whole_diagonal(m, rng=None):
    """Return positive integers with a power of two as their sum; drawn ones are large enough for some changes."""
    diagonal = np.ones(m) if rng is None else rng.integers(1000, 2000, m).astype(float)
    diagonal[0] += 2.0 ** np.ceil(np.log2(diagonal.sum())) - diagonal.sum()
    return diagonal


def take(pool, naive, found):
    """Take what was found, where something was; the responses on the training rows are those of the enumeration."""
    if not found[0]:
        return
    (stump,) = (stump for stump in naive.stumps if stump.key == found[1:3])
    response = pool.respond(*found[1:3])
    assert response.dtype == np.int8
    assert tuple(response) == stump.response
    assert pool.take(*found[1:3])
    assert not pool.take(*found[1:3]), "taken before"
    naive.taken.add(found[1:3])


def assert_same_entries(table, naive, pool):
    """Every price and every g'Pg; a repeated response has the price 0."""
    expected = {stump.key: [*naive.prices[k], naive.curvature[k]] for k, stump in enumerate(naive.stumps)}
    for feature in range(pool.n_features):
        for bin_below, threshold in enumerate(pool.thresholds(feature).tolist()):
            entries = table.entries(feature, bin_below).tolist()
            if (feature, threshold) in expected:
                assert entries == expected[feature, threshold]
            else:
                assert not any(entries[:-1])


def assert_equals_enumeration(X, rng, search, n_rounds=4, **options):
    """Set, find, take what was found, change, and again."""
    pool, live, naive = start(X, search, **options)
    n_outputs = naive.prices.shape[1]
    set_both(live, naive, integers(rng, len(X), n_outputs), whole_diagonal(len(X), rng))
    found = live.find_best(search)
    for _ in range(n_rounds):
        assert found == naive.find_best(search) == live.find_best(search)
        if search != "scan":
            assert_same_entries(live, naive, pool)
            assert not found[0] or np.array_equal(live.respond(*found[1:3]), pool.respond(*found[1:3]))
        take(pool, naive, found)
        direction, step = integers(rng, len(X), most=2), integers(rng, n_outputs, most=2)
        naive.change(direction, step, 8.0)
        found = live.change(direction, step, 8.0, search)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("name", TABLES)
def test_searches_equal_enumeration(name, search, rng):
    X = TABLES[name]
    for max_bins in (None, 256, 8, 2) if len(X) > 256 else (None, 8, 2):
        assert_equals_enumeration(X, rng, search, stumps=stumps_of(name, max_bins), max_bins=max_bins)


@pytest.mark.parametrize("search", SEARCHES)
def test_any_number_of_outputs_and_float32(search, rng):
    for name in ("few values", "sparse, two blocks"):
        for n_outputs in (1, 2, 7):
            assert_equals_enumeration(TABLES[name].astype(np.float32), rng, search, n_outputs=n_outputs)


@settings(max_examples=80)
@given(
    X=hnp.arrays(np.float64, st.tuples(st.integers(1, 14), st.integers(1, 7)), elements=st.integers(-3, 3)),
    seed=st.integers(0, 1000),
    search=st.sampled_from(SEARCHES),
    max_bins=st.sampled_from([None, 2, 3, 4]),
)
def test_searches_equal_enumeration_on_any_table(X, seed, search, max_bins):
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 6, len(X)).astype(float)
    assert_equals_enumeration(X, rng, search, n_outputs=rng.integers(1, 4), weight=weight, max_bins=max_bins)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("name", TABLES)
def test_all_ties_go_to_the_first(name, search):
    """With duals of +-1, in several outputs that are equal or opposite, a great many prices are equal."""
    X = TABLES[name]
    signs = np.where(np.arange(len(X)) % 2 == 0, 1.0, -1.0)
    pool, live, naive = start(X, search, stumps=stumps_of(name, None))
    set_both(live, naive, np.column_stack([signs, -signs, signs]), whole_diagonal(len(X)))
    for _ in range(6):
        found = live.find_best(search)
        assert found == naive.find_best(search)
        assert found[3] == 0, "of equal outputs, the first"
        take(pool, naive, found)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("name", ["few values", "repeated and sign-flipped features", "two rows"])
def test_everything_can_be_taken(name, search):
    """Prices come in order, and the energy counts the whole pool, taken or not."""
    X = TABLES[name]
    pool, live, naive = start(X, search, 2)
    set_both(live, naive, np.arange(1.0, 2 * len(X) + 1).reshape(len(X), 2) ** 2, np.ones(len(X)))
    sizes = []
    while (found := live.find_best(search))[0]:
        assert found[5:7] == naive.find_best(search)[5:7]
        take(pool, naive, found)
        sizes.append(found[5])
    assert len(naive.taken) == len(sizes) == pool.n_candidates
    assert sizes == sorted(sizes, reverse=True)
    assert found[5] == 0
    assert found[6] == naive.find_best(search)[6] > 0


@pytest.mark.parametrize("search", SEARCHES)
def test_duals_of_zero_find_nothing(search):
    X = TABLES["few values"]
    _, live, _ = start(X, search, 2)
    live.set_curvature(np.ones(len(X)))
    assert search == "scan" or live.find_best(search) == NOTHING, "before any duals"
    live.set_duals(np.zeros((len(X), 2)))
    assert live.find_best(search) == NOTHING
    assert live.change(np.arange(len(X)) * 1.0, np.zeros(2), 2.0, search) == NOTHING
    assert live.change(np.zeros(len(X)), np.ones(2), 2.0, search) == NOTHING


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e-12, 1.0, 1e12, 1e140])
@pytest.mark.parametrize("search", ["scan", "max"])
def test_real_duals_are_priced_to_rounding(search, scale, rng):
    X = TABLES["many values"]
    _, live, naive = start(X, search, 2, stumps_of("many values", None))
    set_both(live, naive, scale * rng.normal(size=(len(X), 2)), np.ones(len(X)))
    found, expected = live.find_best(search), naive.find_best(search)
    assert found[:4] == expected[:4]
    assert found[4] == pytest.approx(expected[4], rel=CLOSED_FORM)
    assert found[5] == abs(found[4])


@pytest.mark.parametrize("n_outputs", [1, 4])
@pytest.mark.parametrize("name", TABLES)
def test_a_table_gives_the_bits_of_one_scan_an_output(name, n_outputs, rng):
    """Also where they share one pool: what one of them found, none of them finds again."""
    pool, real = make_pool(TABLES[name]), rng.normal(size=(len(TABLES[name]), n_outputs))
    scans, table = [Scan(pool) for _ in range(n_outputs)], StumpTable(pool, n_outputs, 1)
    for duals in (real, integers(rng, *real.shape), np.zeros(real.shape), 1e-9 * real, real):
        table.set_duals(duals)
        for t, scan in enumerate(scans):
            scan.set_duals(duals[:, t:])
        found = [scan.find_best("max") for scan in scans]
        output = max(range(n_outputs), key=lambda t: found[t][5])
        best = table.find_best("max")
        assert best[:3] == found[output][:3]
        assert best[3:6] == (output, *found[output][4:6])
        assert best[6] == pytest.approx(sum(own[6] for own in found), rel=0 if n_outputs == 1 else CLOSED_FORM)
        if best[0]:
            assert pool.take(*best[1:3])


@pytest.mark.parametrize("name", ["many values", "sparse, two blocks", "few values", "more than 256 values"])
def test_histograms_kept_up_to_date_equal_fresh_ones(name, rng):
    """A walk as a fit takes it, with the things that could upset sums kept from call to call."""
    X, n = TABLES[name], len(TABLES[name])
    base = rng.normal(size=n)
    few = base + np.where(rng.permutation(n) < n // 10, rng.normal(size=n), 0.0)
    sparse = np.where(rng.random(n) < 0.2, few, 0.0)
    kept, zeros = make_scan(X), np.zeros(n)
    walk = [base, few, few, sparse, -sparse, base * 1e6, base * 1e6 + few, base, zeros, zeros, few * 1e-6, base]
    for step, duals in enumerate([*walk, base / 3, base * 1e-300, sparse, np.full(n, 0.1), base.round(2)]):
        assert kept.price(duals) == make_scan(X).price(duals), step


def test_rows_are_read_through_the_index(rng):
    X = TABLES["many values"]
    rows, duals = rng.permutation(len(X))[:35], integers(rng, 35)
    indexed = StumpScan(StumpPool(X, rows, np.ones(35), 256, 1), 1)
    assert indexed.price(duals) == make_scan(np.ascontiguousarray(X[rows]), max_bins=256).price(duals)


def test_more_bins_than_sixteen_bits_in_a_block(rng):
    """Three features of 30 000 distinct values lie in one block, whose codes then need 32 bits."""
    n = 30_000
    X = np.column_stack([rng.permutation(n), rng.permutation(n), rng.integers(0, 3, n), rng.permutation(n)]) * 1.0
    X = np.column_stack([X, X[:, ::-1], rng.permutation(n), np.zeros((n, 3)), rng.permutation(n)])
    duals = integers(rng, n, most=3)
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
    pool = make_pool(X, n_threads=2)
    table = StumpTable(pool, 1, 2)
    table.set_duals(duals[:, None])
    assert pool.n_candidates == n_candidates
    assert StumpScan(pool, 2).price(duals) == (True, *best_key, best_price, energy)
    assert table.find_best("max")[:7] == (True, *best_key, 0, best_price, abs(best_price), energy)
    for search in (pool, table):
        assert np.array_equal(search.respond(*best_key), np.where(X[:, best_key[0]] > best_key[1], 1, -1))
