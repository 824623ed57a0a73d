"""Warm starts keep the columns of the last fit, and give the model of a single fit."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from cgens import CGEnsClassifier
from cgens.inspection import check_certificate
from cgens.types import Status
from cgens.weak_learners import Stump
from tests.integration.small_data import breast_cancer, noisy
from tests.models import FAMILIES, LEAST_SQUARES, PLAIN, answer, every_family, fitted, make
from tests.tolerances import CLOSED_FORM, LOOSE_ROUNDS


def fit(X, y, **options):
    return CGEnsClassifier(
        **{"weak_learner": "stump", "n_estimators": 20, "random_state": 0, "n_jobs": 1, **options}
    ).fit(X, y)


@pytest.mark.parametrize("name", PLAIN)
def test_a_warm_start_equals_a_single_fit(name):
    model, X, y = fitted(name, n_estimators=8, warm_start=True)
    before = model.ensemble_.learners
    model.set_params(n_estimators=20).fit(X, y)
    at_once = make(name, n_estimators=20).fit(X, y)
    assert model.n_columns_ == len(list(model.staged_predict(X))) == 20
    assert model.n_iter_ == 12
    assert model.ensemble_.learners[:8] == before
    assert check_certificate(model, X, y).problems == ()
    assert model.certificate_.primal == pytest.approx(at_once.certificate_.primal, rel=LOOSE_ROUNDS)
    if name in LEAST_SQUARES:  # between rounds the hinge loss is solved loosely: columns may differ
        assert model.ensemble_.learners == at_once.ensemble_.learners
        atol = CLOSED_FORM * max(1.0, np.abs(answer(at_once, X)).max())
        assert np.allclose(answer(model, X), answer(at_once, X), rtol=0, atol=atol)


@pytest.mark.parametrize("name", ["binary", "multioutput"])
@every_family
def test_every_family_can_be_continued(family, name):
    model, X, y = fitted(name, n_estimators=5, weak_learner=FAMILIES[family], warm_start=True)
    before, scope = model.ensemble_.learners, model.certificate_.scope
    model.set_params(n_estimators=10).fit(X, y)
    assert model.ensemble_.learners[: len(before)] == before
    assert model.n_columns_ > 5 or len(before) < 5
    assert len({learner.key for learner in model.ensemble_.learners}) == model.n_columns_
    assert len(list(model.staged_predict(X))) == model.n_columns_
    assert model.certificate_.scope == scope
    assert check_certificate(model, X, y).problems == ()


@pytest.mark.parametrize("name", ["binary", "multiclass"])
def test_a_warm_start_without_new_columns(name):
    model, X, y = fitted(name, warm_start=True)
    learners, primal = model.ensemble_.learners, model.certificate_.primal
    model.fit(X, y)
    assert model.ensemble_.learners == learners
    assert model.n_iter_ == 0
    assert model.certificate_.primal == pytest.approx(primal, rel=2 * model.tol), "both are within tol of the optimum"


def test_a_warm_start_with_another_tol_and_c():
    X, y = noisy()
    model = fit(X, y, warm_start=True)
    model.set_params(tol=1e-8, C=0.3).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-8
    assert model.C_ == 0.3
    assert check_certificate(model, X, y).problems == ()


@pytest.mark.parametrize(
    ("name", "changed", "options", "pattern"),
    [
        ("multiclass", lambda X, y: (X[y < 2], y[y < 2]), {"loss": "least_squares"}, "2 outputs.*1"),
        ("multiclass", lambda X, y: (X, y + 2 * (X[:, 0] > 6)), {}, "2 outputs.*4"),
        ("multiclass", lambda X, y: (X, y), {"loss": "hinge"}, "2 outputs.*3"),
        ("multilabel", lambda X, y: (X, y[:, :2]), {}, "3 outputs.*2"),
        ("regression", lambda X, y: (X, np.column_stack([y, y, y])), {}, "1 outputs.*3"),
    ],
)
def test_another_number_of_outputs_is_refused_and_does_not_change_the_model(name, changed, options, pattern):
    model, X, y = fitted(name, warm_start=True)
    before = answer(model, X)
    with pytest.raises(ValueError, match=f"warm_start.*{pattern}"):
        model.set_params(n_estimators=40, **options).fit(*changed(X, y))
    assert answer(model, X).tobytes() == before.tobytes()


@pytest.mark.parametrize("change", ["other rows", "other bins"])
def test_columns_that_are_not_in_the_pool_have_no_certificate_for_it(change):
    """Columns of an earlier fit may not be in the new pool: its bound would be none for the model."""
    X, y = breast_cancer(120)
    model = fit(X, y, n_estimators=50, warm_start=True, C=10.0)
    if change == "other bins":
        model.set_params(weak_learner=Stump(max_bins=4)).fit(X, y)
    else:
        model.fit(X[::7], y[::7])
    certificate = model.certificate_
    assert (certificate.scope, certificate.n_candidates) == ("restricted", None)
    assert certificate.full_lower_bound is certificate.full_relative_gap is None


def test_on_other_rows_no_response_is_added_twice(rng):
    X = rng.normal(size=(600, 4))
    y = X[:, 0] + 0.5 * rng.normal(size=600) > 0
    model = fit(X, y, n_estimators=60, warm_start=True)
    few, labels = X[:40], y[:40]
    model.set_params(n_estimators=150).fit(few, labels)
    responses = [np.sign(column * column[0]).tobytes() for column in model.ensemble_.respond(few).T]
    earlier, new = set(responses[:60]), responses[60:]
    assert len(new) > 0
    assert len(set(new)) == len(new)
    assert not earlier & set(new)


def test_families_in_another_order_keep_their_shares():
    X, y = noisy()
    model = fit(X, y, weak_learner=["stump", "tree"], n_estimators=5, warm_start=True)
    model.set_params(weak_learner=["tree", "stump"], n_estimators=6).fit(X, y)
    used = {type(own.learner).__name__.removesuffix("Learner").lower() for own in model.ensemble_.learners}
    assert {name for name, share in model.family_shares_.items() if share > 0} == used


def test_stumps_on_other_columns_are_not_confused(rng):
    """Both columns have the same values, and so the same thresholds; only the second is informative."""
    numbers = np.arange(40.0)
    table, y = np.column_stack([rng.permutation(numbers), numbers]), numbers > 19
    model = fit(table, y, weak_learner=[("stump", [0])], C=1.0, n_estimators=39, warm_start=True)
    model.set_params(weak_learner=[("stump", [1])], n_estimators=200).fit(table, y)
    fresh = fit(table, y, weak_learner=[("stump", [1])], C=1.0, n_estimators=200)
    assert model.certificate_.status is Status.OPTIMAL
    assert model.certificate_.primal <= fresh.certificate_.primal * (1 + model.tol)


def test_stages_before_a_pickle_are_missing():
    X, y = noisy()
    model = pickle.loads(pickle.dumps(fit(X, y, n_estimators=8)))
    model.set_params(n_estimators=15, warm_start=True).fit(X, y)
    assert model.n_columns_ == 15
    for again in (model, copy.copy(model), pickle.loads(pickle.dumps(model))):
        with pytest.raises(ValueError, match="weights of every round"):
            next(again.staged_predict(X))
