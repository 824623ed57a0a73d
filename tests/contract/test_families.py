"""What every weak-learner family must fulfil."""

from __future__ import annotations

import numpy as np
import pytest

from cgens.ensemble import Ensemble
from cgens.types import Sample
from tests.contract.tables import FAMILIES
from tests.tolerances import CLOSED_FORM


@pytest.fixture(params=FAMILIES)
def case(request):
    return FAMILIES[request.param]


@pytest.fixture(params=[name for name, case in FAMILIES.items() if case.finite])
def finite(request):
    return FAMILIES[request.param]


@pytest.fixture
def sample(rng):
    """Return 70 weighted rows in another order than in X, some of X's rows left out."""
    X = np.column_stack([rng.normal(size=(80, 3)), rng.integers(0, 4, size=(80, 2)), np.zeros(80)])
    return Sample(X, rng.permutation(80)[:70], rng.integers(1, 4, 70).astype(float))


def begin(case, sample, seed=0, n_threads=1):
    return case.spec.begin(sample, np.random.default_rng(seed), n_threads)


def balanced_duals(rng, m=70):
    duals = rng.normal(size=m)
    return (duals - duals.mean())[:, None]


def collect(case, sample, rng, n=12):
    """Return columns priced at changing duals, each taken once it was found."""
    pricer, taken, columns = begin(case, sample), {}, []
    for _ in range(n):
        column = pricer.price(balanced_duals(rng), taken.keys()).column
        taken[column.learner.key] = None
        columns.append(column)
    return columns


def test_price_is_the_largest_outside_the_taken(finite, sample, rng):
    pricer = begin(finite, sample)
    X = sample.matrix()
    candidates = finite.candidates(pricer, X)
    responses = np.array([learner.respond(X) for learner in candidates], dtype=float)
    taken = {}
    for _ in range(10):
        duals = balanced_duals(rng)
        pricing = pricer.price(duals, taken.keys())
        prices = responses @ duals[:, 0]
        free = [learner.key not in taken for learner in candidates]
        scale = CLOSED_FORM * np.abs(duals).sum()
        assert pricing.n_candidates == len(candidates)
        assert pricing.energy == pytest.approx(np.sum(prices**2), rel=CLOSED_FORM)
        assert abs(pricing.column.score) == pytest.approx(np.abs(prices[free]).max(), abs=scale)
        taken[pricing.column.learner.key] = None


def test_everything_taken_leaves_nothing(finite, sample, rng):
    pricer, duals, taken = begin(finite, sample), balanced_duals(rng), {}
    n_candidates = pricer.price(duals, taken.keys()).n_candidates
    scores = []
    while (column := pricer.price(duals, taken.keys()).column) is not None:
        assert column.learner.key not in taken
        taken[column.learner.key] = None
        scores.append(abs(column.score))
    assert len(taken) == n_candidates
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0


def test_zero_duals_find_nothing(case, sample):
    pricing = begin(case, sample).price(np.zeros((70, 1)), {}.keys())
    assert pricing.column is None
    assert not pricing.energy


def test_energy_and_size_are_given_together(case, sample, rng):
    pricing = begin(case, sample).price(balanced_duals(rng), {}.keys())
    assert (pricing.energy is not None) == (pricing.n_candidates is not None) == case.finite


def test_response_is_what_the_learner_says_of_the_rows(case, sample, rng):
    for column in collect(case, sample, rng):
        assert column.response.shape == (70,)
        assert column.response.dtype in (np.int8, np.float32, np.float64)
        assert np.array_equal(column.response, column.learner.respond(sample.matrix()))


def test_score_is_duals_times_response(case, sample, rng):
    pricer = begin(case, sample)
    for _ in range(5):
        duals = balanced_duals(rng)
        column = pricer.price(duals, {}.keys()).column
        scale = CLOSED_FORM * np.abs(duals).sum()
        assert column.score == pytest.approx(duals[:, 0] @ column.response, abs=scale)


def test_negation(case, sample, rng):
    X = sample.matrix()
    for column in collect(case, sample, rng, 4):
        negated = column.learner.negated()
        assert np.array_equal(negated.respond(X), -column.learner.respond(X))
        assert negated.key == column.learner.key
        assert negated.negated() == column.learner


def test_orientation_makes_the_price_positive(case, sample, rng):
    for column in collect(case, sample, rng):
        turned = column.oriented()
        assert turned.score == abs(column.score) > 0
        assert turned.learner.key == column.learner.key
        assert np.array_equal(turned.response, turned.learner.respond(sample.matrix()))
        assert turned.response.dtype == column.response.dtype


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
    learners = [column.oriented().learner for column in collect(case, sample, rng)]
    weights, intercept = rng.normal(size=(len(learners), 2)), np.array([0.5, -1.0])
    ensemble = Ensemble.of(learners, [0.0] * len(learners), [(weights, intercept)])
    new = rng.normal(size=(33, 6))
    responses = np.column_stack([learner.respond(new) for learner in learners])
    assert np.array_equal(ensemble.respond(new), responses)
    assert ensemble.respond(new).dtype == responses.dtype
    expected = responses.astype(float) @ weights + intercept
    scale = CLOSED_FORM * np.abs(weights).sum()
    assert np.allclose(ensemble.decision(new), expected, rtol=0, atol=scale)
    assert np.allclose(list(ensemble.staged(new))[-1], expected, rtol=0, atol=scale)
    assert np.array_equal(ensemble.decision(new[:0]), np.zeros((0, 2)))


def test_threads_and_a_second_begin_do_not_matter(case, sample, rng):
    duals = balanced_duals(rng)
    first = begin(case, sample).price(duals, {}.keys())
    second = begin(case, sample, n_threads=2).price(duals, {}.keys())
    assert first.column.learner == second.column.learner
    assert (first.column.score, first.energy) == (second.column.score, second.energy)


def test_spec_is_clonable_and_left_alone(case, sample, rng):
    from sklearn.base import clone

    before = case.spec.get_params()
    begin(case, sample).price(balanced_duals(rng), {}.keys())
    assert case.spec.get_params() == before
    assert clone(case.spec).get_params() == before


def test_families_mix_in_one_ensemble(rng):
    """An ensemble of several families keeps the order in which the learners were added."""
    X = rng.normal(size=(50, 3))
    sample = Sample(X, np.arange(50), np.ones(50))
    mixed = []
    for name in ("stump", "cosines", "stump", "cosines in float32"):
        mixed += [column.learner for column in collect_on(FAMILIES[name], sample, rng)]
    weights = rng.normal(size=(len(mixed), 1))
    ensemble = Ensemble.of(mixed, [0.0] * len(mixed), [(weights, np.zeros(1))])
    responses = np.column_stack([learner.respond(X) for learner in mixed])
    assert np.array_equal(ensemble.respond(X), responses)
    assert np.allclose(ensemble.decision(X), responses @ weights, rtol=0, atol=CLOSED_FORM * np.abs(weights).sum())


def collect_on(case, sample, rng):
    pricer = case.spec.begin(sample, np.random.default_rng(1), 1)
    return [pricer.price(balanced_duals(rng, len(sample)), {}.keys()).column for _ in range(2)]
