"""Any scikit-learn classifier as a weak learner."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from cgens.types import AnyArray, Floats, Sample
from cgens.weak_learners.search.candidates import fingerprint
from cgens.weak_learners.search.proposals import ProposalPricer

BALANCED = 1e-9  #: duals whose sum is so small beside their sizes add up to 0, as they do under a free intercept


class SklearnLearner(BaseEstimator):  # type: ignore[misc]
    """Columns of +-1 from any scikit-learn classifier that takes sample weights.

    To find the largest price |sum_i r_i h(x_i)| among classifiers is to classify the signs of r with the weights |r|.
    Of several outputs a drawn direction is followed.

    Parameters
    ----------
    estimator : classifier
        Copied and fitted anew in each round; where it has a ``random_state`` of None, that is drawn from the fit's.

    Examples
    --------
    >>> from cgens import CGEnsClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> family = SklearnLearner(DecisionTreeClassifier(max_depth=2))
    >>> CGEnsClassifier(family, n_estimators=20, random_state=0).fit(X, y).n_columns_
    20
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def begin(self, sample: Sample, rng: np.random.Generator, n_threads: int) -> ProposalPricer:
        """Keep the training rows."""
        for method in ("fit", "predict", "get_params"):
            if isinstance(self.estimator, type) or not hasattr(self.estimator, method):
                raise TypeError(f"SklearnLearner needs a scikit-learn classifier; got {self.estimator!r}.")
        if not is_classifier(self.estimator):
            raise TypeError(f"SklearnLearner needs a classifier; {type(self.estimator).__name__} is none.")
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise TypeError(f"SklearnLearner: {type(self.estimator).__name__}.fit takes no sample_weight.")
        return ProposalPricer(ClassifierMaker(self.estimator, sample.matrix(), rng), rng)


@dataclass(frozen=True, eq=False)
class FittedLearner:
    """h(x) = 1 where a fitted classifier predicts 1, else -1."""

    model: Any
    content: bytes

    @property
    def key(self) -> Hashable:
        """Its predictions for the training rows, up to sign."""
        return ("sklearn", self.content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FittedLearner) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def respond(self, X: AnyArray) -> AnyArray:
        """Return h(x) of every row, int8."""
        return signs_of(self.model, X)


class ClassifierMaker:
    """Fits the classifier to one number a row."""

    def __init__(self, estimator: Any, X: AnyArray, rng: np.random.Generator) -> None:
        self._estimator, self._X, self._rng = estimator, X, rng

    def __call__(self, target: Floats, attempt: int) -> tuple[FittedLearner, AnyArray] | None:
        """Return the fitted classifier and its responses; None where there are no two classes."""
        size = np.abs(target)
        rows = np.flatnonzero(size > 1e-12 * size.max(initial=0.0))
        if not len(rows) or np.all(target[rows] > 0) or np.all(target[rows] < 0):
            return None
        model = clone(self._estimator)
        if model.get_params().get("random_state", 0) is None:
            model.set_params(random_state=int(self._rng.integers(2**31)))
        weights = size[rows] / size[rows].mean()
        model.fit(self._X[rows], np.where(target[rows] > 0, 1, -1), sample_weight=weights)
        response = signs_of(model, self._X)
        constant = not np.any(response != response[0])
        if constant and abs(target.sum()) <= BALANCED * size.sum():  # worth nothing beside a free intercept
            return None
        return FittedLearner(model, fingerprint(response)), response


def signs_of(model: Any, X: AnyArray) -> AnyArray:
    """Return what a classifier of -1 and 1 predicts, int8, or raise a sentence."""
    if len(X) == 0:  # which scikit-learn refuses
        return np.zeros(0, dtype=np.int8)
    predicted = np.asarray(model.predict(X))
    if predicted.shape != (len(X),) or not np.isin(predicted, (-1, 1)).all():
        raise ValueError(
            f"SklearnLearner: {type(model).__name__}.predict must return one of the classes -1 and 1 for each of the "
            f"{len(X)} rows; got an array of shape {predicted.shape} with {np.unique(predicted)[:3].tolist()}."
        )
    return predicted.astype(np.int8)
