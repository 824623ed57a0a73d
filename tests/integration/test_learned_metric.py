"""Cosines in a metric that is learned from the first duals, and what a model shows of it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from cgens import CGEnsClassifier, CGEnsClassifierCV, CGEnsOutlierDetector, CGEnsRegressor
from cgens.inspection import check_certificate
from cgens.packs import pack_from_arrays, pack_to_arrays
from cgens.types import Sample
from cgens.weak_learners import Fourier, Mixture
from cgens.weak_learners.projections.metric import learn_metric
from cgens.weak_learners.projections.metric_search import METRIC_COLUMNS, metric_of_duals
from cgens.weak_learners.projections.spread import Spread
from tests.integration.mixed_data import mixed, score_of
from tests.tolerances import CLOSED_FORM

OPTIONS = {"n_estimators": 8, "random_state": 0, "n_jobs": 1}


def rows_and_scores(n_rows=300, n_features=6):
    """Return rows in different units, and scores that depend on the first two features only."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    return X * 10.0 ** np.arange(n_features), np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=n_rows)


def in_metric(**params):
    return Fourier(n_candidates=100, metric="learned", **params)


def metric_of(model):
    """Return the metric of the first column."""
    learner = model.ensemble_.learners[0]
    while not hasattr(learner, "metric"):
        learner = learner.learner
    return learner.metric


@pytest.mark.parametrize("draw", ["normal", "sparse", "pairs"])
def test_a_metric_finds_the_features_that_matter(draw):
    X, score = rows_and_scores()
    for kind, y, loss in (
        (CGEnsRegressor, score, "squared"),
        (CGEnsRegressor, score, "quantile"),
        (CGEnsClassifier, (score > 0).astype(int), "logistic"),
        (CGEnsClassifier, (score > 0).astype(int), "hinge"),
        (CGEnsClassifier, np.digitize(score, [-0.5, 0.5]), "least_squares"),
    ):
        model = kind(in_metric(draw=draw), loss=loss, **OPTIONS).fit(X, y)
        importances = model.feature_importances_
        assert importances[0] > importances[1] > 2 * importances[2:].max(), loss
        assert importances.sum() == pytest.approx(1.0)
        expected = dict(zip([f"x{f}" for f in range(6)], importances.tolist(), strict=True))
        assert model.input_importances_ == pytest.approx(expected, rel=CLOSED_FORM)
        assert model.certificate_.scope == "pool"
        assert check_certificate(model, X, y).problems == ()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_metric_is_that_of_the_centred_target(weighted):
    """Whatever the loss: least squares and the logistic loss have the same first duals, up to a factor."""
    X, score = rows_and_scores()
    weight = 1.0 + np.arange(len(X)) % 3 if weighted else np.ones(len(X))
    y = (score > 0.2).astype(int)
    models = [
        CGEnsClassifier(in_metric(standardize=True), loss=loss, **OPTIONS).fit(X, y, weight)
        for loss in ("least_squares", "logistic", "hinge")
    ]
    expected = metric_of(models[0])
    assert np.allclose(expected.deviations, 1.0)
    for model in models[1:]:
        assert np.allclose(metric_of(model).factors, expected.factors, rtol=1e-6)
    share, target = weight / weight.sum(), 2.0 * y[:, None] - 1.0
    rows = (X - share @ X) / np.sqrt(share @ (X - share @ X) ** 2)
    whole = np.ones(len(weight))
    found = learn_metric(rows, target - share @ target, weight, whole, 500, np.random.default_rng(1))
    assert np.allclose(found / np.linalg.norm(found), expected.factors / np.linalg.norm(expected.factors), atol=0.1)


def test_duals_of_each_row_are_divided_by_its_weight(rng):
    X, score = rows_and_scores()
    weight, target = 1.0 + 5 * rng.random(len(X)), np.column_stack([score, X[:, 2] ** 2])
    sample = Sample(X, np.arange(len(X)), weight)
    spread = Spread.of(sample, "Fourier", True)
    found = metric_of_duals(sample, spread, 3.0 * weight[:, None] * target, np.random.default_rng(0), 1)
    share = weight / weight.sum()
    centred = target - share @ target
    own_rng = np.random.default_rng(0)
    own_rng.permutation(len(X))  # the rows, all of which take part
    rows = (X - spread.mean) / spread.deviation
    whole = np.ones(len(weight))
    expected = learn_metric(rows, centred / np.abs(centred).max(), weight, whole, METRIC_COLUMNS, own_rng)
    assert np.allclose(found.factors, expected, rtol=1e-6)


