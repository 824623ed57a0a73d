"""The paper's methods, with their parameters chosen on the training rows as it chose them: by five folds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit

from benchmarks.data import Split
from cgens import CGEnsClassifier, CGEnsClassifierCV
from cgens.baselines import (
    AdaBoostClassifier,
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    KernelSVC,
    LPBoostClassifier,
    MultiBoostClassifier,
    RandomFourierSVC,
)
from cgens.weak_learners import Fourier
from experiments.experiment import Effort, Fit, Method

LPBOOST_TOTALS = (10.0, 30.0, 100.0, 300.0)  # C times the number of rows
SVM_CS = 10.0 ** np.arange(-3, 4)
RFF_CS = 10.0 ** np.arange(-4, 3)  # of another loss, the squared hinge
NUS = (1e-4, 3e-4, 1e-3, 3e-3)
MULTIBOOST_ROWS = 10_000  # most rows to choose nu with: a fit of so many takes minutes
GAMMAS = 2.0 ** np.arange(-5, 5)  # times 1 / number of features: most of the IDA sets have unit variance


def cgens(weak_learner: Any = "stump", all_columns: bool = False) -> Method:
    """Return CGEns, C by cross-validation, and the number of columns too unless it is to have all."""

    def fit(split: Split, seed: int, effort: Effort, given: dict[str, Any]) -> Fit:
        return searched_cgens(weak_learner, split, seed, effort, effort.rounds[-1:] if all_columns else effort.rounds)

    return fit


def cgens_fourier(mix: tuple[Any, ...] = (), **options: Any) -> Method:
    """Return CGEns with cosines of the SVM's width, 500 columns, perhaps with other families beside them."""

    def fit(split: Split, seed: int, effort: Effort, given: dict[str, Any]) -> Fit:
        cosines = Fourier(gamma=given["gamma"], **options)
        found = searched_cgens([*mix, cosines] if mix else cosines, split, seed, effort, effort.rounds[-1:])
        return Fit(found.model, {**found.params, "gamma": given["gamma"]})

    return fit


def cgens_own_sigma(split: Split, seed: int, effort: Effort, given: dict[str, Any]) -> Fit:
    """Choose the width of the cosines with CGEns itself."""
    candidates = {
        gamma: searched_cgens(Fourier(gamma=gamma, learn=False), split, seed, effort, effort.rounds[-1:])
        for gamma in _gammas(split, effort)
    }
    gamma = max(candidates, key=lambda gamma: candidates[gamma].model.best_score_)
    return Fit(candidates[gamma].model, {**candidates[gamma].params, "gamma": gamma})


def searched_cgens(
    weak_learner: Any, split: Split, seed: int, effort: Effort, columns: tuple[int, ...], pricing: str = "auto"
) -> Fit:
    """Return CGEns with C and one of these numbers of columns, chosen by cross-validation."""
    search = CGEnsClassifierCV(
        weak_learner,
        Cs=effort.n_penalties,
        n_estimators=effort.most_rounds,
        columns=list(columns),
        cv=_folds(effort, seed),  # not its own, which keep copies of a row together
        pricing=pricing,
        random_state=seed,
        n_jobs=effort.threads,
    ).fit(split.X, split.y)
    return Fit(search, {key: float(value) for key, value in search.best_params_.items()})


def adaboost(weak_learner: Any = "stump") -> Method:
    """Return AdaBoost, the number of rounds by cross-validation."""

    def make(rounds: int, seed: int, n_rows: int) -> Any:
        return AdaBoostClassifier(weak_learner, n_estimators=rounds, random_state=seed, n_jobs=1)

    return _staged(make, {})


def lpboost(weak_learner: Any = "stump") -> Method:
    """Return LPBoost, C and the number of rounds by cross-validation."""

    def make(rounds: int, seed: int, n_rows: int, total: float) -> Any:
        return LPBoostClassifier(weak_learner, C=total / n_rows, n_estimators=rounds, random_state=seed, n_jobs=1)

    return _staged(make, {"total": LPBOOST_TOTALS})


def _staged(make: Callable[..., Any], grid: dict[str, tuple[float, ...]]) -> Method:
    """Return a method whose rounds are chosen along one fit, other parameters from a grid."""

    def fit(split: Split, seed: int, effort: Effort, given: dict[str, Any]) -> Fit:
        settings = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())][:: effort.grid_step]
        errors = np.zeros((len(settings), len(effort.rounds)))
        for train, held_out in _folds(effort, seed).split(split.X, split.y):
            for k, setting in enumerate(settings):
                model = make(effort.most_rounds, seed, len(train), **setting).fit(split.X[train], split.y[train])
                errors[k] += _errors_at(model, split.X[held_out], split.y[held_out], effort.rounds)
        # The first of equals: the least C, the fewest rounds.
        k, r = np.unravel_index(np.argmin(errors), errors.shape)
        model = make(effort.rounds[r], seed, len(split.y), **settings[k]).fit(split.X, split.y)
        return Fit(model, {**settings[k], "n_estimators": effort.rounds[r]})

    return fit


