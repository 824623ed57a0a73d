"""Checks of the definitions of a loss, which estimators and certificates rely on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import numpy as np
from sklearn.base import clone

from cgens.default_c import CKind
from cgens.path_problem import PathProblem
from cgens.testing.checks import CLOSED_FORM, ROUNDING, expect, expect_close
from cgens.testing.master_problem import MasterProblem, never
from cgens.types import Floats, MasterSolution, Rule, Target


def check_attributes(problem: MasterProblem) -> None:
    """Check that the attributes of a loss have valid values."""
    loss = problem.master
    expect(isinstance(getattr(loss, "name", None), str), f"name is {getattr(loss, 'name', None)!r}, not a string")
    for name, known in (("targets", Target), ("rules", Rule)):
        values = getattr(loss, name)
        expect(values and set(values) <= set(get_args(known)), f"{name} is {values!r}; choose from {get_args(known)}")
    expect(loss.c_kind in get_args(CKind), f"c_kind is {loss.c_kind!r}; choose from {get_args(CKind)}")
    expect(loss.c_factor > 0, f"c_factor is {loss.c_factor!r}, not > 0")
    curved = problem.best.duals.curvature is not None
    expect(curved or "gain" not in loss.rules, "rules include 'gain', but the duals have no curvature")


def check_objectives(problem: MasterProblem) -> None:
    """Check that primal and dual values are those of `losses` and `dual_values`, and the duals are feasible."""
    loss, target, scale = problem.master, problem.target, problem.scale
    for n_columns in (0, 4, problem.n_columns):
        solution = problem.begin(n_columns).solve(problem.tol, never)
        duals, energy = (
            solution.duals.array,
            float(np.sum((_columns(problem, n_columns).T @ solution.duals.array) ** 2)),
        )
        rows = loss.losses(_decision(problem, solution), target)
        expect(np.shape(rows) == (len(target),), f"`losses` has the shape {np.shape(rows)}, not ({len(target)},)")
        values = loss.dual_values(duals, target, scale)
        expect(np.shape(values) == rows.shape, f"`dual_values` has the shape {np.shape(values)}, not {rows.shape}")
        primal = 0.5 * float(np.sum(solution.weights**2)) + loss.value(_decision(problem, solution), target, scale)
        dual = loss.dual_value(duals, target, scale, energy)
        about, tolerance = f"with {n_columns} columns", CLOSED_FORM * problem.size
        expect_close(solution.primal, primal, tolerance, f"{about} `primal` (by 1/2 |W|^2 + sum of c_i `losses`)")
        expect_close(solution.dual, dual, tolerance, f"{about} `dual` (by the sum of `dual_values` - 1/2 sum price^2)")
        outside, balance = loss.infeasibility(duals, target, scale), float(np.abs(duals.sum(axis=0)).max())
        expect(0 <= outside <= ROUNDING * max(1.0, scale.max()), f"{about} `infeasibility` of the duals is {outside!r}")
        expect(balance <= ROUNDING * np.abs(duals).sum(), f"{about} the duals of an output sum to {balance:.3g}, not 0")


def check_weak_duality(problem: MasterProblem) -> None:
    """Check that no model has an objective below the dual value of feasible duals."""
    loss, rng = problem.master, np.random.default_rng(0)
    for n_columns in (0, problem.n_columns):
        solution = problem.begin(n_columns).solve(problem.tol, never)
        energy = float(np.sum((_columns(problem, n_columns).T @ solution.duals.array) ** 2))
        for share in (0.1, 0.5, 1.0):
            bound = loss.dual_value(share * solution.duals.array, problem.target, problem.scale, share**2 * energy)
            for spread in (0.0, 0.01, 0.1, 1.0):
                change = spread * rng.normal(size=solution.weights.shape)
                shift = spread * rng.normal(size=solution.intercept.shape)
                model = replace(solution, weights=solution.weights + change, intercept=solution.intercept + shift)
                value = loss.value(_decision(problem, model), problem.target, problem.scale)
                objective = 0.5 * float(np.sum(model.weights**2)) + value
                expect(
                    bound <= objective + CLOSED_FORM * problem.size,
                    f"{share:g} times the duals have the dual value {bound!r}, above the objective {objective!r} of a "
                    "model: `dual_values` must be -c_i loss*(-r_i / c_i)",
                )


def check_gradient(problem: MasterProblem) -> None:
    """Check that the gradient of a smooth loss is the derivative of `losses`, and gives the duals."""
    loss, target = problem.master, problem.target
    if not loss.smooth:
        return
    decision = _decision(problem, problem.best) + np.random.default_rng(0).normal(size=target.shape)
    gradient, step = loss.gradient(decision, target), 1e-5
    expect(np.shape(gradient) == target.shape, f"`gradient` has the shape {np.shape(gradient)}, not {target.shape}")
    for output in range(target.shape[1]):
        along = step * np.eye(target.shape[1])[output]
        slope = (loss.losses(decision + along, target) - loss.losses(decision - along, target)) / (2 * step)
        error = np.abs(slope - gradient[:, output])
        worst = int(np.argmax(error))
        expect(
            error[worst] <= 1e-5 * (1 + np.abs(gradient).max()),
            f"`gradient` is {gradient[worst, output]!r}, but differences of `losses` give {slope[worst]!r}",
        )
    _check_curvature(problem, decision, step)
    for n_columns in (0, problem.n_columns):
        solution = problem.begin(n_columns).solve(problem.tol, never)
        expected = -problem.scale[:, None] * loss.gradient(_decision(problem, solution), target)
        error = np.abs(solution.duals.array - expected)
        limit = CLOSED_FORM * np.abs(expected).max()
        expect(error.max() <= limit, f"the duals differ from -c * gradient by up to {error.max():.3g}")


def _check_curvature(problem: MasterProblem, decision: Floats, step: float) -> None:
    """Check that the second derivatives of a smooth loss, if it has them, are those of `losses`."""
    loss, target = problem.master, problem.target
    if not hasattr(loss, "curvature"):
        return
    curvature = loss.curvature(loss.gradient(decision, target), target)
    if curvature is None:
        return
    expect(np.shape(curvature) == target.shape, f"`curvature` has the shape {np.shape(curvature)}, not {target.shape}")
    for output in range(target.shape[1]):
        along = step * np.eye(target.shape[1])[output]
        change = loss.gradient(decision + along, target) - loss.gradient(decision - along, target)
        slope = change[:, output] / (2 * step)
        error = np.abs(slope - curvature[:, output])
        worst = int(np.argmax(error))
        expect(
            error[worst] <= 1e-5 * (1 + np.abs(curvature).max()),
            f"`curvature` is {curvature[worst, output]!r}, but differences of `gradient` give {slope[worst]!r}",
        )


def check_probabilities(problem: MasterProblem) -> None:
    """Check that probabilities are in [0, 1], sum to 1 over the classes, and agree with the predicted classes."""
    loss, decision = problem.master, _decision(problem, problem.best)
    n_outputs = decision.shape[1]
    if not loss.has_probabilities:
        return
    codings = [loss.code_classes(np.arange(n)) for n in (2, n_outputs, n_outputs + 1) if n > 1]
    coding = next((own for own in codings if _is_coded_by(problem.target, own.codes)), None)
    shares = loss.probabilities(decision, None if coding is None else coding.codes)
    shape = (len(decision), n_outputs if coding is None else len(coding.codes))
    expect(np.shape(shares) == shape, f"`probabilities` has the shape {np.shape(shares)}, not {shape}")
    expect(shares.min() >= 0 and shares.max() <= 1, f"`probabilities` range from {shares.min()} to {shares.max()}")
    if coding is None:
        agree = (shares > 0.5) == (decision > 0)
        expect(agree.all(), "a label is predicted although its probability is below 1/2")
        return
    totals = shares.sum(axis=1)
    expect(
        np.allclose(totals, 1.0, rtol=0, atol=CLOSED_FORM),
        f"`probabilities` of a row sum to {totals[0]:.6g}, not to 1",
    )
    predicted = coding.decode(decision)
    differs = np.flatnonzero(shares.max(axis=1) > shares[np.arange(len(shares)), predicted] + CLOSED_FORM)
    expect(not len(differs), f"the predicted class is not the most probable one in {len(differs)} rows")


def check_paths(problem: MasterProblem) -> None:
    """Check that `solve_path` returns the solutions of separate solves, and an empty list if it is interrupted."""
    loss, stages = problem.master, (4, problem.n_columns)
    C = 1.0 if loss.C is None else loss.C
    Cs = (C, 0.1 * C, 3.0 * C)
    path = PathProblem(problem.target, problem.weight, list(problem.columns.T.copy()), Cs, stages, problem.tol, 1)
    expect(loss.solve_path(path, lambda: True) == [], "an interrupted path is not an empty list")
    found = loss.solve_path(path, never)
    sizes = [len(found), *map(len, found)]
    expect(sizes == [3, 2, 2, 2], f"a path of 3 values of C with 2 stages each has the sizes {sizes}")
    for own_c, solutions in zip(Cs, found, strict=True):
        own = replace(problem, master=clone(loss).set_params(C=own_c))
        for stage, (weights, intercept) in zip(stages, solutions, strict=True):
            separate = own.begin(stage).solve(problem.tol, never)
            decision = _columns(problem, stage) @ weights + intercept
            value = 0.5 * float(np.sum(weights**2)) + loss.value(decision, problem.target, own.scale)
            about = f"the objective of the path at C = {own_c:g} with {stage} columns"
            expect_close(value, separate.primal, own.allowed(value) + CLOSED_FORM * own.size, about)


def _columns(problem: MasterProblem, n_columns: int) -> Floats:
    return problem.columns[:, :n_columns].astype(np.float64)


def _decision(problem: MasterProblem, solution: MasterSolution) -> Floats:
    return np.asarray(_columns(problem, len(solution.weights)) @ solution.weights + solution.intercept)


def _is_coded_by(target: Floats, codes: Floats) -> bool:
    """Return whether every row of the target is one of the codes."""
    if codes.shape[1] != target.shape[1]:
        return False
    return bool(np.all(np.any(np.all(target[:, None, :] == codes, axis=2), axis=1)))


LOSS_CHECKS: tuple[Callable[[MasterProblem], None], ...] = (
    check_attributes,
    check_gradient,
    check_objectives,
    check_weak_duality,
    check_probabilities,
    check_paths,
)
