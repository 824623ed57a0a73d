"""Least squares is ridge regression on the responses: of the selected columns, and at the end of the whole pool.

Two classes have the targets -1 and 1, more than two have simplex codes, and each label has -1 and 1.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge

from cgens import CGEnsClassifier, CGEnsRegressor
from cgens.coding import simplex_codes
from cgens.inspection import check_certificate
from cgens.types import Status
from cgens.weak_learners import Stump
from tests.integration.small_data import SMALL_DATA, flowers, multioutput, patients, regression, topics, wines
from tests.reference.naive_stumps import naive_pool, pool_matrix
from tests.tolerances import CLOSED_FORM

PRICINGS = ["gain", "max"]
X, Y = regression()
SEVERAL = multioutput()[1]


def rounded():
    """Return few distinct values: rows are repeated with different targets, and splits are tied."""
    return X[:, :2].round(), Y


def digits():
    X, y = load_digits(return_X_y=True)
    return X[:300], y[:300]


DATA = {
    **SMALL_DATA,
    "flowers": flowers,
    "wines": wines,
    "digits": digits,
    "topics": topics,
    "regression": regression,
    "ties": rounded,
    "multioutput": multioutput,
    "patients": patients,
}


def fit(X=X, y=Y, weight=None, **options):
    kind = CGEnsRegressor if np.asarray(y).dtype == float else CGEnsClassifier
    own = {"loss": "least_squares"} if kind is CGEnsClassifier else {}
    return kind(**{"weak_learner": "stump", "n_estimators": 15, "n_jobs": 1, **own, **options}).fit(
        X, y, sample_weight=weight
    )


def ridge(H, y, C, weight=None):
    return Ridge(alpha=1 / C).fit(H, y, sample_weight=weight)


def assert_close(values, expected):
    """Compare up to `CLOSED_FORM` of the largest value."""
    assert values.shape == expected.shape
    assert np.allclose(values, expected, rtol=0, atol=CLOSED_FORM * max(1.0, np.abs(expected).max()))


def weights_of(n):
    rng = np.random.default_rng(8)
    return [None, rng.random(n) + 0.01, rng.integers(0, 3, n).astype(float)]


@pytest.mark.parametrize("pricing", PRICINGS)
@pytest.mark.parametrize("name", DATA)
def test_equals_ridge_on_the_selected_columns(name, pricing):
    X, y = DATA[name]()
    codes = simplex_codes(y.max() + 1) if y.dtype != float and y.ndim == 1 and y.max() > 1 else None
    for weight in weights_of(len(y)):
        model = fit(X, y, weight, pricing=pricing)
        assert check_certificate(model, X, y, weight).problems == ()
        assert np.all(np.diff(model.trace_.primal) < 0)
        H = model.ensemble_.respond(X).astype(float)
        target = y if y.dtype == float else 2.0 * y - 1 if codes is None else codes[y]
        expected = ridge(H, target, model.C_, weight)
        assert_close(model.ensemble_.weights, np.atleast_2d(expected.coef_).T)
        assert_close(model.ensemble_.intercept, np.ravel(expected.intercept_))
        if y.dtype == float:
            assert_close(model.predict(X), expected.predict(H))
        elif codes is None:
            assert_close(model.decision_function(X), expected.predict(H))
        else:
            assert_close(model.decision_function(X), expected.predict(H) @ codes.T)
            assert np.allclose(model.decision_function(X).sum(axis=1), 0, rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize(
    ("y", "C", "pricing", "max_bins"),
    [
        (Y, 1e-3, "gain", 256),
        (SEVERAL, 0.1, "max", 256),
        (Y, 10.0, "max", None),
        (SEVERAL, 10.0, "gain", 256),
        (SEVERAL, 10.0, "max", 2),
        (Y, 0.1, "gain", 5),
    ],
)
def test_equals_ridge_on_all_stumps(y, C, pricing, max_bins):
    """At the end, by either rule."""
    model = fit(X, y, pricing=pricing, C=C, weak_learner=Stump(max_bins), n_estimators=100_000)
    assert check_certificate(model, X, y).problems == ()
    pool = naive_pool(X, np.ones(len(X)), max_bins)
    assert model.certificate_.status is Status.OPTIMAL
    assert model.certificate_.n_candidates == len(pool)
    assert model.certificate_.full_relative_gap == pytest.approx(0.0, abs=CLOSED_FORM)
    H = pool_matrix(pool, len(X))
    expected = ridge(H, y, C)
    new = X + np.random.default_rng(0).normal(scale=0.3, size=X.shape)
    H_new = np.column_stack([np.where(new[:, stump.feature] > stump.threshold, 1.0, -1.0) for stump in pool])
    assert_close(model.predict(X), expected.predict(H))
    assert_close(model.predict(new), expected.predict(H_new))


def test_gain_is_the_default_and_differs_from_max():
    plain, gain, most = fit(), fit(pricing="gain"), fit(pricing="max")
    assert plain.ensemble_.learners == gain.ensemble_.learners
    assert plain.ensemble_.learners != most.ensemble_.learners


def test_duals_are_c_times_the_weighted_residuals():
    weight = weights_of(len(X))[1]
    model = fit(X, SEVERAL, weight)
    assert_close(model.duals_, model.C_ * weight[:, None] * (SEVERAL - model.predict(X)))


def test_the_shape_of_predictions_is_that_of_the_targets():
    one, column, several = fit(C=0.1), fit(y=Y[:, None], C=0.1), fit(y=SEVERAL)
    assert one.predict(X).shape == one.duals_.shape == (90,)
    assert column.predict(X).shape == next(column.staged_predict(X)).shape == (90, 1)
    assert column.predict(X).ravel().tobytes() == one.predict(X).tobytes()
    assert several.predict(X).shape == several.duals_.shape == (90, 3)
    assert [model.n_outputs_ for model in (one, column, several)] == [1, 1, 3]
    assert one.score(X, Y) > 0.8


def test_targets_of_other_kinds():
    regress = CGEnsRegressor("stump", n_estimators=10, n_jobs=1).fit
    plain = regress(X, Y).predict(X).tobytes()
    for y in (Y.tolist(), pd.Series(Y), Y.astype(object), Y.astype(">f8"), np.repeat(Y, 2)[::2]):
        assert regress(X, y).predict(X).tobytes() == plain
    frame = pd.DataFrame(SEVERAL, columns=["a", "b", "c"])
    assert regress(X, frame).predict(X).tobytes() == regress(X, SEVERAL).predict(X).tobytes()
    for y in (Y.astype(np.float32), Y.astype(np.int64), Y.astype(np.int8), Y > 1):
        assert regress(X, y).predict(X).tobytes() == regress(X, y.astype(float)).predict(X).tobytes()
