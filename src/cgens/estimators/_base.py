"""Base class of the ensemble estimators: one fit by column generation, and its fitted attributes."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from cgens.automatic.calibration import Calibration
from cgens.automatic.report import AutomaticReport
from cgens.automatic.spec import Automatic
from cgens.coding import Coding
from cgens.cosine_importances import cosine_importances
from cgens.ensemble import Ensemble
from cgens.estimators._automatic import run_automatic
from cgens.estimators._callbacks import CallbackEstimator, with_callbacks
from cgens.estimators._checkpointing import name_damage, open_checkpoint
from cgens.estimators._early_stopping import run_with_validation
from cgens.estimators._inputs import validated
from cgens.estimators._loo_c import with_loo_c
from cgens.estimators._parameters import DEFAULT_COLUMNS, check_size, check_switch, resolve_threads
from cgens.estimators._plan import FitPlan, Validation
from cgens.estimators._planner import Planner
from cgens.importances import family_shares, feature_importances, input_importances, mean_importances
from cgens.progress import ProgressBar
from cgens.rounds import Callback, all_of
from cgens.row_duals import RowDuals
from cgens.table.accepted import reject_gaps
from cgens.trace import Trace
from cgens.types import AnyArray, Family, Floats, Sample, Status
from cgens.user_warnings import warn_user
from cgens.weak_learners import Mixture


class EnsembleEstimator(CallbackEstimator, Planner):
    """An ensemble fitted by column generation, with staged predictions and importances."""

    ensemble_: Ensemble
    coding_: Coding
    weak_learner_: Family
    parts_: dict[str, Any]  # of an automatic model, as `auto_`
    auto_: AutomaticReport
    _duals: RowDuals
    _bound_duals: RowDuals | None
    _gap_shares: Floats  # share of the training rows' weight that lacks a value of each feature
    _cosine_importances: Floats | None = None  # of the features, if all columns are cosines
    _typical: Floats | None = None  # what stands for gaps in columns that had none in `fit`; NaN for other columns
    _refuses_gaps: str | None = None  # the name of the family if it does not accept gaps
    _constant_prediction: str

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the ensemble.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
            A frame of pandas, polars or pyarrow, a NumPy array, or a SciPy sparse matrix. Columns of text are
            categories (see `categorical_features`); missing values are allowed, infinity is not. float32 and float64
            arrays are read as they are, in any memory order.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            For regressors, finite numbers. For classifiers, labels of two or more classes (AdaBoost and LPBoost: two);
            for CGEns and AdaBoost.MH also a multilabel indicator matrix of 0 and 1.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative. A weight of k is equivalent to k copies of the row, a weight of 0 to leaving it out.

        Returns
        -------
        self

        Notes
        -----
        On Ctrl-C KeyboardInterrupt is raised. The finished rounds of a family are stored before, with
        ``certificate_.status`` "interrupted"; with the automatic model the estimator stays as it was. So it does if a
        fit fails.
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any, **validation: Any) -> Self:
        """Fit the ensemble; `validation` has the arguments of `_validation`."""
        with self._fit_task(X, y, sample_weight) as task:
            attempt = copy.copy(self)  # a fit that fails must leave the estimator unchanged
            plan = attempt._plan(X, y, sample_weight, attempt._earlier_ensemble())
            plan = replace(plan, validation=attempt._validation(plan, **validation))
            callbacks = attempt._function_callbacks()
            if task is not None:
                callbacks.append(task.rounds(attempt, plan))
            if isinstance(plan.family, Automatic):
                run_automatic(attempt, plan, store_context, store_fit)
            else:
                run_plan(attempt, plan, callbacks)
            self.__dict__ = attempt.__dict__
        self._warn_about_scales(plan)
        warn_of_result(self)
        return self

    def _validation(self, plan: FitPlan) -> Validation | None:
        """Return the rows that decide when to stop, if any."""
        return None

    def _advice(self) -> str:
        """Return what to do if the master problem was not solved to `tol`."""
        return f"lower C ({self.C_:.3g}) or raise tol" if hasattr(self, "C_") else "raise tol"

    def _penalty_hint(self) -> str:
        """Return a further possible cause of a constant model."""
        return ""

    def _earlier_ensemble(self) -> Ensemble | None:
        """Return the ensemble that a warm start continues from, if any."""
        if not check_switch("warm_start", self.warm_start) or not hasattr(self, "ensemble_"):
            return None
        if hasattr(self, "auto_"):
            raise ValueError(
                "warm_start=True cannot continue an automatic model: choose a weak_learner, and fit it with "
                "warm_start=True from the beginning."
            )
        size = check_size(self.n_estimators) or DEFAULT_COLUMNS
        if size < len(self.ensemble_):
            raise ValueError(
                f"n_estimators={size} must be at least {len(self.ensemble_)}, the number of columns "
                "of the previous fit, when warm_start=True."
            )
        return self.ensemble_

    def _check_input(self, X: Any) -> AnyArray:
        """Return rows as the weak learners take them."""
        check_is_fitted(self, "ensemble_")
        table = validated(self, X, reset=False)
        if self._refuses_gaps is not None:
            reject_gaps(self._refuses_gaps, table)
        if self._typical is not None:
            table = table.filled(self._typical)
        return table.matrix()  # type: ignore[no-any-return]

    def _decision(self, X: Any) -> Floats:
        """Return F(x), shape (n, l)."""
        X = self._check_input(X)
        return self._calibrated(self.ensemble_.decision(X, resolve_threads(self.n_jobs)))

    def _staged(self, X: Any) -> Iterator[Floats]:
        """Yield F(x) after each round, shape (n, l)."""
        X = self._check_input(X)
        yield from map(self._calibrated, self.ensemble_.staged(X, resolve_threads(self.n_jobs)))

    def _calibrated(self, decision: Floats) -> Floats:
        """Return the logits of an automatic model; other decisions as they are."""
        calibration: Calibration | None = getattr(self, "calibration_", None)
        return decision if calibration is None else calibration.logits(decision)

    def predict(self, X: Any) -> AnyArray:
        """Return the prediction for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        prediction : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            In the same form as y in `fit`.
        """
        decision = self._decision(X)  # first: raises NotFittedError
        return self.coding_.decode(decision)

    def staged_predict(self, X: Any) -> Iterator[AnyArray]:
        """Yield the prediction after each round.

        Each round has its own weights for all its columns; the last round is the final model. An automatic model yields
        once.

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
        """The duals that prove ``certificate_.full_lower_bound``, if any."""
        check_is_fitted(self, "ensemble_")
        return None if self._bound_duals is None else self._bound_duals.array()

    @property
    def feature_importances_(self) -> Floats:
        """How much the decision depends on each feature, normalized to sum to 1."""
        check_is_fitted(self, "ensemble_")
        if not hasattr(self, "auto_"):
            return feature_importances(self.ensemble_, self._gap_shares, self._cosine_importances)
        parts = [(part.weight, self.parts_[part.name].feature_importances_) for part in self.auto_.parts]
        return mean_importances(parts, self.n_features_in_)

    @property
    def input_importances_(self) -> dict[str, float]:
        """How much the target changes along each input of a learned metric, normalized to sum to 1."""
        check_is_fitted(self, "ensemble_")
        if hasattr(self, "auto_"):
            raise AttributeError(
                "input_importances_ is defined for cosines in a learned metric: those of an automatic model are in "
                "auto_.metrics, for each view of the inputs; see also feature_importances_ and "
                "sklearn.inspection.permutation_importance."
            )
        return input_importances(self.ensemble_, self.schema_)


