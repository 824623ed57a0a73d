"""Ensembles that solve the SVM problem itself, by column generation."""

from importlib.metadata import version

from cgens.c_path import path
from cgens.colgen import generate_columns
from cgens.estimators import CGEnsClassifier, CGEnsClassifierCV, CGEnsRegressor, CGEnsRegressorCV, FourierSelector

__all__ = [
    "CGEnsClassifier",
    "CGEnsClassifierCV",
    "CGEnsRegressor",
    "CGEnsRegressorCV",
    "FourierSelector",
    "__version__",
    "generate_columns",
    "path",
]
__version__ = version("cgens")
