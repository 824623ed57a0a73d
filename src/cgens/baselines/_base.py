"""What the rivals share: they choose a master and a coding, all else is the ensemble's."""

from __future__ import annotations

from typing import Any

from cgens.coding import ClassCoding
from cgens.estimators._classification import EnsembleClassifier
from cgens.types import AnyArray, Rule


class Baseline(EnsembleClassifier):
    """A classifier of another master on the same loop."""

    warm_start = False  # none of them goes on from an earlier fit

    @property
    def _constant_word(self) -> str:  # type: ignore[override]
        return f"which says {self.classes_[0]!s} of every row"

    def _check_parameters(self) -> None:
        pass

    def _rule(self) -> Rule:
        return "max"


class BinaryBaseline(Baseline):
    """One for two classes only."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _code_classes(self, classes: AnyArray) -> ClassCoding:
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: y has "
                f"{len(classes)} classes; take {self._for_more_classes}."
            )
        return ClassCoding.simplex(classes)

    _for_more_classes = "sklearn.multiclass.OneVsRestClassifier around it"


class StageWiseBaseline(Baseline):
    """One that sets each weight once: there is nothing to choose but the weak learners and their number."""

    tol = 1e-3  # of a problem that is not solved: nobody asks

    def __init__(
        self,
        weak_learner: Any = "stump",
        n_estimators: int = 500,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.weak_learner = weak_learner
        self.n_estimators = n_estimators
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
