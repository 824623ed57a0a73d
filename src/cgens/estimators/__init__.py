"""scikit-learn estimators."""

from cgens.estimators.classifier import CGEnsClassifier

__all__ = ["CGEnsClassifier"]
