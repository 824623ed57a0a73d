"""What classifier and regressor share: one fit by column generation, and what it leaves behind."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from cgens.coding import Coding
from cgens.ensemble import Ensemble
from cgens.estimators._inputs import validated
from cgens.estimators._parameters import resolve_threads
from cgens.estimators._plan import FitPlan
from cgens.estimators._planner import Planner
from cgens.importances import family_shares, feature_importances
from cgens.progress import ProgressBar
from cgens.row_duals import RowDuals
from cgens.trace import Trace
from cgens.types import AnyArray, Floats, Status
from cgens.weak_learners import Mixture


class EnsembleEstimator(Planner):
    """Fit, staged decisions and importances of an ensemble by column generation."""

    ensemble_: Ensemble
    coding_: Coding
    _duals: RowDuals
    _bound_duals: RowDuals | None
    _targets_word: str
    _constant_word: str

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the ensemble; what X and y may be, a subclass says."""
        # On a copy, so that a fit that fails leaves the estimator as it was.
        attempt = copy.copy(self)
        plan = attempt._plan(X, y, sample_weight, attempt._earlier_ensemble())
        run_plan(attempt, plan)
        self.__dict__ = attempt.__dict__
        self._warn_of_scales(plan)
        warn_of_result(self, stacklevel=4)
        return self

    def _advice(self) -> str:
        """Return what to do where the master was not solved to its tolerance."""
        return f"lower C ({self.C_:.3g}) or raise tol"

    def _penalty_hint(self) -> str:
        """Return what else may be why a fit found no column."""
        return ""

    def _earlier_ensemble(self) -> Ensemble | None:
        """Return what a warm start begins with."""
        if not self.warm_start or not hasattr(self, "ensemble_"):
            return None
        if self.n_estimators < len(self.ensemble_):
            raise ValueError(
                f"n_estimators={self.n_estimators} must be at least the {len(self.ensemble_)} columns of the earlier "
                "fit when warm_start=True."
            )
        return self.ensemble_

    def _check_input(self, X: Any) -> AnyArray:
        check_is_fitted(self, "ensemble_")
        return np.asarray(validated(self, X, reset=False))

    def _decision(self, X: Any) -> Floats:
        """Return F(x), shape (n, l)."""
        X = self._check_input(X)
        return self.ensemble_.decision(X, resolve_threads(self.n_jobs))

    def _staged(self, X: Any) -> Iterator[Floats]:
        """Yield F(x) after each round, shape (n, l)."""
        X = self._check_input(X)
        yield from self.ensemble_.staged(X, resolve_threads(self.n_jobs))

    def predict(self, X: Any) -> AnyArray:
        """Return the prediction for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        prediction : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            In the form that y had in `fit`.
        """
        decision = self._decision(X)  # first, for it raises where the model is not fitted
        return self.coding_.decode(decision)

    def staged_predict(self, X: Any) -> Iterator[AnyArray]:
        """Yield the prediction after each round.

        Every round has its own weights for all its columns; the last one is the final model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        prediction : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        for decision in self._staged(X):
            yield self.coding_.decode(decision)

    @property
    def duals_(self) -> Floats:
        """Signed duals of the rows of X, shape (n,) or (n, l)."""
        check_is_fitted(self, "ensemble_")
        return self._duals.array()

    @property
    def bound_duals_(self) -> Floats | None:
        """The duals that prove ``certificate_.full_lower_bound``, where there is one."""
        check_is_fitted(self, "ensemble_")
        return None if self._bound_duals is None else self._bound_duals.array()

    @property
    def feature_importances_(self) -> Floats:
        """Spread of each feature's part of the decision over the training rows, as a share of the sum."""
        check_is_fitted(self, "ensemble_")
        return feature_importances(self.ensemble_, self.n_features_in_)


def run_plan(estimator: EnsembleEstimator, plan: FitPlan) -> None:
    """Run column generation and set the fitted attributes of an estimator."""
    if plan.initial is not None and plan.initial.weights.shape[1] != plan.data.target.shape[1]:
        raise ValueError(
            f"warm_start=True needs the targets of the earlier fit: that had {plan.initial.weights.shape[1]} outputs, "
            f"this one has {plan.data.target.shape[1]}."
        )
    bar = ProgressBar() if estimator.verbose else None
    try:
        ensemble, trace = plan.run(bar)
    finally:
        if bar is not None:
            bar.close()
    if len(ensemble) == len(plan.initial or ()) > 0 and trace.certificate.status is Status.INTERRUPTED:
        raise KeyboardInterrupt  # nothing is done yet: the earlier fit stays as it was
    store_fit(estimator, plan, ensemble, trace)


def store_fit(estimator: EnsembleEstimator, plan: FitPlan, ensemble: Ensemble, trace: Trace) -> None:
    """Set the fitted attributes of an estimator."""
    estimator.coding_ = plan.coding
    estimator.ensemble_, estimator.certificate_ = ensemble, trace.certificate
    estimator.trace_ = replace(trace, duals=None, bound_duals=None)
    estimator.n_columns_, estimator.n_iter_ = len(ensemble), len(trace) - 1
    assert trace.duals is not None
    estimator._duals = estimator._bound_duals = RowDuals.of(trace.duals, plan.order, plan.master.smooth)
    if trace.bound_duals is None:
        estimator._bound_duals = None
    elif trace.bound_duals is not trace.duals:
        estimator._bound_duals = RowDuals.of(trace.bound_duals, plan.order, plan.master.smooth)
    for name in ("C_", "family_shares_"):  # of an earlier fit
        estimator.__dict__.pop(name, None)
    if plan.C is not None:
        estimator.C_ = plan.C
    if isinstance(plan.family, Mixture):
        names = [member.name for member in plan.family.members()]
        X = plan.data.X[plan.order.rows]
        estimator.family_shares_ = family_shares(ensemble, names, X, plan.weight, plan.n_threads)


def warn_of_result(estimator: EnsembleEstimator, stacklevel: int) -> None:
    """Warn where the fit has not reached its tolerance or is a constant; after Ctrl-C raise KeyboardInterrupt."""
    status = estimator.certificate_.status
    if status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    if status is Status.NOT_CONVERGED:
        warnings.warn(
            f"The master problem over the {estimator.n_columns_} columns was solved to a relative gap of "
            f"{estimator.certificate_.relative_gap:.1e}, not tol={estimator.tol:g}: {estimator._advice()}.",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )
    if estimator.n_columns_ > 0 and not estimator.ensemble_.weights.any():
        warnings.warn(
            f"All {estimator.n_columns_} columns have the weight 0 (do they contradict each other"
            f"{estimator._penalty_hint()}?): the model is a constant, {estimator._constant_word}.",
            UserWarning,
            stacklevel=stacklevel,
        )
    if estimator.n_columns_ == 0:
        warnings.warn(
            f"No weak learner tells {estimator._targets_word} apart (are all features constant, the rows too few, or a "
            f"parameter of {estimator.weak_learner!r} far off{estimator._penalty_hint()}?): the model is a constant, "
            f"{estimator._constant_word}.",
            UserWarning,
            stacklevel=stacklevel,
        )
