"""What every master must fulfil."""

from __future__ import annotations

import numpy as np
import pytest

from cgens.types import Duals, Status, relative_gap
from tests.contract.tables import MASTERS
from tests.tolerances import BALANCE, CLOSED_FORM, NEGATIVE_GAP, SAME_OPTIMUM, STATIONARITY, TIGHT

TOL = 1e-6


def never() -> bool:
    return False


@pytest.fixture(params=MASTERS)
def case(request):
    return MASTERS[request.param]


#: For tests of what only some masters have.
curved_only = pytest.mark.parametrize("case", [name for name, case in MASTERS.items() if case.curved], indirect=True)


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
    duals = solution.duals.array
    assert duals.shape == target.shape
    assert case.infeasibility(target, weight, duals) <= BALANCE
    largest = np.abs(H).T @ np.abs(duals)
    assert np.all(np.abs(solution.weights - H.T @ duals) <= STATIONARITY * largest), "EQ:KKT1"
    scale = CLOSED_FORM * abs(solution.primal)
    assert solution.primal == pytest.approx(case.primal(H, target, weight, solution), abs=scale)
    assert solution.dual == pytest.approx(case.dual(H, target, weight, duals), abs=scale)
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
    assert np.abs(solution.duals.array).sum() > 0


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
    assert np.array_equal(narrow.duals.array, wide.duals.array)
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
    assert np.array_equal(one.duals.array, two.duals.array)


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
    weights, duals = solution.weights.copy(), solution.duals.array.copy()
    live.add(problem[2][:, 6].copy())
    live.solve(TOL, never)
    assert np.array_equal(solution.weights, weights)
    assert np.array_equal(solution.duals.array, duals)


def test_duals_first_asked_for_later_are_those_of_their_solution(case, problem):
    asked, late = begin(case, problem, 5), begin(case, problem, 5)
    now, then = asked.solve(TOL, never), late.solve(TOL, never)
    duals, size = now.duals.array.copy(), now.duals.size
    for column in problem[2].T[5:]:
        late.add(column.copy())
    late.solve(TOL, never)
    assert np.array_equal(then.duals.array, duals)
    assert then.duals.size == size


def test_size_bounds_the_sum_of_the_duals(case, problem):
    _, weight, H = problem
    for n_columns in (0, 3, H.shape[1]):
        duals = begin(case, problem, n_columns).solve(TIGHT, never).duals
        assert duals.size == pytest.approx(case.size(weight, duals.array), rel=CLOSED_FORM)
        assert duals.size >= np.abs(duals.array).sum() * (1 - CLOSED_FORM)


def test_a_step_of_rank_one_leads_from_the_last_weights_to_these(case, problem):
    """Said between rounds, where one column came; a full solve stands for itself."""
    live = begin(case, problem, 3)
    last = live.solve(TOL, never)
    assert last.step is None
    for column in problem[2].T[3:]:
        live.add(column.copy())
        solution = live.solve(TOL, never, quick=True)
        assert (solution.step is not None) == case.curved
        if solution.step is not None:
            scale = CLOSED_FORM * np.abs(solution.weights).max()
            assert np.allclose(solution.step.apply(last.weights), solution.weights, rtol=0, atol=scale)
        last = solution
    assert live.solve(TOL, never, quick=True).step is None, "no column came"
    for column in problem[2].T[:2]:
        live.add(column.copy())
    assert live.solve(TOL, never, quick=True).step is None, "two came"


def test_curvature_is_there_or_not(case, problem):
    duals = begin(case, problem, 4).solve(TOL, never).duals
    assert (duals.curvature is not None) == case.curved
    if case.curved:
        assert duals.curvature.n_steps == 4


