"""Other methods for tables: with their defaults, or tuned by cross-validation over 20 configurations.

Every method gets the same frame or array. LightGBM, XGBoost and HistGradientBoosting take categories by their type,
CatBoost and EBM by their own means; for support vector machines levels are one-hot and gaps medians, for a random
forest levels are numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold, RandomizedSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, SVR

#: HistGradientBoosting refuses categories with more levels than this.
MAX_LEVELS = 254
#: More training rows than these are not given to support vector machines, whose time grows with their square.
SVM_ROWS = 10_000
#: Their parameters are searched on at most this many.
SVM_SEARCH_ROWS = 3000
#: Folds of the searches, with more than `MANY_ROWS` training rows and with fewer.
MANY_ROWS, FEW_FOLDS, MANY_FOLDS = 2000, 3, 5
N_CONFIGURATIONS = 20

#: Constants that were tuned on many other data sets (Holzmüller, Grinsztajn and Steinwart, 2024).
LIGHTGBM_TD = {
    False: {"learning_rate": 0.04, "subsample": 0.75, "num_leaves": 50, "min_child_samples": 40},
    True: {"learning_rate": 0.05, "subsample": 0.7, "num_leaves": 100, "min_child_samples": 3},
}


class EarlyStopped(BaseEstimator):  # type: ignore[misc]
    """LightGBM with tuned constants: 1000 rounds, stopped after 300 without a better loss on a held-out fifth."""

    def __init__(self, regression: bool = False) -> None:
        self.regression = regression

    def fit(self, X: Any, y: Any) -> EarlyStopped:
        """Fit on four fifths."""
        import lightgbm

        made = lightgbm.LGBMRegressor if self.regression else lightgbm.LGBMClassifier
        self.model_ = made(
            n_estimators=1000, subsample_freq=1, min_child_weight=1e-7, verbose=-1, n_jobs=1, random_state=0,
            **LIGHTGBM_TD[self.regression],
        )  # fmt: skip
        few = not self.regression and np.unique(y, return_counts=True)[1].min() < 2
        stratify = None if self.regression or few else y
        kept, held_out = train_test_split(np.arange(len(y)), test_size=0.2, random_state=0, stratify=stratify)
        if not self.regression and set(y[held_out]) - set(y[kept]):
            kept = held_out = np.arange(len(y))
        some = (lambda rows: X.iloc[rows]) if hasattr(X, "iloc") else (lambda rows: X[rows])
        stop = lightgbm.early_stopping(300, verbose=False)
        self.model_.fit(some(kept), y[kept], eval_set=[(some(held_out), y[held_out])], callbacks=[stop])
        return self

    def __getattr__(self, name: str) -> Any:
        if name in ("predict", "predict_proba", "classes_"):
            return getattr(self.model_, name)
        raise AttributeError(name)


class SomeRows(BaseEstimator):  # type: ignore[misc]
    """A model that is fitted on at most `SVM_ROWS` random rows."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: Any) -> SomeRows:
        """Fit on some rows."""
        rows = np.random.default_rng(0).permutation(len(y))[:SVM_ROWS]
        self.model_ = clone(self.model).fit(X.iloc[rows] if hasattr(X, "iloc") else X[rows], y[rows])
        return self

    def __getattr__(self, name: str) -> Any:
        if name in ("predict", "predict_proba", "classes_"):
            return getattr(self.model_, name)
        raise AttributeError(name)


def one_hot(categorical: list[str]) -> Any:
    """Return scaled numbers, with levels as 0 and 1 and medians for gaps."""
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    if not categorical:
        return numbers
    levels = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5, sparse_output=False)
    return make_column_transformer((levels, categorical), remainder=numbers)


def ordinal(categorical: list[str]) -> Any:
    """Return levels as numbers."""
    if not categorical:
        return "passthrough"
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1)
    return make_column_transformer((codes, categorical), remainder="passthrough")


def scaled_svm(regression: bool, categorical: list[str]) -> Any:
    """Return a machine with a Gaussian kernel for scaled inputs and targets."""
    if not regression:
        return make_pipeline(one_hot(categorical), SVC())
    return make_pipeline(one_hot(categorical), TransformedTargetRegressor(SVR(), transformer=StandardScaler()))


def make_svm(regression: bool, categorical: list[str]) -> Any:
    """Return a machine with a Gaussian kernel; with probabilities by Platt's method, for classes."""
    scaled = scaled_svm(regression, categorical)
    return SomeRows(scaled if regression else CalibratedClassifierCV(scaled, ensemble=False))


