"""The record of a fit: one entry per round, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from cgens.types import AnyArray, Certificate, Duals, Floats, MasterSolution, Status


@dataclass(frozen=True, repr=False, eq=False)
class Trace:
    """The record of all rounds.

    Entry 0 is the empty master (with a warm start, the one with the earlier columns); each later entry is a round that
    added one column. After early stopping, the last entry is the solve on all rows with the selected columns.

    Attributes
    ----------
    price : ndarray of shape (n_rounds + 1,)
        |price| of the column that the round added; nan in entry 0.
    primal, dual, relative_gap : ndarray of shape (n_rounds + 1,)
        Of the restricted master after the round. Only the last round is solved to the given tolerance; the others to
        3e-3, or less tightly if that is hard (large C). Least squares has a closed form: its gap is rounding error, and
        is measured in the last round. For other smooth losses the dual value is nan in most rounds, to save time.
    full_lower_bound : ndarray of shape (n_rounds + 1,)
        Lower bound for the whole pool from the duals of the round; -inf if none was computed.
    price_seconds, solve_seconds : ndarray of shape (n_rounds + 1,)
        Time spent on finding and adding the column, and on solving with it. Entry 0 has the time of the preparation.
    n_iter : ndarray of shape (n_rounds + 1,)
        Iterations of the solver.
    certificate : Certificate
    duals : ndarray of shape (m, l) or None
        Final duals, in the row order of the fit. Fitted estimators have them in ``duals_``, and None here.
    bound_duals : ndarray of shape (m, l) or None
        The duals behind ``certificate.full_lower_bound``, the best of all rounds.
    bound_weights : ndarray of shape (J', l) or None
        Weights of the model that these duals belong to.
    bound_intercept : ndarray of shape (l,) or None
    """

    price: Floats
    primal: Floats
    dual: Floats
    relative_gap: Floats
    full_lower_bound: Floats
    price_seconds: Floats
    solve_seconds: Floats
    n_iter: Floats
    certificate: Certificate
    duals: Floats | None
    bound_duals: Floats | None
    bound_weights: Floats | None
    bound_intercept: Floats | None

    def followed_by(self, last: Trace) -> Trace:
        """Return the rounds of both; everything else is that of the last one."""
        rounds: dict[str, Any] = {
            own.name: np.concatenate([getattr(self, own.name), getattr(last, own.name)])
            for own in fields(self)
            if own.name not in NOT_PER_ROUND
        }
        return replace(last, **rounds)

    def __len__(self) -> int:
        return len(self.primal)

    def __repr__(self) -> str:
        return f"<Trace of {len(self) - 1} rounds: {self.certificate}>"


#: The fields of a trace that do not have one entry per round.
NOT_PER_ROUND = ("certificate", "duals", "bound_duals", "bound_weights", "bound_intercept")


class TraceRecorder:
    """Collects a `Trace` while the loop runs."""

    def __init__(self) -> None:
        self._entries: list[dict[str, float]] = []
        self.bound = -np.inf
        self.bound_solution: MasterSolution | None = None

    @property
    def first_primal(self) -> float:
        """The objective of the first round."""
        return self._entries[0]["primal"]

    def begin_round(self, price: float, price_seconds: float) -> None:
        """Add the entry of a new round."""
        unsolved = {"full_lower_bound": -np.inf, "solve_seconds": 0.0, "n_iter": 0.0}
        self._entries.append({"price": price, "price_seconds": price_seconds, **unsolved})

    def add_solution(self, solution: MasterSolution, seconds: float) -> None:
        """Record the solution of the round; a later, tighter one replaces it."""
        entry = self._entries[-1]
        entry |= {"primal": solution.primal, "dual": solution.dual, "relative_gap": solution.relative_gap}
        entry["solve_seconds"] += seconds
        entry["n_iter"] += solution.n_iter

    def add_bound(self, bound: float, solution: MasterSolution) -> None:
        """Record the lower bound of the pool at the duals of the round, and keep the best of all rounds."""
        self._entries[-1]["full_lower_bound"] = bound
        if bound > self.bound:
            self.bound, self.bound_solution = bound, solution

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return the content as named arrays."""
        names = list(self._entries[0])
        arrays = {
            "names": np.array(names),
            "entries": np.array([[entry[name] for name in names] for entry in self._entries]),
            "bound": np.array(self.bound),
        }
        best = self.bound_solution
        if best is not None:
            numbers = np.array([best.primal, best.dual, best.duals.by_steps])
            best_arrays = {"weights": best.weights, "intercept": best.intercept, "duals": best.duals.array}
            arrays |= {"best.numbers": numbers, **{f"best.{name}": own for name, own in best_arrays.items()}}
        return arrays

    def restore(self, arrays: Mapping[str, AnyArray]) -> None:
        """Restore the content that `to_arrays` returned."""
        names = arrays["names"].tolist()
        self._entries = [dict(zip(names, entry, strict=True)) for entry in arrays["entries"].tolist()]
        self.bound = float(arrays["bound"])
        if "best.numbers" in arrays:
            primal, dual, by_steps = arrays["best.numbers"].tolist()
            duals = Duals(arrays["best.duals"])
            duals.by_steps = bool(by_steps)
            weights, intercept = arrays["best.weights"], arrays["best.intercept"]
            self.bound_solution = MasterSolution(weights, intercept, duals, primal, dual, Status.OPTIMAL, 0)

    def finish(self, certificate: Certificate, duals: Floats) -> Trace:
        """Return the trace."""
        best = self.bound_solution
        return Trace(
            **{name: np.array([entry[name] for entry in self._entries]) for name in self._entries[0]},
            certificate=certificate,
            duals=duals,
            bound_duals=None if best is None else best.duals.array,
            bound_weights=None if best is None else best.weights,
            bound_intercept=None if best is None else best.intercept,
        )
