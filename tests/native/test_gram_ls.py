"""Least squares over a growing set of columns equals the paper's own way, with its m x m matrix."""

from __future__ import annotations

import numpy as np
import pytest

from cgens._core import GramLs, force_simd_level, simd_level, simd_levels
from tests.reference.naive_least_squares import (
    NaiveCurvature,
    grown_models,
    ls_dual,
    ls_primal,
    naive_model,
)
from tests.tolerances import BALANCE, CLOSED_FORM, NEGATIVE_GAP, TIGHT

COSTS = [1e-3, 0.1, 1.0, 30.0, 1e3]
TYPES = [np.int8, np.float32, np.float64]


def make_solver(target, scale, columns=(), n_threads=1):
    solver = GramLs(target, scale, n_threads)
    for column in columns:
        solver.add(np.ascontiguousarray(column))
    return solver


def make_signs(rng, m=40, n_columns=12):
    return np.where(rng.random((m, n_columns)) < 0.5, 1, -1).astype(np.int8)


def make_targets(rng, m=40):
    """Return targets by name: of one output and of several, with distinct numbers and with ties, far from 0 or not."""
    corners = np.array([[-0.5, np.sqrt(0.75)], [-0.5, -np.sqrt(0.75)], [1.0, 0.0]])
    return {
        "one, distinct": rng.normal(size=(m, 1)),
        "one, tied": rng.integers(0, 3, (m, 1)).astype(float),
        "signs": np.where(rng.random((m, 1)) < 0.3, 1.0, -1.0),
        "several, distinct": rng.normal(size=(m, 4)),
        "several, tied": corners[rng.integers(0, 3, m)],
        "far from 0": 1e3 + rng.normal(size=(m, 2)),
        "one column constant": np.column_stack([rng.normal(size=m), np.full(m, 2.5)]),
    }


TARGETS = list(make_targets(np.random.default_rng(0)))


def make_weights(rng, kind, m=40):
    return rng.integers(1, 5, m).astype(float) if kind == "integer" else rng.random(m) + 0.01


def assert_close(found, expected, size=None):
    """Equal to 1e-9 of the largest of the expected values, or of `size` where that is what they were made of."""
    expected = np.asarray(expected)
    size = np.abs(expected).max(initial=0.0) if size is None else size
    assert np.shape(found) == expected.shape
    assert np.allclose(found, expected, rtol=0, atol=CLOSED_FORM * size)


def weights_of(solver, n_outputs):
    return solver.weights().reshape(-1, n_outputs)


def assert_equals_reference(solver, model):
    """Weights, bias, duals and objective; what is 0 in the reference up to rounding is measured by the target."""
    m, n_outputs = model.target.shape
    spread = np.abs(model.target - model.target.mean(axis=0)).max()
    weights = weights_of(solver, n_outputs)
    assert_close(weights, model.weights, size=spread)
    assert_close(solver.intercept(weights), model.intercept, size=np.abs(model.target).max())
    assert_close(solver.duals(weights).reshape(m, n_outputs), model.duals, size=spread * model.scale.max())
    assert_close(solver.primal, model.primal)


@pytest.mark.parametrize("kind", ["integer", "real"])
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("C", COSTS)
def test_every_column_equals_the_reference(C, name, kind, rng):
    target, scale, H = make_targets(rng)[name], C * make_weights(rng, kind), make_signs(rng)
    solver, models = make_solver(target, scale), grown_models(H, target, scale)
    assert_equals_reference(solver, models[0])
    for column, model in zip(H.T, models[1:], strict=True):
        solver.add(np.ascontiguousarray(column))
        assert_equals_reference(solver, model)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("C", COSTS)