def make_lightgbm(regression: bool, categorical: list[str], **options: Any) -> Any:
    """Return LightGBM."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    return (LGBMRegressor if regression else LGBMClassifier)(verbose=-1, random_state=0, n_jobs=1, **options)


def make_xgboost(regression: bool, categorical: list[str], **options: Any) -> Any:
    """Return XGBoost."""
    from xgboost import XGBClassifier, XGBRegressor

    made = XGBRegressor if regression else XGBClassifier
    return made(random_state=0, n_jobs=1, enable_categorical=bool(categorical), **options)


def make_catboost(regression: bool, categorical: list[str]) -> Any:
    """Return CatBoost, with the names of the categories for `fit`."""
    from catboost import CatBoostClassifier, CatBoostRegressor

    options: dict[str, Any] = {"verbose": False, "allow_writing_files": False, "random_seed": 0, "thread_count": 1}
    return (CatBoostRegressor if regression else CatBoostClassifier)(cat_features=categorical or None, **options)


def make_ebm(regression: bool, categorical: list[str]) -> Any:
    """Return the explainable boosting machine."""
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    return (ExplainableBoostingRegressor if regression else ExplainableBoostingClassifier)(random_state=0, n_jobs=1)


def make_forest(regression: bool, categorical: list[str]) -> Any:
    """Return a random forest."""
    made = RandomForestRegressor if regression else RandomForestClassifier
    return make_pipeline(ordinal(categorical), made(random_state=0, n_jobs=1))


def make_hist(regression: bool, categorical: list[str]) -> Any:
    """Return HistGradientBoosting."""
    return (HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier)(random_state=0)


UNTUNED: dict[str, Callable[[bool, list[str]], Any]] = {
    "CatBoost": make_catboost,
    "LightGBM": make_lightgbm,
    "XGBoost": make_xgboost,
    "HistGB": make_hist,
    "LightGBM-TD": lambda regression, categorical: EarlyStopped(regression),
    "EBM": make_ebm,
    "forest": make_forest,
    "SVM": make_svm,
}

#: What is searched. Trees are compared by log-loss or squared error, support vector machines by error.
TREE_GRID = {
    "n_estimators": [100, 200, 400, 800],
    "learning_rate": [0.02, 0.05, 0.1, 0.2],
    "subsample": [0.6, 0.8, 1.0],
    "colsample_bytree": [0.4, 0.7, 1.0],
    "reg_lambda": [0.0, 1.0, 10.0],
}
GRIDS: dict[str, dict[str, list[Any]]] = {
    "LightGBM, tuned": {
        **TREE_GRID,
        "num_leaves": [7, 15, 31, 63, 127],
        "min_child_samples": [5, 10, 20, 50],
        "subsample_freq": [1],
    },
    "XGBoost, tuned": {**TREE_GRID, "max_depth": [2, 3, 4, 6, 8], "min_child_weight": [1, 3, 10, 30]},
    "SVM, tuned": {"C": [0.3, 1.0, 3.0, 10.0, 100.0], "gamma": [0.1, 0.3, 1.0, 3.0]},
}


class Tuned(BaseEstimator):  # type: ignore[misc]
    """The best of 20 configurations by cross-validation, fitted on all rows."""

    def __init__(self, name: str, regression: bool, categorical: list[str]) -> None:
        self.name = name
        self.regression = regression
        self.categorical = categorical

    def fit(self, X: Any, y: Any) -> Tuned:
        """Search, and fit."""
        grid, rows = dict(GRIDS[self.name]), np.arange(len(y))
        by_loss = "neg_mean_squared_error" if self.regression else "neg_log_loss"
        if self.name == "SVM, tuned":
            rows = np.random.default_rng(0).permutation(len(y))[:SVM_ROWS]
            scaler = one_hot(self.categorical).fit(X)
            n_inputs = scaler.transform(X[:1] if not hasattr(X, "iloc") else X.iloc[:1]).shape[1]
            grid["gamma"] = [gamma / n_inputs for gamma in grid["gamma"]]
            by_loss = by_loss if self.regression else "accuracy"
            searched = scaled_svm(self.regression, self.categorical)
            step = "transformedtargetregressor__regressor" if self.regression else "svc"
            grid = {f"{step}__{key}": values for key, values in grid.items()}
        else:
            make = make_lightgbm if self.name == "LightGBM, tuned" else make_xgboost
            searched = make(self.regression, self.categorical)
        n_folds = FEW_FOLDS if len(rows) > MANY_ROWS else MANY_FOLDS
        folds = (KFold if self.regression else StratifiedKFold)(n_folds, shuffle=True, random_state=0)
        own = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
        some = rows[:SVM_SEARCH_ROWS] if self.name == "SVM, tuned" else rows
        search = RandomizedSearchCV(
            searched, grid, n_iter=N_CONFIGURATIONS, scoring=by_loss, cv=folds, random_state=0, error_score=-np.inf,
            refit=False,
        ).fit(X.iloc[some] if hasattr(X, "iloc") else X[some], y[some])  # fmt: skip
        self.best_params_ = search.best_params_
        self.model_ = clone(searched).set_params(**search.best_params_)
        if self.name == "SVM, tuned" and not self.regression:
            self.model_ = CalibratedClassifierCV(self.model_, ensemble=False)
        self.model_.fit(own, y[rows])
        return self

    def __getattr__(self, name: str) -> Any:
        if name in ("predict", "predict_proba", "classes_"):
            return getattr(self.model_, name)
        raise AttributeError(name)


def make_peer(name: str, regression: bool, categorical: list[str]) -> Any:
    """Return another method by its name."""
    if name in GRIDS:
        return Tuned(name, regression, categorical)
    return UNTUNED[name](regression, categorical)


def prepare(name: str, X: Any, categorical: list[str]) -> Any:
    """Return a frame with what the method cannot take changed: gaps in categories, or too many levels."""
    if not categorical:
        return X
    X = X.copy()
    for column in categorical:
        if name == "CatBoost":
            X[column] = X[column].astype(object).where(X[column].notna(), "missing").astype(str)
        elif name == "HistGB" and X[column].nunique() > MAX_LEVELS:
            kept = X[column].value_counts().index[: MAX_LEVELS - 1]
            X[column] = X[column].astype(object).where(X[column].isin(kept) | X[column].isna(), "other")
            X[column] = X[column].astype("category")
    return X
