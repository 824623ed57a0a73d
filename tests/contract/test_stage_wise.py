"""Stage-wise masters: AdaBoost, AdaBoost.MH and AdaBoost.ECC are the published algorithms, round by round."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from cgens.colgen import generate_columns
from cgens.masters import AdaBoost, AdaBoostECC
from cgens.masters.stage_wise import exponential_step
from cgens.types import Duals, Status
from cgens.weak_learners import Stump
from tests.reference.naive_adaboost import ecc_loss, naive_adaboost, naive_adaboost_ecc, naive_adaboost_mh
from tests.tolerances import CLOSED_FORM

N_ROUNDS = 12
#: `minimize_scalar` knows a minimum to the square root of the machine's precision only.
SCALAR = 1e-6


def never() -> bool:
    return False


@pytest.fixture
def problem(rng):
    """Return inputs, weights of rows, and responses of +-1 that have something to do with the inputs."""
    X = rng.normal(size=(80, 4))
    H = np.where(X[:, rng.integers(0, 4, N_ROUNDS)] > rng.normal(scale=0.5, size=N_ROUNDS), 1, -1).astype(np.int8)
    return X, rng.integers(1, 5, 80) / 2.0, H


def labels_of(X, rng, n_outputs):
    """Return labels of +-1, shape (m, l), in any combination: several may be 1, or none."""
    noise = rng.normal(size=(len(X), n_outputs))
    return np.where(X @ rng.normal(size=(X.shape[1], n_outputs)) + noise > 0, 1.0, -1.0)


def classes_of(X, rng, n_classes):
    """Return numbers of classes; each occurs."""
    noisy = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=len(X))
    return np.searchsorted(np.quantile(noisy, np.arange(1, n_classes) / n_classes), noisy)


def one_of(own, n_classes):
    return 2.0 * np.eye(n_classes)[own] - 1.0


def boosted(live, H):
    """Return the solution before the first column, and after each."""
    solutions = [live.solve(1e-3, never)]
    for column in H.T:
        live.add(column)
        solutions.append(live.solve(1e-3, never))
    return solutions


def assert_stages(solutions, stages):
    """The first solution is that of the empty master."""
    assert len(solutions) == len(stages) + 1
    weights = np.zeros((0, len(stages[0].weights)))
    for solution, stage in zip(solutions[1:], stages, strict=True):
        weights = np.vstack([weights, stage.weights])
        scale = CLOSED_FORM * np.abs(weights).max()
        assert np.allclose(solution.weights, weights, rtol=0, atol=scale)
        assert np.allclose(solution.intercept, stage.intercept, rtol=0, atol=scale)
        assert np.allclose(solution.duals.array, stage.duals, rtol=0, atol=CLOSED_FORM)
        assert solution.primal == pytest.approx(stage.loss, rel=CLOSED_FORM)
        assert solution.dual == 0.0
        assert solution.column_cost == 0.0
        assert solution.status is Status.OPTIMAL


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


def colouring_of(solution, own, n_classes):
    """Return the colours of the classes in the round to come: the signs of its duals, the same for all of a class."""
    signs = np.sign(solution.duals.array[:, 0])
    colours = np.array([signs[own == k][0] for k in range(n_classes)])
    assert np.array_equal(colours[own], signs)
    return colours


@pytest.mark.parametrize("n_classes", [2, 3, 4, 7])
def test_adaboost_ecc_is_the_published_one(n_classes, problem, rng):
    X, weight, H = problem
    own = classes_of(X, rng, n_classes)
    solutions = boosted(AdaBoostECC(3).begin(one_of(own, n_classes), weight, 1), H)
    colourings = [colouring_of(solution, own, n_classes) for solution in solutions]
    stages = naive_adaboost_ecc(H, own, weight, colourings)
    assert_stages(solutions, stages)
    assert solutions[0].duals.array.shape == (80, 1)
    decision = H @ solutions[-1].weights + solutions[-1].intercept
    assert solutions[-1].primal == pytest.approx(ecc_loss(decision, own, weight), rel=CLOSED_FORM), "of the model"


@pytest.mark.parametrize("n_classes", [2, 3, 4, 7])
def test_colourings_are_halves(n_classes, problem, rng):
    X, weight, H = problem
    own = classes_of(X, rng, n_classes)
    solutions = boosted(AdaBoostECC(0).begin(one_of(own, n_classes), weight, 1), H)
    colourings = [tuple(colouring_of(solution, own, n_classes).tolist()) for solution in solutions]
    assert {colours.count(1.0) for colours in colourings} == {n_classes // 2}
    assert {colours.count(-1.0) for colours in colourings} == {n_classes - n_classes // 2}
    assert (len(set(colourings)) > 1) == (n_classes > 2), "drawn anew each round; of two classes there is one"


def test_every_half_comes(rng):
    """C(4, 2) = 6 of them: in 200 rounds each comes about 33 times."""
    own, weight = np.arange(8) % 4, np.ones(8)
    live = AdaBoostECC(1).begin(one_of(own, 4), weight, 1)
    responses = np.where(rng.random((8, 200)) < 0.5, 1, -1).astype(np.int8)
    colourings = [tuple(colouring_of(solution, own, 4).tolist()) for solution in boosted(live, responses)]
    counts = [colourings.count(colours) for colours in set(colourings)]
    assert len(counts) == 6
    assert min(counts) >= 10


def test_colourings_follow_the_seed(problem, rng):
    X, weight, H = problem
    own = classes_of(X, rng, 5)

    def duals(seed):
        solutions = boosted(AdaBoostECC(seed).begin(one_of(own, 5), weight, 1), H)
        return [solution.duals.array for solution in solutions]

    first, second, other = duals(4), duals(4), duals(5)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert not all(np.array_equal(np.sign(a), np.sign(b)) for a, b in zip(first, other, strict=True))


def test_a_begun_ecc_leaves_others_alone(problem, rng):
    """Two live masters of one spec have the same colourings, whichever goes on first."""
    X, weight, H = problem
    target, spec = one_of(classes_of(X, rng, 4), 4), AdaBoostECC(0)
    one, other = spec.begin(target, weight, 1), spec.begin(target, weight, 1)
    first = boosted(one, H)[-1]
    assert np.array_equal(first.weights, boosted(other, H)[-1].weights)


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
            assert one.again or np.array_equal(one.duals.array, other.duals.array)


def test_a_colouring_that_no_learner_tells_apart_is_drawn_anew():
    """Four classes at the corners of a square: stumps tell no diagonal from the other, but sides."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 5)
    for seed in range(6):
        target = one_of(np.arange(20) % 4, 4)
        ensemble, _ = generate_columns(AdaBoostECC(seed), Stump(), X, target, max_columns=30)
        assert len(ensemble) == 30
        assert np.array_equal(ensemble.decision(X).argmax(axis=1), np.arange(20) % 4)


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


