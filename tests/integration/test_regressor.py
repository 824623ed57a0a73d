"""The regressor is ridge regression on the responses of its stumps, for one column of y and for many."""

from __future__ import annotations

import warnings
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import Ridge

from cgens import CGEnsRegressor, generate_columns
from cgens.inspection import check_certificate
from cgens.masters import LeastSquares
from cgens.types import Status
from cgens.weak_learners import Stump
from tests.reference.naive_stumps import naive_pool, pool_matrix
from tests.tolerances import CLOSED_FORM, IMPORTANCE, NEGATIVE_GAP, POOL_SLACK

PRICINGS = ["gain", "max"]


def table(n: int = 120, n_features: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Return a curve in two features, with noise."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, n_features))
    return X, 3 + np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)


def rounded() -> tuple[np.ndarray, np.ndarray]:
    """Return the same with few distinct values: repeated rows with different targets, equal splits."""
    X, y = table()
    return X[:, :2].round(), y


def diabetes() -> tuple[np.ndarray, np.ndarray]:
    return load_diabetes(return_X_y=True)


X, Y = table()
SEVERAL = np.column_stack([Y, 100 * X[:, 2], np.random.default_rng(6).normal(size=len(Y))])
DATA = {"curve": table, "ties": rounded, "diabetes": diabetes}


def fit(X=X, y=Y, weight=None, **options):
    return CGEnsRegressor(**{"n_estimators": 30, "n_jobs": 1, **options}).fit(X, y, sample_weight=weight)


def fit_and_check(X=X, y=Y, weight=None, **options):
    model = fit(X, y, weight, **options)
    assert check_certificate(model, X, y, weight).problems == ()
    assert np.all(np.isfinite(model.predict(X)))
    assert model.certificate_.relative_gap <= model.tol
    return model


def ridge(H, y, C, weight=None):
    return Ridge(alpha=1 / C).fit(H, y, sample_weight=weight)


def assert_close(values, expected):
    """To `CLOSED_FORM` of the largest number there is."""
    assert values.shape == expected.shape
    assert np.allclose(values, expected, rtol=0, atol=CLOSED_FORM * max(1.0, np.abs(expected).max()))


def some_weights(n, kind):
    rng = np.random.default_rng(8)
    return {
        "none": None,
        "integers": rng.integers(1, 5, n).astype(float),
        "real": rng.random(n) + 0.01,
        "some zero": rng.integers(0, 3, n).astype(float),
    }[kind]


@pytest.mark.parametrize("weights", ["none", "integers", "real", "some zero"])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("pricing", PRICINGS)
@pytest.mark.parametrize("name", DATA)
def test_equals_ridge_on_the_selected_columns(name, pricing, n_outputs, weights):
    X, y = DATA[name]()
    if n_outputs > 1:
        y = np.column_stack([y, X[:, 0] ** 3, -y])
    weight = some_weights(len(X), weights)
    model = fit_and_check(X, y, weight, pricing=pricing)
    H = model.ensemble_.respond(X).astype(float)
    expected = ridge(H, y, model.C_, weight)
    assert_close(model.predict(X), expected.predict(H))
    assert_close(model.ensemble_.weights, expected.coef_.reshape(n_outputs, -1).T)
    assert_close(model.ensemble_.intercept, np.ravel(expected.intercept_))


@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("pricing", PRICINGS)
def test_equals_ridge_on_all_stumps(pricing, n_outputs, C):
    """Run to the end, whatever the way there."""
    y = SEVERAL[:, :n_outputs]
    model = fit_and_check(X, y, pricing=pricing, C=C, n_estimators=100_000)
    pool = naive_pool(X)
    assert model.certificate_.status is Status.OPTIMAL
    assert model.certificate_.n_candidates == len(pool)
    assert model.certificate_.full_relative_gap == pytest.approx(0.0, abs=CLOSED_FORM)
    H = pool_matrix(pool, len(X))
    expected = ridge(H, y, C)
    new = X + np.random.default_rng(0).normal(scale=0.3, size=X.shape)
    H_new = np.column_stack([np.where(new[:, stump.feature] > stump.threshold, 1.0, -1.0) for stump in pool])
    assert_close(model.predict(X), expected.predict(H).reshape(y.shape))
    assert_close(model.predict(new), expected.predict(H_new).reshape(y.shape))


