"""Class probabilities, for losses that have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from cgens.coding import Coding
from cgens.masters import Logistic
from cgens.masters.loss import Loss
from cgens.masters.registry import automatic_loss, resolve_loss
from cgens.types import Floats


def has_probabilities(estimator: Any) -> bool:
    """Return whether the loss of an estimator has probabilities, or raise AttributeError with advice."""
    loss = getattr(estimator, "master_", None) or resolve_loss(estimator.loss, "classes")
    loss = loss or automatic_loss("classes")
    if not loss.has_probabilities:
        raise AttributeError(
            f"loss={loss.name!r} gives decisions, not probabilities: use loss='logistic', or wrap the model in "
            "sklearn.calibration.CalibratedClassifierCV."
        )
    return True


def class_probabilities(loss: Loss, coding: Coding, decision: Floats) -> Floats:
    """Return the probabilities of all classes, or of all labels."""
    return loss.probabilities(decision, getattr(coding, "codes", None))


class ProbabilityMixin:
    """`predict_proba` and its relatives, if the loss has probabilities."""

    coding_: Coding
    master_: Loss

    def _probabilities(self, decision: Floats) -> Floats:
        """Return the probabilities of decisions; those of an automatic model are logits."""
        loss = self.master_ if getattr(self, "calibration_", None) is None else Logistic()
        return class_probabilities(loss, self.coding_, decision)

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``. For a multilabel y, the probability of each label by itself.
        """
        decision = self._decision(X)  # type: ignore[attr-defined]
        return self._probabilities(decision)

    @available_if(has_probabilities)
    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of `predict_proba`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    @available_if(has_probabilities)
    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Yield the probabilities after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        for decision in self._staged(X):  # type: ignore[attr-defined]
            yield self._probabilities(decision)
