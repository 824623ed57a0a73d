"""AdaBoost is scikit-learn's AdaBoost around the same weak learner, stage by stage."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.ensemble
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from cgens.baselines import AdaBoostClassifier, AdaBoostMHClassifier
from cgens.datasets import data_folders, make_disc
from cgens.types import Duals, Sample
from cgens.weak_learners import SklearnLearner, Stump
from evaluation.splits import IDA_SETS, random_split
from tests.integration.small_data import SMALL_DATA
from tests.tolerances import CLOSED_FORM

N_ROUNDS = 100
BUNDLED = ["wisconsin", *SMALL_DATA]
SHARED = ["banana", "german", "splice", "waveform"]


class BestStump(ClassifierMixin, BaseEstimator):
    """The stump of the largest edge, found by the library, as a classifier of scikit-learn."""

    def fit(self, X, y, sample_weight):
        self.classes_ = np.unique(y)
        signed = np.where(y == self.classes_[1], sample_weight, -sample_weight)
        pricer = Stump().begin(Sample(X, np.arange(len(X)), sample_weight), np.random.default_rng(0), 1)
        column = pricer.price(Duals(signed[:, None]), set(), "max").column
        self.learner_, self.sign_ = column.learner, np.sign(column.score)
        return self

    def predict(self, X):
        return self.classes_[(self.sign_ * self.learner_.respond(X) > 0).astype(int)]


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


def boost_twice(name, weight=None, **options):
    """Return our model, theirs, and rows to compare them on.

    Bins are made of weights, which boosting changes in theirs but not in ours: there are fewer rows than bins.
    """
    X, y, rows = load(name)
    ours = AdaBoostClassifier(n_estimators=N_ROUNDS, n_jobs=1, **options).fit(X, y, weight)
    theirs = sklearn.ensemble.AdaBoostClassifier(BestStump(), n_estimators=ours.n_columns_).fit(X, y, weight)
    assert len(theirs.estimators_) == ours.n_columns_
    return ours, theirs, rows


def assert_same_boosting(ours, theirs, rows):
    assert list(ours.ensemble_.learners) == [own.learner_ for own in theirs.estimators_]
    assert np.allclose(2 * ours.ensemble_.weights[:, 0], theirs.estimator_weights_, rtol=CLOSED_FORM, atol=CLOSED_FORM)
    stages = zip(ours.staged_predict(rows), theirs.staged_predict(rows), strict=True)
    assert all(np.array_equal(own, other) for own, other in stages)
    assert np.array_equal(ours.predict(rows), theirs.predict(rows))


@pytest.mark.parametrize("name", [*BUNDLED, *SHARED])
def test_every_stage_is_scikit_learns(name):
    ours, theirs, rows = boost_twice(name)
    assert ours.n_columns_ > 1
    assert_same_boosting(ours, theirs, rows)


@pytest.mark.parametrize("name", ["wisconsin", "noisy", "waveform"])
def test_with_sample_weights(name, rng):
    weight = rng.random(len(load(name)[1])) + 0.1
    assert_same_boosting(*boost_twice(name, weight))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in IDA_SETS if name not in SHARED])
def test_every_stage_on_the_other_shared_sets(name):
    assert_same_boosting(*boost_twice(name))


@pytest.mark.parametrize("name", ["wisconsin", "noisy"])
def test_the_decision_is_the_normalised_one_of_scikit_learn(name):
    """Theirs has every vote for one class and against the other, over the sum of the coefficients."""
    ours, theirs, rows = boost_twice(name)
    share = ours.decision_function(rows) / ours.ensemble_.weights.sum()
    assert np.allclose(2 * share, theirs.decision_function(rows), rtol=0, atol=CLOSED_FORM)


def test_one_stump_without_a_mistake_ends_it():
    """The coefficient would be infinite; as in scikit-learn that weak learner is taken with 1, and is the last."""
    X, y = np.arange(10.0)[:, None], np.arange(10) >= 4
    ours = AdaBoostClassifier().fit(X, y)
    theirs = sklearn.ensemble.AdaBoostClassifier(BestStump()).fit(X, y)
    assert ours.n_columns_ == len(theirs.estimators_) == 1
    assert ours.ensemble_.weights.tolist() == [[1.0]]
    assert ours.certificate_.primal == 0.0
    assert np.array_equal(ours.predict(X), y)


@pytest.mark.parametrize("name", BUNDLED)
def test_the_loss_is_the_mean_exponential_one(name):
    ours, _, _ = boost_twice(name)
    X, y, _ = load(name)
    losses = [np.mean(np.exp(-np.where(y > 0, 1, -1) * stage)) for stage in ours.staged_decision_function(X)]
    assert np.allclose(ours.trace_.primal[1:], losses, rtol=CLOSED_FORM, atol=0)
    share = np.exp(-np.where(y > 0, 1, -1) * ours.decision_function(X))
    assert np.allclose(ours.duals_, np.where(y > 0, 1, -1) * share / share.sum(), rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize("name", BUNDLED)
def test_mh_of_two_classes_is_adaboost(name):
    X, y, rows = load(name)
    one = AdaBoostClassifier(n_estimators=30, n_jobs=1).fit(X, y)
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
