"""Leave-one-out residuals of ridge regression for few penalties: a Cholesky factorization for each.

For pools of thousands of columns, an eigendecomposition (`cgens.selection.ridge_path`) takes as long as some thirty
factorizations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_solve, cholesky, lapack, solve_triangular

from cgens.blas import ONE_BLAS_THREAD
from cgens.selection.normal_equations import Columns, NormalEquations, blocks_of
from cgens.threads import map_in_threads
from cgens.types import AnyArray, Floats, Integers

#: The least share of its own residual that a row keeps: less is only rounding.
LEAST_FREEDOM = 1e-10


def left_out_residuals(
    normal: NormalEquations,
    columns: Columns,
    target: Floats,
    penalties: Sequence[float],
    rows: Integers,
    unit: AnyArray,
    n_threads: int = 1,
    dtype: type[np.floating] = np.float64,
) -> list[Floats]:
    """Return L - F of some rows for each penalty, where F(x_i) is fitted without row i.

    Parameters
    ----------
    normal : NormalEquations
        Of all rows.
    columns : array of shape (m, n)
    target : ndarray of shape (m, l)
    penalties : sequence of float
    rows : ndarray of shape (k,)
        The rows that are left out, one at a time.
    unit : ndarray of shape (m,)
        How much of the weight of a row is left out.
    n_threads : int
    dtype : type, default=float64
        Precision of products over the rows, if there are fewer columns than rows (see `RidgePath`).

    Returns
    -------
    residuals : list of ndarray of shape (k, l)
    """
    if columns.shape[1] < len(target):

        def own(penalty: float) -> Floats:
            return _by_columns(normal, columns, target, penalty, rows, unit, dtype)

    else:
        centred = np.asarray(columns[slice(0, len(target))] - normal.means) * np.sqrt(normal.weight)[:, None]
        with ONE_BLAS_THREAD:
            kernel = centred @ centred.T

        def own(penalty: float) -> Floats:
            return _by_rows(normal, kernel, target, penalty, rows, unit)

    with ONE_BLAS_THREAD:
        return map_in_threads(own, penalties, n_threads)


def _by_columns(
    normal: NormalEquations,
    columns: Columns,
    target: Floats,
    penalty: float,
    rows: Integers,
    unit: AnyArray,
    dtype: type[np.floating],
) -> Floats:
    """Use M = Hc'S Hc + lambda I = L L': the leverage of a row is s |L^-1 (h - mean)|^2."""
    factor = np.linalg.cholesky(_shifted(normal.gram, penalty))  # other threads go on, unlike with SciPy's
    weights = cho_solve((factor, True), normal.products, check_finite=False).astype(dtype, copy=False)
    factor, means = (own.astype(dtype, copy=False) for own in (factor, normal.means))
    residuals = np.empty((len(rows), target.shape[1]))
    for block in blocks_of(len(rows)):
        own = rows[block]
        centred = np.asarray(columns[own], dtype=dtype) - means
        plain = target[own] - normal.target_mean - centred @ weights
        half = solve_triangular(factor, centred.T, lower=True, overwrite_b=True, check_finite=False)
        left_out = unit[own] * (1.0 / normal.weight.sum() + np.einsum("ij,ij->j", half, half))
        residuals[block] = plain / np.maximum(1.0 - left_out, LEAST_FREEDOM)[:, None]
    return residuals


def _by_rows(
    normal: NormalEquations, kernel: Floats, target: Floats, penalty: float, rows: Integers, unit: AnyArray
) -> Floats:
    """Use P = Q (Q'K Q + lambda I)^-1 Q', of which lambda P maps the target to the residuals: nothing cancels.

    The columns of Q span what is orthogonal to q = S^1/2 1 / |S^1/2 1|. As K q = 0, P is the inverse of
    K + lambda I + t q q' without its part along q, which is small for a t of the size of K.
    """
    root = np.sqrt(normal.weight)
    constant = root / np.linalg.norm(root)
    size = float(np.trace(kernel)) / len(kernel)
    factor = cholesky(
        _shifted(kernel, penalty) + np.multiply.outer(size * constant, constant), lower=True, check_finite=False
    )
    inverse, _ = lapack.dpotri(factor, lower=True, overwrite_c=True)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    inverse -= np.multiply.outer(constant / (size + penalty), constant)
    residuals = penalty * (inverse[rows] @ (root[:, None] * (target - normal.target_mean)))
    freedom = penalty * np.diagonal(inverse)[rows]
    # Of a row with several copies, only one is left out.
    share = unit[rows] / normal.weight[rows]
    kept = np.maximum((1.0 - share) + share * freedom, LEAST_FREEDOM)
    return np.asarray(residuals / (root[rows] * kept)[:, None])


def _shifted(matrix: Floats, penalty: float) -> Floats:
    """Return the matrix + lambda I."""
    if not 0 < penalty < np.inf:
        raise ValueError(f"A penalty must be a finite number > 0; got {penalty!r}.")
    shifted = matrix.copy()
    shifted.flat[:: len(shifted) + 1] += penalty
    return shifted
