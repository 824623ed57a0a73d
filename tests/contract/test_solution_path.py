"""The solutions of all rounds: what goes in as full weights or as steps comes out as the weights they are."""

from __future__ import annotations

import numpy as np
import pytest

from cgens.solution_path import SolutionPath
from cgens.types import Duals, MasterSolution, RankOneStep, Status
from tests.tolerances import CLOSED_FORM

#: "f" is a round of full weights, "s" one of rank one; every round but the first adds a column.
PATHS = {
    "empty model only": "f",
    "full rounds": "f" + 12 * "f",
    "steps": "f" + 12 * "s",
    "mixed": "f" + "ssf" + "sfs" + "ffss" + "ssssf",
    "more steps than are multiplied out together": "f" + 150 * "s",
    "as many as are multiplied out together": "f" + 64 * "s" + "f" + 64 * "s",
}


def make_solution(weights, intercept, step=None):
    return MasterSolution(weights, intercept, Duals(np.zeros((1, 1))), 0.0, 0.0, Status.OPTIMAL, 0, step)


def make_path(kinds, rng, n_outputs=2):
    """Return a path, and its weights and intercepts in plain lists."""
    path, models = SolutionPath(), []
    weights = np.zeros((0, n_outputs))
    for n_round, kind in enumerate(kinds):
        step = None
        if kind == "s":
            step = RankOneStep(0.3 * rng.normal(size=len(weights)), rng.normal(size=n_outputs))
            weights = np.vstack([weights - np.outer(step.coefficients, step.output), step.output])
        else:
            weights = rng.normal(size=(n_round, n_outputs))
        intercept = rng.normal(size=n_outputs)
        path.append(make_solution(weights, intercept, step))
        models.append((weights, intercept))
    return path, models


def assert_same_models(found, expected):
    assert len(found) == len(expected)
    for (weights, intercept), (own_weights, own_intercept) in zip(found, expected, strict=True):
        assert weights.shape == own_weights.shape
        assert np.allclose(weights, own_weights, rtol=0, atol=CLOSED_FORM * np.abs(own_weights).max(initial=1.0))
        assert np.array_equal(intercept, own_intercept)


def assert_same_stages(path, models, responses):
    stages = list(path.staged(responses))
    assert len(stages) == len(models)
    for k, (stage, (weights, intercept)) in enumerate(zip(stages, models, strict=True)):
        expected = responses[:, : len(weights)].astype(float) @ weights + intercept
        assert stage.shape == expected.shape
        size = np.abs(weights).sum() + np.abs(intercept).max()
        assert np.allclose(stage, expected, rtol=0, atol=CLOSED_FORM * size), k


def make_responses(rng, n, n_columns, dtype=np.int8):
    signs = np.where(rng.random((n, n_columns)) < 0.5, 1, -1)
    return signs.astype(np.int8) if dtype == np.int8 else (signs * rng.random((n, n_columns))).astype(dtype)


@pytest.mark.parametrize("name", PATHS)
def test_weights_of_every_round(name, rng):
    path, models = make_path(PATHS[name], rng)
    assert len(path) == len(PATHS[name])
    assert_same_models(list(path), models)
    assert_same_models(list(path), models)  # an iteration leaves no trace


@pytest.mark.parametrize("name", PATHS)
def test_rounds_by_number(name, rng):
    path, models = make_path(PATHS[name], rng)
    numbers = [*range(0, len(models), 7), len(models) - 1]
    assert_same_models([path[k] for k in numbers], [models[k] for k in numbers])
    assert_same_models([path[-k - 1] for k in numbers], [models[-k - 1] for k in numbers])
    for beyond in (len(models), -len(models) - 1, 10_000):
        with pytest.raises(IndexError):
            path[beyond]


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("name", PATHS)
def test_stages_are_the_decisions_of_their_rounds(name, n_outputs, dtype, rng):
    path, models = make_path(PATHS[name], rng, n_outputs)
    assert_same_stages(path, models, make_responses(rng, 30, len(models) - 1, dtype))


