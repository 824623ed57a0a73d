"""Least squares over a growing set of columns equals the paper's formulas with an m x m matrix."""

from __future__ import annotations

import numpy as np
import pytest

from cgens._core import GramLs
from tests.reference.naive_least_squares import NaiveCurvature, grown_models, ls_dual, ls_primal, naive_model
from tests.tolerances import BALANCE, CLOSED_FORM, NEGATIVE_GAP, TIGHT

COSTS = [1e-3, 0.1, 1.0, 30.0, 1e3]
TYPES = [np.int8, np.float32, np.float64]
N_NEW = 8  # linearly independent columns


def make_solver(target, scale, columns=(), n_threads=1):
    solver = GramLs(target, scale, n_threads)
    for column in columns:
        solver.add(np.ascontiguousarray(column))
    return solver


def make_signs(rng, m=40, n_columns=12):
    return np.where(rng.random((m, n_columns)) < 0.5, 1, -1).astype(np.int8)


def make_weights(rng, m=40):
    return rng.random(m) + 0.01


# Products of columns of +-1 are counts if weights are whole multiples of one number.
WEIGHTS = {
    "any": make_weights,
    "equal": lambda rng, m=40: np.full(m, 0.3),
    "multiples": lambda rng, m=40: 0.3 * np.append(rng.integers(1, 20, m - 1), 1),
}


def make_columns(rng, dtype, m=40):
    """Return columns of one type; after the first ones, they are repeated, negated or constant."""
    H = make_signs(rng, m, N_NEW) if dtype == np.int8 else rng.normal(size=(m, N_NEW)).astype(dtype)
    return np.column_stack([H, H[:, 1], -H[:, 2], np.ones(m, dtype), H[:, 0]]).astype(dtype)


CORNERS = np.array([[-0.5, np.sqrt(0.75)], [-0.5, -np.sqrt(0.75)], [1.0, 0.0]])
# One output or several, with distinct values or ties, far from 0 or not.
TARGETS = {
    "one, distinct": lambda rng, m: rng.normal(size=(m, 1)),
    "one, tied": lambda rng, m: rng.integers(0, 3, (m, 1)).astype(float),
    "signs": lambda rng, m: np.where(rng.random((m, 1)) < 0.3, 1.0, -1.0),
    "several, distinct": lambda rng, m: rng.normal(size=(m, 4)),
    "several, tied": lambda rng, m: CORNERS[rng.integers(0, 3, m)],
    "far from 0": lambda rng, m: 1e3 + rng.normal(size=(m, 2)),
    "one column constant": lambda rng, m: np.column_stack([rng.normal(size=m), np.full(m, 2.5)]),
}


def assert_close(found, expected, size=None):
    """Compare up to 1e-9 of the largest expected value, or of `size`, the size of the terms of their sums."""
    expected = np.asarray(expected)
    size = np.abs(expected).max(initial=0.0) if size is None else size
    assert np.shape(found) == expected.shape
    assert np.allclose(found, expected, rtol=0, atol=CLOSED_FORM * size)


def weights_of(solver, n_outputs):
    return solver.weights().reshape(-1, n_outputs)


def assert_equals_reference(solver, model, candidates):
    """Compare weights, bias, duals, objective and g'Pg; values that are 0 up to rounding are relative to the target."""
    m, n_outputs = model.target.shape
    spread = np.abs(model.target - model.target.mean(axis=0)).max()
    weights = weights_of(solver, n_outputs)
    assert_close(weights, model.weights, size=spread)
    assert_close(solver.intercept(weights), model.intercept, size=np.abs(model.target).max())
    assert_close(solver.duals(weights).reshape(m, n_outputs), model.duals, size=spread * model.scale.max())
    assert_close(solver.primal, model.primal)
    quadratic = solver.quadratic(np.ascontiguousarray(candidates.T), model.H.shape[1])
    assert min(quadratic) >= 0
    assert_close(quadratic, model.quadratic(candidates))