def test_a_solve_equals_the_reference(C, dtype, rng):
    scale, target = C * make_weights(rng, "real"), rng.normal(size=(40, 3))
    H = make_signs(rng) if dtype == np.int8 else rng.normal(size=(40, 12)).astype(dtype)
    solver, model = make_solver(target, scale, H.T), naive_model(H, target, scale)
    primal, dual, n_refinements = solver.solve(TIGHT)
    assert_equals_reference(solver, model)
    assert_close(primal, model.primal)
    assert_close(dual, model.dual)
    assert solver.primal == primal
    assert n_refinements == 0, "a sound problem needs no refinement"
    assert -NEGATIVE_GAP * primal <= primal - dual <= NEGATIVE_GAP * primal


def test_the_reference_agrees_with_itself(rng):
    """Grown by rank one or inverted as a whole, and at the optimum of both its objectives."""
    target, scale, H = rng.normal(size=(40, 2)), make_weights(rng, "real"), make_signs(rng)
    for n_columns, model in enumerate(grown_models(H, target, scale)):
        whole = naive_model(H[:, :n_columns], target, scale)
        assert_close(model.inverse, whole.inverse)
        assert_close(model.projected @ target, model.duals)
        assert_close(model.dual, model.primal)
        moved = model.weights + 1e-3, model.intercept - 1e-3
        assert ls_primal(model.H, target, scale, *moved) > model.primal
        if n_columns > 0:
            before, column = naive_model(H[:, : n_columns - 1], target, scale), H[:, n_columns - 1 : n_columns]
            assert_close(before.gains(column.astype(float))[0], before.primal - model.primal, size=before.primal)


@pytest.mark.parametrize("C", COSTS)
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_steps_are_those_of_the_paper(C, n_outputs, rng):
    """Direction, output and denominator of every column, also when they are asked for later."""
    target, scale, H = rng.normal(size=(40, n_outputs)), C * make_weights(rng, "real"), make_signs(rng)
    solver, models = make_solver(target, scale, H.T), grown_models(H, target, scale)
    curvature = NaiveCurvature(models)
    assert_close(curvature.diagonal, scale)
    for k in range(H.shape[1]):
        coefficients, output, denominator = solver.step(k)
        direction, expected_output, expected_denominator = curvature.step(k)
        assert_close(solver.direction(k), direction)
        assert_close(output, expected_output, size=np.abs(target).max())
        assert_close(denominator, expected_denominator)
        assert_close(models[k].duals - np.outer(direction, output), models[k + 1].duals, size=scale.max())
        expected = np.vstack([models[k].weights - np.outer(coefficients, output), output])
        assert_close(expected, models[k + 1].weights, size=np.abs(target).max())


@pytest.mark.parametrize("C", COSTS)
def test_quadratic_is_that_of_the_paper(C, rng):
    target, scale, H = rng.normal(size=(40, 2)), C * make_weights(rng, "real"), make_signs(rng)
    solver = make_solver(target, scale)
    others = np.column_stack([rng.normal(size=(40, 5)), make_signs(rng, n_columns=5), np.ones(40)])
    for n_columns, model in enumerate(grown_models(H, target, scale)):
        if n_columns > 0:
            solver.add(np.ascontiguousarray(H[:, n_columns - 1]))
        candidates = np.column_stack([others, H])
        found = solver.quadratic(np.ascontiguousarray(candidates.T), n_columns)
        assert_close(found, model.quadratic(candidates))
        assert min(found) >= 0


@pytest.mark.parametrize("C", COSTS)
def test_weights_updated_by_rank_one_are_those_of_a_solve(C, rng):
    target, scale, H = rng.normal(size=(40, 3)), C * make_weights(rng, "integer"), make_signs(rng, n_columns=30)
    updated = make_solver(target, scale)
    for n_columns, column in enumerate(H.T, start=1):
        updated.add(np.ascontiguousarray(column))
        solved = make_solver(target, scale, H.T[:n_columns])
        primal, _, _ = solved.solve(TIGHT)
        assert_close(updated.weights(), solved.weights(), size=np.abs(target).max())
        assert_close(updated.primal, primal)


