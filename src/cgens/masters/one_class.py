"""The one-class support vector machine."""

from __future__ import annotations

from numbers import Real
from typing import ClassVar

import numpy as np

from cgens.masters.box_dual import BoxDualLoss, BoxTerms
from cgens.types import Floats, RestrictedMaster


class OneClass(BoxDualLoss):
    """Minimize 1/2 |w|^2 - rho + 1/(nu sum_i s_i) sum_i s_i max(0, rho - w.h(x_i)) over w and rho.

    The decision is F(x) = w.h(x) - rho: negative for at most a share nu of the training rows, by weight. Duals are in
    [0, s_i / (nu sum_i s_i)] and sum to 1. The values of the target are not used.

    Parameters
    ----------
    nu : float
        In (0, 1].
    max_sweeps, quick_sweeps : int
        As in `Hinge`.

    Examples
    --------
    >>> import numpy as np
    >>> restricted = OneClass(nu=0.8).begin(np.zeros((3, 1)), np.ones(3), n_threads=1)
    >>> restricted.add(np.array([1, 1, -1], dtype=np.int8))
    >>> solution = restricted.solve(1e-9, lambda: False)
    >>> solution.weights.round(6), solution.intercept.round(6)
    (array([[0.166667]]), array([-0.166667]))
    """

    name = "one_class"
    dual_sum: ClassVar[float] = 1.0

    def __init__(self, nu: float = 0.1, max_sweeps: int = 20_000, quick_sweeps: int = 30) -> None:
        self.nu = nu
        self.max_sweeps = max_sweeps
        self.quick_sweeps = quick_sweeps

    def begin(self, target: Floats, sample_weight: Floats, n_threads: int) -> RestrictedMaster:
        """Return the problem without columns, for a target of shape (m, 1)."""
        self.check_nu()
        return super().begin(target, sample_weight, n_threads)

    def check_nu(self) -> None:
        """Raise ValueError if nu is invalid."""
        if isinstance(self.nu, bool) or not isinstance(self.nu, Real) or not 0 < float(self.nu) <= 1:
            raise ValueError(f"nu must be a number in (0, 1]; got {self.nu!r}.")

    def scale(self, sample_weight: Floats) -> Floats:
        """Return s_i / (nu sum_i s_i)."""
        return np.asarray(sample_weight / (self.nu * sample_weight.sum()))

    def box(self, target: Floats, scale: Floats, output: int) -> BoxTerms:
        """Return max(0, -F) times the scale."""
        zero = np.zeros(len(scale))
        return BoxTerms(zero, zero, scale)

    def losses(self, decision: Floats, target: Floats) -> Floats:
        """Return max(0, -F)."""
        return np.asarray(np.maximum(0.0, -decision).sum(axis=1))

    def dual_values(self, duals: Floats, target: Floats, scale: Floats) -> Floats:
        """Return 0: the dual objective is -1/2 |w|^2."""
        return np.zeros(len(duals))

    def pool_bound(self, duals: Floats, target: Floats, scale: Floats, energy: float) -> float:
        """Return -1/2 energy: multiples of the duals do not sum to 1."""
        return -0.5 * energy
