"""Encoding of labels as targets, and decoding of decisions.

A master fits a target of shape (m, l). The coding defines its values: simplex codes for classes, +-1 for one-vs-rest
and multilabel problems, unchanged values for regression.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from cgens.types import AnyArray, Floats


def simplex_codes(n_classes: int) -> Floats:
    """Return one unit vector per class with equal angles between all of them, shape (n_classes, n_classes - 1).

    These are the corners of a regular simplex: inner products are -1 / (n_classes - 1), the smallest possible. The
    codes of two classes are -1 and 1. Coordinate k - 1 separates class k from those before it; later classes have 0.

    Examples
    --------
    >>> simplex_codes(3).round(3)
    array([[-0.866, -0.5  ],
           [ 0.866, -0.5  ],
           [ 0.   ,  1.   ]])
    """
    if n_classes < 2:
        raise ValueError(f"A simplex needs at least 2 classes; got {n_classes}.")
    codes = np.zeros((n_classes, n_classes - 1))
    for k in range(1, n_classes):
        corner = np.sqrt(k * n_classes / ((k + 1) * (n_classes - 1)))
        codes[k, k - 1] = corner
        codes[:k, k - 1] = -corner / k
    return codes


class Coding(Protocol):
    """Encoding of targets and decoding of decisions F(x), both of shape (n, l)."""

    def encode(self, y: AnyArray, /) -> Floats:
        """Return the target."""

    def scores(self, decision: Floats) -> Floats:
        """Return the result of ``decision_function``."""

    def decode(self, decision: Floats) -> AnyArray:
        """Return the result of ``predict``."""

    def invert(self, target: Floats) -> AnyArray:
        """Return the y of this target."""


@dataclass(frozen=True, eq=False)
class ClassCoding:
    """Codes for classification with one class per row.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The labels.
    codes : ndarray of shape (n_classes, l)
        The target for rows of each class.
    votes : ndarray of shape (l, n_classes), or (l, 1) for two classes
        F(x) @ votes are the votes for the classes. The class with the largest value is predicted; with two classes, the
        second one if the value is positive.

    Examples
    --------
    >>> coding = ClassCoding.simplex(np.array(["a", "b", "c"]))
    >>> target = coding.encode(np.array([2, 0, 1]))
    >>> target.shape, coding.decode(target).tolist()
    ((3, 2), ['c', 'a', 'b'])
    """

    classes: AnyArray
    codes: Floats
    votes: Floats

    @staticmethod
    def simplex(classes: AnyArray) -> ClassCoding:
        """Return the simplex coding, l = n_classes - 1; for two classes that is -1 and 1."""
        codes = simplex_codes(len(classes))
        return ClassCoding(classes, codes, codes.T.copy() if len(classes) > 2 else np.ones((1, 1)))

    @staticmethod
    def one_vs_rest(classes: AnyArray) -> ClassCoding:
        """Return the coding with 1 for the class itself and -1 for all others, l = n_classes."""
        identity = np.eye(len(classes))
        votes = identity if len(classes) > 2 else np.array([[-1.0], [1.0]])
        return ClassCoding(classes, 2 * identity - 1, votes)

    @staticmethod
    def signs(classes: AnyArray) -> ClassCoding:
        """Return the coding with +-1: for more than two classes, each against the rest."""
        return ClassCoding.one_vs_rest(classes) if len(classes) > 2 else ClassCoding.simplex(classes)

    def encode(self, indices: AnyArray) -> Floats:
        """Return the target, shape (n, l), of rows with these class indices."""
        return np.ascontiguousarray(self.codes[indices])

    def scores(self, decision: Floats) -> Floats:
        """Return the votes, shape (n, n_classes); for two classes the decision value of the second, shape (n,)."""
        if decision.shape[1] == 1:
            return decision[:, 0]
        scores = decision @ self.votes
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def decode(self, decision: Floats) -> AnyArray:
        """Return the label of the winning class; ties go to the first, as in scikit-learn."""
        scores = self.scores(decision)
        winners = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes[winners])

    invert = decode


@dataclass(frozen=True)
class LabelCoding:
    """Codes for multilabel classification: +-1, one output per label.

    Examples
    --------
    >>> coding = LabelCoding(2)
    >>> coding.encode(np.array([[1, 0], [0, 0]]))
    array([[ 1., -1.],
           [-1., -1.]])
    >>> coding.decode(np.array([[0.3, -0.2]]))
    array([[1, 0]])
    """

    n_labels: int

    def encode(self, indicator: AnyArray) -> Floats:
        """Return 1 where the indicator matrix has a label and -1 elsewhere, shape (n, n_labels)."""
        return np.ascontiguousarray(np.where(indicator != 0, 1.0, -1.0))

    def scores(self, decision: Floats) -> Floats:
        """Return the decision itself, shape (n, n_labels)."""
        return decision

    def decode(self, decision: Floats) -> AnyArray:
        """Return the indicator matrix of the labels with positive decisions, shape (n, n_labels)."""
        return (decision > 0).astype(np.intp)

    invert = decode


@dataclass(frozen=True)
class RegressionCoding:
    """Regression targets, used unchanged; `flat` if y had shape (n,), so that predictions have it too.

    With the link "log" predictions are exp(F(x)).
    """

    flat: bool
    link: Literal["identity", "log"] = "identity"

    def encode(self, y: Floats) -> Floats:
        """Return the target, shape (n, l)."""
        return np.ascontiguousarray(y if y.ndim == 2 else y[:, None])

    def scores(self, decision: Floats) -> Floats:
        """Return the prediction."""
        return self.decode(decision)

    def decode(self, decision: Floats) -> Floats:
        """Return the prediction, shape (n,) if `flat`, else (n, l)."""
        if self.link == "log":
            with np.errstate(over="ignore"):
                decision = np.exp(decision)
        return self.invert(decision)

    def invert(self, target: Floats) -> Floats:
        """Return the y of this target."""
        return target[:, 0] if self.flat else target


@dataclass(frozen=True)
class OutlierCoding:
    """Outliers: -1, and 1 for inliers. There is no target."""

    def encode(self, y: Floats) -> Floats:
        """Return zeros, shape (n, 1)."""
        return np.zeros((len(y), 1))

    def scores(self, decision: Floats) -> Floats:
        """Return the decision, shape (n,)."""
        return decision[:, 0]

    def decode(self, decision: Floats) -> AnyArray:
        """Return -1 for rows with a negative decision, else 1, shape (n,)."""
        return np.where(decision[:, 0] < 0, -1, 1)

    invert = decode


@dataclass(frozen=True)
class QuantileCoding:
    """Several quantiles of one regression target: one output per quantile.

    Attributes
    ----------
    ranks : tuple of int
        The rank of each quantile among all: predictions are sorted, so that quantiles do not cross.
    """

    ranks: tuple[int, ...]

    def encode(self, y: Floats) -> Floats:
        """Return the target, shape (n, n_quantiles)."""
        return np.ascontiguousarray(np.repeat(y[:, None], len(self.ranks), axis=1))

    def scores(self, decision: Floats) -> Floats:
        """Return the prediction."""
        return self.decode(decision)

    def decode(self, decision: Floats) -> Floats:
        """Return the sorted prediction, shape (n, n_quantiles)."""
        return np.sort(decision, axis=1)[:, list(self.ranks)]

    def invert(self, target: Floats) -> Floats:
        """Return the y of this target, shape (n,)."""
        return target[:, 0]
