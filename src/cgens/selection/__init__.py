"""Selection of penalties and families by exact leave-one-out errors, without cross-validation."""

from cgens.selection.leave_one_out import LeaveOneOut, loo
from cgens.selection.ridge_path import RidgePath

__all__ = ["LeaveOneOut", "RidgePath", "loo"]
