"""Find columns once per fold, and score every C and number of columns on them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

import numpy as np

from cgens.blas import ONE_BLAS_THREAD
from cgens.colgen import LOOSE_TOL
from cgens.estimators._folds import Folds
from cgens.estimators._plan import FitPlan
from cgens.estimators._scoring import Score
from cgens.estimators._search_progress import SearchProgress
from cgens.interrupt import InterruptGuard
from cgens.path_problem import PathMaster
from cgens.regularization_path import path
from cgens.rounds import Callback
from cgens.types import AnyArray, Floats, Poll

#: How often the search checks for Ctrl-C while it waits for its folds.
POLL_SECONDS = 0.1


@dataclass(frozen=True)
class FoldSearch:
    """The folds of a search.

    Attributes
    ----------
    plan : FitPlan
        The plan of a fit on all rows.
    folds : list of (training rows, test rows)
    seeds : list of int
        One per fold.
    stages : tuple of int
        Numbers of columns, ascending.
    score : callable
    verbose : bool
    """

    plan: FitPlan
    folds: Folds
    seeds: list[int]
    stages: tuple[int, ...]
    score: Score
    verbose: bool
    _plans: dict[int, FitPlan] = field(default_factory=dict)  # of the folds, once their rows are ordered

    def run(self, C: float, Cs: Sequence[float]) -> Floats:
        """Find columns at `C` and return the scores of all `Cs` on them, shape (n_folds, n_Cs, n_stages).

        Folds run in parallel; the result does not depend on it.
        """
        n_folds = len(self.folds)
        workers = min(self.plan.n_threads, n_folds)
        plan = replace(self.plan.with_c(C), n_threads=self.plan.n_threads // workers)
        progress = closing(SearchProgress(n_folds, self.stages[-1])) if self.verbose else nullcontext()
        stop = threading.Event()
        # One BLAS thread each, so that products do not depend on what else runs, and threads do not compete for cores.
        with ONE_BLAS_THREAD, InterruptGuard() as guard, progress as bar, ThreadPoolExecutor(workers) as pool:
            try:
                jobs = []
                for k, ((train, test), seed) in enumerate(zip(self.folds, self.seeds, strict=True)):
                    callback = None if bar is None else partial(bar.update, k)
                    fold_plan = replace(plan, seed=seed)
                    jobs.append(pool.submit(self._fold, k, fold_plan, Cs, train, test, callback, stop.is_set))
                return np.array(_results(jobs, guard))
            finally:  # after an error or Ctrl-C the other folds end early
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)

    def _fold(
        self,
        number: int,
        plan: FitPlan,
        Cs: Sequence[float],
        train: AnyArray,
        test: AnyArray,
        callback: Callback | None,
        interrupted: Poll,
    ) -> Floats:
        """Return the scores of one fold, shape (n_Cs, n_stages)."""
        data, train_weight = plan.data, np.zeros(len(plan.data.X))
        train_weight[train] = data.sample_weight[train]
        test = test[data.sample_weight[test] > 0]
        if not train_weight.any() or not len(test):
            raise ValueError("A fold of cv has no rows of positive weight to train on, or none to test on.")
        if number not in self._plans:
            self._plans[number] = plan.on_rows(train_weight)
        rows = self._plans[number]
        plan = replace(plan, order=rows.order, weight=rows.weight, tol=max(plan.tol, LOOSE_TOL))
        found = path(
            cast(PathMaster, plan.master),
            plan.family,
            data.X,
            plan.target,
            Cs,
            stages=self.stages,
            callback=callback,
            interrupted=interrupted,
            **plan.options(),
        )
        X, y, weight = data.X.take(test).matrix(), plan.coding.invert(data.target[test]), data.sample_weight[test]
        scores = {
            stage: [self.score(X, y, weight, decision) for decision in decisions]
            for stage, decisions in zip(found.stages, found.decisions(X, plan.n_threads), strict=True)
        }
        return np.array([scores[min(stage, found.stages[-1])] for stage in self.stages]).T


def _results(jobs: list[Future[Floats]], guard: InterruptGuard) -> list[Floats]:
    """Return all results, or raise the first error.

    It waits for short intervals: Python handles a signal that another thread received only when this thread runs.
    """
    while wait(jobs, POLL_SECONDS, FIRST_EXCEPTION).not_done:
        if guard.requested():
            raise KeyboardInterrupt
        for job in jobs:
            if job.done():
                job.result()
    return [job.result() for job in jobs]
