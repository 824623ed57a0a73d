"""The rows that the automatic choice is made on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter

import numpy as np

from cgens.table import Table
from cgens.types import AnyArray, Floats, Integers, Sample
from cgens.weak_learners.projections.spread import has_units


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
    copies : ndarray of shape (m,)
        How many copies each row stands for; class weights make none.
    classes : ndarray of shape (m,) or None
        Class of each row, to hold out the same share of each.
    error_of : callable
        ``error_of(decisions, rows, weight)`` returns the error of decisions for some of the m rows, with weights of
        their own; constant for regression.
    n_threads : int
    clock : Clock
    """

    X: Table
    rows: Integers
    target: Floats
    weight: Floats
    copies: Floats
    classes: AnyArray | None
    error_of: Callable[[Floats, AnyArray, Floats], float]
    n_threads: int
    clock: Clock = field(default_factory=lambda: Clock())

    @cached_property
    def one_scale(self) -> bool:
        """Whether the inputs are complete numbers on one scale, as the pixels of an image are."""
        return not has_units(Sample(self.X, self.rows, self.weight))


class Clock:
    """Measures how long each step takes, and how much of a budget is used.

    Parameters
    ----------
    budget : float or None
        Seconds; None if there is no limit. With a budget, what is chosen depends on how fast the machine is.
    show : callable, optional
        ``show(name, seconds)`` is called at the end of each step.
    """

    def __init__(self, budget: float | None = None, show: Callable[[str, float], None] | None = None) -> None:
        self.budget = budget
        self.seconds: dict[str, float] = {}
        self.left_out: dict[str, list[str]] = {}
        self._show = show
        self._start = self._began = perf_counter()

    def lap(self, name: str) -> None:
        """End a step, and begin the next one."""
        now = perf_counter()
        self.seconds[name] = now - self._began
        self._began = now
        if self._show is not None:
            self._show(name, self.seconds[name])

    def is_past(self, share: float) -> bool:
        """Return whether more than this share of the budget is used."""
        return self.budget is not None and perf_counter() - self._start > share * self.budget

    def has_time_for(self, seconds: float, until: float) -> bool:
        """Return whether something that takes so long ends before this share of the budget is used."""
        return self.budget is None or perf_counter() - self._start + seconds <= until * self.budget

    def leave_out(self, kind: str, name: str) -> None:
        """Record that there is no time for something of a kind."""
        if name not in self.left_out.setdefault(kind, []):
            self.left_out[kind].append(name)


@dataclass(frozen=True, eq=False)
class HonestRows:
    """Rows for which there are decisions by fits without them.

    Attributes
    ----------
    folds : list of ndarray
        Of each fold, the numbers among the m rows.
    rows : ndarray of shape (k,)
        Those of all folds; a row whose copies are in several folds occurs several times.
    weight : ndarray of shape (k,)
        Held-out weights.
    copies : ndarray of shape (k,)
        Numbers of copies that are held out.
    """

    folds: Sequence[Integers]
    rows: Integers
    weight: Floats
    copies: Floats

    @staticmethod
    def of(held_out: Sequence[Floats], of_copy: Floats, most: int | None, rng: np.random.Generator) -> HonestRows:
        """Return the rows of the folds, at most so many of each.

        Parameters
        ----------
        held_out : sequence of ndarray of shape (m,)
            Of each fold, the weight of each row that is held out.
        of_copy : ndarray of shape (m,)
            Weight of one copy of each row.
        most : int or None
        rng : numpy.random.Generator
        """
        folds = [np.sort(rng.permutation(np.flatnonzero(own > 0))[:most]) for own in held_out]
        weight = np.concatenate([own[rows] for own, rows in zip(held_out, folds, strict=True)])
        rows = np.concatenate(folds)
        return HonestRows(folds, rows, weight, weight / of_copy[rows])
