"""Master problems: what the ensemble optimises. One a file."""

from cgens.masters.hinge import Hinge

__all__ = ["Hinge"]
