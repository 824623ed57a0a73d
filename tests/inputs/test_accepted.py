"""Odd but valid input gives a sound model without a warning, and equivalent input the same model."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from cgens import CGEnsClassifierCV
from cgens.types import Pricing
from cgens.weak_learners import Fourier, Linear, Mixture, Stump, Tree
from tests.inputs.estimators import FAMILIES, REGRESSION, X, Y, fit, named, sound
from tests.inputs.refused_families import FRAME, Spoilt, with_response
from tests.tolerances import CLOSED_FORM, TIGHT

RNG = np.random.default_rng(0)
FLOWERS, SPECIES = load_iris(return_X_y=True)


@dataclass(frozen=True)
class Odd:
    """Data and parameters with which all estimators of `who` have a sound model with at least this score."""

    who: str
    X: Any
    y: Any = field(default_factory=lambda: Y)
    params: dict[str, Any] = field(default_factory=dict)
    score: float = 0.5
    weight: Any = None


KERNELS = "stump kernel, perceptron kernel, Gaussian kernel, random Fourier"
BOOSTING = "boosting, nu-LPBoost"
TWELVE, NINE, LINE = RNG.normal(size=(12, 200)), RNG.normal(size=(9, 4)), RNG.random((3000, 1))
DOUBLES = np.array([-1.7e308, -1e300, -1.0, -5e-324, 0.0, 5e-324, 1e-300, 1.0, 1e300, 1.7e308])[:, None]
EVEN, ADJACENT = np.arange(10) % 2, 1.0 + np.arange(10)[:, None] % 2 * 2.0**-52
EXTREME_WEIGHTS = 10.0 ** RNG.uniform(-6, 6, 90)
ODD = {
    "one feature": Odd("families", X[:, :1]),
    "one feature of two values": Odd(f"families, {BOOSTING}", X[:, :1] > 0, params={"n_estimators": 60}),
    "one feature and many rows": Odd("stump", LINE, np.sin(12 * LINE[:, 0]) > 0, {"n_estimators": 60}, 0.95),
    "more features than rows": Odd(f"families, {BOOSTING}", TWELVE, np.arange(12) % 2, {"n_estimators": 50}, 1.0),
    "more features than rows, SVM": Odd(KERNELS, TWELVE, np.arange(12) % 2, {"C": 100.0}, 1.0),
    "far more features": Odd("rotated, tree, box, linear", RNG.normal(size=(50, 1200)), np.arange(50) % 2),
    "one row per class": Odd(f"families, {BOOSTING}, {KERNELS}", [[0.0, 5.0], [1.0, 5.0]], ["a", "b"], score=1.0),
    "one class per row": Odd("AdaBoost.MH, AdaBoost.ECC, MultiBoost", NINE, np.arange(9), {"n_estimators": 200}, 1.0),
    "one class per row, SVM": Odd(KERNELS, NINE, np.arange(9), {"C": 1e4}, 1.0),
    "one row of a third class": Odd("stump", X, np.where(np.arange(90) == 3, 9, Y)),
    "zeros and ones": Odd("families", (X > 0).astype(float)),
    "copies of a feature": Odd("families", np.repeat(X[:, :1], 4, axis=1)),
    "adjacent numbers": Odd("stump", ADJACENT, EVEN, score=1.0),
    "the whole range of doubles": Odd("stump", DOUBLES, EVEN, {"n_estimators": 100, "C": 100.0}, 1.0),
    "times 1e40": Odd("rotated, exact, list", 1e40 * X),
    "times 1e-40": Odd("rotated, exact, list", 1e-40 * X),
    "times 1e200": Odd("exact", 1e200 * X),
    "times 1e-200": Odd("exact", 1e-200 * X),
    "a sum that overflows": Odd("exact", 1e307 * np.abs(X)),
    "C of 1e-90": Odd("stump", X, params={"C": 1e-90}, score=0.0),
    "C of 1e-12": Odd("stump", X, params={"C": 1e-12}, score=0.0),
    "C of 1e4": Odd("stump", X, params={"C": 1e4}),
    "extreme weights": Odd(BOOSTING, X, weight=EXTREME_WEIGHTS),
    "more extreme weights": Odd("stump", X, params={"C": 1e-6}, weight=EXTREME_WEIGHTS ** (4 / 3), score=0.0),
    "more extreme weights, regression": Odd(
        "CGEnsRegressor", X, REGRESSION, {"C": 1e-6}, -9.0, EXTREME_WEIGHTS ** (4 / 3)
    ),
}


@pytest.mark.parametrize(("what", "name"), [(what, name) for what, odd in ODD.items() for name in named(odd.who)])
def test_odd_data_give_a_sound_model(what, name):
    odd = ODD[what]
    model = sound(name, odd.params, X=odd.X, y=odd.y, sample_weight=odd.weight)
    assert model.score(odd.X, odd.y) >= odd.score
    assert name not in FAMILIES or model.certificate_.primal > 0


@pytest.mark.parametrize("name", named(f"families, {BOOSTING}, {KERNELS}"))
def test_constant_features_are_ignored(name):
    wide = np.column_stack([np.zeros(90), X, np.full(90, 1e6)])
    model, plain = sound(name, X=wide), fit(name)
    if name in named(f"stump, {BOOSTING}"):
        assert model.feature_importances_[[0, -1]].tolist() == [0.0, 0.0]
        assert model.certificate_.n_candidates == plain.certificate_.n_candidates
    if name in named("stage-wise"):
        assert np.allclose(model.decision_function(wide), plain.decision_function(X), rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize("name", named(f"stump, {BOOSTING}"))
@pytest.mark.parametrize("scale", [1e300, 1e-310])
def test_the_unit_of_x_does_not_matter_for_stumps(name, scale):
    """A linear program has many solutions, which depend on the order of the rows; its value does not."""
    rows = np.random.default_rng(1).integers(-5, 6, size=(60, 3)).astype(float)
    y = (rows[:, 0] + rows[:, 1] > 0).astype(int)
    plain, scaled = (sound(name, {"n_estimators": 40}, X=own, y=y) for own in (rows, rows * scale))
    rel = 2 * plain.tol if name in ("stump", "MultiBoost") else TIGHT
    assert scaled.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=rel)
    if name in named("stump, stage-wise"):
        assert np.array_equal(scaled.predict(rows * scale), plain.predict(rows))


RECORDS = np.zeros(90, dtype=[("flag", "i1"), ("x", "f8", 6)])  # unaligned numbers
RECORDS["x"] = X
MAPPED = np.memmap(tempfile.TemporaryFile(), X.dtype, "w+", shape=X.shape)  # noqa: SIM115
MAPPED[:] = X
BYTES, SIGNS = np.abs(X).astype(np.uint8), 2.0 * Y - 1.0
NUMPY_FOURIER = Fourier(np.float32(0.5), np.int64(50), n_inputs=np.int32(2), standardize=np.True_, learn=np.False_)


def of(family: Any, **params: Any) -> dict[str, Any]:
    return {"params": {"weak_learner": family, "C": 1.0, **params}}  # C="scale" depends on the family


#: Estimator | input | equivalent input
SAME: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "big-endian": ("stump", {"X": X.astype(">f8")}, {}),
    "long doubles": ("stump", {"X": X.astype(np.longdouble)}, {}),
    "bytes": ("stump", {"X": BYTES}, {"X": BYTES.astype(float)}),
    "unaligned": ("stump", {"X": RECORDS["x"]}, {}),
    "memory map": ("stump", {"X": MAPPED}, {}),
    "lists": ("stump", {"X": X.tolist()}, {}),
    "masked array": ("stump", {"X": np.ma.masked_array(X)}, {}),
    "objects": ("stump", {"X": X.astype(object)}, {}),
    "broadcast": ("stump", {"X": np.broadcast_to(X, X.shape)}, {}),
    "NumPy's numbers": ("stump", of(Stump(np.int32(9)), C=np.float32(0.5), n_estimators=np.int64(4)),
                        of(Stump(9), C=0.5, n_estimators=4)),
    "NumPy's, Fourier": ("stump", of(NUMPY_FOURIER), of(Fourier(0.5, 50, n_inputs=2, standardize=True, learn=False))),
    "NumPy's, tree": ("stump", of(Tree(np.int64(4), max_features=np.float32(0.5))), of(Tree(4, max_features=0.5))),
    "too many inputs": ("stump", of(Fourier(n_inputs=50, learn=False)), of(Fourier(n_inputs=6, learn=False))),
    "names within a mixture": ("stump", {"X": FRAME, **of(["stump", Mixture([(Linear(), ["a", "b"])])])},
                               of(["stump", Mixture([(Linear(), [0, 1])])])),
    "a family of the user": ("stump", of(Spoilt(lambda column, first: Pricing(column))), of(Linear())),
    "responses with strides": ("stump", of(Spoilt(with_response(lambda h: np.repeat(h, 2)[::2]))), of(Linear())),
    "integer labels": ("loop", {"y": SIGNS.astype(int)}, {}),
    "labels as a column": ("loop", {"y": SIGNS[:, None]}, {}),
    "integers": ("loop with squares", {"y": np.arange(90)}, {"y": np.arange(90.0)[:, None]}),
}  # fmt: skip


@pytest.mark.parametrize("what", SAME)
def test_is_the_same_model(what):
    name, given, expected = SAME[what]
    one, other = fit(name, **given), fit(name, **expected)
    assert len(one.ensemble_) == len(other.ensemble_) >= 4
    decide = [getattr(model, "decision_function", model.predict) for model in (one, other)]
    assert decide[0](given.get("X", X)).tobytes() == decide[1](expected.get("X", X)).tobytes()


@pytest.mark.parametrize("name", ["AdaBoost", "LPBoost", "nu-LPBoost"])
def test_a_third_class_without_weight_is_ignored(name):
    model = fit(name, X=FLOWERS, y=SPECIES, sample_weight=(SPECIES > 0).astype(float))
    without = fit(name, X=FLOWERS[50:], y=SPECIES[50:])
    assert model.classes_.tolist() == [1, 2]
    assert model.decision_function(FLOWERS).tobytes() == without.decision_function(FLOWERS).tobytes()


# --- grids of searches


def search(**params: Any) -> CGEnsClassifierCV:
    params = {"Cs": 1, "n_estimators": 12, "cv": 2, "n_jobs": 1, **params}
    return CGEnsClassifierCV(**params).fit(np.arange(12.0)[:, None], np.arange(12) % 3 > 0)


def test_the_numbers_of_columns_of_a_search():
    for stages, n_estimators, tried in (
        ("paper", 500, [25, 50, 100, 250, 500]),
        ("paper", 60, [25, 50, 60]),
        ("paper", 12, [12]),
        ("log", 12, [5, 6, 7, 8, 9, 10, 11, 12]),
        ("log", 3, [3]),
        ([9, 3, 9, np.int64(1)], 12, [1, 3, 9]),
        (range(1, 4), 12, [1, 2, 3]),
    ):
        assert search(stages=stages, n_estimators=n_estimators).stages_.tolist() == tried
    many = search(stages="log", n_estimators=300).stages_
    assert (len(many), many[0], many[-1]) == (25, 5, 300)


def test_more_columns_than_exist_have_the_score_of_all_columns():
    model = search(stages=[2, 100, 200], n_estimators=200)
    assert np.array_equal(model.scores_[..., 1], model.scores_[..., 2])
    assert model.best_params_["n_estimators"] in (2, 100)
    assert model.n_columns_ < 12


def test_the_values_of_c_of_a_search():
    (middle,) = search(Cs=1).Cs_
    assert middle == search().best_estimator_.set_params(C="scale").fit(FLOWERS[:12], np.arange(12) % 3 > 0).C_
    assert np.allclose(search(Cs=3).Cs_ / middle, [1 / 3, 1, 3], rtol=CLOSED_FORM, atol=0)
    assert np.allclose(search(Cs=4).Cs_ / middle, [1 / 3, 1, 3, 9], rtol=CLOSED_FORM, atol=0)
    assert len(search(Cs=CGEnsClassifierCV().Cs).Cs_) == 7
    for Cs in ([0.3, 0.01], np.array([0.3, 0.01]), (C for C in [0.3, 0.01])):
        assert search(Cs=Cs).Cs_.tolist() == [0.3, 0.01]
    assert search(Cs=["scale", 1]).Cs_.tolist() == [middle, 1.0]


def test_the_order_of_the_values_of_c_does_not_matter():
    given, Cs = {"X": FLOWERS, "y": SPECIES}, [0.01, 0.1, 1.0]
    up, down = (fit("CGEnsClassifierCV", {"Cs": own}, **given) for own in (Cs, Cs[::-1]))
    assert up.best_params_ == down.best_params_
    assert np.allclose(up.scores_, down.scores_[:, ::-1], rtol=0, atol=CLOSED_FORM)
    assert up.predict(FLOWERS).tobytes() == down.predict(FLOWERS).tobytes()