@pytest.mark.parametrize("max_bins", [2, 5, None])
def test_equals_ridge_on_all_stumps_of_few_bins(max_bins):
    model = fit_and_check(weak_learner=Stump(max_bins), C=0.1, n_estimators=100_000)
    pool = naive_pool(X, np.ones(len(X)), max_bins)
    H = pool_matrix(pool, len(X))
    assert model.certificate_.n_candidates == len(pool)
    assert_close(model.predict(X), ridge(H, Y, 0.1).predict(H))


@pytest.mark.parametrize("pricing", PRICINGS)
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_stages(pricing, n_outputs):
    y = Y if n_outputs == 1 else SEVERAL
    model = fit(X, y, pricing=pricing, C=0.1)
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_columns_ == 30
    assert_close(stages[-1], model.predict(X))
    for k, stage in enumerate(stages, start=1):
        H = model.ensemble_.respond(X)[:, :k].astype(float)
        assert_close(stage, ridge(H, y, 0.1).predict(H))
        weights, intercept = model.ensemble_.path[k]
        assert_close(stage.reshape(len(X), -1), H @ weights + intercept)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_gain_adds_the_column_that_lowers_the_objective_most(n_outputs):
    """Tried one by one: no stump of the pool would have been better."""
    few, y = X[:40, :2], SEVERAL[:40, :n_outputs]
    model = fit(few, y, C=0.1, n_estimators=4)
    pool = pool_matrix(naive_pool(few), len(few))

    def objective(H):
        best = ridge(H, y, 0.1)
        residuals = y - best.predict(H).reshape(y.shape)
        return 0.5 * np.sum(best.coef_**2) + 0.05 * np.sum(residuals**2)

    H = model.ensemble_.respond(few).astype(float)
    for k in range(1, 5):
        tried = [objective(np.column_stack([H[:, : k - 1], column])) for column in pool.T]
        assert objective(H[:, :k]) == pytest.approx(min(tried), rel=CLOSED_FORM)
        assert model.trace_.primal[k] == pytest.approx(min(tried), rel=CLOSED_FORM)


def test_gain_is_the_default_and_max_is_another():
    plain, gain, most = fit(), fit(pricing="gain"), fit(pricing="max")
    assert plain.ensemble_.learners == gain.ensemble_.learners
    assert plain.ensemble_.learners != most.ensemble_.learners


def test_shapes():
    one, column, several = fit(C=0.1), fit(y=Y[:, None], C=0.1), fit(y=SEVERAL)
    assert one.predict(X).shape == one.duals_.shape == one.bound_duals_.shape == (120,)
    assert column.predict(X).shape == (120, 1)
    assert column.predict(X).ravel().tobytes() == one.predict(X).tobytes()
    assert next(column.staged_predict(X)).shape == (120, 1)
    assert several.predict(X).shape == several.duals_.shape == (120, 3)
    assert [model.n_outputs_ for model in (one, column, several)] == [1, 1, 3]
    assert several.ensemble_.weights.shape == (30, 3)
    assert one.loss_ == "squared"
    assert one.score(X, Y) > 0.8


def test_duals_are_c_times_the_weighted_residuals():
    weight = some_weights(len(X), "integers")
    model = fit(X, SEVERAL, weight)
    expected = model.C_ * weight[:, None] * (SEVERAL - model.predict(X))
    assert np.allclose(model.duals_, expected, rtol=0, atol=CLOSED_FORM * np.abs(expected).max())


def test_importances_are_the_spread_of_each_features_part():
    model = fit(X, SEVERAL)
    parts = np.zeros((*X.shape, 3))
    for learner, w in zip(model.ensemble_.learners, model.ensemble_.weights, strict=True):
        parts[:, learner.feature] += np.multiply.outer(learner.respond(X), w)
    spread = np.sqrt(parts.var(axis=0).sum(axis=1))
    assert np.allclose(model.feature_importances_, spread / spread.sum(), rtol=0, atol=IMPORTANCE)


@pytest.mark.parametrize("value", [0.0, 3.0, 0.1, -1e10 - 0.1])
def test_a_constant_target(value):
    y = np.full(len(X), value)
    with pytest.warns(UserWarning, match="constant"):
        model = fit(y=y)
    assert model.n_columns_ == 0
    assert model.predict(X).tolist() == [pytest.approx(value, rel=1e-15)] * len(X)
    assert model.certificate_.status is Status.OPTIMAL
    assert [stage.shape for stage in model.staged_predict(X)] == [(120,)]
    assert check_certificate(model, X, y).problems == ()


