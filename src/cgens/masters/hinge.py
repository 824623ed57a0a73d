"""The support vector machine with a free bias (EQ:SVM1, EQ:SVM_D1)."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from cgens._core import DualCd
from cgens.types import AnyArray, Floats, MasterSolution, Poll, Status

_STATUS = {
    "converged": Status.OPTIMAL,
    "max_sweeps": Status.NOT_CONVERGED,
    "interrupted": Status.INTERRUPTED,
}


class Hinge(BaseEstimator):  # type: ignore[misc]
    """Minimise 1/2 |w|^2 + C sum_i s_i max(0, 1 - y_i (w.h(x_i) + b)) over w and b.

    Parameters
    ----------
    C : float
        The paper's C. The loss is a sum over rows, not a mean.
    max_sweeps : int
        Most passes of coordinate descent over the active rows in one solve.
    quick_sweeps : int
        The same between rounds.

    Examples
    --------
    >>> import numpy as np
    >>> live = Hinge(C=1.0).begin(np.array([[1.0], [-1.0]]), np.ones(2), n_threads=1)
    >>> live.add(np.array([1, -1], dtype=np.int8))
    >>> solution = live.solve(1e-9, lambda: False)
    >>> solution.weights.round(6), solution.duals.ravel().round(6)
    (array([[1.]]), array([ 0.5, -0.5]))
    """

    column_cost = 0.0

    def __init__(self, C: float = 1.0, max_sweeps: int = 20_000, quick_sweeps: int = 30) -> None:
        self.C = C
        self.max_sweeps = max_sweeps
        self.quick_sweeps = quick_sweeps

    def begin(self, target: Floats, sample_weight: Floats, n_threads: int) -> RestrictedHinge:
        """Return the live problem; `target` is +-1 and has the shape (m, 1)."""
        if not 0 < self.C < np.inf:
            raise ValueError(f"C must be a finite number > 0; got {self.C}.")
        if target.shape[1] != 1 or not np.all(np.abs(target) == 1):
            odd = target[np.abs(target) != 1]
            what = f"the value {odd[0]}" if len(odd) else f"{target.shape[1]} columns"
            raise ValueError(f"The hinge loss needs one column of labels -1 and 1; the target has {what}.")
        return RestrictedHinge(self, target[:, 0], self.C * sample_weight, n_threads)


class RestrictedHinge:
    """The hinge master over the columns added so far. Signed duals are y_i a_i, 0 <= a_i <= C s_i."""

    def __init__(self, spec: Hinge, y: Floats, bound: Floats, n_threads: int) -> None:
        self._spec = spec
        lower, upper = np.where(y < 0, -bound, 0.0), np.where(y > 0, bound, 0.0)
        self._solver = DualCd(np.ascontiguousarray(y), lower, upper, n_threads)

    def add(self, response: AnyArray) -> None:
        """Add one column of shape (m,), int8 or floating."""
        self._solver.add(np.ascontiguousarray(response))

    def solve(self, tol: float, interrupted: Poll, quick: bool = False) -> MasterSolution:
        """Solve to a relative gap of `tol`, starting from the last solution."""
        most = self._spec.quick_sweeps if quick else self._spec.max_sweeps
        primal, dual, n_sweeps, status = self._solver.solve(tol, most, interrupted)
        return MasterSolution(
            weights=self._solver.weights()[:, None],
            intercept=np.array([self._solver.bias]),
            duals=self._solver.duals()[:, None],
            primal=primal,
            dual=dual,
            status=_STATUS[status],
            n_iter=n_sweeps,
        )

    def pool_bound(self, duals: Floats, energy: float) -> float:
        """Return the best D(s a) = s 1'a - s^2/2 energy over 0 <= s <= 1: scaled duals stay feasible."""
        total = float(np.abs(duals).sum())
        scale = min(1.0, total / energy) if energy > 0 else 1.0
        return scale * total - 0.5 * scale**2 * energy
