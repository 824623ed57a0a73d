"""Smooth losses through the estimators: against scikit-learn on the same columns, and their probabilities."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.metrics import d2_pinball_score, log_loss
from sklearn.model_selection import GridSearchCV

from cgens import CGEnsClassifier, CGEnsClassifierCV, CGEnsRegressor, generate_columns
from cgens.coding import simplex_codes
from cgens.inspection import check_certificate
from cgens.masters import EpsilonInsensitive, Huber, Logistic, Poisson, Quantile
from cgens.weak_learners import Stump
from tests.tolerances import NEGATIVE_GAP

TIGHT_TOL = 1e-11


def classes(n_classes):
    X, y = (load_breast_cancer if n_classes == 2 else load_wine)(return_X_y=True)
    return X, y, np.random.default_rng(0).choice([0.0, 1.0, 2.5], size=len(y))


def positive(weight, *arrays):
    return [array[weight > 0] for array in (*arrays, weight)]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("C", [0.003, 0.1, 3.0])
def test_logistic_loss_is_scikit_learns_on_the_same_columns(n_classes, C):
    X, y, weight = classes(n_classes)
    model = CGEnsClassifier(loss="logistic", C=C, n_estimators=30, tol=TIGHT_TOL).fit(X, y, weight)
    X, y, weight = positive(weight, X, y)
    H = model.ensemble_.respond(X).astype(float)
    peer_c = C if n_classes == 2 else C * n_classes / (n_classes - 1)
    peer = LogisticRegression(C=peer_c, tol=1e-10, max_iter=100_000, solver="newton-cg").fit(H, y, weight)
    losses = log_loss(y, peer.predict_proba(H), sample_weight=weight, normalize=False)
    coefficients = peer.coef_ if n_classes == 2 else np.sqrt((n_classes - 1) / n_classes) * peer.coef_
    objective = 0.5 * np.sum(coefficients**2) + C * losses
    assert model.certificate_.primal == pytest.approx(objective, rel=1e-8)
    assert np.abs(model.predict_proba(X) - peer.predict_proba(H)).max() <= 1e-5
    assert model.certificate_.primal <= objective * (1 + 1e-10)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_poisson_loss_is_scikit_learns_on_the_same_columns(C):
    X, _ = load_diabetes(return_X_y=True)
    rng = np.random.default_rng(0)
    y, weight = rng.poisson(np.exp(1 + 20 * X[:, 2])), rng.choice([0.0, 1.0, 2.0], size=len(X))
    model = CGEnsRegressor(loss="poisson", C=C, n_estimators=30, tol=TIGHT_TOL).fit(X, y, weight)
    X, y, weight = positive(weight, X, y)
    H = model.ensemble_.respond(X).astype(float)
    peer = PoissonRegressor(alpha=1 / (C * weight.sum()), tol=1e-12, max_iter=10_000, solver="newton-cholesky")
    peer.fit(H, y, weight)
    assert np.allclose(model.predict(X), peer.predict(H), rtol=1e-5)
    assert np.allclose(model.ensemble_.weights[:, 0], peer.coef_, atol=1e-5 * np.abs(peer.coef_).max())


def test_huber_loss_is_minimized():
    X, y = load_diabetes(return_X_y=True)
    model = CGEnsRegressor(loss=Huber(delta=20.0), C=0.01, n_estimators=15, tol=TIGHT_TOL).fit(X, y)
    H = model.ensemble_.respond(X).astype(float)

    def objective(parameters):
        residual = np.abs(H @ parameters[1:] + parameters[0] - y)
        near = np.minimum(residual, 20.0)
        return 0.5 * parameters[1:] @ parameters[1:] + 0.01 * np.sum(near * (residual - 0.5 * near))

    start = np.append(np.median(y), np.zeros(15))
    peer = minimize(objective, start, method="BFGS", options={"gtol": 1e-9, "maxiter": 10_000})
    assert model.certificate_.primal == pytest.approx(peer.fun, rel=1e-8)


def test_huber_loss_withstands_outliers():
    """Also its default delta, which is measured by the interquartile range."""
    X, y = load_diabetes(return_X_y=True)
    spoiled = np.where(np.arange(len(y)) % 20 == 0, 1e5, y)
    errors = {loss: np.abs(CGEnsRegressor(loss=loss).fit(X, spoiled).predict(X) - y) for loss in ("huber", "squared")}
    assert np.median(errors["huber"]) < 60 < np.median(errors["squared"])


LOSSES = ["logistic", "squared_hinge", "least_squares"]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_certificates_of_classes(loss, n_classes):
    X, y, weight = classes(n_classes)
    model = CGEnsClassifier(loss=loss, n_estimators=20).fit(X, y, weight)
    check = check_certificate(model, X, y, weight)
    assert check.agrees, check.problems
    assert model.certificate_.scope == "pool"
    assert -NEGATIVE_GAP <= model.certificate_.relative_gap <= model.tol


@pytest.mark.parametrize("loss", ["huber", "poisson", "squared"])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_certificates_of_regression(loss, n_outputs):
    X, y = load_diabetes(return_X_y=True)
    y = np.column_stack([y, y[::-1] / 10]).round()[:, :n_outputs]
    model = CGEnsRegressor(loss=loss, n_estimators=20).fit(X, y)
    check = check_certificate(model, X, y)
    assert check.agrees, check.problems


@pytest.mark.parametrize("loss", ["logistic", "least_squares"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_agree_with_predictions(loss, n_classes):
    X, y, weight = classes(n_classes)
    model = CGEnsClassifier(loss=loss, n_estimators=20).fit(X, y, weight)
    found = model.predict_proba(X)
    assert found.shape == (len(X), n_classes)
    assert np.allclose(found.sum(axis=1), 1)
    assert found.min() >= 0
    assert np.array_equal(model.classes_[found.argmax(axis=1)], model.predict(X))
    assert np.allclose(np.exp(model.predict_log_proba(X)), found)
    *_, last = model.staged_predict_proba(X)
    assert np.allclose(last, found)


@pytest.mark.parametrize("loss", ["logistic", "least_squares"])
def test_probabilities_of_labels(loss):
    X, y, _ = classes(3)
    labels = np.column_stack([y == 0, y > 0, X[:, 0] > 13]).astype(int)
    model = CGEnsClassifier(loss=loss, n_estimators=20).fit(X, labels)
    found = model.predict_proba(X)
    assert found.shape == labels.shape
    assert np.array_equal(found > 0.5, model.predict(X) == 1)


@pytest.mark.parametrize("name", ["predict_proba", "predict_log_proba", "staged_predict_proba"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_margins_have_no_probabilities_and_say_what_has(name, loss):
    X, y, _ = classes(2)
    for model in (CGEnsClassifier(loss=loss, n_estimators=3), CGEnsClassifier(loss=loss, n_estimators=3).fit(X, y)):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError) as raised:
            getattr(model, name)
        assert "logistic" in str(raised.value.__cause__)
        assert "CalibratedClassifierCV" in str(raised.value.__cause__)


def test_a_search_by_log_loss():
    X, y, _ = classes(2)
    search = CGEnsClassifierCV(loss="logistic", Cs=3, n_estimators=20, cv=3, scoring="neg_log_loss").fit(X, y)
    assert search.predict_proba(X).shape == (len(X), 2)
    assert -0.3 < search.best_score_ < 0


def test_a_loss_is_a_name_or_an_object():
    X, y, _ = classes(2)
    by_name = CGEnsClassifier(loss="logistic", n_estimators=5).fit(X, y)
    spec = Logistic()
    by_object = CGEnsClassifier(loss=spec, n_estimators=5).fit(X, y)
    assert np.array_equal(by_name.decision_function(X), by_object.decision_function(X))
    assert spec.C is None, "the user's object is left alone"
    assert by_object.loss_ == "logistic"
    assert by_object.master_.C == by_object.C_ == by_name.C_


def test_a_loss_object_may_have_a_c():
    X, y, _ = classes(2)
    model = CGEnsClassifier(loss=Logistic(C=0.01), n_estimators=5).fit(X, y)
    assert model.C_ == 0.01
    again = CGEnsClassifier(loss=model.master_, n_estimators=5).fit(X, y)
    assert np.array_equal(model.decision_function(X), again.decision_function(X))
    search = GridSearchCV(CGEnsClassifier(loss=Logistic(), n_estimators=5), {"loss__C": [1e-6, 1.0]}, cv=2).fit(X, y)
    assert search.best_estimator_.C_ == 1.0
    assert CGEnsClassifierCV(loss=Logistic(C=0.01), n_estimators=5, Cs=3).fit(X, y).Cs_[1] == 0.01
    with pytest.raises(ValueError, match=r"C is given twice, as C=2\.0 and by loss=Logistic\(C=1\.0\)"):
        CGEnsClassifier(loss=Logistic(C=1.0), C=2.0).fit(X, y)
    with pytest.raises(ValueError, match=r"C is given twice, as C='auto' and by loss=Logistic\(C=1\.0\)"):
        CGEnsClassifier(loss=Logistic(C=1.0), C="auto").fit(X, y)
    with pytest.raises(ValueError, match=r"C is given twice, by Cs=\[0\.1, 1\.0\] and by loss=Logistic\(C=1\.0\)"):
        CGEnsClassifierCV(loss=Logistic(C=1.0), Cs=[0.1, 1.0]).fit(X, y)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("C", [1e4, 1e12])
def test_separable_classes_and_a_huge_c_converge(loss, C):
    X, y = np.arange(20.0)[:, None], np.arange(20) >= 10
    model = CGEnsClassifier(loss=loss, C=C, n_estimators=30).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) == 1.0
    assert model.certificate_.relative_gap <= model.tol


@pytest.mark.parametrize("shift", [100.0, 1e4, 1e6])
def test_huber_loss_does_not_depend_on_the_origin_of_the_target(shift):
    X, y = load_diabetes(return_X_y=True)
    plain, shifted = (CGEnsRegressor(loss="huber", n_estimators=50).fit(X, own) for own in (y, y + shift))
    assert shifted.certificate_.scope == "pool"
    assert shifted.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-6)
    assert np.allclose(shifted.predict(X) - shift, plain.predict(X), atol=1e-3 * y.std())
    assert shifted.trace_.n_iter.sum() <= 2 * plain.trace_.n_iter.sum()


def test_counts_of_very_different_sizes_converge():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = rng.poisson(np.exp(3 * X[:, 0] + 2 * rng.normal(size=300)))
    model = CGEnsRegressor(loss="poisson", n_estimators=60).fit(X, y)
    assert y.max() > 1000
    assert model.certificate_.relative_gap <= model.tol
    assert check_certificate(model, X, y).problems == ()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_class_without_rows_has_probability_0(n_classes):
    """Its optimal intercept is at infinity; a fold of a search may have such a class."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    codes = simplex_codes(n_classes)[np.arange(60) % (n_classes - 1)]
    ensemble, trace = generate_columns(Logistic(1.0), Stump(), X, codes, max_columns=10)
    decision = ensemble.decision(X)
    assert np.abs(decision).max() < 100
    assert trace.certificate.relative_gap <= 1e-3 or trace.certificate.primal < 1e-9
    assert Logistic().probabilities(decision, simplex_codes(n_classes))[:, -1].max() < 1e-10
    constant = np.broadcast_to(-30.0 * simplex_codes(n_classes)[-1], codes.shape)
    assert trace.certificate.dual <= Logistic(1.0).value(constant, codes, np.ones(60)) + 1e-9


