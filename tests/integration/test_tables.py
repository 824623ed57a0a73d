"""Tables of numbers and categories with gaps: the same models from all libraries, for all estimators and families."""

from __future__ import annotations

import pickle
import time
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import get_tags

from cgens import CGEnsClassifier, CGEnsRegressor, Checkpoint
from cgens.inspection import check_certificate
from cgens.weak_learners import Box, Fourier, Linear, Perceptron, SklearnLearner, Stump, Tree
from tests.integration.mixed_data import LIBRARIES, mixed, target_of
from tests.models import FAMILIES, MODELS, OTHER_FORMS, PLAIN, VARIANTS, answer, assert_same_model, make

X = mixed()
NAN = np.nan
OF_TABLES = [name for name in FAMILIES if name != "scikit-learn"]  # which accepts numbers only
every_family = pytest.mark.parametrize("family", OF_TABLES)
EVERY_MODEL = [name for name in MODELS if name not in VARIANTS]


def of_family(family, kind=CGEnsClassifier, **options):
    return kind(FAMILIES[family], **{"n_estimators": 4, "random_state": 0, "n_jobs": 1, **options})


def fit(model, rows=X, weight=None, kind=None):
    """Fit to a table in any library, with the target of its kind."""
    kind = kind or ("regression" if isinstance(model, CGEnsRegressor) else "binary")
    return model.fit(rows, target_of(X, kind), sample_weight=weight)


# --- the same model

LOSSES = {
    "hinge": (CGEnsClassifier, "binary", {"loss": "hinge"}),
    "logistic": (CGEnsClassifier, "multiclass", {"loss": "logistic"}),
    "squared": (CGEnsRegressor, "regression", {}),
}


@every_family
@pytest.mark.parametrize("loss", LOSSES)
def test_the_same_model_from_other_libraries_orders_copies_and_threads(family, loss):
    estimator, kind, options = LOSSES[loss]
    rng = np.random.default_rng(1)
    y, weight, order = target_of(X, kind), rng.integers(1, 4, len(X)), rng.permutation(len(X))
    copies = np.repeat(order, weight[order])
    expected = answer(of_family(family, estimator, **options).fit(X, y, weight), X)
    turn = OF_TABLES.index(family) + list(LOSSES).index(loss)
    names = list(LIBRARIES)[turn % 2 :: 2]  # all of them, in two turns
    for number, name in enumerate(names):
        rows, n_jobs = (order if number % 2 else copies), number % 2 + 1
        model = of_family(family, estimator, n_jobs=n_jobs, **options)
        model.fit(LIBRARIES[name](X.iloc[rows]), y[rows], weight[rows] if number % 2 else None)
        assert answer(model, LIBRARIES[name](X)).tobytes() == expected.tobytes(), name
    assert np.isfinite(expected).all()
    assert np.ptp(expected) > 0


@pytest.mark.parametrize("name", EVERY_MODEL)
def test_every_estimator(name):
    """Also baselines, searches, the selector and the outlier detector; a pickle is the same model."""
    kind = MODELS[name][1]
    model = fit(make(name), kind=kind)
    found = answer(model, X)
    assert np.isfinite(found).all()
    assert np.ptp(found) > 0
    again = pickle.loads(pickle.dumps(model))
    for rows in (X, LIBRARIES["polars, Categorical"](X), X[X.columns[::-1]]):
        assert answer(again, rows).tobytes() == found.tobytes()
    if name in (*PLAIN, *OTHER_FORMS):
        assert check_certificate(model, X, target_of(X, kind)).problems == ()


@every_family
def test_certificates_of_every_family(family):
    for estimator, kind, options in LOSSES.values():
        y = target_of(X, kind)
        model = of_family(family, estimator, **options).fit(X, y)
        assert check_certificate(model, LIBRARIES["polars"](X), y).problems == ()


# --- where gaps go

#: Families of one split each.
SPLITS = {
    "stump": Stump(),
    "tree": Tree(2, leaves="sign", min_samples_leaf=1, max_features=1.0),
    "box": Box(n_thresholds=1, n_candidates=200),
}
LOW_HIGH = np.repeat([0.0, 1.0], 20)
GAPS = np.full(20, NAN)