@pytest.mark.parametrize("pricing", PRICINGS)
@pytest.mark.parametrize("value", [0.0, 0.1, 1e6])
def test_one_constant_column_among_several(value, pricing):
    y = np.column_stack([Y, np.full(len(X), value)])
    model = fit_and_check(X, y, pricing=pricing)
    assert np.allclose(model.predict(X)[:, 1], value, rtol=CLOSED_FORM, atol=CLOSED_FORM)
    assert model.ensemble_.learners == fit(pricing=pricing).ensemble_.learners
    assert_close(model.predict(X)[:, 0], fit(pricing=pricing).predict(X))


def test_constant_features_give_the_mean():
    weight = some_weights(len(X), "integers")
    with pytest.warns(UserWarning, match="constant"):
        model = fit(np.ones_like(X), SEVERAL, weight)
    assert_close(model.predict(np.ones((1, 4)))[0], np.average(SEVERAL, axis=0, weights=weight))


@pytest.mark.parametrize("shift", [-2.5, 1e3, 1e6])
def test_a_shifted_target_shifts_the_prediction(shift):
    plain, shifted = fit(C=0.1), fit(y=Y + shift, C=0.1)
    assert np.allclose(shifted.predict(X), plain.predict(X) + shift, rtol=0, atol=CLOSED_FORM * abs(shift))


@pytest.mark.parametrize("shift", [1e3, 1e6, 1e9])
def test_a_target_far_from_zero_has_no_negative_gap(shift):
    for n_estimators in (30, 10_000):
        certificate = fit(y=Y + shift, C=0.1, n_estimators=n_estimators).certificate_
        assert certificate.relative_gap >= -NEGATIVE_GAP
        assert certificate.full_relative_gap >= -NEGATIVE_GAP


POWERS = [-300, -40, -1, 1, 20, 300]


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("pricing", PRICINGS)
def test_a_target_times_a_power_of_two_multiplies_every_bit(pricing, power):
    """Run the loop itself: an estimator derives the order of the rows from the contents of X and y."""
    options = {"pricing": pricing, "max_columns": 30}
    for y in (Y, SEVERAL):
        plain, trace = generate_columns(LeastSquares(0.1), Stump(), X, y, **options)
        scaled, scaled_trace = generate_columns(LeastSquares(0.1), Stump(), X, y * 2.0**power, **options)
        assert scaled.learners == plain.learners
        assert scaled.decision(X).tobytes() == (plain.decision(X) * 2.0**power).tobytes()
        assert scaled_trace.certificate.primal == trace.certificate.primal * 4.0**power


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("pricing", PRICINGS)
def test_a_target_times_a_power_of_two_multiplies_the_prediction(pricing, power):
    for y in (Y, SEVERAL):
        plain, scaled = fit(y=y, pricing=pricing), fit(y=y * 2.0**power, pricing=pricing)
        assert scaled.ensemble_.learners == plain.ensemble_.learners
        assert_close(scaled.predict(X) / 2.0**power, plain.predict(X))


@pytest.mark.parametrize("scale", [1e-200, 1e-310])
def test_a_target_whose_squares_are_no_numbers_is_fitted_or_refused(scale):
    """But never taken for a constant."""
    with suppress(ValueError):
        assert fit(y=Y * scale).n_columns_ == 30


@pytest.mark.parametrize("pricing", PRICINGS)
@pytest.mark.parametrize("power", range(-12, 13))
def test_any_cost_gives_finite_predictions_or_says_so(power, pricing):
    few, y = X[:30], Y[:30]
    for n_estimators in (20, 10_000):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = fit(few, y, C=10.0**power, pricing=pricing, n_estimators=n_estimators)
        assert np.all(np.isfinite(model.predict(X)))
        gave_up = model.certificate_.relative_gap > model.tol
        assert gave_up == (model.certificate_.status is Status.NOT_CONVERGED)
        assert gave_up == any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
        assert model.certificate_.relative_gap >= -NEGATIVE_GAP
        assert check_certificate(model, few, y).problems == ()


def test_a_gap_that_rounding_forbids_is_a_warning():
    with pytest.warns(ConvergenceWarning, match=r"The master problem over the \d+ columns.*tol=1e-15.*lower C"):
        model = fit(C=1e12, tol=1e-15, n_estimators=10_000)
    assert model.certificate_.status is Status.NOT_CONVERGED


def test_one_row():
    for y in (np.array([4.0]), np.array([[4.0, -1.0]])):
        with pytest.warns(UserWarning, match="constant"):
            model = fit(X[:1], y)
        assert model.predict(X[5:7]).tolist() == [y[0].tolist()] * 2
        assert check_certificate(model, X[:1], y).problems == ()


