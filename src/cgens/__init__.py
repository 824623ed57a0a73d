"""Ensembles that solve the SVM problem itself, by column generation."""

from cgens.checkpoints import Checkpoint
from cgens.colgen import generate_columns
from cgens.estimators import (
    CGEnsClassifier,
    CGEnsClassifierCV,
    CGEnsOutlierDetector,
    CGEnsRegressor,
    CGEnsRegressorCV,
    FourierSelector,
)
from cgens.regularization_path import path
from cgens.version import __version__

__all__ = [
    "CGEnsClassifier",
    "CGEnsClassifierCV",
    "CGEnsOutlierDetector",
    "CGEnsRegressor",
    "CGEnsRegressorCV",
    "Checkpoint",
    "FourierSelector",
    "__version__",
    "generate_columns",
    "path",
]
