"""Master problems: what the ensemble optimises. One a file."""

from cgens.masters.hinge import Hinge
from cgens.masters.least_squares import LeastSquares

__all__ = ["Hinge", "LeastSquares"]
