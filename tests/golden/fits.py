"""The fits whose bits are pinned, and the digests of what they leave behind.

Run ``python -m tests.golden.fits`` to write ``golden.json`` again. A change of it is a change of models: say in the
CHANGELOG, under "Changed models", what changed and why.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from cgens import CGEnsClassifier, CGEnsClassifierCV, CGEnsOutlierDetector, CGEnsRegressor, CGEnsRegressorCV
from cgens.baselines import AdaBoostClassifier, AdaBoostMHClassifier
from cgens.weak_learners import Box, Stump, Tree

GOLDEN = Path(__file__).with_name("golden.json")

#: Families of which the library promises the same bits on every processor.
FAMILIES: dict[str, Any] = {
    "stump": "stump",
    "stump, 16 bins": Stump(max_bins=16),
    "stump, every midpoint": Stump(max_bins=None),
    "tree": Tree(max_leaf_nodes=6),
    "tree, signs": Tree(max_leaf_nodes=4, leaves="sign"),
    "box": Box(n_candidates=150),
    "mixture": ["stump", (Tree(max_leaf_nodes=4), [0, 2, 3, 7])],
}


def two_classes() -> tuple[np.ndarray, np.ndarray]:
    return load_breast_cancer(return_X_y=True)


def three_classes() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_wine(return_X_y=True)
    return X, np.array(["a", "b", "c"])[y]


def labels() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_wine(return_X_y=True)
    return X, np.column_stack([y == 0, y > 0, X[:, 0] > 13]).astype(int)


def numbers() -> tuple[np.ndarray, np.ndarray]:
    return load_diabetes(return_X_y=True)


def pairs_of_numbers() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_diabetes(return_X_y=True)
    return X, np.column_stack([y, X[:, 2] * X[:, 8] * 1e4])


#: name: (data, estimator, its parameters)
TARGETS: dict[str, tuple[Callable[[], Any], type, dict[str, Any]]] = {
    "two classes, hinge": (two_classes, CGEnsClassifier, {"loss": "hinge"}),
    "two classes, least squares": (two_classes, CGEnsClassifier, {"loss": "least_squares"}),
    "two classes, least squares by max": (two_classes, CGEnsClassifier, {"loss": "least_squares", "pricing": "max"}),
    "three classes, least squares": (three_classes, CGEnsClassifier, {"loss": "least_squares"}),
    "three classes, hinge": (three_classes, CGEnsClassifier, {"loss": "hinge"}),
    "labels, least squares": (labels, CGEnsClassifier, {"loss": "least_squares"}),
    "regression": (numbers, CGEnsRegressor, {}),
    "regression, two outputs": (pairs_of_numbers, CGEnsRegressor, {}),
}
#: Other losses, and the families that they are pinned with.
OTHERS: dict[str, tuple[Callable[[], Any], type, dict[str, Any]]] = {
    "quantile": (numbers, CGEnsRegressor, {"loss": "quantile", "quantile": 0.3}),
    "three quantiles": (numbers, CGEnsRegressor, {"loss": "quantile", "quantile": [0.1, 0.5, 0.9]}),
    "epsilon-insensitive": (numbers, CGEnsRegressor, {"loss": "epsilon_insensitive"}),
    "one class": (two_classes, CGEnsOutlierDetector, {"nu": 0.3}),
}
FAMILIES_OF_OTHERS = {
    "quantile": ("stump", "tree"),
    "three quantiles": ("stump",),
    "epsilon-insensitive": ("stump", "tree"),
    "one class": ("stump", "box"),  # no tree is better than a constant
}
#: Directions of several outputs that are not classes are drawn by LAPACK: not the same bits everywhere.
BY_LAPACK = {(family, "regression, two outputs") for family in ("tree", "tree, signs", "mixture")}

N_COLUMNS = 25


def row_weights(n_rows: int) -> np.ndarray:
    """Return weights with zeros, ones and others."""
    return np.array([1.0, 0.0, 2.5, 1.0, 0.25])[np.arange(n_rows) % 5]


def plain(family: str, target: str, weighted: bool = False, **more: Any) -> dict[str, str]:
    data, estimator, parameters = {**TARGETS, **OTHERS}[target]
    X, y = data()
    model = estimator(FAMILIES[family], n_estimators=N_COLUMNS, random_state=0, **{**parameters, **more})
    return digests(model.fit(X, y, row_weights(len(X)) if weighted else None), X)


def warm(family: str, target: str) -> dict[str, str]:
    data, estimator, parameters = TARGETS[target]
    X, y = data()
    model = estimator(FAMILIES[family], n_estimators=10, random_state=0, warm_start=True, **parameters).fit(X, y)
    return digests(model.set_params(n_estimators=N_COLUMNS).fit(X, y), X)


def search(estimator: type, data: Callable[[], Any], weighted: bool, **parameters: Any) -> dict[str, str]:
    X, y = data()
    model = estimator(n_estimators=N_COLUMNS, cv=3, Cs=3, stages=[5, 15, 25], random_state=0, **parameters)
    model.fit(X, y, row_weights(len(X)) if weighted else None)
    return {**digests(model.best_estimator_, X), "scores": digest(to_six_digits(model.scores_)), "C": model.C_.hex()}


def baseline(estimator: type, data: Callable[[], Any]) -> dict[str, str]:
    """Pin the columns alone: weights go through the machine's own logarithm."""
    X, y = data()
    return {"columns": digests(estimator(n_estimators=N_COLUMNS).fit(X, y), X)["columns"]}


