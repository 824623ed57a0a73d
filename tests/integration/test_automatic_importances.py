"""Importances of features in cosines and in automatic models, and the names of the inputs of a metric."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_selection import SelectFromModel

from cgens import CGEnsClassifier, CGEnsRegressor
from cgens.cosine_importances import GRADIENT_ROWS, named_metric
from cgens.table.encoding import Encoding
from cgens.table.schema import Schema
from cgens.types import Sample
from cgens.weak_learners import Fourier, Mixture, Pool, Tree
from cgens.weak_learners.encoded import EncodedPack
from tests.integration.mixed_data import mixed, score_of
from tests.tolerances import CLOSED_FORM, IMPORTANCE, RESPONSE

OPTIONS = {"n_estimators": 60, "random_state": 0, "n_jobs": 1}


def rows_and_score(rng, n_rows=250, n_features=5):
    """Return rows in different units, and a function of the first two features, the first of which matters more."""
    X = rng.normal(size=(n_rows, n_features))
    return X * 10.0 ** np.arange(n_features), np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=n_rows)


def table_and_score(rng, n_rows=400):
    """Return a table with gaps that matter and gaps that do not, and likewise categories, and a function of it."""
    X = pd.DataFrame({name: rng.normal(size=n_rows) for name in ("size", "age", "noise")})
    X["kind"], X["town"] = rng.choice(list("abc"), n_rows), rng.choice([f"town {k}" for k in range(20)], n_rows)
    old = rng.random(n_rows) < 0.3
    score = X["size"] ** 2 + 1.5 * (X["kind"] == "b") + 1.5 * old + 0.2 * rng.normal(size=n_rows)
    X["age"], X["noise"] = X["age"].mask(old), X["noise"].mask(rng.random(n_rows) < 0.2)
    return X, score.to_numpy()


def gradients_times_deviations(learners, weights, rows, share):
    """Return the derivative along each input times its deviation, by kind and feature: arrays of shape (m, l)."""
    total = {}
    for learner, own_weights in zip(learners, weights, strict=True):
        inner, factor, inputs, features, kinds = learner, 1.0, rows, np.arange(rows.shape[1]), ["number"] * 99
        while not hasattr(inner, "theta"):
            factor *= getattr(inner, "factor", 1.0)
            if getattr(inner, "columns", None) is not None:
                inputs, features = inputs[:, inner.columns], features[list(inner.columns)]
            if hasattr(inner, "encoding"):
                own = inner.encoding
                kinds = ["number"] * len(own.numbers) + ["gap"] * len(own.gaps) + own.level_codes.tolist()
                inputs, features = own.transform(inputs), features[own.input_columns]
            inner = inner.learner
        slope = -np.sqrt(2) * factor * np.sin(inputs @ inner.theta - inner.kappa)
        for number, name in enumerate(zip(kinds, features.tolist(), strict=False)):
            mean = share @ inputs[:, number]
            deviation = np.sqrt(share @ (inputs[:, number] - mean) ** 2)
            change = np.multiply.outer(deviation * inner.theta[number] * slope, own_weights)
            total[name] = total.get(name, 0.0) + change
    return total


def expected_importances(model, X, weight=None):
    """Return the importances of the features in cosines, from their definition."""
    rows = model.schema_.read(X).values
    share = np.full(len(rows), 1 / len(rows)) if weight is None else weight / weight.sum()
    squares = np.zeros(rows.shape[1])
    found = gradients_times_deviations(model.ensemble_.learners, model.ensemble_.weights, rows, share)
    for (_, feature), change in found.items():
        squares[feature] += share @ np.sum(change**2, axis=1)
    return np.sqrt(squares) / np.sqrt(squares).sum()


@pytest.mark.parametrize("standardize", [False, True, "robust", "rank"])
@pytest.mark.parametrize("kind", ["regression", "classes"])
def test_cosines_count_by_their_derivatives(standardize, kind, rng):
    X, score = rows_and_score(rng)
    X /= 3.0 ** np.arange(5) if standardize else 10.0 ** np.arange(5)
    weight = rng.integers(1, 4, len(X)).astype(float)
    family = Fourier(standardize=standardize, n_candidates=200)
    make, y = (CGEnsRegressor, score) if kind == "regression" else (CGEnsClassifier, np.digitize(score, [-0.5, 0.5]))
    model = make(family, **OPTIONS).fit(X, y, weight)
    importances = model.feature_importances_
    assert np.allclose(importances, expected_importances(model, X, weight), rtol=0, atol=RESPONSE)
    assert importances[0] > importances[1] > 1.5 * importances[2:].max()
    copies = np.repeat(np.arange(len(X)), weight.astype(int))
    assert make(family, **OPTIONS).fit(X[copies], y[copies]).feature_importances_.tolist() == importances.tolist()
    assert pickle.loads(pickle.dumps(model)).feature_importances_.tolist() == importances.tolist()
    model.feature_importances_[:] = 0.0
    assert model.feature_importances_.tolist() == importances.tolist(), "a copy"


def test_cosines_of_tables_and_of_some_columns(rng):
    X, score = table_and_score(rng)
    model = CGEnsRegressor("fourier", **OPTIONS).fit(X, score)
    assert np.allclose(model.feature_importances_, expected_importances(model, X), rtol=0, atol=RESPONSE)
    nested = [("fourier", ["kind", "size"]), (Mixture([("fourier", [1])]), ["age", "size"])]
    some = CGEnsRegressor(nested, **OPTIONS).fit(X, score)
    assert np.allclose(some.feature_importances_, expected_importances(some, X), rtol=0, atol=RESPONSE)
    assert (some.feature_importances_ > 0).tolist() == [True, False, False, True, False]


def test_few_rows_stand_for_many(rng):
    X, score = rows_and_score(rng, 3 * GRADIENT_ROWS)
    model = CGEnsRegressor(Fourier(n_candidates=200), **OPTIONS).fit(X, score)
    assert np.allclose(model.feature_importances_, expected_importances(model, X), rtol=0.1, atol=0.01)


def test_targets_of_any_size(rng):
    X, score = rows_and_score(rng)
    for size in (1e-90, 1e90):
        model = CGEnsRegressor("fourier", **OPTIONS).fit(X, size * score)
        assert np.allclose(model.feature_importances_, expected_importances(model, X), rtol=0, atol=RESPONSE)


def test_cosines_of_sparse_rows_have_no_importances(rng):
    X, score = rows_and_score(rng)
    model = CGEnsRegressor("fourier", **OPTIONS).fit(sparse.csr_array(np.where(X > 0, X, 0.0)), score)
    with pytest.raises(AttributeError, match=r"feature_importances_.*dense rows.*permutation_importance"):
        _ = model.feature_importances_


def test_a_later_fit_does_not_keep_them(rng):
    X, score = rows_and_score(rng)
    model = CGEnsRegressor("fourier", **OPTIONS).fit(X, score)
    model.set_params(weak_learner="perceptron").fit(X, score)
    assert not hasattr(model, "feature_importances_")


@pytest.mark.parametrize("kind", ["regression", "two outputs", "classes", "labels"])
def test_irrelevant_features_of_automatic_models_get_little(kind, rng):
    X, score = rows_and_score(rng)
    y = {
        "regression": score,
        "two outputs": np.column_stack([score, -2 * score + 3]),
        "classes": np.digitize(score, [-0.5, 0.5]),
        "labels": np.column_stack([score > 0, score > 0.5]).astype(int),
    }[kind]
    model = (CGEnsClassifier if kind in ("classes", "labels") else CGEnsRegressor)(**OPTIONS).fit(X, y)
    importances = model.feature_importances_
    assert importances.shape == (5,)
    assert np.all(importances >= 0)
    assert importances.sum() == pytest.approx(1.0, rel=CLOSED_FORM)
    assert importances[0] > importances[1] > 2 * importances[2:].max()


@pytest.mark.slow
def test_they_are_the_weighted_mean_of_those_of_the_parts(rng):
    X, score = rows_and_score(rng, 600)
    y = score + np.where(X[:, 0] > 0.3, 2.0, 0.0)
    model = CGEnsRegressor(**{**OPTIONS, "n_estimators": 200}).fit(X, y)
    assert len(model.parts_) > 1, "cosines and trees"
    weights = np.array([part.weight for part in model.auto_.parts])
    own = np.array([model.parts_[part.name].feature_importances_ for part in model.auto_.parts])
    assert np.allclose(model.feature_importances_, weights @ own / weights.sum(), rtol=0, atol=IMPORTANCE)
    cosines = model.parts_["cosines"]
    assert np.allclose(cosines.feature_importances_, expected_importances(cosines, X), rtol=0, atol=RESPONSE)
    for name, part in model.parts_.items():
        if "trees" in name:
            assert part.feature_importances_[:2].sum() > 0.8


def test_inputs_in_two_views_count_together(rng):
    X, score = table_and_score(rng)
    views = [Fourier(standardize=view, n_candidates=100) for view in ("zc", "rank")]
    learners = [own for view in views for own in CGEnsRegressor(view, **OPTIONS).fit(X, score).ensemble_.learners]
    model = CGEnsRegressor(Pool(learners), **{**OPTIONS, "n_estimators": 120}).fit(X, score)
    assert len({learner.encoding.digest for learner in model.ensemble_.learners}) == 2
    assert np.allclose(model.feature_importances_, expected_importances(model, X), rtol=0, atol=RESPONSE)


def test_tables(rng):
    X, score = table_and_score(rng)
    model = CGEnsRegressor(**OPTIONS).fit(X, score)
    part = model.parts_["cosines"]
    assert np.allclose(part.feature_importances_, expected_importances(part, X), rtol=0, atol=RESPONSE)
    found = dict(zip(X.columns, model.feature_importances_.tolist(), strict=True))
    relevant = {name: found.pop(name) for name in ("size", "kind", "age")}
    assert max(relevant, key=lambda name: relevant[name]) == "size"
    assert min(relevant.values()) > 2 * max(found.values()), "noise with gaps, and a category of many levels"


@pytest.mark.slow
def test_a_part_of_trees_only(rng):
    """A function that is too rough for cosines."""
    X, steps = rng.normal(size=(800, 5)), rng.normal(size=100)
    y = steps[(20 * X[:, 1]).astype(int) % 100] + (X[:, 3] > 0)
    model = CGEnsRegressor(**{**OPTIONS, "n_estimators": 400}).fit(X, y)
    assert all("trees" in name for name in model.parts_)
    importances = model.feature_importances_
    assert importances[1] > importances[3] > 1.5 * importances[[0, 2, 4]].max()


def test_a_constant_model(rng):
    X, score = rows_and_score(rng)
    with pytest.warns(UserWarning, match="the model is constant"):
        model = CGEnsRegressor(**OPTIONS).fit(np.ones_like(X), score)
    assert model.feature_importances_.tolist() == [0.0] * 5


def test_features_are_selected_by_them(rng):
    X, score = rows_and_score(rng)
    selector = SelectFromModel(CGEnsRegressor(**OPTIONS)).fit(X, score)
    assert selector.get_support().tolist() == [True, True, False, False, False]


def test_automatic_models_have_a_metric_for_each_view(rng):
    model = CGEnsRegressor(**OPTIONS).fit(*rows_and_score(rng))
    assert not hasattr(model, "input_importances_")
    with pytest.raises(AttributeError, match=r"input_importances_.*auto_.metrics.*feature_importances_.*permutation"):
        _ = model.input_importances_


def test_reports_are_compared_by_identity(rng):
    model = CGEnsRegressor(**OPTIONS).fit(*rows_and_score(rng))
    again = pickle.loads(pickle.dumps(model.auto_))
    assert again != model.auto_
    assert len({again, model.auto_, model.auto_}) == 2
    assert again.parts == model.auto_.parts


def test_the_names_of_a_metric_are_those_of_input_importances():
    X = mixed(200)
    model = CGEnsRegressor(Fourier(metric="learned", n_candidates=100), **OPTIONS).fit(X, score_of(X))
    (pack,) = [pack for _, pack in model.ensemble_.packs.flattened()]
    assert isinstance(pack, EncodedPack)
    metric = pack.learner(0).learner.metric
    schema, table = Schema.learn(X)
    rows, weight = np.arange(200), np.ones(200)
    found = named_metric(pack.encoding, metric.factors, schema, Sample(table, rows, weight))
    assert found == pytest.approx(model.input_importances_, rel=CLOSED_FORM)
    assert {"size", "size is missing", "colour=red", "city is rare"} <= set(found)
    assert sum(found.values()) == pytest.approx(1.0, rel=CLOSED_FORM)


def test_the_names_of_a_metric_of_columns_without_names(rng):
    X = np.column_stack([rng.normal(size=50), np.where(rng.random(50) < 0.5, np.nan, 1.0)])
    schema, table = Schema.learn(X)
    sample = Sample(table, np.arange(50), np.ones(50))
    encoding = Encoding.of(table, sample.rows, sample.weight, "zc")
    gap = np.sqrt(np.mean(np.isnan(X[:, 1])) * np.mean(~np.isnan(X[:, 1])))
    found = named_metric(encoding, np.array([1.0, 1.0, 2.0]), schema, sample)
    assert found == pytest.approx({"x0": 1 / (1 + 2 * gap), "x1": 0.0, "x1 is missing": 2 * gap / (1 + 2 * gap)})
    assert named_metric(encoding, np.zeros(3), schema, sample) == pytest.approx(dict.fromkeys(found, 1 / 3))


def test_given_cosines_and_trees(rng):
    """Cosines from a fitted model count as others do; together with trees they have no common measure."""
    X, score = rows_and_score(rng)
    cosines, trees = (CGEnsRegressor(own, **OPTIONS).fit(X, score).ensemble_.learners for own in ("fourier", Tree(3)))
    model = CGEnsRegressor(Pool(cosines, scaled=True), **OPTIONS).fit(X, score)
    assert np.allclose(model.feature_importances_, expected_importances(model, X), rtol=0, atol=RESPONSE)
    assert not hasattr(CGEnsRegressor(Pool([*cosines, *trees]), **OPTIONS).fit(X, score), "feature_importances_")
