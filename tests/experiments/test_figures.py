"""What the figures draw: errors round by round, seconds passed, examples; and candidates that are drawn anew."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.data import Split
from experiments import toy
from experiments.curves import CURVES, _with_curve
from experiments.experiment import QUICK, Cell, Fit
from experiments.gallery import GALLERY
from experiments.registry import EXPERIMENTS
from experiments.table3 import METHODS
from tests.experiments.fakes import small_split

TINY = replace(QUICK, rounds=(10, 20), n_penalties=2)
GIVEN = {"AdaBoost.ECC": {}, "AdaBoost.MH": {}, "MultiBoost": {"nu": 0.02}, "CGEns-SLS": {"C": 0.1}}


def two_samples(n_classes: int):
    """Return a split whose test rows are not its training rows."""
    train, test = (small_split(120, n_values=40, n_features=2, seed=seed, n_classes=n_classes) for seed in (0, 1))
    return replace(train, X_test=test.X, y_test=test.y)


def error_of(model, X, y) -> float:
    return 100 * float(np.mean(model.predict(X) != y))


@pytest.mark.parametrize("method", toy.TOY.methods)
def test_errors_of_the_disc_are_those_of_shorter_fits(method, monkeypatch):
    monkeypatch.setattr(toy, "ROUNDS", 8)
    split = two_samples(n_classes=2)
    found = toy.TOY.methods[method](split, 0, QUICK, {})
    assert type(found.model).__name__ == f"{method}Classifier"
    shorter = [type(found.model)(n_estimators=r).fit(split.X, split.y) for r in range(1, 9)]
    by_hand = {
        part: [round(error_of(model, X, y), 3) for model in shorter]
        for part, X, y in (("train", split.X, split.y), ("test", split.X_test, split.y_test))
    }
    assert found.params == by_hand
    assert by_hand["train"] != by_hand["test"]
    assert len(set(by_hand["test"])) > 1


@pytest.mark.parametrize("chosen", [False, True])
@pytest.mark.parametrize("method", CURVES.methods)
def test_a_curve_ends_where_its_method_does(method, chosen):
    split, given = two_samples(n_classes=3), GIVEN[method] if chosen else {}
    found = CURVES.methods[method](split, 0, TINY, given)
    plain = METHODS[method](split, 0, TINY, given)
    rounds, errors, passed = (found.params[key] for key in ("rounds", "errors", "passed"))
    assert rounds == [1, 2, 5, 10, 20]
    assert len(errors) == len(passed) == len(rounds)
    assert errors[-1] == round(error_of(found.model, split.X_test, split.y_test), 3)
    assert errors[-1] == round(error_of(plain.model, split.X_test, split.y_test), 3)
    assert len(set(errors)) > 1
    assert passed == sorted(passed)
    assert {key: found.params[key] for key in plain.params} == plain.params
    assert given.items() <= found.params.items()


@pytest.mark.parametrize("method", CURVES.methods)
def test_a_curve_is_of_shorter_fits(method):
    split = two_samples(n_classes=3)
    found = CURVES.methods[method](split, 0, TINY, GIVEN[method])
    for r, error in zip(found.params["rounds"], found.params["errors"], strict=True):
        shorter = METHODS[method](split, 0, replace(TINY, rounds=(r,)), GIVEN[method])
        assert error == round(error_of(shorter.model, split.X_test, split.y_test), 3), r


@pytest.mark.parametrize("searched", [False, True])
def test_seconds_are_cumulated_from_the_preparation_on(searched):
    """By hand: round r errs on r of 40 rows, entry 0 of a trace is the preparation, each later one a round."""
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
        "passed": [5.0, 7.5, 15.0, 27.5, 52.5, 77.5, 85.0],
    }


def test_examples_are_the_first_of_their_kind():
    split = two_samples(n_classes=3)
    found = GALLERY.methods["CGEns-SLS"](split, 0, TINY, {})
    assert (found.model.n_columns_, found.model.pricing) == (TINY.most_rounds, "max")
    told = found.model.predict(split.X_test).tolist()
    by_hand = []
    for label in range(3):
        mine = [row for row, truth in enumerate(split.y_test) if truth == label]
        right, wrong = [row for row in mine if told[row] == label][:2], [row for row in mine if told[row] != label][:1]
        by_hand.append({"right": right, "wrong": wrong, "told": [told[row] for row in wrong]})
        assert (len(right), len(wrong)) == (2, 1)
    assert found.params == {"examples": by_hand}


def test_a_class_without_mistakes_has_no_example_of_one():
    y = np.repeat([0, 1], 20)
    X = y[:, None].astype(float)
    found = GALLERY.methods["CGEns-SLS"](Split(X, y, X, y), 0, TINY, {})
    assert found.params["examples"] == [
        {"right": [0, 1], "wrong": [], "told": []},
        {"right": [20, 21], "wrong": [], "told": []},
    ]


@pytest.mark.parametrize("pool", ["fresh", "fixed"])
@pytest.mark.parametrize(
    ("name", "label"), [("table2-fourier", "CGEns"), ("table2-perceptron", "CGEns"), ("table2-perceptron", "AdaBoost")]
)
def test_fresh_candidates_are_drawn_in_each_round(name, label, pool):
    """Of 2000 drawn once a fit knows the number; drawn anew, they have no end."""
    method = f"{label} fresh" if pool == "fresh" else label
    found = EXPERIMENTS[name].methods[method](small_split(), 0, replace(TINY, rounds=(3,)), {"gamma": 0.7})
    model = getattr(found.model, "best_estimator_", found.model)
    family = model.weak_learner
    assert (family.pool, family.n_candidates, family.learn) == (pool, 2000, False)
    assert model.certificate_.n_candidates == {"fresh": None, "fixed": 2000}[pool]
    assert found.params["n_estimators"] == 3
    after = EXPERIMENTS[name].after(Cell(name, "heart", method, 2))
    if name == "table2-fourier":
        assert after == Cell(name, "heart", "SVM", 2)
        assert family.gamma == found.params["gamma"] == 0.7
    else:
        assert after is None
