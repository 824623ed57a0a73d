"""Rows in canonical order, identical ones merged: why row order does not matter and weights are repetition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cgens._core import order_rows
from cgens.types import AnyArray, Floats, Integers


@dataclass(frozen=True)
class SampleOrder:
    """The rows that a fit sees, and where the user's rows went.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Row ``i`` of the fit has the content of row ``rows[i]`` of X.
    weight : ndarray of shape (m,)
        Summed weight of the rows merged into it.
    position : ndarray of shape (n,)
        Where each row of X went; -1 where its weight is 0.
    share : ndarray of shape (n,)
        What part of that row's weight is its own.
    """

    rows: Integers
    weight: Floats
    position: Integers
    share: Floats

    @staticmethod
    def of(X: AnyArray, target: Floats, sample_weight: Floats, n_threads: int) -> SampleOrder:
        """Order rows by their content."""
        rows, weight, position = order_rows(X, target, sample_weight, n_threads)
        kept = position >= 0
        share = np.zeros(len(position))
        share[kept] = sample_weight[kept] / weight[position[kept]]
        return SampleOrder(rows, weight, position, share)

    def spread_duals(self, duals: Floats) -> Floats:
        """Hand the duals of the fit's rows out to the rows of X, shape (n, l); 0 where the weight is 0."""
        return np.asarray(duals[self.position] * self.share[:, None])
