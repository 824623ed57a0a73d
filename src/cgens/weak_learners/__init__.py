"""Families of weak learners, one per file."""

from cgens.weak_learners.box import Box, BoxLearner
from cgens.weak_learners.fourier import Fourier, FourierLearner
from cgens.weak_learners.linear import Linear, LinearLearner
from cgens.weak_learners.mixture import MemberLearner, Mixture
from cgens.weak_learners.perceptron import Perceptron, PerceptronLearner
from cgens.weak_learners.pool import Pool
from cgens.weak_learners.scaled import ScaledLearner
from cgens.weak_learners.sklearn_learner import FittedLearner, SklearnLearner
from cgens.weak_learners.stump import Stump, StumpLearner
from cgens.weak_learners.tree import Tree, TreeLearner

__all__ = [
    "Box",
    "BoxLearner",
    "FittedLearner",
    "Fourier",
    "FourierLearner",
    "Linear",
    "LinearLearner",
    "MemberLearner",
    "Mixture",
    "Perceptron",
    "PerceptronLearner",
    "Pool",
    "ScaledLearner",
    "SklearnLearner",
    "Stump",
    "StumpLearner",
    "Tree",
    "TreeLearner",
]
