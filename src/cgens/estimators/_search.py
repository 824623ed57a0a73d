"""Cross-validation of C and of the number of columns in one pass: one search for columns a fold."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, Self, TypeAlias, cast

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from cgens.blas import ONE_BLAS_THREAD
from cgens.coding import Coding
from cgens.colgen import LOOSE_TOL
from cgens.estimators._base import EnsembleEstimator, run_plan, warn_of_result
from cgens.estimators._folds import Folds, make_folds
from cgens.estimators._grid import resolve_cs, resolve_stages
from cgens.estimators._parameters import check_count, resolve_c
from cgens.estimators._plan import FitPlan
from cgens.estimators._planner import Planner
from cgens.estimators._search_progress import SearchProgress
from cgens.interrupt import InterruptGuard
from cgens.path_problem import PathMaster
from cgens.progress import ProgressBar
from cgens.regularization_path import path
from cgens.types import AnyArray, Floats

#: How long the search waits for its folds before it checks for Ctrl-C.
POLL_SECONDS = 0.1
#: score(X, y, weights, decisions)
Score: TypeAlias = Callable[[AnyArray, AnyArray, Floats, Floats], float]


class SearchEstimator(Planner):
    """Choose C and the number of columns by cross-validation, then fit on all rows."""

    _plain_class: type[EnsembleEstimator]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Cross-validate, then fit on all rows with the best C and number of columns."""
        attempt = copy.copy(self)  # so that a fit that fails leaves the estimator as it was
        attempt._fit(X, y, sample_weight)
        self.__dict__ = attempt.__dict__
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        stages = resolve_stages(self.columns, check_count("n_estimators", self.n_estimators))
        plan = self._plan(X, y, sample_weight)
        assert plan.C is not None
        largest = plan.data.largest_weights(plan.order.rows, plan.weight)
        self.Cs_ = np.array([resolve_c(C, plan.C, largest) for C in resolve_cs(self.Cs, plan.C)])
        self.columns_ = np.array(stages)
        self.folds_ = make_folds(self.cv, plan, is_classifier(self))
        search = _Search(plan, self._score_function(plan.coding), self.Cs_.tolist(), stages)
        seeds = check_random_state(self.random_state).randint(2**31, size=len(self.folds_)).tolist()
        self.scores_ = search.run(self.folds_, seeds, bool(self.verbose))
        self._choose()
        self._refit(plan)

    def _refit(self, plan: FitPlan) -> None:
        """Fit on all rows with the best parameters."""
        names = self._plain_class._get_param_names()
        shared = {name: getattr(self, name) for name in names if hasattr(self, name)}
        best = self._plain_class(**{**shared, **self.best_params_})
        for name in ("n_features_in_", "feature_names_in_", "classes_", "n_outputs_", "loss_"):
            if hasattr(self, name):
                setattr(best, name, getattr(self, name))
        run_plan(best, replace(plan.with_c(self.C_), max_columns=int(self.best_params_["n_estimators"])))
        self._warn_of_scales(plan)
        warn_of_result(best, stacklevel=6)
        self.best_estimator_ = best
        self.n_columns_ = best.n_columns_

    def _score_function(self, coding: Coding) -> Score:
        """Return score(X, y, weights, decisions of these rows), larger is better."""
        if self.scoring is None:
            return lambda X, y, weight, decision: self._default_score(y, coding.decode(decision), weight)
        scorer = get_scorer(self.scoring)
        takes_weights = "sample_weight" in signature(getattr(scorer, "_score_func", scorer)).parameters

        def score(X: AnyArray, y: AnyArray, weight: Floats, decision: Floats) -> float:
            known = {"sample_weight": weight} if takes_weights and np.ptp(weight) else {}
            return float(scorer(FoldModel(self, coding, decision), X, y, **known))

        return score

    def _default_score(self, y: AnyArray, predicted: AnyArray, weight: Floats) -> float:
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

    def __init__(self, search: SearchEstimator, coding: Coding, decision: Floats) -> None:
        self._search, self._coding, self._decision = search, coding, decision
        if hasattr(search, "classes_"):
            self.classes_ = search.classes_

    def __sklearn_tags__(self) -> Any:
        return self._search.__sklearn_tags__()

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> AnyArray:
        return self._coding.decode(self._decision)

    def decision_function(self, X: Any) -> Floats:
        return self._coding.scores(self._decision)


@dataclass(frozen=True)
class _Search:
    plan: FitPlan
    score: Score
    Cs: list[float]
    stages: tuple[int, ...]

    def run(self, folds: Folds, seeds: list[int], verbose: bool) -> Floats:
        """Return the scores, shape (n_folds, n_Cs, n_stages). Folds run beside each other, and do not depend on it."""
        n_threads, workers = self.plan.n_threads, min(self.plan.n_threads, len(folds))
        stop = threading.Event()
        progress = SearchProgress(len(folds) * self.stages[-1], len(folds), stop, ProgressBar() if verbose else None)
        # One BLAS thread each: products then are the same whatever else runs, and do not fight over cores.
        with ONE_BLAS_THREAD, InterruptGuard() as guard, ThreadPoolExecutor(workers) as pool:
            jobs: list[Future[Floats]] = []
            try:
                for k, ((train, test), seed) in enumerate(zip(folds, seeds, strict=True)):
                    plan = replace(self.plan, seed=seed, n_threads=max(1, n_threads // workers))
                    jobs.append(pool.submit(self._fold, plan, train, test, progress, k))
                return np.array(_results(jobs, guard))
            except BaseException:
                stop.set()
                for job in jobs:
                    job.cancel()
                raise
            finally:
                progress.close()

    def _fold(self, plan: FitPlan, train: AnyArray, test: AnyArray, progress: SearchProgress, number: int) -> Floats:
        """Return the scores of one fold, shape (n_Cs, n_stages)."""
        data, own_weight = plan.data, np.zeros(len(plan.data.X))
        own_weight[train] = data.sample_weight[train]
        test = test[data.sample_weight[test] > 0]
        if not own_weight.any() or not len(test):
            raise ValueError("A fold of cv has no rows of positive weight to train on, or none to test on.")
        plan = replace(
            plan.on_rows(own_weight).with_c(sorted(self.Cs)[len(self.Cs) // 2]), tol=max(plan.tol, LOOSE_TOL)
        )
        found = path(
            cast(PathMaster, plan.master),
            plan.family,
            data.X,
            plan.target,
            self.Cs,
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
