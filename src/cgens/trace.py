"""The record of a fit: one entry per round, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cgens.types import Certificate, Floats, MasterSolution


@dataclass(frozen=True, repr=False, eq=False)
class Trace:
    """What happened in each round.

    Entry 0 is the empty master (or, in a warm start, the one with the earlier columns); each later entry is a round
    that added one column.

    Attributes
    ----------
    score : ndarray of shape (n_rounds + 1,)
        Price of the column that the round added; nan in entry 0.
    primal, dual, relative_gap : ndarray of shape (n_rounds + 1,)
        Of the restricted master after the round. Only the last round is solved to the tolerance asked for; the
        others to 3e-3, or not even that where it is hard (large C). Least squares has a closed form: its gap is
        rounding, and is measured in the last round.
    full_lower_bound : ndarray of shape (n_rounds + 1,)
        The pool's lower bound from the round's duals; -inf where none was computed.
    price_seconds, solve_seconds : ndarray of shape (n_rounds + 1,)
        Spent on finding and adding the round's column, and on solving with it. Entry 0 holds the preparation.
    n_iter : ndarray of shape (n_rounds + 1,)
        The solver's iterations.
    certificate : Certificate
    duals : ndarray of shape (m, l) or None
        Final duals, in the fit's row order. Fitted estimators have them in ``duals_``, and None here.
    bound_duals : ndarray of shape (m, l) or None
        The duals behind ``certificate.full_lower_bound``, the best of all rounds.
    bound_weights : ndarray of shape (J', l) or None
        Weights of the model that these duals belong to.
    bound_intercept : ndarray of shape (l,) or None
    """

    score: Floats
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

    def __len__(self) -> int:
        return len(self.primal)

    def __repr__(self) -> str:
        return f"<Trace of {len(self) - 1} rounds: {self.certificate}>"


@dataclass
class _Entry:
    score: float
    price_seconds: float
    primal: float = np.nan
    dual: float = np.nan
    relative_gap: float = np.nan
    full_lower_bound: float = -np.inf
    solve_seconds: float = 0.0
    n_iter: float = 0.0


class TraceRecorder:
    """Collects a `Trace` while the loop runs."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self.bound = -np.inf
        self.bound_solution: MasterSolution | None = None

    def begin_round(self, score: float, price_seconds: float) -> None:
        """Open the entry of a round."""
        self._entries.append(_Entry(score, price_seconds))

    def add_solution(self, solution: MasterSolution, seconds: float) -> None:
        """Record the round's solution; a tighter one later replaces it."""
        entry = self._entries[-1]
        entry.primal, entry.dual, entry.relative_gap = solution.primal, solution.dual, solution.relative_gap
        entry.solve_seconds += seconds
        entry.n_iter += solution.n_iter

    def add_bound(self, bound: float, solution: MasterSolution) -> None:
        """Record the pool's lower bound at the round's duals, and keep the best of all rounds."""
        self._entries[-1].full_lower_bound = bound
        if bound > self.bound:
            self.bound, self.bound_solution = bound, solution

    def finish(self, certificate: Certificate, duals: Floats) -> Trace:
        """Return the record."""

        def column(name: str) -> Floats:
            return np.array([getattr(entry, name) for entry in self._entries])

        best = self.bound_solution
        return Trace(
            score=column("score"),
            primal=column("primal"),
            dual=column("dual"),
            relative_gap=column("relative_gap"),
            full_lower_bound=column("full_lower_bound"),
            price_seconds=column("price_seconds"),
            solve_seconds=column("solve_seconds"),
            n_iter=column("n_iter"),
            certificate=certificate,
            duals=duals,
            bound_duals=None if best is None else best.duals.array,
            bound_weights=None if best is None else best.weights,
            bound_intercept=None if best is None else best.intercept,
        )