def one_split(family, values, y):
    """Return the responses of the first weak learner to 0, 1, a gap, and any later values."""
    values = np.asarray(values)[:, None]
    model = CGEnsClassifier(SPLITS[family], n_estimators=1, C=1.0, random_state=0, n_jobs=1).fit(values, y)
    return lambda *later: model.predict(np.array(later, dtype=values.dtype)[:, None]).tolist()


@pytest.mark.parametrize("family", SPLITS)
def test_gaps_go_to_the_better_side(family):
    values, low_high = np.append(LOW_HIGH, GAPS), np.repeat([0, 1], 20)
    assert one_split(family, values, np.append(low_high, [1] * 20))(0.0, 1.0, NAN) == [0, 1, 1]
    assert one_split(family, values, np.append(low_high, [0] * 20))(0.0, 1.0, NAN) == [0, 1, 0]
    if family != "box":  # whose conditions on one feature are a single one
        assert one_split(family, values, np.append(0 * low_high, [1] * 20))(0.0, 1.0, NAN) == [0, 0, 1], "only gaps"


@pytest.mark.parametrize("family", SPLITS)
def test_missing_levels_are_a_level(family):
    values = np.repeat(np.array(["a", "b", None], dtype=object), 20)
    for y in ([0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 1, 1]):
        assert one_split(family, values, np.repeat(y, 20))("a", "b", None) == y


@pytest.mark.parametrize("family", SPLITS)
@pytest.mark.parametrize("n_low", [10, 30])
def test_without_gaps_in_training_they_go_to_the_heavier_side(family, n_low):
    y = np.repeat([0, 1], [n_low, 40 - n_low])
    heavier = int(n_low < 20)
    assert one_split(family, y.astype(float), y)(0.0, 1.0, NAN) == [0, 1, heavier]
    assert one_split(family, np.array(["a", "b"], dtype=object)[y], y)("a", "b", None) == [0, 1, heavier]
    weighted = CGEnsClassifier(SPLITS[family], n_estimators=1, C=1.0, random_state=0, n_jobs=1)
    weighted.fit(y[:, None].astype(float), y, np.where(y == heavier, 0.1, 1.0))
    assert weighted.predict([[0.0], [1.0], [NAN]]).tolist() == [0, 1, 1 - heavier]


OF_NUMBERS = {
    "linear": Linear(),
    "fourier": Fourier(n_candidates=40, learn=False),
    "fourier, robust": Fourier(n_candidates=40, learn=False, standardize="robust"),
    "fourier, learned": Fourier(learn=True),
    "perceptron": Perceptron(40, learn=False),
}


@pytest.mark.parametrize("family", OF_NUMBERS)
def test_without_gaps_in_training_they_are_medians_for_functions_of_numbers(family, rng):
    A = rng.normal(size=(101, 3))
    y = (A[:, 0] + A[:, 1] ** 2 > 0.5).astype(int)
    model = CGEnsClassifier(OF_NUMBERS[family], n_estimators=5, random_state=0, n_jobs=1).fit(A, y)
    rows, filled = A[:20].copy(), A[:20].copy()
    rows[::3, 1], rows[1::4, 0] = NAN, NAN
    filled[::3, 1], filled[1::4, 0] = np.median(A[:, 1]), np.median(A[:, 0])
    assert model.decision_function(rows).tobytes() == model.decision_function(filled).tobytes()
    for stage, expected in zip(model.staged_predict(rows), model.staged_predict(filled), strict=True):
        assert np.array_equal(stage, expected)


@pytest.mark.parametrize("family", OF_NUMBERS)
def test_gaps_in_training_have_an_input_of_their_own(family, rng):
    """A target that depends on nothing but what is missing is learned."""
    A = rng.normal(size=(200, 2))
    A[rng.random(200) < 0.4, 0] = NAN
    y = np.isnan(A[:, 0]).astype(int)
    model = CGEnsClassifier(OF_NUMBERS[family], n_estimators=40, C=10.0, random_state=0, n_jobs=1).fit(A, y)
    assert model.score(A, y) > 0.97


def test_automatic_scaling_is_robust_for_a_table_with_units_and_none_for_others(rng):
    A = rng.normal(size=(80, 4))
    y = (A[:, 0] > 0).astype(int)
    tables = {"units": A * [1.0, 1.0, 1.0, 100.0], "gaps": np.where(A > 2.0, NAN, A), "one scale": A}
    for name, rows in tables.items():
        automatic, explicit = (
            CGEnsClassifier(Fourier(n_candidates=30, standardize=own, learn=False), n_estimators=4, random_state=0)
            for own in ("auto", False if name == "one scale" else "robust")
        )
        assert_same_model(automatic.fit(rows, y), explicit.fit(rows, y), rows)


