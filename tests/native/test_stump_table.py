"""The table of prices equals the enumeration of the pool, made anew or changed by rank one.

Duals, directions and steps are integers, and sums of weights and denominators powers of two, so that ``==`` is fair.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cgens._core import GramLs, StumpScan, StumpTable, force_simd_level, simd_level, simd_levels
from tests.native.tables import TABLES, make_pool
from tests.reference.naive_least_squares import NaiveCurvature, grown_models
from tests.reference.naive_stumps import naive_pool, pool_matrix
from tests.tolerances import CLOSED_FORM

RULES = ("max", "gain", "votes")


class NaiveTable:
    """Prices and g'Pg of all candidates, one row a candidate."""

    def __init__(self, X, n_outputs, weight=None, max_bins=None):
        self.stumps = naive_pool(X, weight, max_bins)
        self.responses = pool_matrix(self.stumps, len(X))
        self.prices = np.zeros((len(self.stumps), n_outputs))
        self.curvature = np.zeros(len(self.stumps))
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
        """Return what `StumpTable.find_best` does: the first of equals."""
        best, best_score, max_price = None, 0.0, 0.0
        for k, stump in enumerate(self.stumps):
            if stump.key in self.taken:
                continue
            largest = np.abs(self.prices[k]).max()
            score = {
                "max": largest,
                "gain": np.sum(self.prices[k] ** 2) / (1.0 + self.curvature[k]),
                "votes": np.abs(self.prices[k]).sum(),
            }[rule]
            max_price = max(max_price, largest)
            if score > best_score:
                best, best_score = k, score
        energy = np.sum(self.prices**2)
        if best is None:
            return (False, 0, 0.0, 0, 0.0, max_price, energy, 0.0)
        output = int(np.argmax(np.abs(self.prices[best])))
        return (True, *self.stumps[best].key, output, self.prices[best, output], max_price, energy, best_score)


def whole_diagonal(rng, m):
    """Return positive integers, as a whole a power of two, large enough for some changes."""
    diagonal = rng.integers(1000, 2000, m).astype(float)
    diagonal[0] += 2.0 ** np.ceil(np.log2(diagonal.sum())) - diagonal.sum()
    return diagonal


def small_integers(rng, *shape, most=5):
    return rng.integers(-most, most + 1, shape).astype(float)


def assert_same_entries(table, naive, pool):
    """Every price and every g'Pg; a repeated response has the price 0."""
    expected = {stump.key: k for k, stump in enumerate(naive.stumps)}
    for feature in range(pool.n_features):
        for bin_below, threshold in enumerate(pool.thresholds(feature).tolist()):
            *prices, curvature = table.entries(feature, bin_below)
            k = expected.get((feature, threshold))
            if k is None:
                assert not any(prices)
            else:
                assert prices == naive.prices[k].tolist()
                assert curvature == naive.curvature[k]


def assert_equals_enumeration(X, rng, rule, n_outputs=3, max_bins=None, weight=None, n_threads=1, n_rounds=4):
    """Set, find, take what was found, change, and again."""
    pool, naive = make_pool(X, weight, max_bins, n_threads), NaiveTable(X, n_outputs, weight, max_bins)
    table = StumpTable(pool, n_outputs, n_threads)
    duals, diagonal = small_integers(rng, len(X), n_outputs), whole_diagonal(rng, len(X))
    for other in (table, naive):
        other.set_duals(duals)
        other.set_curvature(diagonal)
    found = table.find_best(rule)
    for _ in range(n_rounds):
        assert found == naive.find_best(rule)
        assert found == table.find_best(rule)
        assert_same_entries(table, naive, pool)
        if found[0]:
            assert pool.take(*found[1:3])
            naive.taken.add(found[1:3])
        direction, step = small_integers(rng, len(X), most=2), small_integers(rng, n_outputs, most=2)
        naive.change(direction, step, 8.0)
        found = table.change(direction, step, 8.0, rule)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("max_bins", [None, 256, 8, 2])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", TABLES)
def test_table_equals_enumeration(name, rule, max_bins, n_threads, rng):
    assert_equals_enumeration(TABLES[name], rng, rule, max_bins=max_bins, n_threads=n_threads)


