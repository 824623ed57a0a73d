"""Decisions of least squares as logits: a map that is fitted on honest decisions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from cgens.blas import ONE_BLAS_THREAD
from cgens.types import AnyArray, Floats

#: Squares of the parameters are penalized, except for the part of the map that they have in common: by as much as one
#: row counts.
PENALTY = 1.0
#: Least squares estimates probabilities, which may be below 0; those below this count as this.
LEAST_PROBABILITY = 0.01


@dataclass(frozen=True, eq=False)
class Calibration:
    """G = F M' + b + c log p, where p are the probabilities that F estimates: (1 + l <F, v_k>) / (l + 1) for class k.

    The logarithm bends the map where classes are rare: F then lies near -1, where its distance from -1 is what matters,
    and the logit of p is right for small distances. It is written in the coordinates of the codes, like F.

    Attributes
    ----------
    matrix : ndarray of shape (l, l)
    shift : ndarray of shape (l,)
    log_factor : ndarray of shape (l,)
        c, the same number for all outputs unless these are labels.
    codes : ndarray of shape (l + 1, l), or None
        Simplex codes of more than two classes, of whose inner products with G the softmax is taken. None for two
        classes and for labels: G is then the log-odds of each output.
    """

    matrix: Floats
    shift: Floats
    log_factor: Floats
    codes: Floats | None = None

    @staticmethod
    def of_classes(
        decisions: Floats, classes: AnyArray, weight: Floats, codes: Floats, n_rows: float | None = None
    ) -> Calibration:
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
        n_rows : float, optional
            How many rows these are, their copies included; k if this is not given.

        Returns
        -------
        found : Calibration

        Examples
        --------
        >>> decisions = np.repeat([[-1.0], [1.0]], 50, axis=0)
        >>> classes = np.repeat([0, 1, 1], [25, 25, 50])
        >>> found = Calibration.of_classes(decisions, classes, np.ones(100), np.array([[-1.0], [1.0]]))
        >>> bool(abs(found.logits(np.array([[-1.0]]))[0, 0]) < 0.2)
        True
        """
        n_outputs = codes.shape[1]
        unit = float(np.sqrt(np.sum(weight[:, None] * decisions**2) / weight.sum() / n_outputs)) or 1.0
        rows, logs = decisions / unit, log_probabilities(decisions, codes if n_outputs > 1 else None)
        share, penalty = weight / weight.sum(), PENALTY / (n_rows or len(weight))
        ones = np.arange(len(classes)), classes

        def loss(values: Floats) -> tuple[float, Floats]:
            factor, log_factor, rest, shift = _unpacked(values, n_outputs)
            scores = (rows @ (factor * np.eye(n_outputs) + rest).T + shift + log_factor * logs) @ codes.T
            scores -= scores.max(axis=1, keepdims=True)
            scores -= np.log(np.sum(np.exp(scores), axis=1, keepdims=True))
            slopes = np.exp(scores)
            slopes[ones] -= 1.0
            outer = (share[:, None] * slopes) @ codes
            by_matrix = outer.T @ rows
            gradient = [[np.trace(by_matrix), np.sum(outer * logs)], by_matrix.ravel(), outer.sum(axis=0)]
            value = -float(share @ scores[ones]) + 0.5 * penalty * float(np.sum(values**2))
            return value, np.concatenate(gradient) + penalty * values

        start = np.zeros(2 + n_outputs**2 + n_outputs)
        bounds: list[tuple[float | None, float | None]] = [(None, None)] * len(start)
        bounds[1] = 0.0, None  # more probable, by the logarithms, must not become less
        with ONE_BLAS_THREAD:
            found = minimize(
                loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500, "gtol": 1e-8}
            )
        factor, log_factor, rest, shift = _unpacked(found.x, n_outputs)
        matrix, log_factors = (factor * np.eye(n_outputs) + rest) / unit, np.full(n_outputs, log_factor)
        if n_outputs == 1:  # the log-odds of two classes are the difference of their scores
            return Calibration(2.0 * matrix, 2.0 * shift, 2.0 * log_factors)
        return Calibration(matrix, shift, log_factors, codes)

    @staticmethod
    def of_labels(decisions: Floats, present: AnyArray, weight: Floats, n_rows: float | None = None) -> Calibration:
        """Minimize the log-loss of each label by itself.

        Parameters
        ----------
        decisions : ndarray of shape (k, l)
        present : ndarray of shape (k, l)
            1 where a row has a label, else 0.
        weight : ndarray of shape (k,)
        n_rows : float, optional
            As in `of_classes`.

        Returns
        -------
        found : Calibration
        """
        codes = np.array([[-1.0], [1.0]])
        own = [
            Calibration.of_classes(column[:, None], label, weight, codes, n_rows)
            for column, label in zip(decisions.T, present.T, strict=True)
        ]
        shift, log_factor = (np.concatenate([getattr(each, name) for each in own]) for name in ("shift", "log_factor"))
        return Calibration(np.diag([each.matrix[0, 0] for each in own]), shift, log_factor)

    def logits(self, decisions: Floats) -> Floats:
        """Return G, shape (n, l)."""
        logs = log_probabilities(decisions, self.codes)
        return np.asarray(decisions @ self.matrix.T + self.shift + self.log_factor * logs)


def log_probabilities(decisions: Floats, codes: Floats | None) -> Floats:
    """Return the logarithms of the estimated probabilities, in the coordinates of the codes.

    Parameters
    ----------
    decisions : ndarray of shape (n, l)
    codes : ndarray of shape (l + 1, l), or None
        Simplex codes of more than two classes; None if each output by itself has the codes -1 and 1.

    Returns
    -------
    coordinates : ndarray of shape (n, l)
        Of which the inner products with the codes are the logarithms but for a constant in each row.
    """
    if codes is None:
        low, high = (np.log(np.maximum(0.5 + 0.5 * sign * decisions, LEAST_PROBABILITY)) for sign in (-1.0, 1.0))
        return np.asarray(0.5 * (high - low))
    n_classes = len(codes)
    estimates = (1.0 + (n_classes - 1) * (decisions @ codes.T)) / n_classes
    logs = np.log(np.maximum(estimates, LEAST_PROBABILITY))
    return np.asarray((n_classes - 1) / n_classes * (logs @ codes))  # codes' codes = k / (k - 1) I


def _unpacked(values: Floats, n_outputs: int) -> tuple[float, float, Floats, Floats]:
    """Return the common factor, that of the logarithms, the rest of the matrix, and the shift."""
    rest = values[2 : 2 + n_outputs**2].reshape(n_outputs, n_outputs)
    return float(values[0]), float(values[1]), rest, values[2 + n_outputs**2 :]