def test_a_solve_between_columns_changes_nothing(rng):
    target, scale, H = rng.normal(size=(40, 2)), make_weights(rng, "real"), make_signs(rng)
    plain, often = make_solver(target, scale, H.T), make_solver(target, scale)
    for column in H.T:
        often.add(np.ascontiguousarray(column))
        often.solve(TIGHT)
    assert plain.solve(TIGHT) == often.solve(TIGHT)
    assert np.array_equal(plain.weights(), often.weights())
    assert often.solve(TIGHT) == plain.solve(TIGHT), "solved again, nothing moves"


@pytest.mark.parametrize("factor", [1e-3, 0.5, 1.0, 7.0, 1e3])
def test_solved_again_for_another_cost(factor, rng):
    """All stages of C times a factor, from the products that were kept, equal the reference of that C."""
    target, scale, H = rng.normal(size=(40, 3)), make_weights(rng, "real"), make_signs(rng, n_columns=30)
    solver, models = make_solver(target, scale, H.T), grown_models(H, target, factor * scale)
    weights, primal = solver.weights(), solver.primal
    stages = [0, 1, 7, 7, 16, 17, 30]
    found = solver.resolve(factor, stages)
    assert len(found) == len(stages)
    for stage, own in zip(stages, found, strict=True):
        assert_close(own.reshape(stage, 3), models[stage].weights, size=np.abs(target).max())
        assert_close(solver.intercept(own.reshape(stage, 3)), models[stage].intercept, size=np.abs(target).max())
    assert solver.resolve(factor, []) == []
    assert np.array_equal(solver.weights(), weights), "the solver itself stays as it is"
    assert solver.primal == primal


def test_duals_of_an_earlier_model(rng):
    """The first columns with any weights: what they are does not depend on the columns that came later."""
    target, scale, H = rng.normal(size=(40, 2)), make_weights(rng, "real"), make_signs(rng, n_columns=70)
    early, late = make_solver(target, scale, H.T[:5]), make_solver(target, scale, H.T)
    for weights in (early.weights().reshape(5, 2), rng.normal(size=(5, 2)), rng.normal(size=(3, 2)), np.zeros((0, 2))):
        used = H[:, : len(weights)].astype(float)
        intercept = early.intercept(weights)
        assert_close(intercept, np.average(target - used @ weights, axis=0, weights=scale))
        assert_close(early.duals(weights).reshape(40, 2), scale[:, None] * (target - used @ weights - intercept))
        assert np.array_equal(early.duals(weights), late.duals(weights))
        assert np.array_equal(early.intercept(weights), late.intercept(weights))


def test_duals_sum_to_zero(rng):
    for C in (1e-12, 1.0, 1e12):
        target, scale = 1e3 + rng.normal(size=(40, 2)), C * make_weights(rng, "real")
        solver = make_solver(target, scale, make_signs(rng).T)
        duals = solver.duals(weights_of(solver, 2)).reshape(40, 2)
        assert np.all(np.abs(duals.sum(axis=0)) <= BALANCE * np.abs(duals).sum(axis=0))


def test_without_columns(rng):
    """The best constant is the weighted mean."""
    target, scale = rng.normal(size=(40, 2)), make_weights(rng, "real")
    solver = make_solver(target, scale)
    primal, dual, _ = solver.solve(TIGHT)
    mean = np.average(target, axis=0, weights=scale)
    assert len(solver.weights()) == 0
    assert_close(solver.intercept(np.zeros((0, 2))), mean)
    assert_close(primal, 0.5 * np.sum(scale[:, None] * (target - mean) ** 2))
    assert_close(dual, primal)


def test_a_constant_target_is_the_bias(rng):
    """Dyadic numbers, so that nothing is rounded: all weights, duals and objectives are 0."""
    solver = make_solver(np.full((16, 2), 0.75), np.ones(16), make_signs(rng, 16, 4).T)
    assert solver.solve(TIGHT)[:2] == (0.0, 0.0)
    assert not solver.weights().any()
    assert not solver.duals(weights_of(solver, 2)).any()
    assert solver.intercept(weights_of(solver, 2)).tolist() == [0.75, 0.75]


