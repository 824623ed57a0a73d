"""Canonical row order, with identical rows merged: row order does not matter, and a weight of 2 equals two copies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cgens._core import order_rows, order_sparse_rows
from cgens.table.table import Table, compressed_arrays
from cgens.types import Floats, Integers


@dataclass(frozen=True)
class SampleOrder:
    """The rows of a fit, and the position of each row of X among them.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Row ``i`` of the fit equals row ``rows[i]`` of X.
    weight : ndarray of shape (m,)
        Summed weight of the rows of X merged into each row of the fit.
    position : ndarray of shape (n,)
        Row of the fit that each row of X was merged into; -1 if its weight is 0.
    sample_weight : ndarray of shape (n,)
        Weight of each row of X.
    """

    rows: Integers
    weight: Floats
    position: Integers
    sample_weight: Floats

    @staticmethod
    def of(X: Table, target: Floats, sample_weight: Floats, n_threads: int) -> SampleOrder:
        """Return the canonical order of the rows of X and `target`."""
        if X.is_sparse:
            rows_first = compressed_arrays(X.rows_first())
            own = order_sparse_rows(*rows_first, X.shape[1], target, np.ascontiguousarray(sample_weight), n_threads)
        else:
            own = order_rows(X.values, target, np.ascontiguousarray(sample_weight), n_threads)
        return SampleOrder(*own, sample_weight)

    def spread_duals(self, duals: Floats) -> Floats:
        """Return the duals of the rows of X, shape (n, l), given those of the fit; 0 for rows of weight 0."""
        spread = duals[self.position]
        spread *= np.where(self.position < 0, 0.0, self.sample_weight / self.weight[self.position])[:, None]
        return np.asarray(spread)
