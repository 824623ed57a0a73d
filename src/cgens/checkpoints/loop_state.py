"""The state of the loop as named arrays, from which it goes on to the same bits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from cgens.checkpoints.generators import restore_generator, save_generator
from cgens.checkpoints.interfaces import resumable_master, resumable_pricer
from cgens.io.archive import FormatError
from cgens.named_arrays import add_prefix, take_prefix
from cgens.packs import PackSet
from cgens.trace import TraceRecorder
from cgens.types import AnyArray, Column, Duals, Learner, MasterSolution, Sample, Status
from cgens.weight_history import WeightHistory


class LoopState(Protocol):
    """The parts of the loop that make up its state."""

    master: Any
    pricer: Any
    rng: np.random.Generator
    resumable: bool
    n_initial: int
    learners: list[Learner]
    means: list[float]
    signs: list[float]
    responses: dict[int, AnyArray]
    history: WeightHistory
    recorder: TraceRecorder
    solution: MasterSolution

    def record(self, column: Column, sign: float, mean: float) -> None:
        """Add a column to the lists."""

    def adopt(self, solution: MasterSolution) -> None:
        """Continue from a solution."""


def save_loop(loop: LoopState) -> dict[str, AnyArray]:
    """Return the state of the loop after a round.

    Raises
    ------
    TypeError
        If master or pricer cannot be saved, or the learners are not arrays.
    ValueError
        If the loop does not keep what is needed.
    """
    if not loop.resumable:
        raise ValueError("A snapshot needs generate_columns(..., resumable=True).")
    return {
        "means": np.array(loop.means),
        "signs": np.array(loop.signs),
        "n_initial": np.array(loop.n_initial),
        "random": save_generator(loop.rng),
        **add_prefix("packs.", PackSet.of(loop.learners).to_arrays()),
        **{f"responses.{j}": response for j, response in loop.responses.items()},
        **add_prefix("history.", loop.history.to_arrays()),
        **add_prefix("trace.", loop.recorder.to_arrays()),
        **add_prefix("solution.", _save_solution(loop.solution)),
        **add_prefix("master.", resumable_master(loop.master).get_state()),
        **add_prefix("pricer.", resumable_pricer(loop.pricer).get_state()),
    }


def restore_loop(loop: LoopState, arrays: Mapping[str, AnyArray], sample: Sample) -> None:
    """Restore a state in a loop that has just begun, with the same data, parameters and random seed.

    Raises
    ------
    FormatError
        If the arrays do not fit together.
    """
    try:
        _restore(loop, arrays, sample)
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise FormatError(f"its state is inconsistent ({error}).") from error


def _restore(loop: LoopState, arrays: Mapping[str, AnyArray], sample: Sample) -> None:
    packs = PackSet.from_arrays(take_prefix("packs.", arrays))
    columns = []
    for j in range(len(packs)):
        learner = packs.learner(j)
        response = arrays.get(f"responses.{j}")
        if response is None:
            response = learner.respond(sample.X.matrix())[sample.rows]
        columns.append(Column(learner, response, 0.0))
    signs, means = arrays["signs"].tolist(), arrays["means"].tolist()
    for column, sign, mean in zip(columns, signs, means, strict=True):
        loop.record(column, sign, mean)
    oriented = [-own.response if sign < 0 else own.response for own, sign in zip(columns, signs, strict=True)]
    duals = resumable_master(loop.master).set_state(take_prefix("master.", arrays), oriented)
    loop.n_initial = int(arrays["n_initial"])
    found = columns[loop.n_initial :]  # a pricer does not know the columns of an earlier fit
    resumable_pricer(loop.pricer).set_state(take_prefix("pricer.", arrays), found)
    restore_generator(loop.rng, arrays["random"])
    loop.history = WeightHistory.from_arrays(take_prefix("history.", arrays))
    loop.recorder.restore(take_prefix("trace.", arrays))
    loop.adopt(_restore_solution(take_prefix("solution.", arrays), duals))


def _save_solution(solution: MasterSolution) -> dict[str, AnyArray]:
    numbers = [solution.primal, solution.dual, solution.n_iter, solution.column_cost, solution.retry]
    return {
        "weights": solution.weights,
        "intercept": solution.intercept,
        "numbers": np.array(numbers, dtype=np.float64),
        "status": np.array(solution.status.value),
    }


def _restore_solution(arrays: Mapping[str, AnyArray], duals: Duals) -> MasterSolution:
    primal, dual, n_iter, column_cost, retry = arrays["numbers"].tolist()
    return MasterSolution(
        weights=arrays["weights"],
        intercept=arrays["intercept"],
        duals=duals,
        primal=primal,
        dual=dual,
        status=Status(str(arrays["status"])),
        n_iter=int(n_iter),
        column_cost=column_cost,
        retry=bool(retry),
    )
