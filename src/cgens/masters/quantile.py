"""Quantile regression: the pinball loss, for one quantile or several over the same columns."""

from __future__ import annotations

import numpy as np

from cgens.coding import QuantileCoding, RegressionCoding
from cgens.masters.box_dual import BoxTerms
from cgens.masters.box_regression import BoxRegressionLoss
from cgens.masters.spread import weighted_quantile
from cgens.masters.targets import as_values, check_outputs
from cgens.types import Floats


class Quantile(BoxRegressionLoss):
    """Minimize 1/2 |w|^2 + C sum_i s_i max(q t_i, (q - 1) t_i) over w and b, with t_i = y_i - w.h(x_i) - b.

    Signed duals are in [(q - 1) C s_i, q C s_i]. A share q of the training rows, by weight, is at or below F.

    Parameters
    ----------
    quantile : float or list of float
        q in (0, 1). A list, for y of one dimension, gives one output per quantile, over the same columns; predictions
        are sorted, because quantiles that are fitted separately may cross. Sorting does not increase the loss
        (Chernozhukov, Fernandez-Val and Galichon, Econometrica 2010).
    C : float or None
        As in `Hinge`.
    max_sweeps, quick_sweeps : int
        As in `Hinge`.

    Examples
    --------
    >>> import numpy as np
    >>> restricted = Quantile(0.75, C=1.0).begin(np.array([[0.0], [1.0], [2.0], [7.0]]), np.ones(4), n_threads=1)
    >>> restricted.solve(1e-9, lambda: False).intercept
    array([4.5])
    """

    name = "quantile"

    def __init__(
        self,
        quantile: float | list[float] = 0.5,
        C: float | None = None,
        max_sweeps: int = 20_000,
        quick_sweeps: int = 30,
    ) -> None:
        self.quantile = quantile
        self.C = C
        self.max_sweeps = max_sweeps
        self.quick_sweeps = quick_sweeps

    def quantiles(self) -> Floats:
        """Return the quantiles, shape (1,) for a single one."""
        message = "quantile must be in (0, 1), or a list of such numbers"
        return as_values(self.quantile, lambda quantile: 0 < quantile < 1, message)

    def check_target(self, target: Floats) -> None:
        """Raise ValueError if the quantiles are invalid or do not match the outputs."""
        check_outputs("quantile", self.quantiles(), target)
        super().check_target(target)

    def box(self, target: Floats, scale: Floats, output: int) -> BoxTerms:
        """Return the pinball loss with the quantile of this output."""
        quantiles = self.quantiles()
        q = quantiles[output % len(quantiles)]
        return BoxTerms(target, (q - 1.0) * scale, q * scale)

    def losses(self, decision: Floats, target: Floats) -> Floats:
        """Return max(q t, (q - 1) t), summed over the outputs."""
        misses, q = target - decision, self.quantiles()
        return np.asarray(np.maximum(q * misses, (q - 1.0) * misses).sum(axis=1))

    def dual_values(self, duals: Floats, target: Floats, scale: Floats) -> Floats:
        """Return y'r; as the duals sum to 0, y is measured from its mean, for less rounding."""
        return np.asarray(np.sum((target - target.mean(axis=0)) * duals, axis=1))

    def score(self, decision: Floats, target: Floats, weight: Floats) -> float:
        """Return D^2: 1 minus the loss relative to that of constants, the quantiles of the target."""
        pairs = zip(target.T, np.broadcast_to(self.quantiles(), target.shape[1]), strict=True)
        constants = np.array([weighted_quantile(y, weight, q) for y, q in pairs])
        loss, worst = (self.value(own, target, weight) for own in (decision, constants))
        return 1.0 - loss / worst if worst > 0 else float(loss == 0)

    def code_numbers(self, flat: bool) -> RegressionCoding | QuantileCoding:
        """Return a coding with one output per quantile if there is a list of them."""
        quantiles = self.quantiles()
        if not isinstance(self.quantile, list | tuple | np.ndarray):
            return super().code_numbers(flat)
        if not flat:
            raise ValueError(f"quantile={self.quantile!r} needs y of one dimension: fit one model per column of y.")
        return QuantileCoding(tuple(np.argsort(np.argsort(quantiles, kind="stable")).tolist()))
