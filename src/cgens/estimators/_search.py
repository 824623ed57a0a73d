"""Cross-validation of C and of the number of columns in one pass: one search for columns a fold."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from inspect import signature
from numbers import Integral
from time import perf_counter
from typing import Any, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from cgens.blas import ONE_BLAS_THREAD
from cgens.c_path import path
from cgens.colgen import LOOSE_TOL
from cgens.estimators._base import MASTERS, EnsembleEstimator, FitProblem
from cgens.estimators._parameters import (
    check_count,
    check_positive,
    resolve_pricing,
    resolve_threads,
)
from cgens.interrupt import InterruptGuard
from cgens.progress import ProgressBar
from cgens.types import AnyArray, Floats, Round

#: Numbers of columns that the paper chooses from.
PAPER_COLUMNS = (25, 50, 100, 250, 500)
#: How many numbers of columns are tried by default, and the factor between two values of C.
N_STAGES, C_FACTOR = 25, 3.0
#: How long the search waits for its folds before it listens for Ctrl-C.
POLL_SECONDS = 0.1
#: score(X, y, weights, decisions)
Score: TypeAlias = Callable[[AnyArray, AnyArray, Floats, Floats], float]


class SearchEstimator(BaseEstimator):  # type: ignore[misc]
    """Choose C and the number of columns by cross-validation, then fit on all rows."""

    _plain_class: type[EnsembleEstimator]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Cross-validate, then fit on all rows with the best C and number of columns."""
        attempt = copy.copy(self)  # so that a fit that fails leaves the estimator as it was
        attempt._fit(X, y, sample_weight)
        self.__dict__ = attempt.__dict__
        return self

    def _plain(self, **chosen: Any) -> EnsembleEstimator:
        """Return the estimator without the search, with the parameters that the two share."""
        names = self._plain_class._get_param_names()
        shared = {name: getattr(self, name) for name in names if hasattr(self, name)}
        return self._plain_class(**{**shared, **chosen})

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        n_threads = resolve_threads(self.n_jobs)
        stages = resolve_stages(self.columns, check_count("n_estimators", self.n_estimators))
        judge = self._plain(C="scale")
        problem = judge._prepare(X, y, sample_weight)
        order, weight = problem.order(problem.sample_weight, n_threads)
        family = judge._family()
        scale = problem.resolve_c("scale", family, order.rows, weight)
        self.Cs_ = np.array([problem.resolve_c(C, family, order.rows, weight) for C in resolve_cs(self.Cs, scale)])
        self.columns_ = np.array(stages)
        search = _Search(
            problem,
            judge,
            self._score_function(judge),
            self.Cs_.tolist(),
            stages,
            check_positive("tol", self.tol),
        )
        self.folds_ = self._folds(problem, order.position)
        self.scores_ = search.run(self.folds_, n_threads, self.random_state, bool(self.verbose))
        self._choose()
        self.best_estimator_ = self._plain(**self.best_params_).fit(X, y, sample_weight)
        self.n_columns_ = self.best_estimator_.n_columns_
        for name in ("n_features_in_", "feature_names_in_", "classes_", "n_outputs_"):
            if hasattr(self.best_estimator_, name):
                setattr(self, name, getattr(self.best_estimator_, name))

    def _folds(self, problem: FitProblem, position: AnyArray) -> list[tuple[AnyArray, AnyArray]]:
        """Return training and test rows of each fold.

        A number of folds is made of *distinct* rows in canonical order: copies of a row never come into two folds, the
        order of the rows does not matter, and a weight is the same as copies.
        """
        if isinstance(self.cv, bool) or not isinstance(self.cv, int | np.integer):
            splits = check_cv(self.cv, problem.y, classifier=is_classifier(self)).split(problem.X, problem.y)
            folds = [tuple(np.arange(len(problem.X))[np.asarray(rows)] for rows in split) for split in splits]
            if not folds:
                raise ValueError("cv must have at least one fold; it is empty.")
            return folds
        kept = np.flatnonzero(position >= 0)
        first = np.empty(int(position.max()) + 1, dtype=np.intp)
        first[position[kept]] = kept
        # Classes in equal shares; numbers, and rows of several labels, all have the same group.
        groups = problem.groups[first]
        most = int(np.bincount(groups).max())
        if not is_classifier(self):
            most //= 2  # two rows each, for R^2 of one row is not defined
        n_folds = min(check_count("cv", self.cv), most)
        if n_folds < 2:
            raise ValueError(
                "Cross-validation needs cv >= 2 and at least two distinct rows of one class, or four for regression; "
                f"got cv={self.cv} and n_samples={len(first)}."
            )
        fold_of = np.empty(len(first), dtype=np.intp)
        for k, (_, test) in enumerate(StratifiedKFold(n_folds).split(np.zeros(len(first)), groups)):
            fold_of[test] = k
        rows = fold_of[position[kept]]
        return [(kept[rows != k], kept[rows == k]) for k in range(n_folds)]

    def _score_function(self, judge: EnsembleEstimator) -> Score:
        """Return score(X, y, weights, decisions of these rows), larger is better."""
        if self.scoring is None:
            return lambda X, y, weight, decision: self._default_score(judge, y, decision, weight)
        scorer = get_scorer(self.scoring)
        takes_weights = "sample_weight" in signature(getattr(scorer, "_score_func", scorer)).parameters

        def score(X: AnyArray, y: AnyArray, weight: Floats, decision: Floats) -> float:
            known = {"sample_weight": weight} if takes_weights and np.ptp(weight) else {}
            return float(scorer(FoldModel(judge, decision), X, y, **known))

        return score

    def _default_score(self, judge: EnsembleEstimator, y: AnyArray, decision: Floats, weight: Floats) -> float:
        raise NotImplementedError

    def _choose(self) -> None:
        """Keep the best mean score; of equal ones the fewest columns, then the smallest C."""
        if not np.isfinite(self.scores_).all():
            fold, c, stage = np.argwhere(~np.isfinite(self.scores_))[0]
            raise ValueError(
                f"The score of fold {fold} is {self.scores_[fold, c, stage]} (C = {self.Cs_[c]:.3g}, "
                f"{self.columns_[stage]} columns): take fewer folds than cv={self.cv!r}, or another scoring."
            )
        mean = self.scores_.mean(axis=0)  # (n_Cs, n_columns)
        c_order = np.argsort(self.Cs_, kind="stable")
        best = mean.max()
        close = mean[c_order] >= best - 1e-12 * abs(best)
        stage, c = np.argwhere(close.T)[0]
        self.C_ = float(self.Cs_[c_order[c]])
        self.best_score_ = float(mean[c_order[c], stage])
        self.best_params_ = {"C": self.C_, "n_estimators": int(self.columns_[stage])}
        flat = self.scores_.reshape(len(self.scores_), -1)
        C, columns = np.meshgrid(self.Cs_, self.columns_, indexing="ij")
        means = flat.mean(axis=0)
        self.best_index_ = int(c_order[c] * len(self.columns_) + stage)
        self.cv_results_ = {
            "param_C": C.ravel(),
            "param_n_estimators": columns.ravel(),
            "params": [{"C": a, "n_estimators": b} for a in self.Cs_.tolist() for b in self.columns_.tolist()],
            **{f"split{k}_test_score": own for k, own in enumerate(flat)},
            "mean_test_score": means,
            "std_test_score": flat.std(axis=0),
            "rank_test_score": np.array([1 + np.sum(means > value) for value in means], dtype=np.int32),
        }

    def _best(self) -> EnsembleEstimator:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def predict(self, X: Any) -> AnyArray:
        """Return the predictions of the best model; see `best_estimator_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        predictions : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        return np.asarray(self._best().predict(X))

    @property
    def ensemble_(self) -> Any:
        """The best model's ensemble."""
        return self._best().ensemble_

    @property
    def certificate_(self) -> Any:
        """The best model's certificate."""
        return self._best().certificate_

    @property
    def family_shares_(self) -> dict[str, float]:
        """The best model's shares of its families."""
        shares: dict[str, float] = self._best().family_shares_
        return shares

    @property
    def feature_importances_(self) -> Floats:
        """The best model's feature importances."""
        return self._best().feature_importances_


