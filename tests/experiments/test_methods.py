"""The experiments' methods are what their columns say: families, columns, widths, folds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.data import Split
from cgens import CGEnsClassifier
from cgens.datasets import make_disc
from cgens.weak_learners import Fourier, Perceptron, Stump
from experiments import methods, misses, spam
from experiments.experiment import QUICK, Cell
from experiments.pictures import COLOURS
from experiments.registry import EXPERIMENTS
from experiments.table2 import DRAWN_PERCEPTRON
from tests.experiments.fakes import small_split

TINY = replace(QUICK, rounds=(3, 6), n_penalties=2)
GIVEN = {"gamma": 0.7}
TABLES = ("table1", "table2-fourier", "table2-perceptron", "table3", "spam")
#: Which weak learners the methods of each table have; those of the SVMs have none.
FAMILY = {"table1": Stump, "table2-fourier": Fourier, "table2-perceptron": Perceptron, "table3": Stump, "spam": Stump}


@pytest.fixture(scope="module")
def split():
    X, y = make_disc(160, random_state=0)
    return Split(X[:100], y[:100], X[100:], y[100:])


def fitted(name, method, split, given=None):
    """Return the fit of a method, and the estimator that a search ended with."""
    found = EXPERIMENTS[name].methods[method](split, 0, TINY, GIVEN if given is None else given)
    return found, getattr(found.model, "best_estimator_", found.model)


def every_method(*names):
    return [(name, method) for name in names for method in EXPERIMENTS[name].methods]


@pytest.mark.parametrize(("name", "method"), every_method("table1", "table2-fourier", "table2-perceptron", "spam"))
def test_every_method_of_two_classes_fits(name, method, split):
    found, model = fitted(name, method, split)
    assert np.mean(found.model.predict(split.X_test) != split.y_test) < 0.5
    family = FAMILY[name]
    if hasattr(model, "ensemble_") and method != "CGEns mixture":
        named = Stump() if model.weak_learner == "stump" else model.weak_learner
        assert isinstance(named, family)
        if family is not Stump:
            assert named.n_candidates == 2000
            assert named.learn == {"CGEns learned": True if family is Fourier else "auto"}.get(method, False)


@pytest.mark.parametrize("method", EXPERIMENTS["table3"].methods)
def test_every_method_of_many_classes_fits(method, split):
    many = replace(split, y=split.y + 2 * (split.X[:, 0] > 1), y_test=split.y_test + 2 * (split.X_test[:, 0] > 1))
    found, model = fitted("table3", method, many, given={})
    assert model.n_columns_ == TINY.most_rounds
    again, model = fitted("table3", method, many, given=found.params)
    assert again.params == found.params
    if method.startswith("CGEns-SLS"):
        assert model.pricing == ("gain" if method.endswith("gain") else "max"), "EQ:WL2 is the largest price"
        assert found.params["C"] == model.C_
    if method == "MultiBoost":
        assert model.nu == found.params["nu"]


@pytest.mark.parametrize("method", ["RFF", "CGEns", "CGEns learned", "CGEns mixture"])
def test_the_width_is_that_of_the_svm(method, split):
    cell = next(c for c in EXPERIMENTS["table2-fourier"].cells(QUICK) if c.method == method and c.run == 1)
    assert EXPERIMENTS["table2-fourier"].after(cell) == replace(cell, method="SVM")
    _, model = fitted("table2-fourier", method, split)
    family = model.weak_learner[-1] if method == "CGEns mixture" else getattr(model, "weak_learner", model)
    assert family.gamma == GIVEN["gamma"]


@pytest.mark.parametrize("name", ["table2-fourier", "table2-perceptron"])
def test_table_two_has_all_columns(name, split):
    found, model = fitted(name, "CGEns", split)
    assert found.params["n_estimators"] == TINY.most_rounds
    assert model.n_columns_ == TINY.most_rounds


def test_own_sigma_is_the_best_of_the_widths(split):
    found, model = fitted("table2-fourier", "CGEns own sigma", split)
    widths = [gamma / split.X.shape[1] for gamma in methods.GAMMAS[:: TINY.grid_step]]
    scores = {}
    for gamma in widths:
        family = Fourier(gamma=gamma, learn=False)
        scores[gamma] = methods.searched_cgens(family, split, 0, TINY, TINY.rounds[-1:]).model.best_score_
    assert found.params["gamma"] in widths
    assert scores[found.params["gamma"]] == max(scores.values())
    assert model.weak_learner.gamma == found.params["gamma"]


def test_rounds_are_chosen_along_one_fit(split):
    """By hand: the errors of each fold after so many rounds."""
    found, model = fitted("table1", "AdaBoost", split)
    errors = np.zeros(len(TINY.rounds))
    for train, held_out in methods._folds(TINY, 0).split(split.X, split.y):
        for k, rounds in enumerate(TINY.rounds):
            fold = type(model)(n_estimators=rounds, n_jobs=1).fit(split.X[train], split.y[train])
            errors[k] += np.sum(fold.predict(split.X[held_out]) != split.y[held_out])
    assert found.params == {"n_estimators": TINY.rounds[int(np.argmin(errors))]}
    assert model.n_columns_ == found.params["n_estimators"]


def test_drawn_perceptrons_are_drawn_once():
    assert (DRAWN_PERCEPTRON.learn, DRAWN_PERCEPTRON.pool, DRAWN_PERCEPTRON.n_candidates) == (False, "fixed", 2000)


def test_spam_counts_the_features_of_sixty_stumps(split):
    for method in EXPERIMENTS["spam"].methods:
        found, model = fitted("spam", method, split)
        assert sum(found.params["features"].values()) == model.n_columns_ <= spam.ROUNDS == 60
        assert set(found.params["features"]) <= {0, 1}


@pytest.mark.parametrize("name", ["toy", "curves", "spam"])
def test_every_method_of_a_picture_has_a_colour(name):
    assert set(EXPERIMENTS[name].methods) <= set(COLOURS)


def test_the_curves_are_of_the_papers_methods():
    assert list(EXPERIMENTS["curves"].methods) == ["AdaBoost.ECC", "AdaBoost.MH", "MultiBoost", "CGEns-SLS"]


@pytest.mark.parametrize("name", misses.MISSES.methods)
def test_the_least_error_of_any_c_and_size(name):
    split = small_split(n_classes=3)
    found = misses.MISSES.methods[name](split, 0, QUICK, {"C": 0.02})
    options = {
        "CGEns-SLS": {"n_estimators": 50, "pricing": "max"},
        "CGEns-SLS three times the columns": {"n_estimators": 150, "pricing": "max"},
        "CGEns-SLS gain": {"n_estimators": 50, "pricing": "gain"},
        "CGEns-SLS no bins": {"weak_learner": Stump(max_bins=None), "n_estimators": 50, "pricing": "max"},
    }[name]
    errors = {}
    for C in 0.02 * misses.FACTORS:
        model = CGEnsClassifier(C=C, **options).fit(split.X, split.y)
        for size in (1, 10, model.n_columns_):
            shorter = CGEnsClassifier(C=C, **options | {"n_estimators": size}).fit(split.X, split.y)
            errors[C, size] = 100 * np.mean(shorter.predict(split.X_test) != split.y_test)
    assert 0.02 in 0.02 * misses.FACTORS
    assert len(set(errors.values())) > 1
    assert found.error <= min(errors.values())
    best = CGEnsClassifier(C=found.params["C"], **options | {"n_estimators": found.params["n_columns"]})
    assert found.error == 100 * np.mean(best.fit(split.X, split.y).predict(split.X_test) != split.y_test)


@pytest.mark.parametrize("name", misses.MISSES.methods)
def test_what_is_looked_into_begins_with_the_c_of_table_three(name):
    method = "CGEns-SLS gain" if name == "CGEns-SLS gain" else "CGEns-SLS"
    assert misses.MISSES.after(Cell("misses", "usps", name, 3)) == Cell("table3", "usps", method, 3)
