"""Pools of cosines whose variance over the training rows is about 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cgens._core import take_cosines
from cgens.blas import ONE_BLAS_THREAD
from cgens.types import AnyArray, Floats
from cgens.weak_learners.scaled import unit_factor

#: A column with less than this variance is constant but for rounding.
LEAST_VARIANCE = 1e-12
#: Rows that are processed together.
BLOCK = 2048


@dataclass(frozen=True, eq=False)
class CosinePool:
    """Columns c_j sqrt(2) cos(theta_j.z - kappa_j) of rows z of a view; constant ones are left out.

    Attributes
    ----------
    thetas : ndarray of shape (n, d)
    kappas, factors : ndarray of shape (n,)
        The factors c_j are the powers of two that bring the standard deviations of the columns next to 1.
    measured : ndarray of shape (m, n), float32
        Responses on the rows on which the standard deviations were measured; they are exact.
    """

    thetas: Floats
    kappas: Floats
    factors: Floats
    measured: AnyArray

    @staticmethod
    def of(thetas: Floats, kappas: Floats, rows: Floats, weight: Floats) -> CosinePool:
        """Measure the variances of cosines on some rows."""
        share = weight / weight.sum()
        means, squares = np.zeros(len(thetas)), np.zeros(len(thetas))
        responses = np.empty((len(rows), len(thetas)), dtype=np.float32)
        for begin in range(0, len(rows), BLOCK):
            own = slice(begin, begin + BLOCK)
            responses[own] = cosines(rows[own], thetas, kappas)
            columns = responses[own].astype(np.float64)
            with ONE_BLAS_THREAD:
                means += share[own] @ columns
                squares += share[own] @ columns**2
        variances = squares - means**2
        kept = variances > LEAST_VARIANCE
        factors = unit_factor(np.sqrt(variances[kept]))
        measured = responses if kept.all() else responses[:, kept]
        measured *= factors.astype(np.float32)
        return CosinePool(thetas[kept], kappas[kept], factors, measured)

    def __len__(self) -> int:
        return len(self.thetas)

    def mean_gradients(self, rows: Floats, weights: Floats, weight: Floats) -> Floats:
        """Return sqrt(mean_i sum_t (dF_t / dz_f)^2) of the ensemble with these weights, shape (n, l); shape (d,)."""
        with ONE_BLAS_THREAD:
            # -sqrt(2) sin(phase) = sqrt(2) cos(phase + pi / 2)
            slopes = cosines(rows, self.thetas, self.kappas - 0.5 * np.pi)
            total = np.zeros(self.thetas.shape[1])
            for own in (weights * self.factors[:, None]).T:
                gradients = (slopes * own) @ self.thetas
                total += weight @ gradients**2
        return np.asarray(np.sqrt(total / weight.sum()))


def cosines(rows: Floats, thetas: Floats, kappas: Floats) -> AnyArray:
    """Return sqrt(2) cos(theta.z - kappa), float32, shape (m, n)."""
    with ONE_BLAS_THREAD:
        phases = rows @ thetas.T - kappas
    return np.asarray(take_cosines(np.ascontiguousarray(phases), 1).reshape(phases.shape))
