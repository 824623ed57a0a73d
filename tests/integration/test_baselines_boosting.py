"""AdaBoost equals scikit-learn's with the same weak learner, stage by stage; boosting of more than two classes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn.ensemble
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
from tests.reference.naive_lp import naive_lpboost
from tests.reference.naive_stumps import naive_pool, pool_matrix
from tests.tolerances import CLOSED_FORM, NEGATIVE_GAP, TIGHT

N_ROUNDS = 30
BUNDLED = ["wisconsin", *SMALL_DATA]
SHARED = ["banana", "german", "splice", "waveform"]


class BestStump(ClassifierMixin, BaseEstimator):
    """The stump with the largest edge as a scikit-learn classifier: one round of our AdaBoost."""

    def fit(self, X, y, sample_weight):
        self.classes_ = np.unique(y)
        self.round_ = AdaBoostClassifier(n_estimators=1, n_jobs=1).fit(X, y, sample_weight)
        return self

    def predict(self, X):
        return self.round_.predict(X)


def load(name):
    """Return training rows, and rows that include new ones."""
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

    There are fewer rows than bins: bins depend on the weights, which boosting changes in theirs but not in ours.
    """
    X, y, rows = load(name)
    ours = AdaBoostClassifier(n_estimators=N_ROUNDS, n_jobs=1).fit(X, y, weight)
    theirs = sklearn.ensemble.AdaBoostClassifier(BestStump(), n_estimators=ours.n_columns_).fit(X, y, weight)
    assert len(theirs.estimators_) == ours.n_columns_ > 1
    stumps = [own.round_.ensemble_.learners[0] for own in theirs.estimators_]
    # The side of later gaps depends on the weights.
    splits = [[(own.feature, own.threshold) for own in learners] for learners in (ours.ensemble_.learners, stumps)]
    assert splits[0] == splits[1]
    coefficients = 2 * np.abs(ours.ensemble_.weights[:, 0])
    assert np.allclose(coefficients, theirs.estimator_weights_, rtol=CLOSED_FORM, atol=CLOSED_FORM)
    stages = zip(ours.staged_predict(rows), theirs.staged_predict(rows), strict=True)
    assert all(np.array_equal(own, other) for own, other in stages)
    assert np.array_equal(ours.predict(rows), theirs.predict(rows))
    # Theirs counts every vote for one class and against the other, divided by the sum of the coefficients.
    share = ours.decision_function(rows) / np.abs(ours.ensemble_.weights).sum()
    assert np.allclose(2 * share, theirs.decision_function(rows), rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize("name", [*BUNDLED, *SHARED])
def test_every_stage_equals_scikit_learn(name):
    assert_same_boosting(name)


@pytest.mark.parametrize("name", ["wisconsin", "noisy", "waveform"])
def test_every_stage_with_sample_weights(name, rng):
    assert_same_boosting(name, rng.random(len(load(name)[1])) + 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in IDA_SETS if name not in SHARED])
def test_every_stage_on_the_other_shared_sets(name):
    assert_same_boosting(name)


def test_a_perfect_stump_is_the_last():
    """Its coefficient would be infinite; as in scikit-learn it is 1."""
    X, y = np.arange(10.0)[:, None], np.arange(10) >= 4
    ours = AdaBoostClassifier().fit(X, y)
    theirs = sklearn.ensemble.AdaBoostClassifier(BestStump()).fit(X, y)
    assert ours.n_columns_ == len(theirs.estimators_) == 1
    assert np.abs(ours.ensemble_.weights).tolist() == [[1.0]]
    assert ours.certificate_.primal == 0.0
    assert np.array_equal(ours.predict(X), y)