def run_plan(estimator: EnsembleEstimator, plan: FitPlan, callbacks: Sequence[Callback] = ()) -> None:
    """Run column generation and set the fitted attributes of an estimator."""
    if plan.initial is not None and plan.initial.weights.shape[1] != plan.data.target.shape[1]:
        raise ValueError(
            f"warm_start=True needs as many outputs as the previous fit had: {plan.initial.weights.shape[1]} outputs; "
            f"this target has {plan.data.target.shape[1]}."
        )
    losses: list[float] = []
    writer, saved = open_checkpoint(estimator, plan, losses)
    if saved is not None:
        plan = replace(plan, seed=saved.seed)
    plan = with_loo_c(plan)
    resume = None if saved is None else saved.arrays
    with closing(ProgressBar()) if estimator.verbose else nullcontext() as bar, name_damage(estimator):
        callbacks = callbacks if bar is None else [*callbacks, bar]
        if plan.validation is None:
            ensemble, trace = plan.run(all_of(callbacks, writer), writer is not None, resume)
        else:
            ensemble, trace = run_with_validation(plan, plan.validation, callbacks, losses, writer, resume)
    if writer is not None and trace.certificate.status is not Status.INTERRUPTED:
        writer.finish()
    if len(ensemble) == len(plan.initial or ()) > 0 and trace.certificate.status is Status.INTERRUPTED:
        raise KeyboardInterrupt  # no round is finished: keep the previous fit
    store_fit(estimator, plan, ensemble, trace)
    if plan.validation is not None:
        estimator.validation_losses_, estimator.n_iter_ = np.array(losses), len(losses)


