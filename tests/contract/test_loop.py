"""What the loop promises, with every master, every family and every rule."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from cgens import generate_columns
from cgens.masters import Hinge
from cgens.types import Sample, Status, relative_gap
from cgens.weak_learners import Stump
from tests.contract.pricing import begin, candidates_of
from tests.contract.tables import FAMILIES, MASTERS
from tests.reference.naive_least_squares import naive_model
from tests.tolerances import BALANCE, CLOSED_FORM, NEGATIVE_GAP, STATIONARITY

TOL = 1e-5

#: Masters and families meet only in the loop: these masters see every family, and these families every master.
EVERY_FAMILY = ("hinge", "least squares, three outputs", "LPBoost", "MultiBoost")
EVERY_MASTER = ("stump", "fourier", "tree")
#: Duals that are all positive and equal have no better tree than a constant.
WITHOUT_TREES = ("one class",)
BY_VOTES = ("hinge, three outputs", "MultiBoost")


def rules_of(master):
    if MASTERS[master].curved:
        return ("max", "gain")
    return ("max", "votes") if master in BY_VOTES else ("max",)


def pytest_generate_tests(metafunc):
    """Give a test its masters, families and rules, in those combinations that are tested."""
    names = metafunc.fixturenames
    masters = [name for name, case in MASTERS.items() if case.in_loop and (case.curved or "curved" not in names)]
    families = [name for name, case in FAMILIES.items() if case.in_loop and (case.finite or "finite" not in names)]
    master, family = "curved" if "curved" in names else "master", "finite" if "finite" in names else "family"
    pairs = [(m, f) for m in masters for f in families if m in EVERY_FAMILY or f in EVERY_MASTER]
    pairs = [(m, f) for m, f in pairs if m not in WITHOUT_TREES or f != "tree"]
    if "rule" in names:
        triples = [(m, f, rule) for m, f in pairs for rule in rules_of(m) if rule != "votes" or FAMILIES[f].votes]
        metafunc.parametrize(f"{master},{family},rule", triples, indirect=[master, family])
    elif family in names:
        metafunc.parametrize(f"{master},{family}", pairs, indirect=True)


@pytest.fixture
def master(request):
    return MASTERS[request.param]


@pytest.fixture
def family(request):
    return FAMILIES[request.param]


curved, finite = master, family  # these names ask `pytest_generate_tests` for such masters and families only


@cache
def data_for(master):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 3)).round(1)
    return X, master.make_target(rng, X[:, 0] - X[:, 1])


def run(master, family, data=None, **options):
    options = {"tol": TOL, "max_columns": 25, "rng": np.random.default_rng(5), **options}
    return generate_columns(master.spec, family.spec, *(data or data_for(master)), **options)


@cache
def fitted(master, family, rule):
    return run(master, family, pricing=rule)


def pool_of(family, X):
    """Return all learners of the pool that `run` draws, and their responses, shape (60, n)."""
    sample = Sample(X, np.arange(60), np.ones(60))
    return candidates_of(family, begin(family, sample, seed=5), sample)


def test_a_fit_is_sound(master, family, rule):
    """It is solved to the tolerance, and by two threads to the same bits."""
    X, target = data_for(master)
    ensemble, trace = fitted(master, family, rule)
    certificate, H, weight = trace.certificate, ensemble.respond(X).astype(float), np.ones(len(X))
    assert certificate.relative_gap <= TOL
    assert certificate.status in (Status.MAX_COLUMNS, Status.OPTIMAL)
    assert master.infeasibility(H, target, weight, trace.duals) <= BALANCE
    if master.exact_weights:
        largest = np.abs(H).T @ np.abs(trace.duals)
        assert np.all(np.abs(ensemble.weights - H.T @ trace.duals) <= STATIONARITY * largest)
    scale = CLOSED_FORM * master.scale(certificate.primal)
    assert certificate.primal == pytest.approx(master.primal(H, target, weight, ensemble), abs=scale)
    assert certificate.dual == pytest.approx(master.dual(H, target, weight, trace.duals), abs=scale)
    again, other = run(master, family, pricing=rule, n_threads=2)
    assert again.learners == ensemble.learners
    assert np.array_equal(again.weights, ensemble.weights)
    assert np.array_equal(other.duals, trace.duals)


def test_the_trace_has_one_entry_per_round(master, family, rule):
    ensemble, trace = fitted(master, family, rule)
    assert len(ensemble) == len({learner.key for learner in ensemble.learners}) == len(trace) - 1 > 0
    others = ("certificate", "duals", "bound_duals", "bound_weights", "bound_intercept")
    arrays = [getattr(trace, field.name) for field in fields(trace) if field.name not in others]
    assert {array.shape for array in arrays} == {(len(trace),)}
    assert np.isnan(trace.price[0])
    assert np.all(trace.price[1:] > 0)
    assert np.all(trace.price_seconds >= 0)
    assert np.all(trace.solve_seconds >= 0)
    assert (trace.primal[-1], trace.dual[-1]) == (trace.certificate.primal, trace.certificate.dual)
    assert not np.any(trace.relative_gap < -NEGATIVE_GAP)  # it may be nan between rounds
    gaps = [relative_gap(*both) for both in zip(trace.primal, trace.dual, strict=True)]
    assert np.array_equal(trace.relative_gap, gaps, equal_nan=True)


def test_every_stage_is_the_model_of_its_round(master, family, rule):
    """Whether a round changed the weights by rank one or solved for all of them."""
    X, target = data_for(master)
    ensemble, trace = fitted(master, family, rule)
    H, stages = ensemble.respond(X).astype(float), list(ensemble.staged(X))
    assert len(ensemble.history) - 1 == len(stages) == len(ensemble)
    for k, stage in enumerate(stages, start=1):
        weights, intercept = ensemble.history[k]
        scale = CLOSED_FORM * (np.abs(weights).sum() + np.abs(intercept).max())
        assert np.allclose(stage, H[:, :k] @ weights + intercept, rtol=0, atol=scale)
        model = SimpleNamespace(weights=weights, intercept=intercept)
        primal = master.primal(H[:, :k], target, np.ones(len(X)), model)
        assert trace.primal[k] == pytest.approx(primal, abs=CLOSED_FORM * master.scale(primal))
    assert np.allclose(stages[-1], ensemble.decision(X), rtol=0, atol=CLOSED_FORM * np.abs(ensemble.weights).sum())


def test_the_pool_is_certified_if_it_is_finite(master, family, rule):
    trace = fitted(master, family, rule)[1]
    certificate = trace.certificate
    assert certificate.scope == ("pool" if family.finite else "restricted")
    of_the_pool = (certificate.full_lower_bound, certificate.full_relative_gap, certificate.n_candidates)
    assert [value is not None for value in (*of_the_pool, trace.bound_duals)] == [family.finite] * 4
    if family.finite:
        best = trace.full_lower_bound.max()
        assert certificate.full_lower_bound == (pytest.approx(best, rel=CLOSED_FORM) if master.curved else best)
        assert certificate.full_lower_bound <= certificate.primal + NEGATIVE_GAP * master.scale(certificate.primal)
        assert certificate.full_relative_gap == relative_gap(certificate.primal, certificate.full_lower_bound)
    else:
        assert np.all(trace.full_lower_bound == -np.inf)


def test_a_finite_pool_is_solved_to_the_end(master, finite, rule):
    """The optimum over the pool: no price is above the cost, and the lower bound of the pool meets the primal."""
    tol = max(1e-8, master.tightest)
    ensemble, trace = run(master, finite, pricing=rule, max_columns=10_000, tol=tol, price_tol=1e-9)
    certificate = trace.certificate
    assert certificate.status is Status.OPTIMAL
    assert len(ensemble) <= certificate.n_candidates
    cost = master.cost(ensemble.respond(data_for(master)[0]).astype(float), trace.duals)
    norm = master.l1_norm(np.ones(len(trace.duals)), trace.duals)
    assert certificate.max_price <= cost + 1e-9 * norm + BALANCE * cost
    assert certificate.full_relative_gap <= 10 * tol


def test_the_first_column_is_the_best_for_the_empty_master(master, family):
    X, target = data_for(master)
    empty = master.spec.begin(target, np.ones(len(X)), 1).solve(TOL, lambda: False)
    ensemble, trace = run(master, family, max_columns=1)
    prices = ensemble.learners[0].respond(X) @ empty.duals.array
    best = np.argmax(np.abs(prices))
    assert abs(prices[best]) == pytest.approx(trace.price[1], rel=CLOSED_FORM)
    # Its optimal weight may be 0, which a solver reaches from either side.
    assert np.sign(prices[best]) * ensemble.weights[0, best] >= -TOL * abs(prices[best])


def test_a_callback_gets_every_round_and_can_stop(master, family):
    rounds, (_, target) = [], data_for(master)
    ensemble, trace = run(
        master, family, callback=lambda state: rounds.append(state) or state.n_columns == 3, max_columns=7
    )
    assert [state.n_columns for state in rounds] == [1, 2, 3]
    assert len(ensemble) == 3
    assert {state.max_columns for state in rounds} == {7}
    assert [state.price for state in rounds] == trace.price[1:].tolist()
    assert not any(state.relative_gap < -NEGATIVE_GAP for state in rounds)
    assert [state.learner for state in rounds] == list(ensemble.learners)
    assert [state.weights.shape for state in rounds] == [(k, target.shape[1]) for k in (1, 2, 3)]
    assert {state.intercept.shape for state in rounds} == {target.shape[1:]}
    seconds = [state.seconds for state in rounds]
    assert seconds == sorted(seconds)
    assert trace.certificate.status is Status.STOPPED
    assert trace.certificate.relative_gap <= TOL, "also solved to the tolerance"


def test_max_columns(master, family):
    for most in (1, min(4, master.n_columns - 1)):
        ensemble, trace = run(master, family, max_columns=most)
        assert len(ensemble) == most
        assert trace.certificate.status is Status.MAX_COLUMNS


def test_epsilon_is_an_absolute_threshold(master, family):
    first = fitted(master, family, "max")[1].price[1]
    _, empty = run(master, family, max_columns=0)
    # Over 60 rows, no response of variance 1 is larger than sqrt(60).
    most = 1.01 * first if family.finite else 8 * np.abs(empty.duals).sum()
    none, trace = run(master, family, epsilon=most)
    assert len(none) == 0
    assert trace.certificate.status is Status.OPTIMAL
    some, trace = run(master, family, epsilon=first / 2)
    assert np.all(trace.price[1:] > first / 2)
    assert 1 <= len(some) <= 25


def test_a_fit_can_be_continued(master, family):
    more, few = master.n_columns, 3 * master.n_columns // 5
    half, _ = run(master, family, max_columns=few)
    whole, trace = run(master, family, max_columns=more, initial=half)
    assert whole.learners[:few] == half.learners
    assert len(whole) == len({learner.key for learner in whole.learners}) == more
    assert len(trace) == more - few + 1, "entry 0 holds the earlier columns"
    assert len(whole.history) - 1 == len(list(whole.staged(data_for(master)[0]))) == more
    assert trace.certificate.relative_gap <= TOL
    again, trace = run(master, family, max_columns=few, initial=half)
    assert again.learners == half.learners
    assert trace.certificate.status is Status.MAX_COLUMNS


def test_rows_and_weights(master, family):
    """Rows given by an index, with weights, are the same as a table of those rows."""
    X, target = data_for(master)
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


def test_by_gain_each_column_lowers_the_objective_most(curved, finite):
    """Among all candidates of the pool, each added to the master and solved by the reference."""
    X, target = data_for(curved)
    candidates, responses = pool_of(finite, X)
    ensemble, trace = run(curved, finite, max_columns=5, pricing="gain")
    H, scale = ensemble.respond(X).astype(float), np.full(60, curved.spec.C)
    for k in range(5):
        taken = {learner.key for learner in ensemble.learners[:k]}
        free = [j for j, learner in enumerate(candidates) if learner.key not in taken]
        lowest = min(naive_model(np.column_stack([H[:, :k], responses[:, j]]), target, scale).dual for j in free)
        assert trace.primal[k + 1] == pytest.approx(lowest, rel=CLOSED_FORM)


def test_the_certificate_is_that_of_its_duals(curved, finite, rule):
    """Derived at the end from the duals themselves, not from updates of updates."""
    X, target = data_for(curved)
    ensemble, trace = fitted(curved, finite, rule)
    candidates, responses = pool_of(finite, X)
    duals = trace.bound_duals
    square = np.sum((responses.T @ duals) ** 2) + np.sum(duals**2) / curved.spec.C
    bound = 0.5 * np.sum(duals * target) ** 2 / square
    assert trace.certificate.full_lower_bound == pytest.approx(bound, rel=CLOSED_FORM)
    taken = {learner.key for learner in ensemble.learners}
    free = [learner.key not in taken for learner in candidates]
    largest = np.abs(responses[:, free].T @ trace.duals).max(initial=0.0)
    assert trace.certificate.max_price == pytest.approx(largest, abs=CLOSED_FORM * np.abs(trace.duals).sum())


@pytest.mark.parametrize("wanted", [False, True])
def test_a_master_may_ask_for_columns_of_positive_price(wanted):
    """The loop flips such columns for the master, and their weights back: the model is the same."""
    X, _ = data_for(MASTERS["hinge"])
    target = np.where(X[:, :1] + X[:, 1:2] < 0, 1.0, -1.0)
    added = []

    class Recording(Hinge):
        positive_prices = wanted

        def begin(self, target, sample_weight, n_threads):
            restricted = super().begin(target, sample_weight, n_threads)
            add = restricted.add
            restricted.add = lambda response: (added.append(response), add(response))
            return restricted

    ensemble, _ = generate_columns(Recording(1.0), Stump(), X, target, max_columns=8)
    plain, _ = generate_columns(Hinge(1.0), Stump(), X, target, max_columns=8)
    assert ensemble.learners == plain.learners
    assert ensemble.weights.tobytes() == plain.weights.tobytes()
    assert np.sign(target[:, 0] @ added[0]) == (1.0 if wanted else -1.0)