@pytest.mark.parametrize("pricing", PRICINGS)
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e6])
def test_more_columns_than_rows(C, pricing):
    rng = np.random.default_rng(1)
    wide, y = rng.normal(size=(15, 40)), rng.normal(size=15)
    model = fit_and_check(wide, y, C=C, n_estimators=10_000, pricing=pricing)
    assert model.n_columns_ > 15
    H = model.ensemble_.respond(wide).astype(float)
    assert_close(model.predict(wide), ridge(H, y, C).predict(H))
    assert model.score(wide, y) > 0.999 or C < 1e6


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e6])
def test_collinear_features(C):
    """Repeated, mirrored and coarser copies of the features, and indicators that sum to one."""
    coarse = np.round(X)
    indicators = np.column_stack([coarse[:, 0] == value for value in np.unique(coarse[:, 0])]).astype(float)
    wide = np.column_stack([X, X, -X, coarse, coarse, indicators, 1 - indicators])
    model = fit_and_check(wide, Y, C=C, n_estimators=10_000)
    H = model.ensemble_.respond(wide).astype(float)
    assert_close(model.predict(wide), ridge(H, Y, C).predict(H))


@pytest.mark.parametrize("pricing", PRICINGS)
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_warm_start_is_one_fit(pricing, n_outputs):
    y = SEVERAL[:, :n_outputs]
    model = fit(X, y, pricing=pricing, warm_start=True, n_estimators=8)
    model.set_params(n_estimators=20).fit(X, y)
    at_once = fit(X, y, pricing=pricing, n_estimators=20)
    assert model.ensemble_.learners == at_once.ensemble_.learners
    assert model.n_iter_ == 12
    assert_close(model.predict(X), at_once.predict(X))
    assert len(list(model.staged_predict(X))) == 20
    assert check_certificate(model, X, y).problems == ()


def test_warm_start_with_another_number_of_outputs():
    model = fit(warm_start=True)
    with pytest.raises(ValueError, match=r"warm_start.*1 outputs.*3"):
        model.set_params(n_estimators=40).fit(X, SEVERAL)
    assert model.n_outputs_ == 1
    assert model.predict(X).shape == (120,)


def test_targets_of_other_kinds():
    plain = fit().predict(X)
    for y in (Y.tolist(), pd.Series(Y), Y.astype(object), Y.astype(">f8"), np.repeat(Y, 2)[::2]):
        assert fit(y=y).predict(X).tobytes() == plain.tobytes()
    frame = pd.DataFrame(SEVERAL, columns=["a", "b", "c"])
    assert fit(y=frame).predict(X).tobytes() == fit(y=SEVERAL).predict(X).tobytes()
    for y in (Y.astype(np.float32), Y.astype(np.int64), Y.astype(np.int8), Y > 3):
        assert fit(y=y).predict(X).tobytes() == fit(y=y.astype(float)).predict(X).tobytes()


def changed(values, index, value):
    copy = np.array(values, dtype=object if isinstance(value, str) else None)
    copy[index] = value
    return copy


