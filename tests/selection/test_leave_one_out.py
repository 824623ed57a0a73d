"""Leave-one-out errors equal those of one fit per row."""

from __future__ import annotations

import numpy as np
import pytest

from cgens.coding import simplex_codes
from cgens.masters import LeastSquares
from cgens.selection import NormalEquations, RidgePath, copies_of, left_out_residuals, loo
from cgens.selection.gram import TILE, gram_of
from cgens.selection.leave_one_out import mean_square
from cgens.table import Table
from cgens.types import Sample
from cgens.weak_learners import Box, Fourier, Perceptron, Stump
from tests.reference.naive_loo import naive_left_out_residuals, naive_ridge

PENALTIES = [0.1, 3.0, 100.0]
WEIGHTS = {
    "equal": lambda rng, m: np.ones(m),
    "copies": lambda rng, m: rng.integers(1, 4, size=m).astype(float),
    "fractions": lambda rng, m: rng.uniform(0.01, 0.3, size=m),
    "mixed": lambda rng, m: rng.uniform(0.2, 5.0, size=m),
}
FAMILIES = {
    "stump": Stump(max_bins=8),
    "box": Box(n_candidates=30),
    "fourier": Fourier(n_candidates=30, learn=False),
    "perceptron": Perceptron(n_candidates=30, learn=False),
}


def make_problem(m, n, n_outputs, weights, seed=0):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(m, n)) + rng.normal(size=n)
    target = rng.normal(size=(m, n_outputs)) if n_outputs < 3 else simplex_codes(n_outputs + 1)[rng.integers(4, size=m)]
    return columns, target, WEIGHTS[weights](rng, m)


def unit_of(weight):
    """Return the weight of one copy of each row."""
    return np.ones(len(weight)) if np.all(weight == np.rint(weight)) else weight


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("n", [0, 1, 12, 39, 40, 41, 90])
def test_left_out_residuals_equal_one_fit_per_row(n, n_outputs, weights):
    columns, target, weight = make_problem(40, n, n_outputs, weights)
    unit, normal, some = unit_of(weight), NormalEquations.of(columns, target, weight, 1), np.arange(3, 40, 5)
    by_path = RidgePath(columns, target, weight).left_out_residuals(PENALTIES, unit)
    by_factors = left_out_residuals(normal, columns, target, PENALTIES, some, unit, n_threads=2)
    for penalty, residuals, of_some in zip(PENALTIES, by_path, by_factors, strict=True):
        expected = naive_left_out_residuals(columns, target, weight, penalty, unit)
        np.testing.assert_allclose(residuals, expected, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(of_some, expected[some], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_whole_pool_of_a_family(name):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 4))
    X[10:15] = X[:5]  # equal rows with other targets, and equal rows with equal ones
    target = np.sign(X[:, :1] + rng.normal(size=(30, 1)))
    target[10:13] = target[:3]
    weight = rng.integers(1, 3, size=30).astype(float)
    pool = FAMILIES[name].begin(Sample(Table.of(X), np.arange(30), weight), rng, 1).pool()
    columns = np.column_stack([learner.respond(X) for learner in pool]).astype(float)
    found = loo(columns, target, weight, PENALTIES)
    for penalty, error in zip(PENALTIES, found.errors, strict=True):
        expected = naive_left_out_residuals(columns, target, weight, penalty, unit_of(weight))
        assert error == pytest.approx(mean_square(expected, weight), rel=1e-8)


