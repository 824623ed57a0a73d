"""A master problem on a part of the rows, for fits that hold out the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from cgens.checkpoints.interfaces import resumable_master
from cgens.types import AnyArray, Curvature, Duals, Floats, Master, MasterSolution, Poll, RestrictedMaster


class HeldOut:
    """The master problem with other row weights, some of which are 0: rows of weight 0 have no loss, and duals of 0.

    A family sees all rows. Its pool is therefore that of a later fit to all of them.

    Parameters
    ----------
    master : Master
    weight : ndarray of shape (m,)
        Replaces the weights of the rows; not all 0.
    """

    def __init__(self, master: Master, weight: Floats) -> None:
        self.master, self.weight = master, weight
        self.repeats, self.positive_prices, self.smooth = master.repeats, master.positive_prices, master.smooth

    def begin(self, target: Floats, sample_weight: Floats, n_threads: int) -> RestrictedHeldOut:
        """Return the problem without columns, on the rows of positive weight."""
        kept = np.flatnonzero(self.weight > 0)
        restricted = self.master.begin(np.ascontiguousarray(target[kept]), self.weight[kept], n_threads)
        return RestrictedHeldOut(restricted, kept, len(target))


class RestrictedHeldOut:
    """A restricted master on a part of the rows."""

    def __init__(self, restricted: RestrictedMaster, kept: AnyArray, n_rows: int) -> None:
        self._restricted, self._kept, self._n_rows = restricted, kept, n_rows

    def add(self, response: AnyArray) -> None:
        """Add one column of shape (m,)."""
        self._restricted.add(response[self._kept])

    def solve(self, tol: float, interrupted: Poll, quick: bool = False) -> MasterSolution:
        """Solve; the duals are those of all rows."""
        solution = self._restricted.solve(tol, interrupted, quick)
        return replace(solution, duals=HeldOutDuals(solution.duals, self._kept, self._n_rows))

    def get_state(self) -> dict[str, AnyArray]:
        """Return the state of the restricted master."""
        return resumable_master(self._restricted).get_state()

    def set_state(self, state: Mapping[str, AnyArray], columns: Sequence[AnyArray]) -> Duals:
        """Restore a state, given the columns on all rows."""
        own = [column[self._kept] for column in columns]
        duals = resumable_master(self._restricted).set_state(state, own)
        return HeldOutDuals(duals, self._kept, self._n_rows)

    def pool_bound(self, duals: Duals, energy: float, largest: float) -> float:
        """Return the bound of the restricted master."""
        own = duals.own if isinstance(duals, HeldOutDuals) else Duals(duals.array[self._kept])
        return self._restricted.pool_bound(own, energy, largest)


class HeldOutDuals(Duals):
    """Duals of a part of the rows; those of the others are 0."""

    def __init__(self, own: Duals, kept: AnyArray, n_rows: int) -> None:
        self.own, self._kept, self._n_rows = own, kept, n_rows
        self.by_steps, self.rough, self.new_problem = own.by_steps, own.rough, own.new_problem
        if own.curvature is not None:
            self.curvature = HeldOutCurvature(own.curvature, kept, n_rows)

    @cached_property
    def array(self) -> Floats:
        """The duals of all rows, shape (m, l)."""
        return spread_rows(self.own.array, self._kept, self._n_rows)

    @property
    def l1_norm(self) -> float:
        """The sum of |R|, or an upper bound."""
        return self.own.l1_norm


class HeldOutCurvature:
    """The curvature of a part of the rows: P is 0 in the others."""

    def __init__(self, own: Curvature, kept: AnyArray, n_rows: int) -> None:
        self._own, self._kept, self._n_rows = own, kept, n_rows
        self.n_steps = own.n_steps

    @property
    def diagonal(self) -> Floats:
        """The vector v, shape (m,)."""
        return spread_rows(self._own.diagonal, self._kept, self._n_rows)

    def step(self, j: int) -> tuple[Floats, Floats, float]:
        """Return p, k and 1 + h'p of the `j`-th column."""
        direction, output, denominator = self._own.step(j)
        return spread_rows(direction, self._kept, self._n_rows), output, denominator

    def quadratic(self, responses: AnyArray) -> Floats:
        """Return g'Pg for columns g of shape (m, n), shape (n,)."""
        return self._own.quadratic(responses[self._kept])


def spread_rows(values: Floats, kept: AnyArray, n_rows: int) -> Floats:
    """Return an array with these values in the rows `kept`, and 0 in the others."""
    spread = np.zeros((n_rows, *values.shape[1:]))
    spread[kept] = values
    return spread
