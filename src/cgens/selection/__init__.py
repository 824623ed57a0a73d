"""Selection of penalties and families by exact leave-one-out errors, without cross-validation."""

from cgens.selection.copies import copies_of
from cgens.selection.leave_one_out import LeaveOneOut, loo
from cgens.selection.normal_equations import NormalEquations
from cgens.selection.ridge_factor import left_out_residuals
from cgens.selection.ridge_path import RidgePath
from cgens.selection.select_columns import select_columns
from cgens.selection.weights import honest_weights

__all__ = [
    "LeaveOneOut",
    "NormalEquations",
    "RidgePath",
    "copies_of",
    "honest_weights",
    "left_out_residuals",
    "loo",
    "select_columns",
]