def _errors_at(model: Any, X: np.ndarray, y: np.ndarray, rounds: tuple[int, ...]) -> np.ndarray:
    """Return the number of errors after so many rounds; a fit that ended earlier stays as it is."""
    errors = [np.sum(labels != y) for labels in model.staged_predict(X)]
    return np.array([errors[min(r, len(errors)) - 1] for r in rounds])


def kernel_svm(kernel: str) -> Method:
    """Return the SVM with this kernel, C and, of the Gaussian one, gamma by cross-validation."""

    def fit(split: Split, seed: int, effort: Effort, given: dict[str, Any]) -> Fit:
        grid: dict[str, Any] = {"C": SVM_CS[:: effort.grid_step]}
        if kernel == "rbf":
            grid["gamma"] = _gammas(split, effort)
        return _searched(KernelSVC(kernel), grid, split, _folds(effort, seed))

    return fit


def random_fourier(split: Split, seed: int, effort: Effort, given: dict[str, Any]) -> Fit:
    """Fit 2000 random cosines of the SVM's width, C by cross-validation."""
    model = RandomFourierSVC(gamma=given["gamma"], random_state=seed)
    return _searched(model, {"C": RFF_CS[:: effort.grid_step]}, split, _folds(effort, seed))


def _searched(model: Any, grid: dict[str, Any], split: Split, folds: Any) -> Fit:
    search = GridSearchCV(model, grid, cv=folds).fit(split.X, split.y)
    return Fit(search, {key: float(value) for key, value in search.best_params_.items()})


def _folds(effort: Effort, seed: int) -> StratifiedKFold:
    """Return the folds: the same for all methods."""
    return StratifiedKFold(effort.folds, shuffle=True, random_state=seed)


def _gammas(split: Split, effort: Effort) -> list[float]:
    return [float(gamma) for gamma in GAMMAS[:: effort.grid_step] / split.X.shape[1]]


def adaboost_ecc(split: Split, seed: int, effort: Effort, given: dict[str, Any]) -> Fit:
    """Fit AdaBoost.ECC; there is nothing to choose."""
    model = AdaBoostECCClassifier(n_estimators=effort.most_rounds, random_state=seed, n_jobs=effort.threads)
    return Fit(model.fit(split.X, split.y))


def adaboost_mh(split: Split, seed: int, effort: Effort, given: dict[str, Any]) -> Fit:
    """Fit AdaBoost.MH; there is nothing to choose."""
    model = AdaBoostMHClassifier(n_estimators=effort.most_rounds, n_jobs=effort.threads)
    return Fit(model.fit(split.X, split.y))


def multiboost(split: Split, seed: int, effort: Effort, given: dict[str, Any]) -> Fit:
    """Fit MultiBoost, nu by cross-validation or as it was chosen before; of many rows a fifth is held out, once."""
    model = MultiBoostClassifier(n_estimators=effort.most_rounds, n_jobs=effort.threads)
    if given:
        return Fit(model.set_params(nu=given["nu"]).fit(split.X, split.y), {"nu": given["nu"]})
    n = min(len(split.y), MULTIBOOST_ROWS)
    once = StratifiedShuffleSplit(1, train_size=n - n // 5, test_size=n // 5, random_state=seed)
    folds = once if len(split.y) > MULTIBOOST_ROWS // 2 else _folds(effort, seed)
    return _searched(model, {"nu": NUS[:: effort.grid_step]}, split, folds)


def cgens_sls(pricing: str) -> Method:
    """Return CGEns-SLS, C by cross-validation or as it was chosen before; "max" is the paper's pricing (EQ:WL2)."""

    def fit(split: Split, seed: int, effort: Effort, given: dict[str, Any]) -> Fit:
        if given:
            model = CGEnsClassifier(
                C=given["C"], n_estimators=effort.most_rounds, pricing=pricing, n_jobs=effort.threads
            )
            return Fit(model.fit(split.X, split.y), {"C": given["C"]})
        found = searched_cgens("stump", split, seed, effort, effort.rounds[-1:], pricing)
        return Fit(found.model, {"C": found.params["C"]})

    return fit
