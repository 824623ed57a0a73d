"""What classifiers by column generation share: classes and labels in, decisions and labels out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.validation import _check_sample_weight

from cgens.coding import ClassCoding, Coding, LabelCoding
from cgens.estimators._base import EnsembleEstimator
from cgens.estimators._inputs import validated_labels
from cgens.estimators._plan import TrainingData, balanced_factors, class_totals
from cgens.estimators._planner import Planner
from cgens.types import AnyArray, Floats


class ClassificationPlanner(ClassifierMixin, Planner):  # type: ignore[misc]
    """Reads two or more classes, or a multilabel indicator matrix; a subclass chooses the coding."""

    class_weight: Any = None  # for subclasses without that parameter

    def _code_classes(self, classes: AnyArray) -> ClassCoding:
        """Return the coding of classes."""
        raise NotImplementedError

    def _code_labels(self, n_labels: int) -> LabelCoding:
        """Return the coding of a multilabel indicator matrix."""
        raise ValueError(
            f"{type(self).__name__} takes one label a row; y has {n_labels} columns. CGEnsClassifier takes "
            "indicator matrices."
        )

    def _read(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[TrainingData, Coding]:
        X, y, multilabel = validated_labels(self, X, y, reset=reset)
        sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if multilabel:
            return self._read_labels(X, y, sample_weight)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"Two classes are needed; y has 1 class, {self.classes_[0]!s}.")
        factors = self._class_factors(numbers, sample_weight)
        if not factors.all():  # a weight of 0 is the same as leaving the rows out, and their class with them
            sample_weight = np.where(factors[numbers] > 0, sample_weight, 0.0)
            numbers = np.maximum(np.cumsum(factors > 0) - 1, 0)[numbers]
            self.classes_, factors = self.classes_[factors > 0], factors[factors > 0]
        coding = self._code_classes(self.classes_)
        balanced = self._is_balanced()
        return TrainingData(X, coding.encode(numbers), sample_weight, factors[numbers], numbers, balanced), coding

    def _read_labels(self, X: AnyArray, y: AnyArray, sample_weight: Floats) -> tuple[TrainingData, LabelCoding]:
        coding = self._code_labels(y.shape[1])
        if self.class_weight is not None:
            raise ValueError(f"class_weight is for one label a row; got {self.class_weight!r}: use sample_weight.")
        if not sample_weight.any():
            raise ValueError("All sample weights are 0: there is nothing to fit.")
        self.classes_ = np.arange(y.shape[1])
        no_groups = np.zeros(len(X), dtype=np.intp)
        return TrainingData(X, coding.encode(y), sample_weight, np.ones(len(X)), no_groups), coding

    def _is_balanced(self) -> bool:
        return isinstance(self.class_weight, str) and self.class_weight == "balanced"

    def _class_factors(self, numbers: AnyArray, sample_weight: Floats) -> Floats:
        """Return what `class_weight` multiplies each class by, 0 where nothing is left of a class.

        "balanced" counts weights, not rows.
        """
        totals = class_totals(numbers, sample_weight)
        if self._is_balanced():
            factors = balanced_factors(totals)
        else:
            factors = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_[numbers])
        if not np.all(np.isfinite(factors) & (factors >= 0)):
            raise ValueError(f"class_weight must have finite weights >= 0; got {self.class_weight!r}.")
        factors = np.where(totals > 0, factors, 0.0)
        if np.sum(factors > 0) < 2:
            gone = ", ".join(str(label) for label in self.classes_[factors == 0][:3])
            raise ValueError(
                f"Two classes are needed; all rows of class {gone} have weight 0, leaving {np.sum(factors > 0)} class."
            )
        return factors


class EnsembleClassifier(ClassificationPlanner, EnsembleEstimator):
    """A classifier by column generation."""

    _targets_word, _constant_word = "the classes", "the heavier class"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers. float32 and float64 arrays are read as they are, in any memory order.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Distinct labels of any kind, two or more (AdaBoost and LPBoost: two); for CGEns and AdaBoost.MH also an
            indicator of 0 and 1 for several labels a row.
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
        return super().fit(X, y, sample_weight)

    def decision_function(self, X: Any) -> Floats:
        """Return how much speaks for each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        decision : ndarray of shape (n_samples,) for two classes, else (n_samples, n_classes)
            F(x) = sum_j w_j h_j(x) + b, positive for ``classes_[1]``. For more classes its inner product with each
            class's code, for one against the rest and for several labels each one's own F(x).
        """
        decision = self._decision(X)  # first, for it raises where the model is not fitted
        return self.coding_.scores(decision)

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield the decision after each round.

        Every round has its own weights for all its columns, in closed form or solved to the loose tolerance used
        between rounds; of stage-wise methods the weights once set stay. The last one is the final model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        for decision in self._staged(X):
            yield self.coding_.scores(decision)
