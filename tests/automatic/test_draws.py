"""Directions of random cosines have the distributions that they are documented to have."""

from __future__ import annotations

import numpy as np
import pytest

from cgens.weak_learners.projections.draws import SPARSE_SIZES, draw_dense, draw_pairs, draw_sparse

METRIC = np.array([1.0, 2.0, 0.5, 0.0, 1.0])


def test_dense_directions_have_the_variances_of_the_metric(rng):
    thetas = draw_dense(40_000, METRIC, [0.5], rng)
    expected = 2 * 0.5 * METRIC**2 / np.sum(METRIC**2)
    assert np.allclose(thetas.var(axis=0), expected, rtol=0.05)
    assert not thetas[:, 3].any()
    assert np.abs(thetas.mean(axis=0)).max() < 0.02


def test_each_dense_direction_has_one_of_the_scales(rng):
    thetas = draw_dense(40_000, np.ones(400), [0.25, 4.0], rng)
    scales = np.sum(thetas**2, axis=1) / 2
    near = [np.abs(np.log(scales / scale)) < 0.4 for scale in (0.25, 4.0)]
    assert np.all(near[0] | near[1])
    assert near[0].mean() == pytest.approx(0.5, abs=0.02)


def test_sparse_directions_use_inputs_in_proportion_to_the_squared_metric(rng):
    thetas = draw_sparse(40_000, METRIC, [1.0], rng)
    used = thetas != 0
    sizes = used.sum(axis=1)
    assert sorted(set(sizes.tolist())) == [1, 2, 3, 4], "six inputs are more than there are"
    single = used[sizes == 1].mean(axis=0)
    assert np.allclose(single, METRIC**2 / np.sum(METRIC**2), atol=0.02)
    for size in (1, 2, 3):
        values = thetas[sizes == size]
        assert values[values != 0].var() == pytest.approx(2.0 / size, rel=0.05)


def test_all_sizes_of_sparse_directions_occur_equally_often(rng):
    sizes = (draw_sparse(8000, np.ones(50), [1.0, 2.0], rng) != 0).sum(axis=1)
    shares = [np.mean(sizes == size) for size in SPARSE_SIZES]
    assert np.allclose(shares, 1 / len(SPARSE_SIZES), atol=0.02)


def test_directions_of_pairs_have_one_row_on_a_crest_if_the_other_is_in_a_trough(rng):
    rows = rng.normal(size=(30, 5))
    squares = METRIC**2 / np.mean(METRIC**2)
    thetas = draw_pairs(50, METRIC, [1.0], rows, np.ones(30), rng)
    thetas = thetas[thetas.any(axis=1)]  # the others are of a row and itself
    assert len(thetas) > 40
    for theta in thetas:
        differences = [a - b for i, a in enumerate(rows) for b in rows[:i]]
        cosines = [
            abs(theta @ (squares * own)) / np.linalg.norm(theta) / np.linalg.norm(squares * own) for own in differences
        ]
        assert max(cosines) == pytest.approx(1.0)
        assert abs(theta @ differences[int(np.argmax(cosines))]) == pytest.approx(np.pi)


def test_pairs_of_equal_rows_and_rows_without_weight(rng):
    rows = np.array([[1.0, 2.0], [1.0, 2.0], [9.0, 9.0]])
    thetas = draw_pairs(20, np.ones(2), [1.0, 2.0], rows, np.array([1.0, 1.0, 0.0]), rng)
    assert not thetas.any()
