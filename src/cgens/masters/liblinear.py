"""An off-the-shelf linear SVM as the master (the paper's advantage 2): LIBLINEAR via scikit-learn's `LinearSVC`."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from cgens.blas import ONE_BLAS_THREAD
from cgens.masters.response_rows import ResponseRows
from cgens.masters.targets import check_signs
from cgens.types import AnyArray, Duals, Floats, MasterSolution, Poll, Status, relative_gap

#: LIBLINEAR's own tolerances to try in turn.
TOLS = (1e-2, 1e-4, 1e-6, 1e-8)


class Liblinear(BaseEstimator):  # type: ignore[misc]
    """Minimize 1/2 |w|^2 + 1/2 (b / scaling)^2 + C sum_i s_i max(0, 1 - y_i F(x_i))^2, from scratch in every round.

    LIBLINEAR penalizes the bias: the larger `intercept_scaling`, the less. Signed duals are y_i a_i with
    a_i = 2 C s_i max(0, 1 - y_i F(x_i)), which are always feasible. For comparison with the warm starts of `Hinge`:
    ``python -m benchmarks.baselines --solvers``.

    Parameters
    ----------
    C : float
    intercept_scaling : float

    Examples
    --------
    >>> import numpy as np
    >>> master = Liblinear(C=1.0).begin(np.array([[1.0], [-1.0]]), np.ones(2), n_threads=1)
    >>> master.add(np.array([1, -1], dtype=np.int8))
    >>> master.solve(1e-6, lambda: False).weights.round(3)
    array([[0.8]])
    """

    repeats = False
    positive_prices = False
    smooth = True

    def __init__(self, C: float = 1.0, intercept_scaling: float = 10.0) -> None:
        self.C = C
        self.intercept_scaling = intercept_scaling

    def begin(self, target: Floats, sample_weight: Floats, n_threads: int) -> RestrictedLiblinear:
        """Return the problem without columns; `target` is +-1, shape (m, 1)."""
        check_signs(target, "Liblinear", one_output=True)
        return RestrictedLiblinear(self, target[:, 0], sample_weight)


class RestrictedLiblinear:
    """The problem over the columns added so far, without warm starts."""

    def __init__(self, spec: Liblinear, y: Floats, weight: Floats) -> None:
        self._spec, self._y, self._weight = spec, y, weight
        self._columns = ResponseRows(len(y))
        self._tols = list(TOLS)

    def add(self, response: AnyArray) -> None:
        """Add one column of shape (m,), int8 or floating."""
        self._columns.add(response)

    def solve(self, tol: float, interrupted: Poll, quick: bool = False) -> MasterSolution:
        """Solve with decreasing tolerances of LIBLINEAR until the relative gap is at most `tol`."""
        columns = self._columns.all()
        # Without columns, a column of zeros: its weight is 0, and only the bias is fitted.
        X = columns.T if len(columns) else np.zeros((len(self._y), 1))
        from sklearn.svm import LinearSVC  # slow to import, and only for comparison

        while True:
            own_tol = self._tols[0]
            svm = LinearSVC(C=self._spec.C, dual=False, tol=own_tol, intercept_scaling=self._spec.intercept_scaling)
            with ONE_BLAS_THREAD, warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # the gap is checked instead
                svm.fit(X, self._y, sample_weight=self._weight)
                w, b = svm.coef_[0][: len(columns)], float(svm.intercept_[0])
                slack = np.maximum(0.0, 1.0 - self._y * (columns.T @ w + b))
                duals = 2 * self._spec.C * self._weight * slack * self._y
                energy = float(np.sum((columns @ duals) ** 2))
            penalty = 0.5 * float(np.sum(w**2)) + 0.5 * (b / self._spec.intercept_scaling) ** 2
            primal = penalty + self._spec.C * float(np.sum(self._weight * slack**2))
            dual = float(np.abs(duals).sum()) - 0.5 * self._curvature(duals, energy)
            status = Status.OPTIMAL if relative_gap(primal, dual) <= tol else Status.NOT_CONVERGED
            if status is Status.OPTIMAL or interrupted() or len(self._tols) == 1:
                break
            self._tols.pop(0)  # later rounds will need the smaller one too
        status = Status.INTERRUPTED if interrupted() else status
        return MasterSolution(w[:, None], np.array([b]), Duals(duals[:, None]), primal, dual, status, int(svm.n_iter_))

    def _curvature(self, duals: Floats, energy: float) -> float:
        """Return Q of the dual objective 1'a - Q / 2: energy + (scaling y'a)^2 + sum_i a_i^2 / (2 C s_i)."""
        smoothness = float(np.sum(duals**2 / (2 * self._spec.C * self._weight)))
        return energy + (self._spec.intercept_scaling * float(duals.sum())) ** 2 + smoothness

    def pool_bound(self, duals: Duals, energy: float, largest: float) -> float:
        """Return the maximum of D(s a) = s 1'a - s^2 Q / 2 over s >= 0."""
        curvature = self._curvature(duals.array[:, 0], energy)
        return 0.5 * duals.l1_norm**2 / curvature if curvature > 0 else 0.0
