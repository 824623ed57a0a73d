"""What every weak-learner family must fulfil."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from cgens.ensemble import Ensemble
from cgens.types import Duals, MasterSolution, Sample, Status
from cgens.weight_history import WeightHistory
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
from tests.reference.naive_least_squares import naive_model
from tests.tolerances import CLOSED_FORM


@pytest.fixture
def sample(rng):
    return rows_to_price(rng)


@pytest.fixture(params=FAMILIES)
def case(request):
    return FAMILIES[request.param]


@pytest.fixture(params=[name for name, case in FAMILIES.items() if case.finite])
def finite(request):
    return FAMILIES[request.param]


def path_of(weights, intercept):
    """Return a path of one round."""
    path = WeightHistory()
    nothing = Duals(np.zeros((1, weights.shape[1])))
    path.append(MasterSolution(weights, intercept, nothing, 0.0, 0.0, Status.OPTIMAL, 0))
    return path


def collect(case, sample, rng, n=12):
    """Return columns priced at changing duals, each taken once it was found."""
    pricer, taken, columns = begin(case, sample), {}, []
    for _ in range(n):
        column = pricer.price(balanced_duals(rng), taken.keys(), "max").column
        if column is None:
            break  # a small pool
        taken[column.learner.key] = None
        columns.append(column)
    return columns


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_price_is_the_largest_outside_the_taken(finite, sample, n_outputs, rng):
    pricer = begin(finite, sample)
    candidates, responses = candidates_of(finite, pricer, sample)
    taken = {}
    for _ in range(min(10, len(candidates))):
        duals = balanced_duals(rng, n_outputs=n_outputs)
        pricing = pricer.price(duals, taken.keys(), "max")
        assert_priced(pricing, candidates, responses, duals, taken)
        assert abs(pricing.column.score) == pricing.largest_price()
        taken[pricing.column.learner.key] = None


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("rule", ["max", "gain"])
def test_a_master_that_changes_by_rank_one_is_followed(finite, sample, rule, n_outputs, C, rng):
    """Round by round, and where several columns come at once; "gain" is the largest decrease of the objective."""
    pricer, models, taken = begin(finite, sample), [empty_model(rng, n_outputs, C)], {}
    candidates, responses = candidates_of(finite, pricer, sample)
    for n_more in (0, 0, 1, 0, 2, 0, 4, 0):
        if len(taken) == len(candidates):
            break  # a small pool
        duals = curved_duals(models)
        pricing = pricer.price(duals, taken.keys(), rule)
        assert_priced(pricing, candidates, responses, duals, taken)
        free = np.array([learner.key not in taken for learner in candidates])
        gains, scale = models[-1].gains(responses[:, free]), CLOSED_FORM * models[0].primal
        own = models[-1].gains(pricing.column.response[:, None].astype(float))[0]
        if rule == "gain":
            assert own == pytest.approx(gains.max(), abs=scale)
            assert own == pytest.approx(models[-1].primal - models[-1].grown(pricing.column.response).primal, abs=scale)
        else:
            assert abs(pricing.column.score) == pricing.largest_price()
        taken[pricing.column.learner.key] = None
        models.append(models[-1].grown(pricing.column.response.astype(float)))
        for k in np.flatnonzero([learner.key not in taken for learner in candidates])[:n_more]:
            taken[candidates[k].key] = None
            models.append(models[-1].grown(responses[:, k]))


@pytest.mark.parametrize("rule", ["max", "gain"])
def test_the_same_model_solved_again_is_priced_again(finite, sample, rule, rng):
    """As many columns as before, other duals: a table of prices has no step to go."""
    pricer, model = begin(finite, sample), empty_model(rng, 2)
    candidates, responses = candidates_of(finite, pricer, sample)
    for target in (model.target, -3.0 * model.target, rng.normal(size=(70, 2))):
        duals = curved_duals([naive_model(model.H, target, model.scale)], by_steps=False)
        first = pricer.price(duals, {}.keys(), rule)
        assert_priced(first, candidates, responses, duals, {})
        second = pricer.price(duals, {}.keys(), rule)
        assert first.column.learner == second.column.learner
        assert first.column.score == second.column.score
        assert (first.energy, first.max_price) == (second.energy, second.max_price)


def test_rules_may_change_from_call_to_call(finite, sample):
    """Also while several columns come at once, so that prices are made anew and g'Pg has to catch up."""
    for seed in range(6):
        assert_rules_mix(finite, sample, np.random.default_rng(seed))


