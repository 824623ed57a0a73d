"""Column generation for ridge regression from the products of the columns alone."""

from __future__ import annotations

import numpy as np

from cgens.blas import ONE_BLAS_THREAD
from cgens.interrupt import raise_if_interrupted
from cgens.selection.normal_equations import NormalEquations
from cgens.types import Integers

#: A column of which less than this share is left, after the projection on the chosen ones, is a combination of them.
LEAST_REST = 1e-9
#: A gain of less than this, relative to the square of the target, is rounding.
LEAST_GAIN = 1e-24


def select_columns(normal: NormalEquations, penalty: float, n_columns: int) -> Integers:
    """Return the columns that column generation with ``pricing="gain"`` adds, in its order.

    A round adds the column that lowers the objective most, over all weights: its price, squared, over what its
    curvature lacks of the span of the chosen columns. Both are rows of a pivoted Cholesky factorization of
    Hc'S Hc + lambda I, so that a round costs n k operations for k chosen columns of n, whatever the number of rows.

    Parameters
    ----------
    normal : NormalEquations
    penalty : float
    n_columns : int

    Returns
    -------
    chosen : ndarray of shape (k,)
        At most `n_columns`.
    """
    n = len(normal.gram)
    size = np.diagonal(normal.gram) + penalty
    rest, prices = size.copy(), normal.products.copy()
    factor = np.zeros((min(n_columns, n), n))
    chosen: list[int] = []
    with ONE_BLAS_THREAD:
        for k in range(len(factor)):
            gains = np.where(rest > LEAST_REST * size, np.einsum("ij,ij->i", prices, prices), 0.0) / rest
            best = int(np.argmax(gains))
            if not gains[best] > LEAST_GAIN * normal.target_square:
                break
            root = np.sqrt(rest[best])
            row = normal.gram[best] - factor[:k, best] @ factor[:k]
            row[best] += penalty
            row /= root
            prices -= np.multiply.outer(row, prices[best] / root)
            rest -= row**2
            rest[best] = np.inf
            prices[best] = 0.0
            factor[k] = row
            chosen.append(best)
            raise_if_interrupted()
    return np.array(chosen, dtype=np.int64)
