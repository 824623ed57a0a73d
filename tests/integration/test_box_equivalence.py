"""Quantile and support vector regression and the one-class SVM: the same optima as independent solvers find."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import d2_pinball_score

from cgens import CGEnsOutlierDetector, CGEnsRegressor, CGEnsRegressorCV, generate_columns
from cgens.inspection import check_certificate
from cgens.masters import EpsilonInsensitive, OneClass, Quantile
from cgens.types import Status
from cgens.weak_learners import Box, Fourier, Stump
from tests.integration.small_data import noisy
from tests.reference.naive_box import naive_tube, one_class_optimum, quantile_optimum, svr_optimum
from tests.tolerances import BOX_OBJECTIVE, CLOSED_FORM, POOL_SLACK, SVC_DECISION, TIGHT

X = noisy()[0][:60, :3].round(1)
Y = 50.0 + np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.3 * np.random.default_rng(0).normal(size=60)
FAMILIES = {"stump": Stump(8), "fourier": Fourier(n_candidates=30, standardize=True, learn=False)}
every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


def whole_pool(family):
    """Return the responses of all weak learners of a pool: one-class duals are positive, so that all have prices."""
    model = CGEnsOutlierDetector(family, nu=1.0, n_estimators=1000, random_state=3).fit(X)
    assert model.n_columns_ == model.certificate_.n_candidates
    return model.ensemble_.respond(X).astype(float)


def assert_closed(model, optimum):
    certificate = model.certificate_
    assert certificate.status is Status.OPTIMAL
    assert certificate.scope == "pool"
    assert certificate.primal == pytest.approx(optimum, rel=BOX_OBJECTIVE)
    assert certificate.full_relative_gap <= model.tol + POOL_SLACK


def to_the_end(family, loss, C, weight=None):
    options = {"n_estimators": 1000, "tol": 1e-8, "random_state": 3, "n_jobs": 1}
    model = CGEnsRegressor(family, loss=loss, C=C, **options).fit(X, Y, weight)
    assert check_certificate(model, X, Y, weight).problems == ()
    return model


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [0.003, 0.03, 0.3])
@every_family
def test_support_vector_regression(family, C, weighted):
    weight = np.random.default_rng(1).integers(1, 4, 60).astype(float) if weighted else None
    model = to_the_end(family, EpsilonInsensitive(0.1), C, weight)
    bound = C * (np.ones(60) if weight is None else weight)
    H = whole_pool(family) if weight is None else model.ensemble_.respond(X).astype(float)
    assert_closed(model, svr_optimum(H, Y, bound, 0.1))
    assert np.all(model.duals_[np.abs(Y - model.predict(X)) < 0.09] == 0), "rows inside the tube"


@pytest.mark.parametrize("q", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("C", [0.01, 0.1])
@every_family
def test_quantile_regression(family, C, q):
    model = to_the_end(family, Quantile(q), C)
    assert_closed(model, quantile_optimum(whole_pool(family), Y, np.full(60, C), q))
    below, at_most = np.mean(model.predict(X) - 1e-6 > Y), np.mean(model.predict(X) + 1e-6 >= Y)
    assert below <= q <= at_most


@pytest.mark.parametrize("nu", [0.2, 0.3, 0.7])
@every_family
def test_one_class(family, nu):
    options = {"n_estimators": 1000, "tol": 1e-8, "random_state": 3, "n_jobs": 1}
    model = CGEnsOutlierDetector(family, nu=nu, **options).fit(X)
    assert check_certificate(model, X).problems == ()
    assert_closed(model, one_class_optimum(whole_pool(family), nu))
    assert np.mean(model.decision_function(X) < -1e-6) <= nu <= np.mean(model.duals_ > 0)
    assert model.duals_.sum() == pytest.approx(1.0, abs=CLOSED_FORM)


def test_one_class_certificates_with_weights_and_copies(rng):
    copies = rng.integers(0, 60, 150)
    weight = rng.random(150) + 0.1
    for family in ("stump", Stump(8), Fourier(n_candidates=30)):
        model = CGEnsOutlierDetector(family, nu=0.4, n_estimators=8, random_state=0).fit(
            X[copies], sample_weight=weight
        )
        assert check_certificate(model, X[copies], sample_weight=weight).problems == ()
        assert check_certificate(model, X[copies]).problems, "other weights"
        assert check_certificate(model, X[copies[::-1]], sample_weight=weight).problems, "other rows"
        model._duals.values[0] += 1e-6
        assert check_certificate(model, X[copies], sample_weight=weight).problems, "duals that do not sum to 1"


def test_one_class_without_a_margin_is_constant_and_warns():
    """If the origin is in the hull of the responses, the optimum is 0; LIBSVM finds the same."""
    assert one_class_optimum(whole_pool(Stump(8)), 0.05) == pytest.approx(0.0, abs=CLOSED_FORM)
    with pytest.warns(UserWarning, match=r"weight 0.*nu=0\.05.*inlier"):
        model = CGEnsOutlierDetector(Stump(8), nu=0.05, n_estimators=1000, n_jobs=1).fit(X)
    assert model.certificate_.status is Status.OPTIMAL
    assert model.certificate_.primal == model.certificate_.dual == 0.0
    assert np.all(model.predict(X) == 1)
    assert check_certificate(model, X).problems == ()


def test_the_median_is_support_vector_regression_without_a_tube():
    median, svr = to_the_end(Stump(8), Quantile(0.5), 0.2), to_the_end(Stump(8), EpsilonInsensitive(0.0), 0.1)
    assert median.certificate_.primal == pytest.approx(svr.certificate_.primal, rel=BOX_OBJECTIVE)


def test_several_quantiles_are_one_problem_each_and_do_not_cross():
    quantiles = [0.9, 0.1, 0.5, 0.52]
    several = to_the_end(Stump(8), Quantile(quantiles), 0.05)
    alone = [to_the_end(Stump(8), Quantile(q), 0.05) for q in quantiles]
    assert several.n_outputs_ == 4
    total = sum(model.certificate_.primal for model in alone)
    assert several.certificate_.primal == pytest.approx(total, rel=BOX_OBJECTIVE)
    predicted, ascending = several.predict(X), np.argsort(quantiles)
    assert predicted.shape == (60, 4)
    assert all(np.all(predicted[:, low] <= predicted[:, high]) for low, high in pairwise(ascending))
    decision = several.ensemble_.decision(X)
    assert np.array_equal(np.sort(predicted, axis=1), np.sort(decision, axis=1)), "only sorted"
    assert np.mean(np.diff(decision[:, ascending], axis=1) < 0) < 0.1, "few pairs cross before"
    loss, target = Quantile(quantiles), np.repeat(Y[:, None], 4, axis=1)
    assert loss.losses(predicted, target).sum() <= loss.losses(decision, target).sum() + CLOSED_FORM


@pytest.mark.parametrize("loss", [Quantile(0.3, C=0.1), EpsilonInsensitive(0.1, C=0.1)], ids=["quantile", "tube"])
@pytest.mark.parametrize("power", [-200, -1, 30, 200])
def test_a_target_times_a_power_of_two_multiplies_the_model(loss, power):
    """To the last bit, if C and epsilon are multiplied too."""
    factor = 2.0**power
    params = {"C": factor * loss.C, "epsilon": factor * getattr(loss, "epsilon", 0.0)}
    scaled_loss = type(loss)(**{**loss.get_params(), **{k: v for k, v in params.items() if k in loss.get_params()}})
    plain, trace = generate_columns(loss, Stump(), X, Y, max_columns=20)
    scaled, scaled_trace = generate_columns(scaled_loss, Stump(), X, factor * Y, max_columns=20)
    assert scaled.decision(X).tobytes() == (factor * plain.decision(X)).tobytes()
    assert scaled_trace.certificate.primal == factor**2 * trace.certificate.primal


@pytest.mark.parametrize("shift", [1e3, 1e6, 1e9])
@pytest.mark.parametrize("loss", ["quantile", "epsilon_insensitive"])
def test_a_shifted_target_shifts_the_prediction(loss, shift):
    y = (8 * Y).round()  # so that sums with the shift are exact
    options = {"n_estimators": 1000, "tol": TIGHT, "n_jobs": 1}
    plain, shifted = (CGEnsRegressor(Stump(8), loss=loss, **options).fit(X, own) for own in (y, y + shift))
    assert shifted.C_ == plain.C_
    assert shifted.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=BOX_OBJECTIVE)
    assert np.abs(shifted.predict(X) - shift - plain.predict(X)).max() <= SVC_DECISION * np.std(y)
    assert check_certificate(shifted, X, y + shift).problems == ()


def test_c_and_epsilon_follow_the_scale_of_y():
    for loss in ("quantile", "epsilon_insensitive"):
        plain, scaled = (CGEnsRegressor(loss=loss, n_estimators=2).fit(X, own) for own in (Y, 1000 * Y))
        assert pytest.approx(1000 * plain.C_, rel=CLOSED_FORM) == scaled.C_
    assert scaled.master_.epsilon == pytest.approx([1000 * plain.master_.epsilon[0]], rel=CLOSED_FORM)


def test_epsilon_and_c_are_found_for_targets_that_are_mostly_equal():
    y = np.where(np.arange(60) < 3, Y, 0.0)
    model = CGEnsRegressor(loss="epsilon_insensitive", n_estimators=5, n_jobs=1).fit(X, y)
    assert model.n_columns_ == 5
    assert 0 < model.master_.epsilon[0] < np.ptp(y)


def test_the_quantile_of_the_estimator_is_that_of_the_loss():
    X, y = load_diabetes(return_X_y=True)
    by_name = CGEnsRegressor(loss="quantile", quantile=0.8, n_estimators=20, n_jobs=1).fit(X, y)
    by_object = CGEnsRegressor(loss=Quantile(0.8), n_estimators=20, n_jobs=1).fit(X, y)
    assert by_name.predict(X).tobytes() == by_object.predict(X).tobytes()
    assert by_name.loss_ == "quantile"
    default, median = (CGEnsRegressor(loss="quantile", quantile=q, n_estimators=5).fit(X, y) for q in (None, 0.5))
    assert default.predict(X).tobytes() == median.predict(X).tobytes()


@pytest.mark.parametrize("quantile", [0.2, [0.2, 0.8]])
def test_a_search_scores_quantiles_by_the_pinball_loss(quantile):
    X, y = load_diabetes(return_X_y=True)
    search = CGEnsRegressorCV(loss="quantile", quantile=quantile, Cs=3, n_estimators=20, cv=3, n_jobs=1).fit(X, y)
    assert 0.1 < search.best_score_ < 0.5
    assert search.predict(X).shape == (442,) + (2,) * isinstance(quantile, list)
    assert check_certificate(search, X, y).agrees
    target, ones = y[:, None], np.ones(len(y))
    constant = Quantile(0.2).score(np.full_like(target, np.quantile(y, 0.2)), target, ones)
    assert constant == pytest.approx(0.0, abs=1e-3)
    decision = target + 10 * np.sin(np.arange(442.0))[:, None]
    expected = d2_pinball_score(y, decision[:, 0], alpha=0.2)
    assert Quantile(0.2).score(decision, target, ones) == pytest.approx(expected, abs=1e-3)


def test_outliers_are_far_from_the_training_rows():
    rng = np.random.default_rng(0)
    rows, far = rng.normal(size=(400, 3)), rng.choice([-1, 1], size=(50, 3)) * (4 + rng.random((50, 3)))
    for family in ("stump", "fourier", "box"):
        model = CGEnsOutlierDetector(family, n_estimators=150, random_state=0, n_jobs=1).fit(rows)
        assert np.all(model.predict(far) == -1)
        assert np.mean(model.predict(rng.normal(size=(400, 3))) == -1) < 0.25
        assert np.allclose(model.score_samples(rows) - model.offset_, model.decision_function(rows), rtol=CLOSED_FORM)
        assert np.array_equal(model.fit_predict(rows), np.where(model.decision_function(rows) < 0, -1, 1))


@pytest.mark.parametrize("loss", [Quantile(0.3), Quantile(0.5), EpsilonInsensitive(0.1), EpsilonInsensitive(5.0)])
@pytest.mark.parametrize(
    "y", [Y, Y.round(), np.where(Y > 52, Y, 0.0), np.ones(60)], ids=["all", "ties", "zeros", "one"]
)
def test_the_empty_master_is_solved_exactly(loss, y):
    """Its duals price the first column."""
    solution = loss.begin(y[:, None], np.arange(1.0, 61.0), 1).solve(TIGHT, lambda: False)
    assert solution.primal == pytest.approx(solution.dual, rel=CLOSED_FORM, abs=CLOSED_FORM)


def test_one_class_duals_sum_to_one_in_every_round():
    restricted = OneClass(0.3).begin(np.zeros((60, 1)), np.arange(1.0, 61.0), 1)
    for column in whole_pool(Stump(8)).T[:20]:
        restricted.add(column)
        assert restricted.solve(TIGHT, lambda: False, quick=True).duals.array.sum() == pytest.approx(1.0, abs=1e-12)


def test_naive_tube_is_the_definition():
    assert naive_tube(0.5).loss(np.array([-2.0, 0.2, 0.7])) == pytest.approx([1.5, 0.0, 0.2])


@pytest.mark.parametrize("family", ["stump", Box(n_candidates=100), Fourier(n_candidates=100, learn=False)])
@pytest.mark.parametrize("nu", [0.05, 0.3, 0.5])
@pytest.mark.parametrize("n_columns", [5, 20, 60])
def test_at_most_a_share_nu_of_the_training_rows_are_outliers(family, nu, n_columns):
    """Most rows are on the boundary, where rounding would decide."""
    for X in (load_iris().data, np.random.default_rng(0).normal(size=(400, 5))):
        model = CGEnsOutlierDetector(family, nu=nu, n_estimators=n_columns, tol=1e-6, random_state=0, n_jobs=1).fit(X)
        assert np.mean(model.predict(X) < 0) <= nu
        assert check_certificate(model, X).problems == ()
