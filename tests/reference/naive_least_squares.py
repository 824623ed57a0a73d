"""Least squares with a free bias (EQ:SLSVM1) by the paper's formulas: with S = H H' + diag(1 / (C s)), m x m."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class NaiveModel:
    """The optimum over given columns.

    Attributes
    ----------
    H : ndarray of shape (m, J)
    target : ndarray of shape (m, l)
    scale : ndarray of shape (m,)
        C s.
    inverse : ndarray of shape (m, m)
        S^-1.
    """

    H: np.ndarray
    target: np.ndarray
    scale: np.ndarray
    inverse: np.ndarray

    @property
    def intercept(self) -> np.ndarray:
        """b = 1'S^-1 L / 1'S^-1 1 (EQ:SLSVM_SOLUTION)."""
        return self.inverse.sum(axis=0) @ self.target / self.inverse.sum()

    @property
    def duals(self) -> np.ndarray:
        """U = S^-1 (L - 1 b')."""
        return self.inverse @ (self.target - self.intercept)

    @property
    def weights(self) -> np.ndarray:
        """W = H'U (EQ:KKT2)."""
        return self.H.T @ self.duals

    @property
    def primal(self) -> float:
        return ls_primal(self.H, self.target, self.scale, self.weights, self.intercept)

    @property
    def dual(self) -> float:
        return ls_dual(self.H, self.target, self.scale, self.duals)

    @property
    def projected(self) -> np.ndarray:
        """P = S^-1 - S^-1 1 1'S^-1 / 1'S^-1 1: U = PL, whatever the bias."""
        sums = self.inverse.sum(axis=1)
        return self.inverse - np.outer(sums, sums) / sums.sum()

    def grown(self, column: np.ndarray) -> NaiveModel:
        """Return the model with one column more, by the Sherman-Morrison formula for S + h h'."""
        along = self.inverse @ column
        inverse = self.inverse - np.outer(along, along) / (1.0 + column @ along)
        return NaiveModel(np.column_stack([self.H, column]), self.target, self.scale, inverse)

    def quadratic(self, responses: np.ndarray) -> np.ndarray:
        """Return g'Pg of each column g of `responses`."""
        return np.einsum("ij,ij->j", responses, self.projected @ responses)

    def gains(self, responses: np.ndarray) -> np.ndarray:
        """Return by how much each column g lowers the objective: 1/2 sum_t (g'U_t)^2 / (1 + g'Pg)."""
        return 0.5 * np.sum((responses.T @ self.duals) ** 2, axis=1) / (1.0 + self.quadratic(responses))


def naive_model(H: np.ndarray, target: np.ndarray, scale: np.ndarray) -> NaiveModel:
    """Return the optimum by the inverse of S."""
    H = np.asarray(H, dtype=np.float64).reshape(len(target), -1)
    return NaiveModel(H, target, scale, np.linalg.inv(H @ H.T + np.diag(1.0 / scale)))


def grown_models(H: np.ndarray, target: np.ndarray, scale: np.ndarray) -> list[NaiveModel]:
    """Return the models of the first 0, 1, ..., J columns, each grown from the one before."""
    models = [NaiveModel(np.zeros((len(target), 0)), target, scale, np.diag(scale))]
    for column in np.asarray(H, dtype=np.float64).T:
        models.append(models[-1].grown(column))
    return models


def ls_primal(
    H: np.ndarray, target: np.ndarray, scale: np.ndarray, weights: np.ndarray, intercept: np.ndarray
) -> float:
    """Return 1/2 |W|^2 + 1/2 sum_i C s_i |L_i - W'h_i - b|^2."""
    misses = target - H @ weights - intercept
    return float(0.5 * np.sum(weights**2) + 0.5 * np.sum(scale[:, None] * misses**2))


def ls_dual(H: np.ndarray, target: np.ndarray, scale: np.ndarray, duals: np.ndarray) -> float:
    """Return tr(L'U) - 1/2 |H'U|^2 - 1/2 sum_i |U_i|^2 / (C s_i)."""
    return float(np.sum(target * duals) - 0.5 * np.sum((H.T @ duals) ** 2) - 0.5 * np.sum(duals**2 / scale[:, None]))


class NaiveCurvature:
    """The protocol `cgens.types.Curvature` for models that grew column by column, the empty one first."""

    def __init__(self, models: Sequence[NaiveModel]) -> None:
        self.models = models

    @property
    def n_steps(self) -> int:
        return len(self.models) - 1

    @property
    def diagonal(self) -> np.ndarray:
        return self.models[0].scale

    def step(self, j: int) -> tuple[np.ndarray, np.ndarray, float]:
        """Return p = Ph, k = h'U / (1 + h'p) and 1 + h'p, with P and U from before the `j`-th column h."""
        before, column = self.models[j], self.models[j + 1].H[:, j]
        direction = before.projected @ column
        denominator = 1.0 + float(column @ direction)
        return direction, column @ before.duals / denominator, denominator

    def quadratic(self, responses: np.ndarray) -> np.ndarray:
        return self.models[-1].quadratic(np.asarray(responses, dtype=np.float64))
