"""Every family of weak learners through every estimator: what holds for stumps holds for all of them."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from cgens import CGEnsClassifier, CGEnsClassifierCV, CGEnsRegressor, CGEnsRegressorCV
from cgens.inspection import check_certificate
from cgens.kernels import columns_kernel, perceptron_kernel, stump_kernel
from cgens.weak_learners import Box, Fourier, Linear, Mixture, Perceptron, SklearnLearner, Stump, Tree
from tests.integration.small_data import noisy
from tests.tolerances import CLOSED_FORM, IMPORTANCE, NEGATIVE_GAP

NAMES = ["stump", "perceptron", "fourier", "tree", "box", "linear"]

OBJECTS = {
    "Stump": Stump(16),
    "Perceptron": Perceptron(100, learn=False),
    "Perceptron of two inputs": Perceptron(100, n_inputs=2),
    "Perceptron, learned": Perceptron(standardize=True, learn=True),
    "Perceptron, fresh": Perceptron(50, pool="fresh", learn=False),
    "Fourier": Fourier(0.1, 100, learn=False),
    "Fourier of two widths": Fourier(["median", 0.05], 100),
    "Fourier of few inputs": Fourier(n_candidates=100, n_inputs=[1, 2]),
    "Fourier, orthogonal": Fourier(n_candidates=100, orthogonal=True, standardize=True),
    "Fourier, learned": Fourier(learn=True),
    "Fourier, fresh": Fourier(n_candidates=50, pool="fresh", learn=False),
    "Tree": Tree(4, min_samples_leaf=3),
    "Tree of signs": Tree(3, leaves="sign", max_features=1.0),
    "Box": Box(n_candidates=100),
    "Box of one threshold, fresh": Box(1, 15, pool="fresh"),
    "Linear": Linear(),
    "SklearnLearner": SklearnLearner(DecisionTreeClassifier(max_depth=2)),
    "Mixture": Mixture([Stump(16), (Fourier(n_candidates=100), [0, 1, 2])]),
    "list": ["stump", (Tree(4), [0, 1]), Linear()],
}


def numbers():
    X, _ = noisy()
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.1 * np.random.default_rng(0).normal(size=len(X))


#: Estimator and data of each kind of target.
TASKS = {
    "two classes": (CGEnsClassifier(loss="hinge"), noisy),
    "three classes": (CGEnsClassifier(loss="least_squares"), lambda: load_iris(return_X_y=True)),
    "several labels": (
        CGEnsClassifier(),
        lambda: make_multilabel_classification(n_samples=90, n_features=6, n_classes=3, random_state=3),
    ),
    "numbers": (CGEnsRegressor(), numbers),
}


def task(name, family, n_estimators=12, **options):
    """Return a fitted model and its data."""
    estimator, load = TASKS[name]
    own = {"weak_learner": family, "n_estimators": n_estimators, "random_state": 0, "n_jobs": 1, **options}
    X, y = load()
    return clone(estimator).set_params(**own).fit(X, y), X, y


def values(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def rounding(model):
    """Return what two ways of adding up the same responses may differ by: responses of scaled inputs may be large."""
    return 10 * CLOSED_FORM * (np.abs(model.ensemble_.weights).sum() + np.abs(model.ensemble_.intercept).sum())


@pytest.fixture(params=OBJECTS)
def family(request):
    return OBJECTS[request.param]


@pytest.fixture(params=TASKS)
def kind(request):
    return request.param


@pytest.mark.parametrize("name", [*NAMES, *OBJECTS])
def test_the_model_is_sound(name, kind):
    model, X, y = task(kind, OBJECTS.get(name, name))
    assert 1 <= model.n_columns_ <= 12
    assert np.all(np.isfinite(values(model, X)))
    assert model.predict(X).shape == y.shape
    assert np.all(model.trace_.relative_gap >= -NEGATIVE_GAP)
    assert model.certificate_.relative_gap <= model.tol
    assert check_certificate(model, X, y).problems == ()
    bound = model.certificate_.full_relative_gap
    assert bound is None or bound >= -NEGATIVE_GAP


def test_the_last_stage_is_the_model(family, kind):
    model, X, _ = task(kind, family)
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_columns_
    assert np.allclose(stages[-1], model.predict(X), rtol=0, atol=rounding(model))


def test_warm_start_keeps_the_columns(family, kind):
    model, X, y = task(kind, family, n_estimators=5, warm_start=True)
    before = model.ensemble_.learners
    model.set_params(n_estimators=10).fit(X, y)
    assert model.ensemble_.learners[: len(before)] == before
    assert model.n_columns_ > 5 or len(before) < 5
    assert len({learner.key for learner in model.ensemble_.learners}) == model.n_columns_
    assert len(list(model.staged_predict(X))) == model.n_columns_
    assert check_certificate(model, X, y).problems == ()


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_says_the_same(family, twin):
    model, X, _ = task("three classes", family)
    again = twin(model)
    assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    assert again.certificate_ == model.certificate_
    assert again.ensemble_.learners == model.ensemble_.learners


def test_a_clone_fits_the_same_model(family):
    model, X, y = task("numbers", family)
    fresh = clone(model)
    assert not hasattr(fresh, "ensemble_")
    assert repr(fresh) == repr(model)
    assert values(fresh.fit(X, y), X).tobytes() == values(model, X).tobytes()


def test_rows_may_come_in_any_order(family, rng):
    model, X, y = task("two classes", family)
    order = rng.permutation(len(y))
    other = clone(model).fit(X[order], y[order])
    assert other.ensemble_.learners == model.ensemble_.learners
    assert other.decision_function(X).tobytes() == model.decision_function(X).tobytes()


def test_whole_weights_are_copies(family, rng):
    X, y = noisy()
    weight = rng.integers(1, 4, len(y))
    weighted = CGEnsClassifier(family, n_estimators=10, random_state=0, n_jobs=1).fit(X, y, sample_weight=weight)
    copied = clone(weighted).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert copied.decision_function(X).tobytes() == weighted.decision_function(X).tobytes()


@pytest.mark.parametrize("kind", ["three classes", "numbers"])
def test_one_row_is_answered_as_in_a_batch(family, kind):
    model, X, _ = task(kind, family)
    batch = values(model, X)
    one_by_one = np.concatenate([values(model, row[None]) for row in X[:40]])
    assert np.allclose(one_by_one, batch[:40], rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize("kind", ["two classes", "three classes"])
def test_float32_rows(family, kind):
    """The same numbers in half the memory: float32 is exact in float64, so that the model is the same."""
    estimator, load = TASKS[kind]
    X, y = load()
    X = X.astype(np.float32)
    model = clone(estimator).set_params(weak_learner=family, n_estimators=8, random_state=0, n_jobs=1).fit(X, y)
    double = clone(model).fit(X.astype(np.float64), y)
    assert np.array_equal(model.predict(X), model.predict(X.astype(np.float64)))
    assert values(model, X).tobytes() == values(double, X).tobytes()


@pytest.mark.parametrize("name", ["stump", "box"])
def test_a_learner_alone_answers_float32_rows_as_the_model_does(name):
    """Also between neighbouring numbers of float32, where the threshold itself is none."""
    ladder = np.nextafter(np.float32(1), np.float32(2)) - np.float32(1)
    X = (1 + ladder * np.arange(12, dtype=np.float32))[:, None].repeat(2, axis=1)
    family = {"stump": Stump(), "box": Box(1, 20)}[name]
    model = CGEnsClassifier(family, n_estimators=10, random_state=0).fit(X, np.arange(12) % 3 > 0)
    alone = np.column_stack([learner.respond(X) for learner in model.ensemble_.learners])
    assert np.array_equal(alone, model.ensemble_.respond(X))


def test_data_frame(family):
    model, X, y = task("two classes", family)
    frame = pd.DataFrame(X, columns=[f"column {k}" for k in range(X.shape[1])])
    named = clone(model).fit(frame, y)
    assert named.feature_names_in_.tolist() == frame.columns.tolist()
    assert named.decision_function(frame).tobytes() == model.decision_function(X).tobytes()


def test_threads_do_not_matter(family):
    model, X, y = task("three classes", family)
    other = clone(model).set_params(n_jobs=2).fit(X, y)
    assert other.ensemble_.weights.tobytes() == model.ensemble_.weights.tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_its_class_with_default_parameters(name):
    classes = {"stump": Stump, "perceptron": Perceptron, "fourier": Fourier, "tree": Tree, "box": Box, "linear": Linear}
    named, X, _ = task("two classes", name)
    made, _, _ = task("two classes", classes[name]())
    assert made.decision_function(X).tobytes() == named.decision_function(X).tobytes()


@pytest.mark.parametrize(
    ("family", "pool"),
    [
        (Stump(), True),
        (Linear(), True),
        (Box(n_candidates=50), True),
        (Box(n_candidates=50, pool="fresh"), False),
        (Fourier(n_candidates=50, learn=False), True),
        (Fourier(n_candidates=50, learn=False, pool="fresh"), False),
        (Fourier(learn=True), False),
        (Perceptron(50, learn=False), True),
        (Perceptron(50, learn=False, pool="fresh"), False),
        (Perceptron(learn=True), False),
        (Tree(), False),
        (SklearnLearner(LogisticRegression()), False),
    ],
    ids=repr,
)
def test_only_a_finite_pool_has_a_certificate_for_it(family, pool):
    certificate = task("two classes", family)[0].certificate_
    assert certificate.scope == ("pool" if pool else "restricted")
    assert (certificate.n_candidates is not None) == (certificate.full_relative_gap is not None) == pool


def test_grid_search_over_the_width_of_cosines():
    X, y = noisy()
    model = CGEnsClassifier(Fourier(n_candidates=100), n_estimators=10, random_state=0, n_jobs=1)
    search = GridSearchCV(model, {"weak_learner__gamma": [0.01, "scale", [0.1, 1.0]], "C": [0.1, 1.0]}, cv=3).fit(X, y)
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    assert search.best_estimator_.weak_learner.gamma == search.best_params_["weak_learner__gamma"]
    assert model.weak_learner.gamma == "scale"


def test_grid_search_over_families():
    X, y = noisy()
    grid = {"weak_learner": ["stump", "tree", "linear", Box(n_candidates=50), Tree(4), ["stump", "linear"]]}
    search = GridSearchCV(CGEnsClassifier(n_estimators=8, random_state=0, n_jobs=1), grid, cv=3).fit(X, y)
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()


@pytest.fixture
def one_feature_matters(rng):
    X = rng.normal(size=(300, 6))
    return X, X[:, 4] ** 2 + 0.1 * rng.normal(size=300)


@pytest.mark.parametrize("leaves", ["real", "sign"])
def test_importances_of_trees(one_feature_matters, leaves):
    X, y = one_feature_matters
    model = CGEnsRegressor(Tree(4, leaves=leaves), n_estimators=20, random_state=0, n_jobs=1).fit(X, y)
    importances = model.feature_importances_
    assert importances.shape == (6,)
    assert np.all(importances >= 0)
    assert importances.sum() == pytest.approx(1, abs=IMPORTANCE)
    assert np.argmax(importances) == 4
    assert importances[4] > 2 * np.delete(importances, 4).max()


def test_importances_of_trees_do_not_depend_on_units(one_feature_matters):
    X, y = one_feature_matters
    model = CGEnsRegressor(Tree(4), n_estimators=20, random_state=0, n_jobs=1).fit(X, y)
    other = clone(model).fit(X * 2.0 ** np.arange(6), y)
    assert np.allclose(other.feature_importances_, model.feature_importances_, rtol=0, atol=IMPORTANCE)


@pytest.mark.parametrize(
    "family", ["fourier", "perceptron", "linear", Box(n_candidates=50), ["tree", "linear"]], ids=str
)
def test_other_families_have_no_importances(family):
    model = task("two classes", family)[0]
    assert not hasattr(model, "feature_importances_")
    with pytest.raises(AttributeError, match=r"feature_importances_.*stumps.*trees"):
        _ = model.feature_importances_


CHOSEN = {
    "Fourier": Fourier(n_candidates=100),
    "Fourier, learned": Fourier(learn=True),
    "Tree": "tree",
    "list": ["stump", (Fourier(n_candidates=50), [0, 1])],
}


@pytest.mark.parametrize("name", CHOSEN)
@pytest.mark.parametrize("kind", ["two classes", "three classes"])
def test_search_for_c_and_the_number_of_columns(kind, name):
    X, y = TASKS[kind][1]()
    search = CGEnsClassifierCV(CHOSEN[name], Cs=3, n_estimators=15, cv=3, random_state=0, n_jobs=1).fit(X, y)
    assert np.all(np.isfinite(search.scores_))
    assert search.best_score_ > 0.6
    plain = CGEnsClassifier(CHOSEN[name], random_state=0, n_jobs=1, **search.best_params_).fit(X, y)
    assert plain.decision_function(X).tobytes() == search.decision_function(X).tobytes()


def test_search_of_a_regressor():
    X, y = numbers()
    search = CGEnsRegressorCV(Fourier(n_candidates=200), Cs=3, n_estimators=30, cv=3, random_state=0, n_jobs=1)
    assert search.fit(X, y).best_score_ > 0.5
    assert np.array_equal(list(search.staged_predict(X))[-1], search.predict(X))


def test_search_says_how_much_each_family_contributes():
    """As the best estimator does: an attribute of the plain one that a search has too, as its certificate."""
    X, y = noisy()
    search = CGEnsClassifierCV(["stump", "linear"], Cs=2, n_estimators=10, cv=3, n_jobs=1).fit(X, y)
    assert search.best_estimator_.family_shares_ == search.family_shares_


@pytest.mark.parametrize("family", ["stump", "fourier", "tree", ["stump", "fourier"]])
def test_kernel_of_the_columns(family):
    model, X, _ = task("two classes", family)
    H = model.ensemble_.respond(X).astype(float)
    assert np.allclose(columns_kernel(model, X, X[:7]), H @ H[:7].T, rtol=0, atol=CLOSED_FORM * len(H.T))


def test_many_perceptrons_and_stumps_have_the_kernels_of_lin_and_li(rng):
    """But for a constant and a factor; the error of a mean over k columns is about 1 / sqrt(k)."""
    X = rng.uniform(size=(40, 2))
    y = rng.integers(0, 2, 40)
    for family, kernel, correlation in [
        (Stump(None), stump_kernel, 0.95),
        (Perceptron(20_000, learn=False), perceptron_kernel, 0.95),
    ]:
        model = CGEnsClassifier(family, C=1e3, n_estimators=700, random_state=0, n_jobs=1, tol=0.1).fit(X, y)
        own, named = columns_kernel(model, X), kernel(X)
        upper = np.triu_indices(40, 1)
        assert np.corrcoef(own[upper], named[upper])[0, 1] > correlation
    assert np.array_equal(stump_kernel(X, delta=2.0), 2.0 + stump_kernel(X))
    assert perceptron_kernel(X, X[:3]).shape == (40, 3)