def test_weights_are_copies():
    columns, target, weight = make_problem(25, 8, 2, "copies")
    copies = np.repeat(np.arange(25), weight.astype(int))
    merged, expanded = loo(columns, target, weight), loo(columns[copies], target[copies])
    assert merged.penalty == expanded.penalty
    np.testing.assert_allclose(merged.errors, expanded.errors, rtol=1e-10)
    np.testing.assert_allclose(merged.decisions[copies], expanded.decisions, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(
    ("weight", "copies"),
    [
        ([1, 3, 2], [1, 3, 2]),
        ([10, 30, 10], [1, 3, 1]),
        ([4, 6, 10], [2, 3, 5]),
        ([1234, 987], [1234, 987]),
        ([0.1, 0.3, 0.7], [1, 3, 7]),
        ([1, 2.5, 4], [1, 1, 1]),
        ([7], [1]),
        ([1e-12, 1, 1], [1, 1, 1]),
        ([], []),
    ],
)
def test_weights_are_copies_if_they_are_multiples_of_a_unit(weight, copies):
    assert copies_of(np.array(weight, dtype=float)).tolist() == copies


def test_given_copies_count_instead_of_those_by_weights():
    columns, target, weight = make_problem(40, 7, 1, "copies")
    found = loo(columns, target, weight, [3.0], copies=np.ones(40))
    residuals = naive_left_out_residuals(columns, target, weight, 3.0, weight)
    np.testing.assert_allclose(target - found.decisions, residuals, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("n", [5, 60])
def test_solutions_equal_those_of_normal_equations_and_of_the_master(n):
    columns, target, weight = make_problem(50, n, 2, "mixed")
    for penalty in PENALTIES:
        weights, intercept = RidgePath(columns, target, weight).solution(penalty)
        expected = naive_ridge(columns, target, weight, penalty)
        np.testing.assert_allclose(weights, expected[0], rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(intercept, expected[1], rtol=1e-8, atol=1e-10)
        master = LeastSquares(1 / penalty).begin(target, weight, 1)
        for column in columns.T:
            master.add(column)
        solution = master.solve(1e-12, lambda: False)
        np.testing.assert_allclose(weights, solution.weights, rtol=1e-7, atol=1e-9)


def test_rows_that_do_not_count_only_take_part_in_the_fits():
    columns, target, weight = make_problem(40, 7, 1, "mixed")
    counted = np.arange(40) % 2
    residuals = naive_left_out_residuals(columns, target, weight, 3.0, unit_of(weight))
    found = loo(columns, target, weight, [3.0], counted)
    assert found.error == pytest.approx(mean_square(residuals[1::2], weight[1::2]), rel=1e-8)


def test_blocks_and_threads():
    rng = np.random.default_rng(0)
    columns, target = rng.normal(size=(4500, TILE + 20)), rng.normal(size=(4500, 1))
    one, two = (loo(columns, target, None, [1.0, 10.0], n_threads=n_threads) for n_threads in (1, 2))
    np.testing.assert_array_equal(one.decisions, two.decisions)
    some = RidgePath(columns, target).left_out_residuals([10.0])[0]
    weights, intercept = naive_ridge(columns[1:], target[1:], np.ones(4499), 10.0)
    np.testing.assert_allclose(some[0], target[0] - columns[0] @ weights - intercept, rtol=1e-8)
    np.testing.assert_allclose(gram_of([columns[:9], columns[9:]], columns.shape[1], 2), columns.T @ columns, atol=1e-9)


def test_a_constant_target_and_constant_columns_are_predicted_exactly():
    found = loo(np.ones((5, 3)), np.full((5, 1), 7.0))
    np.testing.assert_allclose(found.decisions, 7.0)
    assert found.error == pytest.approx(0.0, abs=1e-20)


def test_ties_go_to_the_largest_penalty():
    assert loo(np.ones((5, 3)), np.array([[1.0], [2.0], [3.0], [4.0], [9.0]]), None, [1.0, 5.0, 2.0]).penalty == 5.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones((3, 2)), np.ones((4, 1))), "same number of rows"),
        ((np.ones((3, 2)), np.ones(3)), "same number of rows"),
        ((np.ones((0, 2)), np.ones((0, 1))), "at least one"),
        ((np.ones((3, 2)), np.ones((3, 1)), [1.0, 0.0, 1.0]), "leave out rows of weight 0"),
        ((np.ones((3, 2)), np.ones((3, 1)), None, []), "at least one value"),
        ((np.ones((3, 2)), np.ones((3, 1)), None, [-1.0]), "finite number > 0"),
        ((np.ones((3, 2)), np.ones((3, 1)), None, [1.0], np.zeros(3)), "counted"),
    ],
)
def test_invalid_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        loo(*arguments)
