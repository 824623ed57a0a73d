"""Encoded rows equal the formulas in NumPy bit for bit, and cosines of them equal naive ones."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest

from cgens._core import CosineTables
from cgens.table import Table
from cgens.table.encoding import Encoding, plain_encoding
from cgens.table.scaling import ScalingKind
from tests.native.tables import each_simd_level, same_tables, with_gaps
from tests.reference.naive_cosines import naive_encoding, naive_phases
from tests.tolerances import CLOSED_FORM, COSINE

SCALINGS = get_args(ScalingKind)
IS_CATEGORY = np.array([False, True, False, False, True, False, True])


def mixed_rows(rng, n):
    """Return numbers, one with few values and one with outliers, and levels, with gaps in all but two columns."""
    numbers = rng.normal(size=(n, 4)) * [1.0, 1e-3, 1e6, 1.0]
    numbers[:, 1] = np.round(numbers[:, 1], 3)
    numbers[:, 2] *= rng.standard_cauchy(n)
    levels = np.column_stack([rng.integers(0, 4, n), rng.geometric(0.05, n), rng.integers(0, 90, n)])
    X = np.column_stack([numbers, levels])[:, [0, 4, 1, 2, 5, 3, 6]].astype(float)
    X[:, :5] = with_gaps(rng, X[:, :5], 0.1)
    return X


def encoding_of(X, scaling):
    weight = np.ones(len(X))
    return Encoding.of(Table(X, IS_CATEGORY), np.arange(len(X)), weight, scaling)


def later_rows(rng, X):
    """Return other rows: equal to those of the fit, between and beyond them, and with levels that these lack."""
    other = mixed_rows(rng, 70) * [1.5, 1, 1.5, 2, 1, 1.5, 1]
    odd = np.array([[np.nan] * 7, [999.0] * 7, [-1.0] * 7, [0.5] * 7, [1e308] * 7, [-1e308] * 7])
    return np.vstack([X[:60], other, odd])


@pytest.mark.parametrize("n", [1, 40, 3000])
@pytest.mark.parametrize("scaling", SCALINGS)
def test_encoded_rows_equal_numpy(scaling, n, rng):
    X = mixed_rows(rng, n)
    encoding = encoding_of(X, scaling)
    later = later_rows(rng, X)
    with np.errstate(over="ignore"):
        expected = naive_encoding(encoding, later)
    for own in same_tables(later):
        assert encoding.transform(own).tobytes() == expected.tobytes()
    assert encoding.transform(later[:0]).shape == (0, encoding.n_inputs)
    assert encoding.transform(np.ones((2, 7), dtype=int)).tobytes() == encoding.transform(np.ones((2, 7))).tobytes()


def cosines_of(rng, n_cosines, n_inputs):
    """Return directions, half of which use few inputs, and offsets."""
    thetas = rng.normal(size=(n_cosines, n_inputs))
    thetas[::2] *= rng.random(thetas[::2].shape) < 0.2
    return thetas, rng.uniform(0, 2 * np.pi, n_cosines)


@pytest.mark.parametrize("scaling", ["none", "zc", "rank"])
@pytest.mark.parametrize("n_cosines", [1, 16, 37])
def test_cosines_of_encoded_rows_equal_naive_ones(n_cosines, scaling, rng):
    X = mixed_rows(rng, 300)
    encoding = encoding_of(X * [1, 1, 1e3, 1e-6, 1, 1, 1], scaling)
    later = later_rows(rng, X)[:-2] * [1, 1, 1e3, 1e-6, 1, 1, 1]
    thetas, kappas = cosines_of(rng, n_cosines, encoding.n_inputs)
    thetas[:, rng.random(encoding.n_inputs) < 0.5] = 0.0  # inputs that are not computed
    phases = naive_phases(naive_encoding(encoding, later), thetas, kappas)
    expected = np.array([[math.sqrt(2) * math.cos(phase) for phase in row] for row in phases])
    weights = rng.normal(size=(n_cosines, 3))
    tables = CosineTables(encoding.encoder, thetas, kappas)
    for own in same_tables(later):
        responses = tables.respond(own, 1).reshape(len(later), n_cosines)
        assert responses.dtype == np.float32
        assert np.abs(responses - expected).max() <= 2 * COSINE
        decisions = tables.decide(own, weights, 1).reshape(len(later), 3)
        assert np.allclose(decisions, responses.astype(float) @ weights, rtol=0, atol=CLOSED_FORM)
    assert len(tables.respond(X[:0], 2)) == len(tables.decide(X[:0], weights, 2)) == 0


@pytest.mark.parametrize("n_rows", [1, 3, 63, 64, 65, 200])
def test_rows_alone_and_together_have_the_same_cosines(n_rows, rng, restore_simd_level):
    """Whatever the other rows, the other cosines, the threads and the SIMD level."""
    X = mixed_rows(rng, n_rows)
    encoding = encoding_of(X, "rank")
    thetas, kappas = cosines_of(rng, 37, encoding.n_inputs)
    weights = rng.normal(size=(37, 2))
    tables, last = (CosineTables(encoding.encoder, thetas[k:], kappas[k:]) for k in (0, 36))
    found = []
    for _ in each_simd_level():
        responses = tables.respond(X, 2)
        assert last.respond(X, 1).tobytes() == responses.reshape(n_rows, 37)[:, 36].tobytes()
        alone = [(tables.respond(row[None], 1), tables.decide(row[None], weights, 1)) for row in X]
        assert b"".join(own.tobytes() for own, _ in alone) == responses.tobytes()
        decisions = tables.decide(X, weights, 2)
        assert b"".join(own.tobytes() for _, own in alone) == decisions.tobytes()
        found.append((responses.tobytes(), decisions.tobytes()))
    assert len(set(found)) == 1


def test_many_numbers(rng):
    """They are multiplied some hundred at a time."""
    X, thetas = rng.normal(size=(9, 300)), rng.normal(size=(3, 300))
    phases = naive_phases(X, thetas, np.zeros(3))
    found = CosineTables(plain_encoding(300).encoder, thetas, np.zeros(3)).respond(X, 1).reshape(9, 3)
    assert np.abs(found - math.sqrt(2) * np.cos(phases)).max() <= 2 * COSINE


def test_without_cosines_or_inputs(rng):
    encoder = plain_encoding(2).encoder
    none = CosineTables(encoder, np.zeros((0, 2)), np.zeros(0))
    assert len(none.respond(np.ones((3, 2)), 1)) == 0
    assert none.decide(np.ones((3, 2)), np.zeros((0, 2)), 1).tolist() == 6 * [0.0]
    constant = CosineTables(encoder, np.zeros((1, 2)), np.array([0.5]))
    assert np.allclose(constant.respond(np.ones((3, 2)), 1), math.sqrt(2) * math.cos(0.5))
