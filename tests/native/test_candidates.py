"""Prices of random candidates are exact if the sums are, and cosines are the same on every SIMD level."""

from __future__ import annotations

import numpy as np
import pytest

from cgens._core import padded_length, price_candidates, take_cosines
from tests.native.tables import each_simd_level, integers
from tests.tolerances import COSINE

LANES = 16
SQRT2 = float(np.float32(np.sqrt(2)))


def candidates(rng, n, m, dtype):
    """Return candidates of -1, 0 and 1 (int8) or of multiples of 1/8 (float32), padded with zeros."""
    responses = np.zeros((n, padded_length(m)), dtype=dtype)
    responses[:, :m] = rng.integers(-1, 2, size=(n, m)) if dtype == np.int8 else rng.integers(-16, 17, size=(n, m)) / 8
    return responses


def price(responses, duals):
    return price_candidates(responses, duals, 1).reshape(len(responses), len(duals))


@pytest.mark.parametrize("m", [0, 1, 15, 16, 17, 2048])
def test_padding_fills_the_last_lane(m):
    assert padded_length(m) == -(-m // LANES) * LANES


@pytest.mark.parametrize("dtype", [np.int8, np.float32])
@pytest.mark.parametrize("m", [1, 15, 16, 17, 70, 2047, 2048, 2049, 5000])
def test_prices_are_exact(dtype, m, rng, restore_simd_level):
    """Eight times the prices, as integers."""
    for n, n_outputs in ((37, 1), (37, 3), (0, 2), (1, 4), (16, 2), (17, 1)):
        responses, duals = candidates(rng, n, m, dtype), integers(rng, n_outputs, m, most=1000)
        whole = (8 * responses[:, :m].astype(np.float64)).astype(np.int64)
        for level in each_simd_level():
            assert np.array_equal(8 * price(responses, duals), whole @ duals.astype(np.int64).T), level


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


def cosines(phases):
    return take_cosines(np.atleast_2d(phases), 1)


@pytest.mark.parametrize("name", PHASES)
def test_cosines(name, restore_simd_level):
    phases = PHASES[name]
    for level in each_simd_level():
        found = cosines(phases)
        assert found.dtype == np.float32
        assert np.abs(found - np.sqrt(2) * np.cos(phases)).max() <= COSINE, level


def test_a_cosine_does_not_depend_on_the_others(rng, restore_simd_level):
    phases = 10 * rng.normal(size=(7, 5))
    for _ in each_simd_level():
        assert [cosines(phase)[0] for phase in phases.ravel()] == cosines(phases).tolist()
    assert len(cosines(np.zeros((0, 5)))) == 0


def test_cosines_stay_bounded(restore_simd_level):
    """Also if a phase is too large to have a fractional part, or is not finite."""
    sizes = np.concatenate([2.0 ** np.arange(40, 1024), [np.inf, np.finfo(float).max]])
    phases = np.concatenate([sizes, -sizes, 1.3 * sizes[:900], [np.nan]])
    found = [cosines(phases) for _ in each_simd_level()]
    assert all(np.all(np.abs(own) <= SQRT2) for own in found)
    assert len({own.tobytes() for own in found}) == 1
