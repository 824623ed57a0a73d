"""Held-out weights, and chains of trees."""

from __future__ import annotations

import numpy as np
import pytest

from cgens.automatic.chains import GROWTHS, MULTIPLES, Growth, grow_chain
from cgens.automatic.shares import HeldOut
from cgens.selection.leave_one_out import mean_square
from cgens.table import Table
from cgens.weak_learners import Tree
from tests.reference.naive_loo import naive_ridge


@pytest.mark.parametrize("share", [0.2, 0.25, 0.5])
def test_a_share_of_each_class_is_held_out(share, rng):
    classes = rng.integers(0, 3, 400)
    held_out = HeldOut.of(np.ones(400), classes, share, rng).weight
    assert set(held_out.tolist()) == {0.0, 1.0}
    for own in range(3):
        assert abs(held_out[classes == own].sum() - share * np.sum(classes == own)) <= 1


def test_weights_are_copies_of_which_some_are_held_out(rng):
    """The share of all copies is exact, and rows of much weight are split between both parts."""
    weight = np.array([1.0, 10.0, 3.0, 1.0, 25.0])
    held_out = HeldOut.of(weight, None, 0.2, rng).weight
    assert held_out.sum() == 8
    assert np.all(held_out == np.rint(held_out))
    assert 0 < held_out[4] < 25
    assert 0 < held_out[1] < 10


@pytest.mark.parametrize("weights", ["small", "fractions"])
def test_a_row_of_little_weight_is_held_out_as_a_whole_or_not_at_all(weights, rng):
    weight = np.full(50, 0.01) if weights == "small" else rng.uniform(0.6, 0.99, 50)
    held_out = HeldOut.of(weight, None, 0.2, rng).weight
    assert np.all((held_out == 0) | (held_out == weight))
    assert np.sum(held_out > 0) == 10


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_a_chain_has_the_least_error_on_rows_that_it_has_not_seen(n_outputs, rng):
    X = rng.normal(size=(200, 4))
    target = np.column_stack([np.sign(X[:, 0] * X[:, k]) for k in range(1, n_outputs + 1)])
    target += 0.5 * rng.normal(size=target.shape)
    weight = rng.integers(1, 3, 200).astype(float)
    held_out, rows = HeldOut.of(weight, None, 0.2, rng), np.arange(200)
    growth = Growth("small", Tree(4, min_samples_leaf=5), 40.0)
    chain = grow_chain(
        growth, Table.of(X), rows, target, weight, held_out, (5, 30), np.random.SeedSequence(0), n_threads=1
    )
    responses, left = chain.ensemble.respond(X, 1).astype(float), weight - held_out.weight
    kept, tested = left > 0, held_out.weight > 0
    errors = {}
    for n in (5, 30):
        for multiple in MULTIPLES:
            penalty = multiple * left.sum() / n_outputs
            weights, intercept = naive_ridge(responses[kept, :n], target[kept], left[kept], penalty)
            residuals = target[tested] - responses[tested, :n] @ weights - intercept
            errors[n, multiple * weight.sum() / n_outputs] = mean_square(residuals, held_out.weight[tested])
    assert (chain.n_trees, chain.penalty) == min(errors, key=errors.get)
    assert chain.error == pytest.approx(min(errors.values()), rel=1e-6)
    assert chain.error == pytest.approx(mean_square(target[tested] - chain.decisions, held_out.weight[tested]))


def test_labels_of_held_out_rows_change_no_tree(rng):
    X, weight = rng.normal(size=(100, 3)), np.ones(100)
    target = X[:, :1] * X[:, 1:2]
    held_out = HeldOut.of(weight, None, 0.2, rng)
    other = np.where(held_out.weight[:, None] > 0, -target, target)
    chains = [
        grow_chain(GROWTHS[0], Table.of(X), np.arange(100), own, weight, held_out, (8,), np.random.SeedSequence(0), 1)
        for own in (target, other)
    ]
    assert [chain.ensemble.learners for chain in chains[:1]] == [chain.ensemble.learners for chain in chains[1:]]
