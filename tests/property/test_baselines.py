"""The rivals: the same bits whatever the rows' order, copies, memory and threads."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from cgens.baselines import (
    AdaBoostClassifier,
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    LPBoostClassifier,
    MultiBoostClassifier,
)
from cgens.types import Status
from cgens.weak_learners import Stump
from tests.property.problems import assert_same_model, problems
from tests.property.test_outputs import classes, labels
from tests.tolerances import CLOSED_FORM, NEGATIVE_GAP

pytestmark = [
    pytest.mark.filterwarnings("ignore:No weak learner tells the"),
    pytest.mark.filterwarnings("ignore:The master problem over the"),  # the last test is about that
]

SMALL = {"n_estimators": 6, "n_jobs": 1, "random_state": 0}


def two_classes(problem):
    return problem.y


STAGE_WISE = {
    "AdaBoost": (AdaBoostClassifier(**SMALL), two_classes),
    "AdaBoost.MH": (AdaBoostMHClassifier(**SMALL), classes),
    "AdaBoost.MH of labels": (AdaBoostMHClassifier(**SMALL), labels),
    "AdaBoost.ECC": (AdaBoostECCClassifier(**SMALL), classes),
}
TOTALLY_CORRECTIVE = {
    "MultiBoost": (MultiBoostClassifier(nu=0.01, **SMALL), classes),
    "LPBoost": (LPBoostClassifier(**SMALL), two_classes),
    "LPBoost of nu": (LPBoostClassifier(nu=0.5, **SMALL), two_classes),
}
MODELS = {**STAGE_WISE, **TOTALLY_CORRECTIVE}
every_model = pytest.mark.parametrize("name", MODELS)
few = settings(max_examples=5)  # of every model


def prepare(name, problem, **options):
    """Return a function that fits this model to rows of X and y, and the problem's target."""
    estimator, target = MODELS[name]

    def fit(X, y, weight=None, **more):
        return clone(estimator).set_params(**{**options, **more}).fit(X, y, sample_weight=weight)

    return fit, target(problem)


@every_model
@few
@given(problem=problems(), max_bins=st.sampled_from([256, 4]))
def test_weights_are_copies(name, problem, max_bins):
    copies = np.repeat(np.arange(len(problem.y)), problem.weight.astype(int))
    fit, y = prepare(name, problem, weak_learner=Stump(max_bins))
    weighted, repeated = fit(problem.X, y, problem.weight), fit(problem.X[copies], y[copies])
    assert_same_model(weighted, repeated, problem.X)


@pytest.mark.parametrize("integers", [True, False])
@every_model
@few
@given(problem=problems())
def test_row_order_does_not_matter(name, integers, problem):
    """Also with weights that are no integers, whose sums round differently in another order."""
    order = problem.rng.permutation(len(problem.y))
    weight = problem.weight if integers else problem.weight * problem.rng.random(len(problem.y))
    fit, y = prepare(name, problem)
    straight, shuffled = fit(problem.X, y, weight), fit(problem.X[order], y[order], weight[order])
    assert_same_model(straight, shuffled, problem.X)
    if integers:
        assert np.array_equal(straight.duals_[order], shuffled.duals_)
        assert np.array_equal(straight.feature_importances_, shuffled.feature_importances_)


@every_model
@few
@given(problem=problems())
def test_rows_of_zero_weight_are_not_there(name, problem):
    weight = np.where(problem.rng.random(len(problem.y)) < 0.3, 0.0, problem.weight)
    weight[np.unique(classes(problem), return_index=True)[1]] = 1.0  # one of each class stays
    weight[:2] = 1.0
    kept = weight > 0
    fit, y = prepare(name, problem)
    with_them, without = fit(problem.X, y, weight), fit(problem.X[kept], y[kept], weight[kept])
    assert_same_model(with_them, without, problem.X)
    assert np.array_equal(with_them.duals_[kept], without.duals_)
    assert not with_them.duals_[~kept].any()


@every_model
@few
@given(problem=problems(), power=st.sampled_from([-40, -3, 10, 40]))
def test_the_scale_of_the_weights_cancels(name, problem, power):
    """Times a power of two, so that nothing is rounded."""
    fit, y = prepare(name, problem)
    plain, scaled = fit(problem.X, y, problem.weight), fit(problem.X, y, problem.weight * 2.0**power)
    assert_same_model(plain, scaled, problem.X)


@every_model
@few
@given(problem=problems(), max_bins=st.sampled_from([256, None, 3]))
def test_threads_do_not_matter(name, problem, max_bins):
    fit, y = prepare(name, problem, weak_learner=Stump(max_bins))
    one, two = fit(problem.X, y, problem.weight), fit(problem.X, y, problem.weight, n_jobs=2)
    assert_same_model(one, two, problem.X)
    assert np.array_equal(one.duals_, two.duals_)
    assert np.array_equal(one.trace_.primal, two.trace_.primal)


@every_model
@few
@given(problem=problems())
def test_memory_order_and_precision_do_not_matter(name, problem):
    single = problem.X.astype(np.float32)
    X = single.astype(np.float64)
    fit, y = prepare(name, problem)
    plain = fit(X, y)
    for same in (np.asfortranarray(X), single, X[::-1].copy()[::-1]):
        assert_same_model(plain, fit(same, y), X)


@every_model
@few
@given(problem=problems())
def test_input_is_left_alone(name, problem):
    fit, y = prepare(name, problem)
    X, target, weight = problem.X.copy(), y.copy(), problem.weight.copy()
    fit(X, target, weight).predict(X)
    assert np.array_equal(X, problem.X)
    assert np.array_equal(target, y)
    assert np.array_equal(weight, problem.weight)


@pytest.mark.parametrize("name", STAGE_WISE)
@few
@given(problem=problems())
def test_every_round_lowers_the_exponential_loss(name, problem):
    fit, y = prepare(name, problem)
    primal = fit(problem.X, y, problem.weight, n_estimators=20).trace_.primal
    assert primal[0] == 1.0
    if name != "AdaBoost.ECC":  # whose votes are smoothed
        assert np.all(np.diff(primal) <= NEGATIVE_GAP)
    assert np.all(np.diff(primal) <= 0.01)


@pytest.mark.parametrize("name", TOTALLY_CORRECTIVE)
@pytest.mark.parametrize("n_columns", [8, 1000])
@few
@given(problem=problems(most_rows=40))
def test_certificates_hold(name, n_columns, problem):
    fit, y = prepare(name, problem)
    model = fit(problem.X, y, problem.weight, n_estimators=n_columns)
    certificate, scale = model.certificate_, max(1.0, abs(model.certificate_.primal))
    assert certificate.dual <= certificate.primal + NEGATIVE_GAP * scale
    assert certificate.full_lower_bound <= certificate.primal + NEGATIVE_GAP * scale
    if abs(certificate.primal) > CLOSED_FORM:
        assert certificate.relative_gap <= model.tol
    if n_columns == 1000 and abs(certificate.primal) > CLOSED_FORM:
        assert certificate.full_relative_gap <= 2 * model.tol


@given(problem=problems(), nu=st.sampled_from([0.05, 0.3, 0.8, 1.0]))
def test_rounding_is_no_gap(problem, nu):
    """Whatever the margin, 0 included: simplex methods solve to rounding, and there is nothing to complain about."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = LPBoostClassifier(nu=nu, n_jobs=1).fit(problem.X, problem.y, problem.weight)
    assert model.certificate_.primal - model.certificate_.dual <= CLOSED_FORM
    assert model.certificate_.status is Status.OPTIMAL