class FoldModel:
    """A model that gives the answers it was made with: what scikit-learn's scorers ask."""

    def __init__(self, judge: EnsembleEstimator, decision: Floats) -> None:
        self._judge, self._decision = judge, decision
        if hasattr(judge, "classes_"):
            self.classes_ = judge.classes_

    def __sklearn_tags__(self) -> Any:
        return self._judge.__sklearn_tags__()

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> AnyArray:
        return np.asarray(self._judge._labels(self._decision))

    def decision_function(self, X: Any) -> Floats:
        coding: Any = self._judge._coding
        return np.asarray(coding.scores(self._decision))


@dataclass(frozen=True)
class _Search:
    problem: FitProblem
    judge: EnsembleEstimator
    score: Score
    Cs: list[float]
    stages: tuple[int, ...]
    tol: float

    def run(self, folds: list[tuple[AnyArray, AnyArray]], n_threads: int, random_state: Any, verbose: bool) -> Floats:
        """Return the scores, shape (n_folds, n_Cs, n_stages). Folds run beside each other, and do not depend on it."""
        seeds = check_random_state(random_state).randint(2**31, size=len(folds))
        workers = min(n_threads, len(folds))
        stop = threading.Event()
        progress = _SearchProgress(len(folds) * self.stages[-1], len(folds), stop, ProgressBar() if verbose else None)
        # One BLAS thread each: products then are the same whatever else runs, and do not fight over cores.
        with ONE_BLAS_THREAD, InterruptGuard() as guard, ThreadPoolExecutor(workers) as pool:
            jobs: list[Future[Floats]] = []
            try:
                for k, ((train, test), seed) in enumerate(zip(folds, seeds, strict=True)):
                    args = (train, test, int(seed), max(1, n_threads // workers), progress, k)
                    jobs.append(pool.submit(self._fold, *args))
                return np.array(_results(jobs, guard))
            except BaseException:
                stop.set()
                for job in jobs:
                    job.cancel()
                raise
            finally:
                progress.close()

    def _fold(
        self, train: AnyArray, test: AnyArray, seed: int, n_threads: int, progress: _SearchProgress, number: int
    ) -> Floats:
        """Return the scores of one fold, shape (n_Cs, n_stages)."""
        problem, own_weight = self.problem, np.zeros(len(self.problem.X))
        own_weight[train] = problem.sample_weight[train]
        test = test[problem.sample_weight[test] > 0]
        if not own_weight.any() or not len(test):
            raise ValueError("A fold of cv has no rows of positive weight to train on, or none to test on.")
        order, weight = problem.order(own_weight, n_threads)
        found = path(
            MASTERS[problem.loss](sorted(self.Cs)[len(self.Cs) // 2]),
            self.judge._family(),
            problem.X,
            problem.target[order.rows],
            self.Cs,
            stages=self.stages,
            sample_weight=weight,
            rows=order.rows,
            tol=max(self.tol, LOOSE_TOL),
            pricing=resolve_pricing(self.judge.pricing, problem.loss),
            rng=np.random.default_rng(seed),
            n_threads=n_threads,
            callback=progress.callback(number),
            interrupted=progress.stopped,
        )
        X, y, weight = problem.X[test], problem.y[test], problem.sample_weight[test]
        scores = {
            stage: [self.score(X, y, weight, decision) for decision in decisions]
            for stage, decisions in zip(found.stages, found.decisions(X, n_threads), strict=True)
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


class _SearchProgress:
    """One progress bar for all folds."""

    def __init__(self, total: int, n_folds: int, stop: threading.Event, bar: ProgressBar | None) -> None:
        self._total, self._stop, self._bar = total, stop, bar
        self._done = [0] * n_folds
        self._lock = threading.Lock()
        self._began = perf_counter()

    def stopped(self) -> bool:
        """Return whether all is to stop."""
        return self._stop.is_set()

    def callback(self, fold: int) -> Callable[[Round], None] | None:
        """Return the callback of one fold, where there is something to draw."""
        bar = self._bar
        if bar is None:
            return None

        def tell(state: Round) -> None:
            with self._lock:
                self._done[fold] = state.n_columns
                seconds = perf_counter() - self._began
                bar(replace(state, n_columns=sum(self._done), max_columns=self._total, seconds=seconds))

        return tell

    def close(self) -> None:
        """End the line."""
        if self._bar is not None:
            self._bar.close()


def resolve_stages(columns: Any, most: int) -> tuple[int, ...]:
    """Return the numbers of columns to choose from, ascending."""
    if isinstance(columns, str):
        if columns == "staged":
            return tuple(np.unique(np.geomspace(min(5, most), most, N_STAGES).round().astype(int)).tolist())
        if columns == "paper":
            return tuple(dict.fromkeys(min(stage, most) for stage in PAPER_COLUMNS))
        raise ValueError(f"columns must be 'staged', 'paper' or a list of integers; got {columns!r}.")
    if not isinstance(columns, Iterable):
        raise ValueError(f"columns must be 'staged', 'paper' or a list of integers; got {columns!r}.")
    stages = sorted({check_count("columns", stage) for stage in columns})
    if not stages or stages[-1] > most:
        raise ValueError(f"columns must have numbers from 1 to n_estimators={most}; got {columns!r}.")
    return tuple(stages)


def resolve_cs(values: Any, scale: float) -> list[Any]:
    """Return the values of C to choose from: given ones, or so many around the default."""
    if not isinstance(values, Iterable | Integral) or isinstance(values, str | bool):
        raise ValueError(f"Cs must be a list of numbers > 0, or how many of them: an integer >= 1; got {values!r}.")
    if isinstance(values, Iterable):
        listed = list(values)
        if not listed:
            raise ValueError("Cs must have at least one value; it is empty.")
        return listed
    n_values = check_count("Cs", values)
    return [scale * C_FACTOR ** (k - (n_values - 1) // 2) for k in range(n_values)]