@pytest.mark.parametrize("name", BUNDLED)
def test_the_loss_is_the_mean_exponential_loss_and_mh_of_two_classes_is_adaboost(name):
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
def test_scikit_learn_stumps_as_weak_learners(name):
    """They split by impurity: both leaves may predict the same class, and a constant may have an edge."""
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
def test_a_colouring_that_no_weak_learner_separates_does_not_end_the_fit(seed):
    """Four corners: stumps separate two of the three halvings perfectly; the third, XOR, is drawn at some point."""
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 5), np.arange(20) % 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = make("AdaBoost.ECC", n_estimators=30, random_state=seed).fit(X, y)
    assert model.n_columns_ == 30
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("solver", ["dual", "primal", "ipm"])
def test_lpboost_is_the_linear_program_over_all_stumps(solver):
    X, y = SMALL_DATA["contradictory"]()
    model = make("LPBoost", C=0.06, n_estimators=10_000, solver=solver).fit(X, y)
    signs = np.where(y > 0, 1.0, -1.0)
    best = naive_lpboost(pool_matrix(naive_pool(X), len(X)), signs, np.full(len(y), 0.06))
    assert model.certificate_.status is Status.OPTIMAL
    assert model.certificate_.primal == pytest.approx(best, rel=TIGHT if solver != "ipm" else model.tol)
    assert model.certificate_.full_relative_gap <= model.tol
    losses = np.maximum(0, 1 - signs * model.decision_function(X))
    objective = np.abs(model.ensemble_.weights).sum() + 0.06 * losses.sum()
    assert model.certificate_.primal == pytest.approx(objective, rel=CLOSED_FORM)


#: No combination of stumps, of the whole pool or of the first columns, has a positive margin here: the optimum is 0.
WITHOUT_A_MARGIN = {
    "six rows": ([[2.0], [1.0], [2.0], [1.0], [0.0], [1.0]], [0, 1, 1, 0, 1, 0], 0.5, 500),
    "ten columns": (*noisy(), 0.3, 10),
}


@pytest.mark.parametrize("name", WITHOUT_A_MARGIN)
def test_a_margin_of_zero_can_be_optimal(name):
    """Primal and dual are 2 up to rounding, which is no gap. The only warning is that all weights are 0."""
    X, y, nu, n_columns = WITHOUT_A_MARGIN[name]
    with pytest.warns(UserWarning, match=r"column.*weight.*\b0\b") as caught:
        model = LPBoostClassifier(nu=nu, n_estimators=n_columns).fit(X, y)
    assert len(caught) == 1
    assert model.certificate_.status in (Status.OPTIMAL, Status.MAX_COLUMNS)
    assert model.certificate_.primal == pytest.approx(2, abs=CLOSED_FORM)
    assert model.certificate_.relative_gap <= model.tol
    assert np.all(np.isfinite(model.decision_function(X)))


def test_lpboost_with_nu_forgets_the_c_of_an_earlier_fit():
    model, X, y = fitted("LPBoost")
    assert model.C_ == 100 / 90
    assert not hasattr(model.set_params(nu=0.6).fit(X, y), "C_")


@pytest.mark.parametrize("data", SMALL_DATA)
@pytest.mark.parametrize(
    "name", ["binary", "binary, least squares", *(own for own in BOOSTERS if "multilabel" not in own)]
)
def test_no_warning_and_no_negative_gap_on_ordinary_data(name, data):
    X, y = SMALL_DATA[data]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = make(name, n_estimators=20).fit(X, y)
    assert not np.any(model.trace_.relative_gap < -NEGATIVE_GAP)
    assert model.certificate_.dual <= model.certificate_.primal + NEGATIVE_GAP
    if name not in STAGE_WISE:
        assert model.certificate_.relative_gap <= model.tol
        assert model.certificate_.full_relative_gap >= -NEGATIVE_GAP


@pytest.mark.parametrize("name", ["AdaBoost.MH", "AdaBoost.ECC", "MultiBoost", *WRAPPERS])
def test_ten_classes(name):
    X, y = (part[:150] for part in load_digits(return_X_y=True))
    model = make(name).fit(X, y)
    assert model.decision_function(X).shape == (150, 10)
    assert model.score(X, y) > 0.2
    if name not in WRAPPERS:  # scikit-learn's SVMs predict by pairwise votes
        assert np.array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))


@pytest.mark.parametrize("name", ["binary", *(name for name in BOOSTERS if MODELS[name][1] == "binary")])
def test_one_vs_rest(name):
    X, y = flowers()
    assert OneVsRestClassifier(make(name)).fit(X, y).score(X, y) > 0.85
