"""Cross-validation: the values of C and the numbers of columns that are tried, and bad parameters."""

from __future__ import annotations

import numpy as np
import pytest

from cgens import CGEnsClassifier, CGEnsClassifierCV
from cgens.weak_learners import Stump
from tests.integration.searches import SMALL, WINES, classify
from tests.tolerances import CLOSED_FORM


def test_columns():
    assert classify(columns="paper", n_estimators=500, cv=2, Cs=1).columns_.tolist() == [25, 50, 100, 250, 500]
    assert classify(columns="paper", n_estimators=60, cv=2, Cs=1).columns_.tolist() == [25, 50, 60]
    assert classify(columns="paper").columns_.tolist() == [12]
    assert classify(columns="staged").columns_.tolist() == [5, 6, 7, 8, 9, 10, 11, 12]
    assert classify(columns="staged", n_estimators=3).columns_.tolist() == [3]
    assert classify(columns=[9, 3, 9, np.int64(1)]).columns_.tolist() == [1, 3, 9]
    assert classify(columns=range(1, 4)).columns_.tolist() == [1, 2, 3]
    many = classify(columns="staged", n_estimators=300, cv=2, Cs=1).columns_
    assert len(many) == 25
    assert many[[0, -1]].tolist() == [5, 300]


def test_more_columns_than_there_are():
    """Where no more are found, larger numbers have the score of what there is."""
    X, y = WINES[0][:, :1].round(), WINES[1]
    model = classify(X, y, columns=[2, 100, 200], n_estimators=200)
    assert np.array_equal(model.scores_[..., 1], model.scores_[..., 2])
    assert model.n_columns_ in (2, 100)
    assert model.best_estimator_.n_columns_ < 20


def test_costs():
    middle = classify(Cs=1).Cs_[0]
    assert middle == CGEnsClassifier().fit(*WINES).C_
    assert np.allclose(classify(Cs=3).Cs_, [middle / 3, middle, middle * 3], rtol=CLOSED_FORM, atol=0)
    assert np.allclose(classify(Cs=4).Cs_, [middle / 3, middle, middle * 3, middle * 9], rtol=CLOSED_FORM, atol=0)
    assert len(CGEnsClassifierCV(n_estimators=5, cv=2).fit(*WINES).Cs_) == 7
    assert classify(Cs=[0.3, 0.01]).Cs_.tolist() == [0.3, 0.01]
    assert classify(Cs=np.array([0.3, 0.01])).Cs_.tolist() == [0.3, 0.01]
    assert classify(Cs=(c for c in [0.5])).Cs_.tolist() == [0.5]
    assert classify(Cs=["scale", 1]).Cs_.tolist() == [middle, 1.0]


def test_the_order_of_costs_does_not_matter():
    X, _ = WINES
    up, down = classify(Cs=[0.01, 0.1, 1.0]), classify(Cs=[1.0, 0.1, 0.01])
    assert up.best_params_ == down.best_params_
    assert np.allclose(up.scores_, down.scores_[:, ::-1], rtol=0, atol=CLOSED_FORM)
    assert up.predict(X).tobytes() == down.predict(X).tobytes()


BAD = {
    "columns = 'all'": ({"columns": "all"}, r"columns.*'all'"),
    "columns = 7": ({"columns": 7}, r"columns.*\b7\b"),
    "columns = None": ({"columns": None}, r"columns.*None"),
    "columns = []": ({"columns": []}, r"columns.*\[\]"),
    "columns = [0]": ({"columns": [0]}, r"columns.*\b0\b"),
    "columns = [2.5]": ({"columns": [2.5]}, r"columns.*2\.5"),
    "columns = ['a']": ({"columns": ["a"]}, r"columns.*'a'"),
    "columns beyond n_estimators": ({"columns": [5, 13]}, r"columns.*n_estimators=12.*13"),
    "Cs = 0": ({"Cs": 0}, r"Cs.*\b0\b"),
    "Cs = 2.5": ({"Cs": 2.5}, r"Cs.*2\.5"),
    "Cs = 'scale'": ({"Cs": "scale"}, r"Cs.*'scale'"),
    "Cs = None": ({"Cs": None}, r"Cs.*None"),
    "Cs = True": ({"Cs": True}, r"Cs.*True"),
    "Cs = []": ({"Cs": []}, r"Cs.*empty"),
    "Cs = [-1]": ({"Cs": [0.1, -1]}, r"C .*-1"),
    "Cs = [NaN]": ({"Cs": [np.nan]}, r"C .*nan"),
    "Cs = [1e300]": ({"Cs": [1e300]}, r"C .*1e\+300"),
    "cv = 0": ({"cv": 0}, r"cv.*\b0\b"),
    "cv = 1": ({"cv": 1}, r"cv=1\b"),
    "cv = -3": ({"cv": -3}, r"cv.*-3"),
    "cv = 2.5": ({"cv": 2.5}, r"cv.*2\.5"),
    "cv = 'five'": ({"cv": "five"}, r"cv.*five"),
    "cv = []": ({"cv": []}, r"cv|fold|split"),
    "cv without test rows": ({"cv": [(np.arange(100), np.arange(0))]}, r"fold.*test"),
    "cv without training rows": ({"cv": [(np.arange(0), np.arange(100))]}, r"fold.*train"),
    "scoring": ({"scoring": "beauty"}, r"'beauty'"),
    "scoring is NaN": ({"scoring": lambda model, X, y: np.nan}, r"(?i)scor.*nan"),
    "n_estimators = 0": ({"n_estimators": 0}, r"n_estimators.*\b0\b"),
    "tol = 0": ({"tol": 0}, r"tol.*\b0\b"),
    "n_jobs = 0": ({"n_jobs": 0}, r"n_jobs.*\b0\b"),
    "loss": ({"loss": "logarithmic"}, r"loss.*'logarithmic'"),
    "pricing": ({"pricing": "cheap"}, r"pricing.*'cheap'"),
    "pricing for the hinge loss": ({"pricing": "gain", "loss": "hinge"}, r"pricing='gain'.*hinge"),
    "max_bins": ({"weak_learner": Stump(1)}, r"max_bins.*\b1\b"),
    "random_state": ({"random_state": "seed"}, r"'seed'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_parameters(name):
    options, pattern = BAD[name]
    with pytest.raises(ValueError, match=r"(?s)" + pattern):
        classify(**options)


@pytest.mark.parametrize("broken", [{"Cs": []}, {"columns": [99]}, {"cv": 1}, {"scoring": "beauty"}, {"tol": 0}])
def test_a_fit_that_fails_leaves_the_model_as_it_was(broken):
    X, y = WINES
    model = classify()
    before, attributes = model.predict(X), set(vars(model))
    with pytest.raises(ValueError, match=r"\w"):
        model.set_params(**broken).fit(X[:, :2], np.array(list("abc"))[y])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.n_features_in_ == 13
    assert set(vars(model)) == attributes
    assert model.predict(X).tobytes() == before.tobytes()


def test_a_first_fit_that_fails_leaves_nothing():
    search = CGEnsClassifierCV(**SMALL, scoring=lambda model, X, y: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        search.fit(*WINES)
    assert set(vars(search)) == set(search.get_params())
