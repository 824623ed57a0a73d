"""AdaBoost is scikit-learn's around the same weak learner, stage by stage; all boosting on data of more classes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn.ensemble
from scipy.optimize import linprog
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier

from cgens.baselines import AdaBoostClassifier, AdaBoostMHClassifier, LPBoostClassifier
from cgens.datasets import data_folders, make_disc
from cgens.types import Status
from cgens.weak_learners import SklearnLearner
from evaluation.splits import IDA_SETS, random_split
from tests.integration.small_data import SMALL_DATA, flowers, noisy
from tests.models import BOOSTERS, MODELS, STAGE_WISE, WRAPPERS, fitted, make
from tests.reference.naive_stumps import naive_pool, pool_matrix
from tests.tolerances import CLOSED_FORM, NEGATIVE_GAP, TIGHT

N_ROUNDS = 30
BUNDLED = ["wisconsin", *SMALL_DATA]
SHARED = ["banana", "german", "splice", "waveform"]


class BestStump(ClassifierMixin, BaseEstimator):
    """The stump of the largest edge, as a classifier of scikit-learn: one round of the library's boosting."""

    def fit(self, X, y, sample_weight):
        self.classes_ = np.unique(y)
        self.round_ = AdaBoostClassifier(n_estimators=1, n_jobs=1).fit(X, y, sample_weight)
        return self

    def predict(self, X):
        return self.round_.predict(X)


def load(name):
    """Return training rows, and rows of which the models have not seen all."""
    if name in IDA_SETS:
        if not data_folders():
            pytest.skip("no data folder: set CGENS_DATA")
        split = random_split(name, seed=0)
        return split.X[:250], split.y[:250], split.X_test[:500]
    if name == "wisconsin":
        X, y = load_breast_cancer(return_X_y=True)
        return X[:250], y[:250], X
    X, y = SMALL_DATA[name]()
    return X, y, X


def assert_same_boosting(name, weight=None):
    """Compare every stage with scikit-learn's.

    Bins are made of weights, which boosting changes in theirs but not in ours: there are fewer rows than bins.
    """
    X, y, rows = load(name)
    ours = AdaBoostClassifier(n_estimators=N_ROUNDS, n_jobs=1).fit(X, y, weight)
    theirs = sklearn.ensemble.AdaBoostClassifier(BestStump(), n_estimators=ours.n_columns_).fit(X, y, weight)
    assert len(theirs.estimators_) == ours.n_columns_ > 1
    stumps = [own.round_.ensemble_.learners[0] for own in theirs.estimators_]
    assert [own.key for own in ours.ensemble_.learners] == [own.key for own in stumps]
    coefficients = 2 * np.abs(ours.ensemble_.weights[:, 0])
    assert np.allclose(coefficients, theirs.estimator_weights_, rtol=CLOSED_FORM, atol=CLOSED_FORM)
    stages = zip(ours.staged_predict(rows), theirs.staged_predict(rows), strict=True)
    assert all(np.array_equal(own, other) for own, other in stages)
    assert np.array_equal(ours.predict(rows), theirs.predict(rows))
    # Theirs has every vote for one class and against the other, over the sum of the coefficients.
    share = ours.decision_function(rows) / np.abs(ours.ensemble_.weights).sum()
    assert np.allclose(2 * share, theirs.decision_function(rows), rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize("name", [*BUNDLED, *SHARED])
def test_every_stage_is_scikit_learns(name):
    assert_same_boosting(name)


@pytest.mark.parametrize("name", ["wisconsin", "noisy", "waveform"])
def test_with_sample_weights(name, rng):
    assert_same_boosting(name, rng.random(len(load(name)[1])) + 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in IDA_SETS if name not in SHARED])
def test_every_stage_on_the_other_shared_sets(name):
    assert_same_boosting(name)


def test_one_stump_without_a_mistake_ends_it():
    """The coefficient would be infinite; as in scikit-learn that weak learner is taken with 1, and is the last."""
    X, y = np.arange(10.0)[:, None], np.arange(10) >= 4
    ours = AdaBoostClassifier().fit(X, y)
    theirs = sklearn.ensemble.AdaBoostClassifier(BestStump()).fit(X, y)
    assert ours.n_columns_ == len(theirs.estimators_) == 1
    assert np.abs(ours.ensemble_.weights).tolist() == [[1.0]]
    assert ours.certificate_.primal == 0.0
    assert np.array_equal(ours.predict(X), y)


@pytest.mark.parametrize("name", BUNDLED)
def test_the_loss_is_the_mean_exponential_one_and_mh_of_two_classes_the_same(name):
    X, y, rows = load(name)
    one = AdaBoostClassifier(n_estimators=30, n_jobs=1).fit(X, y)
    signs = np.where(y > 0, 1, -1)
    losses = [np.mean(np.exp(-signs * stage)) for stage in one.staged_decision_function(X)]
    assert np.allclose(one.trace_.primal[1:], losses, rtol=CLOSED_FORM, atol=0)
    share = np.exp(-signs * one.decision_function(X))
    assert np.allclose(one.duals_, signs * share / share.sum(), rtol=0, atol=CLOSED_FORM)
    other = AdaBoostMHClassifier(n_estimators=30, n_jobs=1).fit(X, y)
    assert one.ensemble_.learners == other.ensemble_.learners
    assert np.allclose(one.decision_function(rows), other.decision_function(rows), rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize("name", ["wisconsin", "disc", "chance"])
def test_scikit_learns_own_stumps_within(name):
    """They split by impurity: both leaves may say the same, and a constant has an edge where nothing is centred."""
    rng = np.random.default_rng(0)
    made = {
        "disc": lambda: make_disc(300, random_state=0),
        "chance": lambda: (rng.normal(size=(200, 3)), rng.integers(0, 2, 200)),
    }
    X, y = made[name]() if name in made else load(name)[:2]
    stump = DecisionTreeClassifier(max_depth=1, random_state=0)
    ours = AdaBoostClassifier(SklearnLearner(stump), n_estimators=30, n_jobs=1).fit(X, y)
    theirs = sklearn.ensemble.AdaBoostClassifier(stump, n_estimators=30).fit(X, y)
    stages = list(zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True))
    assert len(stages) == 30
    assert all(np.array_equal(own, other) for own, other in stages)


