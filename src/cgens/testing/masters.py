"""The contract of masters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cgens.masters.loss import Loss
from cgens.testing.checks import CLOSED_FORM, ROUNDING, expect, expect_close, expect_params_kept, run_checks
from cgens.testing.loss_checks import LOSS_CHECKS
from cgens.testing.master_problem import MakeTarget, MasterProblem, never, targets_of
from cgens.types import AnyArray, Duals, Master, MasterSolution, Status


def check_master(master: Master, *, make_target: MakeTarget | None = None, tol: float = 1e-9) -> None:
    """Check that a loss, or another master problem, fulfils the contract of `cgens.types.Master`.

    Small problems are solved: a loss is checked with every kind of target that it supports, and also against its own
    definitions (`losses`, `gradient`, `dual_values`, `infeasibility`, `probabilities`, `solve_path`).

    Parameters
    ----------
    master : Master
        With its hyperparameters, for example ``MyLoss(C=1.0)``.
    make_target : callable, optional
        ``make_target(rng, score)`` returns a target of shape (m, l) that follows the scores, shape (m,), with some
        noise. Default: what the loss can fit; for a master that is not a `Loss`, labels of +-1.
    tol : float
        Relative gap to which problems are solved; raise it if the master cannot reach 1e-9.

    Raises
    ------
    AssertionError
        If the contract is violated; the message names the check and what was found.
    TypeError
        If the master is stage-wise (`repeats`), so that it does not solve a problem to optimality.

    Examples
    --------
    >>> from cgens.masters import Hinge
    >>> check_master(Hinge(C=0.1))
    """
    if getattr(master, "repeats", False):
        raise TypeError(f"{master!r} is stage-wise (`repeats`): it has no optimum that could be checked.")
    checks = FIRST_CHECKS + MASTER_CHECKS
    if isinstance(master, Loss):
        checks = FIRST_CHECKS + LOSS_CHECKS + MASTER_CHECKS  # wrong definitions would make later checks fail as well
        expect(make_target or master.targets, f"{master!r}: `targets` is empty, so it cannot fit anything")
    for make in targets_of(master) if make_target is None else [make_target]:
        problem = MasterProblem.of(master, make, tol)
        rows = f"{len(np.unique(problem.target, axis=0))} different rows" if isinstance(master, Loss) else "rows"
        run_checks(f"{master!r}, for a target of {problem.target.shape[1]} outputs and {rows},", problem, checks)


def check_parameters(problem: MasterProblem) -> None:
    """Check that a master only stores hyperparameters."""
    expect_params_kept(problem.master, lambda: problem.begin(3).solve(problem.tol, never))
    for flag in ("repeats", "positive_prices", "smooth"):
        value = getattr(problem.master, flag, None)
        expect(isinstance(value, bool), f"the attribute {flag} is {value!r}, not True or False")


def expect_sound(problem: MasterProblem, solution: MasterSolution, n_columns: int) -> None:
    """Raise AssertionError unless shapes and values are those of any solution, converged or not."""
    expect(isinstance(solution, MasterSolution), f"solve returned {solution!r}, not a cgens.types.MasterSolution")
    n_rows, n_outputs = problem.target.shape
    for name, array, shape in (
        ("weights", solution.weights, (n_columns, n_outputs)),
        ("intercept", solution.intercept, (n_outputs,)),
        ("duals.array", solution.duals.array, (n_rows, n_outputs)),
    ):
        expect(
            np.shape(array) == shape, f"with {n_columns} columns, {name} has the shape {np.shape(array)}, not {shape}"
        )
        expect(np.isfinite(array).all(), f"with {n_columns} columns, {name} has values that are not finite")
    expect(
        solution.dual <= solution.primal + ROUNDING * problem.size,
        f"with {n_columns} columns the dual value {solution.dual!r} is above the primal value {solution.primal!r}",
    )
    total, norm = float(np.abs(solution.duals.array).sum()), solution.duals.l1_norm
    expect(norm >= total * (1 - CLOSED_FORM), f"duals.l1_norm is {norm!r}, less than sum |R| = {total!r}")


def expect_solved(problem: MasterProblem, solution: MasterSolution, n_columns: int) -> None:
    """Raise AssertionError unless the solution is sound and solved to the tolerance."""
    expect_sound(problem, solution, n_columns)
    about, gap = f"with {n_columns} columns and tol={problem.tol:g}", solution.relative_gap
    expect(
        (solution.status is Status.OPTIMAL) == (gap <= problem.tol),
        f"{about} the relative gap is {gap:.3g}, but the status is {solution.status!r}",
    )
    # If the objective is a difference of larger numbers, its gap may be small only relative to these.
    difference = solution.primal - solution.dual
    expect(
        difference <= problem.tol * max(abs(solution.primal), problem.size), f"{about} the relative gap is {gap:.3g}"
    )


def check_shapes_and_values(problem: MasterProblem) -> None:
    """Check that shapes fit target and columns, from the empty master on, and that dual values are lower bounds."""
    for n_columns in (0, 1, problem.n_columns):
        expect_sound(problem, problem.begin(n_columns).solve(problem.tol, never), n_columns)
    empty = problem.begin(0).solve(problem.tol, never).duals.array
    expect(np.abs(empty).sum() > 0, "all duals of the empty master are 0, so that no column has a price")


def expect_same(one: MasterSolution, other: MasterSolution, when: str) -> None:
    """Raise AssertionError unless weights and duals have the same bits."""
    expect(np.array_equal(one.weights, other.weights), f"the weights differ {when}")
    expect(np.array_equal(one.duals.array, other.duals.array), f"the duals differ {when}")


def check_threads_and_types(problem: MasterProblem) -> None:
    """Check that the number of threads and the type of a column change no bit."""
    for dtype in (np.float32, np.float64):
        other = problem.begin(dtype=dtype).solve(problem.tol, never)
        expect_same(problem.best, other, f"if columns of +-1 are {dtype.__name__} instead of int8")
    expect_same(problem.best, problem.begin(n_threads=2).solve(problem.tol, never), "with n_threads=2 instead of 1")


def check_solutions_are_kept(problem: MasterProblem) -> None:
    """Check that a solution does not change when the master continues, also if its duals are first read later."""
    early, late = problem.begin(5), problem.begin(5)
    now, then = early.solve(problem.tol, never), late.solve(problem.tol, never)
    kept = [np.copy(part) for part in _parts(problem, now)]
    for restricted in (early, late):
        for column in problem.columns.T[5:]:
            restricted.add(column.copy())
        restricted.solve(problem.tol, never)
    for solution in (now, then):
        same = [np.array_equal(part, before) for part, before in zip(_parts(problem, solution), kept, strict=True)]
        expect(all(same), f"weights, duals, their size or their curvature changed: {same}")


def _parts(problem: MasterProblem, solution: MasterSolution) -> list[AnyArray]:
    """Return what must not change in a solution."""
    duals, curvature = solution.duals, solution.duals.curvature
    parts = [solution.weights, duals.array, np.array(duals.l1_norm)]
    return parts if curvature is None else [*parts, np.array(curvature.n_steps), curvature.quadratic(problem.columns)]


def check_steps(problem: MasterProblem) -> None:
    """Check that the step of a solution leads from the last weights to the new ones."""
    restricted = problem.begin(3)
    last = restricted.solve(problem.tol, never)
    n_columns = 3
    for n_new in (1, 1, 1, 0, 2, 1):
        for column in problem.columns.T[n_columns : n_columns + n_new]:
            restricted.add(column.copy())
        n_columns += n_new
        solution = restricted.solve(problem.tol, never, quick=True)
        if solution.step is not None:
            expect(n_new == 1, f"there is a step after {n_new} new columns: it is for one new column")
            error = np.abs(solution.step.apply(last.weights) - solution.weights).max()
            limit = CLOSED_FORM * np.abs(solution.weights).max()
            expect(error <= limit, f"step.apply(last weights) differs from the weights by {error:.3g}")
        last = solution


def check_convergence(problem: MasterProblem) -> None:
    """Check that a solve reaches the tolerance."""
    status, gap = problem.best.status, problem.best.relative_gap
    expect_solved(problem, problem.best, problem.n_columns)
    expect(status is Status.OPTIMAL, f"the status is {status!r} with a relative gap of {gap:.3g}, not {problem.tol:g}")


def check_warm_starts(problem: MasterProblem) -> None:
    """Check that a further column never raises the objective, and a warm start reaches the value of a cold start."""
    restricted = problem.begin(0)
    last = restricted.solve(problem.tol, never)
    expect_solved(problem, last, 0)
    for number, column in enumerate(problem.columns.T, start=1):
        restricted.add(column.copy())
        solution = restricted.solve(problem.tol, never)
        expect_solved(problem, solution, number)
        rise = solution.primal - last.primal
        expect(rise <= problem.allowed(last.primal), f"column {number} raised the objective by {rise:.3g}")
        last = solution
    expect_close(last.primal, problem.best.primal, problem.allowed(last.primal), "the primal value of a warm start")
    expect_same(last, restricted.solve(problem.tol, never), "if a solved problem is solved again")


def check_quick_solves(problem: MasterProblem) -> None:
    """Check that quick solves in a row converge, also with columns of several types."""
    restricted = problem.begin(0)
    for number, column in enumerate(problem.columns.T):
        restricted.add(column.astype((np.int8, np.float32, np.float64)[number % 3]))
        restricted.solve(1e-2, never, quick=True)
    for _ in range(400):
        solution = restricted.solve(problem.tol, never, quick=True)
        if solution.status is Status.OPTIMAL:
            break
        expect(solution.status is Status.NOT_CONVERGED, f"the status of a quick solve is {solution.status!r}")
    expect(solution.status is Status.OPTIMAL, "400 quick solves in a row did not converge")
    final = restricted.solve(problem.tol, never)
    expect_solved(problem, final, problem.n_columns)
    expect_close(
        final.primal, problem.best.primal, problem.allowed(final.primal), "the primal value after quick solves"
    )


def check_weights_are_repetitions(problem: MasterProblem) -> None:
    """Check that a row of weight 2 counts as two rows."""
    copies = np.repeat(np.arange(len(problem.weight)), problem.weight.astype(int))
    repeated = problem.rows(copies, np.ones(len(copies))).best.primal
    expect_close(repeated, problem.best.primal, problem.allowed(repeated), "the optimum of repeated rows")


def check_pool_bound(problem: MasterProblem) -> None:
    """Check that the bound of a pool is at most its optimum, and equal to it if no column is missing."""
    best = problem.best.primal
    for n_columns in (0, 1, 4, 10, problem.n_columns):
        restricted = problem.begin(n_columns)
        duals = restricted.solve(problem.tol, never).duals
        prices = problem.columns.T.astype(float) @ duals.array
        known = float(np.sum(prices**2)), float(np.abs(prices[n_columns:]).max(initial=0.0))
        bound = restricted.pool_bound(duals, *known)
        expect(
            bound <= best + ROUNDING * problem.size,
            f"with {n_columns} of {problem.n_columns} columns the bound is {bound!r}, above the optimum {best!r}",
        )
        plain = restricted.pool_bound(Duals(duals.array.copy()), *known)
        expect_close(plain, bound, CLOSED_FORM * problem.size, "the bound from the array of the duals alone")
    expect_close(bound, best, problem.allowed(best), "the bound with all columns")


def check_interrupts(problem: MasterProblem) -> None:
    """Check that a poll ends a solve with Status.INTERRUPTED and a usable solution, from which it can be continued."""
    calls: list[int] = []
    restricted = problem.begin(10)
    last = restricted.solve(problem.tol, never)
    restricted.add(problem.columns[:, 10].copy())
    solution = restricted.solve(1e-17, lambda: bool(calls.append(1) or True))  # type: ignore[func-returns-value]
    expect_sound(problem, solution, 11)
    if calls:
        expected = (Status.INTERRUPTED, Status.OPTIMAL) if solution.relative_gap <= 1e-17 else (Status.INTERRUPTED,)
        expect(solution.status in expected, f"`interrupted` returned True, but the status is {solution.status!r}")
    rise = solution.primal - last.primal
    expect(rise <= problem.allowed(last.primal), f"an interrupted solve raised the objective by {rise:.3g}")
    for column in problem.columns.T[11:]:
        restricted.add(column.copy())
    again = restricted.solve(problem.tol, never).primal
    expect_close(again, problem.best.primal, problem.allowed(again), "the optimum after an interrupted solve")


FIRST_CHECKS: tuple[Callable[[MasterProblem], None], ...] = (check_parameters, check_shapes_and_values)
MASTER_CHECKS: tuple[Callable[[MasterProblem], None], ...] = (
    check_threads_and_types,
    check_solutions_are_kept,
    check_steps,
    check_convergence,
    check_warm_starts,
    check_quick_solves,
    check_weights_are_repetitions,
    check_pool_bound,
    check_interrupts,
)
