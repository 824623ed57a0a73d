"""What every master must fulfil."""

from __future__ import annotations

import numpy as np
import pytest

from cgens.types import Status, relative_gap
from tests.contract.tables import MASTERS
from tests.tolerances import BALANCE, CLOSED_FORM, NEGATIVE_GAP, SAME_OPTIMUM, STATIONARITY, TIGHT

TOL = 1e-6


def never() -> bool:
    return False


@pytest.fixture(params=MASTERS)
def case(request):
    return MASTERS[request.param]


@pytest.fixture
def problem(case, rng):
    """Return target, weights and responses of +-1 that have something to do with the target."""
    X = rng.normal(size=(120, 6))
    target = case.make_target(rng, X.sum(axis=1))
    weight = rng.integers(1, 4, 120).astype(float)
    H = np.where(X[:, rng.integers(0, 6, 18)] > rng.normal(scale=0.5, size=18), 1, -1).astype(np.int8)
    return target, weight, H


def begin(case, problem, n_columns=None, n_threads=1, dtype=np.int8):
    target, weight, H = problem
    live = case.spec.begin(target, weight, n_threads)
    for column in H.T[:n_columns]:
        live.add(column.astype(dtype))
    return live


def assert_sound(case, problem, solution, n_columns):
    """Everything that must hold of any solution, converged or not."""
    target, weight, H = problem
    H = H[:, :n_columns].astype(float)
    n_outputs = target.shape[1]
    assert solution.weights.shape == (n_columns, n_outputs)
    assert solution.intercept.shape == (n_outputs,)
    assert solution.duals.shape == target.shape
    assert case.infeasibility(target, weight, solution.duals) <= BALANCE
    largest = np.abs(H).T @ np.abs(solution.duals)
    assert np.all(np.abs(solution.weights - H.T @ solution.duals) <= STATIONARITY * largest), "EQ:KKT1"
    scale = CLOSED_FORM * abs(solution.primal)
    assert solution.primal == pytest.approx(case.primal(H, target, weight, solution), abs=scale)
    assert solution.dual == pytest.approx(case.dual(H, target, weight, solution.duals), abs=scale)
    assert solution.primal - solution.dual >= -NEGATIVE_GAP * abs(solution.primal)
    assert solution.relative_gap == relative_gap(solution.primal, solution.dual)


def test_solution_is_feasible_stationary_and_within_tol(case, problem):
    solution = begin(case, problem).solve(TOL, never)
    target, weight, H = problem
    assert_sound(case, problem, solution, H.shape[1])
    assert solution.status is Status.OPTIMAL
    assert solution.relative_gap <= TOL
    slackness = case.slackness(H.astype(float), target, weight, solution)
    assert slackness <= (TOL + CLOSED_FORM) * solution.primal, "complementary slackness is the gap"


def test_no_column(case, problem):
    """The empty master is the loop's start: its duals are feasible, and its solution is a bias."""
    solution = begin(case, problem, 0).solve(TOL, never)
    assert_sound(case, problem, solution, 0)
    assert np.abs(solution.duals).sum() > 0


def test_a_column_more_never_costs(case, problem):
    live = begin(case, problem, 0)
    last = np.inf
    for n_columns, column in enumerate(problem[2].T, start=1):
        live.add(column.copy())
        solution = live.solve(TIGHT, never)
        assert_sound(case, problem, solution, n_columns)
        assert solution.dual <= last * (1 + NEGATIVE_GAP), "a lower bound above the last value"
        last = solution.primal


def test_warm_start_reaches_the_value_of_a_cold_start(case, problem):
    live = begin(case, problem, 0)
    for column in problem[2].T:
        live.add(column.copy())
        live.solve(1e-2, never, quick=True)
    warm, cold = live.solve(TIGHT, never), begin(case, problem).solve(TIGHT, never)
    assert warm.status is cold.status is Status.OPTIMAL
    assert warm.primal == pytest.approx(cold.primal, rel=SAME_OPTIMUM)
    assert np.array_equal(live.solve(TIGHT, never).weights, warm.weights), "solved again, nothing moves"


