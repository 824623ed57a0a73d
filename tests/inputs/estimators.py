"""All estimators and families, small, and their data: the names in the tables of this folder."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.tree import DecisionTreeClassifier

import cgens.baselines as other
from cgens import (
    CGEnsClassifier,
    CGEnsClassifierCV,
    CGEnsOutlierDetector,
    CGEnsRegressor,
    CGEnsRegressorCV,
    generate_columns,
)
from cgens.inspection import check_certificate
from cgens.masters import Hinge, LeastSquares, Logistic
from cgens.weak_learners import Box, Fourier, Linear, Perceptron, SklearnLearner, Stump, Tree
from tests.integration.small_data import noisy
from tests.tolerances import NEGATIVE_GAP

X, Y = noisy()
REGRESSION = 3 + np.sin(2 * X[:, 0]) + X[:, 1] ** 2


class Loop(BaseEstimator):
    """`generate_columns`, which is also public, with the interface of an estimator."""

    def __init__(self, master, tol=1e-3, pricing="max", rows=None):
        self.master, self.tol, self.pricing, self.rows = master, tol, pricing, rows

    def fit(self, X, y, sample_weight=None):
        options = {"rows": self.rows, "tol": self.tol, "pricing": self.pricing, "max_columns": 5}
        self.ensemble_, _ = generate_columns(self.master, Stump(), X, y, sample_weight=sample_weight, **options)
        return self

    def predict(self, X):
        return self.ensemble_.decision(X)


SMALL = {"n_estimators": 5, "random_state": 0, "n_jobs": 1}
SEARCH = {**SMALL, "Cs": 2, "stages": [2, 5], "cv": 3}
FAMILIES = {
    "perceptron": Perceptron(100),
    "learned perceptron": Perceptron(learn=True),
    "fourier": Fourier(n_candidates=100),
    "learned fourier": Fourier(learn=True),
    "fresh fourier": Fourier(n_candidates=50, pool="fresh", learn=False),
    "stump": Stump(),
    "tree": Tree(4, min_samples_leaf=1),
    "box": Box(n_candidates=50),
    "linear": Linear(),
    "sklearn": SklearnLearner(DecisionTreeClassifier(max_depth=2)),
    "list": [Stump(), Fourier(n_candidates=50)],
}
ESTIMATORS: dict[str, Any] = {
    "CGEnsClassifier": CGEnsClassifier("stump", **SMALL),
    "hinge": CGEnsClassifier(loss="hinge", **SMALL),
    "hinge search": CGEnsClassifierCV(loss="hinge", **SEARCH),
    "CGEnsRegressor": CGEnsRegressor("stump", **SMALL),
    "CGEnsClassifierCV": CGEnsClassifierCV(**SEARCH),
    "CGEnsRegressorCV": CGEnsRegressorCV(**SEARCH),
    "outliers": CGEnsOutlierDetector(nu=0.3, **SMALL),
    "quantile": CGEnsRegressor(loss="quantile", **SMALL),
    "tube": CGEnsRegressor(loss="epsilon_insensitive", **SMALL),
    "AdaBoost": other.AdaBoostClassifier(**SMALL),
    "AdaBoost.MH": other.AdaBoostMHClassifier(**SMALL),
    "AdaBoost.ECC": other.AdaBoostECCClassifier(**SMALL),
    "MultiBoost": other.MultiBoostClassifier(**SMALL),
    "LPBoost": other.LPBoostClassifier(**SMALL),
    "nu-LPBoost": other.LPBoostClassifier(nu=0.6, **SMALL),
    "stump kernel": other.KernelSVC(),
    "perceptron kernel": other.KernelSVC("perceptron"),
    "Gaussian kernel": other.KernelSVC("rbf"),
    "random Fourier": other.RandomFourierSVC(n_components=50, random_state=0),
    "loop": Loop(Hinge(1.0)),
    "loop with squares": Loop(LeastSquares(1.0)),
    "loop with logistic": Loop(Logistic(1.0)),
    "Huber": CGEnsRegressor(loss="huber", **SMALL),
    **{name: CGEnsClassifier(family, **SMALL) for name, family in FAMILIES.items()},
}
GROUPS = {
    "searches": "CGEnsClassifierCV, CGEnsRegressorCV",
    "regressors": "CGEnsRegressor, CGEnsRegressorCV",
    "CGEns": "CGEnsClassifier, CGEnsClassifierCV, regressors",
    "box regressors": "quantile, tube",
    "stage-wise": "AdaBoost, AdaBoost.MH, AdaBoost.ECC",
    "boosting": "stage-wise, LPBoost, MultiBoost",
    "baselines": "boosting, Gaussian kernel, random Fourier",
    "ensembles": "CGEns, boosting",
    "classifiers": "CGEnsClassifier, CGEnsClassifierCV, baselines",
    "all": "CGEns, baselines",
    "loops": "loop, loop with squares, loop with logistic",
    "rotated": "perceptron, learned perceptron, fourier, learned fourier, fresh fourier",
    "exact": "stump, tree, box, linear",
    "families": "rotated, exact, sklearn, list",
}


def named(who: str) -> list[str]:
    """Return the names in a list of names and groups."""
    return [name for part in who.split(", ") for name in (named(GROUPS[part]) if part in GROUPS else [part])]


def data(name: str) -> dict[str, Any]:
    """Return X and a target that the estimator accepts."""
    return {
        "X": X,
        "y": REGRESSION
        if name in named("regressors, box regressors, Huber")
        else 2.0 * Y - 1.0
        if name in named("loops")
        else Y,
    }


def fit(name: str, params: dict[str, Any] | None = None, **given: Any) -> Any:
    """Return a fit of the named estimator to its data, some of which may be replaced."""
    return clone(ESTIMATORS[name]).set_params(**params or {}).fit(**{**data(name), **given})


def fit_and_warnings(name: str, params: dict[str, Any] | None = None, **given: Any) -> tuple[Any, list[Any]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return fit(name, params, **given), caught


def sound(name: str, params: dict[str, Any] | None = None, **given: Any) -> Any:
    """Return a model that was fitted without a warning, and is sound."""
    model, caught = fit_and_warnings(name, params, **given)
    assert [str(warning.message) for warning in caught] == []
    assert_sound(model, **{**data(name), **given})
    assert getattr(model, "n_columns_", 1) >= 1
    return model


def assert_sound(model: Any, X: Any, y: Any, sample_weight: Any = None, tol: float | None = None) -> None:
    assert np.all(np.isfinite(getattr(model, "decision_function", model.predict)(X)))
    if hasattr(model, "certificate_"):
        primal, dual = model.certificate_.primal, model.certificate_.dual
        assert dual <= primal + NEGATIVE_GAP * abs(primal)
        without_dual = type(model) in [type(ESTIMATORS[name]) for name in named("stage-wise")]
        assert without_dual or model.certificate_.relative_gap <= (model.tol if tol is None else tol)
    if isinstance(model, CGEnsClassifier | CGEnsRegressor | CGEnsOutlierDetector):
        assert check_certificate(model, X, y, sample_weight).problems == ()
