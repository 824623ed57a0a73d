"""Base classes of CGEns estimators and searches: they choose the master problem by the name of the loss."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from cgens.coding import ClassCoding, Coding, LabelCoding, RegressionCoding
from cgens.estimators._classification import ClassificationPlanner
from cgens.estimators._inputs import validated_targets
from cgens.estimators._parameters import resolve_c, resolve_pricing, scale_c, total_weight
from cgens.estimators._plan import TrainingData
from cgens.estimators._planner import Planner
from cgens.masters import Hinge, LeastSquares
from cgens.types import AnyArray, Floats, Master, Rule, WeakLearner

#: The master problem of each loss.
MASTERS: dict[str, type] = {"hinge": Hinge, "least_squares": LeastSquares, "squared": LeastSquares}


class LossPlanner(Planner):
    """Planner that chooses the master problem by `loss`, and its C."""

    _losses: tuple[str, ...]

    def _check_parameters(self) -> None:
        if not isinstance(self.loss, str) or self.loss not in self._losses:
            raise ValueError(f"loss must be one of {', '.join(map(repr, self._losses))}; got {self.loss!r}.")
        resolve_pricing(self.pricing, "least_squares")

    def _master(self, data: TrainingData, family: WeakLearner, largest_weights: Floats, seed: int) -> Master:
        default = scale_c(self.loss_, family, data.target.shape[1], total_weight(data.sample_weight))
        C = resolve_c(getattr(self, "C", "scale"), default, largest_weights)  # a search has `Cs` instead
        return cast(Master, MASTERS[self.loss_](C))

    def _rule(self) -> Rule:
        return resolve_pricing(self.pricing, self.loss_)


class ClassLossPlanner(LossPlanner, ClassificationPlanner):
    """Losses for classification."""

    _losses = ("auto", "hinge", "least_squares")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _code_classes(self, classes: AnyArray) -> ClassCoding:
        two = len(classes) == 2
        self.loss_ = ("hinge" if two else "least_squares") if self.loss == "auto" else self.loss
        one_vs_rest = self.loss_ == "hinge" and not two
        return ClassCoding.one_vs_rest(classes) if one_vs_rest else ClassCoding.simplex(classes)

    def _code_labels(self, n_labels: int) -> LabelCoding:
        self.loss_ = "least_squares" if self.loss == "auto" else self.loss
        return LabelCoding(n_labels)


class RegressionLossPlanner(LossPlanner):
    """Losses for regression."""

    _losses = ("squared",)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _read(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[TrainingData, Coding]:
        X, y = validated_targets(self, X, y, reset=reset)
        sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        coding, self.loss_ = RegressionCoding(flat=y.ndim == 1), self.loss
        target = coding.encode(y)
        self.n_outputs_ = target.shape[1]
        return TrainingData.without_classes(X, target, sample_weight), coding
