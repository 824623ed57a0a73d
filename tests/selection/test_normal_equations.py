"""Products of columns, and the selection of columns by them."""

from __future__ import annotations

import numpy as np
import pytest

from cgens.colgen import generate_columns
from cgens.masters import LeastSquares
from cgens.selection import NormalEquations, select_columns
from cgens.selection.normal_equations import BLOCK
from cgens.weak_learners import Fourier, Pool


@pytest.mark.parametrize("m", [1, 50, BLOCK + 7])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_equals_products_of_centred_columns(m, offset, rng):
    columns, target, weight = rng.normal(size=(m, 6)) + offset, rng.normal(size=(m, 2)), rng.random(m) + 0.1
    found = NormalEquations.of(columns, target, weight, 1)
    share = weight / weight.sum()
    centred, of_target = columns - share @ columns, target - share @ target
    rounding = 1e-15 * offset * m
    np.testing.assert_allclose(found.means, share @ columns, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(found.gram, centred.T @ (weight[:, None] * centred), rtol=1e-9, atol=1e-9 + rounding)
    np.testing.assert_allclose(found.products, centred.T @ (weight[:, None] * of_target), atol=1e-9 + rounding)
    np.testing.assert_allclose(found.target_mean, share @ target)


def test_constant_columns_have_no_products(rng):
    found = NormalEquations.of(np.full((9000, 2), 0.1), rng.normal(size=(9000, 1)), rng.random(9000) + 0.1, 1)
    assert np.abs(found.gram).max() < 1e-25


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("m", [60, 300])
def test_selects_what_column_generation_selects(m, n_outputs, rng):
    X, weight = rng.normal(size=(m, 4)), rng.random(m) + 0.5
    target = np.sin(X[:, :n_outputs]) + X[:, [3]] * X[:, :n_outputs]
    options = {"sample_weight": weight, "pricing": "gain", "rng": rng, "max_columns": 60}
    fitted, _ = generate_columns(LeastSquares(1.0), Fourier(n_candidates=100, learn=False), X, target, **options)
    pool = list(fitted.learners)
    columns = np.column_stack([learner.respond(X) for learner in pool])
    for penalty in (0.5, 30.0):
        chosen = select_columns(NormalEquations.of(columns, target, weight, 1), penalty, 40)
        options["max_columns"] = 40
        ensemble, _ = generate_columns(LeastSquares(1 / penalty), Pool(pool), X, target, **options)
        assert [pool[j] for j in chosen] == list(ensemble.learners)


def test_combinations_of_chosen_columns_and_columns_that_explain_nothing_are_left_out(rng):
    columns = rng.normal(size=(50, 3))
    columns = np.column_stack([columns, np.ones(50), columns[:, 0] + columns[:, 1]])
    target = columns[:, :1] + 0.1 * columns[:, 1:2] + 0.1 * rng.normal(size=(50, 1))
    assert len(select_columns(NormalEquations.of(columns, target, np.ones(50), 1), 1e-9, 10)) == 3
    assert len(select_columns(NormalEquations.of(columns, np.ones((50, 1)), np.ones(50), 1), 1.0, 10)) == 0
    assert len(select_columns(NormalEquations.of(columns[:, :0], target, np.ones(50), 1), 1.0, 10)) == 0
