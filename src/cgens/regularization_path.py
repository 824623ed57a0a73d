"""Models for many values of C over one set of columns, at little more than the cost of one fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cgens.colgen import generate_columns
from cgens.ensemble import Ensemble
from cgens.interrupt import InterruptGuard
from cgens.loop_inputs import as_sample
from cgens.path_problem import PathMaster, PathProblem, PathSolutions
from cgens.rounds import Callback
from cgens.table import Table
from cgens.types import AnyArray, Family, Floats, Integers, Poll, Rule, Status
from cgens.weight_history import product_in_blocks


@dataclass(frozen=True, eq=False)
class RegularizationPath:
    """The models of a regularization path.

    Attributes
    ----------
    Cs : tuple of float
    stages : tuple of int
        Numbers of leading columns.
    ensemble : Ensemble
        All columns, and the model at the C at which they were generated.
    solutions : list of lists of (weights, intercept)
        For each C and each stage: weights (stage, l) of the leading columns, intercept (l,).
    """

    Cs: tuple[float, ...]
    stages: tuple[int, ...]
    ensemble: Ensemble
    solutions: PathSolutions

    def decisions(self, X: AnyArray, n_threads: int = 1) -> Iterator[Floats]:
        """Yield F(x) for all values of C, shape (len(Cs), n, l), stage by stage."""
        responses = self.ensemble.respond(X, n_threads)
        n_outputs = len(self.ensemble.intercept)
        for s in range(len(self.stages)):
            weights = np.hstack([path[s][0] for path in self.solutions])
            intercept = np.concatenate([path[s][1] for path in self.solutions])
            flat = product_in_blocks(lambda begin, end: responses[begin:end], len(responses), weights) + intercept
            yield np.moveaxis(flat.reshape(len(responses), len(self.Cs), n_outputs), 1, 0)


def path(
    master: PathMaster,
    weak_learner: Family,
    X: AnyArray | Table,
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
    """Generate columns at the master's own C, and solve over them for all values of C and all numbers of columns.

    Most of the time is spent on finding columns, which depend little on C. So they are found once, and each C is then
    solved to `tol` over the leading columns of every stage.

    Parameters
    ----------
    master : PathMaster
        Any loss with a parameter C; its own C is used to find the columns.
    weak_learner : Family
    X : ndarray of shape (n, n_features), float32 or float64
    target : ndarray of shape (m,) or (m, l)
    Cs : sequence of float
    stages : sequence of int
        Numbers of leading columns, ascending; the last is the maximum number of columns. If fewer are found, that
        number replaces the larger ones.
    sample_weight, rows, tol, pricing, rng, n_threads, callback
        As in `generate_columns`.
    interrupted : callable, optional
        Polled regularly; if it returns True, KeyboardInterrupt is raised, as after Ctrl-C.

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
        raise ValueError(f"Cs must be a non-empty sequence of finite numbers > 0; got {Cs!r}.")
    if not len(stages) or list(stages) != sorted(set(stages)) or stages[0] < 1:
        raise ValueError(f"stages must be a non-empty ascending sequence of integers >= 1; got {stages!r}.")
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
    columns = _Columns(ensemble.respond(sample.X.matrix(), n_threads), sample.rows)
    problem = PathProblem(target, sample.weight, columns, tuple(map(float, Cs)), kept, tol, n_threads)
    with InterruptGuard(interrupted) as guard:
        solutions = master.solve_path(problem, guard.requested)
        if not solutions:
            raise KeyboardInterrupt
    return RegularizationPath(tuple(problem.Cs), kept, ensemble, solutions)


class _Columns(Sequence[AnyArray]):
    """The columns of responses on the rows of a fit, copied one at a time to save memory."""

    def __init__(self, responses: AnyArray, rows: Integers) -> None:
        self._responses, self._rows = responses, rows

    def __len__(self) -> int:
        return int(self._responses.shape[1])

    def __getitem__(self, j: Any) -> Any:
        return self._responses[self._rows, j]
