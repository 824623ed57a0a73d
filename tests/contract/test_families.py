"""What every weak-learner family must fulfil, by every rule that it knows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from cgens.ensemble import Ensemble
from cgens.testing import check_weak_learner
from cgens.types import Duals, MasterSolution, Status
from cgens.weak_learners.search.pool_columns import columns_of_pool
from cgens.weight_history import WeightHistory
from tests.contract.cosines import Cosines
from tests.contract.pricing import (
    assert_best,
    assert_column,
    balanced_duals,
    begin,
    candidates_of,
    curved_duals,
    empty_model,
    merits,
    rows_to_price,
)
from tests.contract.tables import FAMILIES
from tests.tolerances import CLOSED_FORM

NONE_TAKEN = {}.keys()


def pytest_generate_tests(metafunc):
    """Give a test its families, and those of the rules that each of them knows."""
    given = {mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")}
    family = "finite" if "finite" in metafunc.fixturenames else "case"
    if family not in metafunc.fixturenames:
        return
    names = [name for name, case in FAMILIES.items() if case.finite or family == "case"]
    if "rule" not in metafunc.fixturenames or "rule" in given:
        metafunc.parametrize(family, names, indirect=True)
        return
    pairs = [(name, rule) for name in names for rule in ("max", "gain", "votes")[: 3 if FAMILIES[name].votes else 2]]
    metafunc.parametrize(f"{family},rule", pairs, indirect=[family])


@pytest.fixture
def case(request):
    return FAMILIES[request.param]


@pytest.fixture
def finite(request):
    return FAMILIES[request.param]


@pytest.fixture
def sample(rng):
    return rows_to_price(rng)


def duals_for(rule, rng, n_outputs=2):
    """Return duals that are not a step away from any others."""
    if rule == "gain":
        return curved_duals([empty_model(rng, n_outputs)], by_steps=False)
    return balanced_duals(rng, n_outputs=n_outputs)


def collect(case, sample, rng, rule="max", n=12, n_outputs=1):
    """Return columns that were priced at changing duals, none twice, each after it was checked."""
    pricer, taken, columns, models = begin(case, sample), {}, [], [empty_model(rng, n_outputs)]
    for _ in range(n):
        duals = curved_duals(models) if rule == "gain" else balanced_duals(rng, n_outputs=n_outputs)
        pricing = pricer.price(duals, taken.keys(), rule)
        assert (pricing.energy is not None) == (pricing.n_candidates is not None) == case.finite
        if pricing.column is None:
            break  # a small pool
        assert_column(pricing, duals, taken, rule)
        columns.append(pricing.column)
        taken[pricing.column.learner.key] = None
        models.append(models[-1].grown(pricing.column.response.astype(float)))
    return columns


def ensemble_of(learners, weights, intercept):
    """Return an ensemble with a history of one round."""
    history = WeightHistory()
    no_duals = Duals(np.zeros((1, weights.shape[1])))
    history.append(MasterSolution(weights, intercept, no_duals, 0.0, 0.0, Status.OPTIMAL, 0))
    return Ensemble.of(learners, [0.0] * len(learners), history)


def test_the_contract_is_fulfilled(case):
    check_weak_learner(case.spec, rules=("max", "gain", "votes")[: 3 if case.votes else 2])


@pytest.mark.parametrize("n_outputs", [1, 2, 5])
def test_columns_are_sound_while_the_duals_change(case, rule, n_outputs, sample, rng):
    assert len(collect(case, sample, rng, rule, n_outputs=n_outputs)) > 1


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_column_is_the_best_of_the_pool(finite, rule, n_outputs, sample, rng):
    """By votes its largest price may be smaller than another one's, which is reported for the stopping test."""
    pricer, taken, n_others = begin(finite, sample), {}, 0
    candidates, responses = candidates_of(finite, pricer, sample)
    for _ in range(min(10, len(candidates))):
        duals = duals_for(rule, rng, n_outputs)
        pricing = pricer.price(duals, taken.keys(), rule)
        assert_best(pricing, candidates, responses, duals, taken, rule)
        n_others += pricing.largest_price() > abs(pricing.column.price) + CLOSED_FORM * np.abs(duals.array).sum()
        taken[pricing.column.learner.key] = None
    if rule == "votes" and n_outputs == 1:
        assert n_others == 0, "the same as the largest price"
    elif rule == "votes" and len(candidates) > 20:
        assert n_others > 0, "otherwise the rule was not tested"


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_a_master_that_changes_by_rank_one_is_followed(finite, rule, n_outputs, C, sample, rng):
    """Round by round, and when several columns are added at once."""
    pricer, models, taken = begin(finite, sample), [empty_model(rng, n_outputs, C)], {}
    candidates, responses = candidates_of(finite, pricer, sample)
    for n_more in (0, 0, 1, 0, 2, 0, 4, 0):
        if len(taken) == len(candidates):
            break  # a small pool
        duals = curved_duals(models)
        pricing = pricer.price(duals, taken.keys(), rule)
        assert_best(pricing, candidates, responses, duals, taken, rule)
        taken[pricing.column.learner.key] = None
        models.append(models[-1].grown(pricing.column.response.astype(float)))
        gain = merits(pricing.column.response[:, None], duals, "gain")[0]
        scale = CLOSED_FORM * models[0].primal
        assert gain / 2 == pytest.approx(models[-2].primal - models[-1].primal, abs=scale), "what the rule stands for"
        for k in np.flatnonzero([learner.key not in taken for learner in candidates])[:n_more]:
            taken[candidates[k].key] = None
            models.append(models[-1].grown(responses[:, k]))


