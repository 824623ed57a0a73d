"""The support vector machine with a free bias (EQ:SVM1, EQ:SVM_D1)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from cgens.coding import ClassCoding
from cgens.masters.box_dual import BoxDualLoss, BoxTerms, scaled_bound
from cgens.masters.smooth_hinge import RestrictedSmoothHinge
from cgens.masters.targets import check_signs
from cgens.types import AnyArray, Floats, RestrictedMaster, Target

#: From this number of rows on, one output is solved by Newton's method on a smoothed hinge (docs/decisions/0024).
SMOOTHED_ROWS = 100_000


class Hinge(BoxDualLoss):
    """Minimize 1/2 |w|^2 + C sum_i s_i max(0, 1 - y_i (w.h(x_i) + b)) over w and b, for each column y of the target.

    Parameters
    ----------
    C : float or None
        The paper's C. The loss is a sum over rows, not a mean. None: estimators choose it, and by itself it is 1.
    max_sweeps : int
        Maximum number of passes of coordinate descent over the active rows in one solve; with many rows, of Newton
        steps.
    quick_sweeps : int
        The same for the quick solves between rounds.

    Examples
    --------
    >>> import numpy as np
    >>> master = Hinge(C=1.0).begin(np.array([[1.0], [-1.0]]), np.ones(2), n_threads=1)
    >>> master.add(np.array([1, -1], dtype=np.int8))
    >>> solution = master.solve(1e-9, lambda: False)
    >>> solution.weights.round(6), solution.duals.array.ravel().round(6)
    (array([[1.]]), array([ 0.5, -0.5]))
    """

    name = "hinge"
    targets: ClassVar[frozenset[Target]] = frozenset({"classes", "labels"})

    def __init__(self, C: float | None = None, max_sweeps: int = 20_000, quick_sweeps: int = 30) -> None:
        self.C = C
        self.max_sweeps = max_sweeps
        self.quick_sweeps = quick_sweeps

    def check_target(self, target: Floats) -> None:
        """Raise ValueError unless the target is +-1."""
        check_signs(target, "The hinge loss")

    def box(self, target: Floats, scale: Floats, output: int) -> BoxTerms:
        """Return C s_i max(0, 1 - y_i F) = max(0, C s_i y_i (y_i - F)): signed duals are y_i a_i, 0 <= a_i <= C s_i."""
        return BoxTerms(target, np.where(target < 0, -scale, 0.0), np.where(target > 0, scale, 0.0))

    def begin(self, target: Floats, sample_weight: Floats, n_threads: int) -> RestrictedMaster:
        """Return the problem without columns: for many rows one that sweeps over all of them at once."""
        if len(target) < SMOOTHED_ROWS or target.shape[1] > 1:
            return super().begin(target, sample_weight, n_threads)
        return RestrictedSmoothHinge(self.prepared(target, sample_weight), target, sample_weight, n_threads)

    def losses(self, decision: Floats, target: Floats) -> Floats:
        """Return max(0, 1 - yF), summed over the outputs."""
        return np.asarray(np.maximum(0.0, 1.0 - target * decision).sum(axis=1))

    def dual_values(self, duals: Floats, target: Floats, scale: Floats) -> Floats:
        """Return the a_i = |r_i|, summed over the outputs."""
        return np.asarray(np.abs(duals).sum(axis=1))

    def code_classes(self, classes: AnyArray) -> ClassCoding:
        """Return +-1: for more than two classes, each against the rest."""
        return ClassCoding.signs(classes)

    def pool_bound(self, duals: Floats, target: Floats, scale: Floats, energy: float) -> float:
        """Return the best D(s a) = s 1'a - s^2/2 energy over 0 <= s <= 1, without a temporary per row."""
        return scaled_bound(float(np.abs(duals).sum()), energy)
