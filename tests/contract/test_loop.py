"""What the loop promises, with every master and every family."""

from __future__ import annotations

from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest

from cgens import generate_columns
from cgens.masters import Hinge, MultiBoost
from cgens.types import Sample, Status, relative_gap
from cgens.weak_learners import Stump
from tests.contract.tables import FAMILIES, MASTERS, one_of_three, three_noisy_signs
from tests.reference.naive_least_squares import naive_model
from tests.tolerances import BALANCE, CLOSED_FORM, NEGATIVE_GAP, STATIONARITY

TOL = 1e-5


#: Masters and families meet through the loop alone: these masters see every family, and these families every master.
EVERY_FAMILY = ("hinge", "least squares, three outputs", "LPBoost", "MultiBoost")
EVERY_MASTER = ("stump", "fourier", "tree")


def pytest_generate_tests(metafunc):
    """Give a test its masters and families, in pairs where it asks for both."""
    marked = {mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")}
    finite = "finite_family" in metafunc.fixturenames
    families = [name for name, case in FAMILIES.items() if case.in_loop and (case.finite or not finite)]
    family = "finite_family" if finite else "family"
    if {"master", family} <= set(metafunc.fixturenames) - marked:
        pairs = [(m, f) for m in MASTERS for f in families if m in EVERY_FAMILY or f in EVERY_MASTER]
        metafunc.parametrize(f"master,{family}", pairs, indirect=True)
    elif family in metafunc.fixturenames:
        metafunc.parametrize(family, families, indirect=True)
    elif "master" in set(metafunc.fixturenames) - marked:
        metafunc.parametrize("master", MASTERS, indirect=True)


@pytest.fixture
def master(request):
    return MASTERS[request.param]


@pytest.fixture
def family(request):
    return FAMILIES[request.param]


@pytest.fixture
def finite_family(request):
    return FAMILIES[request.param]


@pytest.fixture
def data(master, rng):
    X = rng.normal(size=(60, 3)).round(1)
    return X, master.make_target(rng, X[:, 0] - X[:, 1])


def run(master, family, data, **options):
    options = {"tol": TOL, "max_columns": 25, "rng": np.random.default_rng(5), **options}
    return generate_columns(master.spec, family.spec, *data, **options)


def candidates_of(family, data):
    """Return all learners of the pool that `run` draws, and their responses, shape (60, n)."""
    X = data[0]
    pricer = family.spec.begin(Sample(X, np.arange(60), np.ones(60)), np.random.default_rng(5), 1)
    candidates = family.candidates(pricer, X)
    return candidates, np.array([learner.respond(X) for learner in candidates], dtype=float).T


def test_a_fit_is_sound(master, family, data):
    X, target = data
    ensemble, trace = run(master, family, data)
    certificate = trace.certificate
    H = ensemble.respond(X).astype(float)
    weight = np.ones(len(X))
    assert certificate.relative_gap <= TOL
    assert certificate.status in (Status.MAX_COLUMNS, Status.OPTIMAL)
    assert master.infeasibility(H, target, weight, trace.duals) <= BALANCE
    if master.exact_weights:
        largest = np.abs(H).T @ np.abs(trace.duals)
        assert np.all(np.abs(ensemble.weights - H.T @ trace.duals) <= STATIONARITY * largest)
    scale = CLOSED_FORM * master.scale(certificate.primal)
    assert certificate.primal == pytest.approx(master.primal(H, target, weight, ensemble), abs=scale)
    assert certificate.dual == pytest.approx(master.dual(H, target, weight, trace.duals), abs=scale)


def test_every_added_column_has_a_positive_price(master, family, data):
    ensemble, trace = run(master, family, data)
    assert len(ensemble) == len(trace) - 1 > 0
    assert np.isnan(trace.score[0])
    assert np.all(trace.score[1:] > 0)
    assert len({learner.key for learner in ensemble.learners}) == len(ensemble)


def test_the_first_column_is_the_best_for_the_empty_master(master, family, data):
    X, target = data
    empty = master.spec.begin(target, np.ones(len(X)), 1).solve(TOL, lambda: False)
    ensemble, trace = run(master, family, data, max_columns=1)
    prices = ensemble.learners[0].respond(X) @ empty.duals.array
    assert np.abs(prices).max() == pytest.approx(trace.score[1], rel=CLOSED_FORM)
    assert np.sign(ensemble.weights[0, np.argmax(np.abs(prices))]) in (0, np.sign(prices[np.argmax(np.abs(prices))]))


def test_trace_has_one_entry_a_round(master, family, data):
    ensemble, trace = run(master, family, data)
    arrays = [
        getattr(trace, f.name)
        for f in fields(trace)
        if f.name != "certificate" and "duals" not in f.name and not f.name.startswith("bound")
    ]
    assert {array.shape for array in arrays} == {(len(ensemble) + 1,)}
    assert len(trace) == len(ensemble) + 1
    assert np.all(trace.price_seconds >= 0)
    assert np.all(trace.solve_seconds >= 0)
    assert trace.primal[-1] == trace.certificate.primal
    assert trace.dual[-1] == trace.certificate.dual
    assert np.all(trace.relative_gap >= -NEGATIVE_GAP)
    assert trace.relative_gap.tolist() == [relative_gap(*both) for both in zip(trace.primal, trace.dual, strict=True)]
    assert len(ensemble.history) == len(trace)


def test_the_pool_is_certified_where_it_is_finite(master, family, data):
    _, trace = run(master, family, data)
    certificate = trace.certificate
    assert certificate.scope == ("pool" if family.finite else "restricted")
    assert (certificate.full_lower_bound is not None) == family.finite
    assert (certificate.full_relative_gap is not None) == family.finite
    assert (certificate.n_candidates is not None) == family.finite
    assert (trace.bound_duals is not None) == family.finite
    if family.finite:
        best = trace.full_lower_bound.max()
        assert certificate.full_lower_bound == (pytest.approx(best, rel=CLOSED_FORM) if master.curved else best)
        assert certificate.full_lower_bound <= certificate.primal + NEGATIVE_GAP * master.scale(certificate.primal)
        assert certificate.full_relative_gap == relative_gap(certificate.primal, certificate.full_lower_bound)
    else:
        assert np.all(trace.full_lower_bound == -np.inf)


def test_a_finite_pool_is_solved_to_the_end(master, finite_family, data):
    """The optimum over the pool: no price is above the cost, and the bound for all of it meets the primal."""
    tol = max(1e-8, master.tightest)
    ensemble, trace = run(master, finite_family, data, max_columns=10_000, tol=tol, price_tol=1e-9)
    certificate = trace.certificate
    assert certificate.status is Status.OPTIMAL
    assert len(ensemble) <= certificate.n_candidates
    cost = master.cost(ensemble.respond(data[0]).astype(float), trace.duals)
    size = master.size(np.ones(len(trace.duals)), trace.duals)
    assert certificate.max_price <= cost + 1e-9 * size + BALANCE * cost
    assert certificate.full_relative_gap <= 10 * tol


def test_callback_is_told_every_round(master, family, data):
    rounds = []
    ensemble, trace = run(master, family, data, callback=rounds.append, max_columns=7)
    assert [state.n_columns for state in rounds] == list(range(1, len(ensemble) + 1))
    assert {state.max_columns for state in rounds} == {7}
    assert [state.score for state in rounds] == trace.score[1:].tolist()
    assert all(state.relative_gap >= -NEGATIVE_GAP for state in rounds)
    seconds = [state.seconds for state in rounds]
    assert seconds == sorted(seconds)


def test_callback_can_stop(master, family, data):
    ensemble, trace = run(master, family, data, callback=lambda state: state.n_columns == 3)
    assert len(ensemble) == 3
    assert trace.certificate.status is Status.STOPPED
    assert trace.certificate.relative_gap <= TOL, "what was stopped is solved to the tolerance all the same"


def test_max_columns(master, family, data):
    for most in (1, min(4, master.n_columns - 1)):
        ensemble, trace = run(master, family, data, max_columns=most)
        assert len(ensemble) == most
        assert trace.certificate.status is Status.MAX_COLUMNS


def test_epsilon_is_an_absolute_threshold(master, family, data):
    _, trace = run(master, family, data, max_columns=1)
    first = trace.score[1]
    _, empty = run(master, family, data, max_columns=0)
    # Of 60 rows, no response of variance 1 is larger than sqrt(60).
    most = 1.01 * first if family.finite else 8 * np.abs(empty.duals).sum()
    none, nothing = run(master, family, data, epsilon=most)
    assert len(none) == 0
    assert nothing.certificate.status is Status.OPTIMAL
    some, trace = run(master, family, data, epsilon=first / 2)
    assert np.all(trace.score[1:] > first / 2)
    assert 1 <= len(some) <= 25


def test_restart_goes_on_where_it_was(master, family, data):
    X, _ = data
    more, few = master.n_columns, 3 * master.n_columns // 5
    half, _ = run(master, family, data, max_columns=few)
    whole, trace = run(master, family, data, max_columns=more, initial=half)
    assert whole.learners[:few] == half.learners
    assert len(whole) == more
    assert len(trace) == more - few + 1, "entry 0 holds the earlier columns"
    assert len(whole.history) == more + 1
    assert len(list(whole.staged(X))) == more
    assert len({learner.key for learner in whole.learners}) == more
    assert trace.certificate.relative_gap <= TOL
    again, trace = run(master, family, data, max_columns=few, initial=half)
    assert again.learners == half.learners
    assert trace.certificate.status is Status.MAX_COLUMNS


def test_rows_and_weights(master, family, data):
    """Rows given by an index, with weights, are the same as a table of those rows."""
    X, target = data
    rng = np.random.default_rng(0)
    rows, weight = rng.permutation(60)[:50], rng.integers(1, 4, 50).astype(float)
    picked = np.ascontiguousarray(target[rows])
    chosen, trace = run(master, family, (X, picked), rows=rows, sample_weight=weight)
    copied, other = run(master, family, (np.ascontiguousarray(X[rows]), picked), sample_weight=weight)
    assert chosen.learners == copied.learners
    assert np.array_equal(chosen.weights, copied.weights)
    assert np.array_equal(trace.duals, other.duals)
    means = weight @ chosen.respond(X[rows]) / weight.sum()
    assert np.allclose(chosen.means, means, rtol=0, atol=CLOSED_FORM)


def test_staged_ends_with_the_decision(master, family, data):
    X, _ = data
    ensemble, _ = run(master, family, data)
    stages = list(ensemble.staged(X))
    assert len(stages) == len(ensemble)
    scale = CLOSED_FORM * np.abs(ensemble.weights).sum()
    assert np.allclose(stages[-1], ensemble.decision(X), rtol=0, atol=scale)


def test_the_same_fit_twice(master, family, data):
    first, second = run(master, family, data), run(master, family, data, n_threads=2)
    assert first[0].learners == second[0].learners
    assert np.array_equal(first[0].weights, second[0].weights)
    assert np.array_equal(first[1].duals, second[1].duals)


#: For tests of what only some masters have.
curved_only = pytest.mark.parametrize("master", [name for name, case in MASTERS.items() if case.curved], indirect=True)


@curved_only
def test_by_gain_each_column_lowers_the_objective_most(master, finite_family, data):
    """Among all candidates of the pool, each put into the master and solved the naive way."""
    X, target = data
    candidates, responses = candidates_of(finite_family, data)
    ensemble, trace = run(master, finite_family, data, max_columns=5, pricing="gain")
    H, scale = ensemble.respond(X).astype(float), np.full(60, master.spec.C)
    for k in range(5):
        taken = {learner.key for learner in ensemble.learners[:k]}
        free = [j for j, learner in enumerate(candidates) if learner.key not in taken]
        lowest = min(naive_model(np.column_stack([H[:, :k], responses[:, j]]), target, scale).dual for j in free)
        assert trace.primal[k + 1] == pytest.approx(lowest, rel=CLOSED_FORM)


@curved_only
def test_by_gain_a_fit_is_as_sound_as_by_price(master, family, data):
    X, target = data
    ensemble, trace = run(master, family, data, pricing="gain")
    certificate, H, weight = trace.certificate, ensemble.respond(X).astype(float), np.ones(len(X))
    assert certificate.relative_gap <= TOL
    assert master.infeasibility(H, target, weight, trace.duals) <= BALANCE
    scale = CLOSED_FORM * certificate.primal
    assert certificate.primal == pytest.approx(master.primal(H, target, weight, ensemble), abs=scale)
    assert certificate.dual == pytest.approx(master.dual(H, target, weight, trace.duals), abs=scale)
    assert np.all(trace.score[1:] > 0)
    assert len({learner.key for learner in ensemble.learners}) == len(ensemble)
    assert (certificate.full_lower_bound is not None) == family.finite
    if family.finite:
        assert certificate.full_lower_bound <= certificate.primal * (1 + NEGATIVE_GAP)
    again, other = run(master, family, data, pricing="gain", n_threads=2)
    assert again.learners == ensemble.learners
    assert np.array_equal(again.weights, ensemble.weights)
    assert np.array_equal(other.duals, trace.duals)


@curved_only
def test_both_rules_reach_the_optimum_of_the_pool(master, finite_family, data):
    options = {"max_columns": 10_000, "tol": 1e-8, "price_tol": 1e-9}
    (_, by_price), (_, by_gain) = (
        run(master, finite_family, data, pricing=rule, **options) for rule in ("max", "gain")
    )
    for trace in (by_price, by_gain):
        assert trace.certificate.status is Status.OPTIMAL
        assert trace.certificate.full_relative_gap <= 1e-7
    assert by_gain.certificate.primal == pytest.approx(by_price.certificate.primal, rel=2e-7)


@curved_only
@pytest.mark.parametrize("rule", ["max", "gain"])
def test_the_certificate_is_that_of_its_duals(master, finite_family, data, rule):
    """Derived at the end from the duals themselves, and not from updates of updates."""
    target = data[1]
    ensemble, trace = run(master, finite_family, data, pricing=rule, max_columns=15)
    candidates, responses = candidates_of(finite_family, data)
    duals = trace.bound_duals
    square = np.sum((responses.T @ duals) ** 2) + np.sum(duals**2) / master.spec.C
    bound = 0.5 * np.sum(duals * target) ** 2 / square
    assert trace.certificate.full_lower_bound == pytest.approx(bound, rel=CLOSED_FORM)
    taken = {learner.key for learner in ensemble.learners}
    free = [learner.key not in taken for learner in candidates]
    largest = np.abs(responses[:, free].T @ trace.duals).max(initial=0.0)
    assert trace.certificate.max_price == pytest.approx(largest, abs=CLOSED_FORM * np.abs(trace.duals).sum())


def test_every_stage_is_the_model_of_its_round(master, family, data):
    """Rounds of rank one and full ones, the same objective as the trace has."""
    X, target = data
    ensemble, trace = run(master, family, data, max_columns=12)
    H, weight = ensemble.respond(X).astype(float), np.ones(len(X))
    for k, stage in enumerate(ensemble.staged(X), start=1):
        weights, intercept = ensemble.history[k]
        scale = CLOSED_FORM * (np.abs(weights).sum() + np.abs(intercept).max())
        assert np.allclose(stage, H[:, :k] @ weights + intercept, rtol=0, atol=scale)
        model = SimpleNamespace(weights=weights, intercept=intercept)
        scale = CLOSED_FORM * master.scale(trace.primal[k])
        assert trace.primal[k] == pytest.approx(master.primal(H[:, :k], target, weight, model), abs=scale)


def test_by_votes_the_optimum_of_a_pool_is_the_same(rng):
    """Other columns on the way, the same problem. (Of three prices of sum 0 the largest is half of all: no other.)"""
    X = rng.normal(size=(60, 3)).round(1)
    for spec, make_target, tol in ((Hinge(0.3), three_noisy_signs, 1e-7), (MultiBoost(0.01), one_of_three, 1e-6)):
        target = make_target(np.random.default_rng(1), X[:, 0] - X[:, 1])
        options = {"tol": tol, "price_tol": 1e-8, "max_columns": 1000}
        (one, by_price), (other, by_votes) = (
            generate_columns(spec, Stump(), X, target, pricing=rule, **options) for rule in ("max", "votes")
        )
        for trace in (by_price, by_votes):
            assert trace.certificate.status is Status.OPTIMAL
            assert trace.certificate.full_relative_gap <= 10 * tol
        assert by_votes.certificate.primal == pytest.approx(by_price.certificate.primal, rel=20 * tol)
        assert (one.learners != other.learners) == isinstance(spec, Hinge)


@pytest.mark.parametrize("wanted", [False, True])
def test_a_master_may_ask_for_columns_of_positive_price(wanted, data):
    """The loop turns such columns for the master, and the weights back: the model is the same."""
    X, _ = data
    target = np.where(X[:, :1] + X[:, 1:2] < 0, 1.0, -1.0)
    begun = []

    class Recording(Hinge):
        positive_prices = wanted

        def begin(self, target, sample_weight, n_threads):
            live = super().begin(target, sample_weight, n_threads)
            add, begun[:] = live.add, []
            live.add = lambda response: (begun.append(response), add(response))
            return live

    ensemble, _ = generate_columns(Recording(1.0), Stump(), X, target, max_columns=8)
    prices = np.array([np.sign(target[:, 0] @ response) for response in begun[:1]])
    plain, _ = generate_columns(Hinge(1.0), Stump(), X, target, max_columns=8)
    assert ensemble.learners == plain.learners
    assert ensemble.weights.tobytes() == plain.weights.tobytes()
    assert prices.tolist() == ([1.0] if wanted else [-1.0])
