"""scikit-learn estimators."""

from cgens.estimators.classifier import CGEnsClassifier
from cgens.estimators.classifier_cv import CGEnsClassifierCV
from cgens.estimators.fourier_selector import FourierSelector
from cgens.estimators.outlier_detector import CGEnsOutlierDetector
from cgens.estimators.regressor import CGEnsRegressor
from cgens.estimators.regressor_cv import CGEnsRegressorCV

__all__ = [
    "CGEnsClassifier",
    "CGEnsClassifierCV",
    "CGEnsOutlierDetector",
    "CGEnsRegressor",
    "CGEnsRegressorCV",
    "FourierSelector",
]