def assert_rules_mix(case, sample, rng):
    pricer, models, taken = begin(case, sample), [empty_model(rng, 1, C=30.0)], {}
    candidates, responses = candidates_of(case, pricer, sample)
    by_turns = [(0, "gain"), (5, "max"), (1, "max"), (0, "gain"), (1, "gain"), (3, "max"), (2, "gain")]
    if case.votes:
        by_turns += [(0, "votes"), (1, "votes"), (1, "gain"), (2, "votes"), (0, "max"), (1, "gain")]
    for n_columns, rule in by_turns:
        if len(taken) + n_columns >= len(candidates):
            break  # a small pool
        for _ in range(n_columns):
            free = [k for k, learner in enumerate(candidates) if learner.key not in taken]
            best = free[np.argmax(np.abs(responses[:, free].T @ models[-1].duals[:, 0]))]
            taken[candidates[best].key] = None
            models.append(models[-1].grown(responses[:, best]))
        duals = curved_duals(models)
        pricing = pricer.price(duals, taken.keys(), rule)
        assert_priced(pricing, candidates, responses, duals, taken)
        if rule == "gain":
            gains = models[-1].gains(responses[:, [learner.key not in taken for learner in candidates]])
            own = models[-1].gains(pricing.column.response[:, None].astype(float))[0]
            assert own == pytest.approx(gains.max(), abs=CLOSED_FORM * models[0].primal)
        if rule == "votes":
            free = [learner.key not in taken for learner in candidates]
            scale = CLOSED_FORM * np.abs(duals.array).sum()
            assert pricing.merit == pytest.approx(votes_for(responses[:, free], duals).max(), abs=scale)


