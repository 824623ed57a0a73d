"""The coordinates in which directions are learned: leading principal components of the training rows, float32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

from cgens.blas import ONE_BLAS_THREAD, for_blocks
from cgens.types import AnyArray, Floats, Sample
from cgens.weak_learners.projections.spread import Spread

#: Leading components are kept up to this share of the variance, but at least this many.
VARIANCE_SHARE, MIN_COMPONENTS = 0.9, 64
#: With more features than this, components come from a randomized SVD of this rank, not from the covariance matrix.
MAX_FEATURES, MAX_COMPONENTS = 1024, 256
#: Number of partial sums of the covariance matrix: part of the definition of its bits.
N_PARTS = 8


@dataclass(frozen=True)
class Coordinates:
    """z = axes' (x - mean) / (scale unit) for all training rows.

    Most directions of pixel space hold nothing but noise, and steps along them fit it. The leading components hold the
    signal: steps cost a fraction, and find better columns (docs/decisions/0011-learned-columns.md).

    Attributes
    ----------
    Z : ndarray of shape (m, r), float32
    variance : ndarray of shape (r,)
        Of the coordinates; these are uncorrelated unless `axes` is None.
    axes : ndarray of shape (d, r), or None
        None: the features themselves.
    mean, scale : ndarray of shape (d,)
    unit : float
        Root mean square distance of the rows from their mean: coordinates are about 1, well within float32.
    """

    Z: AnyArray
    variance: Floats
    axes: Floats | None
    mean: Floats
    scale: Floats
    unit: float

    @staticmethod
    def of(sample: Sample, spread: Spread, rotate: bool, n_threads: int) -> Coordinates:
        """Compute the coordinates of the training rows: principal components if `rotate`, else the features."""
        share = sample.weight / sample.weight.sum()
        m, d = len(sample), sample.X.shape[1]
        mean, scale = spread.mean, spread.scale
        size = float(np.linalg.norm(spread.deviation / scale))
        unit = size if size > 0 else 1.0
        axes, variance = None, np.zeros(0)
        if rotate:
            axes, variance = _leading_axes(sample, share, mean, scale * unit, n_threads)
        Z = np.empty((m, d if axes is None else axes.shape[1]), dtype=np.float32)

        X, is_sparse = sample.matrix(), sample.X.is_sparse
        shrunk = None if axes is None else axes / (scale * unit)[:, None]

        def work(begin: int, end: int) -> None:
            rows = X[begin:end].astype(np.float64)
            if shrunk is not None and is_sparse:  # only stored entries are multiplied
                Z[begin:end] = rows @ shrunk - mean @ shrunk
                return
            rows = (rows - mean) / (scale * unit)
            Z[begin:end] = rows if axes is None else rows @ axes

        for_blocks(work, m, n_threads)
        if axes is None:
            variance = np.sum(share[:, None] * Z.astype(np.float64) ** 2, axis=0)
        return Coordinates(Z, variance, axes, mean, scale, unit)

    def raw(self, thetas: Floats) -> tuple[Floats, Floats]:
        """Return raw and shifts with theta.z = raw.x - shift, shapes (n, d) and (n,)."""
        own = (thetas if self.axes is None else thetas @ self.axes.T) / (self.scale * self.unit)
        return own, np.sum(own * self.mean, axis=1)


def _centred_rows(sample: Sample, share: Floats, mean: Floats, scale: Floats) -> AnyArray:
    """Return the scaled rows times the root of their weight, float32."""
    X = sample.matrix().astype(np.float32)
    X -= mean.astype(np.float32)
    X /= scale.astype(np.float32)
    X *= np.sqrt(share)[:, None].astype(np.float32)
    return X


def _sparse_rows(sample: Sample, share: Floats, scale: Floats) -> Any:
    """Return the same for a sparse table, which is not centred: its axes are those of latent semantic analysis."""
    rows: Any = sample.matrix().astype(np.float32)
    rows = rows.multiply(np.sqrt(share)[:, None].astype(np.float32)).multiply((1 / scale)[None].astype(np.float32))
    return sparse.csr_array(rows)


def _leading_axes(sample: Sample, share: Floats, mean: Floats, scale: Floats, n_threads: int) -> tuple[Floats, Floats]:
    """Return the axes with the largest variance, shape (d, r), and the variances along them."""
    m, d = len(sample), sample.X.shape[1]
    if d > MAX_FEATURES:
        if sample.X.is_sparse:
            X = _sparse_rows(sample, share, scale)
            total = float(np.sum(X.data.astype(np.float64) ** 2))
        else:
            X = _centred_rows(sample, share, mean, scale)
            total = float(np.sum(np.einsum("ij,ij->i", X, X), dtype=np.float64))
        with ONE_BLAS_THREAD:
            _, values, rows = randomized_svd(X, min(MAX_COMPONENTS, m, d), random_state=0)
        axes, variance = rows.T.astype(np.float64), values.astype(np.float64) ** 2
    else:
        size = -(-m // N_PARTS)
        parts = np.zeros((-(-m // size), d, d))

        def work(begin: int, end: int) -> None:
            X = (sample.matrix()[begin:end].astype(np.float64) - mean) / scale
            parts[begin // size] = (X * share[begin:end, None]).T @ X

        for_blocks(work, m, n_threads, size)
        with ONE_BLAS_THREAD:
            variance, axes = np.linalg.eigh(parts.sum(axis=0))
        variance, axes = np.maximum(variance[::-1], 0.0), axes[:, ::-1]
        total = float(variance.sum())
    held = np.searchsorted(np.cumsum(variance), VARIANCE_SHARE * total) + 1
    rank = min(max(MIN_COMPONENTS, int(held)), len(variance), max(1, int(np.sum(variance > 1e-12 * variance[0]))))
    return np.ascontiguousarray(axes[:, :rank]), variance[:rank]
