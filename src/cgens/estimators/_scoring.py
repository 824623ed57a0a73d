"""Score decisions with scikit-learn's scorers."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer
from sklearn.utils.metaestimators import available_if

from cgens.coding import Coding
from cgens.estimators._probabilities import class_probabilities, has_probabilities
from cgens.types import AnyArray, Floats

#: score(X, y, weights, decisions)
Score: TypeAlias = Callable[[AnyArray, AnyArray, Floats, Floats], float]


class FoldModel:
    """A model that returns given predictions, for scikit-learn's scorers."""

    def __init__(self, estimator: Any, coding: Coding, decision: Floats) -> None:
        self._estimator, self._coding, self._decision = estimator, coding, decision
        if hasattr(estimator, "classes_"):
            self.classes_ = estimator.classes_

    def __sklearn_tags__(self) -> Any:
        return self._estimator.__sklearn_tags__()

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> AnyArray:
        return self._coding.decode(self._decision)


class FoldClassifier(FoldModel):
    """A `FoldModel` with a decision function, and with probabilities if the loss has them."""

    def decision_function(self, X: Any) -> Floats:
        return self._coding.scores(self._decision)

    @available_if(lambda self: has_probabilities(self._estimator))
    def predict_proba(self, X: Any) -> Floats:
        return class_probabilities(self._estimator.master_, self._coding, self._decision)


def score_by(scoring: Any, estimator: Any, coding: Coding) -> Score:
    """Return score(X, y, weights, decisions) for a scikit-learn scorer; larger is better."""
    scorer = get_scorer(scoring)
    takes_weights = "sample_weight" in signature(getattr(scorer, "_score_func", scorer)).parameters
    model = FoldClassifier if is_classifier(estimator) else FoldModel

    def score(X: AnyArray, y: AnyArray, weight: Floats, decision: Floats) -> float:
        weights = {"sample_weight": weight} if takes_weights and np.ptp(weight) else {}
        fold_model = model(estimator, coding, decision)
        try:
            return float(scorer(fold_model, X, y, **weights))
        except AttributeError as error:
            if error.obj is not fold_model and model.__name__ not in str(error):
                raise  # an error of the scorer itself
            missing = getattr(scorer, "_response_method", None) or error.name or str(error)
            missing = " or ".join([missing] if isinstance(missing, str) else missing)
            advice = "a scorer of predictions"
            if is_classifier(estimator):
                advice += " or decisions" + f", or a loss that has {missing}" * (missing == "predict_proba")
            raise ValueError(
                f"scoring={scoring!r} needs {missing}, which {type(estimator).__name__} does not have with "
                f"loss={estimator.loss_!r}; use {advice}."
            ) from None

    return score