def test_plain_duals_between_those_of_a_master(finite, sample, rng):
    """As where a certificate is made: they are priced by themselves, and leave no trace."""
    pricer, models = begin(finite, sample), [empty_model(rng, 2)]
    candidates, responses = candidates_of(finite, pricer, sample)
    for k in range(min(4, len(candidates) // 3)):
        for duals in (curved_duals(models), balanced_duals(rng, n_outputs=2), curved_duals(models)):
            assert_priced(pricer.price(duals, {}.keys(), "max"), candidates, responses, duals, {})
        models.append(models[-1].grown(responses[:, 3 * k]))


def test_plain_duals_leave_nothing_to_follow(finite, sample, rng):
    """Prices of duals from elsewhere are no start for a master's next step."""
    pricer, models = begin(finite, sample), [empty_model(rng, 2)]
    candidates, responses = candidates_of(finite, pricer, sample)
    pricer.price(curved_duals(models), {}.keys(), "max")
    pricer.price(balanced_duals(rng, n_outputs=2), {}.keys(), "max")
    models.append(models[-1].grown(responses[:, 0]))
    duals = curved_duals(models)
    assert_priced(pricer.price(duals, {}.keys(), "max"), candidates, responses, duals, {})


def test_everything_taken_leaves_nothing(finite, sample, rng):
    pricer, duals, taken = begin(finite, sample), balanced_duals(rng), {}
    n_candidates = pricer.price(duals, taken.keys(), "max").n_candidates
    scores = []
    while (column := pricer.price(duals, taken.keys(), "max").column) is not None:
        assert column.learner.key not in taken
        taken[column.learner.key] = None
        scores.append(abs(column.score))
    assert len(taken) == n_candidates
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0
    assert pricer.price(duals, taken.keys(), "max").largest_price() == 0


def test_everything_taken_leaves_nothing_by_gain(finite, sample, rng):
    pricer, duals, taken = begin(finite, sample), curved_duals([empty_model(rng, 2)]), {}
    n_candidates = pricer.price(duals, taken.keys(), "gain").n_candidates
    while (column := pricer.price(duals, taken.keys(), "gain").column) is not None:
        assert column.learner.key not in taken
        taken[column.learner.key] = None
    assert len(taken) == n_candidates
    assert pricer.price(duals, taken.keys(), "gain").largest_price() == 0


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_zero_duals_find_nothing(case, sample, n_outputs):
    pricing = begin(case, sample).price(Duals(np.zeros((70, n_outputs))), {}.keys(), "max")
    assert pricing.column is None
    assert pricing.largest_price() == 0
    assert not pricing.energy


@pytest.mark.parametrize("rule", ["max", "gain"])
def test_zero_duals_of_a_curved_master_find_nothing(case, sample, rule, rng):
    model = empty_model(rng, 2)
    duals = curved_duals([naive_model(model.H, np.zeros((70, 2)), model.scale)])
    pricing = begin(case, sample).price(duals, {}.keys(), rule)
    assert pricing.column is None
    assert pricing.largest_price() == 0
    assert not pricing.energy


def test_energy_and_size_are_given_together(case, sample, rng):
    pricing = begin(case, sample).price(balanced_duals(rng), {}.keys(), "max")
    assert (pricing.energy is not None) == (pricing.n_candidates is not None) == case.finite


def test_response_is_what_the_learner_says_of_the_rows(case, sample, rng):
    for column in collect(case, sample, rng):
        assert column.response.shape == (70,)
        assert column.response.dtype in (np.int8, np.float32, np.float64)
        assert np.array_equal(column.response, column.learner.respond(sample.matrix()))


def test_score_is_duals_times_response(case, sample, rng):
    pricer = begin(case, sample)
    for _ in range(5):
        duals = balanced_duals(rng, n_outputs=2)
        column = pricer.price(duals, {}.keys(), "max").column
        scale = CLOSED_FORM * np.abs(duals.array).sum()
        assert column.score == pytest.approx(duals.array[:, column.output] @ column.response, abs=scale)


def test_keys_are_hashable_and_unique(case, sample, rng):
    columns = collect(case, sample, rng)
    assert len({hash(column.learner.key) for column in columns}) > 1
    assert len({column.learner.key for column in columns}) == len(columns)


def test_learners_are_immutable(case, sample, rng):
    learner = collect(case, sample, rng, 1)[0].learner
    name = next(iter(vars(learner)))
    with pytest.raises(AttributeError):
        setattr(learner, name, None)


def test_pack_equals_the_learners_one_by_one(case, sample, rng):
    learners = [column.learner for column in collect(case, sample, rng)]
    weights, intercept = rng.normal(size=(len(learners), 2)), np.array([0.5, -1.0])
    ensemble = Ensemble.of(learners, [0.0] * len(learners), path_of(weights, intercept))
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


def test_packs_and_arrays_are_each_others_inverse(case, sample, rng):
    learners = [column.learner for column in collect(case, sample, rng)]
    weights = rng.normal(size=(len(learners), 2))
    ensemble = Ensemble.of(learners, [0.0] * len(learners), path_of(weights, np.zeros(2)))
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
    assert again.decision(new).tobytes() == ensemble.decision(new).tobytes()
    assert pickle.loads(pickle.dumps(ensemble)).decision(new).tobytes() == ensemble.decision(new).tobytes()


@pytest.mark.parametrize("rule", ["max", "gain"])
def test_threads_and_a_second_begin_do_not_matter(case, sample, rule, rng):
    duals = balanced_duals(rng, n_outputs=2) if rule == "max" else curved_duals([empty_model(rng, 2)])
    first = begin(case, sample).price(duals, {}.keys(), rule)
    second = begin(case, sample, n_threads=2).price(duals, {}.keys(), rule)
    assert first.column.learner == second.column.learner
    assert (first.column.score, first.column.output) == (second.column.score, second.column.output)
    assert (first.energy, first.largest_price()) == (second.energy, second.largest_price())


def test_spec_is_clonable_and_left_alone(case, sample, rng):
    from sklearn.base import clone

    before, written = case.spec.get_params(), repr(case.spec)
    begin(case, sample).price(balanced_duals(rng), {}.keys(), "max")
    assert case.spec.get_params() == before
    assert repr(case.spec) == repr(clone(case.spec)) == written


def test_families_mix_in_one_ensemble(rng):
    """An ensemble of several families keeps the order in which the learners were added."""
    X = rng.normal(size=(50, 3))
    sample = Sample(X, np.arange(50), np.ones(50))
    mixed = []
    for name in ("stump", "cosines", "stump", "cosines in float32"):
        mixed += [column.learner for column in collect_on(FAMILIES[name], sample, rng)]
    weights = rng.normal(size=(len(mixed), 1))
    ensemble = Ensemble.of(mixed, [0.0] * len(mixed), path_of(weights, np.zeros(1)))
    responses = np.column_stack([learner.respond(X) for learner in mixed])
    assert np.array_equal(ensemble.respond(X), responses)
    assert np.allclose(ensemble.decision(X), responses @ weights, rtol=0, atol=CLOSED_FORM * np.abs(weights).sum())


def collect_on(case, sample, rng):
    pricer = case.spec.begin(sample, np.random.default_rng(1), 1)
    return [pricer.price(balanced_duals(rng, len(sample)), {}.keys(), "max").column for _ in range(2)]
