"""AdaBoost.ECC is the published algorithm, round by round, and its colourings are drawn as published."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from cgens.colgen import generate_columns
from cgens.masters import AdaBoostECC
from cgens.weak_learners import Stump
from tests.contract.boosting import SCALAR, assert_stages, boosted, boosting_problem, classes_of, never, one_of
from tests.reference.naive_adaboost import ecc_loss, naive_adaboost_ecc
from tests.tolerances import CLOSED_FORM


@pytest.fixture
def problem(rng):
    return boosting_problem(rng)


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


def test_a_colouring_that_no_learner_tells_apart_is_drawn_anew():
    """Four classes at the corners of a square: stumps tell no diagonal from the other, but sides."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 5)
    for seed in range(6):
        target = one_of(np.arange(20) % 4, 4)
        ensemble, _ = generate_columns(AdaBoostECC(seed), Stump(), X, target, max_columns=30)
        assert len(ensemble) == 30
        assert np.array_equal(ensemble.decision(X).argmax(axis=1), np.arange(20) % 4)


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
