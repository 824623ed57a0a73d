"""One set of columns, many values of C: what model selection needs, at little more than the price of one fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cgens.colgen import as_sample, generate_columns
from cgens.ensemble import Ensemble
from cgens.interrupt import InterruptGuard
from cgens.path_problem import PathMaster, PathProblem, PathSolutions
from cgens.types import (
    AnyArray,
    Callback,
    Floats,
    Integers,
    Poll,
    Rule,
    Sample,
    Status,
    WeakLearner,
)
from cgens.weight_history import product_in_blocks


@dataclass(frozen=True, eq=False)
class RegularizationPath:
    """The models of a path.

    Attributes
    ----------
    Cs : tuple of float
    stages : tuple of int
        Numbers of columns.
    ensemble : Ensemble
        The columns, and the model at the C that found them.
    solutions : list of lists of (weights, intercept)
        For each C and each stage: weights (stage, l) of the first so many columns, intercept (l,).
    """

    Cs: tuple[float, ...]
    stages: tuple[int, ...]
    ensemble: Ensemble
    solutions: PathSolutions

    def decisions(self, X: AnyArray, n_threads: int = 1) -> Iterator[Floats]:
        """Yield F(x) of all values of C for one stage after the other, shape (len(Cs), n, l)."""
        responses = self.ensemble.respond(X, n_threads)
        n_outputs = len(self.ensemble.intercept)
        for s in range(len(self.stages)):
            weights = np.hstack([path[s][0] for path in self.solutions])
            intercept = np.concatenate([path[s][1] for path in self.solutions])
            flat = product_in_blocks(lambda begin, end: responses[begin:end], len(X), weights) + intercept
            yield np.moveaxis(flat.reshape(len(X), len(self.Cs), n_outputs), 1, 0)


def path(
    master: PathMaster,
    weak_learner: WeakLearner,
    X: AnyArray,
    target: Floats,
    Cs: Sequence[float],
    *,
    stages: Sequence[int],
    sample_weight: Floats | None = None,
    rows: Integers | None = None,
    tol: float = 1e-3,
    pricing: Rule = "max",
    rng: np.random.Generator | None = None,
    n_threads: int = 1,
    callback: Callback | None = None,
    interrupted: Poll | None = None,
) -> RegularizationPath:
    """Find columns at the master's own C, and solve over the first so many of them for every other C.

    Finding columns is what takes the time. Which are found depends little on C, so one search serves all: each C is
    then solved to `tol` over the columns found, for every number of them that is asked for.

    Parameters
    ----------
    master : PathMaster
        Least squares or hinge; its C is the one that columns are found with.
    weak_learner : WeakLearner
    X : ndarray of shape (n, n_features), float32 or float64
    target : ndarray of shape (m,) or (m, l)
    Cs : sequence of float
        Values of C.
    stages : sequence of int
        Numbers of columns, ascending; the last is how many are looked for. Where fewer are found, that number takes
        the place of the larger ones.
    sample_weight, rows, tol, pricing, rng, n_threads, callback
        As in `generate_columns`.
    interrupted : callable, optional
        Asked now and then between solutions; where it says True, KeyboardInterrupt is raised. Ctrl-C is heard anyway.

    Returns
    -------
    path : RegularizationPath

    Examples
    --------
    >>> import numpy as np
    >>> from cgens.masters import LeastSquares
    >>> from cgens.weak_learners import Stump
    >>> X = np.arange(8.0)[:, None]
    >>> found = path(LeastSquares(0.1), Stump(), X, X[:, 0] ** 2, [0.01, 0.1, 1.0], stages=[1, 3])
    >>> [decision.shape for decision in found.decisions(X)]
    [(3, 8, 1), (3, 8, 1)]
    """
    if not len(Cs) or not all(0 < C < np.inf for C in Cs):
        raise ValueError(f"Cs must be finite numbers > 0, at least one; got {Cs!r}.")
    if not len(stages) or list(stages) != sorted(set(stages)) or stages[0] < 1:
        raise ValueError(f"stages must be ascending integers >= 1, at least one; got {stages!r}.")
    sample, target = as_sample(X, target, sample_weight, rows, tol)
    ensemble, trace = generate_columns(
        master,
        weak_learner,
        sample.X,
        target,
        sample_weight=sample.weight,
        rows=sample.rows,
        tol=tol,
        max_columns=int(stages[-1]),
        pricing=pricing,
        rng=rng,
        n_threads=n_threads,
        callback=callback,
        interrupted=interrupted,
    )
    if trace.certificate.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    kept = tuple(dict.fromkeys(min(int(stage), len(ensemble)) for stage in stages))
    columns = _Columns(ensemble, sample, n_threads)
    problem = PathProblem(target, sample.weight, columns, tuple(map(float, Cs)), kept, tol, n_threads)
    with InterruptGuard() as guard:
        solutions = master.solve_path(problem, lambda: guard.requested() or (interrupted is not None and interrupted()))
        if not solutions:
            raise KeyboardInterrupt
    return RegularizationPath(tuple(problem.Cs), kept, ensemble, solutions)


class _Columns(Sequence[AnyArray]):
    """The responses of an ensemble on the rows of a fit, one column copied at a time."""

    def __init__(self, ensemble: Ensemble, sample: Sample, n_threads: int) -> None:
        self._length, self._rows = len(ensemble), sample.rows
        self._responses = ensemble.respond(sample.X, n_threads)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, j: Any) -> Any:
        if not 0 <= j < self._length:
            raise IndexError(j)
        return np.ascontiguousarray(self._responses[self._rows, j])