@pytest.mark.parametrize("n_outputs", [1, 2, 7])
@pytest.mark.parametrize("rule", RULES)
def test_any_number_of_outputs(rule, n_outputs, rng):
    for name in ("few values", "sparse, two blocks"):
        assert_equals_enumeration(TABLES[name], rng, rule, n_outputs)
        assert_equals_enumeration(TABLES[name].astype(np.float32), rng, rule, n_outputs)


@given(
    X=hnp.arrays(np.float64, st.tuples(st.integers(1, 14), st.integers(1, 7)), elements=st.integers(-3, 3)),
    seed=st.integers(0, 1000),
    rule=st.sampled_from(list(RULES)),
    max_bins=st.sampled_from([None, 2, 3, 4]),
)
def test_table_equals_enumeration_on_any_table(X, seed, rule, max_bins):
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 6, len(X)).astype(float)
    assert_equals_enumeration(X, rng, rule, rng.integers(1, 4), max_bins, weight)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["few values", "repeated and sign-flipped features", "two rows"])
def test_everything_can_be_taken(name, rule, rng):
    """Prices come in order, and the energy counts the whole pool, taken or not."""
    X = TABLES[name]
    pool, naive = make_pool(X), NaiveTable(X, 2)
    table = StumpTable(pool, 2, 1)
    for other in (table, naive):
        other.set_duals(np.arange(1.0, 2 * len(X) + 1).reshape(len(X), 2) ** 2)
        other.set_curvature(np.full(len(X), 1.0))
    sizes = []
    while (found := table.find_best(rule))[0]:
        assert found[5] == naive.find_best(rule)[5]
        assert found[6] == naive.find_best(rule)[6]
        assert found[1:3] not in naive.taken
        assert pool.take(*found[1:3])
        naive.taken.add(found[1:3])
        sizes.append(found[5])
    assert len(naive.taken) == pool.n_candidates
    assert sizes == sorted(sizes, reverse=True)
    assert found[5] == 0
    assert found[6] == naive.find_best(rule)[6] > 0


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", TABLES)
def test_all_ties_go_to_the_first(name, rule):
    """With duals of +-1, in several outputs that are equal or opposite, a great many prices are equal."""
    X = TABLES[name]
    signs = np.where(np.arange(len(X)) % 2 == 0, 1.0, -1.0)
    pool, naive = make_pool(X), NaiveTable(X, 3)
    table = StumpTable(pool, 3, 1)
    diagonal = np.ones(len(X))
    diagonal[0] += 2.0 ** np.ceil(np.log2(len(X))) - len(X)
    for other in (table, naive):
        other.set_duals(np.column_stack([signs, -signs, signs]))
        other.set_curvature(diagonal)
    for _ in range(6):
        found = table.find_best(rule)
        assert found == naive.find_best(rule)
        assert found[3] == 0, "of equal outputs, the first"
        if found[0]:
            pool.take(*found[1:3])
            naive.taken.add(found[1:3])


@pytest.mark.parametrize("rule", RULES)
def test_duals_of_zero_find_nothing(rule):
    X = TABLES["few values"]
    table = StumpTable(make_pool(X), 2, 1)
    table.set_curvature(np.ones(len(X)))
    nothing = (False, 0, 0.0, 0, 0.0, 0.0, 0.0, 0.0)
    assert table.find_best(rule) == nothing, "before any duals"
    table.set_duals(np.zeros((len(X), 2)))
    assert table.find_best(rule) == nothing
    assert table.change(np.arange(len(X)) * 1.0, np.zeros(2), 2.0, rule) == nothing
    assert table.change(np.zeros(len(X)), np.ones(2), 2.0, rule) == nothing


@pytest.mark.parametrize("rule", RULES)
def test_constant_features_have_no_stumps(rule, rng):
    X = np.full((12, 3), 2.5)
    pool = make_pool(X)
    table = StumpTable(pool, 2, 1)
    assert pool.n_candidates == 0
    table.set_curvature(np.ones(12))
    table.set_duals(rng.normal(size=(12, 2)))
    assert table.find_best(rule) == (False, 0, 0.0, 0, 0.0, 0.0, 0.0, 0.0)
    assert not table.change(rng.normal(size=12), np.ones(2), 2.0, rule)[0]


