"""Held-out weights, and chains of trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cgens.automatic.chains import MULTIPLES, TREES, Chains, Growth
from cgens.automatic.problem import Clock, HonestRows, Problem
from cgens.automatic.shares import held_out_weights
from cgens.selection import copies_of
from cgens.table import Table
from cgens.weak_learners import Tree
from tests.reference.naive_loo import naive_ridge


@pytest.mark.parametrize("n_folds", [2, 5])
def test_each_fold_has_its_share_of_each_class(n_folds, rng):
    classes = rng.integers(0, 3, 400)
    folds = held_out_weights(np.ones(400), np.ones(400), classes, n_folds, rng)
    assert set(folds.ravel().tolist()) == {0.0, 1.0}
    assert folds.sum(axis=0).tolist() == [1.0] * 400
    for own in range(3):
        assert np.abs(folds[:, classes == own].sum(axis=1) - np.sum(classes == own) / n_folds).max() < 1


def test_the_copies_of_a_row_are_divided_among_the_folds(rng):
    weight = np.array([1.0, 10.0, 3.0, 1.0, 25.0])
    folds = held_out_weights(weight, copies_of(weight), None, 5, rng)
    assert folds.sum(axis=0).tolist() == weight.tolist()
    assert folds.sum(axis=1).tolist() == [8.0] * 5
    assert folds[:, 4].tolist() == [5.0] * 5
    assert np.all(folds == np.rint(folds))


@pytest.mark.parametrize("weights", ["small", "fractions"])
def test_weights_that_are_no_numbers_of_copies_are_in_one_fold(weights, rng):
    weight = np.full(50, 0.01) if weights == "small" else rng.uniform(0.6, 0.99, 50)
    folds = held_out_weights(weight, copies_of(weight), None, 5, rng)
    assert np.all((folds == 0) | (folds == weight))
    assert np.sum(folds > 0, axis=1).tolist() == [10] * 5


def test_some_of_the_folds_are_the_first_of_all(rng):
    weight, classes = rng.integers(1, 4, 100).astype(float), rng.integers(0, 3, 100)
    every, first = (held_out_weights(weight, weight, classes, 7, np.random.default_rng(0), n) for n in (None, 2))
    assert np.array_equal(every[:2], first)


LENGTHS = (5, 30)


def make_chains(rng, complete, n_outputs=1, n_folds=5):
    X = rng.normal(size=(200, 4))
    target = np.column_stack([np.sign(X[:, 0] * X[:, k]) for k in range(1, n_outputs + 1)])
    target += 0.5 * rng.normal(size=target.shape)
    weight = rng.integers(1, 3, 200).astype(float)
    folds = held_out_weights(weight, weight, None, n_folds, rng, n_folds if complete else 1)
    problem = Problem(Table.of(X), np.arange(200), target, weight, weight, None, lambda *_: 1.0, 1)
    honest = HonestRows.of(list(folds), np.ones(200), None, rng)
    return Chains(problem, folds, honest), X, target, weight, folds


SMALL = Growth("small", Tree(4, min_samples_leaf=5), 40.0)


def grow(chains):
    [chain] = chains.grow([(SMALL, LENGTHS)], np.random.SeedSequence(0))
    return chain


def seeds_of(n_folds):
    """Return the seeds of the first chain: that on all rows, and those of the folds."""
    return np.random.SeedSequence(0).spawn(1)[0].spawn(1 + n_folds)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_length_and_penalty_have_the_least_error_on_held_out_rows(n_outputs, rng):
    chains, X, target, weight, [held_out] = make_chains(rng, False, n_outputs)
    chain = grow(chains)
    all_seed, fold_seed = seeds_of(1)
    whole = chains._grow(SMALL, held_out, fold_seed, 30)
    responses, left = whole.respond(X, 1).astype(float), weight - held_out
    kept, tested = left > 0, held_out > 0
    errors, decisions = {}, {}
    for n in (5, 30):
        for multiple in MULTIPLES:
            penalty = multiple * left.sum() / n_outputs
            weights, intercept = naive_ridge(responses[kept, :n], target[kept], left[kept], penalty)
            own = responses[tested, :n] @ weights + intercept
            setting = n, multiple * weight.sum() / n_outputs
            errors[setting] = held_out[tested] @ np.sum((target[tested] - own) ** 2, axis=1) / held_out.sum()
            decisions[setting] = own
    best = min(errors, key=errors.get)
    assert (len(chain.ensemble), chain.penalty) == best
    assert chain.error == pytest.approx(errors[best], rel=1e-6)
    assert np.allclose(chain.decisions, decisions[best], atol=1e-6)
    on_all_rows = chains._grow(SMALL, np.zeros(200), all_seed, best[0])
    assert list(chain.ensemble.learners) == list(on_all_rows.learners)


def test_with_all_folds_each_row_has_a_decision_and_a_chain_grows_on_all_rows(rng):
    chains, _, target, _, folds = make_chains(rng, True)
    chain = grow(chains)
    assert len(chain.decisions) == np.sum(folds > 0)
    assert chain.error < 0.8 * target.var()
    alone = chains._grow(SMALL, np.zeros(200), seeds_of(5)[0], len(chain.ensemble))
    assert list(chain.ensemble.learners) == list(alone.learners)


def test_a_chain_that_lacks_few_rows_is_not_grown_again(rng):
    chains, *_, [held_out] = make_chains(rng, False, n_folds=20)
    chain = grow(chains)
    whole = chains._grow(SMALL, held_out, seeds_of(1)[1], 30)
    assert list(chain.ensemble.learners) == list(whole.learners[: len(chain.ensemble)])


def test_labels_of_held_out_rows_change_no_tree(rng):
    chains, _, target, weight, [held_out] = make_chains(rng, False)
    other = np.where((held_out == weight)[:, None], -target, target)
    changed = replace(chains, problem=replace(chains.problem, target=other))
    seed = np.random.SeedSequence(0)
    one, two = (own._grow(TREES[0], held_out, seed, 8) for own in (chains, changed))
    assert list(one.learners) == list(two.learners)


class Fixed(Clock):
    """A clock on which a share of the budget is used, and less before the first column."""

    def __init__(self, shares):
        super().__init__(1.0)
        self.shares = shares

    def has_time_for(self, seconds, until):
        return False

    def is_past(self, share):
        used = self.shares.pop(0) if len(self.shares) > 1 else self.shares[0]
        return used > share


def with_clock(chains, clock):
    return replace(chains, problem=replace(chains.problem, clock=clock))


@pytest.mark.parametrize(("shares", "length"), [([0.0], 30), ([0.0, 0.95], 1), ([0.0, 0.0, 0.95], 2)])
def test_with_a_time_budget_the_chain_of_the_first_fold_is_used(shares, length, rng):
    chains, *_, [held_out] = make_chains(rng, False)
    clock = Fixed(shares)
    chain = grow(with_clock(chains, clock))
    whole = chains._grow(SMALL, held_out, seeds_of(1)[1], 30)
    assert list(chain.ensemble.learners) == list(whole.learners[: len(chain.ensemble)])
    assert len(chain.ensemble) == length if length < 30 else len(chain.ensemble) in LENGTHS
    assert clock.left_out == ({"ends of chains": [f"the last {30 - length} small"]} if length < 30 else {})


def test_with_time_enough_the_chain_is_that_without_a_budget(rng):
    chains, *_ = make_chains(rng, True)
    assert list(grow(with_clock(chains, Clock(1e9))).ensemble.learners) == list(grow(chains).ensemble.learners)


def test_chains_without_time_are_left_out(rng):
    chains, *_ = make_chains(rng, False)
    clock = Clock(1e-9)
    assert with_clock(chains, clock).grow([(SMALL, LENGTHS), (TREES[0], LENGTHS)], np.random.SeedSequence(0)) == []
    assert clock.left_out == {"chains": ["small", "random trees"]}


def test_several_chains_are_those_of_each_alone(rng):
    chains, *_ = make_chains(rng, True)
    for n_threads in (1, 2):
        own = replace(chains, problem=replace(chains.problem, n_threads=n_threads))
        found = own.grow([(SMALL, LENGTHS), (TREES[0], LENGTHS)], np.random.SeedSequence(0))
        assert [chain.growth.name for chain in found] == ["small", "random trees"]
        assert found[0].decisions.tobytes() == grow(chains).decisions.tobytes()
