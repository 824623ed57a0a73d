"""The paper's methods, with parameters selected on the training set by five-fold cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit

from cgens import CGEnsClassifier, CGEnsClassifierCV
from cgens.baselines import (
    AdaBoostClassifier,
    KernelSVC,
    LPBoostClassifier,
    MultiBoostClassifier,
    RandomFourierSVC,
)
from cgens.weak_learners import Fourier
from evaluation.splits import Split, paper_loss
from experiments.experiment import Effort, Fit, Method

LPBOOST_C_TIMES_ROWS = (10.0, 30.0, 100.0, 300.0)
SVM_CS = 10.0 ** np.arange(-3, 4)
RFF_CS = 10.0 ** np.arange(-4, 3)  # for the squared hinge loss
NUS = (1e-4, 3e-4, 1e-3, 3e-3)
MULTIBOOST_ROWS = 10_000  # maximum number of rows for the selection of nu: a fit on so many takes minutes
GAMMAS = 2.0 ** np.arange(-5, 5)  # divided by the number of features; most IDA sets have unit variance


def cgens(weak_learner: Any = "stump", fixed_size: bool = False) -> Method:
    """Return CGEns with C and, unless the size is fixed at the maximum, the number of columns cross-validated."""

    def fit(split: Split, seed: int, effort: Effort, inherited: dict[str, Any]) -> Fit:
        return search_cgens(weak_learner, split, seed, effort, effort.rounds[-1:] if fixed_size else effort.rounds)

    return fit


def cgens_fourier(others: tuple[Any, ...] = (), **options: Any) -> Method:
    """Return CGEns with 500 Fourier weak learners of the SVM's width, or a mixture of them with other families."""

    def fit(split: Split, seed: int, effort: Effort, inherited: dict[str, Any]) -> Fit:
        fourier = Fourier(gamma=inherited["gamma"], standardize=False, **options)
        found = search_cgens([*others, fourier] if others else fourier, split, seed, effort, effort.rounds[-1:])
        return Fit(found.model, {**found.params, "gamma": inherited["gamma"]})

    return fit


def cgens_own_sigma(split: Split, seed: int, effort: Effort, inherited: dict[str, Any]) -> Fit:
    """Select the width of the Fourier weak learners with CGEns itself."""
    candidates = {
        gamma: search_cgens(
            Fourier(gamma=gamma, standardize=False, learn=False), split, seed, effort, effort.rounds[-1:]
        )
        for gamma in _gammas(split, effort)
    }
    gamma = max(candidates, key=lambda gamma: candidates[gamma].model.best_score_)
    return Fit(candidates[gamma].model, {**candidates[gamma].params, "gamma": gamma})


def search_cgens(
    weak_learner: Any, split: Split, seed: int, effort: Effort, stages: tuple[int, ...], pricing: str = "auto"
) -> Fit:
    """Return CGEns with C and one of these numbers of columns, selected by cross-validation."""
    search = CGEnsClassifierCV(
        weak_learner,
        loss=paper_loss(split.y),
        Cs=effort.n_penalties,
        n_estimators=effort.max_rounds,
        stages=list(stages),
        cv=_folds(effort, seed),
        pricing=pricing,
        random_state=seed,
        n_jobs=effort.threads,
    ).fit(split.X, split.y)
    return Fit(search, {key: float(value) for key, value in search.best_params_.items()})


def adaboost(weak_learner: Any = "stump") -> Method:
    """Return AdaBoost with a cross-validated number of rounds."""

    def make(rounds: int, seed: int, n_rows: int) -> Any:
        return AdaBoostClassifier(weak_learner, n_estimators=rounds, random_state=seed, n_jobs=1)

    return _staged(make, {})


def lpboost(weak_learner: Any = "stump") -> Method:
    """Return LPBoost with C and the number of rounds cross-validated."""

    def make(rounds: int, seed: int, n_rows: int, C_times_rows: float) -> Any:
        C = C_times_rows / n_rows
        return LPBoostClassifier(weak_learner, C=C, n_estimators=rounds, random_state=seed, n_jobs=1)

    return _staged(make, {"C_times_rows": LPBOOST_C_TIMES_ROWS})