def test_dense_cosines_have_the_widths_of_the_metric():
    X, score = rows_and_scores()
    model = CGEnsRegressor(
        Fourier(0.3, 3000, standardize=True, metric="learned"), **{**OPTIONS, "n_estimators": 3000}, C=1e4, tol=1
    ).set_callbacks(lambda state: len(state.learners) >= 400)
    model.fit(X, score)
    factors = metric_of(model).factors
    assert np.mean(factors**2) == pytest.approx(1.0)
    thetas = np.array([learner.learner.theta for learner in model.ensemble_.learners]) * X.std(axis=0)
    deviations = np.sqrt(np.mean(thetas**2, axis=0))
    assert np.all(np.abs(np.log(deviations / (np.sqrt(2 * 0.3) * factors))) < 0.5), "the selected ones are not typical"


def test_inputs_of_tables_have_names():
    X = mixed(200)
    y = score_of(X)
    model = CGEnsRegressor(in_metric(), **OPTIONS).fit(X, y)
    importances = model.input_importances_
    names = list(importances)
    assert names[:4] == ["size", "income", "rooms", "new"]
    assert names[4] == "size is missing"
    assert names[5:8] == ["colour=blue", "colour=green", "colour=red"]
    assert "city=city 01" in names
    assert names[-1] == "city is rare"
    assert sum(importances.values()) == pytest.approx(1.0)
    summed = dict.fromkeys(X.columns, 0.0)
    for name, own in importances.items():
        summed[name.split("=")[0].removesuffix(" is missing").removesuffix(" is rare")] += own
    assert np.allclose(model.feature_importances_, list(summed.values()))


def test_mixtures():
    X, score = rows_and_scores()
    one = CGEnsRegressor(["stump", (in_metric(), [4, 1, 0])], **{**OPTIONS, "n_estimators": 40}).fit(X, score)
    assert list(one.input_importances_) == ["x4", "x1", "x0"]
    assert max(one.input_importances_, key=one.input_importances_.get) == "x0"
    assert not hasattr(one, "feature_importances_"), "stumps have other ones"
    nested = [(Mixture([(in_metric(draw="sparse"), [1])]), [2, 0]), (in_metric(), [1, 3])]
    two = CGEnsRegressor(nested, **OPTIONS).fit(X, score)
    assert set(two.input_importances_) == {"mixture: fourier: x0", "fourier: x1", "fourier: x3"}
    assert sum(two.input_importances_.values()) == pytest.approx(2.0)
    with pytest.raises(AttributeError, match=r"feature_importances_.*metric"):
        _ = two.feature_importances_


def test_other_models_have_no_learned_metric():
    X, score = rows_and_scores(60)
    model = CGEnsRegressor(Fourier(n_candidates=30, draw="pairs"), **OPTIONS).fit(X, score)
    assert not hasattr(model, "input_importances_")
    with pytest.raises(AttributeError, match=r"input_importances_.*metric='learned'"):
        _ = model.input_importances_


def test_a_metric_is_kept_by_pickles_arrays_and_searches():
    X, score = rows_and_scores()
    y = (score > 0).astype(int)
    model = CGEnsClassifierCV(in_metric(), Cs=2, stages=[4, 8], cv=2, **OPTIONS).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.input_importances_ == model.input_importances_
    assert np.array_equal(again.predict(X), model.predict(X))
    packs = model.ensemble_.packs
    rebuilt = pack_from_arrays(pack_to_arrays(packs, "a."), "a.")
    assert [rebuilt.learner(j) for j in range(len(packs))] == list(model.ensemble_.learners)


@pytest.mark.parametrize("family", [in_metric(), in_metric(draw="sparse", pool="fresh")])
def test_a_warm_start_keeps_the_metric(family):
    """So that it equals one long fit; but not if the encoding is another one."""
    X, score = rows_and_scores()
    long = CGEnsRegressor(family, **{**OPTIONS, "n_estimators": 16}).fit(X, score)
    model = CGEnsRegressor(family, warm_start=True, **OPTIONS).fit(X, score)
    metric = metric_of(model)
    model.set_params(n_estimators=16).fit(X, score)
    assert {learner.learner.metric for learner in model.ensemble_.learners} == {metric}
    if family.pool == "fixed":
        assert model.ensemble_.learners == long.ensemble_.learners
        assert np.allclose(model.predict(X), long.predict(X), atol=CLOSED_FORM)
    model.set_params(n_estimators=24).fit(X[::2], score[::2])
    assert len({learner.learner.metric for learner in model.ensemble_.learners}) == 2
    assert sum(model.input_importances_.values()) == pytest.approx(1.0)


def test_without_anything_to_learn_the_metric_is_flat():
    X, _ = rows_and_scores()
    model = CGEnsOutlierDetector(in_metric(), **OPTIONS).fit(X)
    assert metric_of(model).factors.tolist() == [1.0] * 6
