"""The weights of all rounds: what goes in as full weights or as steps comes out as the weights they are."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from cgens.types import Duals, MasterSolution, RankOneStep, Status
from cgens.weight_history import WeightHistory
from tests.tolerances import CLOSED_FORM

#: "f" is a round of full weights, "s" one of rank one, "0" one that leaves all weights as they are; every round but the
#: first adds a column.
HISTORIES = {
    "empty model only": "f",
    "full rounds": "f" + 12 * "f",
    "steps": "f" + 12 * "s",
    "mixed": "f" + "ssf" + "s0fs" + "ffs00s" + "ssssf",
    "stage-wise": "f" + 12 * "0",
    "more steps than are multiplied out together": "f" + 150 * "s",
    "as many as are multiplied out together": "f" + 64 * "s" + "f" + 64 * "s",
}


def make_solution(weights, intercept, step=None):
    return MasterSolution(weights, intercept, Duals(np.zeros((1, 1))), 0.0, 0.0, Status.OPTIMAL, 0, step)


def make_history(kinds, rng, n_outputs=2):
    """Return a history, and its weights and intercepts in plain lists."""
    history, models = WeightHistory(), []
    weights = np.zeros((0, n_outputs))
    for n_round, kind in enumerate(kinds):
        step = None
        if kind in "s0":
            coefficients = 0.3 * rng.normal(size=len(weights)) * (kind == "s")
            step = RankOneStep(n_round, coefficients if kind == "s" else None, rng.normal(size=n_outputs))
            weights = np.vstack([weights - np.outer(coefficients, step.output), step.output])
        else:
            weights = rng.normal(size=(n_round, n_outputs))
        intercept = rng.normal(size=n_outputs)
        history.append(make_solution(weights, intercept, step))
        models.append((weights, intercept))
    return history, models


def assert_same_models(found, expected):
    assert len(found) == len(expected)
    for (weights, intercept), (own_weights, own_intercept) in zip(found, expected, strict=True):
        assert weights.shape == own_weights.shape
        assert np.allclose(weights, own_weights, rtol=0, atol=CLOSED_FORM * np.abs(own_weights).max(initial=1.0))
        assert np.array_equal(intercept, own_intercept)


def staged(history, responses):
    return history.staged(lambda begin, end: responses[begin:end], len(responses))


def assert_same_stages(history, models, responses):
    stages = list(staged(history, responses))
    models = [model for model in models if len(model[0])] or models  # the empty model is no stage
    assert len(stages) == len(models)
    for k, (stage, (weights, intercept)) in enumerate(zip(stages, models, strict=True)):
        expected = responses[:, : len(weights)].astype(float) @ weights + intercept
        assert stage.shape == expected.shape
        size = np.abs(weights).sum() + np.abs(intercept).max()
        assert np.allclose(stage, expected, rtol=0, atol=CLOSED_FORM * size), k


def make_responses(rng, n, n_columns, dtype=np.int8):
    signs = np.where(rng.random((n, n_columns)) < 0.5, 1, -1)
    return signs.astype(np.int8) if dtype == np.int8 else (signs * rng.random((n, n_columns))).astype(dtype)


@pytest.mark.parametrize("name", HISTORIES)
def test_weights_of_every_round(name, rng):
    history, models = make_history(HISTORIES[name], rng)
    assert len(history) == len(HISTORIES[name])
    assert_same_models(list(history), models)
    assert_same_models(list(history), models)  # an iteration leaves no trace


@pytest.mark.parametrize("name", HISTORIES)
def test_rounds_by_number(name, rng):
    history, models = make_history(HISTORIES[name], rng)
    numbers = [*range(0, len(models), 7), len(models) - 1]
    assert_same_models([history[k] for k in numbers], [models[k] for k in numbers])
    assert_same_models([history[-k - 1] for k in numbers], [models[-k - 1] for k in numbers])
    for beyond in (len(models), -len(models) - 1, 10_000):
        with pytest.raises(IndexError):
            history[beyond]


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("name", HISTORIES)
def test_stages_are_the_decisions_of_their_rounds(name, n_outputs, dtype, rng):
    history, models = make_history(HISTORIES[name], rng, n_outputs)
    assert_same_stages(history, models, make_responses(rng, 30, len(models) - 1, dtype))


def test_stages_of_more_rows_than_are_made_doubles_together(rng):
    history, models = make_history("f" + "sssfsss", rng)
    for n in (2047, 2048, 2049, 5000):
        assert_same_stages(history, models, make_responses(rng, n, len(models) - 1))


def test_stages_of_no_rows(rng):
    history, _ = make_history("fssfs", rng)
    assert [stage.shape for stage in staged(history, np.zeros((0, 4), dtype=np.int8))] == [(0, 2)] * 4


def test_stages_stay_what_they_were(rng):
    """Each is an array of its own: who keeps one, keeps it."""
    history, models = make_history("f" + 10 * "s", rng)
    responses = make_responses(rng, 20, 10)
    kept = [(stage, stage.copy()) for stage in staged(history, responses)]
    assert all(np.array_equal(stage, copy) for stage, copy in kept)
    assert_same_stages(history, models, responses)


def test_the_last_round_can_be_replaced(rng):
    """By a better solution of the same columns; steps after it start from there."""
    for kinds in ("fss", "fsf", "f"):
        history, models = make_history(kinds, rng)
        better = rng.normal(size=models[-1][0].shape), rng.normal(size=2)
        history.replace_last(make_solution(*better, step=None))
        models[-1] = better
        step = RankOneStep(len(better[0]) + 1, rng.normal(size=len(better[0])), rng.normal(size=2))
        following = step.apply(better[0]), rng.normal(size=2)
        history.append(make_solution(*following, step=step))
        assert_same_models(list(history), [*models, following])
        assert_same_stages(history, [*models, following], make_responses(rng, 20, len(models)))


def test_the_first_round_is_kept_as_weights(rng):
    """Whatever step it came by: the history has no weights for it to start from."""
    history, step = WeightHistory(), RankOneStep(2, np.ones(1), np.ones(2))
    history.append(make_solution(np.full((2, 2), 5.0), np.zeros(2), step))
    assert_same_models(list(history), [(np.full((2, 2), 5.0), np.zeros(2))])
    assert_same_stages(history, list(history), make_responses(rng, 5, 2))


def test_what_replaces_a_round_is_kept_as_weights(rng):
    """Whatever step it came by: that one starts from the round itself."""
    history, models = make_history("fss", rng)
    step = RankOneStep(2, rng.normal(size=1), rng.normal(size=2))
    better = rng.normal(size=(2, 2)), rng.normal(size=2)
    history.replace_last(make_solution(*better, step=step))
    assert_same_models(list(history), [*models[:-1], better])


def test_without_the_last_round_it_is_another_path(rng):
    history, models = make_history("fsfss", rng)
    shorter = history.before_last(stored=False)
    assert_same_models(list(shorter), models[:-1])
    shorter.append(make_solution(np.ones((4, 2)), np.zeros(2)))
    assert_same_models(list(history), models)
    assert_same_models(list(shorter), [*models[:-1], (np.ones((4, 2)), np.zeros(2))])
    only, _ = make_history("f", rng)
    assert len(only.before_last(stored=False)) == 0


def test_a_step_changes_all_weights(rng):
    step = RankOneStep(3, np.array([2.0, -1.0]), np.array([1.0, 10.0]))
    before = np.array([[1.0, 1.0], [0.0, 0.0]])
    assert step.apply(before).tolist() == [[-1.0, -19.0], [1.0, 10.0], [1.0, 10.0]]
    assert before.tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert RankOneStep(1, np.zeros(0), np.array([3.0])).apply(np.zeros((0, 1))).tolist() == [[3.0]]


def test_a_path_is_short_where_its_rounds_are_steps(rng):
    """J + l numbers a round instead of J l."""
    history, _ = make_history("f" + 40 * "s", rng, n_outputs=30)
    kept = sum(change.coefficients.size + change.output.size for change, _ in history._rounds[1:])
    assert kept == sum(k + 30 for k in range(40))


@pytest.mark.parametrize(("kinds", "stored", "kept"), [("fsss", False, 0), ("fsss", True, 4), ("f000", False, 4)])
def test_a_pickle_keeps_the_rounds_on_request_or_where_they_cost_nothing(kinds, stored, kept, rng):
    history, models = make_history(kinds, rng)
    history.stored = stored
    again = pickle.loads(pickle.dumps(history))
    assert len(again) == kept
    assert copy.deepcopy(history) is history
    if kept:
        assert_same_models(list(again), models)
    else:
        with pytest.raises(ValueError, match="store_history=True"):
            next(staged(again, make_responses(rng, 5, 3)))


def test_columns_may_be_turned(rng):
    """Signs of the columns change the weights of every round alike, whatever form a round has."""
    history, models = make_history("fsssfss", rng)
    signs = np.where(rng.random(6) < 0.5, -1.0, 1.0)
    turned = WeightHistory()
    for (change, intercept), (weights, _) in zip(history._rounds, models, strict=True):
        step = change if isinstance(change, RankOneStep) else None
        turned.append(make_solution(weights, intercept, step).turned(signs[: len(weights)]))
    assert_same_models(list(turned), [(signs[: len(w), None] * w, b) for w, b in models])