# --- more rows: early stopping, warm starts, checkpoints, weights of 0


def complete_and_later():
    """Return rows without gaps, and rows with gaps also in other columns and with a level that the first lack."""
    first, later = mixed(120).dropna().reset_index(drop=True), mixed(70, seed=1)
    targets = target_of(first, "binary"), target_of(later, "binary")
    later.loc[3, "city"], later.loc[4, "income"] = "nowhere", NAN
    return (first, targets[0]), (later, targets[1])


@every_family
def test_validation_rows_may_have_gaps_and_levels_that_the_training_rows_lack(family):
    (A, y), (B, y_val) = complete_and_later()
    model = of_family(family, early_stopping=True, n_estimators=6, loss="logistic", store_history=True)
    model.fit(A, y, X_val=pl.from_pandas(B), y_val=y_val)
    stages = [np.mean(np.logaddexp(0, -(2 * y_val - 1) * own)) for own in model.staged_decision_function(B)]
    kept = model.n_columns_
    assert np.allclose(model.validation_losses_[: kept - 1], stages[: kept - 1], rtol=1e-4, atol=0)
    assert np.isfinite(model.validation_losses_).all()
    assert kept == np.argmin(model.validation_losses_) + 1


@every_family
def test_a_warm_start_may_have_gaps_and_levels_that_the_first_rows_lack(family):
    (A, y_first), (B, y) = complete_and_later()
    model = of_family(family, warm_start=True).fit(A, y_first)
    first, levels = model.ensemble_.learners[:], model.schema_.levels
    model.set_params(n_estimators=8).fit(B, y)
    assert model.schema_.levels == levels
    assert model.ensemble_.learners[: len(first)] == first
    assert model.n_columns_ > len(first)
    assert np.isfinite(model.decision_function(B)).all()
    assert check_certificate(model, B, y).problems == ()


@every_family
def test_a_fit_goes_on_from_its_checkpoint(family, tmp_path):
    y, path = target_of(X, "binary"), tmp_path / "fit"

    def crash(state):
        if state.n_columns == 4:
            raise RuntimeError

    once = of_family(family, n_estimators=6).fit(X, y)
    crashed = of_family(family, n_estimators=6, checkpoint=Checkpoint(path, every_rounds=1)).set_callbacks(crash)
    with pytest.raises(RuntimeError):
        crashed.fit(X, y)
    assert path.exists()
    rounds = []
    resumed = of_family(family, n_estimators=6, checkpoint=Checkpoint(path)).set_callbacks(rounds.append)
    assert_same_model(resumed.fit(LIBRARIES["polars"](X), y), once, X)
    assert rounds[0].n_columns == 4, "it went on, and did not begin again"


def test_another_level_is_another_fit_for_a_checkpoint(tmp_path):
    y, path = target_of(X, "binary"), tmp_path / "fit"

    def crash(state):
        if state.n_columns == 2:
            raise RuntimeError

    with pytest.raises(RuntimeError):
        CGEnsClassifier(checkpoint=Checkpoint(path, every_rounds=1)).set_callbacks(crash).fit(X, y)
    with pytest.raises(ValueError, match=r"checkpoint"):
        CGEnsClassifier(checkpoint=path).fit(X.assign(colour=X["colour"].fillna("red")), y)


@every_family
def test_gaps_in_rows_of_weight_0_do_not_matter(family, rng):
    A = rng.normal(size=(80, 5))
    y, weight = (A[:, 0] > 0).astype(int), np.ones(80)
    rows = A.copy()
    rows[:6, 1], weight[:6] = NAN, 0.0
    model, without = of_family(family).fit(rows, y, weight), of_family(family).fit(A[6:], y[6:])
    assert_same_model(model, without, A)
    assert model.decision_function(rows).tobytes() == without.decision_function(rows).tobytes()


# --- odd tables

ONCE = X.assign(city=[f"city {k:02d}" for k in range(len(X))])
ODD = {
    "a column of nothing but gaps": X.assign(size=NAN),
    "a category of nothing but gaps": X.assign(colour=pd.Series([None] * len(X), dtype="str")),
    "a constant category": X.assign(colour="red"),
    "a category of one level and gaps": X.assign(colour=X["colour"].where(X["colour"] == "red", None)),
    "a single number and gaps": X.assign(size=X["size"] * 0.0),
    "every level once": ONCE,
    "categories only": X[["colour", "city"]],
    "one category": X[["colour"]],  # which the families of a mixture share
}


