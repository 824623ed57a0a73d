"""Which copies of a row are left out: weights mean copies, but a row must not know its own target by them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from cgens import CGEnsClassifier
from cgens.estimators._copies import left_out_copies


def copies(X, y, weight=None, **params):
    """Return the copies of each row of X, by rows of the fit."""
    plan = CGEnsClassifier("stump", n_jobs=1, **params)._plan(X, y, weight)
    return left_out_copies(plan)[plan.order.position]


X = np.arange(40.0)[:, None]
Y = np.arange(40) % 2


@pytest.mark.parametrize("weight", [None, np.full(40, 7.0), np.linspace(1.0, 2.3, 40)])
def test_without_copies_each_row_is_one(weight):
    assert copies(X, Y, weight).tolist() == [1.0] * 40


def test_class_weights_make_no_copies():
    assert copies(X, Y, class_weight={0: 1, 1: 10}).tolist() == [1.0] * 40


def test_many_copies_are_one_row():
    assert copies(X, Y, np.where(Y, 9.0, 1.0)).tolist() == [1.0] * 40


def test_few_copies_count():
    weight = np.where(np.arange(40) < 4, 2.0, 1.0)
    assert copies(X, Y, weight).tolist() == weight.tolist()
    rows = np.repeat(np.arange(40), weight.astype(int))
    assert copies(X[rows], Y[rows]).tolist() == weight[rows].tolist()


def test_copies_of_inputs_with_several_targets_count():
    rows, y = np.array([[0.0], [0.0], [1.0]]), np.array([0, 1, 1])
    assert copies(rows, y, np.array([30.0, 20.0, 50.0])).tolist() == [3.0, 2.0, 1.0]
    rows[:2] = np.nan
    assert copies(rows, y, np.array([30.0, 20.0, 50.0])).tolist() == [3.0, 2.0, 1.0], "gaps are equal"


def test_sparse_rows_have_the_same_copies(rng):
    rows = rng.integers(0, 2, (120, 3)).astype(float)
    y = rng.random(120) < 0.2 + 0.6 * rows[:, 0]
    weight = rng.integers(1, 5, 120).astype(float)
    expected = copies(rows, y, weight)
    assert expected.max() > 1
    assert copies(sparse.csr_array(rows), y, weight).tolist() == expected.tolist()
