"""What thin wrappers of scikit-learn's own machines share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from cgens.estimators._inputs import validated
from cgens.types import AnyArray, Floats


class WrappedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that hands its rows, once validated, to a fitted one of scikit-learn."""

    _machine: ClassVar[str]  # the attribute that holds it

    def decision_function(self, X: Any) -> Floats:
        """Return how much speaks for each class, shape (n,) for two classes, else (n, n_classes)."""
        check_is_fitted(self, self._machine)
        return np.asarray(getattr(self, self._machine).decision_function(validated(self, X, reset=False)))

    def predict(self, X: Any) -> AnyArray:
        """Return the class of each row, shape (n,)."""
        check_is_fitted(self, self._machine)
        return np.asarray(getattr(self, self._machine).predict(validated(self, X, reset=False)))
