"""Checkpoints, from which a fit that was killed goes on to the same model."""

from cgens.checkpoints.checkpoint import Checkpoint
from cgens.checkpoints.interfaces import ResumableMaster, ResumablePricer

__all__ = ["Checkpoint", "ResumableMaster", "ResumablePricer"]
