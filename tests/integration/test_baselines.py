"""The rivals as estimators: shapes, labels, stages, importances, copies, seeds and threads."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import linprog
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_digits, load_iris, make_multilabel_classification
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from cgens.baselines import (
    AdaBoostClassifier,
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    KernelSVC,
    LPBoostClassifier,
    MultiBoostClassifier,
    RandomFourierSVC,
)
from cgens.types import Status
from cgens.weak_learners import Fourier, Perceptron, Stump, Tree
from tests.integration.small_data import SMALL_DATA, noisy
from tests.tolerances import CLOSED_FORM, IMPORTANCE, NEGATIVE_GAP, TIGHT

FLOWERS = load_iris(return_X_y=True)
LABELLED = make_multilabel_classification(n_samples=120, n_features=6, n_classes=4, random_state=3)

SMALL = {"n_estimators": 10, "random_state": 0, "n_jobs": 1}
BINARY = {
    "AdaBoost": AdaBoostClassifier(**SMALL),
    "LPBoost": LPBoostClassifier(**SMALL),
    "LPBoost of nu": LPBoostClassifier(nu=0.6, **SMALL),
}
FOR_MORE_CLASSES = {
    "AdaBoost.MH": AdaBoostMHClassifier(**SMALL),
    "AdaBoost.ECC": AdaBoostECCClassifier(**SMALL),
    "MultiBoost": MultiBoostClassifier(**SMALL),
}
ON_THE_LOOP = {**BINARY, **FOR_MORE_CLASSES}
WRAPPERS = {
    "stump kernel": KernelSVC(),
    "perceptron kernel": KernelSVC("perceptron"),
    "Gaussian kernel": KernelSVC("rbf"),
    "random Fourier": RandomFourierSVC(n_components=50, random_state=0),
}
RIVALS = {**ON_THE_LOOP, **WRAPPERS}
STAGE_WISE = ["AdaBoost", "AdaBoost.MH", "AdaBoost.ECC"]

every_rival = pytest.mark.parametrize("name", RIVALS)
every_on_the_loop = pytest.mark.parametrize("name", ON_THE_LOOP)
every_for_more_classes = pytest.mark.parametrize("name", FOR_MORE_CLASSES)


def fit(name, X, y, weight=None, **options):
    return clone(RIVALS[name]).set_params(**options).fit(X, y, sample_weight=weight)


def data(name):
    """Return three classes where the rival takes them, else two."""
    return FLOWERS if name in FOR_MORE_CLASSES else noisy()


def assert_same_bits(one, other, X):
    assert one.ensemble_.learners == other.ensemble_.learners
    assert one.certificate_ == other.certificate_
    assert one.decision_function(X).tobytes() == other.decision_function(X).tobytes()
    assert one.duals_.tobytes() == other.duals_.tobytes()


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


def test_labels_of_mh():
    X, Y = LABELLED
    model = fit("AdaBoost.MH", X, Y, n_estimators=40)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.decision_function(X).shape == model.duals_.shape == model.predict(X).shape == (120, 4)
    assert np.array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))
    stages, labels = list(model.staged_decision_function(X)), list(model.staged_predict(X))
    assert [stage.shape for stage in stages] == [label.shape for label in labels] == [(120, 4)] * 40
    assert np.array_equal(labels[-1], model.predict(X))
    assert model.score(X, Y) == np.mean((model.predict(X) == Y).all(axis=1))
    assert np.mean(model.predict(X) == Y) > 0.85
    losses = [np.mean(np.exp((1 - 2 * Y) * stage)) for stage in stages]
    assert np.allclose(model.trace_.primal[1:], losses, rtol=CLOSED_FORM, atol=0)


KINDS = {
    "bool": lambda Y: Y.astype(bool),
    "float": lambda Y: Y.astype(float),
    "list": lambda Y: Y.tolist(),
    "frame": lambda Y: pd.DataFrame(Y, columns=list("abcd")),
    "csr": sparse.csr_matrix,
    "csr array": sparse.csr_array,
}


@pytest.mark.parametrize("kind", KINDS)
def test_any_kind_of_indicator(kind):
    X, Y = LABELLED
    assert_same_bits(fit("AdaBoost.MH", X, KINDS[kind](Y)), fit("AdaBoost.MH", X, Y), X)


def test_classes_are_the_indicator_of_themselves():
    """AdaBoost.MH makes no difference between classes and labels."""
    X, y = FLOWERS
    classes, labels = fit("AdaBoost.MH", X, y), fit("AdaBoost.MH", X, np.eye(3, dtype=int)[y])
    assert classes.ensemble_.learners == labels.ensemble_.learners
    assert classes.decision_function(X).tobytes() == labels.decision_function(X).tobytes()
    assert np.array_equal(classes.predict(X), labels.decision_function(X).argmax(axis=1))


@pytest.mark.parametrize("value", [0, 1])
def test_a_constant_label(value):
    """No weak learner is constant: what all of them together say of it is not certain, but it must be numbers."""
    X, Y = LABELLED
    Y = Y.copy()
    Y[:, 2] = value
    model = fit("AdaBoost.MH", X, Y, n_estimators=100)
    assert np.all(np.isfinite(model.decision_function(X)))
    assert np.mean(model.predict(X)[:, 2] == value) > 0.9


def test_several_labels_in_a_search():
    X, Y = LABELLED
    grid = {"weak_learner__max_bins": [4, 64]}
    search = GridSearchCV(clone(RIVALS["AdaBoost.MH"]).set_params(weak_learner=Stump()), grid, cv=3).fit(X, Y)
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()


@pytest.mark.parametrize("seed", range(4))
def test_a_colouring_that_no_weak_learner_tells_ends_nothing(seed):
    """Four corners: stumps tell two of the three halvings perfectly, the third is XOR, and is drawn sooner or later."""
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 5), np.arange(20) % 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit("AdaBoost.ECC", X, y, n_estimators=30, random_state=seed)
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("C", [0.06, 0.3])
@pytest.mark.parametrize("data", ["noisy", "contradictory"])
@pytest.mark.parametrize("solver", ["dual", "primal", "ipm"])
def test_lpboost_is_the_linear_program_over_all_stumps(data, solver, C):
    X, y = SMALL_DATA[data]()
    model = fit("LPBoost", X, y, C=C, n_estimators=10_000, solver=solver)
    signs = np.where(y > 0, 1.0, -1.0)
    columns = signs * all_stumps(X)
    cost = np.concatenate([np.ones(2 * len(columns)), np.full(len(y), C)])
    constraints = -np.hstack([columns.T, -columns.T, np.eye(len(y))])
    best = linprog(cost, A_ub=constraints, b_ub=-np.ones(len(y)), method="highs").fun
    assert model.certificate_.status is Status.OPTIMAL
    assert model.certificate_.primal == pytest.approx(best, rel=TIGHT if solver != "ipm" else model.tol)
    assert model.certificate_.full_relative_gap <= model.tol
    objective = np.abs(model.ensemble_.weights).sum() + C * np.maximum(0, 1 - signs * model.decision_function(X)).sum()
    assert model.certificate_.primal == pytest.approx(objective, rel=CLOSED_FORM)


@pytest.mark.parametrize("nu", [0.1, 0.3, 0.6])
@pytest.mark.parametrize("data", ["noisy", "wine"])
def test_nu_is_about_the_share_below_the_margin(data, nu):
    X, y = SMALL_DATA[data]()
    model = fit("LPBoost of nu", X, y, nu=nu, n_estimators=10_000)
    assert np.abs(model.ensemble_.weights).sum() == pytest.approx(1.0, rel=CLOSED_FORM)
    margins = np.where(y > 0, 1.0, -1.0) * model.decision_function(X)
    shares = np.abs(model.duals_)
    assert shares.sum() == pytest.approx(1.0, rel=CLOSED_FORM)
    assert shares.max() <= (1 + CLOSED_FORM) / (nu * len(y))
    inside = (shares > CLOSED_FORM) & (shares < (1 - CLOSED_FORM) / (nu * len(y)))
    rho = margins[inside].mean() if inside.any() else margins[shares > CLOSED_FORM].max()
    assert np.mean(margins < rho - CLOSED_FORM) <= nu + CLOSED_FORM
    assert np.mean(margins <= rho + CLOSED_FORM) >= nu - CLOSED_FORM


#: No mixture of stumps has a positive margin here, in the whole pool or in the first columns: the optimum is 0.
WITHOUT_A_MARGIN = {
    "six rows": ([[2.0], [1.0], [2.0], [1.0], [0.0], [1.0]], [0, 1, 1, 0, 1, 0], 0.5, 500),
    "ten columns": (*noisy(), 0.3, 10),
}


@pytest.mark.parametrize("name", WITHOUT_A_MARGIN)
def test_a_margin_of_zero_is_an_optimum_like_any_other(name):
    """Primal and dual are 2 but for rounding: that is no gap. The weights are 0, and that alone is told."""
    X, y, nu, n_columns = WITHOUT_A_MARGIN[name]
    with pytest.warns(UserWarning, match="columns? have the weight 0") as told:
        model = LPBoostClassifier(nu=nu, n_estimators=n_columns).fit(X, y)
    assert len(told) == 1
    assert model.certificate_.status in (Status.OPTIMAL, Status.MAX_COLUMNS)
    assert model.certificate_.primal == pytest.approx(2, abs=CLOSED_FORM)
    assert model.certificate_.relative_gap <= model.tol
    assert np.all(np.isfinite(model.decision_function(X)))


def all_stumps(X):
    """Return the responses of all stumps, shape (n_stumps, n)."""
    values = [np.unique(feature) for feature in X.T]
    cuts = [(f, cut) for f, own in enumerate(values) for cut in 0.5 * (own[1:] + own[:-1])]
    return np.array([np.where(X[:, f] > cut, 1.0, -1.0) for f, cut in cuts])
