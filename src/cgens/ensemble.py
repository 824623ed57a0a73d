"""The result of a fit: weak learners, stored as packs of arrays, and their weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, cast

import numpy as np

from cgens.packs.pack import Decider, pack_from_arrays, pack_to_arrays
from cgens.packs.pack_set import LearnerView, PackSet
from cgens.types import AnyArray, Floats, Learner
from cgens.weight_history import WeightHistory


@dataclass(frozen=True, repr=False, eq=False)
class Ensemble:
    """F(x) = sum_j w_j h_j(x) + b, immutable.

    Attributes
    ----------
    packs : PackSet
        The weak learners as arrays, with columns in the order in which they were added.
    weights : ndarray of shape (J, l)
    intercept : ndarray of shape (l,)
    means : ndarray of shape (J,)
        Weighted mean of each response over the training rows.
    history : WeightHistory
        Weights and intercept after every round, from the empty model to the final one; empty if it was not pickled.

    Examples
    --------
    >>> from cgens import CGEnsClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ensemble = CGEnsClassifier("stump", n_estimators=20).fit(X, y).ensemble_
    >>> len(ensemble), ensemble.respond(X).shape, ensemble.decision(X).shape
    (20, (569, 20), (569, 1))
    >>> ensemble.learners[0].feature
    22
    """

    packs: PackSet
    weights: Floats
    intercept: Floats
    means: Floats
    history: WeightHistory

    @staticmethod
    def of(learners: Sequence[Learner], means: Sequence[float], history: WeightHistory) -> Ensemble:
        """Return the ensemble of these learners, with the weights of the last round."""
        weights, intercept = history[-1]
        for array in (weights, intercept):
            array.setflags(write=False)
        return Ensemble(PackSet.of(learners), weights, intercept, np.array(means), history)

    def first(self, n_columns: int) -> Ensemble:
        """Return the ensemble as it was after the round that added the last of these columns."""
        return Ensemble.of(self.learners[:n_columns], self.means[:n_columns].tolist(), self.history.until(n_columns))

    def __len__(self) -> int:
        return len(self.packs)

    def __repr__(self) -> str:
        return f"<Ensemble of {self.packs!r}>" if len(self) else "<Ensemble without columns>"

    @property
    def learners(self) -> Sequence[Learner]:
        """The single weak learners, each created from the packs on access."""
        return LearnerView(self.packs)

    def respond(self, X: AnyArray, n_threads: int = 1) -> AnyArray:
        """Return h_j(x_i), shape (n, J); int8 if all learners are +-1."""
        return self.packs.respond(X, n_threads) if len(self) else np.empty((X.shape[0], 0))

    def decision(self, X: AnyArray, n_threads: int = 1) -> Floats:
        """Return F(x), shape (n, l)."""
        return self._decide(X, n_threads) + self.intercept

    @cached_property
    def _decide(self) -> Decider:
        """Step tables, laid-out trees and the like, prepared by the first prediction.

        Two concurrent first predictions prepare it twice, which does no harm.
        """
        return self.packs.decider(self.weights)

    def staged(self, X: AnyArray, n_threads: int = 1) -> Iterator[Floats]:
        """Return an iterator over F(x) after each round, shape (n, l); for a model without columns, the intercept.

        Each round has new weights for *all* of its columns; only those of stage-wise masters never change once set.
        """
        return self.history.staged(lambda begin, end: self.packs.respond(X[begin:end], n_threads), X.shape[0])

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return weights, intercept, means and packs as named arrays, without the history."""
        own = {"weights": self.weights, "intercept": self.intercept, "means": self.means}
        return {**own, **pack_to_arrays(self.packs, "packs.")}

    @staticmethod
    def from_arrays(arrays: Mapping[str, AnyArray]) -> Ensemble:
        """Return the ensemble with the content that `to_arrays` returned, and an empty history."""
        packs = cast(PackSet, pack_from_arrays(arrays, "packs."))
        return Ensemble(packs, arrays["weights"], arrays["intercept"], arrays["means"], WeightHistory())

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}
