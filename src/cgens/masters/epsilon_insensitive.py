"""Support vector regression: the epsilon-insensitive loss."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from sklearn.base import clone

from cgens.masters.box_dual import BoxTerms
from cgens.masters.box_regression import BoxRegressionLoss
from cgens.masters.spread import spread_of
from cgens.masters.targets import as_values, check_outputs, check_range
from cgens.types import Floats


class EpsilonInsensitive(BoxRegressionLoss):
    """Minimize 1/2 |w|^2 + C sum_i s_i max(0, |y_i - w.h(x_i) - b| - epsilon) over w and b, for each output.

    Signed duals are in [-C s_i, C s_i], and 0 for rows whose residual is less than epsilon.

    Parameters
    ----------
    epsilon : float, list of float or "scale"
        Residuals up to this size cost nothing; a list has one value per output. "scale": 0.1 times a robust standard
        deviation of each output.
    C : float or None
        As in `Hinge`.
    max_sweeps, quick_sweeps : int
        As in `Hinge`.

    Examples
    --------
    >>> import numpy as np
    >>> restricted = EpsilonInsensitive(0.5, C=1.0).begin(np.array([[0.0], [0.4], [2.0]]), np.ones(3), n_threads=1)
    >>> restricted.add(np.array([-1, -1, 1], dtype=np.int8))
    >>> solution = restricted.solve(1e-9, lambda: False)
    >>> solution.weights.round(6), solution.intercept.round(6), solution.duals.array.ravel().round(6)
    (array([[0.5]]), array([1.]), array([-0.25,  0.  ,  0.25]))
    """

    name = "epsilon_insensitive"
    n_terms: ClassVar[int] = 2

    def __init__(
        self,
        epsilon: float | list[float] | str = "scale",
        C: float | None = None,
        max_sweeps: int = 20_000,
        quick_sweeps: int = 30,
    ) -> None:
        self.epsilon = epsilon
        self.C = C
        self.max_sweeps = max_sweeps
        self.quick_sweeps = quick_sweeps

    def epsilons(self) -> Floats:
        """Return epsilon as numbers, shape (1,) or (l,)."""
        message = "epsilon must be a finite number >= 0 or 'scale'"
        return as_values(self.epsilon, lambda epsilon: 0 <= epsilon < np.inf, message)

    def for_target(self, target: Floats, weight: Floats) -> Self:
        """Return the loss with epsilon as numbers."""
        if isinstance(self.epsilon, str) and self.epsilon == "scale":
            check_range(target)
            epsilons = (0.1 * spread_of(target, weight)).tolist()
            resolved: Self = clone(self).set_params(epsilon=epsilons)
            return resolved
        return self

    def check_target(self, target: Floats) -> None:
        """Raise ValueError if epsilon is invalid or does not match the outputs."""
        check_outputs("epsilon", self.epsilons(), target)
        super().check_target(target)

    def box(self, target: Floats, scale: Floats, output: int) -> BoxTerms:
        """Return C s_i max(0, t - epsilon) + C s_i max(0, -t - epsilon), t the residual."""
        epsilons, zero = self.epsilons(), np.zeros(len(scale))
        epsilon = epsilons[output % len(epsilons)]
        return BoxTerms(
            np.concatenate([target - epsilon, target + epsilon]),
            np.concatenate([zero, -scale]),
            np.concatenate([scale, zero]),
        )

    def losses(self, decision: Floats, target: Floats) -> Floats:
        """Return max(0, |y - F| - epsilon), summed over the outputs."""
        return np.asarray(np.maximum(0.0, np.abs(target - decision) - self.epsilons()).sum(axis=1))

    def dual_values(self, duals: Floats, target: Floats, scale: Floats) -> Floats:
        """Return y'r - epsilon |r|; as the duals sum to 0, y is measured from its mean, for less rounding."""
        fits = (target - target.mean(axis=0)) * duals
        return np.asarray(np.sum(fits - self.epsilons() * np.abs(duals), axis=1))