def assert_steps_are_those_of_the_paper(solver, models):
    """Compare direction, output and denominator of every column, also if they are requested later."""
    curvature, size, largest = NaiveCurvature(models), np.abs(models[0].target).max(), models[0].scale.max()
    assert_close(curvature.diagonal, models[0].scale)
    for k in range(curvature.n_steps):
        coefficients, output, denominator = solver.step(k)
        direction, expected_output, expected_denominator = curvature.step(k)
        assert_close(solver.direction(k), direction, size=None if k < N_NEW else largest)
        assert_close(output, expected_output, size=size)
        assert_close(denominator, expected_denominator)
        assert_close(models[k].duals - np.outer(direction, output), models[k + 1].duals, size=largest)
        expected = np.vstack([models[k].weights - np.outer(coefficients, output), output])
        assert_close(expected, models[k + 1].weights, size=size)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_every_column_equals_the_reference(weights, name, dtype, rng):
    for C in COSTS if weights == "any" else COSTS[1:3]:
        target, scale, H = TARGETS[name](rng, 40), C * WEIGHTS[weights](rng), make_columns(rng, dtype)
        candidates = np.column_stack([rng.normal(size=(40, 3)), make_signs(rng, n_columns=3), np.ones(40), H])
        solver, models = make_solver(target, scale), grown_models(H, target, scale)
        assert_close(solver.solve(TIGHT)[:2], [models[0].primal, models[0].dual])
        assert_equals_reference(solver, models[0], candidates)
        for column, model in zip(H.T, models[1:], strict=True):
            solver.add(np.ascontiguousarray(column))
            assert_equals_reference(solver, model, candidates)
        assert_steps_are_those_of_the_paper(solver, models)
        primal, dual, n_refinements = solver.solve(TIGHT)
        assert_equals_reference(solver, naive_model(H, target, scale), candidates)
        assert_close([primal, dual], [models[-1].primal, models[-1].dual])
        assert solver.primal == primal
        assert n_refinements == 0, "a sound problem needs no refinement"
        assert abs(primal - dual) <= NEGATIVE_GAP * primal


@pytest.mark.parametrize("weights", [*WEIGHTS, "powers", "large multiples"])
@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 700])
def test_columns_of_signs_and_of_numbers_have_the_same_products(n_rows, weights, rng):
    """Bits, whole words or not, and the same columns as numbers after a column that is not of +-1."""
    target, scale = rng.normal(size=(n_rows, 2)), WEIGHTS.get(weights, WEIGHTS["equal"])(rng, n_rows)
    scale[0] *= {"powers": 4096, "large multiples": 5000}.get(weights, 1)
    H, number, values = make_signs(rng, n_rows, 90), rng.normal(size=n_rows), rng.normal(size=(n_rows, 2))
    signs = make_solver(target, scale, H.T)
    centred = H - np.average(H, axis=0, weights=scale)
    weights_of_columns = rng.normal(size=(90, 2))
    assert_close(signs.prices(values).reshape(90, 2), centred.T @ values, size=n_rows)
    assert_close(signs.decisions(weights_of_columns).reshape(n_rows, 2), centred @ weights_of_columns, size=90)
    assert_close(signs.centred_rows(np.arange(n_rows)).reshape(n_rows, 90), centred, size=1.0)
    products = signs.get_state()[0]
    expected = (centred.T * scale) @ centred
    assert_close(products, expected[np.tril_indices(90, -1)], size=scale.sum())
    numbers = make_solver(target, scale, [number, *H.T])
    assert_close(numbers.prices(values).reshape(91, 2)[1:], centred.T @ values, size=n_rows)
    signs.add(number)  # converts all columns
    assert_close(signs.prices(values).reshape(91, 2)[:-1], centred.T @ values, size=n_rows)


def test_a_solve_between_columns_changes_nothing(rng):
    target, scale, H = rng.normal(size=(40, 2)), make_weights(rng), make_signs(rng)
    plain, often = make_solver(target, scale, H.T), make_solver(target, scale)
    for column in H.T:
        often.add(np.ascontiguousarray(column))
        often.solve(TIGHT)
    assert plain.solve(TIGHT) == often.solve(TIGHT)
    assert np.array_equal(plain.weights(), often.weights())
    assert often.solve(TIGHT) == plain.solve(TIGHT), "solved again, nothing moves"


