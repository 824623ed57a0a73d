"""What thin wrappers of scikit-learn's own machines share."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from cgens.estimators._inputs import validated, validated_classes
from cgens.estimators._versioned import VersionedEstimator
from cgens.types import AnyArray, Floats


class WrappedClassifier(ClassifierMixin, VersionedEstimator):  # type: ignore[misc]
    """A classifier that hands its rows, once validated, to a fitted one of scikit-learn."""

    _machine: ClassVar[str]  # the attribute that holds it

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        attempt = copy.copy(self)  # a fit that fails or is interrupted leaves the earlier one as it was
        attempt._fit(*validated_classes(attempt, X, y, sample_weight))
        self.__dict__ = attempt.__dict__
        return self

    def _fit(self, X: AnyArray, y: AnyArray, sample_weight: Floats | None) -> None:
        """Fit on what was validated, and store the machine, `classes_` and `n_iter_`."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> Floats:
        """Return how much speaks for each class, shape (n,) for two classes, else (n, n_classes)."""
        check_is_fitted(self, self._machine)
        return np.asarray(getattr(self, self._machine).decision_function(validated(self, X, reset=False)))

    def predict(self, X: Any) -> AnyArray:
        """Return the class of each row, shape (n,)."""
        check_is_fitted(self, self._machine)
        return np.asarray(getattr(self, self._machine).predict(validated(self, X, reset=False)))
