"""Non-negative weights of families by honest decisions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls

from cgens.types import Floats

#: Decisions that differ by less from the mean target, relative to it, are constant.
ROUNDING = 1e-12


def honest_weights(decisions: Sequence[Floats], target: Floats, weight: Floats, least_share: float = 0.02) -> Floats:
    """Return the w >= 0 that minimize sum_i s_i |L_i - mean - sum_f w_f (F_f(x_i) - mean)|^2.

    Parameters
    ----------
    decisions : sequence of ndarray of shape (m, l)
        Decisions of each family for rows that it was not fitted on: leave-one-out or out-of-fold.
    target : ndarray of shape (m, l)
    weight : ndarray of shape (m,)
    least_share : float
        Weights below this share of their sum are set to 0, and the others solved for again.

    Returns
    -------
    weights : ndarray of shape (n_families,)

    Examples
    --------
    >>> target = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    >>> honest_weights([0.5 * target, -target], target, np.ones(4))
    array([2., 0.])
    """
    if not len(decisions):
        return np.zeros(0)
    share = weight / weight.sum()
    mean = np.sum(share[:, None] * target, axis=0)
    root = np.sqrt(share)[:, None]
    columns = np.column_stack([(root * (own - mean)).ravel() for own in decisions])
    weights = np.zeros(len(decisions))
    kept = np.abs(columns).max(axis=0) > ROUNDING * np.abs(mean).max()
    while kept.any():
        weights = np.zeros(len(decisions))
        # By the Gram matrix: it has few rows, and its sums do not depend on the number of families.
        values, vectors = np.linalg.eigh(columns[:, kept].T @ columns[:, kept])
        root_of = np.sqrt(np.maximum(values, 0.0))
        usable = root_of > 1e-8 * root_of.max(initial=0.0)
        products = columns[:, kept].T @ (root * (target - mean)).ravel()
        right = (vectors.T @ products)[usable] / root_of[usable]
        weights[kept] = nnls(root_of[usable, None] * vectors.T[usable], right)[0]
        small = kept & (weights < least_share * weights.sum())
        if not small.any() or not weights.any():
            break
        kept &= ~small
    return weights