def test_stages_of_more_rows_than_are_made_doubles_together(rng):
    path, models = make_path("f" + "sssfsss", rng)
    for n in (8191, 8192, 8193, 20_000):
        assert_same_stages(path, models, make_responses(rng, n, len(models) - 1))


def test_stages_of_no_rows(rng):
    path, _ = make_path("fssfs", rng)
    assert [stage.shape for stage in path.staged(np.zeros((0, 4), dtype=np.int8))] == [(0, 2)] * 5


def test_stages_stay_what_they_were(rng):
    """Each is an array of its own: who keeps one, keeps it."""
    path, models = make_path("f" + 10 * "s", rng)
    responses = make_responses(rng, 20, 10)
    kept = [(stage, stage.copy()) for stage in path.staged(responses)]
    assert all(np.array_equal(stage, copy) for stage, copy in kept)
    assert_same_stages(path, models, responses)


def test_the_last_round_can_be_replaced(rng):
    """By a better solution of the same columns; steps after it start from there."""
    for kinds in ("fss", "fsf", "f"):
        path, models = make_path(kinds, rng)
        better = rng.normal(size=models[-1][0].shape), rng.normal(size=2)
        path.replace_last(make_solution(*better, step=None))
        models[-1] = better
        step = RankOneStep(rng.normal(size=len(better[0])), rng.normal(size=2))
        following = step.apply(better[0]), rng.normal(size=2)
        path.append(make_solution(*following, step=step))
        assert_same_models(list(path), [*models, following])
        assert_same_stages(path, [*models, following], make_responses(rng, 20, len(models)))


def test_the_first_round_is_kept_as_weights(rng):
    """Whatever step it came by: the path has no weights for it to start from."""
    path, step = SolutionPath(), RankOneStep(np.ones(1), np.ones(2))
    path.append(make_solution(np.full((2, 2), 5.0), np.zeros(2), step))
    assert_same_models(list(path), [(np.full((2, 2), 5.0), np.zeros(2))])
    assert_same_stages(path, list(path), make_responses(rng, 5, 2))


def test_what_replaces_a_round_is_kept_as_weights(rng):
    """Whatever step it came by: that one starts from the round itself."""
    path, models = make_path("fss", rng)
    step = RankOneStep(rng.normal(size=1), rng.normal(size=2))
    better = rng.normal(size=(2, 2)), rng.normal(size=2)
    path.replace_last(make_solution(*better, step=step))
    assert_same_models(list(path), [*models[:-1], better])


def test_without_the_last_round_it_is_another_path(rng):
    path, models = make_path("fsfss", rng)
    shorter = path.before_last()
    assert_same_models(list(shorter), models[:-1])
    shorter.append(make_solution(np.ones((4, 2)), np.zeros(2)))
    assert_same_models(list(path), models)
    assert_same_models(list(shorter), [*models[:-1], (np.ones((4, 2)), np.zeros(2))])
    only, _ = make_path("f", rng)
    assert len(only.before_last()) == 0


def test_a_step_changes_all_weights(rng):
    step = RankOneStep(np.array([2.0, -1.0]), np.array([1.0, 10.0]))
    before = np.array([[1.0, 1.0], [0.0, 0.0]])
    assert step.apply(before).tolist() == [[-1.0, -19.0], [1.0, 10.0], [1.0, 10.0]]
    assert before.tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert RankOneStep(np.zeros(0), np.array([3.0])).apply(np.zeros((0, 1))).tolist() == [[3.0]]


def test_a_path_is_short_where_its_rounds_are_steps(rng):
    """J + l numbers a round instead of J l."""
    path, _ = make_path("f" + 40 * "s", rng, n_outputs=30)
    kept = sum(change.coefficients.size + change.output.size for change, _ in path._rounds[1:])
    assert kept == sum(k + 30 for k in range(40))