def cases() -> dict[str, Callable[[], dict[str, str]]]:
    """Return every fit by its name."""
    table: dict[str, Callable[[], dict[str, str]]] = {}
    for target in TARGETS:
        for family in FAMILIES:
            if (family, target) not in BY_LAPACK:
                table[f"{family}: {target}"] = lambda family=family, target=target: plain(family, target)
        table[f"stump: {target}, weighted"] = lambda target=target: plain("stump", target, weighted=True)
    for family, target in (("stump", "two classes, hinge"), ("tree", "three classes, least squares")):
        table[f"{family}: {target}, balanced"] = lambda family=family, target=target: plain(
            family, target, weighted=True, class_weight="balanced"
        )
    for family, target in (
        ("stump", "two classes, hinge"),
        ("stump", "three classes, least squares"),
        ("tree", "three classes, hinge"),
        ("mixture", "regression"),
    ):
        table[f"{family}: {target}, warm start"] = lambda family=family, target=target: warm(family, target)
    table["search: two classes, hinge"] = lambda: search(CGEnsClassifierCV, two_classes, False, loss="hinge")
    table["search: three classes, weighted"] = lambda: search(
        CGEnsClassifierCV, three_classes, True, loss="least_squares"
    )
    table["search: regression, trees"] = lambda: search(
        CGEnsRegressorCV, numbers, False, weak_learner=Tree(max_leaf_nodes=4)
    )
    table["search: three classes, balanced"] = lambda: search(
        CGEnsClassifierCV, three_classes, False, class_weight="balanced", loss="hinge"
    )
    table["AdaBoost: two classes"] = lambda: baseline(AdaBoostClassifier, two_classes)
    table["AdaBoost.MH: three classes"] = lambda: baseline(AdaBoostMHClassifier, three_classes)
    for target, families in FAMILIES_OF_OTHERS.items():
        for family in families:
            table[f"{family}: {target}"] = lambda family=family, target=target: plain(family, target)
        table[f"stump: {target}, weighted"] = lambda target=target: plain("stump", target, weighted=True)
    return table


def digests(model: Any, X: np.ndarray) -> dict[str, str]:
    """Return digests of what a model decides, of its columns and of its certificate.

    A column and its weight may change their signs together: both are taken with the sign that makes the column's first
    value positive.
    """
    decide = getattr(model, "decision_function", model.predict)
    responses = model.ensemble_.respond(X).astype(np.float32)
    signs = np.where(responses[0] < 0, np.float32(-1), np.float32(1))
    certificate = model.certificate_
    figures = [
        value.hex() if isinstance(value, float) else str(value)
        for value in (
            certificate.primal,
            certificate.dual,
            certificate.max_price,
            certificate.full_lower_bound,
            certificate.n_candidates,
            certificate.scope,
            certificate.status,
        )
    ]
    decisions = decide(X)
    if not all(type(learner).__name__ == "StumpLearner" for learner in model.ensemble_.learners):
        decisions = to_six_digits(decisions)
    return {
        "decisions": digest(decisions),
        "columns": digest(responses * signs),
        "weights": digest(model.ensemble_.weights * signs[:, None].astype(np.float64)),
        "certificate": ", ".join(figures),
    }


def to_six_digits(array: np.ndarray) -> np.ndarray:
    """Round what comes from a product by BLAS, whose last bit may be another one on another processor."""
    return np.array([float(f"{value:.6e}") for value in array.ravel()])


def digest(array: np.ndarray) -> str:
    """Return a short digest of an array's numbers; 0 and -0 are the same number."""
    return hashlib.blake2b(np.ascontiguousarray(array + 0.0).tobytes(), digest_size=10).hexdigest()


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        GOLDEN.write_text(json.dumps({name: fit() for name, fit in cases().items()}, indent=1) + "\n")
