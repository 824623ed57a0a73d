"""What every master must fulfil, and what all of them refuse."""

from __future__ import annotations

import numpy as np
import pytest

from cgens.masters import AdaBoost, AdaBoostECC, Liblinear, LPBoost, MultiBoost
from cgens.types import Duals, Status, relative_gap
from tests.contract.tables import MASTERS, never
from tests.contract.targets import three_class_signs
from tests.reference.naive_multiboost import multiboost_primal, naive_multiboost
from tests.tolerances import BALANCE, CLOSED_FORM, NEGATIVE_GAP, STATIONARITY, TIGHT

TOL = 1e-6


@pytest.fixture(params=MASTERS)
def case(request):
    return MASTERS[request.param]


#: For tests of masters that know their curvature.
curved_only = pytest.mark.parametrize("case", [name for name, case in MASTERS.items() if case.curved], indirect=True)


@pytest.fixture
def problem(case, rng):
    """Return a target, row weights, and responses of +-1 that depend on the target."""
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


def assert_same_optimum(case, one, other):
    """Compare two values of one optimum, each solved to the tightest gap."""
    assert one == pytest.approx(other, abs=(2 * case.tightest + NEGATIVE_GAP) * case.scale(other))


def assert_sound(case, problem, solution, n_columns):
    """Check what holds for any solution, converged or not."""
    target, weight, H = problem
    H = H[:, :n_columns].astype(float)
    n_outputs = target.shape[1]
    assert solution.weights.shape == (n_columns, n_outputs)
    assert solution.intercept.shape == (n_outputs,)
    assert case.intercept or not solution.intercept.any()
    duals = solution.duals.array
    assert duals.shape == target.shape
    assert case.infeasibility(H, target, weight, duals) <= BALANCE
    if case.exact_weights and solution.status is not Status.INTERRUPTED:  # its weights may be those of the last round
        largest = np.abs(H).T @ np.abs(duals)
        assert np.all(np.abs(solution.weights - H.T @ duals) <= STATIONARITY * largest), "EQ:KKT1"
    scale = case.scale(solution.primal)
    assert solution.primal == pytest.approx(case.primal(H, target, weight, solution), abs=CLOSED_FORM * scale)
    assert solution.dual == pytest.approx(case.dual(H, target, weight, duals), abs=CLOSED_FORM * scale)
    assert solution.column_cost == pytest.approx(case.cost(H, duals), abs=CLOSED_FORM)
    assert solution.primal - solution.dual >= -NEGATIVE_GAP * scale
    assert solution.relative_gap == relative_gap(solution.primal, solution.dual)


def assert_optimal(case, problem, solution):
    target, weight, H = problem
    tol = max(TOL, case.tightest)
    assert_sound(case, problem, solution, H.shape[1])
    assert solution.status is Status.OPTIMAL
    assert solution.relative_gap <= tol
    slackness = case.slackness(H.astype(float), target, weight, solution)
    assert slackness <= (tol + CLOSED_FORM) * case.scale(solution.primal), "complementary slackness is the gap"


def test_solution_is_feasible_stationary_and_within_tol(case, problem, rng):
    """Of signs, of real columns, and by two threads to the same bits."""
    target, weight, H = problem
    one, two = (begin(case, problem, n_threads=n).solve(TOL, never) for n in (1, 2))
    assert_optimal(case, problem, one)
    assert np.array_equal(one.weights, two.weights)
    assert np.array_equal(one.duals.array, two.duals.array)
    real = target, weight, H * rng.random(H.shape)
    assert_optimal(case, real, begin(case, real, dtype=np.float64).solve(TOL, never))


def test_one_more_column_never_raises_the_optimum(case, problem):
    """The loop starts from the empty master, whose solution is an intercept."""
    live = begin(case, problem, 0)
    last = live.solve(TOL, never)
    assert_sound(case, problem, last, 0)
    assert np.abs(last.duals.array).sum() > 0
    for n_columns, column in enumerate(problem[2].T, start=1):
        live.add(column.copy())
        solution = live.solve(case.tightest, never)
        assert_sound(case, problem, solution, n_columns)
        assert solution.dual <= last.primal + NEGATIVE_GAP * case.scale(last.primal), (
            "a lower bound above the last value"
        )
        last = solution


def test_warm_start_reaches_the_value_of_a_cold_start(case, problem):
    live = begin(case, problem, 0)
    for column in problem[2].T:
        live.add(column.copy())
        live.solve(1e-2, never, quick=True)
    warm, cold = live.solve(case.tightest, never), begin(case, problem).solve(case.tightest, never)
    assert warm.status is cold.status is Status.OPTIMAL
    assert_same_optimum(case, warm.primal, cold.primal)
    assert np.array_equal(live.solve(case.tightest, never).weights, warm.weights), "solved again, nothing changes"