def test_quick_solves_are_sound_and_go_on(case, problem):
    live = begin(case, problem)
    for _ in range(400):
        solution = live.solve(TIGHT, never, quick=True)
        assert_sound(case, problem, solution, problem[2].shape[1])
        assert solution.status in (Status.OPTIMAL, Status.NOT_CONVERGED)
        assert (solution.status is Status.OPTIMAL) == (solution.relative_gap <= TIGHT)
        if solution.status is Status.OPTIMAL:
            break
    assert solution.status is Status.OPTIMAL, "many quick solves in a row must arrive"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_type_of_a_column_does_not_matter(case, problem, dtype):
    narrow, wide = begin(case, problem).solve(TOL, never), begin(case, problem, dtype=dtype).solve(TOL, never)
    assert np.array_equal(narrow.weights, wide.weights)
    assert np.array_equal(narrow.duals, wide.duals)
    assert (narrow.primal, narrow.dual) == (wide.primal, wide.dual)


def test_columns_of_mixed_types(case, problem):
    live = begin(case, problem, 0)
    for j, column in enumerate(problem[2].T):
        live.add(column.astype([np.int8, np.float32, np.float64][j % 3]))
        live.solve(1e-2, never, quick=True)
    solution = live.solve(TIGHT, never)
    assert_sound(case, problem, solution, problem[2].shape[1])
    assert solution.primal == pytest.approx(begin(case, problem).solve(TIGHT, never).primal, rel=SAME_OPTIMUM)


def test_real_columns_are_sound(case, problem, rng):
    target, weight, H = problem
    real = H * rng.random(H.shape)
    solution = begin(case, (target, weight, real), dtype=np.float64).solve(TOL, never)
    assert_sound(case, (target, weight, real), solution, H.shape[1])
    assert solution.relative_gap <= TOL


def test_threads_do_not_matter(case, problem):
    one, two = begin(case, problem).solve(TOL, never), begin(case, problem, n_threads=2).solve(TOL, never)
    assert np.array_equal(one.weights, two.weights)
    assert np.array_equal(one.duals, two.duals)


def test_weights_are_copies(case, problem):
    target, weight, H = problem
    copies = np.repeat(np.arange(len(weight)), weight.astype(int))
    repeated = (np.ascontiguousarray(target[copies]), np.ones(len(copies)), H[copies])
    weighted = begin(case, problem).solve(TIGHT, never)
    assert weighted.primal == pytest.approx(begin(case, repeated).solve(TIGHT, never).primal, rel=SAME_OPTIMUM)


def test_a_solution_is_a_snapshot(case, problem):
    """What was returned stays what it was when the master goes on."""
    live = begin(case, problem, 5)
    solution = live.solve(TOL, never)
    weights, duals = solution.weights.copy(), solution.duals.copy()
    live.add(problem[2][:, 6].copy())
    live.solve(TOL, never)
    assert np.array_equal(solution.weights, weights)
    assert np.array_equal(solution.duals, duals)


def test_pool_bound_is_below_the_optimum_of_the_pool(case, problem):
    """From the duals of any restricted master, with the energy of all columns."""
    H = problem[2]
    best = begin(case, problem).solve(TIGHT, never)
    for n_columns in (0, 1, 4, 10, H.shape[1]):
        live = begin(case, problem, n_columns)
        duals = live.solve(TIGHT, never).duals
        energy = float(np.sum((H.T.astype(float) @ duals) ** 2))
        bound = live.pool_bound(duals, energy)
        assert bound <= best.primal * (1 + NEGATIVE_GAP)
    assert bound == pytest.approx(best.primal, rel=SAME_OPTIMUM), "nothing is missing: the bound is the optimum"


def test_a_poll_that_says_stop_ends_the_solve(case, problem, rng):
    target, weight, _ = problem
    many = np.tile(np.arange(len(target)), 30)
    noisy = np.where(rng.random((len(many), 40)) < 0.5, 1, -1).astype(np.int8)
    large = (np.ascontiguousarray(target[many]), weight[many], noisy)
    asked = []
    solution = begin(case, large).solve(1e-17, lambda: bool(asked.append(1) or True))
    assert_sound(case, large, solution, 40)
    assert solution.status is (Status.INTERRUPTED if asked else Status.OPTIMAL)
