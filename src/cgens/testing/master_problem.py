"""Small problems on which masters are checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from cgens.masters.loss import Loss
from cgens.types import AnyArray, Floats, Master, MasterSolution, RestrictedMaster

#: make_target(rng, score) -> target: scores of shape (m,) to a target of shape (m, l) that follows them with noise.
MakeTarget: TypeAlias = Callable[[np.random.Generator, Floats], Floats]


def never() -> bool:
    """Return False: a poll that does not interrupt."""
    return False


@dataclass(frozen=True, eq=False)
class MasterProblem:
    """A master, a target for it, weighted rows, and columns of +-1 that are correlated with the target.

    Attributes
    ----------
    master : Master
    target : ndarray of shape (m, l)
    weight : ndarray of shape (m,)
        Integers.
    columns : ndarray of shape (m, J), int8
    tol : float
        Relative gap to which problems are solved.
    """

    master: Any
    target: Floats
    weight: Floats
    columns: AnyArray
    tol: float

    @staticmethod
    def of(master: Master, make_target: MakeTarget, tol: float) -> MasterProblem:
        """Return a problem with 120 rows and 18 columns."""
        rng = np.random.default_rng(7)
        X = rng.normal(size=(120, 6))
        target = np.ascontiguousarray(make_target(rng, X.sum(axis=1)), dtype=np.float64)
        weight = rng.integers(1, 4, 120).astype(float)
        columns = np.where(X[:, rng.integers(0, 6, 18)] > rng.normal(scale=0.5, size=18), 1, -1).astype(np.int8)
        if isinstance(master, Loss):
            master = master.for_target(target, weight)
        return MasterProblem(master, target, weight, columns, tol)

    @property
    def n_columns(self) -> int:
        """J."""
        return int(self.columns.shape[1])

    @property
    def scale(self) -> Floats:
        """The c_i of a loss: C times the weights, shape (m,)."""
        return np.asarray(self.master.scale(self.weight))

    @cached_property
    def size(self) -> float:
        """The largest |objective|, that of the model without columns, to which rounding is relative."""
        return abs(self.begin(0).solve(self.tol, never).primal)

    @cached_property
    def best(self) -> MasterSolution:
        """The solution with all columns."""
        return self.begin().solve(self.tol, never)

    def allowed(self, primal: float) -> float:
        """Return by how much two values of one optimum may differ, both solved to the tolerance."""
        return 2 * self.tol * abs(primal) + 1e-12 * self.size

    def begin(self, n_columns: int | None = None, n_threads: int = 1, dtype: Any = np.int8) -> RestrictedMaster:
        """Return the restricted master with the first columns, all by default."""
        restricted: RestrictedMaster = self.master.begin(self.target, self.weight, n_threads)
        for column in self.columns.T[:n_columns]:
            restricted.add(column.astype(dtype))
        return restricted

    def rows(self, indices: AnyArray, weight: Floats) -> MasterProblem:
        """Return the problem with these rows, possibly repeated, and other weights."""
        target = np.ascontiguousarray(self.target[indices])
        return MasterProblem(self.master, target, weight, self.columns[indices], self.tol)


def signs(rng: np.random.Generator, score: Floats) -> Floats:
    """Return noisy labels of +-1, shape (m, 1)."""
    return np.where(_noisy(rng, score) > np.median(score), 1.0, -1.0)[:, None]


def targets_of(master: Master) -> Iterator[MakeTarget]:
    """Yield the targets that a loss can fit: two and four classes, three labels, regression; else labels of +-1."""
    if not isinstance(master, Loss):
        yield signs
        return
    if "classes" in master.targets:
        for n_classes in (2, 4):
            yield lambda rng, score, n=n_classes: master.code_classes(np.arange(n)).encode(  # type: ignore[misc]
                np.searchsorted(np.quantile(score, np.arange(1, n) / n), _noisy(rng, score))
            )
    if "labels" in master.targets:
        yield lambda rng, score: master.code_labels(3).encode(
            np.column_stack([_noisy(rng, own) > 0 for own in (score, -score, rng.normal(size=len(score)))])
        )
    if "regression" in master.targets:
        # Positive, far from 0, and not centred.
        yield lambda rng, score: master.code_numbers(True).encode(np.abs(10.0 + _noisy(rng, score)))


def _noisy(rng: np.random.Generator, score: Floats) -> Floats:
    return np.asarray(score + 0.5 * score.std() * rng.normal(size=len(score)))
