"""Selection of penalties and families by exact leave-one-out errors, without cross-validation."""

from cgens.selection.leave_one_out import LeaveOneOut, loo
from cgens.selection.ridge_path import RidgePath
from cgens.selection.weights import honest_weights

__all__ = ["LeaveOneOut", "RidgePath", "honest_weights", "loo"]
