"""Base classes of the classifiers: they read class labels, and return decisions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_class_weight

from cgens.coding import ClassCoding, Coding, LabelCoding
from cgens.estimators._base import EnsembleEstimator
from cgens.estimators._inputs import row_weights, validated_labels
from cgens.estimators._plan import TrainingData, balanced_factors, class_totals
from cgens.estimators._planner import Planner
from cgens.table import Table
from cgens.types import AnyArray, Floats


class ClassificationPlanner(ClassifierMixin, Planner):  # type: ignore[misc]
    """Planner for two or more classes, or for a multilabel indicator matrix; subclasses choose the coding."""

    class_weight: Any = None  # for subclasses without this parameter

    def _code_classes(self, classes: AnyArray) -> ClassCoding:
        """Return the coding of the classes."""
        raise NotImplementedError

    def _code_labels(self, n_labels: int) -> LabelCoding:
        """Return the coding of a multilabel indicator matrix."""
        raise ValueError(
            f"{type(self).__name__} takes one label per row; y has {n_labels} columns. For a multilabel indicator "
            "matrix use CGEnsClassifier."
        )

    def _read(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[TrainingData, Coding]:
        X, y, multilabel = validated_labels(self, X, y, reset=reset)
        sample_weight = row_weights(sample_weight, X)
        if multilabel:
            return self._read_labels(X, y, sample_weight)
        self.classes_, class_index = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"At least two classes are needed; y has 1 class, {self.classes_[0]!s}.")
        factors = self._class_factors(class_index, sample_weight)
        if not factors.all():  # a class of weight 0 is left out, with its rows
            sample_weight = np.where(factors[class_index] > 0, sample_weight, 0.0)
            class_index = np.maximum(np.cumsum(factors > 0) - 1, 0)[class_index]
            self.classes_, factors = self.classes_[factors > 0], factors[factors > 0]
        coding = self._code_classes(self.classes_)
        class_index = class_index.astype(np.min_scalar_type(-len(self.classes_)))  # there may be very many rows
        equal = np.all(factors == factors[0])
        row_factors = np.broadcast_to(factors[0], len(X)) if equal else factors[class_index]
        return TrainingData(
            X, coding.encode(class_index), sample_weight, row_factors, class_index, self._is_balanced()
        ), coding

    def _read_labels(self, X: Table, y: AnyArray, sample_weight: Floats) -> tuple[TrainingData, LabelCoding]:
        coding = self._code_labels(y.shape[1])
        if self.class_weight is not None:
            raise ValueError(f"class_weight needs one label per row; got {self.class_weight!r}: use sample_weight.")
        self.classes_ = np.arange(y.shape[1])
        return TrainingData.without_classes(X, coding.encode(y), sample_weight), coding

    def _is_balanced(self) -> bool:
        return isinstance(self.class_weight, str) and self.class_weight == "balanced"

    def _class_factors(self, class_index: AnyArray, sample_weight: Floats) -> Floats:
        """Return the factor of each class by `class_weight`, 0 for a class without weight.

        "balanced" counts weights, not rows.
        """
        totals = class_totals(class_index, sample_weight)
        if self._is_balanced():
            factors = balanced_factors(totals)
        else:
            factors = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_[class_index])
        if not np.all(np.isfinite(factors) & (factors >= 0)):
            raise ValueError(f"class_weight must contain finite weights >= 0; got {self.class_weight!r}.")
        factors = np.where(totals > 0, factors, 0.0)
        n_left = int(np.sum(factors > 0))
        if n_left < 2:
            gone = ", ".join(str(label) for label in self.classes_[factors == 0][:3])
            raise ValueError(
                f"At least two classes are needed; all rows of class {gone} have weight 0, which leaves "
                f"{n_left} class{'es' * (n_left != 1)}."
            )
        return factors


class EnsembleClassifier(ClassificationPlanner, EnsembleEstimator):
    """A classifier fitted by column generation."""

    _constant_prediction = "the class with the largest weight"

    def decision_function(self, X: Any) -> Floats:
        """Return the decision values.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        decision : ndarray of shape (n_samples,) for two classes, else (n_samples, n_classes)
            F(x) = sum_j w_j h_j(x) + b, positive for ``classes_[1]``. For more than two classes the inner product of
            F(x) with the code of each class; for one-vs-rest and multilabel y the F(x) of each class or label. An
            automatic model has logits in place of F(x), by `calibration_`: `predict_proba` is their logistic function,
            or the softmax of the decisions for more than two classes.
        """
        decision = self._decision(X)  # first: raises NotFittedError
        return self.coding_.scores(decision)

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield the decision after each round.

        Each round has its own weights for all its columns, in closed form or solved to the loose tolerance used between
        rounds; stage-wise methods keep each weight once it is set. The last round is the final model. An automatic
        model yields once.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        for decision in self._staged(X):
            yield self.coding_.scores(decision)
