"""The rows of compiled losses: against their definitions, in every number of threads and at every SIMD level."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import entr

from cgens._core import LossRows, sum_entropies
from tests.native.tables import each_simd_level
from tests.reference.naive_loss_rows import naive_logistic, naive_smooth_hinge
from tests.tolerances import CLOSED_FORM

WIDTH = 0.3
KINDS = ("logistic", "smooth_hinge")


def naive(kind, f, y, c):
    if kind == "logistic":
        duals, losses, curvatures = naive_logistic(f, y, c)
        return duals, losses, np.zeros(len(f)), curvatures
    return naive_smooth_hinge(f, y, c, WIDTH)


def make(kind, scale, n_threads=1):
    rows = LossRows(kind, scale, n_threads)
    rows.set_width(WIDTH)
    return rows


@pytest.fixture(params=[1, 15, 16, 17, 4096, 20_000])
def problem(request, rng):
    n = request.param
    return np.where(rng.random(n) < 0.4, 1.0, -1.0), rng.random(n) + 0.1, rng.normal(size=n), rng.normal(size=n)


@pytest.mark.parametrize("kind", KINDS)
def test_sums_and_duals_are_those_of_the_definition(kind, problem):
    y, c, f, d = problem
    rows = make(kind, y * c)
    rows.set_decisions(f, 0.25)
    for along, shift, step in ((d, -0.5, 0.7), (None, 0.3, 2.0), (d, 0.0, 0.0)):
        before = rows.decisions()
        direction = np.full(len(y), shift) + (0.0 if along is None else along)
        at = before + step * direction
        duals, losses, slack, curvatures = naive(kind, at, y, c)
        size = np.abs(duals * direction).sum() + 1e-12
        assert rows.slope(along, shift, step) == pytest.approx(duals @ direction, abs=CLOSED_FORM * size)
        assert np.array_equal(rows.decisions(), before), "slope moves nothing"
        rows.move(along, shift, step)
        np.testing.assert_allclose(rows.decisions(), at, rtol=1e-15, atol=1e-15)
        np.testing.assert_allclose(rows.duals(), duals, rtol=1e-13, atol=1e-14)
        expected = (losses.sum(), slack.sum(), duals.sum(), np.abs(duals).sum(), curvatures.sum())
        np.testing.assert_allclose(rows.sums(), expected, rtol=1e-12, atol=1e-11 * len(y))
        expected = duals @ d, curvatures @ d**2
        np.testing.assert_allclose(rows.slope_and_curvature(d), expected, rtol=1e-11, atol=1e-11 * len(y))


@pytest.mark.parametrize("f", [0.0, 1e-300, 30.0, 707.0, 720.0, 1e10, 1e300])
def test_extreme_margins(f):
    """Nothing overflows, and beyond exp(-708) a dual is so small that it does not matter."""
    rows = LossRows("logistic", np.array([1.0, -1.0]), 1)
    rows.set_decisions(np.array([f, f]), 0.0)
    right, wrong = rows.duals()
    assert 0 <= right <= max(np.exp(-min(f, 708)), 0) * (1 + 1e-12)
    assert wrong == pytest.approx(-1 / (1 + np.exp(-f)), rel=1e-14)
    assert rows.sums()[0] == pytest.approx(f + 2 * np.log1p(np.exp(-f)), rel=1e-14)
    assert np.all(np.isfinite(rows.sums()))


@pytest.mark.parametrize("kind", KINDS)
def test_neither_threads_nor_the_simd_level_change_a_bit(kind, rng, restore_simd_level):
    n = 50_000
    scale = np.where(rng.random(n) < 0.4, 1.0, -1.0) * (rng.random(n) + 0.1)
    f, d = 3 * rng.normal(size=n), rng.normal(size=n)
    results = []
    for _ in each_simd_level():
        for n_threads in (1, 2, 3):
            rows = make(kind, scale, n_threads)
            rows.set_decisions(f, 0.1)
            slope = rows.slope(d, 0.2, 0.5)
            rows.move(d, 0.2, 0.5)
            inside, share = rows.inside(1000)
            arrays = rows.decisions(), rows.duals(), rows.balanced_duals(), inside
            results.append((slope, rows.sums(), rows.slope_and_curvature(d), share, *(own.tobytes() for own in arrays)))
    assert all(result == results[0] for result in results)


@pytest.mark.parametrize("most", [1, 7, 100, 10**6])
def test_rows_inside_are_taken_evenly(most, rng):
    n = 9000
    y, c = np.where(rng.random(n) < 0.5, 1.0, -1.0), rng.random(n) + 0.1
    rows = make("smooth_hinge", y * c)
    rows.set_decisions(rng.normal(size=n), 0.0)
    size = np.abs(rows.duals())
    expected = np.flatnonzero((size > 0) & (size < c))
    inside, share = rows.inside(most)
    assert len(inside) == min(most, len(expected))
    assert share == len(inside) / len(expected)
    assert np.array_equal(inside, expected[(np.arange(len(inside)) / share).astype(int)])


def test_without_rows_inside(rng):
    rows = make("smooth_hinge", np.array([1.0, -1.0]))
    rows.set_decisions(np.array([5.0, -5.0]), 0.0)
    assert rows.inside(10)[0].size == 0
    assert not rows.balanced_duals().any()


@pytest.mark.parametrize("shift", [-0.1, 0.0, 0.03, 0.5, 2.0])
def test_balanced_duals_are_feasible_and_near(shift, rng):
    n = 5000
    y, c = np.where(rng.random(n) < 0.5, 1.0, -1.0), rng.random(n) + 0.1
    rows = make("smooth_hinge", y * c)
    rows.set_decisions(y * (1 + 0.4 * rng.normal(size=n)), shift)
    before, after = rows.duals(), rows.balanced_duals()
    assert abs(after.sum()) <= 1e-12 * np.abs(after).sum()
    assert np.all(after * y >= 0)
    assert np.all(np.abs(after) <= np.abs(before))
    assert np.abs(after - before).sum() == pytest.approx(abs(before.sum()), rel=1e-9)


@pytest.mark.parametrize("multiple", [0.0, 1e-300, 0.3, 1.0])
def test_entropies(multiple, problem, restore_simd_level):
    y, c, f, _ = problem
    duals = c * y / (1 + np.exp(3 * f))
    duals[:1] = c[:1] * y[:1]
    p = np.clip(multiple * np.abs(duals) / c, 0, 1)
    expected = c @ (entr(p) + entr(1 - p))
    found = [sum_entropies(duals, y * c, multiple) for _ in each_simd_level()]
    assert found[0] == pytest.approx(expected, rel=1e-13, abs=1e-300)
    assert found == found[:1] * len(found)
