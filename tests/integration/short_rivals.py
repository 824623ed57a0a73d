"""Every rival with five columns, for bad and odd input."""

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

X, Y = noisy()
FLOWERS = load_iris(return_X_y=True)

ON_THE_LOOP = {
    "AdaBoost": AdaBoostClassifier(n_estimators=5),
    "AdaBoost.MH": AdaBoostMHClassifier(n_estimators=5),
    "AdaBoost.ECC": AdaBoostECCClassifier(n_estimators=5, random_state=0),
    "MultiBoost": MultiBoostClassifier(n_estimators=5),
    "LPBoost": LPBoostClassifier(n_estimators=5),
    "LPBoost of nu": LPBoostClassifier(nu=0.6, n_estimators=5),
}
WRAPPERS = {
    "stump kernel": KernelSVC(),
    "perceptron kernel": KernelSVC("perceptron"),
    "Gaussian kernel": KernelSVC("rbf"),
    "random Fourier": RandomFourierSVC(n_components=20, random_state=0),
}
RIVALS = {**ON_THE_LOOP, **WRAPPERS}
BINARY = ["AdaBoost", "LPBoost", "LPBoost of nu"]
STAGE_WISE = ["AdaBoost", "AdaBoost.MH", "AdaBoost.ECC"]

every_rival = pytest.mark.parametrize("rival", RIVALS)
every_on_the_loop = pytest.mark.parametrize("rival", ON_THE_LOOP)


def fit(rival, X=X, y=Y, weight=None, **options):
    return clone(RIVALS[rival]).set_params(**options).fit(X, y, sample_weight=weight)