def test_a_search_may_leave_a_class_out_of_a_fold():
    X, y, _ = classes(3)
    kept = np.flatnonzero((y < 2) | (np.cumsum(y == 2) == 1))[:131]  # one row of the last class
    search = CGEnsClassifierCV(loss="logistic", n_estimators=10, Cs=2, cv=3).fit(X[kept], y[kept])
    assert len(search.classes_) == 3
    assert np.isfinite(search.scores_).all()


def test_parameters_of_a_loss_can_be_set_by_name():
    X, y = load_diabetes(return_X_y=True)
    model = CGEnsRegressor(loss="huber", n_estimators=5).set_params(loss__delta=20.0)
    assert model.fit(X, y).master_.delta == 20.0
    search = GridSearchCV(CGEnsRegressor(loss="huber", n_estimators=5), {"loss__delta": [1.0, 50.0]}, cv=2).fit(X, y)
    assert search.best_estimator_.master_.delta == search.best_params_["loss__delta"]
    with pytest.raises(ValueError, match="loss='auto'"):
        CGEnsClassifier().set_params(loss__C=1.0)


@pytest.mark.parametrize("loss", [Huber(), EpsilonInsensitive(), Quantile(), Poisson()], ids=lambda loss: loss.name)
def test_a_loss_with_default_parameters_can_be_used_by_itself(loss):
    X, y = load_diabetes(return_X_y=True)
    ensemble, trace = generate_columns(loss, Stump(), X, y / y.std(), max_columns=5)
    assert len(ensemble) == 5
    assert trace.certificate.relative_gap <= 1e-3