# What is done | what its sentence says: the value, or where it is.
BAD = {
    "NaN in y": (lambda: fit(y=changed(Y, 3, np.nan)), "NaN"),
    "NaN in one of several": (lambda: fit(y=changed(SEVERAL, (3, 1), np.nan)), "NaN"),
    "inf in y": (lambda: fit(y=changed(Y, 3, np.inf)), "infinity"),
    "-inf in y": (lambda: fit(y=changed(Y, 3, -np.inf)), "infinity"),
    "text in y": (lambda: fit(y=np.array(["a", "b"])[(Y > 3).astype(int)]), r"numbers.*'?[ab]'?.*CGEnsClassifier"),
    "one text in y": (lambda: fit(y=changed(Y, 3, "red")), r"numbers.*red"),
    "complex y": (lambda: fit(y=Y + 1j), "(?i)complex"),
    "y too large": (lambda: fit(y=Y * 1e200), r"target.*e\+200.*multiply"),
    "y too large for its squares": (lambda: fit(y=Y * 1e150), r"target.*e\+15.*multiply"),
    "y too large for squares of its squares": (lambda: fit(y=Y * 1e300), r"target.*e\+30.*multiply"),
    "no y": (lambda: fit(y=None), "y"),
    "y too short": (lambda: fit(y=Y[:-1]), r"120.*119"),
    "y of three axes": (lambda: fit(y=Y[:, None, None]), "dim 3"),
    "y of no columns": (lambda: fit(y=np.empty((120, 0))), "0 feature|0 column"),
    "sparse y": (lambda: fit(y=sparse.csr_matrix(SEVERAL)), "(?i)sparse"),
    "NaN in X": (lambda: fit(changed(X, (3, 2), np.nan)), r"NaN.*row 3, column 2"),
    "all weights zero": (lambda: fit(weight=np.zeros(120)), "(?i)weight"),
    "negative weight": (lambda: fit(weight=changed(np.ones(120), 3, -1.0)), "(?i)negative"),
    "weights too short": (lambda: fit(weight=np.ones(119)), "119"),
    "no rows": (lambda: fit(X[:0], Y[:0]), "0 sample"),
    "unknown loss": (lambda: fit(loss="hinge"), r"loss.*'squared'.*'hinge'"),
    "unknown pricing": (lambda: fit(pricing="best"), r"pricing.*'gain'.*'best'"),
    "pricing = None": (lambda: fit(pricing=None), r"pricing.*None"),
    "C = 0": (lambda: fit(C=0), r"C .*\b0\b"),
    "C = 'auto'": (lambda: fit(C="auto"), r"C .*'auto'"),
    "C beyond all numbers": (lambda: fit(C=1e300), r"C .*1e\+300"),
    "n_estimators = 0": (lambda: fit(n_estimators=0), r"n_estimators.*\b0\b"),
    "tol = 0": (lambda: fit(tol=0), r"tol.*\b0\b"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence(name):
    act, pattern = BAD[name]
    with pytest.raises((ValueError, TypeError), match=r"(?s)" + pattern) as raised:
        act()
    assert "incompatible function arguments" not in str(raised.value)


def test_not_fitted():
    with pytest.raises(NotFittedError, match="CGEnsRegressor"):
        CGEnsRegressor().predict(X)
    assert not hasattr(CGEnsRegressor(), "feature_importances_")
    assert not hasattr(CGEnsRegressor(), "decision_function")


@pytest.mark.parametrize("broken", [{"C": -1.0}, {"n_estimators": 0}, {"weak_learner": Stump(1)}, {"pricing": "?"}])
def test_a_fit_that_fails_leaves_the_model_as_it_was(broken):
    model = fit(X, SEVERAL)
    before = model.predict(X)
    with pytest.raises(ValueError, match=r"\w"):
        model.set_params(**broken).fit(X[:, :2], Y)
    assert model.n_features_in_ == 4
    assert model.n_outputs_ == 3
    assert model.predict(X).tobytes() == before.tobytes()


@pytest.mark.parametrize("max_bins", [2, 8, None])
@pytest.mark.parametrize("weights", ["none", "real", "some zero"])
@pytest.mark.parametrize("pricing", PRICINGS)
def test_certificates_agree(pricing, weights, max_bins):
    for y in (Y, SEVERAL):
        fit_and_check(X, y, some_weights(len(X), weights), pricing=pricing, weak_learner=Stump(max_bins))


def test_weights_of_very_different_size(rng):
    fit_and_check(X, Y, 10.0 ** rng.uniform(-8, 8, len(Y)), C=1e-6)


def very_different_weights(seed, n, n_features):
    rng = np.random.default_rng(seed)
    few = rng.integers(0, 4, size=(n, n_features)) if n_features == 1 else rng.normal(size=(n, n_features))
    return few.astype(float), rng.normal(size=n), 10.0 ** rng.uniform(-6, 6, n)


@pytest.mark.parametrize("C", [1.0, 1e3, 1e6])
def test_optimal_is_said_only_where_no_column_is_missing(C):
    for seed in range(40):
        few, y, weight = very_different_weights(seed, 9, 1)
        certificate = fit(few, y, weight, C=C, n_estimators=1000).certificate_
        assert certificate.status is not Status.OPTIMAL or certificate.full_relative_gap <= 1e-3 + POOL_SLACK


@pytest.mark.parametrize("C", [1.0, 1e6, 3e9])
def test_numbers_too_different_for_doubles_are_a_warning_and_not_an_absurd_model(C):
    for seed in range(7):
        few, y, weight = very_different_weights(seed, 20, 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = fit(few, y, weight, C=C, n_estimators=1000)
        assert np.abs(model.predict(few)).max() < 100 * np.abs(y).max()
