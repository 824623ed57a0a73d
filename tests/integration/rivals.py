"""Every rival, small, and data that it takes."""

from __future__ import annotations

import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from cgens.baselines import (
    AdaBoostClassifier,
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    KernelSVC,
    LPBoostClassifier,
    MultiBoostClassifier,
    RandomFourierSVC,
)
from tests.integration.small_data import noisy

FLOWERS = load_iris(return_X_y=True)

SMALL = {"n_estimators": 10, "random_state": 0, "n_jobs": 1}
BINARY = {
    "AdaBoost": AdaBoostClassifier(**SMALL),
    "LPBoost": LPBoostClassifier(**SMALL),
    "LPBoost of nu": LPBoostClassifier(nu=0.6, **SMALL),
}
FOR_MORE_CLASSES = {
    "AdaBoost.MH": AdaBoostMHClassifier(**SMALL),
    "AdaBoost.ECC": AdaBoostECCClassifier(**SMALL),
    "MultiBoost": MultiBoostClassifier(**SMALL),
}
ON_THE_LOOP = {**BINARY, **FOR_MORE_CLASSES}
WRAPPERS = {
    "stump kernel": KernelSVC(),
    "perceptron kernel": KernelSVC("perceptron"),
    "Gaussian kernel": KernelSVC("rbf"),
    "random Fourier": RandomFourierSVC(n_components=50, random_state=0),
}
RIVALS = {**ON_THE_LOOP, **WRAPPERS}
STAGE_WISE = ["AdaBoost", "AdaBoost.MH", "AdaBoost.ECC"]

every_rival = pytest.mark.parametrize("name", RIVALS)
every_on_the_loop = pytest.mark.parametrize("name", ON_THE_LOOP)
every_for_more_classes = pytest.mark.parametrize("name", FOR_MORE_CLASSES)


def fit(name, X, y, weight=None, **options):
    return clone(RIVALS[name]).set_params(**options).fit(X, y, sample_weight=weight)


def data(name):
    """Return three classes where the rival takes them, else two."""
    return FLOWERS if name in FOR_MORE_CLASSES else noisy()


def assert_same_bits(one, other, X):
    assert one.ensemble_.learners == other.ensemble_.learners
    assert one.certificate_ == other.certificate_
    assert one.decision_function(X).tobytes() == other.decision_function(X).tobytes()
    assert one.duals_.tobytes() == other.duals_.tobytes()
