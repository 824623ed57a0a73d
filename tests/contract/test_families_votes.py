"""Weak-learner families that price by votes: the sum of |price| over all outputs."""

from __future__ import annotations

import numpy as np
import pytest

from cgens.types import Duals
from tests.contract.pricing import (
    assert_priced,
    balanced_duals,
    begin,
    candidates_of,
    curved_duals,
    empty_model,
    rows_to_price,
    votes_for,
)
from tests.contract.tables import FAMILIES
from tests.tolerances import CLOSED_FORM


@pytest.fixture
def sample(rng):
    return rows_to_price(rng)


@pytest.fixture(params=[name for name, case in FAMILIES.items() if case.votes])
def voting(request):
    return FAMILIES[request.param]


@pytest.fixture(params=[name for name, case in FAMILIES.items() if case.votes and case.finite])
def voting_pool(request):
    return FAMILIES[request.param]


@pytest.mark.parametrize("n_outputs", [1, 2, 5])
def test_by_votes_the_merit_is_the_sum_of_all_prices(voting, sample, n_outputs, rng):
    pricer, taken = begin(voting, sample), {}
    for _ in range(6):
        duals = balanced_duals(rng, n_outputs=n_outputs)
        pricing = pricer.price(duals, taken.keys(), "votes")
        if (column := pricing.column) is None:
            break  # a small pool
        scale = CLOSED_FORM * np.abs(duals.array).sum()
        assert pricing.merit == pytest.approx(votes_for(column.response[:, None], duals)[0], abs=scale)
        prices = column.response @ duals.array
        assert column.output == np.argmax(np.abs(prices))
        assert column.score == pytest.approx(prices[column.output], abs=scale)
        assert column.learner.key not in taken
        assert np.array_equal(column.response, column.learner.respond(sample.matrix()))
        taken[column.learner.key] = None
    assert taken


@pytest.mark.parametrize("n_outputs", [1, 2, 5])
def test_by_votes_the_column_is_the_best_of_the_pool(voting_pool, sample, n_outputs, rng):
    """Whatever its largest price: that of a single output is still told, for the stopping test."""
    pricer, taken, n_others = begin(voting_pool, sample), {}, 0
    candidates, responses = candidates_of(voting_pool, pricer, sample)
    for _ in range(min(10, len(candidates))):
        duals = balanced_duals(rng, n_outputs=n_outputs)
        pricing = pricer.price(duals, taken.keys(), "votes")
        assert_priced(pricing, candidates, responses, duals, taken)
        free = [learner.key not in taken for learner in candidates]
        scale = CLOSED_FORM * np.abs(duals.array).sum()
        assert pricing.merit == pytest.approx(votes_for(responses[:, free], duals).max(), abs=scale)
        n_others += pricing.largest_price() > abs(pricing.column.score) + scale
        taken[pricing.column.learner.key] = None
    if n_outputs == 1:
        assert n_others == 0, "the same as the largest price"
    elif len(candidates) > 20:
        assert n_others > 0, "else the rule was not put to the test"


@pytest.mark.parametrize("C", [0.01, 30.0])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_by_votes_a_master_that_changes_by_rank_one_is_followed(voting_pool, sample, n_outputs, C, rng):
    """Round by round, and where several columns come at once."""
    pricer, models, taken = begin(voting_pool, sample), [empty_model(rng, n_outputs, C)], {}
    candidates, responses = candidates_of(voting_pool, pricer, sample)
    for n_more in (0, 0, 1, 0, 4, 0):
        if len(taken) == len(candidates):
            break  # a small pool
        duals = curved_duals(models)
        pricing = pricer.price(duals, taken.keys(), "votes")
        assert_priced(pricing, candidates, responses, duals, taken)
        free = [learner.key not in taken for learner in candidates]
        scale = CLOSED_FORM * np.abs(duals.array).sum()
        assert pricing.merit == pytest.approx(votes_for(responses[:, free], duals).max(), abs=scale)
        assert pricing.merit == pytest.approx(votes_for(pricing.column.response[:, None], duals)[0], abs=scale)
        taken[pricing.column.learner.key] = None
        models.append(models[-1].grown(pricing.column.response.astype(float)))
        for k in np.flatnonzero([learner.key not in taken for learner in candidates])[:n_more]:
            taken[candidates[k].key] = None
            models.append(models[-1].grown(responses[:, k]))


def test_by_votes_everything_taken_leaves_nothing(voting_pool, sample, rng):
    pricer, duals, taken = begin(voting_pool, sample), balanced_duals(rng, n_outputs=2), {}
    n_candidates = pricer.price(duals, taken.keys(), "votes").n_candidates
    merits = []
    while (pricing := pricer.price(duals, taken.keys(), "votes")).column is not None:
        assert pricing.column.learner.key not in taken
        taken[pricing.column.learner.key] = None
        merits.append(pricing.merit)
    assert len(taken) == n_candidates
    assert merits == sorted(merits, reverse=True)
    assert pricing.largest_price() == 0


def test_by_votes_zero_duals_find_nothing(voting, sample):
    pricing = begin(voting, sample).price(Duals(np.zeros((70, 3))), {}.keys(), "votes")
    assert pricing.column is None
    assert pricing.largest_price() == 0
    assert not pricing.energy


def test_by_votes_threads_and_a_second_begin_do_not_matter(voting, sample, rng):
    duals = balanced_duals(rng, n_outputs=3)
    first = begin(voting, sample).price(duals, {}.keys(), "votes")
    second = begin(voting, sample, n_threads=2).price(duals, {}.keys(), "votes")
    assert first.column.learner == second.column.learner
    assert (first.column.score, first.column.output) == (second.column.score, second.column.output)
    assert (first.energy, first.largest_price(), first.merit) == (second.energy, second.largest_price(), second.merit)


def test_what_may_come_again_is_found_again(voting_pool, sample, rng):
    """Nothing is taken where a master lets learners repeat."""
    pricer, duals = begin(voting_pool, sample), balanced_duals(rng, n_outputs=2)
    for rule in ("max", "votes"):
        found = [pricer.price(duals, {}.keys(), rule) for _ in range(3)]
        assert len({pricing.column.learner.key for pricing in found}) == 1
        assert len({(pricing.merit, pricing.energy) for pricing in found}) == 1