def test_quick_solves_are_sound_and_converge(case, problem):
    live = begin(case, problem)
    for _ in range(400):
        solution = live.solve(case.tightest, never, quick=True)
        assert_sound(case, problem, solution, problem[2].shape[1])
        assert solution.status in (Status.OPTIMAL, Status.NOT_CONVERGED)
        assert (solution.status is Status.OPTIMAL) == (solution.relative_gap <= case.tightest)
        if solution.status is Status.OPTIMAL:
            break
    assert solution.status is Status.OPTIMAL, "many quick solves in a row must converge"


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
    solution = live.solve(case.tightest, never)
    assert_sound(case, problem, solution, problem[2].shape[1])
    assert_same_optimum(case, solution.primal, begin(case, problem).solve(case.tightest, never).primal)


def test_row_weights_count_as_copies(case, problem):
    target, weight, H = problem
    copies = np.repeat(np.arange(len(weight)), weight.astype(int))
    repeated = (np.ascontiguousarray(target[copies]), np.ones(len(copies)), H[copies])
    weighted = begin(case, problem).solve(case.tightest, never)
    assert_same_optimum(case, weighted.primal, begin(case, repeated).solve(case.tightest, never).primal)


def test_a_solution_stays_as_it_is_when_the_master_continues(case, problem):
    """Also if its duals, their size or their curvature are first read later."""
    H, early, late = problem[2], begin(case, problem, 5), begin(case, problem, 5)
    now, then = early.solve(TOL, never), late.solve(TOL, never)
    weights, duals, size = now.weights.copy(), now.duals.array.copy(), now.duals.size
    quadratic = now.duals.curvature.quadratic(H) if case.curved else None
    for live in (early, late):
        for column in H.T[5:]:
            live.add(column.copy())
        live.solve(TOL, never)
    for solution in (now, then):
        assert np.array_equal(solution.weights, weights)
        assert np.array_equal(solution.duals.array, duals)
        assert solution.duals.size == size
        if case.curved:
            assert solution.duals.curvature.n_steps == 5
            assert np.array_equal(solution.duals.curvature.quadratic(H), quadratic)


def test_size_bounds_the_sum_of_the_duals(case, problem):
    _, weight, H = problem
    for n_columns in (0, 3, H.shape[1]):
        duals = begin(case, problem, n_columns).solve(case.tightest, never).duals
        assert (duals.curvature is not None) == (case.curvature is not None)
        assert duals.size == pytest.approx(case.size(weight, duals.array), rel=CLOSED_FORM)
        assert duals.size >= np.abs(duals.array).sum() * (1 - CLOSED_FORM)


def test_a_step_of_rank_one_leads_from_the_last_weights_to_these(case, problem):
    """It is returned between rounds, after one new column, but not by a full solve."""
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
    assert live.solve(TOL, never, quick=True).step is None, "no new column"
    for column in problem[2].T[:2]:
        live.add(column.copy())
    assert live.solve(TOL, never, quick=True).step is None, "two new columns"


@pytest.mark.parametrize("case", [name for name, case in MASTERS.items() if case.curvature], indirect=True)
def test_curvature_tells_how_much_a_column_lowers_the_objective(case, problem):
    """By 1/2 sum_t (g'R_t)^2 / (1 + g'Pg), a majorizer by at least that; for columns of +-1 and others."""
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
            if case.curvature == "exact":
                assert gain == pytest.approx(lowered, abs=CLOSED_FORM * solution.primal)
            elif case.curvature == "majorizer":
                assert lowered >= gain - 3 * TIGHT * solution.primal
            else:
                assert lowered > 0


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


def test_pool_bound_is_below_the_optimum_of_the_pool(case, problem):
    """From the duals of any restricted master, with the energy of all columns and the largest price of the others."""
    H = problem[2]
    best = begin(case, problem).solve(case.tightest, never)
    for n_columns in (0, 1, 4, 10, H.shape[1]):
        live = begin(case, problem, n_columns)
        duals = live.solve(case.tightest, never).duals
        prices = H.T.astype(float) @ duals.array
        known = float(np.sum(prices**2)), float(np.abs(prices[n_columns:]).max(initial=0.0))
        bound = live.pool_bound(duals, *known)
        assert bound <= best.primal + NEGATIVE_GAP * case.scale(best.primal)
        assert bound == pytest.approx(live.pool_bound(Duals(duals.array), *known), rel=CLOSED_FORM), "from the array"
    assert_same_optimum(case, bound, best.primal)  # no column is missing: the bound is the optimum


