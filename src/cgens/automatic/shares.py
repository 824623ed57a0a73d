"""Folds for which weights are copies: the copies of a row may be in different folds."""

from __future__ import annotations

import numpy as np

from cgens.table.encoding import row_weight
from cgens.types import AnyArray, Floats


def held_out_weights(
    weight: Floats, classes: AnyArray | None, n_folds: int, rng: np.random.Generator, n_returned: int | None = None
) -> Floats:
    """Return how much of the weight of each row is in each fold, with about the same share of each class.

    A row of weight k is k copies, each of which is in one fold; a row of a weight below 1, or below the mean weight if
    that is less, is one copy.

    Parameters
    ----------
    weight : ndarray of shape (m,)
        Positive.
    classes : ndarray of shape (m,), or None
        A number for each row; rows of one number are divided evenly.
    n_folds : int
    rng : numpy.random.Generator
        Orders the rows at random.
    n_returned : int, optional
        The first folds only.

    Returns
    -------
    weights : ndarray of shape (n_returned, m)
        Over all folds, they sum to `weight`.

    Examples
    --------
    >>> held_out_weights(np.array([1.0, 4.0, 1.0]), None, 3, np.random.default_rng(0)).sum(axis=0)
    array([1., 4., 1.])
    """
    copies = np.maximum(1, np.floor(weight / row_weight(weight) * (1 + 1e-9))).astype(np.int64)
    order = rng.permutation(len(weight))
    if classes is not None:
        order = order[np.argsort(classes[order], kind="stable")]
    # The copies are numbered in this order, and those of one fold have the same remainder.
    ends = np.cumsum(copies[order])
    begins = ends - copies[order]
    shares = np.empty((n_returned or n_folds, len(weight)))
    for fold in range(len(shares)):
        n_own = -((fold - ends) // n_folds) + ((fold - begins) // n_folds)  # differences of ceilings
        shares[fold, order] = n_own / copies[order]
    return np.asarray(shares * weight)