@pytest.mark.parametrize("factor", [1e-3, 0.5, 1.0, 7.0, 1e3])
def test_resolved_for_another_c(factor, rng):
    """All stages for C times a factor, from the stored products, equal the reference for that C."""
    target, scale, H = rng.normal(size=(40, 3)), make_weights(rng), make_signs(rng, n_columns=30)
    solver, models = make_solver(target, scale, H.T), grown_models(H, target, factor * scale)
    weights, primal = solver.weights(), solver.primal
    stages = [0, 1, 7, 7, 16, 17, 30]
    for stage, own in zip(stages, solver.resolve(factor, stages), strict=True):
        assert_close(own.reshape(stage, 3), models[stage].weights, size=np.abs(target).max())
        assert_close(solver.intercept(own.reshape(stage, 3)), models[stage].intercept, size=np.abs(target).max())
    assert solver.resolve(factor, []) == []
    assert np.array_equal(solver.weights(), weights), "the solver itself does not change"
    assert solver.primal == primal


def test_duals_of_an_earlier_model(rng):
    """Any weights of the first columns: their duals do not depend on later columns."""
    target, scale, H = rng.normal(size=(40, 2)), make_weights(rng), make_signs(rng, n_columns=70)
    early, late = make_solver(target, scale, H.T[:5]), make_solver(target, scale, H.T)
    for weights in (early.weights().reshape(5, 2), rng.normal(size=(5, 2)), rng.normal(size=(3, 2)), np.zeros((0, 2))):
        used = H[:, : len(weights)].astype(float)
        intercept = early.intercept(weights)
        assert_close(intercept, np.average(target - used @ weights, axis=0, weights=scale))
        assert_close(early.duals(weights).reshape(40, 2), scale[:, None] * (target - used @ weights - intercept))
        assert np.array_equal(early.duals(weights), late.duals(weights))
        assert np.array_equal(early.intercept(weights), late.intercept(weights))