def test_columns_stand_for_a_pool_that_is_drawn_without_labels(finite, sample):
    """All of it, or as many as are asked for, whose kernel is about that of the pool."""
    pricer = begin(finite, sample)
    every, some = (columns_of_pool(pricer, most) for most in (10**6, 9))
    learned = getattr(finite.spec, "metric", "flat") == "learned"
    assert (every is None) == (learned or isinstance(finite.spec, Cosines)), "the latter have no such method"
    if every is None:
        return
    candidates, responses = candidates_of(finite, pricer, sample)
    assert every.n_candidates == some.n_candidates == len(candidates)
    assert some.columns.shape == (70, min(9, len(candidates)))
    assert np.sum(some.columns**2) == pytest.approx(np.sum(every.columns**2), rel=0.3)
    contents = [{tuple(np.round(own * np.sign(own[0]), 6)) for own in H.T} for H in (every.columns, responses)]
    assert contents[0] == contents[1]


def assert_same_pricing(one, other):
    assert one.column.learner == other.column.learner
    assert (one.column.price, one.column.output) == (other.column.price, other.column.output)
    assert (one.energy, one.largest_price(), one.merit) == (other.energy, other.largest_price(), other.merit)


def test_a_repeated_search_finds_the_same(finite, rule, sample, rng):
    """Also after models with as many columns but other duals, to which no step leads."""
    pricer = begin(finite, sample)
    candidates, responses = candidates_of(finite, pricer, sample)
    for duals in (duals_for("gain", rng), duals_for("gain", rng), duals_for(rule, rng)):
        first, second = (pricer.price(duals, NONE_TAKEN, rule) for _ in range(2))
        assert_best(first, candidates, responses, duals, NONE_TAKEN, rule)
        assert_same_pricing(first, second)


@pytest.mark.parametrize("seed", range(6))
def test_rules_may_change_from_call_to_call(finite, seed, sample):
    """Also while several columns are added at once, so that prices are computed again and g'Pg has to catch up."""
    rng = np.random.default_rng(seed)
    pricer, models, taken = begin(finite, sample), [empty_model(rng, 1, C=30.0)], {}
    candidates, responses = candidates_of(finite, pricer, sample)
    in_turn = [(0, "gain"), (5, "max"), (1, "max"), (0, "gain"), (1, "gain"), (3, "max"), (2, "gain")]
    if finite.votes:
        in_turn += [(0, "votes"), (1, "votes"), (1, "gain"), (2, "votes"), (0, "max"), (1, "gain")]
    for n_columns, rule in in_turn:
        if len(taken) + n_columns >= len(candidates):
            break  # a small pool
        for _ in range(n_columns):
            free = [k for k, learner in enumerate(candidates) if learner.key not in taken]
            best = free[np.argmax(np.abs(responses[:, free].T @ models[-1].duals[:, 0]))]
            taken[candidates[best].key] = None
            models.append(models[-1].grown(responses[:, best]))
        duals = curved_duals(models)
        assert_best(pricer.price(duals, taken.keys(), rule), candidates, responses, duals, taken, rule)


