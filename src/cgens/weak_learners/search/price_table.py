"""The prices of a whole pool, updated column by column if the master changes its duals by rank one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from cgens.types import AnyArray, Column, Curvature, Duals, Floats, Pricing, Rule

#: Recompute the table if rounding may have moved a price by more than this fraction of the largest one: which of two
#: candidates is added does not matter if their prices are as close as that. Certificates are computed from the duals.
DRIFT_TOL = 1e-6


class Found(NamedTuple):
    """The best free candidate of a table.

    Attributes
    ----------
    found : bool
        False if no free candidate has a nonzero price.
    candidate : int
        The index of the candidate.
    output : int
        The output with the largest |price|.
    price : float
        The signed price of that output.
    max_price : float
        Largest |price| over all free candidates and outputs.
    energy : float
        Sum of price^2 over the whole pool.
    merit : float
        See `cgens.types.Pricing`.
    """

    found: bool
    candidate: int
    output: int
    price: float
    max_price: float
    energy: float
    merit: float

    def pricing(self, column: Column | None, n_candidates: int | None = None) -> Pricing:
        """Return the result of the search; `n_candidates` is None without a pool, or if it lacks a taken learner."""
        energy = None if n_candidates is None else self.energy
        return Pricing(column, n_candidates, energy, self.max_price, self.merit)


#: The fields of `Found`.
FoundFields: TypeAlias = tuple[bool, int, int, float, float, float, float]


class Table(Protocol):
    """The prices of a pool: `cgens._core.StumpTable` or `CandidateTable`."""

    @property
    def n_outputs(self) -> int:
        """Number of prices per candidate."""

    @property
    def drift(self) -> float:
        """Upper bound on the rounding error of a price."""

    def reprice(
        self,
        duals: Floats,
        rule: Rule,
        direction: Floats | None = None,
        denominator: float = 1.0,
        rough: bool = False,
    ) -> FoundFields:
        """Compute all prices from scratch and, given a direction, change g'Pg; return the best candidate.

        If `rough`, prices may have errors of 1e-6 times the sum of |duals|.
        """

    def set_curvature(self, diagonal: Floats) -> None:
        """Compute g'Pg of the empty master."""

    def change(self, direction: Floats, step: Floats, denominator: float, rule: Rule) -> FoundFields:
        """Change the duals by -direction step', and return the best candidate."""

    def change_curvature(self, direction: Floats, denominator: float) -> None:
        """Change g'Pg only."""

    def find_best(self, rule: Rule) -> FoundFields:
        """Return the best free candidate."""

    def get_state(self) -> tuple[Floats, Floats, float]:
        """Return all prices, all g'Pg (empty if they are not set), and the drift."""

    def set_state(self, prices: Floats, curvature: Floats, drift: float) -> None:
        """Restore what `get_state` returned."""


T = TypeVar("T", bound=Table)


class PriceTable(Generic[T]):
    """Keeps a `Table` at the duals of a master: by its rank-one steps if there are few, else from scratch."""

    def __init__(self, make: Callable[[int], T]) -> None:
        self._make = make
        self._table: T | None = None
        self._n_priced = 0  # columns whose steps are in the prices
        self._n_curved: int | None = None  # columns whose steps are in g'Pg; None if that is not kept
        self._duals: Duals | None = None  # those of the prices

    @property
    def table(self) -> T:
        """The table, made for the first prices."""
        assert self._table is not None
        return self._table

    def adopt(self, table: T, duals: Duals, n_steps: int) -> None:
        """Continue with a table whose prices and g'Pg are those of given duals."""
        self._table, self._duals = table, duals
        self._n_priced = self._n_curved = n_steps

    def get_state(self) -> dict[str, AnyArray]:
        """Return the prices, and how they were computed."""
        if self._table is None:
            return {}
        n_curved = -1 if self._n_curved is None else self._n_curved
        numbers = np.array([self._table.n_outputs, self._n_priced, n_curved, self._duals is not None])
        prices, curvature, drift = self._table.get_state()
        return {"numbers": numbers, "prices": prices, "curvature": curvature, "drift": np.array(drift)}

    def set_state(self, state: Mapping[str, AnyArray]) -> None:
        """Restore the prices."""
        if not state:
            return
        n_outputs, self._n_priced, n_curved, following = state["numbers"].tolist()
        self._n_curved = None if n_curved < 0 else n_curved
        self._duals = Duals(np.empty((0, n_outputs))) if following else None  # later steps start from these prices
        self._table = self._make(n_outputs)
        self._table.set_state(state["prices"], state["curvature"], float(state["drift"]))

    def price(self, duals: Duals, rule: Rule) -> Found:
        """Return the best candidate."""
        curvature = duals.curvature
        best = None if curvature is None else self._follow(duals, curvature, rule)
        if best is None:
            best = self._restart(duals, curvature, rule)
        self._duals = None if curvature is None else duals
        return best

    def _follow(self, duals: Duals, curvature: Curvature, rule: Rule) -> Found | None:
        """Apply the steps since the last call; None if that is impossible, costs more than a restart, or drifts."""
        n_new = curvature.n_steps - self._n_priced
        if self._table is None or self._duals is None:
            return None
        if not (duals is self._duals or (duals.by_steps and n_new > 0)):
            return None
        if rule != "gain" and n_new > self._table.n_outputs:
            return None  # a restart takes one sum over all rows per output, a step one each
        if rule == "gain" and self._n_curved != self._n_priced:
            return None
        if n_new == 0:
            return Found(*self._table.find_best(rule))
        for k in range(self._n_priced, curvature.n_steps):
            direction, output, denominator = curvature.step(k)
            best = Found(*self._table.change(direction, output, denominator, rule))
            self._n_priced += 1
        self._n_curved = self._n_priced if rule == "gain" else None  # other rules may have skipped earlier steps
        return None if self._table.drift > DRIFT_TOL * best.max_price else best

    def _restart(self, duals: Duals, curvature: Curvature | None, rule: Rule) -> Found:
        """Compute all prices from the duals themselves."""
        if self._table is None:
            self._table = self._make(duals.array.shape[1])
        last: tuple[Floats | None, float] = (None, 1.0)
        if curvature is not None:
            self._n_priced = curvature.n_steps
            if rule == "gain":
                last = self._update_curvature(curvature)
        return Found(*self._table.reprice(duals.array, rule, *last, duals.rough))

    def _update_curvature(self, curvature: Curvature) -> tuple[Floats | None, float]:
        """Apply all steps of g'Pg but the last, and return that one, if any: it can be applied with new prices."""
        if self._n_curved is None or self._n_curved > curvature.n_steps:
            self.table.set_curvature(curvature.diagonal)
            self._n_curved = 0
        direction, denominator = None, 1.0
        for k in range(self._n_curved, curvature.n_steps):
            if direction is not None:
                self.table.change_curvature(direction, denominator)
            direction, _, denominator = curvature.step(k)
        self._n_curved = curvature.n_steps
        return direction, denominator
