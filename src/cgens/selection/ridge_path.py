"""Ridge regression over all columns of a pool, for any penalty, from one eigendecomposition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cgens.blas import ONE_BLAS_THREAD
from cgens.selection.normal_equations import Columns, NormalEquations, blocks_of
from cgens.selection.ridge_factor import LEAST_FREEDOM
from cgens.types import AnyArray, Floats


class RidgePath:
    """Minimize sum_i s_i |L_i - W'h_i - b|^2 + lambda |W|^2 over W and b, for any lambda.

    This is the least-squares problem of `cgens.masters.LeastSquares` with C = 1 / lambda. One eigendecomposition of the
    smaller side serves all penalties and outputs: of Hc'S Hc, for the centred columns Hc, or, if there are at least as
    many columns as rows, of S^1/2 Hc Hc' S^1/2 with the constant direction removed.

    Parameters
    ----------
    columns : array-like of shape (m, n)
        The responses of n weak learners. If there are fewer columns than rows they are read in blocks, once for the
        decomposition and once for residuals.
    target : array-like of shape (m, l)
    sample_weight : array-like of shape (m,), optional
        Positive. A weight of k stands for k copies of the row.
    n_threads : int, default=1

    Examples
    --------
    >>> path = RidgePath(np.array([[1.0], [1.0], [-1.0], [-1.0]]), np.array([[3.0], [1.0], [0.0], [0.0]]))
    >>> path.solution(4.0)
    (array([[0.5]]), array([1.]))
    >>> [residuals] = path.left_out_residuals([4.0])
    >>> residuals.ravel().round(3)
    array([ 2.4, -0.8, -0.8, -0.8])
    """

    def __init__(
        self,
        columns: Columns,
        target: AnyArray,
        sample_weight: AnyArray | None = None,
        n_threads: int = 1,
        dtype: type[np.floating] = np.float64,
    ) -> None:
        target = np.asarray(target, dtype=np.float64)
        weight = np.ones(columns.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if len(columns.shape) != 2 or target.ndim != 2 or not columns.shape[0] == len(target) == len(weight) > 0:
            raise ValueError(
                f"columns, target and sample_weight need the same number of rows, at least one; got shapes "
                f"{columns.shape}, {target.shape} and {weight.shape}."
            )
        if not (np.all(weight > 0) and np.all(np.isfinite(weight))):
            raise ValueError("sample_weight must be positive and finite; leave out rows of weight 0.")
        self.weight = weight
        self._columns = columns
        self._share, self._root = weight / weight.sum(), np.sqrt(weight)[:, None]
        with ONE_BLAS_THREAD:
            self._target_mean = self._share @ target
            self._target = (target - self._target_mean) * self._root
            self._by_columns = columns.shape[1] < len(weight)
            self._dtype = dtype if self._by_columns else np.float64
            if self._by_columns:
                normal = NormalEquations.of(columns, target, weight, n_threads, dtype)
                self._means = normal.means
                values, self._vectors = np.linalg.eigh(normal.gram)
                self._values, self._products = np.maximum(values, 0.0), self._vectors.T @ normal.products
            else:
                self._means = self._share @ columns[slice(0, len(weight))]
                self._decompose_rows()

    def _centred(self, rows: slice) -> AnyArray:
        """Return S^1/2 Hc of some rows."""
        centred = np.asarray(self._columns[rows], dtype=self._dtype) - self._means.astype(self._dtype)
        centred *= self._root[rows].astype(self._dtype)
        return centred

    def _decompose_rows(self) -> None:
        """Set Q'S^1/2 Hc Hc'S^1/2 Q = E diag(d) E', and QE.

        The columns of Q span what is orthogonal to q = S^1/2 1 / |S^1/2 1|. Householder's reflection, which maps q to
        the first axis, gives products with Q without forming it.
        """
        mirror = self._root[:, 0] / np.linalg.norm(self._root)
        mirror[0] += 1.0  # q_1 > 0: no cancellation

        def reflect(matrix: Floats) -> Floats:
            return np.asarray(matrix - np.outer(mirror, mirror @ matrix) * (2.0 / (mirror @ mirror)))

        reflected = reflect(self._centred(slice(0, len(self.weight))))[1:]
        values, vectors = np.linalg.eigh(reflected @ reflected.T)
        self._values = np.maximum(values, 0.0)
        self._vectors = reflect(np.vstack([np.zeros(vectors.shape[1]), vectors]))
        self._products = self._vectors.T @ self._target

    def solution(self, penalty: float) -> tuple[Floats, Floats]:
        """Return the weights, shape (n, l), and the intercept, shape (l,), for lambda = `penalty`."""
        with ONE_BLAS_THREAD:
            weights = self._vectors @ (self._products / self._shifted(penalty)[:, None])
            if not self._by_columns:
                weights = self._centred(slice(0, len(self.weight))).T @ weights
            return weights, self._target_mean - self._means @ weights

    def left_out_residuals(self, penalties: Sequence[float], unit: AnyArray | None = None) -> list[Floats]:
        """Return L - F, shape (m, l), for each penalty, where F(x_i) is fitted without row i.

        Parameters
        ----------
        penalties : sequence of float
        unit : ndarray of shape (m,), optional
            How much of the weight of a row is left out; all of it, if this is not given. If it is less, one of several
            copies of the row is left out.

        Returns
        -------
        residuals : list of ndarray of shape (m, l)
        """
        left_out = np.ones(len(self.weight)) if unit is None else np.asarray(unit) / self.weight
        found = [np.empty_like(self._target) for _ in penalties]
        with ONE_BLAS_THREAD:
            for rows in blocks_of(len(self.weight)):
                scores = self._vectors[rows]
                if self._by_columns:
                    scores = self._centred(rows) @ self._vectors.astype(self._dtype, copy=False)
                residuals, freedoms = self._residuals(rows, scores, penalties), self._freedoms(rows, scores, penalties)
                # 1 - u x'M^-1 x, with M the matrix of the normal equations and u the weight that is left out
                freedoms = (1.0 - left_out[rows]) + left_out[rows] * freedoms
                for all_rows, own, freedom in zip(found, residuals, freedoms, strict=True):
                    all_rows[rows] = own / (self._root[rows] * np.maximum(freedom, LEAST_FREEDOM)[:, None])
        return found

    def _shifted(self, penalty: float) -> Floats:
        """Return d + lambda."""
        if not 0 < penalty < np.inf:
            raise ValueError(f"A penalty must be a finite number > 0; got {penalty!r}.")
        return np.asarray(self._values + penalty)

    def _residuals(self, rows: slice, scores: AnyArray, penalties: Sequence[float]) -> list[Floats]:
        """Return S^1/2 (L - F) of some rows for each penalty."""
        factors = [(1.0 if self._by_columns else own) / self._shifted(own)[:, None] for own in penalties]
        all_weights = np.hstack([self._products * own for own in factors]).astype(self._dtype, copy=False)
        products = np.split(scores @ all_weights, len(factors), axis=1)
        return [self._target[rows] - own for own in products] if self._by_columns else products

    def _freedoms(self, rows: slice, scores: AnyArray, penalties: Sequence[float]) -> Floats:
        """Return 1 minus the leverage of some rows for each penalty; by rows a sum of terms > 0: nothing cancels."""
        factors = [(1.0 if self._by_columns else own) / self._shifted(own) for own in penalties]
        products = np.stack(factors).astype(self._dtype, copy=False) @ (scores**2).T
        return np.asarray((1.0 - self._share[rows]) - products if self._by_columns else products)
