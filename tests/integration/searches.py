"""Small searches for C and the number of columns, and data for them."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine, make_multilabel_classification

from cgens import CGEnsClassifierCV, CGEnsRegressorCV
from tests.tolerances import CLOSED_FORM

WINES = load_wine(return_X_y=True)
TUMOURS = tuple(part[:150] for part in load_breast_cancer(return_X_y=True))
PATIENTS = tuple(part[:150] for part in load_diabetes(return_X_y=True))
TOPICS = make_multilabel_classification(n_samples=100, n_features=6, n_classes=3, random_state=3)
SMALL = {"Cs": 3, "n_estimators": 12, "columns": [2, 5, 12], "cv": 3, "n_jobs": 1}


def classify(X=WINES[0], y=WINES[1], weight=None, **options):
    return CGEnsClassifierCV(**{**SMALL, **options}).fit(X, y, sample_weight=weight)


def regress(X=PATIENTS[0], y=PATIENTS[1], weight=None, **options):
    return CGEnsRegressorCV(**{**SMALL, **options}).fit(X, y, sample_weight=weight)


def assert_same_choice(first, second, X):
    assert first.best_params_ == second.best_params_
    assert np.allclose(first.scores_, second.scores_, rtol=CLOSED_FORM, atol=CLOSED_FORM)
    assert first.predict(X).tobytes() == second.predict(X).tobytes()
