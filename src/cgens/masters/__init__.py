"""Master problems: the objectives that ensembles minimize, one per module."""

from cgens.masters.adaboost import AdaBoost
from cgens.masters.adaboost_ecc import AdaBoostECC
from cgens.masters.hinge import Hinge
from cgens.masters.least_squares import LeastSquares
from cgens.masters.liblinear import Liblinear
from cgens.masters.lpboost import LPBoost
from cgens.masters.multiboost import MultiBoost

__all__ = ["AdaBoost", "AdaBoostECC", "Hinge", "LPBoost", "LeastSquares", "Liblinear", "MultiBoost"]