def test_real_values_in_ecc_have_one_coefficient(problem, rng):
    """The best of the round's exponential loss along its colouring, and no intercept."""
    X, weight, _ = problem
    own, columns = classes_of(X, rng, 4), np.zeros((80, 0))
    live = AdaBoostECC(2).begin(one_of(own, 4), weight, 1)
    for _ in range(6):
        last, column = live.solve(1e-3, never), rng.normal(size=80)
        colours = colouring_of(last, own, 4)
        column = column if column @ last.duals.array[:, 0] > 0 else -column  # as the loop does
        live.add(column)
        solution, before = live.solve(1e-3, never), columns @ last.weights
        columns = np.column_stack([columns, column])

        def loss(a, colours=colours, column=column, before=before):
            return ecc_loss(before + a * np.outer(column, colours), own, weight)

        best = minimize_scalar(loss, bounds=(0.0, 10.0), method="bounded", options={"xatol": 1e-10})
        assert not solution.intercept.any()
        slope = solution.weights[-1] * colours
        assert np.ptp(slope) <= CLOSED_FORM
        assert slope[0] == pytest.approx(best.x, abs=SCALAR)
        assert solution.primal == pytest.approx(loss(slope[0]), rel=CLOSED_FORM)


def test_real_values_of_negative_price_in_ecc(problem, rng):
    """A master is given columns, not promises of their sign: the loop turns them, others need not."""
    X, weight, _ = problem
    target = one_of(classes_of(X, rng, 4), 4)
    column = rng.normal(size=80)
    weights = []
    for sign in (1.0, -1.0):
        live = AdaBoostECC(0).begin(target, weight, 1)
        live.add(sign * column)
        weights.append(live.solve(1e-3, never).weights)
    assert np.allclose(weights[0], -weights[1], rtol=0, atol=CLOSED_FORM)


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


def test_a_perfect_learner_in_ecc_is_smoothed(problem, rng):
    """Its coefficient is at most 1/2 log(1 + m k): Schapire and Singer's remedy, and boosting goes on."""
    X, weight, _ = problem
    own = classes_of(X, rng, 4)
    live = AdaBoostECC(0).begin(one_of(own, 4), weight, 1)
    for _ in range(20):
        colours = colouring_of(live.solve(1e-3, never), own, 4)
        live.add(colours[own].astype(np.int8))
    solution = live.solve(1e-3, never)
    most = 0.5 * np.log(1.0 + 80 * 4)
    assert np.all(np.abs(solution.weights) <= most)
    assert np.abs(solution.weights).min() > 0.5 * most
    assert 0 < solution.primal < 1e-3


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