def test_rows_of_weight_0_do_not_matter_to_the_scale_of_the_target():
    X, y = load_diabetes(return_X_y=True)
    weight = np.where(np.arange(len(y)) == 3, 0.0, 1.0)
    spoilt = np.where(weight > 0, y, 1e200)
    for loss in ("huber", "quantile", "epsilon_insensitive"):
        model = CGEnsRegressor(loss=loss, n_estimators=5).fit(X, spoilt, weight)
        assert np.array_equal(model.predict(X), model.fit(X[weight > 0], y[weight > 0]).predict(X)), loss


def test_several_quantiles_have_a_score():
    X, y = load_diabetes(return_X_y=True)
    model = CGEnsRegressor(loss="quantile", quantile=[0.1, 0.9], n_estimators=50).fit(X, y)
    low, high = (d2_pinball_score(y, own, alpha=q) for own, q in zip(model.predict(X).T, (0.1, 0.9), strict=True))
    assert min(low, high) - 0.01 < model.score(X, y) < max(low, high) + 0.01


class LabelsOnly(Logistic):
    """A loss for multilabel indicator matrices only."""

    targets = frozenset({"labels"})


def test_a_loss_for_labels_only():
    X, y, _ = classes(3)
    model = CGEnsClassifier(loss=LabelsOnly(), n_estimators=5).fit(X, np.column_stack([y == 0, y == 1]).astype(int))
    assert model.predict(X).shape == (len(X), 2)
    with pytest.raises(ValueError, match=r"LabelsOnly.*labels, not for classes"):
        CGEnsClassifier(loss=LabelsOnly(), n_estimators=5).fit(X, y)


def test_probabilities_near_0_keep_their_digits():
    certain = Logistic().probabilities(np.array([[40.0], [-40.0]]), np.array([[-1.0], [1.0]]))
    assert certain[0, 0] == certain[1, 1] == pytest.approx(np.exp(-40.0))


@pytest.mark.parametrize("seed", range(5))
def test_huber_loss_without_a_row_inside_delta(seed):
    """The curvature is then 0 in all rows; neither overflow nor NaN may result."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3))
    y = np.clip(np.round(3 + X[:, 0] + rng.normal(size=200)), 1, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = CGEnsRegressor(loss=Huber(delta=0.1), C=30.0, n_estimators=40).fit(X, y)
    assert model.certificate_.relative_gap <= model.tol
    assert model.score(X, y) > 0.4


def test_a_quantile_is_not_given_twice():
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match=r"quantile is given twice, as quantile=0\.9 and.*set one"):
        CGEnsRegressor(loss=Quantile(quantile=0.1), quantile=0.9).fit(X, y)
