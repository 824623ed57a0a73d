"""Input that allows no good model gives the best possible one, and a single warning that explains why."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning

from cgens import CGEnsClassifier, CGEnsClassifierCV, CGEnsOutlierDetector, FourierSelector
from cgens.types import Status
from cgens.weak_learners import Fourier, Perceptron
from tests.inputs.estimators import FAMILIES, REGRESSION, X, assert_sound, data, fit, fit_and_warnings, named
from tests.tolerances import CLOSED_FORM

# --- constant models

LOSSES, FOUR, HEAVY = ("least_squares", "hinge"), np.full((4, 3), 2.5), np.array([1.0, 1.0, 1.0, 9.0])
TWO, INTEGERS = np.column_stack([REGRESSION, X[:, 0]]), np.arange(90) % 4 + 1.0
MEANS = np.average(TWO, axis=0, weights=INTEGERS)
#: Estimators | parameters | data | a pattern of the warning | the constant prediction; None: the class in the warning
CONSTANT: list[tuple[str, dict[str, Any], dict[str, Any], str, Any]] = [
    ("stump", {}, {"X": FOUR, "y": [0, 0, 0, 1]}, "constant", 0),
    ("stump", {}, {"X": FOUR, "y": [1, 1, 1, 0]}, "constant", 1),
    ("stump", {}, {"X": FOUR, "y": [0, 0, 0, 1], "sample_weight": HEAVY}, "constant", 1),
    ("boosting, nu-LPBoost", {}, {"X": FOUR, "y": [0, 0, 0, 1]}, "constant", None),
    ("boosting, nu-LPBoost", {}, {"X": FOUR, "y": [1, 1, 1, 0]}, "constant", None),
    ("boosting, nu-LPBoost", {}, {"X": FOUR, "y": [0, 0, 0, 1], "sample_weight": HEAVY}, "constant", None),
    *(
        ("stump", {"loss": loss}, {"X": np.full((6, 2), 2.5), "y": [0, 1, 1, 1, 2, 2]}, "constant", 1)
        for loss in LOSSES
    ),
    ("families", {}, {"X": np.full((60, 6), 2.5), "y": np.arange(60) % 3 == 0}, "constant", False),
    ("LPBoost", {"C": 1e-3}, {}, r"\bC\b", None),  # there are weak learners, but none is worth its cost
    ("MultiBoost", {"nu": 10.0}, {}, r"\bnu\b", None),
    *(("CGEnsRegressor", {}, {"y": np.full(90, y)}, "constant", y) for y in (0.0, 3.0, 0.1, -1e10 - 0.1)),
    ("CGEnsRegressor", {}, {"X": X[:1], "y": [4.0]}, "constant", 4.0),
    ("CGEnsRegressor", {}, {"X": X[:1], "y": [[4.0, -1.0]]}, "constant", [4.0, -1.0]),
    ("CGEnsRegressor", {}, {"X": 0 * X, "y": TWO, "sample_weight": INTEGERS}, "constant", MEANS),
]


@pytest.mark.parametrize(("row", "name"), [(i, name) for i, (who, *_) in enumerate(CONSTANT) for name in named(who)])
def test_a_constant_model_has_one_warning(row, name):
    _, params, given, pattern, expected = CONSTANT[row]
    model, (warning,) = fit_and_warnings(name, params, **given)
    assert warning.category is UserWarning
    assert warning.filename == inspect.getfile(fit), "it points at the call of fit"
    assert re.search(pattern, str(warning.message))
    rows = X[:, : model.n_features_in_]
    predicted = model.predict(rows)
    assert np.all(predicted == predicted[0])
    if expected is None:
        assert re.search(rf"\b{predicted[0]}\b", str(warning.message).split("constant")[-1])
    else:
        assert np.allclose(predicted[0], expected, rtol=CLOSED_FORM if expected is MEANS else 1e-15, atol=0)
    assert model.n_columns_ == 0
    assert [np.array_equal(stage, predicted) for stage in model.staged_predict(rows)] == [True]
    if name not in FAMILIES or name == "stump":
        assert not model.feature_importances_.any()
    if name in (*FAMILIES, "CGEnsRegressor"):
        assert model.certificate_.status is Status.OPTIMAL
        assert_sound(model, **{**data(name), **given}, tol=1e-12)


def test_classes_of_equal_weight_give_a_small_constant():
    model, _ = fit_and_warnings("stump", X=np.zeros((4, 1)), y=[0, 1, 0, 1])
    assert abs(model.decision_function([[0.0]])[0]) <= 1


def test_columns_that_all_have_the_weight_zero():
    """For random labels no combination of a few stumps has a positive margin on most rows."""
    rng = np.random.default_rng(0)
    given = {"X": rng.normal(size=(60, 2)), "y": rng.integers(0, 2, 60)}
    model, (warning,) = fit_and_warnings("LPBoost", {"nu": 0.05}, **given)
    assert re.search(r"5 columns.*weight.*\bnu\b.*0\.05.*n_estimators", str(warning.message))
    assert np.ptp(model.decision_function(given["X"])) == 0


@pytest.mark.parametrize(
    ("estimator", "given"),
    [
        (CGEnsOutlierDetector(), {"X": FOUR}),
        (FourierSelector(2), {"X": np.zeros((60, 2)), "y": np.arange(60) % 2}),
        (CGEnsClassifierCV(n_estimators=2, stages=[1, 2], cv=2), {"X": np.zeros((60, 2)), "y": np.arange(60) % 2}),
        (
            CGEnsClassifier([Fourier(standardize=False)]),
            {"X": X * np.array([1e4, 1, 1, 1, 1, 1]), "y": data("stump")["y"]},
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_warnings_point_at_the_users_line(estimator, given):
    """However many methods of the library are between it and the warning."""
    with pytest.warns(UserWarning, match=r"constant|standard deviation") as caught:
        estimator.fit(**given)
    assert {warning.filename for warning in caught} == {__file__}


# --- masters that are not solved to the tolerance

CHANCE = {"X": np.random.default_rng(0).normal(size=(150, 5)), "y": np.random.default_rng(1).integers(0, 2, 150)}
FLOWERS = dict(zip("Xy", load_iris(return_X_y=True), strict=True))
UNSOLVED: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("stump", {"loss": "hinge", "n_estimators": 40, "tol": 1e-15, "C": 1e6}, CHANCE, r"\bC\b"),
    ("CGEnsRegressor", {"n_estimators": 10_000, "tol": 1e-15, "C": 1e12}, {}, r"\bC\b"),
    ("MultiBoost", {"n_estimators": 3, "tol": 1e-300}, FLOWERS, r"\bnu\b.*0\.001"),
    *(
        (name, {"n_estimators": 30, "max_iter": 1, "solver": solver}, {}, r"max_iter.*\b1\b")
        for name in ("LPBoost", "nu-LPBoost")
        for solver in ("dual", "primal", "ipm")
    ),
]


@pytest.mark.parametrize(("name", "params", "given", "advice"), UNSOLVED)
def test_an_unsolved_master_has_a_warning_and_a_status(name, params, given, advice):
    model, (warning, *_) = fit_and_warnings(name, params, **given)
    assert warning.category is ConvergenceWarning
    assert re.search(rf"{model.n_columns_} columns.*gap.*tol={model.tol:g}.*{advice}", str(warning.message))
    assert model.certificate_.status is Status.NOT_CONVERGED
    assert model.certificate_.relative_gap > model.tol
    assert len(list(model.staged_predict(given.get("X", X)))) == model.n_columns_ >= 1
    assert_sound(model, **{**data(name), **given}, tol=np.inf)


# --- features of different scales, for families that mix them

SCALED, UNSCALED = X * np.array([1e4, 1, 1, 1, 1, 1]), {"weak_learner__standardize": False}
IMAGES, DIGITS = (part[:300] for part in load_digits(return_X_y=True))
#: Estimators | parameters | data | a pattern of the single warning; None: no warning
SCALES: list[tuple[str, dict[str, Any], dict[str, Any], str | None]] = [
    *((name, UNSCALED, {"X": SCALED}, rf"(?i){name.split()[-1]}\b.*feature 0\b.*2e\+04.*standardize=True.*Scaler")
      for name in named("rotated")),
    *(("rotated", UNSCALED, {"X": pd.DataFrame(X[:, :n] * [*[1e4] * (n - 1), 1.0], columns=[*"abc"[: n - 1], "years"])},
       rf"feature '[abc]'.*\b1 of {n}\b") for n in (2, 3, 4)),  # the small one would not matter
    ("CGEnsClassifier", {"weak_learner": [(Fourier(standardize=False), [3, 0, 4])]}, {"X": SCALED}, r"feature 0\b"),
    ("CGEnsClassifierCV", {"weak_learner": Fourier(n_candidates=50, standardize=False)}, {"X": SCALED}, r"feature 0\b"),
    ("rotated", {}, {"X": SCALED}, None),  # robust scaling
    ("rotated", {}, {"X": np.column_stack([X, np.zeros((90, 20)), np.ones((90, 3))])}, None),
    ("rotated", {"n_estimators": 2}, {"X": IMAGES, "y": DIGITS}, None),  # pixels at the border hardly vary
    ("rotated", {"n_estimators": 2}, {"X": IMAGES / 16, "y": DIGITS}, None),
    ("exact, sklearn", {}, {"X": SCALED}, None),
    *(
        ("CGEnsClassifier", UNSCALED | {"weak_learner": Fourier(standardize=False)}, {"X": own}, r"feature 0\b.*2e\+04")
        for own in (sparse.csr_array(SCALED), sparse.csr_array(np.where(np.arange(6) * SCALED > 4.0, np.nan, SCALED)))
    ),
    ("CGEnsClassifier", {"weak_learner": Fourier(standardize=True)}, {"X": SCALED}, None),
    ("CGEnsClassifier", {"weak_learner": Perceptron(standardize=True)}, {"X": SCALED}, None),
]  # fmt: skip


@pytest.mark.parametrize(("row", "name"), [(i, name) for i, (who, *_) in enumerate(SCALES) for name in named(who)])
def test_features_on_very_different_scales_have_one_warning(row, name):
    _, params, given, pattern = SCALES[row]
    messages = [str(warning.message) for warning in fit_and_warnings(name, params, **given)[1]]
    assert len(messages) == (pattern is not None)
    assert pattern is None or re.search(pattern, messages[0])


def test_a_feature_far_from_zero_does_not_matter(rng):
    """A year among standardized features does not change distances, and should not change cosines either."""
    near = rng.normal(size=(600, 4))
    y, far = np.sin(2 * near[:, 0]) + near[:, 1] > 0, near + np.array([2000.0, 0, 0, 0])
    params = {"weak_learner": Fourier(learn=False), "n_estimators": 60}
    fits = [(fit_and_warnings("CGEnsClassifier", params, X=own[:300], y=y[:300]), own) for own in (near, far)]
    scores = [model.score(own[300:], y[300:]) for (model, _), own in fits]
    assert min(scores) > 0.85
    assert fits[1][0][1] == [], "no warning"
