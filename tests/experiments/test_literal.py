"""The paper's algorithms to the letter start, search and end as they say, and solve what they say."""

from __future__ import annotations

import numpy as np
import pytest

from cgens.coding import simplex_codes
from experiments.experiment import QUICK
from experiments.literal import EPSILON, LITERAL, LITERAL_SLS, TOTAL_C, algorithm1, algorithm2, literal_rounds
from tests.experiments.fakes import small_split
from tests.tolerances import CLOSED_FORM


@pytest.mark.parametrize("algorithm", [algorithm1, algorithm2])
def test_the_letter_may_repeat_a_column(algorithm):
    problem = algorithm(small_split())
    turns = list(literal_rounds(problem, 40, repeats=True))
    assert turns[0].before is None
    keys = [turn.column.learner.key for turn in turns]
    assert len(set(keys)) < len(keys)
    others = [turn.column.learner.key for turn in literal_rounds(problem, 40, repeats=False)]
    assert len(set(others)) == len(others)
    for k, turn in enumerate(turns):
        assert turn.before is (turns[k - 1].after if k else None)
        assert turn.column.score >= EPSILON
        prices = turn.column.response @ turn.duals
        assert np.isclose(prices[turn.column.output], turn.column.score, rtol=CLOSED_FORM, atol=0)
        assert np.abs(prices).max() <= turn.column.score * (1 + CLOSED_FORM), "the best over all outputs"


def test_algorithm_1_starts_at_half_the_cost():
    split = small_split()
    first = next(literal_rounds(algorithm1(split), 1, repeats=True))
    assert np.array_equal(first.duals[:, 0], np.where(split.y == 1, 1, -1) * (TOTAL_C / 40) / 2)


def test_algorithm_2_starts_at_a_positive_constant():
    split = small_split(n_classes=4)
    first = next(literal_rounds(algorithm2(split), 1, repeats=True))
    assert first.duals.shape == (40, 3)
    assert len(np.unique(first.duals)) == 1
    assert first.duals[0, 0] > 0


def test_algorithm_2_solves_by_the_papers_formulas():
    """EQ:SLSVM_SOLUTION: S = H'H + I / C, b = 1'S^-1 L / 1'S^-1 1, U = S^-1 (L - 1 b'), W = H U."""
    split = small_split(n_classes=4)
    L, C = simplex_codes(4)[split.y], TOTAL_C / 40
    responses = []
    for turn in literal_rounds(algorithm2(split), 12, repeats=True):
        responses.append(turn.column.response.astype(float))
        H = np.array(responses)
        S = H.T @ H + np.eye(40) / C
        b = np.linalg.solve(S, L).sum(axis=0) / np.linalg.solve(S, np.ones(40)).sum()
        U = np.linalg.solve(S, L - b)
        assert np.allclose(turn.after.intercept, b, rtol=0, atol=CLOSED_FORM)
        assert np.allclose(turn.after.duals.array, U, rtol=0, atol=CLOSED_FORM)
        assert np.allclose(turn.after.weights, H @ U, rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize(("experiment", "n_classes"), [(LITERAL, 2), (LITERAL_SLS, 3)])
def test_both_ways_to_run_it(experiment, n_classes):
    split = small_split(n_classes=n_classes)
    library, letter = (fit(split, 0, QUICK, {}) for fit in experiment.methods.values())
    assert letter.params["columns"] == QUICK.most_rounds
    assert letter.params["distinct"] < letter.params["columns"]
    assert 1 < letter.params["first_repeat"] <= letter.params["columns"]
    assert library.params["columns"] == library.params["distinct"]
    for found in (library, letter):
        assert set(found.model.predict(split.X)) <= set(range(n_classes))
        assert np.mean(found.model.predict(split.X) == split.y) > 0.7
