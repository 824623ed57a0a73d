"""Least squares on random small problems equals the paper's formulas with an m x m matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgens._core import GramLs
from cgens.masters import LeastSquares
from tests.reference.naive_least_squares import NaiveModel, grown_models, ls_dual, ls_primal
from tests.tolerances import BALANCE, CLOSED_FORM, NEGATIVE_GAP, TIGHT


@dataclass(frozen=True)
class Squares:
    H: np.ndarray
    target: np.ndarray
    scale: np.ndarray

    @property
    def spread(self) -> float:
        """The range of the targets, and at least 1."""
        return float(max(1.0, np.ptp(self.target, axis=0).max()))

    @property
    def rounding(self) -> float:
        """The rounding of an objective: 1e-12 of its value if every residual were as large as the spread."""
        return NEGATIVE_GAP * float(self.scale.sum()) * self.spread**2

    def solver(self) -> GramLs:
        return GramLs(self.target, self.scale, 1)

    def models(self) -> list[NaiveModel]:
        return grown_models(self.H, self.target, self.scale)


@st.composite
def squares(draw: st.DrawFn, costs=(1e-3, 0.03, 1.0, 20.0, 1e3)) -> Squares:
    """Columns of +-1, of three values or real, some repeated, some constant; targets with ties or without."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    m, n_outputs, n_columns = draw(st.integers(1, 25)), draw(st.integers(1, 4)), draw(st.integers(0, 30))
    kind = draw(st.sampled_from(["signs", "ternary", "real", "float32"]))
    H = {
        "signs": lambda: np.where(rng.random((m, n_columns)) < 0.5, 1, -1).astype(np.int8),
        "ternary": lambda: rng.integers(-1, 2, (m, n_columns)).astype(np.int8),
        "real": lambda: rng.normal(size=(m, n_columns)),
        "float32": lambda: rng.random((m, n_columns)).astype(np.float32),
    }[kind]()
    n_values = draw(st.sampled_from([2, 3, None]))
    target = rng.normal(size=(m, n_outputs)) if n_values is None else rng.integers(0, n_values, (m, n_outputs)) * 1.0
    weight = rng.random(m) + 0.01 if draw(st.booleans()) else rng.integers(1, 5, m).astype(float)
    return Squares(H, target, draw(st.sampled_from(costs)) * weight)


def assert_near(found: np.ndarray, expected: np.ndarray, size: float) -> None:
    assert np.shape(found) == np.shape(expected)
    assert np.allclose(found, expected, rtol=0, atol=CLOSED_FORM * size)


@given(problem=squares())
def test_every_round_equals_the_reference(problem):
    """Weights, bias, duals, objective and step, after every column and after a solve."""
    solver, models = problem.solver(), problem.models()
    m, n_outputs = problem.target.shape
    for k, column in enumerate(problem.H.T):
        before, model = models[k], models[k + 1]
        solver.add(np.ascontiguousarray(column))
        weights = solver.weights().reshape(-1, n_outputs)
        assert_near(weights, model.weights, problem.spread)
        assert_near(solver.intercept(weights), model.intercept, problem.spread)
        duals = solver.duals(weights).reshape(m, n_outputs)
        assert_near(duals, model.duals, problem.spread * problem.scale.max())
        assert solver.primal == pytest.approx(model.primal, rel=CLOSED_FORM, abs=problem.rounding)
        direction = before.projected @ column
        _, output, denominator = solver.step(k)
        assert denominator == pytest.approx(1 + column @ direction, rel=CLOSED_FORM)
        assert_near(solver.direction(k), direction, problem.scale.max() * np.abs(problem.H).max())
        assert_near(output, column @ before.duals / denominator, problem.spread)
    primal, dual, _ = solver.solve(TIGHT)
    assert primal == pytest.approx(models[-1].primal, rel=CLOSED_FORM, abs=problem.rounding)
    assert dual <= primal + problem.rounding


@given(problem=squares(costs=(1e-12, 1e-3, 1.0, 1e6, 1e12)))
def test_objectives_are_those_of_what_is_returned(problem):
    """For any C the primal is that of the model, the dual that of balanced duals, and both are finite."""
    solver, H = problem.solver(), problem.H.astype(float)
    for column in problem.H.T:
        solver.add(np.ascontiguousarray(column))
    primal, dual, _ = solver.solve(TIGHT)
    weights = solver.weights().reshape(-1, problem.target.shape[1])
    duals = solver.duals(weights).reshape(problem.target.shape)
    assert np.isfinite([primal, dual]).all()
    found = ls_primal(H, problem.target, problem.scale, weights, solver.intercept(weights))
    assert primal == pytest.approx(found, rel=CLOSED_FORM, abs=problem.rounding)
    found = ls_dual(H, problem.target, problem.scale, duals)
    assert dual == pytest.approx(found, rel=CLOSED_FORM, abs=problem.rounding)
    assert np.all(np.abs(duals.sum(axis=0)) <= BALANCE * problem.scale.sum() * problem.spread)
    assert dual <= primal + problem.rounding
    constant = ls_primal(H[:, :0], problem.target, problem.scale, weights[:0], solver.intercept(weights[:0]))
    assert primal <= constant + problem.rounding, "columns never raise the objective"


@given(problem=squares(), order=st.randoms(use_true_random=False))
def test_the_order_of_columns_does_not_matter_for_the_optimum(problem, order):
    shuffled = list(range(problem.H.shape[1]))
    order.shuffle(shuffled)
    results = []
    for columns in (problem.H.T, problem.H.T[shuffled]):
        solver = problem.solver()
        for column in columns:
            solver.add(np.ascontiguousarray(column))
        results.append((solver.solve(TIGHT)[0], solver.weights().reshape(-1, problem.target.shape[1])))
    assert results[0][0] == pytest.approx(results[1][0], rel=CLOSED_FORM, abs=problem.rounding)
    assert_near(results[0][1][shuffled], results[1][1], problem.spread)


@given(problem=squares())
def test_outputs_are_independent_problems(problem):
    """Over the same columns."""
    master, weight = LeastSquares(C=1.0), problem.scale
    together = master.begin(problem.target, weight, 1)
    alone = [master.begin(np.ascontiguousarray(own[:, None]), weight, 1) for own in problem.target.T]
    for column in problem.H.T:
        for restricted in (together, *alone):
            restricted.add(column)
    whole, *parts = (restricted.solve(TIGHT, lambda: False) for restricted in (together, *alone))
    assert_near(whole.weights, np.column_stack([part.weights for part in parts]), problem.spread)
    assert_near(whole.intercept, np.concatenate([part.intercept for part in parts]), problem.spread)
    assert whole.primal == pytest.approx(sum(part.primal for part in parts), rel=CLOSED_FORM, abs=problem.rounding)


@pytest.mark.parametrize("n_outputs", [1, 2, 5])
def test_duals_by_steps_are_those_of_the_weights(n_outputs, rng):
    """Over more rounds than steps are followed; also if a round did not ask for them, or solved to the tolerance."""
    target, weight = rng.normal(size=(300, n_outputs)), rng.random(300) + 0.1
    master = LeastSquares(C=3.0).begin(target, weight, n_threads=1)
    for k in range(80):
        master.add(rng.normal(size=300).astype(np.float32))
        solution = master.solve(TIGHT, lambda: False, quick=k % 10 != 7)
        if k % 9 == 4:
            continue
        expected = master.solver.duals(solution.weights).reshape(target.shape)
        assert_near(solution.duals.array, expected, float(np.abs(expected).max()))
