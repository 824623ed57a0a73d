"""Decisions of least squares as logits: a linear map, fitted on honest decisions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from cgens.blas import ONE_BLAS_THREAD
from cgens.masters.logistic import softmax
from cgens.types import AnyArray, Floats

#: Penalty on the differences between the map and a multiple of the identity: about that of one row.
PENALTY = 1.0


@dataclass(frozen=True, eq=False)
class LogitMap:
    """G = F M' + b, of whose inner products with the codes of the classes the softmax is taken.

    Attributes
    ----------
    matrix : ndarray of shape (l, l)
    shift : ndarray of shape (l,)
    """

    matrix: Floats
    shift: Floats

    @staticmethod
    def of(decisions: Floats, classes: AnyArray, weight: Floats, codes: Floats) -> LogitMap:
        """Minimize the log-loss of honest decisions, by multinomial logistic regression.

        Decisions on training rows are too confident: they must be leave-one-out or out-of-fold.

        Parameters
        ----------
        decisions : ndarray of shape (k, l)
        classes : ndarray of shape (k,)
            Index of the class of each row.
        weight : ndarray of shape (k,)
        codes : ndarray of shape (l + 1, l)
            Simplex codes; -1 and 1 for two classes.

        Returns
        -------
        found : LogitMap

        Examples
        --------
        >>> decisions = np.array([[-1.0], [-1.0], [1.0], [1.0]])
        >>> found = LogitMap.of(decisions, np.array([0, 1, 1, 1]), np.ones(4), np.array([[-1.0], [1.0]]))
        >>> found.probabilities(np.array([[-1.0]]), np.array([[-1.0], [1.0]])).round(2)
        array([[0.5, 0.5]])
        """
        n_outputs = decisions.shape[1]
        unit = np.sqrt(np.sum(weight[:, None] * decisions**2) / weight.sum() / n_outputs) or 1.0
        rows, share = decisions / unit, weight / weight.sum()
        tiny = PENALTY / len(weight)

        def unpack(values: Floats) -> tuple[float, Floats, Floats]:
            return float(values[0]), values[1 : 1 + n_outputs**2].reshape(n_outputs, n_outputs), values[-n_outputs:]

        def loss(values: Floats) -> tuple[float, Floats]:
            factor, rest, shift = unpack(values)
            matrix = factor * np.eye(n_outputs) + rest
            scores = (rows @ matrix.T + shift) @ codes.T
            scores -= scores.max(axis=1, keepdims=True)
            logs = scores - np.log(np.sum(np.exp(scores), axis=1, keepdims=True))
            value = -float(share @ logs[np.arange(len(classes)), classes]) + 0.5 * tiny * float(np.sum(rest**2))
            slopes = np.exp(logs)
            slopes[np.arange(len(classes)), classes] -= 1.0
            outer = (share[:, None] * slopes) @ codes
            by_matrix = outer.T @ rows
            by_rest = by_matrix + tiny * rest
            # The shift and the factor have a weaker penalty, so that separable decisions stay finite.
            weak = 0.01 * tiny
            value += 0.5 * weak * (factor**2 + float(np.sum(shift**2)))
            gradient = np.concatenate(
                [[np.trace(by_matrix) + weak * factor], by_rest.ravel(), outer.sum(axis=0) + weak * shift]
            )
            return value, gradient

        start = np.zeros(1 + n_outputs**2 + n_outputs)
        with ONE_BLAS_THREAD:
            found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500, "gtol": 1e-8})
        factor, rest, shift = unpack(found.x)
        return LogitMap((factor * np.eye(n_outputs) + rest) / unit, shift)

    def logits(self, decisions: Floats) -> Floats:
        """Return G, shape (n, l)."""
        return np.asarray(decisions @ self.matrix.T + self.shift)

    def probabilities(self, decisions: Floats, codes: Floats) -> Floats:
        """Return the probability of each class, shape (n, l + 1)."""
        return np.ascontiguousarray(softmax(codes @ self.logits(decisions).T).T)
