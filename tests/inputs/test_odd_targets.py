"""With odd targets, values of C, tables and weights the regressor is still ridge regression, or warns."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge

from cgens import generate_columns
from cgens.masters import LeastSquares
from cgens.types import Status
from cgens.weak_learners import Stump
from tests.inputs.estimators import REGRESSION, X, assert_sound, fit_and_warnings, sound
from tests.tolerances import CLOSED_FORM, NEGATIVE_GAP, POOL_SLACK

RNG = np.random.default_rng(5)
Y = REGRESSION + 0.3 * RNG.normal(size=90)
SEVERAL = np.column_stack([Y, 100 * X[:, 2], RNG.normal(size=90)])
ALL_COLUMNS = 10_000
by_both_rules = pytest.mark.parametrize("pricing", ["gain", "max"])


def regress(X=X, y=Y, weight=None, **params):
    return fit_and_warnings("CGEnsRegressor", {"n_estimators": 30, **params}, X=X, y=y, sample_weight=weight)[0]


def assert_close(values, expected):
    """Compare up to `CLOSED_FORM` of the largest value."""
    assert values.shape == expected.shape
    assert np.allclose(values, expected, rtol=0, atol=CLOSED_FORM * max(1.0, np.abs(expected).max()))


@by_both_rules
@pytest.mark.parametrize("value", [0.0, 0.1, 1e6])
def test_a_constant_output_beside_another_changes_nothing(value, pricing):
    y = np.column_stack([Y, np.full(90, value)])
    alone, both = regress(pricing=pricing), sound("CGEnsRegressor", {"pricing": pricing, "n_estimators": 30}, y=y)
    assert np.allclose(both.predict(X)[:, 1], value, rtol=CLOSED_FORM, atol=CLOSED_FORM)
    assert np.array_equal(both.ensemble_.respond(X), alone.ensemble_.respond(X))
    assert_close(both.predict(X)[:, 0], alone.predict(X))


@pytest.mark.parametrize("shift", [-2.5, 1e3, 1e6, 1e9])
def test_a_shifted_target_shifts_the_prediction_and_has_no_negative_gap(shift):
    plain, shifted, whole = (
        regress(C=0.1),
        regress(y=Y + shift, C=0.1),
        regress(X[:40], Y[:40] + shift, n_estimators=ALL_COLUMNS),
    )
    for certificate in (shifted.certificate_, whole.certificate_):
        assert certificate.relative_gap >= -NEGATIVE_GAP
        assert certificate.full_relative_gap >= -NEGATIVE_GAP
    assert np.allclose(shifted.predict(X), plain.predict(X) + shift, rtol=0, atol=CLOSED_FORM * abs(shift))


@by_both_rules
@pytest.mark.parametrize("power", [-300, -1, 20, 300])
@pytest.mark.parametrize("y", [Y, SEVERAL], ids=["one output", "several"])
def test_a_target_times_a_power_of_two_multiplies_the_model(y, power, pricing):
    """In the loop to the last bit; an estimator derives the order of the rows from the contents of X and y."""
    scaled_y = y * 2.0**power
    (plain, trace), (scaled, scaled_trace) = (
        generate_columns(LeastSquares(0.1), Stump(), X, own, pricing=pricing, max_columns=30) for own in (y, scaled_y)
    )
    assert scaled.decision(X).tobytes() == (plain.decision(X) * 2.0**power).tobytes()
    assert scaled_trace.certificate.primal == trace.certificate.primal * 4.0**power
    model, scaled_model = regress(y=y, pricing=pricing), regress(y=scaled_y, pricing=pricing)
    assert np.array_equal(scaled.respond(X), plain.respond(X))
    assert np.array_equal(scaled_model.ensemble_.respond(X), model.ensemble_.respond(X))
    assert_close(scaled_model.predict(X) / 2.0**power, model.predict(X))


@by_both_rules
@pytest.mark.parametrize("power", range(-12, 13, 4))
def test_with_any_c_the_predictions_are_finite_and_a_gap_is_reported(power, pricing):
    for n_estimators in (20, ALL_COLUMNS):
        params = {"C": 10.0**power, "pricing": pricing, "n_estimators": n_estimators}
        model, caught = fit_and_warnings("CGEnsRegressor", params, X=X[:30], y=Y[:30])
        assert_sound(model, X[:30], Y[:30], tol=np.inf)
        assert np.all(np.isfinite(model.predict(X)))
        assert model.certificate_.relative_gap >= -NEGATIVE_GAP
        gave_up = model.certificate_.relative_gap > model.tol
        assert gave_up == (model.certificate_.status is Status.NOT_CONVERGED)
        assert gave_up == any(issubclass(warning.category, ConvergenceWarning) for warning in caught)


@by_both_rules
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("n_features", [3, 9])
def test_is_ridge_regression_on_collinear_columns_and_on_more_columns_than_rows(n_features, C, pricing):
    """Repeated, mirrored and coarser copies of the features, and indicators that sum to one."""
    few = np.random.default_rng(1).normal(size=(15, n_features))
    coarse = np.round(few[:, :3])
    indicators = (coarse[:, :1] == np.unique(coarse[:, 0])).astype(float)
    wide, y = np.column_stack([few, few, -few, coarse, coarse, indicators, 1 - indicators]), Y[:15]
    model = sound("CGEnsRegressor", {"C": C, "n_estimators": ALL_COLUMNS, "pricing": pricing}, X=wide, y=y)
    H = model.ensemble_.respond(wide).astype(float)
    assert_close(model.predict(wide), Ridge(alpha=1 / C).fit(H, y).predict(H))
    assert model.n_columns_ > 15
    assert model.score(wide, y) > 0.999 or C < 1e6


def with_extreme_weights(seed, n, n_features, C):
    rng = np.random.default_rng(seed)
    few = rng.integers(0, 4, size=(n, n_features)) if n_features == 1 else rng.normal(size=(n, n_features))
    y, weight = rng.normal(size=n), 10.0 ** rng.uniform(-6, 6, n)
    return regress(few, y, weight, C=C, n_estimators=1000), few, y


@pytest.mark.parametrize("C", [1.0, 1e3, 1e6])
def test_no_column_is_missing_at_the_optimum(C):
    for seed in range(40):
        certificate = with_extreme_weights(seed, 9, 1, C)[0].certificate_
        assert certificate.status is Status.OPTIMAL
        assert certificate.full_relative_gap <= 1e-3 + POOL_SLACK


@pytest.mark.parametrize("C", [1.0, 1e6, 3e9])
def test_weights_too_different_for_float64_give_no_absurd_model(C):
    for seed in range(7):
        model, few, y = with_extreme_weights(seed, 20, 2, C)
        assert np.abs(model.predict(few)).max() < 2 * np.abs(y).max()
