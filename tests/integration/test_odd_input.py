"""Odd but valid input: every one of these must give a sound model."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cgens import CGEnsClassifier
from cgens.inspection import check_certificate
from cgens.types import Status
from cgens.weak_learners import Stump
from tests.integration.small_data import noisy


def fit_and_check(X, y, weight=None, **options):
    model = CGEnsClassifier(**{"n_estimators": 20, **options}).fit(X, y, sample_weight=weight)
    assert check_certificate(model, X, y, weight).problems == ()
    assert np.all(np.isfinite(model.decision_function(X)))
    assert model.certificate_.relative_gap <= model.tol
    return model


@pytest.mark.parametrize(("heavier", "weight"), [(0, None), (1, None), (1, [1.0, 1.0, 1.0, 9.0])])
def test_constant_features_give_a_bias_only_model(heavier, weight):
    y = np.array([0, 0, 0, 1]) if heavier == 0 or weight is not None else np.array([1, 1, 1, 0])
    X = np.full((4, 3), 2.5)
    with pytest.warns(UserWarning, match="constant"):
        model = CGEnsClassifier().fit(X, y, sample_weight=weight)
    assert model.n_columns_ == 0
    assert model.predict(X).tolist() == [heavier] * 4
    assert model.certificate_.status is Status.OPTIMAL
    assert model.certificate_.n_candidates == 0
    assert abs(model.certificate_.relative_gap) <= 1e-12
    assert model.feature_importances_.tolist() == [0.0, 0.0, 0.0]
    assert [stage.tolist() for stage in model.staged_predict(X)] == [[heavier] * 4]
    assert check_certificate(model, X, y, weight).agrees


def test_equally_heavy_classes_without_features_to_tell_them_apart():
    X, y = np.zeros((4, 1)), np.array([0, 1, 0, 1])
    with pytest.warns(UserWarning, match="constant"):
        model = CGEnsClassifier().fit(X, y)
    assert abs(model.ensemble_.intercept[0]) <= 1
    assert len(set(model.predict(X))) == 1


def test_some_constant_features():
    X, y = noisy()
    X = np.column_stack([np.zeros(len(X)), X, np.full(len(X), 1e9)])
    model = fit_and_check(X, y)
    assert model.feature_importances_[[0, -1]].tolist() == [0.0, 0.0]


def test_one_row_per_class():
    X = np.array([[0.0, 5.0], [1.0, 5.0]])
    model = fit_and_check(X, ["a", "b"])
    assert model.predict(X).tolist() == ["a", "b"]
    assert model.n_columns_ == 1
    assert model.ensemble_.learners[0].threshold == 0.5


def test_all_rows_the_same_but_the_label():
    """Nothing tells the classes apart: contradictory rows alone."""
    X, y = np.ones((10, 2)), np.array([0] * 7 + [1] * 3)
    with pytest.warns(UserWarning, match="constant"):
        model = CGEnsClassifier().fit(X, y)
    assert model.predict(X).tolist() == [0] * 10


def test_duplicate_and_contradictory_rows(rng):
    X = rng.integers(0, 2, size=(200, 3)).astype(float)
    y = (X[:, 0] + rng.random(200) > 0.8).astype(int)
    model = fit_and_check(X, y)
    assert model.certificate_.n_candidates == 3
    assert model.score(X, y) >= max(y.mean(), 1 - y.mean())


@pytest.mark.parametrize("scale", [1e300, 1e-300, 1e-310])
def test_extreme_values(scale, rng):
    X = rng.integers(-5, 6, size=(60, 3)).astype(float)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    model = fit_and_check(X * scale, y, C=1.0, n_estimators=100)
    assert np.array_equal(model.predict(X * scale), CGEnsClassifier(C=1.0, n_estimators=100).fit(X, y).predict(X))
    assert all(np.isfinite(learner.threshold) for learner in model.ensemble_.learners)


def test_the_whole_range_of_doubles_in_one_feature():
    X = np.array([-1.7e308, -1e300, -1.0, -5e-324, 0.0, 5e-324, 1e-300, 1.0, 1e300, 1.7e308])[:, None]
    y = (np.arange(10) % 2).astype(int)
    model = fit_and_check(X, y, C=100.0, n_estimators=100)
    assert np.array_equal(model.predict(X), y)


def test_neighbouring_numbers_are_told_apart():
    X = np.array([[1.0], [np.nextafter(1.0, 2)]] * 5)
    y = np.array([0, 1] * 5)
    assert np.array_equal(fit_and_check(X, y).predict(X), y)


def unaligned(X):
    """Return the same numbers at odd addresses, as a field of packed records."""
    records = np.zeros(len(X), dtype=[("flag", "i1"), ("x", "f8", X.shape[1:])])
    records["x"] = X
    return records["x"]


def masked(X):
    return np.ma.masked_array(X)


def read_only(X):
    copy = X.copy()
    copy.flags.writeable = False
    return copy


LAYOUTS = {
    "Fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": read_only,
    "big-endian": lambda X: X.astype(">f8"),
    "unaligned": unaligned,
    "list": lambda X: X.tolist(),
    "masked array": masked,
    "objects": lambda X: X.astype(object),
    "broadcast": lambda X: np.broadcast_to(X, X.shape),
    "memory map": lambda X: X,
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout, tmp_path):
    X, y = noisy()
    same = LAYOUTS[layout](X)
    if layout == "memory map":
        np.save(tmp_path / "X.npy", X)
        same = np.load(tmp_path / "X.npy", mmap_mode="r")
    expected = CGEnsClassifier(n_estimators=10).fit(X, y)
    model = CGEnsClassifier(n_estimators=10).fit(same, y)
    assert model.decision_function(X).tobytes() == expected.decision_function(X).tobytes()
    assert expected.decision_function(same).tobytes() == expected.decision_function(X).tobytes()


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64, np.float16, np.float32, np.longdouble])
def test_number_types(dtype):
    X, y = noisy()
    X = np.abs(X).round().astype(dtype)
    model = CGEnsClassifier(n_estimators=10).fit(X, y)
    expected = CGEnsClassifier(n_estimators=10).fit(X.astype(float), y)
    assert model.decision_function(X).tobytes() == expected.decision_function(X.astype(float)).tobytes()


@pytest.mark.parametrize(
    "labels", [["b", "a"], [True, False], [10, -10], [0, 1], [2.0, 1.0], np.array(["x", "y"], dtype=object)]
)
def test_any_two_labels(labels):
    X, y = noisy()
    named = np.asarray(labels)[y]
    model = CGEnsClassifier(n_estimators=30).fit(X, named)
    assert model.classes_.tolist() == sorted(np.asarray(labels).tolist())
    assert set(model.predict(X).tolist()) <= set(np.asarray(labels).tolist())
    assert model.score(X, named) > 0.7
    upper = model.decision_function(X) > 0
    assert np.array_equal(model.predict(X)[upper], np.full(upper.sum(), model.classes_[1]))


@pytest.mark.parametrize("C", [1e-90, 1e-12, 1e-4, 1e4])
def test_any_cost(C):
    X, y = noisy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit_and_check(X, y, C=C, n_estimators=10)
    assert model.certificate_.primal > 0


def test_weights_of_very_different_size(rng):
    X, y = noisy()
    fit_and_check(X, y, 10.0 ** rng.uniform(-8, 8, len(y)), C=1e-6)


def test_a_numpy_integer_is_an_integer():
    X, y = noisy()
    model = fit_and_check(X, y, n_estimators=np.int64(4), C=np.float32(0.5), weak_learner=Stump(np.int32(9)))
    assert model.n_columns_ == 4


def test_one_feature_and_many_rows(rng):
    x = rng.random(3000)[:, None]
    y = (np.sin(12 * x[:, 0]) > 0).astype(int)
    model = fit_and_check(x, y, n_estimators=60)
    assert model.score(x, y) > 0.95


def test_more_features_than_rows(rng):
    X = rng.normal(size=(12, 300))
    y = np.arange(12) % 2
    assert fit_and_check(X, y, C=10.0, n_estimators=50).score(X, y) == 1.0


def test_a_solve_that_gives_up_is_a_warning_and_a_status(rng):
    """Labels drawn by lot, a huge C and a gap of almost nothing: more sweeps than there are."""
    X = rng.normal(size=(400, 5))
    y = rng.integers(0, 2, 400)
    with pytest.warns(ConvergenceWarning, match=r"relative gap of .* not tol=1e-15.*lower C"):
        model = CGEnsClassifier(n_estimators=40, tol=1e-15, C=1e6).fit(X, y)
    assert model.certificate_.status is Status.NOT_CONVERGED
    assert model.certificate_.relative_gap > 1e-15
    assert check_certificate(model, X, y).agrees
