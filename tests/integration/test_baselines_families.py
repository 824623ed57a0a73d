"""Every rival on the loop with every family of weak learners."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from cgens.baselines import (
    AdaBoostClassifier,
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    LPBoostClassifier,
    MultiBoostClassifier,
)
from cgens.types import Duals, Sample
from cgens.weak_learners import Box, Fourier, Linear, Mixture, Perceptron, SklearnLearner, Stump, Tree
from tests.integration.small_data import iris
from tests.tolerances import CLOSED_FORM, NEGATIVE_GAP

SMALL = {"n_estimators": 15, "random_state": 0, "n_jobs": 1}

#: Rival and how many classes there are.
RIVALS = {
    "AdaBoost": (AdaBoostClassifier(**SMALL), 2),
    "LPBoost": (LPBoostClassifier(**SMALL), 2),
    "LPBoost of nu": (LPBoostClassifier(nu=0.2, **SMALL), 2),
    "AdaBoost.MH": (AdaBoostMHClassifier(**SMALL), 3),
    "AdaBoost.ECC": (AdaBoostECCClassifier(**SMALL), 3),
    "AdaBoost.ECC of two classes": (AdaBoostECCClassifier(**SMALL), 2),
    "MultiBoost": (MultiBoostClassifier(**SMALL), 3),
    "MultiBoost of two classes": (MultiBoostClassifier(**SMALL), 2),
}

FAMILIES = {
    "stump": "stump",
    "perceptron": "perceptron",
    "fourier": "fourier",
    "tree": "tree",
    "box": "box",
    "linear": "linear",
    "list": ["stump", "linear", "fourier"],
    "SklearnLearner": SklearnLearner(DecisionTreeClassifier(max_depth=2)),
}

#: The other ways that families have: learned, drawn anew, of few inputs, of numbers and of signs.
OBJECTS = {
    "Stump": Stump(8),
    "Perceptron, a pool": Perceptron(100, learn=False),
    "Perceptron, learned": Perceptron(standardize=True, learn=True),
    "Perceptron, fresh": Perceptron(50, pool="fresh", learn=False),
    "Fourier, a pool": Fourier(0.1, 100, learn=False),
    "Fourier, learned": Fourier(learn=True),
    "Fourier, fresh": Fourier(n_candidates=50, pool="fresh", learn=False),
    "Tree": Tree(4, min_samples_leaf=3),
    "Tree of signs": Tree(3, leaves="sign", max_features=1.0),
    "Box, fresh": Box(1, 15, pool="fresh"),
    "Linear": Linear(),
    "SklearnLearner": SklearnLearner(LogisticRegression()),
    "Mixture": Mixture([Stump(16), (Fourier(n_candidates=100), [0, 1, 2])]),
}


def data(n_classes):
    return iris() if n_classes == 2 else load_iris(return_X_y=True)


def assert_sound(model, X, y):
    decision = model.decision_function(X)
    assert 1 <= model.n_columns_ <= 15
    assert np.all(np.isfinite(decision))
    assert model.predict(X).shape == y.shape
    assert np.all(model.trace_.relative_gap >= -NEGATIVE_GAP)
    assert len(list(model.staged_predict(X))) == model.n_columns_
    stages = list(model.staged_decision_function(X))
    largest = np.abs(model.ensemble_.respond(X).astype(float)) @ np.abs(model.ensemble_.weights)
    assert np.allclose(stages[-1], decision, rtol=0, atol=10 * CLOSED_FORM * (1 + largest.max()))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", RIVALS)
def test_every_name_of_a_family(name, family):
    """Iris is easy: the last two species are told apart with few mistakes, by chance it would be half of the rows."""
    estimator, n_classes = RIVALS[name]
    X, y = data(n_classes)
    model = clone(estimator).set_params(weak_learner=FAMILIES[family]).fit(X, y)
    assert_sound(model, X, y)
    assert model.score(X, y) > (0.9 if n_classes == 2 else 0.8)


@pytest.mark.slow
@pytest.mark.parametrize("family", OBJECTS)
@pytest.mark.parametrize("name", RIVALS)
def test_every_way_of_a_family(name, family):
    estimator, n_classes = RIVALS[name]
    X, y = data(n_classes)
    model = clone(estimator).set_params(weak_learner=OBJECTS[family]).fit(X, y)
    assert_sound(model, X, y)
    assert model.score(X, y) > (0.85 if n_classes == 2 else 0.6)


@pytest.mark.parametrize("family", ["tree", "fourier", "linear"])
@pytest.mark.parametrize("name", ["AdaBoost", "AdaBoost.MH"])
def test_coefficients_of_numbers_lower_the_loss(name, family):
    """Of columns that are not +-1 the coefficient is the one that lowers the exponential loss most."""
    estimator, n_classes = RIVALS[name]
    X, y = data(n_classes)
    model = clone(estimator).set_params(weak_learner=family, n_estimators=5).fit(X, y)
    signs = np.where(y[:, None] == (model.classes_ if n_classes > 2 else model.classes_[1:]), 1.0, -1.0)
    columns, before = model.ensemble_.respond(X).astype(float), np.zeros(signs.shape)
    for k, weights in enumerate(model.ensemble_.weights):
        losses = [
            np.mean(np.exp(-signs * (before + step * np.multiply.outer(columns[:, k], weights))))
            for step in (1.0, 0.99, 1.01, 0.0)
        ]
        assert losses[0] == min(losses)
        assert losses[0] == pytest.approx(model.trace_.primal[k + 1], rel=CLOSED_FORM)
        before = before + np.multiply.outer(columns[:, k], weights)


@pytest.mark.parametrize("family", ["perceptron", "fourier"])
def test_learned_columns_are_those_of_the_rounds_own_colouring(family):
    """What was learned for the bit of an earlier round says little of this one's."""
    X, y = data(3)
    model = AdaBoostECCClassifier(family, **SMALL).fit(X, y)
    sample = Sample(X, np.arange(len(X)), np.ones(len(X)))
    pool = {"perceptron": Perceptron(learn=False), "fourier": Fourier(learn=False)}[family]
    pricer = pool.begin(sample, np.random.default_rng(0), 1)
    for k in range(1, model.n_columns_):
        duals = clone(model).set_params(n_estimators=k).fit(X, y).duals_
        to_be_had = pricer.price(Duals(duals[:, None]), set(), "max").largest_price()
        assert model.trace_.score[k + 1] >= 0.25 * to_be_had, f"round {k + 1}"


@pytest.mark.parametrize("name", RIVALS)
def test_shares_of_a_mixture(name):
    estimator, n_classes = RIVALS[name]
    X, y = data(n_classes)
    model = clone(estimator).set_params(weak_learner=["stump", "fourier"]).fit(X, y)
    assert set(model.family_shares_) == {"stump", "fourier"}
    assert sum(model.family_shares_.values()) == pytest.approx(1.0, rel=CLOSED_FORM)
