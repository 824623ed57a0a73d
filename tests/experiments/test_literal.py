"""The literal versions of the paper's algorithms start, search, stop and solve as the paper states."""

from __future__ import annotations

import numpy as np
import pytest

from cgens.coding import simplex_codes
from experiments.experiment import QUICK
from experiments.literal import C_TIMES_ROWS, EPSILON, LITERAL, LITERAL_SLS, algorithm1, algorithm2, literal_rounds
from tests.experiments.fakes import small_split
from tests.tolerances import CLOSED_FORM

C = C_TIMES_ROWS / 40


@pytest.mark.parametrize("algorithm", [algorithm1, algorithm2])
def test_every_round_adds_the_column_of_the_largest_price(algorithm):
    problem = algorithm(small_split())
    steps = list(literal_rounds(problem, 40, repeats=True))
    for k, step in enumerate(steps):
        assert step.before is (steps[k - 1].after if k else None)
        assert abs(step.column.price) >= EPSILON
        prices = step.column.response @ step.duals
        assert np.isclose(prices[step.column.output], step.column.price, rtol=CLOSED_FORM, atol=0)
        assert np.abs(prices).max() <= abs(step.column.price) * (1 + CLOSED_FORM), "the largest over all outputs"
    keys = [step.column.learner.key for step in steps]
    assert len(set(keys)) < len(keys), "the literal search selects columns again"
    others = [step.column.learner.key for step in literal_rounds(problem, 40, repeats=False)]
    assert len(set(others)) == len(others)


def test_initial_duals():
    split = small_split()
    first = next(literal_rounds(algorithm1(split), 1, repeats=True))
    assert np.array_equal(first.duals[:, 0], np.where(split.y == 1, 1, -1) * C / 2)
    first = next(literal_rounds(algorithm2(small_split(n_classes=4)), 1, repeats=True))
    assert np.array_equal(first.duals, np.full((40, 3), C / 2))


def test_algorithm_2_solves_by_the_papers_formulas():
    """EQ:SLSVM_SOLUTION: S = H'H + I / C, b = 1'S^-1 L / 1'S^-1 1, U = S^-1 (L - 1 b'), W = H U."""
    split = small_split(n_classes=4)
    steps, L = list(literal_rounds(algorithm2(split), 12, repeats=True)), simplex_codes(4)[split.y]
    H = np.array([step.column.response for step in steps], dtype=float)
    S = H.T @ H + np.eye(40) / C
    b = np.linalg.solve(S, L).sum(axis=0) / np.linalg.solve(S, np.ones(40)).sum()
    U = np.linalg.solve(S, L - b)
    last = steps[-1].after
    for found, expected in ((last.intercept, b), (last.duals.array, U), (last.weights, H @ U)):
        assert np.allclose(found, expected, rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize(("experiment", "method", "n_classes"), [(LITERAL, "CGEns", 2), (LITERAL_SLS, "CGEns-SLS", 3)])
def test_the_library_and_the_literal_algorithm(experiment, method, n_classes):
    split = small_split(n_classes=n_classes)
    library, literal = (experiment.methods[name](split, 0, QUICK, {}) for name in (method, f"{method} literal"))
    assert literal.params["columns"] == QUICK.max_rounds > literal.params["distinct"]
    assert 1 < literal.params["first_repeat"] <= literal.params["columns"]
    assert library.params["columns"] == library.params["distinct"]
    for found in (library, literal):
        assert np.mean(found.model.predict(split.X) == split.y) > 0.7