def test_a_poll_can_interrupt_a_solve(case, problem, rng):
    target, weight, _ = problem
    many = np.tile(np.arange(len(target)), 30)
    noisy = np.where(rng.random((len(many), 40)) < 0.5, 1, -1).astype(np.int8)
    large = (np.ascontiguousarray(target[many]), weight[many], noisy)
    calls = []
    solution = begin(case, large).solve(1e-17, lambda: bool(calls.append(1) or True))
    assert_sound(case, large, solution, 40)
    reached = Status.OPTIMAL if solution.relative_gap <= 1e-17 else Status.NOT_CONVERGED
    assert solution.status is (Status.INTERRUPTED if calls else reached)


def test_an_interrupted_solve_is_no_worse_than_the_last_round(case, problem):
    """Ctrl-C keeps finished rounds: the last weights, and 0 for the new column, are at least as good."""
    live = begin(case, problem, 10)
    last = live.solve(TOL, never)
    live.add(problem[2][:, 10].copy())
    solution = live.solve(TOL, lambda: True)
    assert_sound(case, problem, solution, 11)
    assert solution.primal <= last.primal + TOL * case.scale(last.primal)


def test_an_interrupted_solve_can_be_continued(case, problem):
    live = begin(case, problem)
    live.solve(1e-17, lambda: True)
    assert_same_optimum(
        case, live.solve(case.tightest, never).primal, begin(case, problem).solve(case.tightest, never).primal
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("nu", [0.3, 0.03, 0.003])
def test_multiboost_reaches_the_optimum_of_a_tiny_problem(n_classes, nu, rng):
    """Found by SLSQP from the definition; some weights are 0."""
    score = rng.normal(size=24)
    target, weight = three_class_signs(rng, score), rng.integers(1, 4, 24).astype(float)
    target = target if n_classes == 3 else np.column_stack([target[:, 0], -target[:, 0]])
    H = np.where(score[:, None] + 0.8 * rng.normal(size=(24, 4)) > [-1.0, 0.0, 0.5, 1.0], 1, -1).astype(np.int8)
    best, weights = naive_multiboost(H.astype(float), target, weight, nu)
    assert multiboost_primal(H.astype(float), target, weight, nu, weights) == pytest.approx(best, rel=CLOSED_FORM)
    live = MultiBoost(nu=nu).begin(target, weight, 1)
    for column in H.T:
        live.add(column)
    solution = live.solve(1e-7, never)
    assert solution.status is Status.OPTIMAL
    assert solution.primal == pytest.approx(best, rel=2e-7)
    assert solution.dual <= best * (1 + 1e-12) + 1e-12


def test_multiboost_with_a_large_nu_has_no_weights(problem):
    """A price is at most 1, the sum of all u: no column is worth a nu of 1, and the duals stay as they were."""
    _, weight, H = problem
    target = three_class_signs(np.random.default_rng(0), H.sum(axis=1).astype(float))
    live = MultiBoost(nu=1.0).begin(target, weight, 1)
    for column in H.T:
        live.add(column)
    solution = live.solve(TIGHT, never)
    assert not solution.weights.any()
    assert solution.primal == solution.dual == pytest.approx(1.0, rel=CLOSED_FORM)


SIGNS = np.array([[1.0], [-1.0]])
CLASSES = np.hstack([SIGNS, -SIGNS])
#: Targets without one class per row.
NOT_CLASSES = (SIGNS, [[1.0, 1.0], [1.0, -1.0]], [[-1.0, -1.0], [1.0, -1.0]], [[0.0, 1.0], [1.0, 0.0]])
#: A master, a target that it refuses or the parameters of which are refused, and what the message contains
REFUSED = [
    *((spec, target, r"class.*-1\b") for spec in (MultiBoost(), AdaBoostECC()) for target in NOT_CLASSES),
    *((MultiBoost(nu=nu), CLASSES, rf"\bnu\b.*{nu}") for nu in (0.0, -1.0, np.inf, np.nan)),
    *((LPBoost(nu=nu), SIGNS, rf"\bnu\b.*{nu}") for nu in (0.0, 1.1)),
    *((LPBoost(C=C), SIGNS, rf"\bC\b.*{C}") for C in (0.0, np.inf)),
    *((spec, CLASSES, r"one output.*\b2\b") for spec in (LPBoost(), Liblinear())),
    *((spec, 2 * SIGNS, r"-1 and 1.*\b2\.0") for spec in (LPBoost(), Liblinear(), AdaBoost())),
]


@pytest.mark.parametrize(("spec", "target", "pattern"), REFUSED)
def test_bad_targets_and_parameters_are_refused(spec, target, pattern):
    with pytest.raises(ValueError, match=pattern):
        spec.begin(np.array(target), np.ones(2), 1)
