"""One set of columns, many values of C: what model selection needs, at little more than the price of one fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cgens.colgen import generate_columns
from cgens.ensemble import Ensemble
from cgens.interrupt import InterruptGuard
from cgens.types import (
    AnyArray,
    Callback,
    Floats,
    Integers,
    PathMaster,
    PathProblem,
    PathSolutions,
    Poll,
    Rule,
    Status,
    WeakLearner,
)


@dataclass(frozen=True)
class CPath:
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
        responses = self.ensemble.respond(X, n_threads).astype(np.float64)
        n_outputs = len(self.ensemble.intercept)
        for s, stage in enumerate(self.stages):
            weights = np.hstack([path[s][0] for path in self.solutions])
            intercept = np.concatenate([path[s][1] for path in self.solutions])
            flat = responses[:, :stage] @ weights + intercept
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
) -> CPath:
    """Find columns at the master's own C, and solve over the first so many of them for every other C.

    Finding columns is what takes the time. Which are found depends little on C, so one search serves all: each C is
    then solved exactly over the columns found, for every number of them that is asked for.

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
    path : CPath

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
    ensemble, trace = generate_columns(
        master,
        weak_learner,
        X,
        target,
        sample_weight=sample_weight,
        rows=rows,
        tol=tol,
        max_columns=int(stages[-1]),
        pricing=pricing,
        rng=rng,
        n_threads=n_threads,
        callback=callback,
    )
    if trace.certificate.status in (Status.INTERRUPTED, Status.STOPPED):
        raise KeyboardInterrupt
    target = np.ascontiguousarray(target, dtype=np.float64).reshape(len(target), -1)
    responses = ensemble.respond(X, n_threads) if len(ensemble) else np.empty((len(X), 0), dtype=np.int8)
    columns = np.ascontiguousarray((responses if rows is None else responses[rows]).T)
    kept = tuple(dict.fromkeys(min(int(stage), len(ensemble)) for stage in stages))
    weight = np.ones(len(target)) if sample_weight is None else sample_weight
    problem = PathProblem(target, weight, list(columns), tuple(map(float, Cs)), kept, tol, n_threads)
    with InterruptGuard() as guard:
        solutions = master.solve_path(problem, lambda: guard.requested() or (interrupted is not None and interrupted()))
        if not solutions:
            raise KeyboardInterrupt
    return CPath(tuple(problem.Cs), kept, ensemble, solutions)