@pytest.mark.parametrize("seed", range(4))
def test_a_colouring_that_no_weak_learner_tells_ends_nothing(seed):
    """Four corners: stumps tell two of the three halvings perfectly, the third is XOR, and is drawn sooner or later."""
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 5), np.arange(20) % 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = make("AdaBoost.ECC", n_estimators=30, random_state=seed).fit(X, y)
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("solver", ["dual", "primal", "ipm"])
def test_lpboost_is_the_linear_program_over_all_stumps(solver):
    X, y = SMALL_DATA["contradictory"]()
    model = make("LPBoost", C=0.06, n_estimators=10_000, solver=solver).fit(X, y)
    signs = np.where(y > 0, 1.0, -1.0)
    columns = signs[:, None] * pool_matrix(naive_pool(X), len(X))
    cost = np.concatenate([np.ones(2 * columns.shape[1]), np.full(len(y), 0.06)])
    constraints = -np.hstack([columns, -columns, np.eye(len(y))])
    best = linprog(cost, A_ub=constraints, b_ub=-np.ones(len(y)), method="highs").fun
    assert model.certificate_.status is Status.OPTIMAL
    assert model.certificate_.primal == pytest.approx(best, rel=TIGHT if solver != "ipm" else model.tol)
    assert model.certificate_.full_relative_gap <= model.tol
    losses = np.maximum(0, 1 - signs * model.decision_function(X))
    objective = np.abs(model.ensemble_.weights).sum() + 0.06 * losses.sum()
    assert model.certificate_.primal == pytest.approx(objective, rel=CLOSED_FORM)


#: No mixture of stumps has a positive margin here, in the whole pool or in the first columns: the optimum is 0.
WITHOUT_A_MARGIN = {
    "six rows": ([[2.0], [1.0], [2.0], [1.0], [0.0], [1.0]], [0, 1, 1, 0, 1, 0], 0.5, 500),
    "ten columns": (*noisy(), 0.3, 10),
}


@pytest.mark.parametrize("name", WITHOUT_A_MARGIN)
def test_a_margin_of_zero_is_an_optimum_like_any_other(name):
    """Primal and dual are 2 but for rounding: that is no gap. The weights are 0, and that alone is told."""
    X, y, nu, n_columns = WITHOUT_A_MARGIN[name]
    with pytest.warns(UserWarning, match="columns? have weight 0") as told:
        model = LPBoostClassifier(nu=nu, n_estimators=n_columns).fit(X, y)
    assert len(told) == 1
    assert model.certificate_.status in (Status.OPTIMAL, Status.MAX_COLUMNS)
    assert model.certificate_.primal == pytest.approx(2, abs=CLOSED_FORM)
    assert model.certificate_.relative_gap <= model.tol
    assert np.all(np.isfinite(model.decision_function(X)))


def test_the_cost_of_an_earlier_fit_of_lpboost_is_gone():
    """With `nu` there is no C_, as the docstring says."""
    model, X, y = fitted("LPBoost")
    assert model.C_ == 100 / 90
    assert not hasattr(model.set_params(nu=0.6).fit(X, y), "C_")


@pytest.mark.parametrize("data", SMALL_DATA)
@pytest.mark.parametrize(
    "name", ["two classes", "two classes, least squares", *(own for own in BOOSTERS if "labels" not in own)]
)
def test_no_warning_and_no_negative_gap_on_ordinary_data(name, data):
    X, y = SMALL_DATA[data]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = make(name, n_estimators=20).fit(X, y)
    assert np.all(model.trace_.relative_gap >= -NEGATIVE_GAP)
    assert model.certificate_.dual <= model.certificate_.primal + NEGATIVE_GAP
    if name not in STAGE_WISE:
        assert model.certificate_.relative_gap <= model.tol
        assert model.certificate_.full_relative_gap >= -NEGATIVE_GAP


OF_MORE_CLASSES = ["AdaBoost.MH", "AdaBoost.ECC", "MultiBoost", *WRAPPERS]


@pytest.mark.parametrize("name", OF_MORE_CLASSES)
@pytest.mark.parametrize("n_classes", [4, 10])
def test_more_classes_have_a_decision_each(name, n_classes):
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    X, y = X[:150], y[:150]
    model = make(name).fit(X, y)
    assert model.decision_function(X).shape == (150, n_classes)
    assert model.classes_.tolist() == list(range(n_classes))
    assert model.score(X, y) > 2 / n_classes
    if name not in WRAPPERS:  # machines of scikit-learn vote in pairs
        assert np.array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))


@pytest.mark.parametrize("name", ["two classes", *(name for name in BOOSTERS if MODELS[name][1] == "two classes")])
def test_more_classes_by_scikit_learn(name):
    X, y = flowers()
    assert OneVsRestClassifier(make(name)).fit(X, y).score(X, y) > 0.85
