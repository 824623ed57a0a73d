"""The coordinate-descent kernel: judged by the optimality conditions, not by trust in another solver."""

from __future__ import annotations

import numpy as np
import pytest

from cgens._core import DualCd
from tests.reference.naive_hinge import (
    best_bias_value,
    hinge_dual,
    hinge_primal,
    hinge_residuals,
    naive_hinge,
)
from tests.tolerances import (
    BALANCE,
    BOX,
    CLOSED_FORM,
    LIBSVM_OBJECTIVE,
    NEGATIVE_GAP,
    SAME_OPTIMUM,
    STATIONARITY,
    TIGHT,
)

MOST_SWEEPS = 20_000


def never() -> bool:
    return False


def make_solver(y, bound, columns=(), n_threads=1):
    solver = DualCd(y, np.where(y < 0, -bound, 0.0), np.where(y > 0, bound, 0.0), n_threads)
    for column in columns:
        solver.add(np.ascontiguousarray(column))
    return solver


def make_signs(rng, m, n_columns, share=0.5):
    """Return labels and weak responses: each agrees with the label on 60 % of the rows."""
    y = np.where(rng.random(m) < share, 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    H = np.where(rng.random((m, n_columns)) < 0.6, y[:, None], -y[:, None])
    return y, H.astype(np.int8)


def assert_solved(solver, report, H, y, bound, tol):
    primal, dual, n_sweeps, status = report
    weights, duals, H = solver.weights(), solver.duals(), H.astype(np.float64)
    assert status == "converged"
    assert n_sweeps <= MOST_SWEEPS + 10
    assert -NEGATIVE_GAP * primal <= primal - dual <= tol * primal
    residuals = hinge_residuals(H, y, bound, weights, solver.bias, duals)
    assert residuals.box <= BOX
    assert residuals.balance <= BALANCE
    assert residuals.stationarity <= STATIONARITY
    assert residuals.slackness <= tol * primal + CLOSED_FORM * primal
    assert primal == pytest.approx(hinge_primal(H, y, bound, weights, solver.bias), rel=CLOSED_FORM)
    assert dual == pytest.approx(hinge_dual(H, duals), rel=CLOSED_FORM, abs=CLOSED_FORM * primal)
    assert primal <= best_bias_value(H, y, bound, weights) * (1 + CLOSED_FORM)


@pytest.mark.parametrize("C", [1e-4, 1e-2, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("share", [0.5, 0.05, 0.95])
def test_random_signs(C, share, rng):
    y, H = make_signs(rng, 200, 30, share)
    bound = np.full(200, C)
    solver = make_solver(y, bound, H.T)
    assert_solved(solver, solver.solve(1e-6, MOST_SWEEPS, never), H, y, bound, 1e-6)


@pytest.mark.parametrize("C", [1e-4, 1e-2, 1.0, 100.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_real_columns(C, dtype, rng):
    y, signs = make_signs(rng, 150, 12)
    H = (signs * rng.random((150, 12)) + rng.normal(size=(150, 12))).astype(dtype)
    bound = C * rng.random(150)
    solver = make_solver(y, bound, H.T)
    assert_solved(solver, solver.solve(1e-6, MOST_SWEEPS, never), H, y, bound, 1e-6)


@pytest.mark.parametrize("C", [1e-3, 1.0, 50.0])
def test_one_column(C, rng):
    y, H = make_signs(rng, 40, 1)
    bound = np.full(40, C)
    solver = make_solver(y, bound, H.T)
    assert_solved(solver, solver.solve(TIGHT, MOST_SWEEPS, never), H, y, bound, TIGHT)


@pytest.mark.parametrize("C", [1e-3, 1.0, 50.0])
def test_equal_rows_of_responses(C, rng):
    """Many rows, few distinct responses, both labels on each: the Newton system is singular."""
    patterns = np.where(rng.random((5, 4)) < 0.5, 1, -1).astype(np.int8)
    H = patterns[rng.integers(0, 5, 300)]
    y = np.where(rng.random(300) < 0.3, 1.0, -1.0)
    bound = C * rng.integers(1, 4, 300)
    solver = make_solver(y, bound, H.T)
    assert_solved(solver, solver.solve(TIGHT, MOST_SWEEPS, never), H, y, bound, TIGHT)


def test_more_columns_than_rows(rng):
    y, H = make_signs(rng, 20, 100)
    bound = np.full(20, 1.0)
    solver = make_solver(y, bound, H.T)
    assert_solved(solver, solver.solve(TIGHT, MOST_SWEEPS, never), H, y, bound, TIGHT)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_columns_of_another_size(scale, rng):
    """Scaling the columns by s and C by 1/s^2 scales the objective by 1/s^2: the same problem in other units."""
    y, signs = make_signs(rng, 100, 8)
    H = signs * scale
    bound = np.full(100, 1.0 / scale**2)
    solver = make_solver(y, bound, H.T)
    assert_solved(solver, solver.solve(1e-6, MOST_SWEEPS, never), H, y, bound, 1e-6)


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_objective_equals_libsvm(C, rng):
    y, H = make_signs(rng, 80, 15)
    bound = C * rng.integers(1, 4, 80)
    solver = make_solver(y, bound, H.T)
    primal = solver.solve(TIGHT, MOST_SWEEPS, never)[0]
    assert primal == pytest.approx(naive_hinge(H.astype(float), y, bound).primal, rel=LIBSVM_OBJECTIVE)


@pytest.mark.parametrize("heavier", [1.0, -1.0])
def test_empty_master_is_the_lighter_class(heavier):
    """Without columns the best bias is the heavier class's label, at the cost of twice the lighter class."""
    y = heavier * np.array([1.0, 1.0, 1.0, -1.0])
    bound = np.array([1.0, 2.0, 3.0, 2.5])
    solver = make_solver(y, bound)
    primal, dual, _, status = solver.solve(TIGHT, 10, never)
    assert status == "converged"
    assert primal == pytest.approx(5.0, rel=CLOSED_FORM)
    assert dual == pytest.approx(5.0, rel=CLOSED_FORM)
    assert solver.bias == heavier
    assert abs(solver.duals().sum()) <= BALANCE * 5


@pytest.mark.parametrize("label", [1.0, -1.0])
def test_rows_of_one_label_only(label):
    """The optimum is 0: the bias takes the label's side, and every dual is 0."""
    y, bound = np.full(3, label), np.ones(3)
    solver = make_solver(y, bound)
    primal, dual, _, _ = solver.solve(TIGHT, 10, never)
    assert (primal, dual) == (0.0, 0.0)
    assert label * solver.bias >= 1.0
    assert not solver.duals().any()


def test_known_solution():
    """y = h on all rows: w = 1 from two duals of 1/2 each, spread over equal rows."""
    y = np.array([1.0, 1.0, -1.0, -1.0])
    solver = make_solver(y, np.full(4, 10.0), [y.astype(np.int8)])
    primal, dual, _, _ = solver.solve(TIGHT, MOST_SWEEPS, never)
    assert primal == pytest.approx(0.5, rel=CLOSED_FORM)
    assert dual == pytest.approx(0.5, rel=CLOSED_FORM)
    assert solver.weights()[0] == pytest.approx(1.0, rel=1e-6)


def test_warm_start_reaches_the_optimum_of_a_cold_one(rng):
    y, H = make_signs(rng, 150, 25)
    bound = np.full(150, 0.5)
    warm = make_solver(y, bound)
    for column in H.T:
        warm.add(np.ascontiguousarray(column))
        warm.solve(1e-3, MOST_SWEEPS, never)
    warm_report = warm.solve(TIGHT, MOST_SWEEPS, never)
    cold = make_solver(y, bound, H.T)
    cold_report = cold.solve(TIGHT, MOST_SWEEPS, never)
    assert_solved(warm, warm_report, H, y, bound, TIGHT)
    assert warm_report[0] == pytest.approx(cold_report[0], rel=SAME_OPTIMUM)
    assert warm.solve(TIGHT, MOST_SWEEPS, never)[2] == 0, "what is solved costs no sweep"


def test_giving_up_and_going_on(rng):
    """A solve that ran out of sweeps leaves feasible duals, and the next one goes on from there."""
    y, H = make_signs(rng, 300, 40)
    bound = np.full(300, 5.0)
    solver = make_solver(y, bound, H.T)
    primal, dual, n_sweeps, status = solver.solve(TIGHT, 1, never)
    assert status == "max_sweeps"
    assert primal - dual > TIGHT * primal
    assert n_sweeps >= 1
    residuals = hinge_residuals(H.astype(float), y, bound, solver.weights(), solver.bias, solver.duals())
    assert max(residuals.box, residuals.balance) <= BALANCE
    assert_solved(solver, solver.solve(TIGHT, MOST_SWEEPS, never), H, y, bound, TIGHT)


def test_an_interrupt_is_heard_and_nothing_is_lost(rng):
    y, H = make_signs(rng, 3000, 60)
    bound = np.full(3000, 100.0)
    solver = make_solver(y, bound, H.T)
    primal, dual, _, status = solver.solve(1e-15, 10**9, lambda: True)
    assert status == "interrupted"
    assert primal - dual >= -NEGATIVE_GAP * primal
    residuals = hinge_residuals(H.astype(float), y, bound, solver.weights(), solver.bias, solver.duals())
    assert max(residuals.box, residuals.balance) <= BALANCE


def test_an_exception_in_the_poll_comes_through(rng):
    y, H = make_signs(rng, 3000, 60)
    solver = make_solver(y, np.full(3000, 100.0), H.T)

    def fail() -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solver.solve(1e-15, 10**9, fail)


def test_threads_and_simd_levels_give_the_same_bits(rng, restore_simd_level):
    from cgens._core import force_simd_level, simd_level, simd_levels

    y, H = make_signs(rng, 400, 37)
    results = []
    for level in simd_levels():
        for n_threads in (1, 2):
            for dtype in (np.int8, np.float32, np.float64):
                force_simd_level(level)
                assert simd_level() == level
                solver = make_solver(y, np.full(400, 0.3), H.T.astype(dtype), n_threads)
                report = solver.solve(1e-8, MOST_SWEEPS, never)
                results.append((report, solver.bias, solver.weights().tobytes(), solver.duals().tobytes()))
    assert len(simd_levels()) >= 1
    assert all(result == results[0] for result in results)


def test_columns_of_all_kinds_in_one_problem(rng):
    """The store widens itself: int8, then float32, then float64, beyond the first 64 columns."""
    y, H = make_signs(rng, 60, 150)
    kinds = [np.int8] * 70 + [np.float32] * 30 + [np.float64] * 50
    bound = np.full(60, 0.2)
    mixed, plain = make_solver(y, bound), make_solver(y, bound)
    for column, kind in zip(H.T, kinds, strict=True):
        mixed.add(column.astype(kind))
        plain.add(np.ascontiguousarray(column))
    assert mixed.solve(1e-8, MOST_SWEEPS, never) == plain.solve(1e-8, MOST_SWEEPS, never)
    assert np.array_equal(mixed.weights(), plain.weights())


def make_siblings(targets, bound, columns, n_threads=1):
    """Return one solver a column of `targets`, all over the same columns."""
    solvers = []
    for y in np.ascontiguousarray(targets.T):
        lower, upper = np.where(y < 0, -bound, 0.0), np.where(y > 0, bound, 0.0)
        solvers.append(DualCd(y, lower, upper, n_threads, solvers[0] if solvers else None))
    for column in columns:
        for solver in solvers:
            solver.add(np.ascontiguousarray(column))
    return solvers


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
def test_siblings_give_the_same_bits_as_solvers_on_their_own(dtype, rng):
    """Seventy columns: the store that they share grows while they look on."""
    _, H = make_signs(rng, 80, 70)
    targets, bound = np.where(rng.random((80, 3)) < 0.4, 1.0, -1.0), 0.2 * rng.integers(1, 4, 80)
    siblings = make_siblings(targets, bound, H.T.astype(dtype))
    for sibling, y in zip(siblings, np.ascontiguousarray(targets.T), strict=True):
        alone = make_solver(y, bound, H.T.astype(dtype))
        assert sibling.solve(1e-8, MOST_SWEEPS, never) == alone.solve(1e-8, MOST_SWEEPS, never)
        assert np.array_equal(sibling.weights(), alone.weights())
        assert np.array_equal(sibling.duals(), alone.duals())
        assert sibling.bias == alone.bias


def test_siblings_solved_after_every_column(rng):
    _, H = make_signs(rng, 60, 20)
    targets, bound = np.where(rng.random((60, 2)) < 0.5, 1.0, -1.0), np.full(60, 0.5)
    siblings = make_siblings(targets, bound, [])
    for n_columns, column in enumerate(H.T, start=1):
        for sibling in siblings:
            sibling.add(np.ascontiguousarray(column))
        for sibling, y in zip(siblings, targets.T, strict=True):
            assert_solved(sibling, sibling.solve(1e-6, MOST_SWEEPS, never), H[:, :n_columns], y, bound, 1e-6)


def test_a_sibling_outlives_the_first(rng):
    _, H = make_signs(rng, 40, 5)
    targets, bound = np.where(rng.random((40, 2)) < 0.5, 1.0, -1.0), np.ones(40)
    second = make_siblings(targets, bound, H.T)[1]
    assert_solved(second, second.solve(TIGHT, MOST_SWEEPS, never), H, targets[:, 1], bound, TIGHT)


@pytest.mark.parametrize("factor", [1e-6, 0.5, 1.0, 3.0, 1e6])
def test_a_scaled_box_is_another_cost(factor, rng):
    """The duals grow with their box and stay feasible; what is then solved is the problem of the other C."""
    y, H = make_signs(rng, 100, 12)
    bound = 0.1 * rng.integers(1, 4, 100)
    solver = make_solver(y, bound, H.T)
    solver.solve(1e-3, MOST_SWEEPS, never)
    duals, weights = solver.duals(), solver.weights()
    solver.scale_box(factor)
    assert np.array_equal(solver.duals(), factor * duals)
    assert np.array_equal(solver.weights(), factor * weights)
    report = solver.solve(1e-6, MOST_SWEEPS, never)
    assert_solved(solver, report, H, y, factor * bound, 1e-6)
    cold = make_solver(y, factor * bound, H.T)
    assert report[0] == pytest.approx(cold.solve(1e-6, MOST_SWEEPS, never)[0], rel=2e-6)


def test_a_box_scaled_before_the_first_solve(rng):
    y, H = make_signs(rng, 50, 6)
    solver = make_solver(y, np.full(50, 0.25), H.T)
    solver.scale_box(4.0)
    plain = make_solver(y, np.ones(50), H.T)
    assert solver.solve(1e-8, MOST_SWEEPS, never) == plain.solve(1e-8, MOST_SWEEPS, never)
    assert np.array_equal(solver.duals(), plain.duals())
