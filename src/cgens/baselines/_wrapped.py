"""Base class of the wrappers of scikit-learn's SVMs."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from cgens.estimators._inputs import validated, validated_classes
from cgens.estimators._versioned import VersionedEstimator
from cgens.table import Table
from cgens.table.encoding import Encoding
from cgens.types import AnyArray, Floats


class WrappedClassifier(ClassifierMixin, VersionedEstimator):  # type: ignore[misc]
    """A classifier that validates its input and passes it to a scikit-learn classifier."""

    _encoding: Encoding | None
    _wrapped: ClassVar[str]  # name of the fitted attribute that holds the scikit-learn classifier

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the SVM.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        attempt = copy.copy(self)  # a fit that fails or is interrupted must leave the estimator unchanged
        table, y, weight = validated_classes(attempt, X, y, sample_weight)
        attempt._encoding = None
        if table.is_category.any() or table.has_gaps.any():
            attempt._encoding = Encoding.of(table, np.arange(len(table)), weight, "none")
        attempt._fit(attempt._numbers(table), y, weight)
        self.__dict__ = attempt.__dict__
        return self

    def _numbers(self, table: Table) -> AnyArray:
        """Return rows as complete numbers: medians and indicators for gaps, one input for each level of a category."""
        if self._encoding is not None:
            return self._encoding.transform(table.matrix())  # type: ignore[no-any-return]
        if table.has_gaps.any():
            column = table.label(int(np.argmax(table.has_gaps)))
            raise ValueError(
                f"Column {column} of X has missing values (NaN), but had none when the model was fitted: impute them."
            )
        return table.matrix()  # type: ignore[no-any-return]

    def _fit(self, X: AnyArray, y: AnyArray, sample_weight: Floats) -> None:
        """Fit on validated data, and store the SVM, `classes_` and `n_iter_`."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> Floats:
        """Return the decision values, shape (n,) for two classes, else (n, n_classes)."""
        check_is_fitted(self, self._wrapped)
        numbers = self._numbers(validated(self, X, reset=False))
        return np.asarray(getattr(self, self._wrapped).decision_function(numbers))

    def predict(self, X: Any) -> AnyArray:
        """Return the class of each row, shape (n,)."""
        check_is_fitted(self, self._wrapped)
        return np.asarray(getattr(self, self._wrapped).predict(self._numbers(validated(self, X, reset=False))))
