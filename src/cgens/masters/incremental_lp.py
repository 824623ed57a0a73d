"""A linear program in HiGHS that grows by rows; each solve starts from the last basis."""

from __future__ import annotations

from typing import Any

import numpy as np

from cgens.types import Floats, Poll, Status

#: The options of HiGHS for each solver.
SOLVERS: dict[str, dict[str, Any]] = {
    "dual": {"solver": "simplex", "simplex_strategy": 1},
    "primal": {"solver": "simplex", "simplex_strategy": 4},
    "ipm": {"solver": "ipm", "run_crossover": "off"},
}


class IncrementalLP:
    """Minimize cost'v subject to lower <= v <= upper and to bounds on linear combinations of v.

    Parameters
    ----------
    solver : {"dual", "primal", "ipm"}
        Dual or primal simplex, or an interior point method, which has no warm start.
    max_iter : int
        Maximum number of iterations of one solve.
    """

    def __init__(self, solver: str, max_iter: int) -> None:
        if not isinstance(solver, str) or solver not in SOLVERS:
            raise ValueError(f"solver must be one of {', '.join(map(repr, SOLVERS))}; got {solver!r}.")
        self._highs = _import_highspy().Highs()
        limits = {"simplex_iteration_limit": max_iter, "ipm_iteration_limit": max_iter}
        # Presolve would discard the basis. "parallel" makes it serial: the number of threads is global to the process.
        fixed = {"output_flag": False, "presolve": "off", "parallel": "off"}
        for name, value in {**fixed, **limits, **SOLVERS[solver]}.items():
            self._check(self._highs.setOptionValue(name, value), f"the option {name}={value}")

    def add_variables(self, cost: Floats, lower: Floats, upper: Floats) -> None:
        """Add variables, shape (n,) each."""
        none = np.zeros(0, dtype=np.int32)
        starts = np.zeros(len(cost), dtype=np.int32)
        added = self._highs.addCols(len(cost), cost, lower, upper, 0, starts, none, np.zeros(0))
        self._check(added, f"{len(cost)} variables")

    def add_row(self, coefficients: Floats, lower: float, upper: float) -> None:
        """Add the constraint lower <= coefficients'v <= upper."""
        indices = np.flatnonzero(coefficients).astype(np.int32)
        added = self._highs.addRow(lower, upper, len(indices), indices, coefficients[indices])
        self._check(added, f"a column with values up to {np.abs(coefficients).max():.3g}")

    @staticmethod
    def _check(status: Any, what: str) -> None:
        if status == _import_highspy().HighsStatus.kError:
            raise ValueError(f"HiGHS rejects {what}: scale the weak learners' responses and the weights to about 1.")

    def solve(self, interrupted: Poll) -> tuple[Status, int, Floats, Floats]:
        """Return the status, the number of iterations, the variables, and the multipliers of the rows.

        Any other outcome than an optimum or an interrupt is NOT_CONVERGED; the arrays may then be empty.
        """
        highspy = _import_highspy()

        def poll(event: Any) -> None:
            event.interrupt(interrupted())

        signals = self._highs.cbSimplexInterrupt, self._highs.cbIpmInterrupt
        for signal in signals:
            signal.subscribe(poll)
        try:
            self._highs.run()
        finally:
            for signal in signals:
                signal.unsubscribe(poll)
        known = {
            highspy.HighsModelStatus.kOptimal: Status.OPTIMAL,
            highspy.HighsModelStatus.kInterrupt: Status.INTERRUPTED,
        }
        status = known.get(self._highs.getModelStatus(), Status.NOT_CONVERGED)
        info, solution = self._highs.getInfo(), self._highs.getSolution()
        n_iter = max(info.simplex_iteration_count, 0) + max(info.ipm_iteration_count, 0)
        return status, n_iter, np.array(solution.col_value), np.array(solution.row_dual)


def _import_highspy() -> Any:
    try:
        import highspy
    except ImportError:
        raise ImportError("LPBoost solves linear programs with HiGHS: pip install 'cgens[lp]', or highspy.") from None
    return highspy
