"""Ensembles that solve the SVM problem itself, by column generation."""

from importlib.metadata import version

from cgens.colgen import generate_columns
from cgens.estimators import CGEnsClassifier

__all__ = ["CGEnsClassifier", "__version__", "generate_columns"]
__version__ = version("cgens")
