"""The rivals as estimators: shapes, labels, stages, importances, copies, seeds and threads."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from cgens.baselines import LPBoostClassifier
from cgens.types import Status
from cgens.weak_learners import Fourier, Perceptron, Stump, Tree
from tests.integration.rivals import (
    BINARY,
    FLOWERS,
    FOR_MORE_CLASSES,
    RIVALS,
    STAGE_WISE,
    WRAPPERS,
    assert_same_bits,
    data,
    every_on_the_loop,
    every_rival,
    fit,
)
from tests.integration.small_data import SMALL_DATA, noisy
from tests.tolerances import CLOSED_FORM, IMPORTANCE, NEGATIVE_GAP


@every_rival
def test_two_classes_have_one_decision(name):
    X, y = noisy()
    model = fit(name, X, y)
    decision = model.decision_function(X)
    assert decision.shape == (90,)
    assert np.array_equal(model.predict(X), model.classes_[(decision > 0).astype(int)])
    assert model.classes_.tolist() == [0, 1]
    assert model.n_features_in_ == 6
    assert model.score(X, y) > 0.75


@pytest.mark.parametrize("name", [*FOR_MORE_CLASSES, *WRAPPERS])
@pytest.mark.parametrize("n_classes", [3, 4, 10])
def test_more_classes_have_a_decision_each(name, n_classes):
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    X, y = X[:150], y[:150]
    model = fit(name, X, y)
    assert model.decision_function(X).shape == (150, n_classes)
    assert model.classes_.tolist() == list(range(n_classes))
    assert model.predict(X).shape == (150,)
    assert model.score(X, y) > 2 / n_classes
    if name in FOR_MORE_CLASSES:  # LIBSVM's machines vote in pairs
        assert np.array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])


@every_on_the_loop
def test_what_a_fit_leaves(name):
    X, y = data(name)
    model = fit(name, X, y)
    n_classes = len(model.classes_)
    n_outputs = n_classes if name in FOR_MORE_CLASSES else 1
    assert 1 <= model.n_columns_ == model.n_iter_ == len(model.trace_) - 1 <= 10
    assert model.ensemble_.weights.shape == (model.n_columns_, n_outputs)
    assert model.duals_.shape == ((len(y), 3) if name in ("AdaBoost.MH", "MultiBoost") else (len(y),))
    assert model.certificate_.status in (Status.MAX_COLUMNS, Status.OPTIMAL)
    assert np.all(np.isfinite(model.duals_))
    assert np.all(np.isfinite(model.ensemble_.weights))


@pytest.mark.parametrize("data", SMALL_DATA)
@every_on_the_loop
def test_no_warning_and_no_negative_gap_on_ordinary_data(name, data):
    X, y = SMALL_DATA[data]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit(name, X, y, n_estimators=40)
    assert np.all(model.trace_.relative_gap >= -NEGATIVE_GAP)
    assert model.certificate_.dual <= model.certificate_.primal + NEGATIVE_GAP
    if name not in STAGE_WISE:
        assert model.certificate_.relative_gap <= model.tol
        assert model.certificate_.full_relative_gap >= -NEGATIVE_GAP


@every_on_the_loop
def test_stage_wise_fits_prove_nothing(name):
    certificate = fit(name, *data(name)).certificate_
    if name in STAGE_WISE:
        assert certificate.dual == 0.0
        assert certificate.full_lower_bound is None
        assert certificate.scope == "restricted"
    else:
        assert certificate.full_lower_bound <= certificate.dual + NEGATIVE_GAP


NAMES = {
    "text": np.array(["setosa", "versicolor", "virginica"]),
    "objects": np.array(["b", "aa", "c"], dtype=object),
    "integers with gaps": np.array([-7, 3, 1000]),
    "floats": np.array([-2.0, 0.0, 7.0]),
}


@pytest.mark.parametrize("kind", NAMES)
@every_rival
def test_names_of_labels_do_not_matter(name, kind):
    X, y = data(name)
    ascending = np.unique(NAMES[kind])[: len(set(y))]
    named, numbers = fit(name, X, ascending[y]), fit(name, X, y)
    assert named.classes_.tolist() == ascending.tolist()
    assert named.decision_function(X).tobytes() == numbers.decision_function(X).tobytes()
    assert np.array_equal(named.predict(X), ascending[numbers.predict(X)])


@every_rival
def test_truth_values_are_labels(name):
    X, y = noisy()
    model = fit(name, X, y.astype(bool))
    assert model.predict(X).dtype == bool
    assert model.decision_function(X).tobytes() == fit(name, X, y).decision_function(X).tobytes()


@every_rival
def test_data_frame(name):
    X, y = noisy()
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(g=(X[:, 0] > 0), h=X[:, 1].astype("float32"))
    labels = pd.Series(np.where(y > 0, "yes", "no"), dtype="category")
    model = fit(name, frame, labels)
    assert model.feature_names_in_.tolist() == list("abcdefgh")
    assert set(model.predict(frame)) == {"yes", "no"}
    plain = fit(name, frame.to_numpy(dtype=float), labels.to_numpy())
    assert plain.decision_function(frame.to_numpy(dtype=float)).tobytes() == model.decision_function(frame).tobytes()
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"a": "z"}))


@every_on_the_loop
def test_one_stage_a_column_and_the_last_is_the_model(name):
    X, y = data(name)
    model = fit(name, X, y)
    stages, labels = list(model.staged_decision_function(X)), list(model.staged_predict(X))
    assert len(stages) == len(labels) == model.n_columns_
    scale = CLOSED_FORM * (np.abs(model.ensemble_.weights).sum() + np.abs(model.ensemble_.intercept).sum())
    assert np.allclose(stages[-1], model.decision_function(X), rtol=0, atol=scale)
    assert np.array_equal(labels[-1], model.predict(X))
    for stage, label in zip(stages, labels, strict=True):
        assert stage.shape == model.decision_function(X).shape
        assert np.array_equal(label, model.classes_[(stage > 0) * 1 if stage.ndim == 1 else stage.argmax(axis=1)])


@every_on_the_loop
def test_stage_k_is_the_model_of_k_columns(name):
    """Of stage-wise boosting because coefficients stay, of the others because every round is solved."""
    X, y = data(name)
    model = fit(name, X, y, n_estimators=6)
    for k, stage in enumerate(model.staged_decision_function(X), start=1):
        shorter = fit(name, X, y, n_estimators=k)
        assert shorter.ensemble_.learners == model.ensemble_.learners[:k]
        if name != "MultiBoost":  # which is solved loosely between rounds
            rounding = CLOSED_FORM * (1 + np.abs(stage).max())
            assert np.allclose(stage, shorter.decision_function(X), rtol=0, atol=rounding)


@pytest.mark.parametrize("weighted", [False, True])
@every_on_the_loop
def test_importances_are_the_spread_of_each_features_part(name, weighted, rng):
    X, y = data(name)
    weight = rng.integers(1, 5, len(y)).astype(float) if weighted else np.ones(len(y))
    model = fit(name, X, y, weight)
    parts = np.zeros((*X.shape, model.ensemble_.weights.shape[1]))
    for learner, w in zip(model.ensemble_.learners, model.ensemble_.weights, strict=True):
        parts[:, learner.feature] += np.multiply.outer(learner.respond(X), w)
    mean = np.average(parts, axis=0, weights=weight)
    spread = np.sqrt(np.average((parts - mean) ** 2, axis=0, weights=weight).sum(axis=1))
    assert np.allclose(model.feature_importances_, spread / spread.sum(), rtol=0, atol=IMPORTANCE)


@every_on_the_loop
def test_importances_are_of_stumps_and_trees(name):
    X, y = data(name)
    of_trees = fit(name, X, y, weak_learner=Tree(3)).feature_importances_
    assert of_trees.shape == (X.shape[1],)
    assert of_trees.sum() == pytest.approx(1.0, rel=CLOSED_FORM)
    assert not hasattr(fit(name, X, y, weak_learner="fourier"), "feature_importances_")
    assert not hasattr(clone(RIVALS[name]), "feature_importances_")


@every_rival
def test_a_copy_says_the_same(name):
    X, y = data(name)
    model = fit(name, X, y)
    decision = model.decision_function(X[1:])
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert again.decision_function(X[1:]).tobytes() == decision.tobytes()
    fresh = clone(model)
    assert fresh.get_params() == RIVALS[name].get_params()
    assert not [attribute for attribute in vars(fresh) if attribute.endswith("_")]
    assert fresh.fit(X, y).decision_function(X[1:]).tobytes() == decision.tobytes()


@every_rival
def test_constructor_only_stores(name):
    odd = object()
    given = dict.fromkeys(RIVALS[name].get_params(deep=False), odd)
    assert all(value is odd for value in type(RIVALS[name])(**given).get_params(deep=False).values())


@every_on_the_loop
def test_parameters_of_the_weak_learner(name):
    model = clone(RIVALS[name]).set_params(weak_learner=Stump(), weak_learner__max_bins=7)
    assert model.get_params()["weak_learner__max_bins"] == model.weak_learner.max_bins == 7
    X, y = data(name)
    coarse = fit(name, X, y, weak_learner=Stump(), weak_learner__max_bins=2)
    assert len({learner.key for learner in coarse.ensemble_.learners}) <= X.shape[1]


@every_on_the_loop
def test_grid_search_over_nested_parameters(name):
    X, y = data(name)
    grid = {"weak_learner__max_bins": [2, 16], "n_estimators": [2, 6]}
    search = GridSearchCV(clone(RIVALS[name]).set_params(weak_learner=Stump()), grid, cv=3).fit(X, y)
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    assert search.best_estimator_.weak_learner.max_bins == search.best_params_["weak_learner__max_bins"]
    assert search.best_score_ > 0.6


@every_rival
def test_in_a_pipeline(name):
    X, y = data(name)
    assert cross_val_score(make_pipeline(StandardScaler(), clone(RIVALS[name])), X, y, cv=3).mean() > 0.6


@pytest.mark.parametrize("name", BINARY)
def test_more_classes_by_scikit_learn(name):
    X, y = FLOWERS
    assert OneVsRestClassifier(clone(BINARY[name])).fit(X, y).score(X, y) > 0.85


@every_rival
def test_tags_say_what_a_rival_takes(name):
    tags = get_tags(RIVALS[name])
    assert is_classifier(RIVALS[name])
    assert tags.classifier_tags.multi_class == (name not in BINARY)
    assert tags.classifier_tags.multi_label == (name == "AdaBoost.MH")
    assert not tags.input_tags.sparse
    assert not tags.input_tags.allow_nan


DRAWN = {
    "stump": "stump",
    "fourier": Fourier(n_candidates=50),
    "fresh": Fourier(n_candidates=20, pool="fresh", learn=False),
    "perceptron": Perceptron(50),
    "tree": Tree(4, max_features=0.5),
}


@pytest.mark.parametrize("family", DRAWN)
@every_on_the_loop
def test_the_same_seed_is_the_same_model(name, family):
    X, y = data(name)
    options = {"weak_learner": DRAWN[family], "n_estimators": 4}
    model, same, other = (fit(name, X, y, random_state=seed, **options) for seed in (5, 5, 6))
    assert_same_bits(model, same, X)
    states = (fit(name, X, y, random_state=np.random.RandomState(5), **options) for _ in range(2))
    assert_same_bits(*states, X)
    draws = family != "stump" or name == "AdaBoost.ECC"
    assert (other.decision_function(X).tobytes() != model.decision_function(X).tobytes()) == draws


def test_random_cosines_of_the_same_seed():
    X, y = FLOWERS
    one, same, other = (fit("random Fourier", X, y, random_state=seed).decision_function(X) for seed in (5, 5, 6))
    assert one.tobytes() == same.tobytes() != other.tobytes()


@pytest.mark.parametrize("family", ["stump", "tree"])
@every_on_the_loop
def test_threads_do_not_matter(name, family, rng):
    """A table that has work for two threads in every parallel region."""
    X = np.round(rng.normal(size=(5000, 20)), 1)
    y = (X[:, 0] + X[:, 1] > 0) + (0 if name in BINARY else (X[:, 2] + rng.normal(size=5000) > 0).astype(int))
    models = [fit(name, X, y, n_jobs=n_jobs, weak_learner=family, n_estimators=6) for n_jobs in (1, 2)]
    assert_same_bits(*models, X)
    assert models[0].trace_.primal.tobytes() == models[1].trace_.primal.tobytes()


@every_on_the_loop
def test_a_second_fit_leaves_nothing_of_the_first(name):
    X, y = data(name)
    model = fit(name, X, y).fit(X[:60, :3], y[::-1][:60])
    once = fit(name, X[:60, :3], y[::-1][:60])
    assert_same_bits(model, once, X[:, :3])
    assert set(vars(model)) == set(vars(once))


def test_the_cost_of_an_earlier_fit_is_gone():
    """With `nu` there is no C_, as the docstring says."""
    X, y = noisy()
    model = LPBoostClassifier(n_estimators=5).fit(X, y)
    assert model.C_ == 100 / 90
    assert not hasattr(LPBoostClassifier(nu=0.6, n_estimators=5).fit(X, y), "C_")
    assert not hasattr(model.set_params(nu=0.6).fit(X, y), "C_")


@every_on_the_loop
def test_a_failed_fit_leaves_the_model(name):
    X, y = data(name)
    model = fit(name, X, y)
    decision = model.decision_function(X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X * np.nan, y)
    assert model.decision_function(X).tobytes() == decision.tobytes()


@every_on_the_loop
def test_progress(name, capfd):
    fit(name, *data(name))
    assert capfd.readouterr() == ("", "")
    fit(name, *data(name), verbose=1)
    assert "10" in "".join(capfd.readouterr())
