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
    """A pricer that can be saved after a round; its random generator is saved by the loop."""

    def get_state(self) -> dict[str, AnyArray]:
        """Return everything that later searches depend on, except for rows, random generator and taken columns."""

    def set_state(self, state: Mapping[str, AnyArray], columns: Sequence[Column]) -> None:
        """Restore a state, given all columns that were found so far."""


def resumable_master(master: object) -> ResumableMaster:
    """Return the restricted master; raise TypeError if it cannot be saved."""
    if not isinstance(master, ResumableMaster):
        raise TypeError(_MESSAGE.format(type(master).__name__))
    return master


def resumable_pricer(pricer: object) -> ResumablePricer:
    """Return the pricer; raise TypeError if it cannot be saved."""
    if not isinstance(pricer, ResumablePricer):
        raise TypeError(_MESSAGE.format(type(pricer).__name__))
    return pricer


_MESSAGE = "Checkpoints need get_state and set_state (cgens.checkpoints), which {} does not have."
