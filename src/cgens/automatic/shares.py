"""Folds for which weights are copies: the copies of a row may be in different folds."""

from __future__ import annotations

import numpy as np

from cgens.types import AnyArray, Floats


def held_out_weights(
    weight: Floats,
    copies: Floats,
    classes: AnyArray | None,
    n_folds: int,
    rng: np.random.Generator,
    n_returned: int | None = None,
) -> Floats:
    """Return how much of the weight of each row is in each fold, with about the same share of each class.

    Each copy of a row is in one fold.

    Parameters
    ----------
    weight : ndarray of shape (m,)
        Positive.
    copies : ndarray of shape (m,)
        How many copies each row stands for (see `cgens.selection.copies_of`).
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
    >>> weight = np.array([1.0, 4.0, 1.0])
    >>> held_out_weights(weight, weight, None, 3, np.random.default_rng(0)).sum(axis=0)
    array([1., 4., 1.])
    """
    copies = copies.astype(np.int64)
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
