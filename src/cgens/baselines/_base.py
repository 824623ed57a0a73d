"""Base classes of the boosting baselines, which only choose a master problem and a coding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cgens.coding import ClassCoding
from cgens.estimators._classification import EnsembleClassifier
from cgens.types import AnyArray


class Baseline(EnsembleClassifier):
    """A classifier with another master problem in the same loop."""

    warm_start = False  # not supported

    @property
    def _constant_prediction(self) -> str:  # type: ignore[override]
        return f"{self.classes_[0]!s} for every row"


class BinaryBaseline(Baseline):
    """A baseline for two classes only."""

    _multiclass_alternative = "sklearn.multiclass.OneVsRestClassifier around it"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _code_classes(self, classes: AnyArray) -> ClassCoding:
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: y has "
                f"{len(classes)} classes; use {self._multiclass_alternative}."
            )
        return ClassCoding.simplex(classes)


@dataclass(eq=False, repr=False)
class StageWiseBaseline(Baseline):
    """A baseline that sets each weight once and never changes it."""

    weak_learner: Any = "stump"
    n_estimators: int = 500
    categorical_features: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    tol = 1e-3  # unused by stage-wise masters