def _staged(make: Callable[..., Any], grid: dict[str, tuple[float, ...]]) -> Method:
    """Return a method whose number of rounds is selected along one fit, and other parameters from a grid."""

    def fit(split: Split, seed: int, effort: Effort, inherited: dict[str, Any]) -> Fit:
        settings = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())][:: effort.grid_step]
        errors = np.zeros((len(settings), len(effort.rounds)))
        for train, held_out in _folds(effort, seed).split(split.X, split.y):
            for k, setting in enumerate(settings):
                model = make(effort.max_rounds, seed, len(train), **setting).fit(split.X[train], split.y[train])
                errors[k] += _errors_at(model, split.X[held_out], split.y[held_out], effort.rounds)
        # The first of equal errors: the smallest C, the fewest rounds.
        k, r = np.unravel_index(np.argmin(errors), errors.shape)
        model = make(effort.rounds[r], seed, len(split.y), **settings[k]).fit(split.X, split.y)
        return Fit(model, {**settings[k], "n_estimators": effort.rounds[r]})

    return fit


def _errors_at(model: Any, X: np.ndarray, y: np.ndarray, rounds: tuple[int, ...]) -> np.ndarray:
    """Return the number of errors after each of these rounds; a fit that stopped earlier keeps its last error."""
    errors = [np.sum(labels != y) for labels in model.staged_predict(X)]
    return np.array([errors[min(r, len(errors)) - 1] for r in rounds])


def kernel_svm(kernel: str) -> Method:
    """Return the SVM with this kernel; C and, for the Gaussian kernel, gamma are cross-validated."""

    def fit(split: Split, seed: int, effort: Effort, inherited: dict[str, Any]) -> Fit:
        grid: dict[str, Any] = {"C": SVM_CS[:: effort.grid_step]}
        if kernel == "rbf":
            grid["gamma"] = _gammas(split, effort)
        return _grid_search(KernelSVC(kernel), grid, split, _folds(effort, seed))

    return fit


def random_fourier(split: Split, seed: int, effort: Effort, inherited: dict[str, Any]) -> Fit:
    """Fit a linear SVM on 2000 random Fourier features of the SVM's width, with C cross-validated."""
    model = RandomFourierSVC(gamma=inherited["gamma"], random_state=seed)
    return _grid_search(model, {"C": RFF_CS[:: effort.grid_step]}, split, _folds(effort, seed))


def _grid_search(model: Any, grid: dict[str, Any], split: Split, folds: Any) -> Fit:
    search = GridSearchCV(model, grid, cv=folds).fit(split.X, split.y)
    return Fit(search, {key: float(value) for key, value in search.best_params_.items()})


def _folds(effort: Effort, seed: int) -> StratifiedKFold:
    """Return the folds, the same for all methods."""
    return StratifiedKFold(effort.folds, shuffle=True, random_state=seed)


def _gammas(split: Split, effort: Effort) -> list[float]:
    return [float(gamma) for gamma in GAMMAS[:: effort.grid_step] / split.X.shape[1]]


def untuned(estimator: type) -> Method:
    """Return a method without parameters to select, such as AdaBoost.MH."""

    def fit(split: Split, seed: int, effort: Effort, inherited: dict[str, Any]) -> Fit:
        model = estimator(n_estimators=effort.max_rounds, random_state=seed, n_jobs=effort.threads)
        return Fit(model.fit(split.X, split.y))

    return fit


def multiboost(split: Split, seed: int, effort: Effort, inherited: dict[str, Any]) -> Fit:
    """Fit MultiBoost with the inherited nu, or a cross-validated one: with many rows, on a single held-out fifth."""
    model = MultiBoostClassifier(n_estimators=effort.max_rounds, n_jobs=effort.threads)
    if inherited:
        return Fit(model.set_params(nu=inherited["nu"]).fit(split.X, split.y), {"nu": inherited["nu"]})
    n = min(len(split.y), MULTIBOOST_ROWS)
    holdout = StratifiedShuffleSplit(1, train_size=n - n // 5, test_size=n // 5, random_state=seed)
    folds = holdout if len(split.y) > MULTIBOOST_ROWS // 2 else _folds(effort, seed)
    return _grid_search(model, {"nu": NUS[:: effort.grid_step]}, split, folds)


def cgens_sls(pricing: str) -> Method:
    """Return CGEns-SLS with the inherited C, or a cross-validated one; "max" is the paper's pricing rule (EQ:WL2)."""

    def fit(split: Split, seed: int, effort: Effort, inherited: dict[str, Any]) -> Fit:
        if inherited:
            model = CGEnsClassifier(
                loss="least_squares",
                C=inherited["C"],
                n_estimators=effort.max_rounds,
                pricing=pricing,
                n_jobs=effort.threads,
            )
            return Fit(model.fit(split.X, split.y), {"C": inherited["C"]})
        found = search_cgens("stump", split, seed, effort, effort.rounds[-1:], pricing)
        return Fit(found.model, {"C": found.params["C"]})

    return fit
