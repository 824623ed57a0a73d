"""Prices of drawn candidates are exact where sums are, and cosines the same everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgens._core import force_simd_level, padded_length, price_candidates, simd_level, simd_levels, take_cosines
from tests.tolerances import COSINE

LANES = 16
LENGTHS = [1, 15, 16, 17, 2047, 2048, 2049, 5000]
SQRT2 = float(np.float32(np.sqrt(2)))


def signs(rng, n, m):
    """Return candidates of -1, 0 and 1, int8, padded with zeros."""
    responses = np.zeros((n, padded_length(m)), dtype=np.int8)
    responses[:, :m] = rng.integers(-1, 2, size=(n, m))
    return responses


def eighths(rng, n, m):
    """Return candidates of multiples of 1/8, float32, padded with zeros."""
    responses = np.zeros((n, padded_length(m)), dtype=np.float32)
    responses[:, :m] = rng.integers(-16, 17, size=(n, m)) / 8
    return responses


def price(responses, duals, n_threads=1):
    return price_candidates(responses, duals, n_threads).reshape(len(responses), len(duals))


def exact(responses, duals):
    """Return eight times the prices, as integers."""
    whole = (8 * responses[:, : duals.shape[1]].astype(np.float64)).astype(np.int64)
    return whole @ duals.astype(np.int64).T


def each_level():
    """Force one SIMD level after the other."""
    for level in simd_levels():
        force_simd_level(level)
        assert simd_level() == level
        yield level


@pytest.mark.parametrize("m", [0, 1, 15, 16, 17, 2048])
def test_padding_goes_to_whole_lanes(m):
    assert padded_length(m) == -(-m // LANES) * LANES


@pytest.mark.parametrize("make", [signs, eighths])
@pytest.mark.parametrize("m", LENGTHS)
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_prices_are_exact(make, m, n_outputs, rng, restore_simd_level):
    responses, duals = make(rng, 37, m), rng.integers(-1000, 1001, size=(n_outputs, m)).astype(float)
    for level in each_level():
        assert np.array_equal(8 * price(responses, duals), exact(responses, duals)), level


@given(n=st.integers(0, 40), m=st.integers(1, 70), n_outputs=st.integers(1, 4), seed=st.integers(0, 1000))
def test_prices_are_exact_in_any_shape(n, m, n_outputs, seed):
    rng = np.random.default_rng(seed)
    duals = rng.integers(-9, 10, size=(n_outputs, m)).astype(float)
    for responses in (signs(rng, n, m), eighths(rng, n, m)):
        assert np.array_equal(8 * price(responses, duals), exact(responses, duals))


@pytest.mark.parametrize("make", [signs, eighths])
def test_prices_are_the_same_bits_for_threads_and_simd_levels(make, rng, restore_simd_level):
    """Sixteen candidates go to one thread: these are enough for three of them, with some left over."""
    responses, duals = make(rng, 100, 5001), rng.normal(size=(2, 5001))
    bits = {price(responses, duals, n_threads).tobytes() for _ in each_level() for n_threads in (1, 2, 3)}
    assert len(bits) == 1


def test_a_candidate_has_the_same_price_alone(rng):
    responses, duals = eighths(rng, 40, 3000), rng.normal(size=(3, 3000))
    together = price(responses, duals)
    for j in (0, 15, 16, 39):
        assert np.array_equal(price(responses[j : j + 1], duals)[0], together[j])
        assert np.array_equal(price(responses[j : j + 1], duals[1:2])[0, 0], together[j, 1])


def test_no_rows_and_no_outputs_have_no_price():
    assert price(np.zeros((3, 0), dtype=np.int8), np.zeros((1, 0))).tolist() == [[0.0], [0.0], [0.0]]
    assert price(np.zeros((3, 16), dtype=np.int8), np.zeros((0, 16))).shape == (3, 0)


PHASES = {
    "one turn": np.linspace(-np.pi, np.pi, 10_001),
    "many turns": np.linspace(-1e4, 1e4, 10_001),
    "quarters": np.pi / 2 * np.arange(-40, 41),
    "just beside a half": np.concatenate([np.nextafter(k * np.pi, [-np.inf, np.inf]) for k in range(-9, 10)]),
    "tiny": np.array([0.0, -0.0, 5e-324, -1e-300, 1e-20, 1e-9]),
}


def cosines(phases, n_threads=1):
    return take_cosines(np.atleast_2d(phases), n_threads)


@pytest.mark.parametrize("name", PHASES)
def test_cosines(name, restore_simd_level):
    phases = PHASES[name]
    for level in each_level():
        found = cosines(phases)
        assert found.dtype == np.float32
        assert np.abs(found - np.sqrt(2) * np.cos(phases)).max() <= COSINE, level


def test_cosines_of_a_table_come_row_by_row(rng):
    phases = rng.normal(size=(7, 5))
    assert np.array_equal(cosines(phases).reshape(7, 5)[3], cosines(phases[3]))
    assert len(cosines(np.zeros((0, 5)))) == 0


@pytest.mark.parametrize("n", [1, 3, 4, 5, 4095, 4096, 4097, 100_003])
def test_cosines_are_the_same_bits_for_threads_and_simd_levels(n, rng, restore_simd_level):
    phases = 100 * rng.normal(size=(1, n))
    assert len({cosines(phases, n_threads).tobytes() for _ in each_level() for n_threads in (1, 2, 3)}) == 1


def test_a_cosine_does_not_depend_on_where_it_stands(rng, restore_simd_level):
    phases = 10 * rng.normal(size=50)
    for _ in each_level():
        together = cosines(phases)
        assert [cosines(phase)[0] for phase in phases] == together.tolist()


def test_cosines_stay_bounded(restore_simd_level):
    """Also where a phase has no meaning: it is too large for a fraction of a turn, or no number."""
    sizes = np.concatenate([2.0 ** np.arange(40, 1024), [np.inf, np.finfo(float).max]])
    phases = np.concatenate([sizes, -sizes, 1.3 * sizes[:900], [np.nan]])
    bits = set()
    for level in each_level():
        found = cosines(phases)
        assert np.all(np.abs(found) <= SQRT2), level
        bits.add(found.tobytes())
    assert len(bits) == 1


ROW = np.ones((2, 16), dtype=np.int8)

BROKEN = {
    "not padded": lambda: price_candidates(ROW[:, :10].copy(), np.ones((1, 10)), 1),
    "padded too far": lambda: price_candidates(np.ones((2, 32), dtype=np.int8), np.ones((1, 16)), 1),
    "more duals than rows": lambda: price_candidates(ROW, np.ones((1, 17)), 1),
    "candidates without rows": lambda: price_candidates(ROW[:, :0].copy(), np.ones((1, 3)), 1),
    "float32 candidates not padded": lambda: price_candidates(np.ones((2, 15), dtype=np.float32), np.ones((1, 15)), 1),
}

WRONG_TYPE = {
    "float64 candidates": lambda: price_candidates(ROW.astype(float), np.ones((1, 16)), 1),
    "64-bit candidates": lambda: price_candidates(ROW.astype(int), np.ones((1, 16)), 1),
    "boolean candidates": lambda: price_candidates(ROW.astype(bool), np.ones((1, 16)), 1),
    "float32 duals": lambda: price_candidates(ROW, np.ones((1, 16), dtype=np.float32), 1),
    "duals with one axis": lambda: price_candidates(ROW, np.ones(16), 1),
    "one candidate with one axis": lambda: price_candidates(ROW[0], np.ones((1, 16)), 1),
    "Fortran-ordered duals": lambda: price_candidates(ROW, np.ones((2, 16), order="F"), 1),
    "strided candidates": lambda: price_candidates(np.ones((2, 32), dtype=np.int8)[:, ::2], np.ones((1, 16)), 1),
    "float32 phases": lambda: take_cosines(np.ones((2, 2), dtype=np.float32), 1),
    "phases with one axis": lambda: take_cosines(np.ones(3), 1),
    "Fortran-ordered phases": lambda: take_cosines(np.ones((2, 2), order="F"), 1),
    "list of phases": lambda: take_cosines([[1.0]], 1),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_contract_is_a_value_error(name):
    with pytest.raises(ValueError, match="padded"):
        BROKEN[name]()


@pytest.mark.parametrize("name", WRONG_TYPE)
def test_wrong_type_is_a_type_error_and_no_silent_copy(name):
    with pytest.raises(TypeError):
        WRONG_TYPE[name]()
