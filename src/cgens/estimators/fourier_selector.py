"""Fourier features selected for the target, as input for any other model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from cgens.estimators._parameters import check_count, resolve_threads
from cgens.estimators._shared_docs import expand_shared
from cgens.estimators._versioned import VersionedEstimator
from cgens.estimators.classifier import CGEnsClassifier
from cgens.estimators.regressor import CGEnsRegressor
from cgens.types import AnyArray
from cgens.weak_learners import Fourier


@expand_shared
@dataclass(eq=False, repr=False)
class FourierSelector(ClassNamePrefixFeaturesOutMixin, TransformerMixin, VersionedEstimator):  # type: ignore[misc]
    """Random Fourier features selected for the target, as input for any other model.

    An ensemble of cosines is fitted by column generation; its columns, sqrt(2) cos(theta.x - kappa), are the features.

    Parameters
    ----------
    n_components : int, default=100
        Number of cosines; fewer if no more are found.
    fourier : Fourier or None, default=None
        The family. None: ``Fourier()``. For a grid search over ``fourier__gamma`` pass an object.
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" is regression if y is continuous, has more than 20 distinct values of a floating-point type, or more than
        100 of an integer type; else classification.
    C : float, "scale" or "auto", default="scale"
        The C of the model that selects the features.
    categorical_features, random_state, n_jobs, verbose : shared

    Attributes
    ----------
    model_ : CGEnsClassifier or CGEnsRegressor
        The model whose columns are the features.
    ensemble_, n_features_in_, feature_names_in_ : shared

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

    n_components: int = 100
    fourier: Fourier | None = None
    task: str = "auto"
    C: Any = "scale"
    categorical_features: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Select the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels, a multilabel indicator matrix or regression targets.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        if self.fourier is not None and not isinstance(self.fourier, Fourier):
            raise TypeError(f"fourier must be a cgens.weak_learners.Fourier or None; got {self.fourier!r}.")
        if self.task not in ("auto", "classification", "regression"):
            raise ValueError(f"task must be 'auto', 'classification' or 'regression'; got {self.task!r}.")
        regression = self.task == "regression" or (self.task == "auto" and looks_continuous(y))
        self.model_ = (CGEnsRegressor if regression else CGEnsClassifier)(
            Fourier() if self.fourier is None else self.fourier,
            C=self.C,
            n_estimators=check_count("n_components", self.n_components),
            categorical_features=self.categorical_features,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        ).fit(X, y, sample_weight)
        self.ensemble_ = self.model_.ensemble_
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)  # left by an earlier fit
            if hasattr(self.model_, name):
                setattr(self, name, getattr(self.model_, name))
        self._n_features_out = len(self.ensemble_)
        return self

    def transform(self, X: Any) -> AnyArray:
        """Return the selected features of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        features : ndarray of shape (n_samples, n_components), float32 if X is, else float64
        """
        check_is_fitted(self, "ensemble_")
        X = self.model_._check_input(X)
        if not len(self.ensemble_):
            return np.empty((X.shape[0], 0), dtype=X.dtype)
        return np.asarray(self.ensemble_.respond(X, resolve_threads(self.n_jobs)).astype(X.dtype))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def looks_continuous(y: Any) -> bool:
    """Return whether y looks like regression targets rather than classes."""
    if y is None:
        return False
    if type_of_target(y, input_name="y").startswith("continuous"):
        return True
    values = np.asarray(y)
    max_classes = {"f": 20, "i": 100, "u": 100}.get(values.dtype.kind)
    return max_classes is not None and values.ndim == 1 and len(np.unique(values)) > max_classes
