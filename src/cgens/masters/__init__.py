"""Master problems: the objectives that ensembles minimize, one per module."""

from cgens.masters.adaboost import AdaBoost
from cgens.masters.adaboost_ecc import AdaBoostECC
from cgens.masters.box_dual import BoxDualLoss
from cgens.masters.epsilon_insensitive import EpsilonInsensitive
from cgens.masters.hinge import Hinge
from cgens.masters.huber import Huber
from cgens.masters.least_squares import LeastSquares, Squared
from cgens.masters.liblinear import Liblinear
from cgens.masters.logistic import Logistic
from cgens.masters.loss import Loss
from cgens.masters.lpboost import LPBoost
from cgens.masters.multiboost import MultiBoost
from cgens.masters.one_class import OneClass
from cgens.masters.poisson import Poisson
from cgens.masters.quantile import Quantile
from cgens.masters.smooth import SmoothLoss
from cgens.masters.squared_hinge import SquaredHinge

__all__ = [
    "AdaBoost",
    "AdaBoostECC",
    "BoxDualLoss",
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "LPBoost",
    "LeastSquares",
    "Liblinear",
    "Logistic",
    "Loss",
    "MultiBoost",
    "OneClass",
    "Poisson",
    "Quantile",
    "SmoothLoss",
    "Squared",
    "SquaredHinge",
]
