"""CGEns as a scikit-learn classifier."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from cgens.coding import decode_binary, encode_binary
from cgens.colgen import generate_columns
from cgens.ensemble import Ensemble
from cgens.estimators._inputs import validated
from cgens.estimators._parameters import (
    check_count,
    check_positive,
    resolve_c,
    resolve_threads,
    resolve_weak_learner,
    total_weight,
)
from cgens.importances import stump_importances
from cgens.masters import Hinge
from cgens.progress import ProgressBar
from cgens.sample_order import SampleOrder
from cgens.types import AnyArray, Floats, Status


class CGEnsClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Ensemble that solves the SVM problem over all weak learners of a family, by column generation.

    Each round adds the weak learner that violates the SVM's optimality conditions most and re-solves the SVM over
    all weak learners so far. The result comes with a certificate: how far it is, at most, from the optimum.

    Parameters
    ----------
    weak_learner : str or object, default="stump"
        "stump", or a family such as ``cgens.weak_learners.Stump(max_bins=64)``. scikit-learn's trees are none.
    loss : {"auto", "hinge"}, default="auto"
        "auto" is "hinge".
    C : float or "scale", default="scale"
        Weight of the losses, which are summed over rows. Larger fits the training rows closer. "scale" divides a
        measured constant by the total weight of the rows; multiply ``C_`` of a fit by powers of 3 to tune.
    n_estimators : int, default=500
        Most columns (weak learners).
    tol : float, default=1e-3
        Relative duality gap of the final SVM over the selected columns.
    class_weight : dict, "balanced" or None
        Multiplies the sample weights by class.
    warm_start : bool, default=False
        Go on from the columns of the last ``fit``.
    random_state : int, RandomState or None
        For families that draw candidates. Stumps do not.
    n_jobs : int or None
        Threads. None: as many as OpenMP would take. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar: columns, duality gap over the columns selected so far, seconds left.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X had column names.
    C_ : float
        The C that was used.
    ensemble_ : Ensemble
        Weak learners, weights and intercept.
    n_columns_, n_iter_ : int
        Number of weak learners, and of rounds in the last fit.
    trace_ : Trace
        Prices, objectives, gaps and seconds of every round.
    certificate_ : Certificate
        Primal, dual and gap, for the selected columns and for the whole pool.
    duals_ : ndarray of shape (n_samples,)
        Signed duals y_i a_i of the rows of X.
    bound_duals_ : ndarray of shape (n_samples,) or None
        The duals that prove ``certificate_.full_lower_bound``.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Spread of each feature's part of the decision over the training rows, as a share of the sum.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from cgens import CGEnsClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = CGEnsClassifier(n_estimators=100).fit(X_train, y_train)
    >>> bool(model.score(X_test, y_test) > 0.95)
    True
    >>> model.certificate_.relative_gap <= model.tol
    True
    """

    def __init__(
        self,
        weak_learner: Any = "stump",
        loss: str = "auto",
        C: float | str = "scale",
        n_estimators: int = 500,
        tol: float = 1e-3,
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.weak_learner = weak_learner
        self.loss = loss
        self.C = C
        self.n_estimators = n_estimators
        self.tol = tol
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers. float32 and float64 arrays are read as they are, in any memory order.
        y : array-like of shape (n_samples,)
            Two distinct labels of any kind.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative; a weight of k is the same as k copies of the row, 0 the same as leaving it out.

        Returns
        -------
        self

        Notes
        -----
        On Ctrl-C the rounds done are stored, with ``certificate_.status`` "interrupted", and KeyboardInterrupt goes on.
        A fit that fails leaves the estimator as it was.
        """
        # On a copy, so that a fit that fails leaves the estimator as it was.
        attempt = copy.copy(self)
        attempt._fit(X, y, sample_weight)
        self.__dict__ = attempt.__dict__
        self._announce()
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        if self.loss not in ("auto", "hinge"):
            raise ValueError(f"loss must be 'auto' or 'hinge'; got {self.loss!r}.")
        n_estimators, tol = check_count("n_estimators", self.n_estimators), check_positive("tol", self.tol)
        n_threads, family = resolve_threads(self.n_jobs), resolve_weak_learner(self.weak_learner)
        initial = self._earlier_ensemble(n_estimators)
        X, y = validated(self, X, y, reset=initial is None)
        sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        self.classes_, codes = self._binary_labels(y)
        target = encode_binary(codes)
        order = SampleOrder.of(X, target, sample_weight, n_threads)
        # Class weights come after the merging of equal rows: k copies then have exactly the weight k times one.
        fitted_codes = codes[order.rows]
        weight = order.weight * self._class_factors(codes, sample_weight)[fitted_codes]
        largest = np.array([weight[fitted_codes == code].max() for code in (0, 1)])
        self.C_ = resolve_c(self.C, total_weight(sample_weight), largest)
        bar = ProgressBar() if self.verbose else None
        try:
            self.ensemble_, self.trace_ = generate_columns(
                Hinge(self.C_),
                family,
                X,
                target[order.rows],
                sample_weight=weight,
                rows=order.rows,
                tol=tol,
                max_columns=n_estimators,
                rng=np.random.default_rng(check_random_state(self.random_state).randint(2**31)),
                n_threads=n_threads,
                callback=bar,
                initial=initial,
            )
        finally:
            if bar is not None:
                bar.close()
        self.certificate_ = self.trace_.certificate
        self.n_columns_ = len(self.ensemble_)
        self.n_iter_ = len(self.trace_) - 1
        self.duals_ = order.spread_duals(self.trace_.duals)[:, 0]
        bound_duals = self.trace_.bound_duals
        self.bound_duals_ = None if bound_duals is None else order.spread_duals(bound_duals)[:, 0]

    def _earlier_ensemble(self, n_estimators: int) -> Ensemble | None:
        """Return what a warm start begins with."""
        if not self.warm_start or not hasattr(self, "ensemble_"):
            return None
        if n_estimators < len(self.ensemble_):
            raise ValueError(
                f"n_estimators={n_estimators} must be at least the {len(self.ensemble_)} columns of the earlier fit "
                "when warm_start=True."
            )
        return self.ensemble_

    def _binary_labels(self, y: Any) -> tuple[AnyArray, AnyArray]:
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y")
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}, with {len(classes)} "
                "classes: wrap the estimator in sklearn.multiclass.OneVsRestClassifier."
            )
        if len(classes) < 2:
            raise ValueError(f"Two classes are needed; y has 1 class, {classes[0]!s}.")
        return classes, codes

    def _class_factors(self, codes: AnyArray, sample_weight: Floats) -> Floats:
        """Return what `class_weight` multiplies each class by. "balanced" counts weights, not rows."""
        totals = np.array([total_weight(sample_weight[codes == code]) for code in (0, 1)])  # in any order the same
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            factors = totals.sum() / (2 * np.where(totals > 0, totals, np.inf))
        else:
            factors = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_[codes])
        if not np.all(np.isfinite(factors) & (factors >= 0)):
            raise ValueError(f"class_weight must have finite weights >= 0; got {self.class_weight!r}.")
        for label, total in zip(self.classes_, totals * factors, strict=True):
            if total == 0:
                raise ValueError(f"Two classes are needed; all rows of class {label!s} have weight 0, leaving 1 class.")
        return np.asarray(factors)

    def _announce(self) -> None:
        """Warn where there is reason to, and let Ctrl-C go on."""
        status = self.certificate_.status
        if status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if status is Status.NOT_CONVERGED:
            warnings.warn(
                f"The SVM over the {self.n_columns_} columns was solved to a relative gap of "
                f"{self.certificate_.relative_gap:.1e}, not tol={self.tol:g}: lower C ({self.C_:.3g}) or raise tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        if self.n_columns_ == 0:
            warnings.warn(
                "No weak learner tells the classes apart (are all features constant?): the model is a constant, the "
                "heavier class.",
                UserWarning,
                stacklevel=3,
            )

    def _check_input(self, X: Any) -> AnyArray:
        check_is_fitted(self, "ensemble_")
        return np.asarray(validated(self, X, reset=False))

    def decision_function(self, X: Any) -> Floats:
        """Return F(x) = sum_j w_j h_j(x) + b.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        decision : ndarray of shape (n_samples,)
            Positive for ``classes_[1]``.
        """
        X = self._check_input(X)
        return self.ensemble_.decision(X, resolve_threads(self.n_jobs))[:, 0]

    def predict(self, X: Any) -> AnyArray:
        """Return the class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return decode_binary(self.decision_function(X), self.classes_)

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield the decision after each round.

        Every round has its own weights for all its columns, solved to the loose tolerance used between rounds; the
        last one is the final model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        decision : ndarray of shape (n_samples,)
        """
        X = self._check_input(X)
        for decision in self.ensemble_.staged(X, resolve_threads(self.n_jobs)):
            yield decision[:, 0]

    def staged_predict(self, X: Any) -> Iterator[AnyArray]:
        """Yield the predicted classes after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        labels : ndarray of shape (n_samples,)
        """
        for decision in self.staged_decision_function(X):
            yield decode_binary(decision, self.classes_)

    @property
    def feature_importances_(self) -> Floats:
        """Spread of each feature's part of the decision over the training rows, as a share of the sum."""
        check_is_fitted(self, "ensemble_")
        return stump_importances(self.ensemble_, self.n_features_in_)