@pytest.mark.parametrize("name", TABLES)
def test_one_output_gives_the_bits_of_the_scan(name, rng):
    X = TABLES[name]
    pool = make_pool(X)
    scan, table = StumpScan(pool, 1), StumpTable(pool, 1, 1)
    real = rng.normal(size=len(X))
    for duals in (real, small_integers(rng, len(X)), np.zeros(len(X)), 1e-9 * real, real):
        table.set_duals(duals[:, None])
        found, feature, threshold, price, energy = scan.price(duals)
        assert table.find_best("max") == (found, feature, threshold, 0, price, abs(price), energy, abs(price))
        if found:
            pool.take(feature, threshold)


def test_several_outputs_are_as_many_scans(rng):
    X = TABLES["many values"]
    pool, duals = make_pool(X), rng.normal(size=(len(X), 4))
    table, scans = StumpTable(pool, 4, 1), [StumpScan(pool, 1) for _ in range(4)]
    table.set_duals(duals)
    for _ in range(10):
        found = [scan.price(np.ascontiguousarray(own)) for scan, own in zip(scans, duals.T, strict=True)]
        output = max(range(4), key=lambda t: abs(found[t][3]))
        _, feature, threshold, price, _ = found[output]
        best = table.find_best("max")
        assert best[:6] == (True, feature, threshold, output, price, abs(price))
        assert best[6] == pytest.approx(sum(own[4] for own in found), rel=CLOSED_FORM)
        pool.take(feature, threshold)


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e-12, 1.0, 1e12, 1e140])
def test_real_duals_are_priced_to_rounding(scale, rng):
    X = TABLES["many values"]
    duals = rng.normal(size=(len(X), 2)) * scale
    table, naive = StumpTable(make_pool(X), 2, 1), NaiveTable(X, 2)
    for other in (table, naive):
        other.set_duals(duals)
    found, feature, threshold, output, price, max_price, *_ = table.find_best("max")
    expected = naive.find_best("max")
    assert found
    assert (feature, threshold, output) == expected[1:4]
    assert price == pytest.approx(expected[4], rel=CLOSED_FORM)
    assert max_price == abs(price)


def least_squares_walk(X, rng, n_outputs=2, n_columns=40, C=1.0):
    """Return the pool's responses, and models that grew by some of them, not one of them twice."""
    target, scale = rng.normal(size=(len(X), n_outputs)), C * (rng.random(len(X)) + 0.1)
    responses = pool_matrix(naive_pool(X), len(X))
    chosen = rng.permutation(responses.shape[1])[:n_columns]
    return responses, grown_models(responses[:, chosen], target, scale)


def places_of(X):
    """Return feature and bin of every candidate."""
    thresholds = [make_pool(X).thresholds(feature).tolist() for feature in range(X.shape[1])]
    return [(stump.feature, thresholds[stump.feature].index(stump.threshold)) for stump in naive_pool(X)]


def all_entries(table, places):
    """Return the prices (n, l) and g'Pg (n,) of all candidates."""
    entries = np.array([table.entries(feature, bin_below) for feature, bin_below in places])
    return entries[:, :-1], entries[:, -1]


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("name", ["many values", "few values", "sparse, two blocks"])
def test_a_table_changed_by_many_steps_agrees_with_one_made_anew(name, C, rng):
    X = TABLES[name]
    responses, models = least_squares_walk(X, rng, C=C)
    changed, curvature = StumpTable(make_pool(X), 2, 1), NaiveCurvature(models)
    changed.set_duals(models[0].duals)
    changed.set_curvature(curvature.diagonal)
    size, places, keys = C * len(X), places_of(X), [stump.key for stump in naive_pool(X)]
    anew = StumpTable(make_pool(X), 2, 1)
    for k, model in enumerate(models[1:]):
        best = changed.change(*curvature.step(k), "gain")
        anew.set_duals(model.duals)
        prices, quadratic = all_entries(changed, places)
        assert np.allclose(prices, all_entries(anew, places)[0], rtol=0, atol=CLOSED_FORM * size)
        assert np.allclose(prices, responses.T @ model.duals, rtol=0, atol=CLOSED_FORM * size)
        assert np.allclose(quadratic, model.quadratic(responses), rtol=0, atol=CLOSED_FORM * size)
        gains = model.gains(responses)
        assert gains[keys.index(best[1:3])] == pytest.approx(gains.max(), rel=CLOSED_FORM, abs=CLOSED_FORM * size)
        assert best[5] == pytest.approx(np.abs(responses.T @ model.duals).max(), abs=CLOSED_FORM * size)
        assert best[6] == pytest.approx(np.sum((responses.T @ model.duals) ** 2), abs=CLOSED_FORM * size**2)


