"""Stage-wise masters: AdaBoost, AdaBoost.MH and AdaBoost.ECC are the published algorithms, round by round."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from cgens.masters import AdaBoost, AdaBoostECC
from cgens.masters.stage_wise import exponential_step
from cgens.types import Duals, Status
from tests.contract.tables import never
from tests.reference.naive_adaboost import ecc_loss, naive_adaboost, naive_adaboost_ecc, naive_adaboost_mh
from tests.tolerances import CLOSED_FORM

N_ROUNDS = 12
#: `minimize_scalar` finds a minimum up to the square root of the machine's precision only.
SCALAR = 1e-6


@pytest.fixture
def problem(rng):
    """Return inputs, row weights, and responses of +-1 that depend on the inputs."""
    X = rng.normal(size=(80, 4))
    H = np.where(X[:, rng.integers(0, 4, N_ROUNDS)] > rng.normal(scale=0.5, size=N_ROUNDS), 1, -1).astype(np.int8)
    return X, rng.integers(1, 5, 80) / 2.0, H


def labels_of(X, rng, n_outputs):
    """Return labels of +-1, shape (m, l), in any combination: several of a row may be 1, or none."""
    noise = rng.normal(size=(len(X), n_outputs))
    return np.where(X @ rng.normal(size=(X.shape[1], n_outputs)) + noise > 0, 1.0, -1.0)


def classes_of(X, rng, n_classes):
    """Return the class of each row; every class occurs."""
    noisy = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=len(X))
    return np.searchsorted(np.quantile(noisy, np.arange(1, n_classes) / n_classes), noisy)


def signs_of(own, n_classes):
    """Return 1 for the row's class and -1 for the others, shape (m, k)."""
    return 2.0 * np.eye(n_classes)[own] - 1.0


def boosted(restricted, H):
    """Return the solution before the first column, and after each."""
    solutions = [restricted.solve(1e-3, never)]
    for column in H.T:
        restricted.add(column)
        solutions.append(restricted.solve(1e-3, never))
    return solutions


def assert_stages(solutions, stages):
    """The first solution is that of the empty master."""
    assert len(solutions) == len(stages) + 1
    weights = np.zeros((0, len(stages[0].weights)))
    assert (solutions[0].primal, solutions[0].weights.shape) == (1.0, weights.shape)
    for solution, stage in zip(solutions[1:], stages, strict=True):
        weights = np.vstack([weights, stage.weights])
        scale = CLOSED_FORM * np.abs(weights).max()
        assert np.allclose(solution.weights, weights, rtol=0, atol=scale)
        assert np.allclose(solution.intercept, stage.intercept, rtol=0, atol=scale)
        assert np.allclose(solution.duals.array, stage.duals, rtol=0, atol=CLOSED_FORM)
        assert solution.primal == pytest.approx(stage.loss, rel=CLOSED_FORM)
        assert (solution.dual, solution.column_cost, solution.status) == (0.0, 0.0, Status.OPTIMAL)


def best_step(loss, most):
    """Return where a function of one number has its minimum in [0, most]."""
    return minimize_scalar(loss, bounds=(0.0, most), method="bounded", options={"xatol": 1e-12}).x


#: Columns of the problem; some are added again, as new rounds with weights of their own.
ORDERS = {"each once": slice(None), "some again": [0, 0, 1, 2, 0, 1]}


@pytest.mark.parametrize("order", ORDERS)
def test_adaboost_is_the_published_one(order, problem, rng):
    X, weight, H = problem
    y, H = labels_of(X, rng, 1), H[:, ORDERS[order]]
    solutions = boosted(AdaBoost().begin(y, weight, 1), H)
    assert_stages(solutions, naive_adaboost(H, y[:, 0], weight))
    assert np.allclose(solutions[0].duals.array[:, 0], y[:, 0] * weight / weight.sum(), rtol=CLOSED_FORM)
    if order == "some again":
        assert abs(solutions[2].weights[1, 0]) <= CLOSED_FORM, "right after itself it has no edge"
        assert abs(solutions[5].weights[4, 0]) > 1e-3


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("make", "n_outputs"), [*((labels_of, n) for n in (1, 2, 3, 5)), *((classes_of, n) for n in (2, 3, 4))]
)
def test_adaboost_mh_is_the_published_one(make, n_outputs, order, problem, rng):
    """For classes, and for labels, of which a row may have several or none."""
    X, weight, H = problem
    Y, H = make(X, rng, n_outputs), H[:, ORDERS[order]]
    Y = Y if make is labels_of else signs_of(Y, n_outputs)
    solutions = boosted(AdaBoost().begin(Y, weight, 1), H)
    assert_stages(solutions, naive_adaboost_mh(H, Y, weight))
    assert solutions[0].duals.l1_norm == pytest.approx(1.0, rel=CLOSED_FORM)
    edges = H[:, 0] @ solutions[1].duals.array @ np.sign(solutions[1].weights[0])
    assert edges == pytest.approx(0.0, abs=CLOSED_FORM), "not of each output, but summed along the votes"


