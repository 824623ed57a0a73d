"""The contract of masters that solve for many values of C at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from cgens.types import AnyArray, Floats, Master, Poll


@dataclass(frozen=True)
class PathProblem:
    """A master problem for many values of C, over leading subsets of the given columns.

    Attributes
    ----------
    target : ndarray of shape (m, l)
    sample_weight : ndarray of shape (m,)
    columns : sequence of J ndarrays of shape (m,)
    Cs : sequence of float
    stages : sequence of int
        Numbers of leading columns, ascending.
    tol : float
        Relative gap of every solution.
    n_threads : int
    """

    target: Floats
    sample_weight: Floats
    columns: Sequence[AnyArray]
    Cs: Sequence[float]
    stages: Sequence[int]
    tol: float
    n_threads: int


#: Weights and intercept for each C and each stage.
PathSolutions: TypeAlias = list[list[tuple[Floats, Floats]]]


class PathMaster(Master, Protocol):
    """A master that can solve for many values of C over the same columns."""

    C: float

    def solve_path(self, problem: PathProblem, interrupted: Poll) -> PathSolutions:
        """Return the solutions, or an empty list if `interrupted` returned True."""
