"""The rows that the automatic choice is made on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from cgens.table import Table
from cgens.types import AnyArray, Floats, Integers


@dataclass(frozen=True, eq=False)
class Problem:
    """The rows to fit, in canonical order.

    Attributes
    ----------
    X : Table
    rows : ndarray of shape (m,)
        Numbers of the rows in X.
    target : ndarray of shape (m, l)
        Of about variance 1.
    weight : ndarray of shape (m,)
    classes : ndarray of shape (m,) or None
        Class of each row, to hold out the same share of each.
    error_of : callable
        ``error_of(decisions, rows)`` returns the error of decisions for some of the m rows; constant for regression.
    n_threads : int
    clock : Clock
    """

    X: Table
    rows: Integers
    target: Floats
    weight: Floats
    classes: AnyArray | None
    error_of: Callable[[Floats, AnyArray], float]
    n_threads: int
    clock: Clock = field(default_factory=lambda: Clock())


class Clock:
    """Measures how long each step takes."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._began = perf_counter()

    def lap(self, name: str) -> None:
        """End a step, and begin the next one."""
        now = perf_counter()
        self.seconds[name] = now - self._began
        self._began = now


@dataclass(frozen=True, eq=False)
class HonestRows:
    """Rows for which there are decisions by fits without them.

    Attributes
    ----------
    rows : ndarray of shape (k,)
        Numbers among the m rows; twice if copies of a row are in two folds.
    weight : ndarray of shape (k,)
    """

    rows: Integers
    weight: Floats
    _places: Sequence[Integers]

    @staticmethod
    def of(folds: Sequence[Floats], known: Integers) -> HonestRows:
        """Return the rows of all folds, given their held-out weights, that are among the `known` ones."""
        tested = [np.flatnonzero(own > 0) for own in folds]
        places = [np.flatnonzero(np.isin(own, known)) for own in tested]
        rows = [own[at] for own, at in zip(tested, places, strict=True)]
        weight = [fold[own] for fold, own in zip(folds, rows, strict=True)]
        return HonestRows(np.concatenate(rows), np.concatenate(weight), places)

    def of_folds(self, decisions: Sequence[Floats]) -> Floats:
        """Return decisions for these rows, given those for all rows of each fold."""
        return np.concatenate([own[at] for own, at in zip(decisions, self._places, strict=True)])