def test_curvature_can_be_followed_alone(rng):
    """As where duals are set anew but g'Pg is kept: the same numbers as both together."""
    X = TABLES["many values"]
    _, models = least_squares_walk(X, rng)
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
    places = places_of(X)
    assert np.array_equal(all_entries(both, places)[1], all_entries(alone, places)[1])
    assert not all_entries(alone, places)[0].any()


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_drift_bounds_what_rounding_did(scale, rng):
    """Against the same changes in long double."""
    X = TABLES["many values"]
    responses = pool_matrix(naive_pool(X), len(X)).astype(np.longdouble)
    table, duals = StumpTable(make_pool(X), 2, 1), scale * rng.normal(size=(len(X), 2))
    table.set_duals(duals)
    exact, last, places = responses.T @ duals, 0.0, places_of(X)
    for _ in range(100):
        direction, step = rng.normal(size=len(X)), scale * rng.normal(size=2)
        table.change(direction, step, 2.0, "max")
        exact = exact - np.outer(responses.T @ direction, step)
        assert np.abs(all_entries(table, places)[0] - exact).max() <= table.drift
        assert last < table.drift
        last = table.drift
    assert table.drift <= CLOSED_FORM * float(np.abs(exact).max()), "a bound that is of use"
    table.set_duals(duals)
    assert table.drift < last, "set anew, it is as at the beginning"


@pytest.mark.parametrize("n", [65_536, 65_537])
def test_row_numbers_beyond_sixteen_bits(n, rng):
    """The last row is told from the first, which it would be mixed up with in 16 bits."""
    X = np.column_stack([rng.integers(0, 3, n), np.arange(n) == n - 1, np.arange(n) == 0]).astype(float)
    keys = [(0, 0.5), (0, 1.5), (1, 0.5), (2, 0.5)]
    responses = np.column_stack([np.where(X[:, f] > t, 1.0, -1.0) for f, t in keys])
    duals, direction, step = small_integers(rng, n, 2), small_integers(rng, n), np.array([2.0, -1.0])
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


def walk_bits(X, n_outputs, n_threads, max_bins=256):
    """Return all that a table says on a walk, as it comes from a least-squares master over the stumps it finds."""
    rng = np.random.default_rng(11)
    target, scale = rng.normal(size=(len(X), n_outputs)), rng.random(len(X)) + 0.1
    master, pool = GramLs(target, scale, 1), make_pool(X, max_bins=max_bins, n_threads=n_threads)
    table = StumpTable(pool, n_outputs, n_threads)
    table.set_curvature(scale)
    table.set_duals(master.duals(np.zeros((0, n_outputs))).reshape(len(X), n_outputs))
    found, heard = table.find_best("gain"), []
    for k in range(12):
        heard.append((found, table.drift, table.entries(found[1], 0).tobytes()))
        pool.take(*found[1:3])
        master.add(pool.respond(*found[1:3]))
        _, step, denominator = master.step(k)
        found = table.change(master.direction(k), step, denominator, "gain" if k % 3 else "max")
    return heard, table.find_best("max"), table.find_best("gain")


def test_simd_levels_give_the_same_bits(restore_simd_level):
    for name in ("many values", "sparse, two blocks", "more than 256 values"):
        results = []
        for level in simd_levels():
            force_simd_level(level)
            assert simd_level() == level
            results.append(walk_bits(TABLES[name], 3, 1, max_bins=500))
        assert all(result == results[0] for result in results)


def test_threads_give_the_same_bits():
    """Small work is done by one thread: here every parallel region has work for four."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 40)).round(2) * (rng.random((9000, 40)) < 0.9)
    one = walk_bits(X, 4, 1)
    for n_threads in (2, 3, 4):
        assert walk_bits(X, 4, n_threads) == one