@curved_only
def test_curvature_says_by_how_much_a_column_lowers_the_objective(case, problem):
    """1/2 sum_t (g'R_t)^2 / (1 + g'Pg), for columns of +-1 and others, from the empty master on."""
    H = problem[2]
    extra = np.column_stack([H[:, 10:], np.random.default_rng(1).normal(size=(len(H), 3))])
    for n_columns in (0, 1, 5, 10):
        solution = begin(case, problem, n_columns).solve(TIGHT, never)
        quadratic = solution.duals.curvature.quadratic(extra)
        assert quadratic.shape == (extra.shape[1],)
        prices = extra.T @ solution.duals.array
        for column, gain in zip(extra.T, 0.5 * np.sum(prices**2, axis=1) / (1 + quadratic), strict=True):
            live = begin(case, problem, n_columns)
            live.add(column.copy())
            lowered = solution.primal - live.solve(TIGHT, never).primal
            assert gain == pytest.approx(lowered, abs=CLOSED_FORM * solution.primal)


@curved_only
def test_curvature_follows_its_steps(case, problem):
    """P <- P - p p' / (1 + h'p) and R <- R - p k', from P = diag(v) - v v' / sum(v)."""
    H = problem[2]
    live = begin(case, problem, 0)
    empty = live.solve(TIGHT, never).duals
    duals, v = empty.array, empty.curvature.diagonal
    P = np.diag(v) - np.outer(v, v) / v.sum()
    scale, signs = CLOSED_FORM * v.max(), H.astype(float)
    for k, column in enumerate(signs.T):
        live.add(H[:, k].copy())
        solution = live.solve(TIGHT, never, quick=True)
        direction, output, denominator = solution.duals.curvature.step(k)
        assert np.allclose(direction, P @ column, rtol=0, atol=scale)
        assert denominator == pytest.approx(1 + column @ P @ column, rel=CLOSED_FORM)
        assert np.allclose(output, column @ duals / denominator, rtol=0, atol=CLOSED_FORM * np.abs(duals).max())
        P = P - np.outer(direction, direction) / denominator
        duals = duals - np.outer(direction, output)
        assert np.allclose(solution.duals.array, duals, rtol=0, atol=CLOSED_FORM * np.abs(empty.array).max())
        expected = np.einsum("ij,ij->j", signs, P @ signs)
        assert np.allclose(solution.duals.curvature.quadratic(H), expected, rtol=0, atol=len(H) * scale)
        assert solution.duals.curvature.n_steps == k + 1
        assert np.array_equal(solution.duals.curvature.diagonal, v)


@curved_only
def test_curvature_is_a_snapshot_too(case, problem):
    H = problem[2]
    live = begin(case, problem, 5)
    curvature = live.solve(TOL, never).duals.curvature
    before = curvature.quadratic(H)
    live.add(H[:, 6].copy())
    live.solve(TOL, never)
    assert curvature.n_steps == 5
    assert np.array_equal(curvature.quadratic(H), before)


def test_pool_bound_is_below_the_optimum_of_the_pool(case, problem):
    """From the duals of any restricted master, with the energy of all columns."""
    H = problem[2]
    best = begin(case, problem).solve(TIGHT, never)
    for n_columns in (0, 1, 4, 10, H.shape[1]):
        live = begin(case, problem, n_columns)
        duals = live.solve(TIGHT, never).duals
        energy = float(np.sum((H.T.astype(float) @ duals.array) ** 2))
        bound = live.pool_bound(duals, energy)
        assert bound <= best.primal * (1 + NEGATIVE_GAP)
        assert bound == pytest.approx(live.pool_bound(Duals(duals.array), energy), rel=CLOSED_FORM), "from the array"
    assert bound == pytest.approx(best.primal, rel=SAME_OPTIMUM), "nothing is missing: the bound is the optimum"


def test_a_poll_that_says_stop_ends_the_solve(case, problem, rng):
    target, weight, _ = problem
    many = np.tile(np.arange(len(target)), 30)
    noisy = np.where(rng.random((len(many), 40)) < 0.5, 1, -1).astype(np.int8)
    large = (np.ascontiguousarray(target[many]), weight[many], noisy)
    asked = []
    solution = begin(case, large).solve(1e-17, lambda: bool(asked.append(1) or True))
    assert_sound(case, large, solution, 40)
    reached = Status.OPTIMAL if solution.relative_gap <= 1e-17 else Status.NOT_CONVERGED
    assert solution.status is (Status.INTERRUPTED if asked else reached)