def test_one_row():
    solver = make_solver(np.array([[3.0]]), np.ones(1), [np.ones(1, dtype=np.int8)])
    assert solver.solve(TIGHT)[:2] == (0.0, 0.0)
    assert solver.weights().tolist() == [0.0]
    assert solver.intercept(np.zeros((1, 1))).tolist() == [3.0]


def test_known_solution():
    """Two rows, +-1: half the distance of the targets, shrunk by 1 + 1/2C."""
    solver = make_solver(np.array([[3.0], [0.0]]), np.ones(2), [np.array([1, -1], dtype=np.int8)])
    assert_close(solver.solve(TIGHT)[0], 0.5 + 0.25)
    assert_close(solver.weights(), [1.0])
    assert_close(solver.intercept(np.ones((1, 1))), [1.5])
    assert_close(solver.duals(np.ones((1, 1))), [0.5, -0.5])


def awkward_columns(rng, m=30):
    signs, real = make_signs(rng, m, 8), rng.normal(size=(m, 4))
    return {
        "repeated and negated": np.column_stack([signs, signs, -signs, signs[:, :3]]),
        "constant": np.column_stack([np.ones((m, 1)), signs, -np.ones((m, 1)), np.zeros((m, 1))]).astype(np.int8),
        "nearly repeated": np.column_stack([real, real * (1 + 1e-9), real + 1e-12 * rng.normal(size=(m, 4))]),
        "more than rows": make_signs(rng, m, 3 * m),
        "of very different size": real * np.array([1e-9, 1e-6, 1e-3, 1.0]),
    }


AWKWARD = list(awkward_columns(np.random.default_rng(0)))


