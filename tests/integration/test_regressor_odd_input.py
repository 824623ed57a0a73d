"""Odd targets, costs, tables and weights: the regressor is still ridge regression, or says so."""

from __future__ import annotations

import warnings
from contextlib import suppress

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cgens import generate_columns
from cgens.inspection import check_certificate
from cgens.masters import LeastSquares
from cgens.types import Status
from cgens.weak_learners import Stump
from tests.integration.regression import PRICINGS, SEVERAL, X, Y, assert_close, fit, fit_and_check, ridge, some_weights
from tests.tolerances import CLOSED_FORM, NEGATIVE_GAP, POOL_SLACK


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
