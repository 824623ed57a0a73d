"""What a callback receives after each round of the loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cgens.types import AnyArray, Floats, Learner


@dataclass(frozen=True)
class Round:
    """The state of a fit after a round.

    Attributes
    ----------
    n_columns, max_columns : int
        Columns so far, and their maximum number.
    price : float
        |price| of the column that the round added.
    primal, dual, relative_gap : float
        Of the master problem over the columns so far; between rounds it is solved loosely. The dual value and the gap
        are nan if the solver did not compute them in this round.
    seconds : float
        Since the beginning of the fit, or since it went on from a checkpoint.
    learner : Learner
        The weak learner that the round added.
    learners : tuple of Learner
        All weak learners so far.
    weights : ndarray of shape (n_columns, l)
    intercept : ndarray of shape (l,)
    snapshot : callable
        Returns the state of the fit as named arrays, from which `cgens.generate_columns` can go on; only if that was
        called with ``resumable=True``.
    """

    n_columns: int
    max_columns: int
    price: float
    primal: float
    dual: float
    relative_gap: float
    seconds: float
    learner: Learner
    learners: tuple[Learner, ...]
    weights: Floats
    intercept: Floats
    snapshot: Callable[[], dict[str, AnyArray]]


#: Called after each round; if it returns True, the fit stops.
Callback: TypeAlias = Callable[[Round], bool | None]


def all_of(callbacks: Sequence[Callback], unless_stopped: Callback | None = None) -> Callback | None:
    """Return a callback that calls all of these and stops if one of them does; None if there is none.

    `unless_stopped` is called last, and only if none of the others stops.
    """
    if not callbacks and unless_stopped is None:
        return None

    def call(state: Round) -> bool:
        stop = any([bool(callback(state)) for callback in callbacks])  # a list: all are called
        return stop or bool(unless_stopped is not None and unless_stopped(state))

    return call
