"""Stage-wise boosting as published, over given responses of +-1: simple code, not fast.

In every round losses and distributions are computed from the decision values, not by products of factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class NaiveStage:
    """One round: the weights of its column (l,), the intercept (l,), the signed duals after it, and the loss."""

    weights: np.ndarray
    intercept: np.ndarray
    duals: np.ndarray
    loss: float


def naive_adaboost(H: np.ndarray, y: np.ndarray, weight: np.ndarray) -> list[NaiveStage]:
    """Return the rounds of discrete AdaBoost (Freund & Schapire, 1997), one for each column of `H`."""
    decision, stages = np.zeros(len(y)), []
    share = weight / weight.sum()
    for h in np.asarray(H, dtype=float).T:
        error = float(sum(share[i] for i in range(len(y)) if h[i] != y[i]))
        step = 0.5 * np.log((1.0 - error) / error)
        decision = decision + step * h
        losses = weight * np.exp(-y * decision)
        share = losses / losses.sum()
        duals = (y * share)[:, None]
        stages.append(NaiveStage(np.array([step]), np.zeros(1), duals, float(losses.sum() / weight.sum())))
    return stages


def naive_adaboost_mh(H: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> list[NaiveStage]:
    """Return the rounds of AdaBoost.MH (Schapire & Singer, 1999): every row is an example of every output.

    A weak learner votes for or against each output, and all its votes have the same coefficient.
    """
    n_outputs = Y.shape[1]
    decision, stages = np.zeros(Y.shape), []
    share = np.column_stack([weight] * n_outputs) / (n_outputs * weight.sum())
    for h in np.asarray(H, dtype=float).T:
        edges = [float(np.sum(share[:, t] * Y[:, t] * h)) for t in range(n_outputs)]
        votes = np.array([1.0 if edge >= 0 else -1.0 for edge in edges])
        edge = sum(abs(own) for own in edges)
        step = 0.5 * np.log((1.0 + edge) / (1.0 - edge))
        decision = decision + np.outer(h, step * votes)
        losses = weight[:, None] * np.exp(-Y * decision)
        share = losses / losses.sum()
        loss = float(losses.sum() / (n_outputs * weight.sum()))
        stages.append(NaiveStage(step * votes, np.zeros(n_outputs), Y * share, loss))
    return stages


def naive_adaboost_ecc(
    H: np.ndarray, own: np.ndarray, weight: np.ndarray, colourings: Sequence[np.ndarray]
) -> list[NaiveStage]:
    """Return the rounds of AdaBoost.ECC (Guruswami & Sahai, 1999).

    `own` is the class of each row. `colourings` holds mu of shape (k,) for every round and for the next one, to which
    the last duals belong.
    """
    n_rows, n_classes = len(own), len(colourings[0])
    decision, intercept, stages = np.zeros((n_rows, n_classes)), np.zeros(n_classes), []
    smoothing = 1.0 / (n_rows * n_classes)
    for h, mu, next_mu in zip(np.asarray(H).T, colourings, colourings[1:], strict=False):
        shares = ecc_row_shares(decision, own, weight, mu)
        right, wrong = (
            [shares[(h == side) & ((mu[own] == h) == hit)].sum() for side in (1, -1)] for hit in (True, False)
        )
        up, down = 0.5 * np.log((np.array(right) + smoothing) / (np.array(wrong) + smoothing))
        # g(x) = up if h = 1, else -down: as a slope and a shift, the weight and the intercept.
        decision = decision + np.outer(np.where(h == 1, up, -down), mu)
        intercept = intercept + 0.5 * (up - down) * mu
        duals = ecc_row_shares(decision, own, weight, next_mu) * next_mu[own]
        loss = ecc_loss(decision, own, weight)
        stages.append(NaiveStage(0.5 * (up + down) * mu, intercept, duals[:, None], loss))
    return stages


def ecc_losses(decision: np.ndarray, own: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return s_i exp((F_l - F_y) / 2) for every wrong class l, and 0 for the row's own y."""
    losses = np.zeros(decision.shape)
    for i, y in enumerate(own):
        for k in range(decision.shape[1]):
            if k != y:
                losses[i, k] = weight[i] * np.exp(0.5 * (decision[i, k] - decision[i, y]))
    return losses


def ecc_row_shares(decision: np.ndarray, own: np.ndarray, weight: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """Return the share of each row in the losses of wrong classes of the other colour, shape (m,)."""
    losses = ecc_losses(decision, own, weight)
    sums = np.array([sum(losses[i, k] for k in range(len(mu)) if mu[k] != mu[y]) for i, y in enumerate(own)])
    return sums / sums.sum()


def ecc_loss(decision: np.ndarray, own: np.ndarray, weight: np.ndarray) -> float:
    """Return the mean of exp((F_l - F_y) / 2) over rows and their wrong classes."""
    return float(ecc_losses(decision, own, weight).sum() / (weight.sum() * (decision.shape[1] - 1)))
