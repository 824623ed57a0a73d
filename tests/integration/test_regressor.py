"""The regressor is ridge regression on the responses of its stumps, for one column of y and for many."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes

from cgens.inspection import check_certificate
from cgens.types import Status
from cgens.weak_learners import Stump
from tests.integration.regression import (
    PRICINGS,
    SEVERAL,
    X,
    Y,
    assert_close,
    fit,
    fit_and_check,
    ridge,
    some_weights,
    table,
)
from tests.reference.naive_stumps import naive_pool, pool_matrix
from tests.tolerances import CLOSED_FORM, IMPORTANCE


def rounded() -> tuple[np.ndarray, np.ndarray]:
    """Return the same with few distinct values: repeated rows with different targets, equal splits."""
    X, y = table()
    return X[:, :2].round(), y


def diabetes() -> tuple[np.ndarray, np.ndarray]:
    return load_diabetes(return_X_y=True)


DATA = {"curve": table, "ties": rounded, "diabetes": diabetes}


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
        weights, intercept = model.ensemble_.history[k]
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


@pytest.mark.parametrize("max_bins", [2, 8, None])
@pytest.mark.parametrize("weights", ["none", "real", "some zero"])
@pytest.mark.parametrize("pricing", PRICINGS)
def test_certificates_agree(pricing, weights, max_bins):
    for y in (Y, SEVERAL):
        fit_and_check(X, y, some_weights(len(X), weights), pricing=pricing, weak_learner=Stump(max_bins))
