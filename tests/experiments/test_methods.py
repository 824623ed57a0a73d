"""The methods of the experiments have the weak learners, columns, widths and folds that the tables state."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from cgens import CGEnsClassifier
from cgens.datasets import make_disc
from cgens.weak_learners import Fourier, Perceptron, Stump
from evaluation.splits import Split, error_percent
from experiments import methods, oracle, spam, toy
from experiments.curves import _with_curve
from experiments.experiment import FULL, QUICK, Cell, Fit
from experiments.plots import COLOURS
from experiments.registry import EXPERIMENTS
from tests.experiments.fakes import small_split

TINY = replace(QUICK, rounds=(3, 6), n_penalties=2, grid_step=5)
#: The weak learners of each table.
FAMILY = {"table1": Stump, "table2-fourier": Fourier, "table2-perceptron": Perceptron, "spam": Stump}


@cache
def disc() -> Split:
    X, y = make_disc(160, random_state=0)
    return Split(X[:100], y[:100], X[100:], y[100:])


@cache
def fitted(name: str, method: str):
    """Return the fit of a binary method, and the estimator that its search selected."""
    found = EXPERIMENTS[name].methods[method](disc(), 0, TINY, {"gamma": 0.7})
    return found, getattr(found.model, "best_estimator_", found.model)


@pytest.mark.parametrize("name", FAMILY)
def test_every_binary_method_learns(name):
    for method in EXPERIMENTS[name].methods:
        assert error_percent(fitted(name, method)[0].model, disc()) < 50, method


@pytest.mark.parametrize(
    ("name", "method"), [(name, method) for name in FAMILY for method in EXPERIMENTS[name].published]
)
def test_binary_methods(name, method):
    found, model = fitted(name, method)
    cell = Cell(name, "heart", method, 2)
    depends = name == "table2-fourier" and method not in ("SVM", "CGEns own sigma")
    assert EXPERIMENTS[name].depends_on(cell) == (replace(cell, method="SVM") if depends else None)
    if method == "CGEns mixture":
        stump, perceptron, fourier = model.weak_learner
        assert (stump, type(perceptron), fourier.gamma, fourier.learn) == ("stump", Perceptron, 0.7, False)
    elif depends:
        assert getattr(model, "weak_learner", model).gamma == 0.7, "the width of the SVM"
    if method not in ("SVM", "RFF", "CGEns mixture"):
        family = Stump() if model.weak_learner == "stump" else model.weak_learner
        assert type(family) is FAMILY[name]
        if not isinstance(family, Stump):
            fresh = method.endswith("fresh")
            assert family.n_candidates == 2000
            assert family.learn == {"CGEns learned": True if name == "table2-fourier" else "auto"}.get(method, False)
            assert family.pool == ("fresh" if fresh else "fixed")
            if family.learn is False:
                assert model.certificate_.n_candidates == (None if fresh else 2000)
    if method.startswith("CGEns") and name != "spam":
        assert found.model.stages == list(TINY.rounds if name == "table1" else TINY.rounds[-1:])
        assert found.params["n_estimators"] == model.n_columns_


def test_own_sigma_has_the_best_score_of_all_widths():
    found, model = fitted("table2-fourier", "CGEns own sigma")
    scores = {}
    for gamma in methods.GAMMAS[:: TINY.grid_step] / 2:
        family = Fourier(gamma=gamma, learn=False)
        scores[gamma] = methods.search_cgens(family, disc(), 0, TINY, TINY.rounds[-1:]).model.best_score_
    assert len(set(scores.values())) > 1
    assert scores[found.params["gamma"]] == max(scores.values())
    assert model.weak_learner.gamma == found.params["gamma"]


def test_rounds_are_selected_by_their_errors_on_all_folds():
    found, model = fitted("table1", "AdaBoost")
    errors, (X, y) = np.zeros(len(TINY.rounds)), (disc().X, disc().y)
    for train, held_out in methods._folds(TINY, 0).split(X, y):
        for k, rounds in enumerate(TINY.rounds):
            fold = type(model)(n_estimators=rounds, n_jobs=1).fit(X[train], y[train])
            errors[k] += np.sum(fold.predict(X[held_out]) != y[held_out])
    assert errors[0] != errors[1]
    assert found.params == {"n_estimators": TINY.rounds[int(np.argmin(errors))]}
    assert model.n_columns_ == found.params["n_estimators"]


@pytest.mark.parametrize("method", spam.SPAM.published)
def test_spam_counts_the_features_of_sixty_stumps(method):
    found, model = fitted("spam", method)
    counts = Counter(learner.feature for learner in model.ensemble_.learners)
    assert found.params["features"] == counts
    assert counts.total() <= spam.ROUNDS == 60


@pytest.mark.parametrize("method", EXPERIMENTS["table3"].methods)
def test_multiclass_methods_reuse_inherited_parameters(method):
    split = small_split(100, n_classes=3)
    fit = EXPERIMENTS["table3"].methods[method]
    found = fit(split, 0, TINY, {})
    for again in (found, fit(split, 1, TINY, found.params)):
        model = getattr(again.model, "best_estimator_", again.model)
        assert again.params == found.params
        assert model.n_columns_ == TINY.max_rounds
        if method in ("CGEns-SLS", "CGEns-SLS gain"):
            assert model.pricing == ("gain" if method.endswith("gain") else "max"), "EQ:WL2 is the largest price"
            assert found.params["C"] == model.C_
        if method == "MultiBoost":
            assert model.nu == found.params["nu"]


@pytest.mark.parametrize(
    ("cell", "needed"),
    [
        (Cell("table3", "wine", "MultiBoost", 3), None),
        (Cell("table3", "usps", "MultiBoost", 0), None),
        (Cell("table3", "usps", "MultiBoost", 1), Cell("table3", "usps", "MultiBoost", 0)),
        (Cell("curves", "mnist", "CGEns-SLS", 0), Cell("table3", "mnist", "CGEns-SLS", 0)),
        (Cell("oracle", "usps", "CGEns-SLS, 3x columns", 3), Cell("table3", "usps", "CGEns-SLS", 3)),
        (Cell("oracle", "usps", "CGEns-SLS gain", 3), Cell("table3", "usps", "CGEns-SLS gain", 3)),
    ],
)
def test_whose_parameters_are_inherited(cell, needed):
    assert EXPERIMENTS[cell.experiment].depends_on(cell) == needed


def test_every_experiment_is_well_formed():
    for name, experiment in EXPERIMENTS.items():
        assert experiment.name == name
        assert set(experiment.published) <= set(experiment.methods)
        for effort in (QUICK, FULL):
            cells = experiment.cells(effort)
            assert len(cells) == len(set(cells)) > 0
            known = {None, *cells, *EXPERIMENTS["table3"].cells(effort)}
            assert {experiment.depends_on(cell) for cell in cells} <= known
    for name in ("toy", "curves", "spam"):
        assert set(EXPERIMENTS[name].methods) <= set(COLOURS)


# What the figures show.


@pytest.mark.parametrize("method", toy.TOY.published)
def test_the_toy_stores_training_and_test_errors_of_each_round(method, monkeypatch):
    monkeypatch.setattr(toy, "ROUNDS", 8)
    split = small_split(100)
    found = toy.TOY.methods[method](split, 0, QUICK, {})
    assert type(found.model).__name__ == f"{method}Classifier"
    for part, X, y in (("train", split.X, split.y), ("test", split.X_test, split.y_test)):
        assert found.params[part] == [round(100 * np.mean(stage != y), 3) for stage in found.model.staged_predict(X)]
        assert len(found.params[part]) == 8
    assert found.params["train"] != found.params["test"]


@pytest.mark.parametrize("searched", [False, True])
def test_curves_sum_the_seconds_from_the_preparation_on(searched):
    """Round r misclassifies r of 40 rows; entry 0 of a trace is the preparation, the others are the rounds."""
    split = replace(small_split(), y_test=np.zeros(40))
    model = SimpleNamespace(
        staged_predict=lambda X: (np.arange(len(X)) < r for r in range(1, 34)),
        trace_=SimpleNamespace(price_seconds=np.full(34, 2.0), solve_seconds=np.full(34, 0.5)),
    )
    whole = SimpleNamespace(best_estimator_=model) if searched else model
    found = _with_curve(lambda *call: Fit(whole, {"C": 1.0}))(split, 0, TINY, {})
    assert found.model is whole
    assert found.params == {
        "C": 1.0,
        "rounds": [1, 2, 5, 10, 20, 30, 33],
        "errors": [2.5, 5.0, 12.5, 25.0, 50.0, 75.0, 82.5],
        "seconds": [5.0, 7.5, 15.0, 27.5, 52.5, 77.5, 85.0],
    }


@pytest.mark.parametrize("method", EXPERIMENTS["curves"].methods)
def test_a_curve_ends_with_the_error_of_its_method(method):
    split, given = small_split(100, n_classes=3), {"nu": 0.02, "C": 0.1}
    found, plain = (EXPERIMENTS[name].methods[method](split, 0, TINY, given) for name in ("curves", "table3"))
    assert found.params["rounds"] == [1, 2, 5, 6]
    assert found.params["errors"][-1] == round(error_percent(plain.model, split), 3)
    assert found.params["seconds"] == sorted(found.params["seconds"])
    assert plain.params.items() <= found.params.items()


def test_the_gallery_stores_the_first_examples_of_each_class():
    split = small_split(100, n_classes=3)
    found = EXPERIMENTS["gallery"].methods["CGEns-SLS"](split, 0, TINY, {})
    assert (found.model.n_columns_, found.model.pricing) == (TINY.max_rounds, "max")
    predicted, by_hand = found.model.predict(split.X_test).tolist(), []
    for label in range(3):
        rows = [row for row, truth in enumerate(split.y_test) if truth == label]
        wrong = [row for row in rows if predicted[row] != label][:1]
        correct = [row for row in rows if predicted[row] == label][:2]
        by_hand.append({"correct": correct, "wrong": wrong, "predicted": [predicted[row] for row in wrong]})
    assert found.params == {"examples": by_hand}
    assert any(example["wrong"] for example in by_hand)


@pytest.mark.parametrize("name", oracle.ORACLE.published)
def test_the_oracle_has_the_lowest_error_of_any_c_and_size(name, monkeypatch):
    monkeypatch.setattr(oracle, "FACTORS", np.array([0.1, 1.0, 10.0]))
    split = small_split(100, n_values=400, n_features=4, n_classes=3)
    found = oracle.ORACLE.methods[name](split, 0, replace(QUICK, rounds=(3,)), {"C": 0.02})
    options = {"n_estimators": 3, "pricing": "max"} | {
        "CGEns-SLS, 3x columns": {"n_estimators": 9},
        "CGEns-SLS gain": {"pricing": "gain"},
        "CGEns-SLS unbinned": {"weak_learner": Stump(max_bins=None)},
    }.get(name, {})
    errors = {}
    for C in (0.002, 0.02, 0.2):
        model = CGEnsClassifier(loss="least_squares", C=C, **options).fit(split.X, split.y)
        for size, stage in enumerate(model.staged_predict(split.X_test), start=1):
            errors[C, size] = 100 * np.mean(stage != split.y_test)
    assert found.error == errors[found.params["C"], found.params["n_columns"]] == min(errors.values())
    assert found.params["n_columns"] > 3 or options["n_estimators"] == 3
