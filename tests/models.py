"""Tables of all estimators and all families of weak learners, small."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.tree import DecisionTreeClassifier

from cgens import (
    CGEnsClassifier,
    CGEnsClassifierCV,
    CGEnsOutlierDetector,
    CGEnsRegressor,
    CGEnsRegressorCV,
    FourierSelector,
)
from cgens.baselines import (
    AdaBoostClassifier,
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    KernelSVC,
    LPBoostClassifier,
    MultiBoostClassifier,
    RandomFourierSVC,
)
from cgens.weak_learners import Box, Fourier, Linear, Mixture, Perceptron, SklearnLearner, Stump, Tree
from tests.integration.small_data import BY_KIND, Data
from tests.tolerances import CLOSED_FORM

SMALL = {"n_estimators": 10, "random_state": 0, "n_jobs": 1}
SEARCH = {**SMALL, "Cs": 3, "stages": [2, 5, 10], "cv": 3}

#: name: (estimator, kind of target)
Models = dict[str, tuple[BaseEstimator, str]]

LEAST_SQUARES: Models = {
    "binary, least squares": (CGEnsClassifier(loss="least_squares", **SMALL), "binary"),
    "multiclass": (CGEnsClassifier(loss="least_squares", **SMALL), "multiclass"),
    "multiclass, max": (CGEnsClassifier(loss="least_squares", pricing="max", **SMALL), "multiclass"),
    "multilabel": (CGEnsClassifier(loss="least_squares", **SMALL), "multilabel"),
    "regression": (CGEnsRegressor("stump", **SMALL), "regression"),
    "regression, max": (CGEnsRegressor(pricing="max", **SMALL), "regression"),
    "multioutput": (CGEnsRegressor("stump", **SMALL), "multioutput"),
    "multioutput, max": (CGEnsRegressor(pricing="max", **SMALL), "multioutput"),
}
HINGE: Models = {
    "binary": (CGEnsClassifier(loss="hinge", **SMALL), "binary"),
    "binary, balanced": (CGEnsClassifier(loss="hinge", class_weight="balanced", **SMALL), "binary"),
    "multiclass, hinge": (CGEnsClassifier(loss="hinge", **SMALL), "multiclass"),
    "multilabel, hinge": (CGEnsClassifier(loss="hinge", **SMALL), "multilabel"),
}
BOX_REGRESSION: Models = {
    "quantile": (CGEnsRegressor(loss="quantile", C=0.05, **SMALL), "regression"),
    "epsilon-insensitive": (CGEnsRegressor(loss="epsilon_insensitive", C=0.03, **SMALL), "regression"),
    "epsilon-insensitive, multioutput": (CGEnsRegressor(loss="epsilon_insensitive", **SMALL), "multioutput"),
}
#: Their predictions do not have the form of y.
OTHER_FORMS: Models = {
    "several quantiles": (CGEnsRegressor(loss="quantile", quantile=[0.8, 0.2], **SMALL), "regression"),
    "outliers": (CGEnsOutlierDetector(nu=0.3, **SMALL), "binary"),
}
SMOOTH: Models = {
    "binary, logistic": (CGEnsClassifier(loss="logistic", **SMALL), "binary"),
    "multiclass, softmax": (CGEnsClassifier(loss="logistic", **SMALL), "multiclass"),
    "multilabel, logistic": (CGEnsClassifier(loss="logistic", **SMALL), "multilabel"),
    "binary, squared hinge": (CGEnsClassifier(loss="squared_hinge", **SMALL), "binary"),
    "Huber, multioutput": (CGEnsRegressor(loss="huber", **SMALL), "multioutput"),
    "Poisson": (CGEnsRegressor(loss="poisson", **SMALL), "counts"),
}
PLAIN: Models = {**HINGE, **LEAST_SQUARES, **BOX_REGRESSION, **SMOOTH}
STAGE_WISE: Models = {
    "AdaBoost": (AdaBoostClassifier(**SMALL), "binary"),
    "AdaBoost.MH": (AdaBoostMHClassifier(**SMALL), "multiclass"),
    "AdaBoost.MH, multilabel": (AdaBoostMHClassifier(**SMALL), "multilabel"),
    "AdaBoost.ECC": (AdaBoostECCClassifier(**SMALL), "multiclass"),
}
TOTALLY_CORRECTIVE: Models = {
    "LPBoost": (LPBoostClassifier(**SMALL), "binary"),
    "LPBoost, nu": (LPBoostClassifier(nu=0.6, **SMALL), "binary"),
    "MultiBoost": (MultiBoostClassifier(**SMALL), "multiclass"),
}
BOOSTERS: Models = {**STAGE_WISE, **TOTALLY_CORRECTIVE}
#: Everything that generates columns itself; the weak learners are stumps by default.
ON_THE_LOOP: Models = {**PLAIN, **BOOSTERS}
SEARCHES: Models = {
    "search, binary": (CGEnsClassifierCV(loss="hinge", **SEARCH), "binary"),
    "search, binary, least squares": (CGEnsClassifierCV(loss="least_squares", **SEARCH), "binary"),
    "search, multiclass": (CGEnsClassifierCV(loss="least_squares", **SEARCH), "multiclass"),
    "search, multiclass, max": (CGEnsClassifierCV(loss="least_squares", pricing="max", **SEARCH), "multiclass"),
    "search, multiclass, hinge": (CGEnsClassifierCV(loss="hinge", **SEARCH), "multiclass"),
    "search, multilabel": (CGEnsClassifierCV(loss="least_squares", **SEARCH), "multilabel"),
    "search, multilabel, hinge": (CGEnsClassifierCV(loss="hinge", **SEARCH), "multilabel"),
    "search, regression": (CGEnsRegressorCV(**SEARCH), "regression"),
    "search, multioutput": (CGEnsRegressorCV(**SEARCH), "multioutput"),
    "search, quantile": (CGEnsRegressorCV(loss="quantile", **{**SEARCH, "Cs": [0.02, 0.1, 0.5]}), "regression"),
}
ENSEMBLES: Models = {**ON_THE_LOOP, **SEARCHES}
WRAPPERS: Models = {
    "stump kernel": (KernelSVC(), "multiclass"),
    "perceptron kernel": (KernelSVC("perceptron"), "binary"),
    "Gaussian kernel": (KernelSVC("rbf"), "multiclass"),
    "random Fourier": (RandomFourierSVC(n_components=50, random_state=0), "multiclass"),
}
SELECTOR: Models = {
    "selector": (FourierSelector(10, Fourier(n_candidates=50), random_state=0, n_jobs=1), "binary"),
}
MODELS: Models = {**ENSEMBLES, **WRAPPERS, **SELECTOR, **OTHER_FORMS}

#: Every family in all its variants: with a fixed pool, fresh candidates or learned ones, with few inputs, with signs.
FAMILIES: dict[str, Any] = {
    "stump, 16 bins": Stump(16),
    "perceptron, pool": Perceptron(80, learn=False),
    "perceptron, fresh": Perceptron(40, pool="fresh", standardize=True, learn=False),
    "perceptron, learned": Perceptron(standardize=True, learn=True),
    "perceptron, learned, few inputs": Perceptron(80, n_inputs=[1, 2]),
    "fourier, pool": Fourier(0.1, 80, learn=False),
    "fourier, two widths, few inputs": Fourier(["median", 0.3], 80, n_inputs=[1, 2], standardize=True, learn=False),
    "fourier, orthogonal": Fourier("median", 80, orthogonal=True, learn=False),
    "fourier, fresh": Fourier(n_candidates=40, pool="fresh", learn=False),
    "fourier, sparse draws": Fourier(n_candidates=80, draw="sparse"),
    "fourier, pairs": Fourier(n_candidates=80, standardize=True, draw="pairs"),
    "fourier, metric": Fourier("median", 80, standardize=True, orthogonal=True, metric="learned"),
    "fourier, sparse in a metric": Fourier([0.3, "scale"], 80, n_inputs=[1, 2], draw="sparse", metric="learned"),
    "fourier, fresh pairs in a metric": Fourier(n_candidates=40, pool="fresh", draw="pairs", metric="learned"),
    "fourier, learned": Fourier(learn=True),
    "fourier, learned or drawn": Fourier(n_candidates=80, n_inputs=2, standardize=True),
    "tree, four leaves": Tree(4, min_samples_leaf=3),
    "tree, signs": Tree(3, leaves="sign", max_features=1.0, max_bins=16),
    "tree, random": Tree(6, min_samples_leaf=2, max_samples=0.6, splitter="random"),
    "box, pool": Box(n_candidates=80),
    "box, fresh": Box([1, 2, 3], 40, pool="fresh"),
    "linear": Linear(),
    "scikit-learn": SklearnLearner(DecisionTreeClassifier(max_depth=2)),
    "mixture": Mixture([Stump(16), (Fourier(n_candidates=40, learn=False), [0, -1]), Tree(3), Linear()]),
    "mixture with a metric": ["stump", (Fourier(n_candidates=40, metric="learned"), [0, -1])],
    "list, learned": ["stump", (Perceptron(learn=True), [-1]), (Fourier(learn=True), [0, -1]), Box(n_candidates=30)],
}

#: With rows, labels and copies these do the same as another model.
VARIANTS = [name for name in MODELS if name.endswith((" max", "balanced", "least squares", "multilabel, hinge"))]

every_model = pytest.mark.parametrize("name", [name for name in MODELS if name not in (*VARIANTS, *OTHER_FORMS)])
every_ensemble = pytest.mark.parametrize("name", [name for name in ENSEMBLES if name not in VARIANTS])
every_on_the_loop = pytest.mark.parametrize("name", ON_THE_LOOP)
every_family = pytest.mark.parametrize("family", FAMILIES)


def make(name: str, **options: Any) -> Any:
    """Return a new estimator of this name, with those options that are among its parameters."""
    estimator = clone(MODELS[name][0])
    return estimator.set_params(**{key: own for key, own in options.items() if key in estimator.get_params()})


def data_of(name: str) -> Data:
    return BY_KIND[MODELS[name][1]]()


@cache
def _fitted(name: str) -> Any:
    return make(name).fit(*data_of(name))


def fitted(name: str, **options: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return a fitted model, which the caller may change, and its data."""
    X, y = data_of(name)
    return (make(name, **options).fit(X, y) if options else deepcopy(_fitted(name))), X, y


def answer(model: Any, X: Any) -> np.ndarray:
    """Return the most detailed output of a model."""
    for method in ("decision_function", "transform", "predict"):
        if hasattr(model, method):
            return getattr(model, method)(X)
    raise AssertionError(f"{model} has no output")


def assert_same_model(first: Any, second: Any, X: np.ndarray) -> None:
    """Compare learners, and the bits of weights, certificates and outputs."""
    if hasattr(first, "best_params_"):
        assert first.best_params_ == second.best_params_
        assert np.allclose(first.scores_, second.scores_, rtol=CLOSED_FORM, atol=CLOSED_FORM)
    if hasattr(first, "ensemble_"):
        assert first.ensemble_.learners == second.ensemble_.learners
        assert first.ensemble_.weights.tobytes() == second.ensemble_.weights.tobytes()
        assert first.ensemble_.intercept.tobytes() == second.ensemble_.intercept.tobytes()
    if hasattr(first, "certificate_"):
        assert first.certificate_ == second.certificate_
    assert answer(first, X).tobytes() == answer(second, X).tobytes()
