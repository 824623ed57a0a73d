"""One search for columns a fold, and the scores of every C and number of columns over them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
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
from cgens.progress import ProgressBar
from cgens.regularization_path import path
from cgens.types import AnyArray, Floats

#: How long the search waits for its folds before it checks for Ctrl-C.
POLL_SECONDS = 0.1


@dataclass(frozen=True)
class FoldSearch:
    """The folds of a search.

    Attributes
    ----------
    plan : FitPlan
        Of a fit on all rows.
    folds : list of (training rows, test rows)
    seeds : list of int
        One for each fold.
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

    def run(self, C: float, Cs: Sequence[float]) -> Floats:
        """Find columns at one C and return the scores of several over them, shape (n_folds, n_Cs, n_stages).

        Folds run beside each other; the result does not depend on it.
        """
        n_folds = len(self.folds)
        n_threads, workers = self.plan.n_threads, min(self.plan.n_threads, n_folds)
        stop, bar = threading.Event(), ProgressBar() if self.verbose else None
        progress = SearchProgress(n_folds * self.stages[-1], n_folds, stop, bar)
        # One BLAS thread each: products then are the same whatever else runs, and do not fight over cores.
        with ONE_BLAS_THREAD, InterruptGuard() as guard, ThreadPoolExecutor(workers) as pool:
            jobs: list[Future[Floats]] = []
            try:
                for k, ((train, test), seed) in enumerate(zip(self.folds, self.seeds, strict=True)):
                    plan = replace(self.plan.with_c(C), seed=seed, n_threads=max(1, n_threads // workers))
                    jobs.append(pool.submit(self._fold, plan, Cs, train, test, progress, k))
                return np.array(_results(jobs, guard))
            except BaseException:
                stop.set()
                for job in jobs:
                    job.cancel()
                raise
            finally:
                progress.close()

    def _fold(
        self,
        plan: FitPlan,
        Cs: Sequence[float],
        train: AnyArray,
        test: AnyArray,
        progress: SearchProgress,
        number: int,
    ) -> Floats:
        """Return the scores of one fold, shape (n_Cs, n_stages)."""
        data, own_weight = plan.data, np.zeros(len(plan.data.X))
        own_weight[train] = data.sample_weight[train]
        test = test[data.sample_weight[test] > 0]
        if not own_weight.any() or not len(test):
            raise ValueError("A fold of cv has no rows of positive weight to train on, or none to test on.")
        plan = replace(plan.on_rows(own_weight), tol=max(plan.tol, LOOSE_TOL))
        found = path(
            cast(PathMaster, plan.master),
            plan.family,
            data.X,
            plan.target,
            Cs,
            stages=self.stages,
            callback=progress.callback(number),
            interrupted=progress.stopped,
            **plan.options(),
        )
        X, y, weight = data.X[test], plan.coding.decode(data.target[test]), data.sample_weight[test]
        scores = {
            stage: [self.score(X, y, weight, decision) for decision in decisions]
            for stage, decisions in zip(found.stages, found.decisions(X, plan.n_threads), strict=True)
        }
        return np.array([scores[min(stage, found.stages[-1])] for stage in self.stages]).T


def _results(jobs: list[Future[Floats]], guard: InterruptGuard) -> list[Floats]:
    """Return all results, or raise the first error.

    It waits in short turns: a Ctrl-C that the system gave to another thread is heard only when this one runs.
    """
    waiting = set(jobs)
    while waiting:
        waiting = wait(waiting, POLL_SECONDS, FIRST_COMPLETED).not_done
        if guard.requested():
            raise KeyboardInterrupt
        for job in jobs:
            if job.done():
                job.result()
    return [job.result() for job in jobs]
