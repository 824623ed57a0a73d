"""Held-out rows for which weights are copies: of a row with several copies, some may be held out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cgens.table.encoding import row_weight
from cgens.types import AnyArray, Floats


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What is held out of each row.

    Attributes
    ----------
    weight : ndarray of shape (m,)
        Held-out weight of each row, at most its weight.
    """

    weight: Floats

    @staticmethod
    def of(weight: Floats, classes: AnyArray | None, share: float, rng: np.random.Generator) -> HeldOut:
        """Hold out a share of the rows, the same of each class.

        A row of weight k is k copies, each of which is held out or not; a row of a weight below 1, or below the mean
        weight if that is less, is one copy.

        Parameters
        ----------
        weight : ndarray of shape (m,)
            Positive.
        classes : ndarray of shape (m,), or None
            A number for each row; rows of one number are divided evenly.
        share : float
        rng : numpy.random.Generator
            Orders the rows at random.

        Returns
        -------
        held_out : HeldOut
        """
        copies = np.maximum(1, np.floor(weight / row_weight(weight) * (1 + 1e-9))).astype(np.int64)
        order = rng.permutation(len(weight))
        if classes is not None:
            order = order[np.argsort(classes[order], kind="stable")]
        # The copies are numbered in this order; the k-th is held out if a multiple of 1 / share lies in (k, k + 1].
        ends = np.cumsum(copies[order])
        passed = np.floor(np.concatenate([[0], ends]) * share + 0.5)
        n_held_out = np.empty(len(weight))
        n_held_out[order] = np.diff(passed)
        return HeldOut(weight * np.minimum(n_held_out / copies, 1.0))
