"""Tables with gaps and categories in scikit-learn's pipelines, searches and metadata routing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from cgens import CGEnsClassifier, CGEnsClassifierCV, CGEnsRegressorCV, FourierSelector
from cgens.weak_learners import Fourier
from tests.integration.mixed_data import CATEGORIES, LIBRARIES, NUMBERS, mixed, target_of
from tests.models import FAMILIES, answer, make

X, Y = mixed(120), target_of(mixed(120), "binary")
NAMED = ["stump, 16 bins", "tree, four leaves", "box, pool", "linear", "fourier, pool", "perceptron, pool"]
every_family = pytest.mark.parametrize("family", NAMED)


def model_of(family="stump, 16 bins", **options):
    return CGEnsClassifier(FAMILIES[family], **{"n_estimators": 5, "random_state": 0, "n_jobs": 1, **options})


def columns(*steps):
    return ColumnTransformer(list(steps), verbose_feature_names_out=False)


@every_family
@pytest.mark.parametrize("output", ["pandas", "polars", "default"])
def test_a_column_transformer_may_return_any_table(family, output):
    """Numbers are scaled, which changes no split, and categories pass: in other columns, as objects or in a frame."""
    scaled = columns(("scaled", StandardScaler(), NUMBERS), ("levels", "passthrough", CATEGORIES))
    pipeline = make_pipeline(scaled, model_of(family)).set_output(transform=output).fit(X, Y)
    model = pipeline[-1]
    assert model.schema_.is_category.tolist() == [False] * 4 + [True] * 2
    assert (model.schema_.names is None) == (output == "default")
    own = scaled.transform(X)
    assert pipeline.decision_function(X).tobytes() == model.decision_function(own).tobytes()
    assert pipeline.score(X, Y) > 0.7


def test_encoded_columns_are_sparse():
    encoded = columns(
        ("levels", OneHotEncoder(handle_unknown="ignore"), CATEGORIES), ("numbers", "passthrough", NUMBERS)
    )
    pipeline = make_pipeline(encoded.set_params(sparse_threshold=1.0), model_of()).fit(X, Y)
    assert pipeline[-1].n_features_in_ > 10
    assert pipeline.score(X, Y) > 0.7
    dense = make_pipeline(encoded.set_params(sparse_threshold=0.0), model_of()).fit(X, Y)
    assert pipeline.decision_function(X).tobytes() == dense.decision_function(X).tobytes()


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_clone_fits_the_same_model(library):
    rows = LIBRARIES[library](X)
    model = model_of(categorical_features=[2, 4]).fit(rows, Y)
    again = clone(model)
    assert not hasattr(again, "schema_")
    assert again.fit(rows, Y).decision_function(rows).tobytes() == model.decision_function(rows).tobytes()


@pytest.mark.parametrize("library", LIBRARIES)
def test_searches_and_cross_validation_slice_tables_of_every_library(library):
    """Test rows have levels that the training rows lack."""
    rows, plain = LIBRARIES[library](X), {"cv": 3, "method": "decision_function"}
    expected = cross_val_predict(model_of(), X, Y, **plain)
    assert np.array_equal(cross_val_predict(model_of(), rows, Y, **plain), expected)
    search = GridSearchCV(model_of(), {"C": [0.01, 1.0], "weak_learner": ["stump", Fourier(n_candidates=30)]}, cv=3)
    assert search.fit(rows, Y).best_score_ > 0.6
    assert search.predict(rows).shape == Y.shape


@pytest.mark.parametrize("family", [*NAMED, "mixture"])
def test_our_own_searches(family):
    """Folds lack levels, and may lack gaps; the scores are those of the rows in any library."""
    options = {"Cs": 3, "stages": [2, 4], "cv": 3, "n_estimators": 4, "random_state": 0}
    found = [
        CGEnsClassifierCV(FAMILIES[family], n_jobs=n_jobs, **options).fit(LIBRARIES[library](X), Y)
        for library, n_jobs in (("pandas", 1), ("polars", 2))
    ]
    assert np.array_equal(found[0].scores_, found[1].scores_)
    assert found[0].decision_function(X).tobytes() == found[1].decision_function(X).tobytes()
    assert found[0].best_score_ > 0.6
    y = target_of(X, "regression")
    regressor = CGEnsRegressorCV(FAMILIES[family], n_jobs=1, **options).fit(X, y)
    assert regressor.score(X, y) > 0.1
    assert found[0].schema_.levels == regressor.best_estimator_.schema_.levels


@every_family
def test_gaps_that_only_test_rows_have(family):
    rows = X[["income", "rooms"]].astype(float).iloc[:60].copy()
    rows.iloc[[1, 3], 0] = np.nan
    folds = [(np.arange(begin, begin + 30), np.arange(60)[30 - begin : 60 - begin]) for begin in (0, 30)]
    search = CGEnsClassifierCV(FAMILIES[family], Cs=2, stages=[2], cv=folds, n_estimators=2, random_state=0, n_jobs=1)
    assert np.isfinite(search.fit(rows, Y[:60]).scores_).all()
    decisions = cross_val_predict(model_of(family), rows, Y[:60], cv=folds, method="decision_function")
    assert np.isfinite(decisions).all()


def test_weights_are_routed_with_a_frame():
    weight = np.random.default_rng(0).integers(1, 5, len(Y)).astype(float)
    with config_context(enable_metadata_routing=True):
        model = model_of().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        found = cross_validate(model, X, Y, cv=3, params={"sample_weight": weight}, return_indices=True)
        search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=3).fit(X, Y, sample_weight=weight)
    for number, (train, test) in enumerate(zip(*found["indices"].values(), strict=True)):
        own = model_of().fit(X.iloc[train], Y[train], weight[train])
        assert found["test_score"][number] == own.score(X.iloc[test], Y[test], weight[test])
    best = model_of(**search.best_params_).fit(X, Y, weight)
    assert search.decision_function(X).tobytes() == best.decision_function(X).tobytes()


@pytest.mark.parametrize(("output", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_the_selector_returns_frames(output, frame):
    selector = FourierSelector(5, Fourier(n_candidates=40), random_state=0, n_jobs=1)
    plain = selector.fit(X, Y).transform(X)
    rows = X.set_axis(np.arange(500, 500 + len(X)))
    for library in ("pandas", "polars", "pyarrow"):
        features = (
            selector.set_output(transform=output).fit(LIBRARIES[library](rows), Y).transform(LIBRARIES[library](rows))
        )
        assert isinstance(features, frame)
        assert list(features.columns) == [f"fourierselector{k}" for k in range(5)]
        assert np.array_equal(features.to_numpy(), plain)
        assert library != "pandas" or output != "pandas" or features.index.equals(rows.index)
    pipeline = make_pipeline(selector, LogisticRegression()).fit(X, Y)
    assert pipeline.score(X, Y) > 0.7
    assert pipeline[:-1].get_feature_names_out().tolist() == list(features.columns)


@pytest.mark.parametrize("name", ["binary", "regression", "outliers", "AdaBoost.MH", "LPBoost", "Gaussian kernel"])
def test_names_are_those_of_the_frame(name):
    """Also after a second fit to rows without names."""
    kind = {"regression": "regression", "AdaBoost.MH": "multiclass", "Gaussian kernel": "multiclass"}.get(
        name, "binary"
    )
    model, y = make(name).fit(LIBRARIES["pyarrow"](X), target_of(X, kind)), target_of(X, kind)
    assert model.feature_names_in_.tolist() == list(X.columns)
    with pytest.raises(ValueError, match=r"lacks the column 'city'"):
        model.predict(X.drop(columns="city"))
    with pytest.warns(UserWarning, match="feature names"):
        found = answer(model, LIBRARIES["NumPy objects"](X))
    assert found.tobytes() == answer(model, X).tobytes()
    model.fit(LIBRARIES["NumPy objects"](X), y)
    assert not hasattr(model, "feature_names_in_")
    assert model.schema_.names is None
