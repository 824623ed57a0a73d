"""The rivals for several classes: labels of AdaBoost.MH, colourings of AdaBoost.ECC."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import GridSearchCV

from cgens.weak_learners import Stump
from tests.integration.rivals import FLOWERS, RIVALS, assert_same_bits, fit
from tests.tolerances import CLOSED_FORM

LABELLED = make_multilabel_classification(n_samples=120, n_features=6, n_classes=4, random_state=3)


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