@every_family
@pytest.mark.parametrize("what", ODD)
def test_odd_tables_give_a_sound_model(family, what):
    rows, y = ODD[what], target_of(X, "binary")
    model = of_family(family).fit(rows, y)
    later = rows[:3].copy()
    later[list(rows.select_dtypes(exclude=["number", "bool"]))] = "unseen"
    assert np.isfinite(model.decision_function(rows)).all()
    assert np.isfinite(model.decision_function(later)).all()
    assert check_certificate(model, rows, y).problems == ()
    assert model.score(rows, y) >= 0.5


def test_an_unseen_level_is_as_rare_ones_are(rng):
    """In stumps and trees, whose rare levels share a bin."""
    colour = np.array(["red", "blue"], dtype=object)[rng.integers(0, 2, 100)]
    colour[:40] = [f"once {k}" for k in range(40)]
    y = (np.arange(100) < 40).astype(int)
    for family in (Stump(), Tree(2, min_samples_leaf=1, max_features=1.0)):
        model = CGEnsClassifier(family, n_estimators=2, random_state=0).fit(colour[:, None], y)
        once, never, frequent = model.decision_function(np.array([["once 3"], ["never"], ["red"]], dtype=object))
        assert once == never > frequent


@pytest.mark.slow
@pytest.mark.parametrize("family", ["stump", "tree", "linear"])
def test_a_hundred_thousand_levels_take_little_time_and_memory(family):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 100_000, 120_000)
    ids = pd.Categorical.from_codes(codes, [f"id {number}" for number in range(100_000)])
    rows = pd.DataFrame({"x": rng.normal(size=len(codes)), "id": ids})
    y = (rows["x"] > 0).to_numpy().astype(int)
    begin = time.perf_counter()
    tracemalloc.start()
    model = CGEnsClassifier(family, n_estimators=3, random_state=0).fit(rows, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert time.perf_counter() - begin < 20
    assert peak < 120 * y.nbytes, "some tens of inputs, not one for each level"
    assert len(model.schema_.levels[1]) > 50_000
    assert model.score(rows[:1000], y[:1000]) > 0.9


def test_a_family_of_numbers_says_what_it_refuses():
    """In `fit`, in predictions and in its tags."""
    numbers, y = X[["size", "income", "rooms"]], target_of(X, "binary")
    model = CGEnsClassifier(SklearnLearner(GaussianNB()), n_estimators=3, random_state=0)
    tags = get_tags(model).input_tags
    assert (tags.allow_nan, tags.sparse) == (False, False)
    refused = {
        "accepts numbers only.*column 'colour'": X,
        "missing values.*column 'size'": numbers,
        "sparse X.*toarray": sparse.csr_array(numbers.fillna(0.0)),
    }
    for pattern, rows in refused.items():
        with pytest.raises(ValueError, match=rf"SklearnLearner.*{pattern}"):
            clone(model).fit(rows, y)
    model.fit(numbers.fillna(0.0), y)
    assert model.score(numbers.fillna(0.0), y) > 0.6
    with pytest.raises(ValueError, match=r"SklearnLearner does not accept missing values.*column 'size'"):
        model.predict(numbers)
    mixture = CGEnsClassifier([("stump", ["size", "colour"]), (model.weak_learner, ["income", "rooms"])])
    assert mixture.set_params(n_estimators=4).fit(X, y).score(X, y) > 0.7, "on other columns than these"


def test_a_classifier_that_accepts_gaps_and_sparse_rows_is_given_them():
    numbers, y = X[["size", "income", "rooms"]], target_of(X, "binary")
    model = CGEnsClassifier(FAMILIES["scikit-learn"], n_estimators=3, random_state=0)
    tags = get_tags(model).input_tags
    assert (tags.allow_nan, tags.sparse) == (True, True)
    assert clone(model).fit(numbers, y).score(numbers, y) > 0.7
    rows = sparse.csr_array(numbers.fillna(0.0))
    expected = clone(model).fit(rows.toarray(), y).decision_function(rows.toarray())
    assert clone(model).fit(rows, y).decision_function(rows).tobytes() == expected.tobytes()