# Target and column of +-1 -> objective, weight, bias and duals; the weight is half the difference of the targets,
# shrunk by 1 + 1/2C; a constant target is exactly the bias.
KNOWN = {
    "two rows": ([3.0, 0.0], [1, -1], 0.75, 1.0, 1.5, [0.5, -0.5]),
    "one row": ([3.0], [1], 0.0, 0.0, 3.0, [0.0]),
    "constant": ([0.75] * 4, [1, -1, -1, 1], 0.0, 0.0, 0.75, [0.0] * 4),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_solutions(name):
    target, column, primal, weight, intercept, duals = KNOWN[name]
    solver = make_solver(np.array(target)[:, None], np.ones(len(target)), [np.array(column, dtype=np.int8)])
    report, weights = solver.solve(TIGHT), weights_of(solver, 1)
    size = None if primal > 0 else 0.0  # nothing is rounded there
    assert_close(report[:2], [primal, primal], size)
    assert_close(weights, [[weight]], size)
    assert_close(solver.intercept(weights), [intercept], size)
    assert_close(solver.duals(weights), duals, size)


AWKWARD = {
    "repeated and negated": lambda signs, real: np.column_stack([signs, signs, -signs, signs[:, :3]]),
    "constant": lambda signs, real: np.column_stack([0 * signs[:, :1] + 1, signs, 0 * signs[:, :2] - [1, 0]]).astype(
        "i1"
    ),
    "nearly repeated": lambda signs, real: np.column_stack([real, real * (1 + 1e-9), real + 1e-12 * signs[:, :4]]),
    "more than rows": lambda signs, real: np.column_stack([np.roll(signs, k, axis=0) for k in range(12)]),
    "of very different size": lambda signs, real: real * np.array([1e-9, 1e-6, 1e-3, 1.0]),
}


@pytest.mark.parametrize("C", [1e-12, 1e-3, 1.0, 1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_columns_have_a_correct_gap(name, C, rng):
    """Whatever the rounding, the reported objectives are those of the returned model and duals."""
    H = AWKWARD[name](make_signs(rng, 30, 8), rng.normal(size=(30, 4)))
    target, scale = rng.normal(size=(30, 2)) + np.array([0.0, 1e3]), C * rng.integers(1, 5, 30)
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
    if C <= 1e3:
        assert_close(primal, naive_model(H, target, scale).dual)


@pytest.mark.parametrize("C", [1e15, 1e18])
def test_columns_spanned_by_others_with_a_huge_c_do_not_explode(C):
    """Their pivots are rounding errors of sums of the size of C."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        H, target = rng.normal(size=(40, 3)), rng.normal(size=(40, 1))
        solver = make_solver(target, np.full(40, C), np.column_stack([H, H @ rng.normal(size=(3, 3))]).T)
        assert np.abs(solver.weights()).max() <= np.abs(target).max()
        primal, dual, _ = solver.solve(TIGHT)
        assert primal - dual <= TIGHT * primal


def test_arguments_are_copied(rng):
    target, scale, H = rng.normal(size=(40, 1)), make_weights(rng), make_signs(rng)
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
    """The bias is free: a constant added to a column changes only the intercept."""
    H, target = rng.normal(size=(50, 4)), rng.normal(size=(50, 2))
    solver = make_solver(target, np.ones(50), (H + offset).T)
    centred = H - H.mean(axis=0)
    expected = np.linalg.solve(np.eye(4) + centred.T @ centred, centred.T @ (target - target.mean(axis=0)))
    solver.solve(TIGHT)
    assert np.allclose(weights_of(solver, 2), expected, rtol=0, atol=1e-13 * max(1.0, offset))


def test_counted_products_of_rare_signs_are_exact():
    """The numerator n sum_i k_i h_i g_i - S_h S_g is an integer, of which nothing cancels."""
    m, unit = 200_000, 0.25
    multiples = np.where(np.arange(m) % 7 == 0, 3, 1)
    columns = np.full((3, m), -1, dtype=np.int8)
    columns[0, :11] = columns[1, 5:20] = columns[2, ::2] = 1
    solver = make_solver(np.zeros((m, 1)), unit * multiples, columns)
    products, _, with_itself, *_ = solver.get_state()
    sums = columns.astype(np.int64) @ multiples
    total, pairs = int(multiples.sum()), (columns * multiples) @ columns.T.astype(np.int64)
    exact = np.array([[total * int(pairs[j, k]) - int(sums[j]) * int(sums[k]) for k in range(3)] for j in range(3)])
    expected = unit * (exact / total)
    assert products.tolist() == [expected[1, 0], expected[2, 0], expected[2, 1]]
    assert with_itself.tolist() == np.diag(expected).tolist()


@pytest.mark.parametrize("n_outputs", [1, 2, 4, 5, 9])
@pytest.mark.parametrize("dtype", TYPES)
def test_products_with_centred_columns(dtype, n_outputs, rng):
    """What smooth losses need: Hc W, Hc'R, A^-1 G and Hc itself, in more than one block of rows, and an odd number."""
    m = 1027
    H, scale = make_columns(rng, dtype, m)[:, :N_NEW], make_weights(rng, m)
    solver = make_solver(np.zeros((m, n_outputs)), scale, H.T)
    centred = H.astype(np.float64) - scale @ H / scale.sum()
    W, R = rng.normal(size=(N_NEW, n_outputs)), rng.normal(size=(m, n_outputs))
    assert_close(solver.decisions(W).reshape(m, n_outputs), centred @ W)
    assert_close(solver.prices(R).reshape(N_NEW, n_outputs), centred.T @ R, size=np.abs(centred).T @ np.abs(R))
    A = np.eye(N_NEW) + (centred.T * scale) @ centred
    assert_close(solver.solve_factor(W).reshape(N_NEW, n_outputs), np.linalg.solve(A, W))
    assert_close(solver.centred_rows(np.arange(500, 520)).reshape(20, N_NEW), centred[500:520])
    empty = make_solver(np.zeros((m, n_outputs)), scale)
    assert not empty.decisions(np.zeros((0, n_outputs))).any()
    assert len(empty.prices(R)) == len(empty.solve_factor(np.zeros((0, n_outputs)))) == 0
