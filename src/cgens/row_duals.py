"""The duals of the rows of X, as stored by a fitted model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cgens.sample_order import SampleOrder
from cgens.types import Floats, Integers


@dataclass(frozen=True, eq=False)
class RowDuals:
    """The nonzero signed duals, by row of X.

    Attributes
    ----------
    rows : ndarray of shape (k,)
    values : ndarray of shape (k, l)
    n_rows : int
    derivable : bool
        Whether they follow from the decisions, as those of a smooth loss do: a pickle then omits them.
    """

    rows: Integers
    values: Floats | None
    n_rows: int
    derivable: bool

    @staticmethod
    def of(duals: Floats, order: SampleOrder, derivable: bool) -> RowDuals:
        """Return the duals of the rows of X, given those of the rows of the fit, shape (m, l)."""
        spread = order.spread_duals(duals)
        rows = np.flatnonzero(spread.any(axis=1))
        return RowDuals(rows, spread[rows], len(spread), derivable)

    def array(self) -> Floats:
        """Return the duals of all rows, shape (n, l), or (n,) if there is one output."""
        if self.values is None:
            raise AttributeError(
                "The duals of this model are not pickled because they follow from its decisions: they are minus the "
                "weight of each row times the derivative of the loss, times C_ if there is one."
            )
        duals = np.zeros((self.n_rows, self.values.shape[1]))
        duals[self.rows] = self.values
        return duals[:, 0] if duals.shape[1] == 1 else duals

    def __copy__(self) -> RowDuals:
        return self  # immutable

    def __deepcopy__(self, memo: object) -> RowDuals:
        return self

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        return {**state, "rows": None, "values": None} if self.derivable else state
