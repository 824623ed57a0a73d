"""A curve to fit, the regressor, and ridge regression to compare it with."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import Ridge

from cgens import CGEnsRegressor
from cgens.inspection import check_certificate
from tests.tolerances import CLOSED_FORM

PRICINGS = ["gain", "max"]


def table(n: int = 120, n_features: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Return a curve in two features, with noise."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, n_features))
    return X, 3 + np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)


X, Y = table()
SEVERAL = np.column_stack([Y, 100 * X[:, 2], np.random.default_rng(6).normal(size=len(Y))])


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
