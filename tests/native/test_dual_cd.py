"""The coordinate-descent kernel, checked by the optimality conditions and not by another solver."""

from __future__ import annotations

import time

import numpy as np
import pytest

from cgens._core import DualCd
from tests.reference.naive_hinge import best_bias_value, hinge_dual, hinge_primal, hinge_residuals
from tests.tolerances import BALANCE, BOX, CLOSED_FORM, NEGATIVE_GAP, STATIONARITY, TIGHT

MOST_SWEEPS = 20_000


def make_solver(y, bound, columns=(), n_threads=1, sibling=None):
    y = np.ascontiguousarray(y)
    solver = DualCd(y, np.where(y < 0, -bound, 0.0), np.where(y > 0, bound, 0.0), n_threads, sibling)
    for column in columns:
        solver.add(np.ascontiguousarray(column))
    return solver


def solve(solver, tol, max_sweeps=MOST_SWEEPS):
    return solver.solve(tol, max_sweeps, lambda: False)


def bits(solver, tol=1e-8):
    """Solve, and return the complete state of the solver."""
    return solve(solver, tol), solver.bias, solver.weights().tobytes(), solver.duals().tobytes()


def make_signs(rng, m, n_columns, share=0.5):
    """Return labels and weak responses: each agrees with the label on 60 % of the rows."""
    y = np.where(rng.random(m) < share, 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    H = np.where(rng.random((m, n_columns)) < 0.6, y[:, None], -y[:, None])
    return y, H.astype(np.int8)


def real(rng, dtype):
    y, signs = make_signs(rng, 150, 12)
    return y, (signs * rng.random((150, 12)) + rng.normal(size=(150, 12))).astype(dtype), rng.random(150)


def equal_rows(rng):
    """Return many rows with few distinct responses, and both labels for each: the Newton system is singular."""
    patterns = np.where(rng.random((5, 4)) < 0.5, 1, -1).astype(np.int8)
    y = np.where(rng.random(300) < 0.3, 1.0, -1.0)
    return y, patterns[rng.integers(0, 5, 300)], rng.integers(1, 4, 300)


def scaled(rng, scale):
    """Scale columns by s and C by 1/s^2, and so the objective by 1/s^2: the same problem in other units."""
    y, signs = make_signs(rng, 100, 8)
    return y, signs * scale, np.full(100, 1.0 / scale**2)


# Labels, columns and bounds for C = 1, and the required gap.
PROBLEMS = {
    "balanced": (lambda rng: (*make_signs(rng, 200, 30), np.ones(200)), 1e-6),
    "few positive": (lambda rng: (*make_signs(rng, 200, 30, 0.05), np.ones(200)), 1e-6),
    "few negative": (lambda rng: (*make_signs(rng, 200, 30, 0.95), np.ones(200)), 1e-6),
    "float32 columns": (lambda rng: real(rng, np.float32), 1e-6),
    "float64 columns": (lambda rng: real(rng, np.float64), 1e-6),
    "tiny columns": (lambda rng: scaled(rng, 1e-6), 1e-6),
    "huge columns": (lambda rng: scaled(rng, 1e6), 1e-6),
    "one column": (lambda rng: (*make_signs(rng, 40, 1), np.ones(40)), TIGHT),
    "equal rows": (equal_rows, TIGHT),
    "more columns than rows": (lambda rng: (*make_signs(rng, 20, 100), np.ones(20)), TIGHT),
}


def assert_feasible(solver, H, y, bound):
    residuals = hinge_residuals(H.astype(float), y, bound, solver.weights(), solver.bias, solver.duals())
    assert residuals.box <= BOX
    assert residuals.balance <= BALANCE
    assert residuals.stationarity <= STATIONARITY
    return residuals


def assert_solved(solver, report, H, y, bound, tol):
    primal, dual, n_sweeps, status = report
    weights, duals, H = solver.weights(), solver.duals(), H.astype(np.float64)
    assert status == "converged"
    assert n_sweeps <= MOST_SWEEPS + 10
    assert -NEGATIVE_GAP * primal <= primal - dual <= tol * primal
    assert assert_feasible(solver, H, y, bound).slackness <= tol * primal + CLOSED_FORM * primal
    assert primal == pytest.approx(hinge_primal(H, y, bound, weights, solver.bias), rel=CLOSED_FORM)
    assert dual == pytest.approx(hinge_dual(H, duals), rel=CLOSED_FORM, abs=CLOSED_FORM * primal)
    assert primal <= best_bias_value(H, y, bound, weights) * (1 + CLOSED_FORM)


@pytest.mark.parametrize("C", [1e-4, 1e-2, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("name", PROBLEMS)
def test_every_problem_is_solved(name, C, rng):
    make, tol = PROBLEMS[name]
    y, H, bound = make(rng)
    solver = make_solver(y, C * bound, H.T)
    assert_solved(solver, solve(solver, tol), H, y, C * bound, tol)


@pytest.mark.parametrize("heavier", [1.0, -1.0])
def test_empty_master_is_the_lighter_class(heavier):
    """Without columns the best bias is the heavier class's label, at the cost of twice the lighter class."""
    y, bound = heavier * np.array([1.0, 1.0, 1.0, -1.0]), np.array([1.0, 2.0, 3.0, 2.5])
    solver = make_solver(y, bound)
    primal, dual, _, status = solve(solver, TIGHT, 10)
    assert status == "converged"
    assert [primal, dual] == pytest.approx([5.0, 5.0], rel=CLOSED_FORM)
    assert solver.bias == heavier
    assert len(solver.weights()) == 0
    assert abs(solver.duals().sum()) <= BALANCE * 5


@pytest.mark.parametrize("label", [1.0, -1.0])
def test_rows_with_one_label(label):
    """The optimum is 0, with or without a column: the bias has the sign of the label, and every dual is 0."""
    solver = make_solver(np.full(3, label), np.ones(3))
    for _ in range(2):
        primal, dual, _, status = solve(solver, TIGHT, 10)
        assert (primal, dual, status) == (0.0, 0.0, "converged")
        assert label * solver.bias >= 1.0
        assert not solver.duals().any()
        solver.add(np.array([1, -1, 1], dtype=np.int8))


def test_duals_at_their_bounds_need_no_sweep(rng):
    y, H, bound = np.tile([1.0, -1.0], 10), make_signs(rng, 20, 1)[1], np.full(20, 1e-3)
    solver = make_solver(y, bound)
    solve(solver, TIGHT)
    solver.add(np.ascontiguousarray(H[:, 0]))
    report = solve(solver, TIGHT)
    assert_solved(solver, report, H, y, bound, TIGHT)
    assert report[2] == 0
    assert np.array_equal(solver.duals(), y * bound)


def test_max_sweeps_and_continuing(rng):
    """A solve that reaches the maximum number of sweeps has feasible duals, from which the next one continues."""
    y, H = make_signs(rng, 300, 40)
    bound = np.full(300, 5.0)
    solver = make_solver(y, bound, H.T)
    primal, dual, n_sweeps, status = solve(solver, TIGHT, 1)
    assert status == "max_sweeps"
    assert primal - dual > TIGHT * primal
    assert n_sweeps >= 1
    assert_feasible(solver, H, y, bound)
    assert_solved(solver, solve(solver, TIGHT), H, y, bound, TIGHT)
    assert solve(solver, TIGHT)[2] == 0, "a solved problem needs no sweep"


def test_an_interrupted_solve_has_feasible_duals(rng):
    y, H = make_signs(rng, 3000, 60)
    bound = np.full(3000, 100.0)
    solver = make_solver(y, bound, H.T)
    primal, dual, _, status = solver.solve(1e-15, 10**9, lambda: True)
    assert status == "interrupted"
    assert primal - dual >= -NEGATIVE_GAP * primal
    assert_feasible(solver, H, y, bound)

    def fail() -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solver.solve(1e-15, 10**9, fail)


def test_a_solve_can_be_interrupted_after_every_sweep(rng):
    """The first poll takes longer than the time between two, so that the second one is due after the first sweep."""
    y, H = make_signs(rng, 3000, 60)
    bound = np.full(3000, 100.0)
    solver, answers = make_solver(y, bound, H.T), iter([False, True])

    def interrupted() -> bool:
        time.sleep(0.06)
        return next(answers)

    primal, dual, n_sweeps, status = solver.solve(1e-15, 10**9, interrupted)
    assert (n_sweeps, status) == (1, "interrupted")
    assert primal - dual >= -NEGATIVE_GAP * primal
    assert_feasible(solver, H, y, bound)
    assert solve(make_solver(y, bound, H.T), 1e-15, 1)[2] > 1, "several sweeps follow each other"


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
def test_siblings_give_the_same_bits_as_solvers_on_their_own(dtype, rng):
    """The shared store grows between their solves, up to 70 columns. A sibling outlives the first solver."""
    _, H = make_signs(rng, 80, 70)
    targets, bound = np.where(rng.random((80, 3)) < 0.4, 1.0, -1.0), 0.2 * rng.integers(1, 4, 80)
    siblings, alone = [], [make_solver(y, bound) for y in targets.T]
    for y in targets.T:
        siblings.append(make_solver(y, bound, sibling=siblings[0] if siblings else None))
    for n_columns, column in enumerate(np.ascontiguousarray(H.T, dtype=dtype), start=1):
        for solver in (*siblings, *alone):
            solver.add(column)
        if n_columns % 23 == 0:
            assert [bits(solver) for solver in siblings] == [bits(solver) for solver in alone]
    del siblings[0]
    assert_solved(siblings[1], solve(siblings[1], 1e-8), H, targets[:, 2], bound, 1e-8)


@pytest.mark.parametrize("factor", [1e-6, 0.5, 1.0, 3.0, 1e6])
def test_a_scaled_box_is_another_c(factor, rng):
    """The duals are scaled with their box and stay feasible; the next solve is that of the other C."""
    y, H = make_signs(rng, 100, 12)
    bound = 0.1 * rng.integers(1, 4, 100)
    solver = make_solver(y, bound, H.T)
    solve(solver, 1e-3)
    duals, weights = solver.duals(), solver.weights()
    solver.scale_box(factor)
    assert np.array_equal(solver.duals(), factor * duals)
    assert np.array_equal(solver.weights(), factor * weights)
    report = solve(solver, 1e-6)
    assert_solved(solver, report, H, y, factor * bound, 1e-6)
    assert report[0] == pytest.approx(solve(make_solver(y, factor * bound, H.T), 1e-6)[0], rel=2e-6)


def test_a_box_scaled_before_the_first_solve(rng):
    y, H = make_signs(rng, 50, 6)
    solver = make_solver(y, np.full(50, 0.25), H.T)
    solver.scale_box(4.0)
    assert bits(solver) == bits(make_solver(y, np.ones(50), H.T))


def test_two_duals_per_row_are_two_rows(rng):
    """Support vector regression: the duals of a row share its responses, and only one of them is not 0."""
    y, H = rng.normal(size=60), make_signs(rng, 60, 12)[1]
    linear = np.concatenate([y - 0.1, y + 0.1])
    lower, upper = np.repeat([0.0, -0.3], 60), np.repeat([0.3, 0.0], 60)
    shared, repeated = DualCd(linear, lower, upper, 1, None, 2), DualCd(linear, lower, upper, 1)
    for column in np.ascontiguousarray(H.T):
        shared.add(column)
        repeated.add(np.tile(column, 2))
    (primal, dual, _, status), expected = solve(shared, TIGHT), solve(repeated, TIGHT)
    assert status == expected[3] == "converged"
    assert [primal, dual] == pytest.approx(expected[:2], rel=2 * TIGHT)
    duals = shared.duals().reshape(2, 60)
    assert not np.any(duals[0] * duals[1])
    assert shared.weights() == pytest.approx(H.T @ duals.sum(axis=0), abs=STATIONARITY)
    with pytest.raises(ValueError, match="one response per row"):
        shared.add(np.ones(120))


@pytest.mark.parametrize("total", [0.5, 3.0, 60.0])
def test_the_duals_have_the_given_sum(total, rng):
    """60 is the sum of all upper bounds. The primal has the term total * b."""
    zero, H = np.zeros(60), make_signs(rng, 60, 12)[1]
    solver = DualCd(zero, zero, np.ones(60), 1, None, 1, total)
    assert solver.duals() == pytest.approx(np.full(60, total / 60)), "the start"
    for column in np.ascontiguousarray(H.T):
        solver.add(column)
        primal, dual, _, status = solve(solver, 1e-6)
        assert status == "converged"
        duals, fits = solver.duals(), H[:, : len(solver.weights())] @ solver.weights()
        assert duals.sum() == pytest.approx(total, rel=BALANCE)
        assert -BOX <= duals.min() <= duals.max() <= 1 + BOX
        loss = np.maximum(0.0, -fits - solver.bias).sum() + total * solver.bias
        half_norm = 0.5 * np.sum(solver.weights() ** 2)
        assert primal == pytest.approx(half_norm + loss, rel=CLOSED_FORM, abs=CLOSED_FORM)
        assert dual == pytest.approx(-half_norm, rel=CLOSED_FORM, abs=CLOSED_FORM)
