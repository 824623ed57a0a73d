"""The history returns the weights of every round, whether a round was stored as full weights or as a step."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from cgens.types import Duals, MasterSolution, RankOneStep, Status
from cgens.weight_history import WeightHistory
from tests.tolerances import CLOSED_FORM

#: "f" is a round of full weights, "s" a step of rank one, "0" a step that leaves the earlier weights as they are; every
#: round but the first adds a column.
HISTORIES = {
    "empty model only": "f",
    "full rounds": "f" + 12 * "f",
    "steps": "f" + 12 * "s",
    "mixed": "f" + "ssf" + "s0fs" + "ffs00s" + "ssssf",
    "stage-wise": "f" + 12 * "0",
    "more steps than are applied at once": "f" + 150 * "s",
    "as many steps as are applied at once": "f" + 64 * "s" + "f" + 64 * "s",
}


def make_solution(weights, intercept, step=None):
    """Return a solution of which only the weights matter."""
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
    assert_same_models(list(history), models)  # an iteration changes nothing
    assert_same_models(history[1:9:2], models[1:9:2])
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


@pytest.mark.parametrize("n", [0, 2047, 2048, 2049, 5000])
def test_stages_of_no_rows_and_of_several_blocks_of_rows(n, rng):
    """Each stage is an array of its own that later ones do not change."""
    history, models = make_history("f" + "sssfsss", rng)
    responses = make_responses(rng, n, len(models) - 1)
    assert_same_stages(history, models, responses)
    kept = [(stage, stage.copy()) for stage in staged(history, responses)]
    assert all(np.array_equal(stage, copy) for stage, copy in kept)


@pytest.mark.parametrize("kinds", ["fss", "fsf", "f"])
@pytest.mark.parametrize("by_step", [False, True])
def test_the_last_round_can_be_replaced(kinds, by_step, rng):
    """A better solution of the same columns is stored as weights: its step, if any, starts from the round itself."""
    history, models = make_history(kinds, rng)
    better = rng.normal(size=models[-1][0].shape), rng.normal(size=2)
    n_columns = len(better[0])
    step = RankOneStep(n_columns, rng.normal(size=n_columns - 1), rng.normal(size=2)) if by_step and n_columns else None
    history.replace_last(make_solution(*better, step=step))
    models[-1] = better
    step = RankOneStep(n_columns + 1, rng.normal(size=n_columns), rng.normal(size=2))
    following = step.apply(better[0]), rng.normal(size=2)
    history.append(make_solution(*following, step=step))
    assert_same_models(list(history), [*models, following])
    assert_same_stages(history, [*models, following], make_responses(rng, 20, len(models)))


def test_the_first_round_is_stored_as_weights(rng):
    """Also if it has a step: the history has no weights for it to start from."""
    history, step = WeightHistory(), RankOneStep(2, np.ones(1), np.ones(2))
    history.append(make_solution(np.full((2, 2), 5.0), np.zeros(2), step))
    assert_same_models(list(history), [(np.full((2, 2), 5.0), np.zeros(2))])
    assert_same_stages(history, list(history), make_responses(rng, 5, 2))


def test_a_history_without_its_last_round_is_independent(rng):
    history, models = make_history("fsfss", rng)
    shorter = history.before_last(stored=False)
    assert_same_models(list(shorter), models[:-1])
    shorter.append(make_solution(np.ones((4, 2)), np.zeros(2)))
    assert_same_models(list(history), models)
    assert_same_models(list(shorter), [*models[:-1], (np.ones((4, 2)), np.zeros(2))])
    only, _ = make_history("f", rng)
    assert len(only.before_last(stored=False)) == 0


def test_a_step_changes_all_weights():
    step = RankOneStep(3, np.array([2.0, -1.0]), np.array([1.0, 10.0]))
    before = np.array([[1.0, 1.0], [0.0, 0.0]])
    assert step.apply(before).tolist() == [[-1.0, -19.0], [1.0, 10.0], [1.0, 10.0]]
    assert before.tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert RankOneStep(1, np.zeros(0), np.array([3.0])).apply(np.zeros((0, 1))).tolist() == [[3.0]]


def test_steps_take_little_memory(rng):
    """J + l numbers per round instead of J l."""
    history, _ = make_history("f" + 40 * "s", rng, n_outputs=30)
    kept = sum(change.coefficients.size + change.output.size for change, _ in history._rounds[1:])
    assert kept == sum(k + 30 for k in range(40))


@pytest.mark.parametrize(("kinds", "stored", "kept"), [("fsss", False, 0), ("fsss", True, 4), ("f000", False, 4)])
def test_a_pickle_keeps_the_rounds_on_request_or_if_they_are_short(kinds, stored, kept, rng):
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


def test_columns_may_be_flipped(rng):
    """The signs of the columns change the weights of every round, however it is stored."""
    history, models = make_history("fsssfss", rng)
    signs = np.where(rng.random(6) < 0.5, -1.0, 1.0)
    turned = WeightHistory()
    for (change, intercept), (weights, _) in zip(history._rounds, models, strict=True):
        step = change if isinstance(change, RankOneStep) else None
        turned.append(make_solution(weights, intercept, step).with_signs(signs[: len(weights)]))
    assert_same_models(list(turned), [(signs[: len(w), None] * w, b) for w, b in models])
