"""Selected or learned cosines as features for any other model."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from cgens.estimators._inputs import validated
from cgens.estimators._parameters import check_count, resolve_threads
from cgens.estimators._versioned import VersionedEstimator
from cgens.estimators.classifier import CGEnsClassifier
from cgens.estimators.regressor import CGEnsRegressor
from cgens.types import AnyArray
from cgens.weak_learners import Fourier


class FourierSelector(ClassNamePrefixFeaturesOutMixin, TransformerMixin, VersionedEstimator):  # type: ignore[misc]
    """Random Fourier features that were chosen for the target, before any other model.

    A model of cosines is fitted by column generation; its columns, sqrt(2) cos(theta.x - kappa), are the features.

    Parameters
    ----------
    n_components : int, default=100
        How many cosines; fewer where no more are to be had.
    fourier : Fourier, default=None
        The family, ``Fourier()`` where it is None. For a grid search over ``fourier__gamma`` give the object.
    task : {"auto", "classification", "regression"}, default="auto"
        What y is. "auto": numbers are a regression if they have more than 20 values, whole numbers of an integer type
        more than 100; anything else has classes.
    C : float or "scale", default="scale"
        Of the model that selects.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int or None, default=None
    verbose : int, default=0

    Attributes
    ----------
    model_ : CGEnsClassifier or CGEnsRegressor
        The model whose columns are the features.
    ensemble_ : Ensemble
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = load_digits(return_X_y=True)
    >>> model = make_pipeline(FourierSelector(100, random_state=0), RidgeClassifier()).fit(X[:900], y[:900])
    >>> model.score(X[900:], y[900:]) > 0.9
    True
    """

    def __init__(
        self,
        n_components: int = 100,
        fourier: Fourier | None = None,
        task: str = "auto",
        C: Any = "scale",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.fourier = fourier
        self.task = task
        self.C = C
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Select the cosines.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Labels, or numbers.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self : FourierSelector
        """
        if self.fourier is not None and not isinstance(self.fourier, Fourier):
            raise TypeError(f"fourier must be a cgens.weak_learners.Fourier or None; got {self.fourier!r}.")
        if self.task not in ("auto", "classification", "regression"):
            raise ValueError(f"task must be 'auto', 'classification' or 'regression'; got {self.task!r}.")
        numbers = self.task == "regression" or (self.task == "auto" and has_numbers(y))
        self.model_ = (CGEnsRegressor if numbers else CGEnsClassifier)(
            Fourier() if self.fourier is None else self.fourier,
            C=self.C,
            n_estimators=check_count("n_components", self.n_components),
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        ).fit(X, y, sample_weight)
        self.ensemble_ = self.model_.ensemble_
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)  # of an earlier fit
            if hasattr(self.model_, name):
                setattr(self, name, getattr(self.model_, name))
        self._n_features_out = len(self.ensemble_)
        return self

    def transform(self, X: Any) -> AnyArray:
        """Return the cosines of new rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        features : ndarray of shape (n_samples, n_components), float32 where X is, else float64
        """
        check_is_fitted(self, "ensemble_")
        X = validated(self, X, reset=False)
        if not len(self.ensemble_):
            return np.empty((len(X), 0), dtype=X.dtype)
        return self.ensemble_.respond(X, resolve_threads(self.n_jobs)).astype(X.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def has_numbers(y: Any) -> bool:
    """Return whether a target looks like numbers rather than classes."""
    if y is None:
        return False
    if type_of_target(y, input_name="y").startswith("continuous"):
        return True
    values = np.asarray(y)
    most = {"f": 20, "i": 100, "u": 100}.get(values.dtype.kind)
    return most is not None and values.ndim == 1 and len(np.unique(values)) > most