def store_fit(estimator: EnsembleEstimator, plan: FitPlan, ensemble: Ensemble, trace: Trace) -> None:
    """Set the fitted attributes of an estimator."""
    store_context(estimator, plan)
    estimator.ensemble_, estimator.certificate_ = ensemble, trace.certificate
    estimator.trace_ = replace(trace, duals=None, bound_duals=None)
    estimator.n_columns_, estimator.n_iter_ = len(ensemble), len(trace) - 1
    assert trace.duals is not None
    estimator._duals = estimator._bound_duals = RowDuals.of(trace.duals, plan.order, plan.master.smooth)
    if trace.bound_duals is None:
        estimator._bound_duals = None
    elif trace.bound_duals is not trace.duals:
        estimator._bound_duals = RowDuals.of(trace.bound_duals, plan.order, plan.master.smooth)
    if plan.C is not None:
        estimator.C_ = plan.C
    sample = Sample(plan.data.X, plan.order.rows, plan.weight)
    estimator._cosine_importances = cosine_importances(ensemble, sample)
    if isinstance(plan.family, Mixture):
        names = [member.name for member in plan.family.members()]
        estimator.family_shares_ = family_shares(ensemble, names, sample.matrix(), plan.weight, plan.n_threads)


def store_context(estimator: EnsembleEstimator, plan: FitPlan) -> None:
    """Set the fitted attributes that follow from the plan, and remove what an earlier fit left."""
    estimator.coding_, estimator.master_, estimator.weak_learner_ = plan.coding, plan.master, plan.family
    estimator._gap_shares = plan.data.X.gap_shares(plan.order.rows, plan.weight)
    estimator._typical = plan.typical_values()
    estimator._refuses_gaps = None if "gaps" in getattr(plan.family, "accepts", ()) else type(plan.family).__name__
    estimator._cosine_importances = None
    for name in ("C_", "family_shares_", "validation_losses_", "parts_", "auto_", "calibration_"):
        estimator.__dict__.pop(name, None)


def warn_of_result(estimator: EnsembleEstimator) -> None:
    """Warn, at the caller of `fit`, of a gap above `tol` or a constant model; after Ctrl-C raise KeyboardInterrupt."""
    certificate, n_columns = estimator.certificate_, estimator.n_columns_
    if certificate.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    if certificate.status is Status.NOT_CONVERGED:
        warn_user(
            f"The master problem over the {n_columns} columns was solved to a relative gap of "
            f"{certificate.relative_gap:.1e}, not tol={estimator.tol:g}: {estimator._advice()}.",
            ConvergenceWarning,
        )
    if not estimator.ensemble_.weights.any():
        cause = f"All {n_columns} columns have weight 0 (do they cancel each other out"
        if n_columns == 0:
            cause = (
                "No weak learner improves the fit (are all features constant, are there too few rows, or is a "
                f"parameter of {estimator.weak_learner!r} far off"
            )
            if hasattr(estimator, "auto_"):
                cause = (
                    "Nothing predicts held-out rows better than a constant (are there too few, or only constant "
                    "features"
                )
            if len(getattr(estimator, "validation_losses_", ())):
                cause = "No round lowered the loss on the validation rows (are they like the others"
        warn_user(
            f"{cause}{estimator._penalty_hint()}?): the model is constant and predicts "
            f"{estimator._constant_prediction}.",
        )