@pytest.mark.parametrize("C", [1e-12, 1e-3, 1.0, 1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_columns_have_an_honest_gap(name, C, rng):
    """Whatever rounding left of a solution, the objectives reported are those of the model and the duals returned."""
    H, target, scale = awkward_columns(rng)[name], rng.normal(size=(30, 2)), C * make_weights(rng, "integer", 30)
    solver = make_solver(target, scale, H.T)
    assert np.isfinite(solver.weights()).all()
    assert np.isfinite(solver.primal)
    primal, dual, _ = solver.solve(TIGHT)
    weights, H = weights_of(solver, 2), H.astype(float)
    intercept, duals = solver.intercept(weights), solver.duals(weights).reshape(30, 2)
    assert all(np.isfinite(part).all() for part in (weights, intercept, duals))
    assert primal == pytest.approx(ls_primal(H, target, scale, weights, intercept), rel=CLOSED_FORM)
    assert dual == pytest.approx(ls_dual(H, target, scale, duals), rel=CLOSED_FORM)
    assert np.all(np.abs(duals.sum(axis=0)) <= BALANCE * np.abs(duals).sum(axis=0)), "feasible: a true lower bound"
    assert primal - dual >= -NEGATIVE_GAP * primal
    if name != "more than rows" or C <= 1e6:
        assert primal - dual <= TIGHT * primal


@pytest.mark.parametrize("C", [1e-12, 1e-3, 1.0, 1e3])
@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_columns_reach_the_optimum_of_the_reference(name, C, rng):
    H, target, scale = awkward_columns(rng)[name], rng.normal(size=(30, 2)), C * make_weights(rng, "integer", 30)
    primal, _, _ = make_solver(target, scale, H.T).solve(TIGHT)
    assert_close(primal, naive_model(H, target, scale).dual)


def test_a_repeated_column_shares_its_weight(rng):
    target, scale, column = rng.normal(size=(40, 1)), make_weights(rng, "real"), make_signs(rng, n_columns=1)[:, 0]
    once = make_solver(target, 2 * scale, [column])
    twice = make_solver(target, scale, [column, column])
    negated = make_solver(target, scale, [column, -column])
    assert_close(twice.weights(), np.repeat(once.weights() / 2, 2))
    assert_close(negated.weights(), np.array([1.0, -1.0]) * once.weights() / 2)


@pytest.mark.parametrize("dtype", TYPES)
def test_the_type_of_a_column_does_not_matter(dtype, rng):
    target, scale, H = rng.normal(size=(40, 3)), make_weights(rng, "real"), make_signs(rng, n_columns=70)
    narrow, wide = make_solver(target, scale, H.T), make_solver(target, scale, H.T.astype(dtype))
    mixed = make_solver(target, scale)
    for j, column in enumerate(H.T):
        mixed.add(column.astype(TYPES[j // 25]))
    expected = narrow.solve(TIGHT)
    for other in (wide, mixed):
        assert other.solve(TIGHT) == expected
        assert np.array_equal(other.weights(), narrow.weights())
        assert np.array_equal(other.direction(60), narrow.direction(60))


def everything(solver, n_outputs, n_columns, candidate):
    """Return all that a solver can be asked, as bits."""
    weights = weights_of(solver, n_outputs)
    updated = weights.tobytes(), solver.primal, solver.duals(weights).tobytes(), solver.intercept(weights).tobytes()
    steps = [
        (z.tobytes(), output.tobytes(), denominator, solver.direction(k).tobytes())
        for k in range(n_columns)
        for z, output, denominator in [solver.step(k)]
    ]
    others = [own.tobytes() for own in solver.resolve(3.0, [n_columns // 2, n_columns])]
    quadratic = solver.quadratic(candidate[None], n_columns).tobytes()
    return updated, steps, others, quadratic, solver.solve(TIGHT), solver.weights().tobytes(), solver.primal


@pytest.mark.parametrize("C", [1.0, 1e9])
def test_simd_levels_give_the_same_bits(C, rng, restore_simd_level):
    """Columns beyond one lane and beyond the first 64, fewer and more than rows."""
    target, scale, candidate = rng.normal(size=(60, 3)), C * make_weights(rng, "real", 60), rng.normal(size=60)
    for n_columns in (5, 37, 80):
        H, results = make_signs(rng, 60, n_columns), []
        for level in simd_levels():
            force_simd_level(level)
            assert simd_level() == level
            for dtype in TYPES:
                solver = make_solver(target, scale, H.T.astype(dtype))
                results.append(everything(solver, 3, n_columns, candidate))
        assert all(result == results[0] for result in results)


@pytest.mark.parametrize("n_threads", [2, 3, 4])
def test_threads_give_the_same_bits(n_threads, rng):
    """Small work is done by one thread: here every parallel region has work for four."""
    target, scale = rng.normal(size=(9000, 3)), make_weights(rng, "real", 9000)
    H, candidate = make_signs(rng, 9000, 60), rng.normal(size=9000)
    one, many = (make_solver(target, scale, H.T, threads) for threads in (1, n_threads))
    assert everything(one, 3, 60, candidate) == everything(many, 3, 60, candidate)


def test_what_was_given_is_copied(rng):
    """Whatever the caller does with the arrays afterwards."""
    target, scale, H = rng.normal(size=(40, 1)), make_weights(rng, "real"), make_signs(rng)
    borrowed = target.copy(), scale.copy(), np.empty(40, dtype=np.int8)
    solver = make_solver(borrowed[0], borrowed[1])
    for column in H.T:
        borrowed[2][:] = column
        solver.add(borrowed[2])
    for array in borrowed:
        array[:] = 1
    assert solver.solve(TIGHT) == make_solver(target, scale, H.T).solve(TIGHT)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e7])
def test_columns_far_from_zero_are_centred(offset, rng):
    """The bias is free, so a constant added to a column changes nothing but the intercept."""
    H, target = rng.normal(size=(50, 4)), rng.normal(size=(50, 2))
    solver = make_solver(target, np.ones(50))
    for column in H.T:
        solver.add(np.ascontiguousarray(column + offset))
    centred = H - H.mean(axis=0)
    expected = np.linalg.solve(np.eye(4) + centred.T @ centred, centred.T @ (target - target.mean(axis=0)))
    solver.solve(TIGHT)
    assert np.allclose(weights_of(solver, 2), expected, rtol=0, atol=1e-13 * max(1.0, offset))
