"""What every estimator must fulfil: copies, refits, labels, data frames, seeds, single rows and parameters."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from cgens import CGEnsClassifier, CGEnsRegressor
from cgens.types import Status
from cgens.weak_learners import Fourier, Perceptron, Stump, Tree
from tests.integration.small_data import topics
from tests.models import (
    BOOSTERS,
    ENSEMBLES,
    HINGE,
    LEAST_SQUARES,
    MODELS,
    OTHER_FORMS,
    SEARCHES,
    STAGE_WISE,
    VARIANTS,
    WRAPPERS,
    answer,
    assert_same_model,
    data_of,
    every_ensemble,
    every_model,
    every_on_the_loop,
    fitted,
    make,
)
from tests.tolerances import CLOSED_FORM, NEGATIVE_GAP, RESPONSE

CLASSIFIERS = [name for name in MODELS if is_classifier(MODELS[name][0])]
API = [name for name in MODELS if name not in (*VARIANTS, *OTHER_FORMS)]
OF_CLASSES = [name for name in CLASSIFIERS if name in API and "multilabel" not in name]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_predictions_are_those_of_the_decision(name):
    model, X, y = fitted(name)
    decision = model.decision_function(X)
    assert model.n_features_in_ == X.shape[1]
    if MODELS[name][1] == "multilabel":
        assert model.classes_.tolist() == list(range(y.shape[1]))
        assert decision.shape == y.shape
        assert np.array_equal(model.predict(X), (decision > 0).astype(int))
        assert model.score(X, y) == np.mean((model.predict(X) == y).all(axis=1))
        return
    n_classes = len(np.unique(y))
    assert model.classes_.tolist() == list(range(n_classes))
    assert decision.shape == ((len(y),) if n_classes == 2 else (len(y), n_classes))
    assert model.score(X, y) > 0.75
    if name not in WRAPPERS or n_classes == 2:  # scikit-learn's SVMs predict by pairwise votes
        best = (decision > 0).astype(int) if n_classes == 2 else decision.argmax(axis=1)
        assert np.array_equal(model.predict(X), model.classes_[best])


@every_on_the_loop
def test_fitted_attributes(name):
    model, _, y = fitted(name)
    assert 1 <= model.n_columns_ == model.n_iter_ == len(model.trace_) - 1 <= 10
    assert model.certificate_.status in (Status.MAX_COLUMNS, Status.OPTIMAL)
    n_codes = {"AdaBoost.ECC": 1, "AdaBoost.MH": 3, "MultiBoost": 3, "multiclass, hinge": 3}.get(name, 2)
    n_outputs = {"binary": 1, "regression": 1, "counts": 1, "multiclass": n_codes}.get(MODELS[name][1], 3)
    assert model.duals_.shape == ((len(y),) if n_outputs == 1 else (len(y), n_outputs))
    assert model.ensemble_.weights.shape == (model.n_columns_, 3 if name == "AdaBoost.ECC" else n_outputs)
    assert np.all(np.isfinite(model.duals_))
    assert np.all(np.isfinite(model.ensemble_.weights))
    assert not np.any(model.trace_.relative_gap < -NEGATIVE_GAP)
    certificate = model.certificate_
    if name in STAGE_WISE:
        assert certificate.dual == 0.0
        assert certificate.full_lower_bound is None
        assert certificate.scope == "restricted"
    else:
        assert certificate.scope == "pool"
        assert certificate.relative_gap <= model.tol
        assert certificate.full_lower_bound <= certificate.dual + NEGATIVE_GAP
    if name not in BOOSTERS:
        automatic = "hinge" if name in HINGE else "least_squares"
        assert model.loss_ == (automatic if model.loss == "auto" else model.loss)
        assert model.bound_duals_.shape == model.duals_.shape


COPIES = {
    "copy": copy.copy,
    "deep copy": copy.deepcopy,
    "pickle": lambda model: pickle.loads(pickle.dumps(model, pickle.HIGHEST_PROTOCOL)),
    "old pickle": lambda model: pickle.loads(pickle.dumps(model, 2)),
}


@every_model
def test_a_copy_is_the_same_model(name):
    model, X, y = fitted(name)
    for duplicate in COPIES.values():
        again = duplicate(model)
        assert_same_model(model, again, X)
        if name in ENSEMBLES:
            assert again.certificate_.status is model.certificate_.status
            if len(again.ensemble_.history):
                stages = zip(again.staged_predict(X), model.staged_predict(X), strict=True)
                assert all(one.tobytes() == other.tobytes() for one, other in stages)
    if name in LEAST_SQUARES:
        with pytest.raises(AttributeError, match=r"duals.*\bC_"):
            _ = again.duals_
    if "warm_start" in model.get_params():
        assert again.set_params(n_estimators=12, warm_start=True).fit(X, y).n_columns_ == 12


@every_model
def test_a_clone_has_the_parameters_and_fits_the_same_model(name):
    model, X, y = fitted(name)
    fresh = clone(model)
    assert repr(fresh) == repr(model)
    assert fresh.get_params().keys() == MODELS[name][0].get_params().keys()
    assert not [attribute for attribute in vars(fresh) if attribute.endswith("_")]
    assert not hasattr(fresh, "feature_importances_")
    assert not hasattr(fresh, "ensemble_")
    with pytest.raises(NotFittedError, match=type(fresh).__name__):
        answer(fresh, X)
    assert_same_model(model, fresh.fit(X, y), X)


@every_model
def test_the_constructor_only_stores(name):
    odd = object()
    kind = type(MODELS[name][0])
    given = dict.fromkeys(MODELS[name][0].get_params(deep=False), odd)
    assert all(value is odd for value in kind(**given).get_params(deep=False).values())


@every_model
def test_a_second_fit_does_not_depend_on_the_first(name):
    """The first one has other features and, if the estimator supports it, a multilabel target."""
    once, X, y = fitted(name)
    labels = is_classifier(once) and get_tags(once).classifier_tags.multi_label and "balanced" not in name
    other = topics()[1] if labels else y[::-1]
    model = make(name).fit(X[:90, :3], other[:90]).fit(X, y)
    assert_same_model(model, once, X)
    assert set(vars(model)) == set(vars(once))


LABELS = {
    "text": np.array(["setosa", "versicolor", "virginica"]),
    "objects": np.array(["aa", "b", "c"], dtype=object),
    "integers with gaps": np.array([-7, 3, 1000]),
    "unsigned": np.array([0, 100, 255], dtype=np.uint8),
    "floats": np.array([-2.0, 0.0, 7.0]),
    "truth values": np.array([False, True]),
}


@pytest.mark.parametrize("name", OF_CLASSES)
def test_class_labels_do_not_matter(name):
    model, X, y = fitted(name, n_estimators=3, stages=[1, 3])
    for labels in LABELS.values():
        if len(labels) <= y.max():
            continue
        labels = labels[: y.max() + 1]
        named = make(name, n_estimators=3, stages=[1, 3]).fit(X, labels[y])
        assert named.classes_.tolist() == labels.tolist()
        assert named.classes_.dtype == labels.dtype
        assert named.decision_function(X).tobytes() == model.decision_function(X).tobytes()
        assert np.array_equal(named.predict(X), labels[model.predict(X)])
    names = LABELS["text"][y]
    for column in (pd.Series(names, dtype="category"), names.tolist()):
        named = make(name, n_estimators=3, stages=[1, 3]).fit(X, column)
        assert named.decision_function(X).tobytes() == model.decision_function(X).tobytes()
        assert set(named.predict(X)) <= set(names)


@every_model
def test_data_frame(name):
    """Also with columns of mixed types."""
    X, y = data_of(name)
    frame = pd.DataFrame(X, columns=list("abcdef")[: X.shape[1]])
    frame = frame.assign(u=X[:, 0] > 0, v=X[:, 1].astype("float32"), w=(10 * X[:, 2]).astype("int16"))
    table = frame.to_numpy(dtype=float)
    frame = frame.assign(u=frame["u"].astype("boolean"), w=frame["w"].astype("Int64"))
    model, plain = make(name).fit(frame, y), make(name).fit(table, y)
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    assert answer(model, frame).tobytes() == answer(plain, table).tobytes()
    assert answer(model, frame[frame.columns[::-1]]).tobytes() == answer(plain, table).tobytes()
    with pytest.raises(ValueError, match=r"lacks the column 'a'.*'z' instead"):
        answer(model, frame.rename(columns={"a": "z"}))
    assert not hasattr(model.fit(table, y), "feature_names_in_"), "names of an earlier table are forgotten"


@every_model
def test_a_single_row_is_predicted_as_in_a_batch(name):
    model, X, _ = fitted(name)
    one_by_one = np.concatenate([answer(model, row[None]) for row in X[:20]])
    batch = answer(model, X)[:20]
    atol = (RESPONSE if name == "selector" else CLOSED_FORM) * max(1.0, np.abs(batch).max())
    assert np.allclose(one_by_one, batch, rtol=0, atol=atol)


DRAWN = {
    "stump": Stump(),
    "learned": Fourier(n_candidates=50),
    "fresh": Perceptron(20, pool="fresh", learn=False),
    "tree": Tree(4, max_features=0.5),
}


@pytest.mark.parametrize(
    ("name", "family"),
    [
        *(("binary", family) for family in DRAWN),
        ("multioutput", "learned"),
        ("search, multiclass", "fresh"),
        *((name, family) for name in BOOSTERS for family in ("stump", "learned")),
        *((name, "random cosines") for name in ("random Fourier", "selector")),
    ],
)
def test_the_same_seed_gives_the_same_model(name, family):
    X, y = data_of(name)
    seeds = (5, 5, 6, *(np.random.RandomState(5) for _ in range(2 if name == "binary" else 0)))
    options = {"weak_learner": DRAWN.get(family), "n_estimators": 4, "stages": [2, 4]}
    model, same, other, *of_states = (make(name, random_state=seed, **options).fit(X, y) for seed in seeds)
    assert_same_model(model, same, X)
    if of_states:
        assert_same_model(*of_states, X)
    draws = family != "stump" or name == "AdaBoost.ECC"
    assert (answer(other, X).tobytes() != answer(model, X).tobytes()) == draws


@every_ensemble
def test_verbose_prints_a_progress_bar(name, capfd):
    model, _, _ = fitted(name, verbose=0)
    assert capfd.readouterr() == ("", "")
    fitted(name, verbose=1)
    written = capfd.readouterr()
    assert written.out == ""
    # A search has one bar for its three folds, and one for the model with the best parameters.
    most = 30 if name in SEARCHES else model.n_columns_
    assert f"{most}/{30 if name in SEARCHES else 10} columns" in written.err


@every_model
def test_tags(name):
    estimator, kind = MODELS[name]
    tags = get_tags(estimator)
    assert tags.input_tags.sparse == (name not in ("stump kernel", "perceptron kernel"))
    assert tags.input_tags.allow_nan
    assert not tags.input_tags.categorical, "integers are numbers"
    if is_regressor(estimator):
        assert tags.target_tags.multi_output == (kind != "counts")  # scikit-learn checks it with y < 0
    elif is_classifier(estimator):
        assert tags.classifier_tags.multi_class == (name not in BOOSTERS or kind != "binary")
        assert tags.classifier_tags.multi_label == (name not in {**BOOSTERS, **WRAPPERS} or "MH" in name)
    else:
        assert name == "selector"


@pytest.mark.parametrize("name", [name for name in API if name != "selector"])
def test_grid_search_over_nested_parameters_in_a_pipeline(name):
    X, y = data_of(name)
    pipeline = make_pipeline(StandardScaler(), make(name, weak_learner=Stump()))
    step = pipeline.steps[1][0]
    grid = {f"{step}__weak_learner__max_bins": [2, 16]} if name in ENSEMBLES else {f"{step}__tol": [1e-4]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    assert search.best_score_ > {"binary": 0.6, "multiclass": 0.6, "counts": 0.0}.get(MODELS[name][1], 0.1)
    if name in ENSEMBLES:
        assert search.best_estimator_[1].weak_learner.max_bins == search.best_params_[f"{step}__weak_learner__max_bins"]
        assert pipeline[1].weak_learner.max_bins == Stump().max_bins
        coarse = make(name, weak_learner=Stump()).set_params(weak_learner__max_bins=2).fit(X, y)
        assert len({learner.key for learner in coarse.ensemble_.learners}) <= X.shape[1]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (CGEnsClassifier(), "weak_learner__max_bins cannot be set.*choose a weak learner, .*weak_learner='stump'"),
        (CGEnsRegressor(), "weak_learner='auto' has no parameters"),
        (CGEnsRegressor("fourier"), "Invalid parameter 'max_bins' for estimator Fourier"),
        (CGEnsRegressor(["stump", "tree"]), "Invalid parameter 'max_bins': the families of the mixture are"),
    ],
    ids=str,
)
def test_refused_parameters_of_a_weak_learner_change_nothing(model, message):
    before = {**model.get_params(deep=False)}
    with pytest.raises(ValueError, match=message):
        model.set_params(n_estimators=7, weak_learner__max_bins=3)
    assert model.get_params(deep=False) == before
    changed = model.set_params(weak_learner="stump", weak_learner__max_bins=3, n_estimators=7)
    assert (changed.weak_learner.max_bins, changed.n_estimators) == (3, 7)
