"""Prices of a whole pool, brought up to date column by column where the master changes its duals by rank one."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from cgens.types import Curvature, Duals, Floats, Rule

#: Make the table of prices anew where rounding may have moved a price by this share of the largest.
DRIFT_TOL = 1e-9


class Found(NamedTuple):
    """The best free candidate of a table.

    Attributes
    ----------
    found : bool
        False where no free candidate has a price other than 0.
    candidate : int
        The feature of a stump, or the number of a candidate.
    threshold : float
        Of a stump.
    output : int
        The one of largest |price|.
    price : float
        Of that output, signed.
    max_price : float
        Largest |price| of all free candidates and outputs.
    energy : float
        Sum of price^2 over the whole pool.
    merit : float
        What the rule measures of the best, see `cgens.types.Pricing`.
    """

    found: bool
    candidate: int
    threshold: float
    output: int
    price: float
    max_price: float
    energy: float
    merit: float


class Table(Protocol):
    """All prices of a pool: `cgens._core.StumpTable` or `cgens.weak_learners.search.candidates.CandidateTable`."""

    @property
    def n_outputs(self) -> int:
        """Number of prices a candidate."""

    @property
    def drift(self) -> float:
        """How far a price may be off through rounding, at most."""

    def set_duals(self, duals: Floats) -> None:
        """Make all prices anew."""

    def set_curvature(self, diagonal: Floats) -> None:
        """Make g'Pg of the empty master anew."""

    def change(self, direction: Floats, step: Floats, denominator: float, rule: Rule) -> tuple[object, ...]:
        """Apply the duals' change, - direction step', and return as `find_best` does."""

    def change_curvature(self, direction: Floats, denominator: float) -> None:
        """Apply a change to g'Pg only."""

    def find_best(self, rule: Rule) -> tuple[object, ...]:
        """Return what makes a `Found`."""


class PriceTable:
    """Follows the duals of a master with a `Table`, by its steps where there are few, else anew."""

    def __init__(self, make: Callable[[int], Table]) -> None:
        self._make = make
        self._table: Table | None = None
        self._n_priced = 0  # columns whose change is in the prices
        self._n_curved: int | None = None  # and in g'Pg; None where that is not kept
        self._duals: Duals | None = None  # those of the prices

    @property
    def table(self) -> Table:
        """The table; there is one after the first prices."""
        assert self._table is not None
        return self._table

    def adopt(self, table: Table, duals: Duals, n_steps: int) -> None:
        """Go on with a table whose prices and g'Pg are those of given duals."""
        self._table, self._duals = table, duals
        self._n_priced = self._n_curved = n_steps

    def price(self, duals: Duals, rule: Rule) -> Found:
        """Return the best candidate."""
        curvature = duals.curvature
        if curvature is None:  # duals from elsewhere: the next ones will have to be priced anew
            self._begin(duals)
            self._duals = None
            return self._find(rule)
        best = self._follow(duals, curvature, rule)
        if best is None:
            best = self._begin_anew(duals, curvature, rule)
        self._duals = duals
        return best

    def _find(self, rule: Rule) -> Found:
        return Found(*self.table.find_best(rule))  # type: ignore[arg-type]

    def _begin(self, duals: Duals) -> None:
        if self._table is None:
            self._table = self._make(duals.array.shape[1])
        self._table.set_duals(duals.array)

    def _follow(self, duals: Duals, curvature: Curvature, rule: Rule) -> Found | None:
        """Apply the changes since the last call; None where there is no way, or too long a one, or too much drift."""
        n_new = curvature.n_steps - self._n_priced
        if self._table is None or self._duals is None:
            return None
        if not (duals is self._duals or (duals.by_steps and n_new > 0)):
            return None
        if rule != "gain" and n_new > self._table.n_outputs:
            return None  # one sum over all rows per output is less than one per step
        if rule == "gain" and self._n_curved != self._n_priced:
            return None
        if n_new == 0:
            return self._find(rule)
        for k in range(self._n_priced, curvature.n_steps):
            direction, output, denominator = curvature.step(k)
            best = Found(*self._table.change(direction, output, denominator, rule))  # type: ignore[arg-type]
            self._n_priced += 1
        self._n_curved = self._n_priced if rule == "gain" else None  # other rules may have left out steps before
        return None if self._table.drift > DRIFT_TOL * best.max_price else best

    def _begin_anew(self, duals: Duals, curvature: Curvature, rule: Rule) -> Found:
        """Price all candidates from the duals themselves."""
        self._begin(duals)
        self._n_priced = curvature.n_steps
        if rule == "gain":
            if self._n_curved is None or self._n_curved > curvature.n_steps:
                self.table.set_curvature(curvature.diagonal)
                self._n_curved = 0
            for k in range(self._n_curved, curvature.n_steps):
                direction, _, denominator = curvature.step(k)
                self.table.change_curvature(direction, denominator)
            self._n_curved = curvature.n_steps
        return self._find(rule)
