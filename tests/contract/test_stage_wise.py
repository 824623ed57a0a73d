"""Stage-wise masters: AdaBoost and AdaBoost.MH are the published algorithms, and what AdaBoost.ECC shares with them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from cgens.masters import AdaBoost, AdaBoostECC
from cgens.masters.stage_wise import exponential_step
from cgens.types import Duals
from tests.contract.boosting import (
    SCALAR,
    assert_stages,
    boosted,
    boosting_problem,
    classes_of,
    labels_of,
    never,
    one_of,
)
from tests.reference.naive_adaboost import naive_adaboost, naive_adaboost_mh
from tests.tolerances import CLOSED_FORM


@pytest.fixture
def problem(rng):
    return boosting_problem(rng)


def test_adaboost_is_the_published_one(problem, rng):
    X, weight, H = problem
    y = labels_of(X, rng, 1)
    solutions = boosted(AdaBoost().begin(y, weight, 1), H)
    assert_stages(solutions, naive_adaboost(H, y[:, 0], weight))
    assert np.allclose(solutions[0].duals.array[:, 0], y[:, 0] * weight / weight.sum(), rtol=CLOSED_FORM)
    assert (solutions[0].primal, solutions[0].weights.shape) == (1.0, (0, 1))


@pytest.mark.parametrize("n_outputs", [1, 2, 3, 5])
def test_adaboost_mh_is_the_published_one_for_any_labels(n_outputs, problem, rng):
    """Several labels a row, or none."""
    X, weight, H = problem
    Y = labels_of(X, rng, n_outputs)
    solutions = boosted(AdaBoost().begin(Y, weight, 1), H)
    assert_stages(solutions, naive_adaboost_mh(H, Y, weight))
    assert solutions[0].duals.size == pytest.approx(1.0, rel=CLOSED_FORM)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_adaboost_mh_is_the_published_one_for_classes(n_classes, problem, rng):
    X, weight, H = problem
    Y = one_of(classes_of(X, rng, n_classes), n_classes)
    assert_stages(boosted(AdaBoost().begin(Y, weight, 1), H), naive_adaboost_mh(H, Y, weight))


def test_adaboost_mh_of_two_classes_is_adaboost(problem, rng):
    """Twice: what speaks for the one class speaks against the other."""
    X, weight, H = problem
    y = labels_of(X, rng, 1)
    one = boosted(AdaBoost().begin(y, weight, 1), H)[-1]
    two = boosted(AdaBoost().begin(np.hstack([y, -y]), weight, 1), H)[-1]
    assert np.allclose(two.weights, np.hstack([one.weights, -one.weights]), rtol=0, atol=CLOSED_FORM)
    assert np.allclose(two.duals.array, np.hstack([one.duals.array, -one.duals.array]) / 2, rtol=0, atol=CLOSED_FORM)
    assert two.primal == pytest.approx(one.primal, rel=CLOSED_FORM)


SPECS = {"AdaBoost": (AdaBoost(), 1), "AdaBoost.MH": (AdaBoost(), 3), "AdaBoost.ECC": (AdaBoostECC(2), 4)}


def target_of(name, X, rng):
    n_outputs = SPECS[name][1]
    return one_of(classes_of(X, rng, n_outputs), n_outputs) if "ECC" in name else labels_of(X, rng, n_outputs)


@pytest.fixture(params=SPECS)
def live(request, problem, rng):
    """Return each of the three masters, begun."""
    X, weight, _ = problem
    return SPECS[request.param][0].begin(target_of(request.param, X, rng), weight, 1)


def test_solved_again_no_weight_moves(live, problem):
    """The loop solves again before it believes in an optimum. Only ECC then has another question for the families."""
    for column in problem[2].T[:4]:
        live.add(column)
        first = live.solve(1e-3, never, quick=True)
        second = live.solve(1e-9, never)
        assert second.step is None
        assert (first.primal, first.dual) == (second.primal, second.dual)
        for one, other in ((first, second), (second, live.solve(1e-9, never))):
            assert np.array_equal(one.weights, other.weights)
            assert np.array_equal(one.intercept, other.intercept)
            assert one.retry or np.array_equal(one.duals.array, other.duals.array)


def test_rounds_before_stay_as_they_are(live, problem):
    """That is what stage-wise means; each round is a step of rank one that leaves them."""
    solutions = boosted(live, problem[2])
    for last, solution in pairwise(solutions):
        assert np.array_equal(solution.weights[:-1], last.weights)
        assert np.array_equal(solution.step.apply(last.weights), solution.weights)
        assert solution.primal <= last.primal * (1 + CLOSED_FORM)


def test_two_columns_at_once_are_refused(live, problem):
    live.add(problem[2][:, 0])
    with pytest.raises(ValueError, match=r"one column at a time, .* solve before the next is added"):
        live.add(problem[2][:, 1])


def test_there_is_no_bound_for_a_pool(live):
    solution = live.solve(1e-3, never)
    assert live.pool_bound(solution.duals, 1.0, 1.0) == -np.inf
    assert live.pool_bound(Duals(solution.duals.array), 0.0, 0.0) == -np.inf


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", SPECS)
def test_the_type_of_a_column_does_not_matter(name, dtype, problem, rng):
    X, weight, H = problem
    spec = SPECS[name][0]
    target = target_of(name, X, rng)
    narrow = boosted(spec.begin(target, weight, 1), H)[-1]
    wide = boosted(spec.begin(target, weight, 1), H.astype(dtype))[-1]
    assert np.array_equal(narrow.weights, wide.weights)
    assert np.array_equal(narrow.duals.array, wide.duals.array)
    assert narrow.primal == wide.primal


def test_a_column_may_come_again(problem, rng):
    """As a new round with a weight of its own; right after itself it has no edge left."""
    X, weight, H = problem
    y = labels_of(X, rng, 1)
    again = H[:, [0, 0, 1, 2, 0, 1]]
    solutions = boosted(AdaBoost().begin(y, weight, 1), again)
    assert_stages(solutions, naive_adaboost(again, y[:, 0], weight))
    assert solutions[-1].weights.shape == (6, 1)
    assert abs(solutions[2].weights[1, 0]) <= CLOSED_FORM
    assert abs(solutions[5].weights[4, 0]) > 1e-3


def test_a_column_may_come_again_with_other_votes(problem, rng):
    """Of several outputs the sum of edges along its votes is 0 afterwards, not every single one."""
    X, weight, H = problem
    Y = labels_of(X, rng, 2)
    again = H[:, [0, 0, 1, 2, 0, 1]]
    solutions = boosted(AdaBoost().begin(Y, weight, 1), again)
    assert_stages(solutions, naive_adaboost_mh(again, Y, weight))
    edges = again[:, 0] @ solutions[1].duals.array
    assert edges @ np.sign(solutions[1].weights[0]) == pytest.approx(0.0, abs=CLOSED_FORM)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_real_values_have_the_best_coefficient(n_outputs, problem, rng):
    """One for all outputs: the minimum of the exponential loss along the votes."""
    X, weight, _ = problem
    Y, real = labels_of(X, rng, n_outputs), rng.normal(size=(80, 6))
    decision = np.zeros(Y.shape)
    for solution, column in zip(boosted(AdaBoost().begin(Y, weight, 1), real)[1:], real.T, strict=True):
        newest = solution.weights[-1]
        votes = np.sign(newest)
        assert np.ptp(np.abs(newest)) <= CLOSED_FORM, "one size"

        def loss(a, votes=votes, column=column, before=decision):
            return float(np.mean(weight[:, None] * np.exp(-Y * (before + a * np.outer(column, votes)))) / weight.mean())

        best = minimize_scalar(loss, bounds=(0.0, 10.0), method="bounded", options={"xatol": 1e-10})
        assert abs(newest[0]) == pytest.approx(best.x, abs=SCALAR)
        assert solution.primal <= best.fun * (1 + CLOSED_FORM)
        assert solution.primal == pytest.approx(loss(abs(newest[0])), rel=CLOSED_FORM)
        decision = decision + np.outer(column, newest)
        losses = weight[:, None] * np.exp(-Y * decision)
        assert np.allclose(solution.duals.array, Y * losses / losses.sum(), rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize("seed", range(8))
def test_exponential_step_is_the_minimum(seed):
    rng = np.random.default_rng(seed)
    share = rng.random(30)
    margins = rng.normal(loc=0.3, scale=10.0 ** rng.uniform(-1, 1), size=30)
    assert share @ margins > 0
    assert (margins < 0).any()
    best = minimize_scalar(
        lambda a: float(np.sum(share * np.exp(-a * margins))),
        bounds=(0.0, 100.0),
        method="bounded",
        options={"xatol": 1e-12},
    )
    assert exponential_step(share, margins) == pytest.approx(best.x, rel=SCALAR, abs=SCALAR)


def test_exponential_step_of_signs_is_half_the_log_of_the_odds():
    share = np.array([0.5, 0.3, 0.2])
    assert exponential_step(share, np.array([1.0, 1.0, -1.0])) == pytest.approx(0.5 * np.log(4.0), rel=CLOSED_FORM)
    assert exponential_step(share, np.array([1.0, 1.0, 1.0])) == np.inf


def test_a_learner_without_an_edge_gets_nothing():
    y = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    for column in (np.array([1, -1, 1, -1], dtype=np.int8), np.array([2.0, -2.0, 0.5, -0.5])):
        live = AdaBoost().begin(y, np.ones(4), 1)
        live.add(column)
        solution = live.solve(1e-3, never)
        assert solution.weights.tolist() == [[0.0]]
        assert solution.primal == 1.0


@pytest.mark.parametrize("seed", range(8))
def test_real_values_whose_edge_is_rounding_get_nothing(seed):
    """Their sum is 0, in whatever order but that of the machine: each value comes with its opposite."""
    rng = np.random.default_rng(seed)
    half = rng.normal(size=20)
    live = AdaBoost().begin(np.ones((40, 3)), np.ones(40), 1)
    live.add(rng.permutation(np.concatenate([half, -half])))
    solution = live.solve(1e-3, never)
    assert np.abs(solution.weights).max() <= CLOSED_FORM
    assert solution.primal == pytest.approx(1.0, rel=CLOSED_FORM)


@pytest.mark.parametrize("dtype", [np.int8, np.float64])
@pytest.mark.parametrize("n_before", [0, 3])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_a_perfect_learner_decides_alone(n_outputs, n_before, dtype, problem, rng):
    """Its coefficient would have no end: one that outvotes all others does. Nothing is left to price."""
    _, weight, H = problem
    y = np.where(rng.random(80) < 0.5, 1.0, -1.0)
    Y = np.column_stack([y, -y])[:, :n_outputs]
    solution = boosted(AdaBoost().begin(Y, weight, 1), np.column_stack([H[:, :n_before], y]).astype(dtype))[-1]
    decision = np.column_stack([H[:, :n_before], y]) @ solution.weights
    assert np.array_equal(np.sign(decision), Y)
    assert np.all(np.isfinite(solution.weights))
    assert (solution.primal, solution.dual, solution.relative_gap) == (0.0, 0.0, 0.0)
    assert not solution.duals.array.any()
    assert solution.duals.array.shape == Y.shape


def test_a_perfect_learner_of_small_values_decides_alone(problem, rng):
    """Real values: 0.01 of the right sign everywhere must outvote +-1 as well."""
    _, weight, H = problem
    y = np.where(rng.random(80) < 0.7, H[:, 0], -H[:, 0]).astype(float)
    columns = np.column_stack([H[:, 0].astype(float), 0.01 * y])
    solution = boosted(AdaBoost().begin(y[:, None], weight, 1), columns)[-1]
    assert np.array_equal(np.sign(columns @ solution.weights)[:, 0], y)


def test_a_learner_that_abstains_is_not_perfect():
    """h = 0 is no mistake, but the row has learned nothing: it keeps its loss, and a share larger than the others."""
    y = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    live = AdaBoost().begin(y, np.ones(4), 1)
    live.add(np.array([1.0, 0.0, -1.0, 0.0]))
    solution = live.solve(1e-3, never)
    assert 0.5 <= solution.primal < 1.0, "two of four rows have the decision 0, and each the loss 1"
    shares = np.abs(solution.duals.array[:, 0])
    assert shares[[1, 3]].min() > shares[[0, 2]].max()


def test_many_rounds_stay_a_distribution(rng):
    """Shares are renormalised, not worked out anew: rounding does not pile up."""
    m = 60
    Y, weight = labels_of(rng.normal(size=(m, 4)), rng, 2), rng.random(m) + 0.1
    H = np.where(rng.random((m, 400)) < 0.5, 1, -1).astype(np.int8)
    solution = boosted(AdaBoost().begin(Y, weight, 1), H)[-1]
    losses = weight[:, None] * np.exp(-Y * (H @ solution.weights))
    assert solution.duals.size == pytest.approx(1.0, rel=CLOSED_FORM)
    assert np.allclose(solution.duals.array, Y * losses / losses.sum(), rtol=0, atol=CLOSED_FORM)
    assert solution.primal == pytest.approx(losses.mean() / weight.mean(), rel=CLOSED_FORM)


def test_a_solution_is_a_snapshot(live, problem):
    live.add(problem[2][:, 0])
    solution = live.solve(1e-3, never)
    weights, intercept, duals = solution.weights.copy(), solution.intercept.copy(), solution.duals.array.copy()
    live.add(problem[2][:, 1])
    live.solve(1e-3, never)
    assert np.array_equal(solution.weights, weights)
    assert np.array_equal(solution.intercept, intercept)
    assert np.array_equal(solution.duals.array, duals)


def test_bad_targets_are_refused():
    rows = np.ones(2)
    with pytest.raises(ValueError, match=r"labels -1 and 1; the target has the value 0\.5"):
        AdaBoost().begin(np.array([[1.0], [0.5]]), rows, 1)
    for target in ([[1.0], [-1.0]], [[1.0, 1.0], [1.0, -1.0]], [[-1.0, -1.0], [1.0, -1.0]], [[0.0, 1.0], [1.0, 0.0]]):
        with pytest.raises(ValueError, match="1 for the row's class and -1 for all others"):
            AdaBoostECC().begin(np.array(target), rows, 1)
