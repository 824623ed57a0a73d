"""Prices of drawn candidates are exact where sums are, and cosines the same everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgens._core import padded_length, price_candidates, take_cosines
from tests.native.tables import each_simd_level
from tests.tolerances import COSINE

LANES = 16
SQRT2 = float(np.float32(np.sqrt(2)))


def candidates(rng, n, m, dtype):
    """Return candidates of -1, 0 and 1 (int8) or of multiples of 1/8 (float32), padded with zeros."""
    responses = np.zeros((n, padded_length(m)), dtype=dtype)
    responses[:, :m] = rng.integers(-1, 2, size=(n, m)) if dtype == np.int8 else rng.integers(-16, 17, size=(n, m)) / 8
    return responses


def price(responses, duals, n_threads=1):
    return price_candidates(responses, duals, n_threads).reshape(len(responses), len(duals))


def assert_exact(responses, duals):
    """Eight times the prices, as integers."""
    whole = (8 * responses[:, : duals.shape[1]].astype(np.float64)).astype(np.int64)
    assert np.array_equal(8 * price(responses, duals), whole @ duals.astype(np.int64).T)


@pytest.mark.parametrize("m", [0, 1, 15, 16, 17, 2048])
def test_padding_goes_to_whole_lanes(m):
    assert padded_length(m) == -(-m // LANES) * LANES


@pytest.mark.parametrize("dtype", [np.int8, np.float32])
@pytest.mark.parametrize("m", [1, 15, 16, 17, 2047, 2048, 2049, 5000])
def test_prices_are_exact(dtype, m, rng, restore_simd_level):
    for n_outputs in (1, 3):
        responses, duals = candidates(rng, 37, m, dtype), rng.integers(-1000, 1001, size=(n_outputs, m)).astype(float)
        for _ in each_simd_level():
            assert_exact(responses, duals)


@given(n=st.integers(0, 40), m=st.integers(1, 70), n_outputs=st.integers(1, 4), seed=st.integers(0, 1000))
def test_prices_are_exact_in_any_shape(n, m, n_outputs, seed):
    rng = np.random.default_rng(seed)
    duals = rng.integers(-9, 10, size=(n_outputs, m)).astype(float)
    for dtype in (np.int8, np.float32):
        assert_exact(candidates(rng, n, m, dtype), duals)


@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_prices_are_the_same_bits_alone_and_for_threads_and_simd_levels(dtype, rng, restore_simd_level):
    """Sixteen candidates go to one thread: these are enough for three of them, with some left over."""
    responses, duals = candidates(rng, 100, 5001, dtype), rng.normal(size=(2, 5001))
    for _ in each_simd_level():
        together = price(responses, duals)
        assert all(np.array_equal(price(responses, duals, n_threads), together) for n_threads in (2, 3))
        for j in (0, 15, 16, 99):
            assert np.array_equal(price(responses[j : j + 1], duals)[0], together[j])
            assert np.array_equal(price(responses[j : j + 1], duals[1:2])[0, 0], together[j, 1])
    assert len({price(responses, duals).tobytes() for _ in each_simd_level()}) == 1


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
    for level in each_simd_level():
        found = cosines(phases)
        assert found.dtype == np.float32
        assert np.abs(found - np.sqrt(2) * np.cos(phases)).max() <= COSINE, level


def test_cosines_of_a_table_come_row_by_row_whatever_is_beside_them(rng, restore_simd_level):
    phases = 10 * rng.normal(size=(7, 5))
    for _ in each_simd_level():
        assert [cosines(phase)[0] for phase in phases.ravel()] == cosines(phases).tolist()
    assert len(cosines(np.zeros((0, 5)))) == 0


@pytest.mark.parametrize("n", [1, 3, 4, 5, 4095, 4096, 4097, 100_003])
def test_cosines_are_the_same_bits_for_threads_and_simd_levels(n, rng, restore_simd_level):
    phases = 100 * rng.normal(size=(1, n))
    assert len({cosines(phases, n_threads).tobytes() for _ in each_simd_level() for n_threads in (1, 2, 3)}) == 1


def test_cosines_stay_bounded(restore_simd_level):
    """Also where a phase has no meaning: it is too large for a fraction of a turn, or no number."""
    sizes = np.concatenate([2.0 ** np.arange(40, 1024), [np.inf, np.finfo(float).max]])
    phases = np.concatenate([sizes, -sizes, 1.3 * sizes[:900], [np.nan]])
    found = [cosines(phases) for _ in each_simd_level()]
    assert all(np.all(np.abs(own) <= SQRT2) for own in found)
    assert len({own.tobytes() for own in found}) == 1