def test_plain_duals_between_those_of_a_master(finite, sample, rng):
    """They are priced by themselves, as for a certificate, and are no start for the master's next step."""
    pricer, models = begin(finite, sample), [empty_model(rng, 2)]
    candidates, responses = candidates_of(finite, pricer, sample)
    for k in range(min(8, len(candidates))):
        for duals in (curved_duals(models), balanced_duals(rng, n_outputs=2)):
            assert_best(pricer.price(duals, NONE_TAKEN, "max"), candidates, responses, duals, NONE_TAKEN, "max")
        if k % 2:
            models.append(models[-1].grown(responses[:, k]))


def test_an_ensemble_equals_its_learners_one_by_one(case, sample, rng):
    learners = [column.learner for column in collect(case, sample, rng)]
    weights, intercept = rng.normal(size=(len(learners), 2)), np.array([0.5, -1.0])
    ensemble = ensemble_of(learners, weights, intercept)
    new = rng.normal(size=(33, 6))
    responses = np.column_stack([learner.respond(new) for learner in learners])
    assert np.array_equal(ensemble.respond(new), responses)
    assert ensemble.respond(new).dtype == responses.dtype
    expected = responses.astype(float) @ weights + intercept
    scale = CLOSED_FORM * np.abs(weights).sum()
    assert np.allclose(ensemble.decision(new), expected, rtol=0, atol=scale)
    assert np.allclose(list(ensemble.staged(new))[-1], expected, rtol=0, atol=scale)
    assert np.array_equal(ensemble.decision(new[:0]), np.zeros((0, 2)))
    assert list(ensemble.learners) == learners == ensemble.learners[:]


def test_arrays_and_pickles_keep_an_ensemble(case, sample, rng):
    learners = [column.learner for column in collect(case, sample, rng)]
    ensemble = ensemble_of(learners, rng.normal(size=(len(learners), 2)), np.zeros(2))
    if not case.arrays:
        with pytest.raises(TypeError, match=type(learners[0]).__name__ if len(ensemble.packs.parts) == 1 else "pack"):
            ensemble.to_arrays()
        return
    arrays = ensemble.to_arrays()
    again = Ensemble.from_arrays(arrays)
    assert again.learners == ensemble.learners
    assert again.to_arrays().keys() == arrays.keys()
    for name, array in again.to_arrays().items():
        assert array.dtype == arrays[name].dtype
        assert np.array_equal(array, arrays[name]), name
    new = rng.normal(size=(33, 6))
    for same in (again, pickle.loads(pickle.dumps(ensemble))):
        assert same.decision(new).tobytes() == ensemble.decision(new).tobytes()
    kinds = {name: np.array("unknown") for name in arrays if name.endswith("kind")}
    with pytest.raises(ValueError, match=r"'unknown'.*stump"):
        Ensemble.from_arrays({**arrays, **kinds})


def test_an_ensemble_of_several_families_keeps_the_order_of_its_learners(sample, rng):
    names = ("stump", "cosines", "stump", "cosines in float32")
    learners = [column.learner for name in names for column in collect(FAMILIES[name], sample, rng, n=2)]
    weights = rng.normal(size=(len(learners), 1))
    ensemble, X = ensemble_of(learners, weights, np.zeros(1)), sample.matrix()
    responses = np.column_stack([learner.respond(X) for learner in learners])
    assert np.array_equal(ensemble.respond(X), responses)
    assert np.allclose(ensemble.decision(X), responses @ weights, rtol=0, atol=CLOSED_FORM * np.abs(weights).sum())
