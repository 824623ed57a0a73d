"""Weights of families by honest decisions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from cgens.selection import honest_weights


def make_decisions(rng, m=60, n_outputs=2, n=4):
    target = rng.normal(size=(m, n_outputs)) + 1.0
    decisions = [share * target + rng.normal(size=(m, n_outputs)) for share in np.linspace(-0.5, 1.0, n)]
    return decisions, target, rng.random(m) + 0.5


@pytest.mark.parametrize("seed", range(5))
def test_equals_a_general_solver(seed):
    decisions, target, weight = make_decisions(np.random.default_rng(seed))
    mean = weight @ target / weight.sum()

    def loss(weights):
        fit = sum(own * (decision - mean) for own, decision in zip(weights, decisions, strict=True))
        return float(np.sum(weight[:, None] * (target - mean - fit) ** 2))

    expected = minimize(loss, np.full(4, 0.2), bounds=[(0, None)] * 4, tol=1e-14).x
    assert np.allclose(honest_weights(decisions, target, weight, least_share=0.0), expected, atol=1e-5)


def test_small_shares_are_dropped_and_the_others_solved_for_again(rng):
    decisions, target, weight = make_decisions(rng)
    every = honest_weights(decisions, target, weight, least_share=0.0)
    limit = float(np.sort(every)[-2] / every.sum()) + 1e-6
    weights = honest_weights(decisions, target, weight, least_share=limit)
    best = int(np.argmax(every))
    assert np.flatnonzero(weights).tolist() == [best]
    assert weights[best] == pytest.approx(honest_weights([decisions[best]], target, weight)[0])


def test_weights_count_as_copies(rng):
    decisions, target, _ = make_decisions(rng)
    weight = rng.integers(1, 4, 60)
    copies = [np.repeat(own, weight, axis=0) for own in decisions]
    expanded = honest_weights(copies, np.repeat(target, weight, axis=0), np.ones(weight.sum()))
    assert np.allclose(honest_weights(decisions, target, weight.astype(float)), expanded)


def test_equal_families_and_useless_ones():
    target = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    both = honest_weights([target, target], target, np.ones(4))
    assert both.sum() == pytest.approx(1.0)
    assert honest_weights([-target, np.zeros((4, 1))], target, np.ones(4)).tolist() == [0.0, 0.0]
    assert honest_weights([np.ones((4, 1))], np.ones((4, 1)), np.ones(4)).tolist() == [0.0]
