"""What masters and families need so that a fit can be resumed from a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from cgens.types import AnyArray, Column, Duals


@runtime_checkable
class ResumableMaster(Protocol):
    """A restricted master that can be saved after a solve, and restored to give the same bits from there on."""

    def get_state(self) -> dict[str, AnyArray]:
        """Return everything that later solves depend on, except for target, weights and columns."""

    def set_state(self, state: Mapping[str, AnyArray], columns: Sequence[AnyArray]) -> Duals:
        """Restore a state in a problem without columns, given the columns; return the duals of the last solve."""


@runtime_checkable
class ResumablePricer(Protocol):
    """A pricer that keeps more between two rounds than its random generator, which the loop saves."""

    def get_state(self) -> dict[str, AnyArray]:
        """Return everything that later searches depend on, except for rows, random generator and taken columns."""

    def set_state(self, state: Mapping[str, AnyArray], columns: Sequence[Column]) -> None:
        """Restore a state, given all columns that were found so far."""
