"""Base class of the searches: cross-validates C and the number of columns in one pass."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.stats import rankdata
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from cgens.coding import Coding
from cgens.estimators._base import EnsembleEstimator, run_plan, warn_of_result
from cgens.estimators._fold_search import FoldSearch
from cgens.estimators._folds import make_folds
from cgens.estimators._grid import resolve_cs, resolve_stages
from cgens.estimators._parameters import check_count, resolve_c
from cgens.estimators._plan import FitPlan
from cgens.estimators._planner import Planner
from cgens.estimators._scoring import score_by
from cgens.types import AnyArray, Floats, Status


def _of_best_estimator(name: str) -> property:
    """Return a property with the value that an attribute has in the best estimator."""
    return property(lambda self: getattr(self._best(), name), doc=f"`{name}` of the best estimator.")


class SearchEstimator(Planner):
    """Select C and the number of columns by cross-validation, then fit on all rows."""

    coding_: Coding
    _estimator_class: type[EnsembleEstimator]

    ensemble_ = _of_best_estimator("ensemble_")
    certificate_ = _of_best_estimator("certificate_")
    family_shares_ = _of_best_estimator("family_shares_")
    feature_importances_ = _of_best_estimator("feature_importances_")
    input_importances_ = _of_best_estimator("input_importances_")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Cross-validate, then fit on all rows with the best C and number of columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the losses and of the scores.
        groups : array-like of shape (n_samples,), optional
            For splitters that keep groups of rows together, such as ``GroupKFold``.

        Returns
        -------
        self

        Notes
        -----
        A fit that fails or is interrupted leaves the estimator unchanged.
        """
        attempt = copy.copy(self)  # a fit that fails must leave the estimator unchanged
        plan = attempt._fit(X, y, sample_weight, groups)
        if attempt.best_estimator_.certificate_.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        self.__dict__ = attempt.__dict__
        self._warn_about_scales(plan)
        warn_of_result(self.best_estimator_)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> FitPlan:
        stages = resolve_stages(self.stages, check_count("n_estimators", self.n_estimators))
        plan = self._plan(X, y, sample_weight)
        assert plan.C is not None
        self.coding_, self.master_ = plan.coding, plan.master
        largest = plan.data.largest_weights(plan.order.rows, plan.weight)
        self.Cs_ = np.array([resolve_c(C, plan.C, largest) for C in resolve_cs(self.Cs, plan.C)])
        self.stages_ = np.array(stages)
        self.folds_ = make_folds(self.cv, plan, is_classifier(self), groups)
        score = self._default_score if self.scoring is None else score_by(self.scoring, self, plan.coding)
        seeds = check_random_state(self.random_state).randint(2**31, size=len(self.folds_)).tolist()
        self._search(FoldSearch(plan, self.folds_, seeds, stages, score, bool(self.verbose)))
        self._refit(plan)
        return plan

    def _search(self, search: FoldSearch) -> None:
        """Generate columns at the middle C and, as long as the best C has no columns of its own, at that C.

        The columns found depend on C: each C is scored on the columns found at the nearest C, and selected only if they
        were found at that C itself.
        """
        distance = np.abs(np.log(self.Cs_)[:, None] - np.log(self.Cs_))
        found_at = np.full(len(self.Cs_), -1)  # index of the C at which the columns for each C were found
        self.scores_ = np.empty((len(self.folds_), len(self.Cs_), len(self.stages_)))
        best = int(np.argsort(self.Cs_, kind="stable")[len(self.Cs_) // 2])
        while found_at[best] != best:
            nearer = (found_at < 0) | (distance[:, best] < distance[np.arange(len(found_at)), found_at])
            nearer[best] = True  # even if a C is listed twice
            self.scores_[:, nearer] = search.run(float(self.Cs_[best]), self.Cs_[nearer].tolist())
            found_at[nearer] = best
            best = self._select()
        self.column_Cs_ = self.Cs_[found_at]

    def _refit(self, plan: FitPlan) -> None:
        """Fit on all rows with the best parameters."""
        names = self._estimator_class._get_param_names()
        shared = {name: getattr(self, name) for name in names if hasattr(self, name)}
        best = self._estimator_class(**{**shared, **self.best_params_})
        for name in ("n_features_in_", "feature_names_in_", "schema_", "classes_", "n_outputs_", "loss_"):
            if hasattr(self, name):
                setattr(best, name, getattr(self, name))
        run_plan(best, replace(plan.with_c(self.C_), max_columns=int(self.best_params_["n_estimators"])))
        self.best_estimator_, self.master_ = best, best.master_
        self.n_columns_ = best.n_columns_

    def _default_score(self, X: AnyArray, y: AnyArray, weight: Floats, decision: Floats) -> float:
        """Return the score that is used if `scoring` is None."""
        raise NotImplementedError

    def _select(self) -> int:
        """Store the results, and return the index of the best C.

        Ties in the mean score go to the fewest columns, then to the smallest C.
        """
        if not np.isfinite(self.scores_).all():
            fold, c, stage = np.argwhere(~np.isfinite(self.scores_))[0]
            raise ValueError(
                f"The score of fold {fold} is {self.scores_[fold, c, stage]} (C = {self.Cs_[c]:.3g}, "
                f"{self.stages_[stage]} columns): use fewer or larger folds (cv={self.cv!r}), or another scoring."
            )
        mean = self.scores_.mean(axis=0)  # (n_Cs, n_stages)
        c_order = np.argsort(self.Cs_, kind="stable")
        best = mean.max()
        close = mean[c_order] >= best - 1e-12 * abs(best)
        stage, rank = np.argwhere(close.T)[0]
        c = int(c_order[rank])
        self.C_ = float(self.Cs_[c])
        self.best_score_ = float(mean[c, stage])
        self.best_params_ = {"C": self.C_, "n_estimators": int(self.stages_[stage])}
        flat = self.scores_.reshape(len(self.scores_), -1)
        C, stages = np.meshgrid(self.Cs_, self.stages_, indexing="ij")
        self.best_index_ = int(c * len(self.stages_) + stage)
        self.cv_results_ = {
            "param_C": C.ravel(),
            "param_n_estimators": stages.ravel(),
            "params": [{"C": a, "n_estimators": b} for a in self.Cs_.tolist() for b in self.stages_.tolist()],
            **{f"split{k}_test_score": scores for k, scores in enumerate(flat)},
            "mean_test_score": mean.ravel(),
            "std_test_score": flat.std(axis=0),
            "rank_test_score": rankdata(-mean.ravel(), method="min").astype(np.int32),
        }
        return c

    def _best(self) -> EnsembleEstimator:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def predict(self, X: Any) -> AnyArray:
        """Return the predictions of the best estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        predictions : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        return np.asarray(self._best().predict(X))

    def staged_predict(self, X: Any) -> Iterator[AnyArray]:
        """Yield the predictions of the best estimator after each round."""
        yield from self._best().staged_predict(X)
