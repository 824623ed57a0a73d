"""Any scikit-learn classifier as a weak learner."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from cgens.default_c import DefaultC
from cgens.types import AnyArray, Floats, Sample
from cgens.weak_learners.search.candidates import fingerprint
from cgens.weak_learners.search.proposals import ProposalPricer

#: Duals whose |sum| is below this fraction of their sum of |values| add up to 0, as with a free intercept.
ZERO_SUM = 1e-9


class SklearnLearner(BaseEstimator):  # type: ignore[misc]
    """Columns of +-1 from any scikit-learn classifier that supports sample weights.

    Finding the classifier with the largest price |sum_i r_i h(x_i)| means classifying the signs of r with the weights
    |r|. With several outputs, r is their combination along a random direction.

    Parameters
    ----------
    estimator : classifier
        Cloned and fitted in each round; if its ``random_state`` is None, it gets a seed drawn from the model's.

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

    default_c: ClassVar[DefaultC] = DefaultC(margin=7.0, squares=0.01, regression=0.003, constant=True)

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    @property
    def accepts(self) -> tuple[str, ...]:
        """Sparse tables and missing values if the classifier accepts them."""
        if not hasattr(self.estimator, "__sklearn_tags__") or isinstance(self.estimator, type):
            return ()
        tags = get_tags(self.estimator).input_tags
        return tuple(name for name, is_accepted in (("sparse", tags.sparse), ("gaps", tags.allow_nan)) if is_accepted)

    def begin(self, sample: Sample, rng: np.random.Generator, n_threads: int) -> ProposalPricer:
        """Check the classifier."""
        methods = ("fit", "predict", "get_params")
        if isinstance(self.estimator, type) or not all(hasattr(self.estimator, method) for method in methods):
            raise TypeError(f"SklearnLearner needs a scikit-learn classifier; got {self.estimator!r}.")
        if not is_classifier(self.estimator):
            raise TypeError(f"SklearnLearner needs a classifier; {type(self.estimator).__name__} is not one.")
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise TypeError(f"SklearnLearner: {type(self.estimator).__name__}.fit does not support sample_weight.")
        return ProposalPricer(ClassifierMaker(self.estimator, sample.matrix(), rng), rng)


@dataclass(frozen=True)
class FittedLearner:
    """h(x) = 1 if a fitted classifier predicts 1, else -1."""

    model: Any = field(compare=False)
    content: bytes

    @property
    def takes_sparse(self) -> bool:
        """Whether its classifier accepts sparse rows."""
        return bool(get_tags(self.model).input_tags.sparse)

    @property
    def key(self) -> Hashable:
        """The predictions for the training rows, up to sign."""
        return ("sklearn", self.content)

    def respond(self, X: AnyArray) -> AnyArray:
        """Return h(x) for every row, int8."""
        return signs_of(self.model, X)


class ClassifierMaker:
    """Fits the classifier to the signs of a target."""

    def __init__(self, estimator: Any, X: AnyArray, rng: np.random.Generator) -> None:
        self._estimator, self._X, self._rng = estimator, X, rng

    def __call__(self, target: Floats, attempt: int) -> tuple[FittedLearner, AnyArray] | None:
        """Return a fitted classifier and its responses; None without two classes, or if it has no price."""
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
        if constant and abs(target.sum()) <= ZERO_SUM * size.sum():  # a free intercept does the same
            return None
        return FittedLearner(model, fingerprint(response)), response


def signs_of(model: Any, X: AnyArray) -> AnyArray:
    """Return the predictions of a classifier of -1 and 1, int8, or raise ValueError."""
    n_rows = X.shape[0]
    if n_rows == 0:  # which scikit-learn rejects
        return np.zeros(0, dtype=np.int8)
    predicted = np.asarray(model.predict(X))
    if predicted.shape != (n_rows,) or not np.isin(predicted, (-1, 1)).all():
        raise ValueError(
            f"SklearnLearner: {type(model).__name__}.predict must return one of the classes -1 and 1 for each of the "
            f"{n_rows} rows; got an array of shape {predicted.shape} with {np.unique(predicted)[:3].tolist()}."
        )
    return predicted.astype(np.int8)