def colouring_of(solution, own, n_classes):
    """Return the colours of the classes in the next round: the signs of its duals, equal within a class."""
    signs = np.sign(solution.duals.array[:, 0])
    colours = np.array([signs[own == k][0] for k in range(n_classes)])
    assert np.array_equal(colours[own], signs)
    return colours


@pytest.mark.parametrize("n_classes", [2, 3, 4, 7])
def test_adaboost_ecc_is_the_published_one(n_classes, problem, rng):
    """Given its colourings, each of which halves the classes."""
    X, weight, H = problem
    own = classes_of(X, rng, n_classes)
    solutions = boosted(AdaBoostECC(3).begin(signs_of(own, n_classes), weight, 1), H)
    colourings = [colouring_of(solution, own, n_classes) for solution in solutions]
    assert_stages(solutions, naive_adaboost_ecc(H, own, weight, colourings))
    decision = H @ solutions[-1].weights + solutions[-1].intercept
    assert solutions[-1].primal == pytest.approx(ecc_loss(decision, own, weight), rel=CLOSED_FORM), "of the model"
    assert {np.sum(colours == 1) for colours in colourings} == {n_classes // 2}
    distinct = {tuple(colours.tolist()) for colours in colourings}
    assert (len(distinct) > 1) == (n_classes > 2), "drawn in each round; two classes have only one"


SPECS = {"AdaBoost": (AdaBoost(), 1), "AdaBoost.MH": (AdaBoost(), 3), "AdaBoost.ECC": (AdaBoostECC(2), 4)}


@pytest.fixture(params=SPECS)
def begin(request, problem, rng):
    """Return a function that begins one of the three masters on the problem."""
    X, weight, _ = problem
    spec, n = SPECS[request.param]
    target = signs_of(classes_of(X, rng, n), n) if "ECC" in request.param else labels_of(X, rng, n)
    return lambda: spec.begin(target, weight, 1)


def test_solved_again_no_weight_moves(begin, problem):
    """The loop solves again before it accepts an optimum. Only ECC then returns other duals."""
    restricted = begin()
    for column in problem[2].T[:4]:
        restricted.add(column)
        first = restricted.solve(1e-3, never, quick=True)
        second = restricted.solve(1e-9, never)
        assert second.step is None
        assert (first.primal, first.dual) == (second.primal, second.dual)
        for one, other in ((first, second), (second, restricted.solve(1e-9, never))):
            assert np.array_equal(one.weights, other.weights)
            assert np.array_equal(one.intercept, other.intercept)
            assert one.retry or np.array_equal(one.duals.array, other.duals.array)


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
def test_earlier_rounds_stay_as_they_are(begin, dtype, problem):
    """Each round is a step of rank one; the type of its column does not matter, and there is no bound for a pool."""
    restricted, copies = begin(), []
    solutions = boosted(restricted, problem[2].astype(dtype))
    for last, solution in pairwise(solutions):
        assert np.array_equal(solution.weights[:-1], last.weights)
        assert np.array_equal(solution.step.apply(last.weights), solution.weights)
        assert solution.primal <= last.primal * (1 + CLOSED_FORM)
        assert restricted.pool_bound(Duals(solution.duals.array), 1.0, 1.0) == -np.inf
    again = begin()
    for solution, column in zip(solutions, [*problem[2].T, None], strict=True):
        same = again.solve(1e-3, never)
        copies.append((same, same.weights.copy(), same.intercept.copy(), same.duals.array.copy()))
        assert np.array_equal(same.weights, solution.weights)
        assert np.array_equal(same.duals.array, solution.duals.array)
        assert same.primal == solution.primal
        if column is not None:
            again.add(column)
    for solution, *parts in copies:  # what was returned does not change when the master continues
        found = solution.weights, solution.intercept, solution.duals.array
        assert all(np.array_equal(*pair) for pair in zip(found, parts, strict=True))


def test_two_columns_at_once_are_refused(begin, problem):
    restricted = begin()
    restricted.add(problem[2][:, 0])
    with pytest.raises(ValueError, match=r"one column.*solve"):
        restricted.add(problem[2][:, 1])


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_real_values_have_the_best_coefficient(n_outputs, problem, rng):
    """One for all outputs: the minimum of the exponential loss along the votes."""
    X, weight, _ = problem
    Y, real = labels_of(X, rng, n_outputs), rng.normal(size=(80, 6))
    decision = np.zeros(Y.shape)
    for solution, column in zip(boosted(AdaBoost().begin(Y, weight, 1), real)[1:], real.T, strict=True):
        newest = solution.weights[-1]
        assert np.ptp(np.abs(newest)) <= CLOSED_FORM, "one size"
        votes = np.outer(column, np.sign(newest))

        def loss(a, votes=votes, before=decision):
            return float(np.mean(weight[:, None] * np.exp(-Y * (before + a * votes))) / weight.mean())

        assert abs(newest[0]) == pytest.approx(best_step(loss, 10.0), abs=SCALAR)
        assert solution.primal == pytest.approx(loss(abs(newest[0])), rel=CLOSED_FORM)
        decision = decision + np.outer(column, newest)
        losses = weight[:, None] * np.exp(-Y * decision)
        assert np.allclose(solution.duals.array, Y * losses / losses.sum(), rtol=0, atol=CLOSED_FORM)


def test_real_values_in_ecc_have_one_coefficient(problem, rng):
    """The minimum of the round's exponential loss along its colouring, whatever the column's sign; no intercept."""
    X, weight, _ = problem
    own, columns = classes_of(X, rng, 4), np.zeros((80, 0))
    restricted, mirrored = (AdaBoostECC(2).begin(signs_of(own, 4), weight, 1) for _ in range(2))
    for _ in range(6):
        last, column = restricted.solve(1e-3, never), rng.normal(size=80)
        colours = colouring_of(last, own, 4)
        column = column if column @ last.duals.array[:, 0] > 0 else -column  # as the loop does
        restricted.add(column)
        mirrored.solve(1e-3, never)
        mirrored.add(-column)
        solution, before = restricted.solve(1e-3, never), columns @ last.weights
        assert np.allclose(mirrored.solve(1e-3, never).weights, -solution.weights, rtol=0, atol=CLOSED_FORM)
        columns, votes = np.column_stack([columns, column]), np.outer(column, colours)

        def loss(a, votes=votes, before=before):
            return ecc_loss(before + a * votes, own, weight)

        assert not solution.intercept.any()
        slope = solution.weights[-1] * colours
        assert np.ptp(slope) <= CLOSED_FORM
        assert slope[0] == pytest.approx(best_step(loss, 10.0), abs=SCALAR)
        assert solution.primal == pytest.approx(loss(slope[0]), rel=CLOSED_FORM)


@pytest.mark.parametrize("seed", range(8))
def test_exponential_step_is_the_minimum(seed):
    rng = np.random.default_rng(seed)
    share = rng.random(30)
    margins = rng.normal(loc=0.3, scale=10.0 ** rng.uniform(-1, 1), size=30)
    assert share @ margins > 0
    assert (margins < 0).any()
    best = best_step(lambda a: float(np.sum(share * np.exp(-a * margins))), 100.0)
    assert exponential_step(share, margins) == pytest.approx(best, rel=SCALAR, abs=SCALAR)


def test_exponential_step_of_signs_is_half_the_log_of_the_odds():
    share = np.array([0.5, 0.3, 0.2])
    assert exponential_step(share, np.array([1.0, 1.0, -1.0])) == pytest.approx(0.5 * np.log(4.0), rel=CLOSED_FORM)
    assert exponential_step(share, np.array([1.0, 1.0, 1.0])) == np.inf


def test_a_learner_without_an_edge_has_no_weight(rng):
    """Exactly, or up to rounding: in the second problem each value comes with its negative, in any order."""
    y, half = np.array([[1.0], [1.0], [-1.0], [-1.0]]), rng.normal(size=20)
    for column in (np.array([1, -1, 1, -1], dtype=np.int8), np.array([2.0, -2.0, 0.5, -0.5])):
        solution = boosted(AdaBoost().begin(y, np.ones(4), 1), column[:, None])[-1]
        assert (solution.weights.tolist(), solution.primal) == ([[0.0]], 1.0)
    for _ in range(8):
        column = rng.permutation(np.concatenate([half, -half]))
        solution = boosted(AdaBoost().begin(np.ones((40, 3)), np.ones(40), 1), column[:, None])[-1]
        assert np.abs(solution.weights).max() <= CLOSED_FORM
        assert solution.primal == pytest.approx(1.0, rel=CLOSED_FORM)


@pytest.mark.parametrize("dtype", [np.int8, np.float64])
@pytest.mark.parametrize("n_before", [0, 3])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_a_perfect_learner_decides_alone(n_outputs, n_before, dtype, problem, rng):
    """Its best coefficient is infinite: it gets one that outvotes all others. Nothing is left to price."""
    _, weight, H = problem
    y = np.where(rng.random(80) < 0.5, 1.0, -1.0)
    Y = np.column_stack([y, -y])[:, :n_outputs]
    columns = np.column_stack([H[:, :n_before], y]).astype(dtype)
    if dtype == np.float64:
        columns[:, -1] *= 0.01  # small values must outvote +-1 as well
    solution = boosted(AdaBoost().begin(Y, weight, 1), columns)[-1]
    assert np.array_equal(np.sign(columns @ solution.weights), Y)
    assert np.all(np.isfinite(solution.weights))
    assert (solution.primal, solution.dual, solution.relative_gap) == (0.0, 0.0, 0.0)
    assert not solution.duals.array.any()
    assert solution.duals.array.shape == Y.shape


def test_a_perfect_learner_in_ecc_is_smoothed(problem, rng):
    """Its coefficient is at most 1/2 log(1 + m k), as Schapire and Singer suggest, and boosting continues."""
    X, weight, _ = problem
    own = classes_of(X, rng, 4)
    restricted = AdaBoostECC(0).begin(signs_of(own, 4), weight, 1)
    for _ in range(20):
        colours = colouring_of(restricted.solve(1e-3, never), own, 4)
        restricted.add(colours[own].astype(np.int8))
    solution = restricted.solve(1e-3, never)
    most = 0.5 * np.log(1.0 + 80 * 4)
    assert np.all(np.abs(solution.weights) <= most)
    assert np.abs(solution.weights).min() > 0.5 * most
    assert 0 < solution.primal < 1e-3


def test_a_learner_that_abstains_is_not_perfect():
    """h = 0 is no mistake, but the row keeps its loss, and has a larger share than the others."""
    y = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    solution = boosted(AdaBoost().begin(y, np.ones(4), 1), np.array([[1.0], [0.0], [-1.0], [0.0]]))[-1]
    assert 0.5 <= solution.primal < 1.0, "two of four rows have the decision 0, and each the loss 1"
    shares = np.abs(solution.duals.array[:, 0])
    assert shares[[1, 3]].min() > shares[[0, 2]].max()


def test_after_many_rounds_the_duals_are_still_a_distribution(rng):
    """Shares are renormalised in each round, not computed from scratch: rounding does not accumulate."""
    Y, weight = labels_of(rng.normal(size=(60, 4)), rng, 2), rng.random(60) + 0.1
    H = np.where(rng.random((60, 400)) < 0.5, 1, -1).astype(np.int8)
    solution = boosted(AdaBoost().begin(Y, weight, 1), H)[-1]
    losses = weight[:, None] * np.exp(-Y * (H @ solution.weights))
    assert solution.duals.l1_norm == pytest.approx(1.0, rel=CLOSED_FORM)
    assert np.allclose(solution.duals.array, Y * losses / losses.sum(), rtol=0, atol=CLOSED_FORM)
    assert solution.primal == pytest.approx(losses.mean() / weight.mean(), rel=CLOSED_FORM)


def test_every_colouring_occurs(rng):
    """C(4, 2) = 6 of them: in 200 rounds each occurs about 33 times."""
    own = np.arange(8) % 4
    restricted = AdaBoostECC(1).begin(signs_of(own, 4), np.ones(8), 1)
    responses = np.where(rng.random((8, 200)) < 0.5, 1, -1).astype(np.int8)
    colourings = [tuple(colouring_of(solution, own, 4).tolist()) for solution in boosted(restricted, responses)]
    counts = [colourings.count(colours) for colours in set(colourings)]
    assert len(counts) == 6
    assert min(counts) >= 10


def test_colourings_follow_the_seed(problem, rng):
    """Two restricted masters of one spec have the same colourings, although both begin before either continues."""
    X, weight, H = problem
    target, specs = signs_of(classes_of(X, rng, 5), 5), [AdaBoostECC(4)] * 2 + [AdaBoostECC(5)]
    begun = [spec.begin(target, weight, 1) for spec in specs]
    first, second, other = ([solution.duals.array for solution in boosted(restricted, H)] for restricted in begun)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert not all(np.array_equal(np.sign(a), np.sign(b)) for a, b in zip(first, other, strict=True))
