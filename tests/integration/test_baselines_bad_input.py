"""Bad input of the rivals gets one clear sentence with the offending value in it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from cgens.inspection import check_certificate
from cgens.weak_learners import Stump
from tests.integration.rivals import BINARY, FLOWERS
from tests.integration.short_rivals import (
    ON_THE_LOOP,
    RIVALS,
    X,
    Y,
    every_on_the_loop,
    every_rival,
    fit,
)
from tests.sentences import assert_plain_words


def changed(values, index, value):
    copy = np.array(values, dtype=object if isinstance(value, str) else None)
    copy[index] = value
    return copy


# What `fit` gets | the exception | what its sentence says: the value, or where it is.
BAD_DATA = {
    "NaN": ({"X": changed(X, (3, 2), np.nan)}, ValueError, r"NaN.*row 3, column 2"),
    "inf": ({"X": changed(X, (3, 2), np.inf)}, ValueError, r"infinity.*row 3, column 2"),
    "-inf": ({"X": changed(X, (3, 2), -np.inf)}, ValueError, r"infinity.*row 3, column 2"),
    "NaN in float32": ({"X": changed(X, (3, 2), np.nan).astype(np.float32)}, ValueError, r"NaN"),
    "NaN in y": ({"y": changed(Y.astype(float), 3, np.nan)}, ValueError, r"NaN"),
    "None in y": ({"y": changed(Y.astype(object), 3, None)}, ValueError, r"None.*row 3"),
    "one class": ({"y": np.full(90, 7)}, ValueError, r"(1|one) class"),
    "real-valued target": ({"y": X[:, 0]}, ValueError, r"continuous"),
    "two outputs": ({"y": np.column_stack([Y, 2 * Y])}, ValueError, r"2 columns"),
    "y too short": ({"y": Y[:-1]}, ValueError, r"90.*89"),
    "no y": ({"y": None}, ValueError, r"y"),
    "weights too short": ({"weight": np.ones(89)}, ValueError, r"89"),
    "NaN weight": ({"weight": changed(np.ones(90), 3, np.nan)}, ValueError, r"NaN"),
    "inf weight": ({"weight": changed(np.ones(90), 3, np.inf)}, ValueError, r"infinity"),
    "negative weight": ({"weight": changed(np.ones(90), 3, -1.0)}, ValueError, r"(?i)negative"),
    "all weights zero": ({"weight": np.zeros(90)}, ValueError, r"(?i)weight"),
    "one class of zero weight": ({"weight": Y.astype(float)}, ValueError, r"(?i)class|label"),
    "no rows": ({"X": X[:0], "y": Y[:0]}, ValueError, r"0 sample"),
    "no features": ({"X": X[:, :0]}, ValueError, r"0 feature"),
    "one axis": ({"X": X[:, 0]}, ValueError, r"1D array"),
    "three axes": ({"X": X[:, :, None]}, ValueError, r"dim 3"),
    "single row": ({"X": X[:1], "y": Y[:1]}, ValueError, r"(1|one) class"),
    "complex": ({"X": X.astype(complex)}, ValueError, r"(?i)complex"),
    "sparse": ({"X": sparse.csr_matrix(X)}, TypeError, r"(?i)sparse.*toarray"),
    "text": ({"X": changed(X, (3, 2), "red")}, ValueError, r"2.*red"),
    "text array": ({"X": np.char.add(X.astype(str), "kg")}, ValueError, r"kg"),
    "None": ({"X": None}, ValueError, r"None|scalar"),
    "dates": ({"X": np.full((90, 1), "2020-01-01", dtype="M8[D]")}, TypeError, r"0.*numeric"),
    "text column": (
        {"X": pd.DataFrame({"size": X[:, 0], "colour": ["red"] * 90})}, ValueError, r"'colour'.*'red'"
    ),
    "date column": ({"X": pd.DataFrame({"day": pd.date_range("2020-01-01", periods=90)})}, TypeError, r"'day'"),
    "missing value in a frame": ({"X": pd.DataFrame({"a": changed(X[:, 0], 3, np.nan)})}, ValueError, r"NaN"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_DATA)
@every_rival
def test_bad_data(rival, name):
    given, error, pattern = BAD_DATA[name]
    with pytest.raises(error, match=r"(?s)" + pattern) as raised:
        fit(rival, **given)
    assert_plain_words(str(raised.value))


@every_on_the_loop
def test_the_one_class_is_named(rival):
    with pytest.raises(ValueError, match=r"1 class.*7"):
        fit(rival, y=np.full(90, 7))
    with pytest.raises(ValueError, match=r"class 0.*weight 0.*1 class"):
        fit(rival, weight=Y.astype(float))


@pytest.mark.parametrize("rival", BINARY)
def test_more_classes_than_two(rival):
    with pytest.raises(ValueError, match=r"binary.*3 classes.*take (AdaBoostMHClassifier|.*OneVsRestClassifier)"):
        fit(rival, *FLOWERS)


@pytest.mark.parametrize("rival", BINARY)
def test_a_third_class_of_no_weight_is_none(rival):
    flowers, species = FLOWERS
    model = fit(rival, *FLOWERS, weight=(species > 0).astype(float))
    assert model.classes_.tolist() == [1, 2]
    without = fit(rival, flowers[50:], species[50:])
    assert model.decision_function(flowers).tobytes() == without.decision_function(flowers).tobytes()


@pytest.mark.parametrize("rival", [name for name in RIVALS if name != "AdaBoost.MH"])
def test_an_indicator_where_one_label_is_taken(rival):
    indicator = np.column_stack([Y, 1 - Y, Y])
    for y in (indicator, sparse.csr_matrix(indicator)):
        with pytest.raises(ValueError, match=rf"{type(RIVALS[rival]).__name__}.*one label.*3 columns"):
            fit(rival, y=y)


N_ESTIMATORS = {
    "0": ({"n_estimators": 0}, ValueError, r"n_estimators.*\b0\b"),
    "-3": ({"n_estimators": -3}, ValueError, r"n_estimators.*-3"),
    "2.5": ({"n_estimators": 2.5}, ValueError, r"n_estimators.*2\.5"),
    "'many'": ({"n_estimators": "many"}, ValueError, r"n_estimators.*'many'"),
    "None": ({"n_estimators": None}, ValueError, r"n_estimators.*None"),
    "True": ({"n_estimators": True}, ValueError, r"n_estimators.*True"),
}
COMMON = {
    **{f"n_estimators = {value}": case for value, case in N_ESTIMATORS.items()},
    "n_jobs = 0": ({"n_jobs": 0}, ValueError, r"n_jobs.*\b0\b"),
    "n_jobs = 1.5": ({"n_jobs": 1.5}, ValueError, r"n_jobs.*1\.5"),
    "random_state": ({"random_state": "seed"}, ValueError, r"'seed'"),
    "weak_learner": ({"weak_learner": "stamp"}, ValueError, r"weak_learner.*stump.*'stamp'"),
    "weak_learner of no kind": ({"weak_learner": 3}, TypeError, r"weak_learner.*begin.*\b3\b"),
    "weak_learner class": ({"weak_learner": Stump}, TypeError, r"weak_learner.*Stump\(\)"),
    "an empty list": ({"weak_learner": []}, ValueError, r"(?i)weak learner|Mixture|weak_learner"),
    "max_bins = 1": ({"weak_learner": Stump(1)}, ValueError, r"max_bins.*\b1\b"),
}
TOL = {
    "tol = 0": ({"tol": 0.0}, ValueError, r"tol.*0\.0"),
    "tol < 0": ({"tol": -1e-3}, ValueError, r"tol.*-0\.001"),
    "tol = NaN": ({"tol": np.nan}, ValueError, r"tol.*nan"),
    "tol = 'x'": ({"tol": "x"}, ValueError, r"tol.*'x'"),
}
NU = {
    "nu = 0": ({"nu": 0}, ValueError, r"nu.*\b0\b"),
    "nu < 0": ({"nu": -0.5}, ValueError, r"nu.*-0\.5"),
    "nu = NaN": ({"nu": np.nan}, ValueError, r"nu.*nan"),
    "nu = inf": ({"nu": np.inf}, ValueError, r"nu.*inf"),
    "nu = 'x'": ({"nu": "x"}, ValueError, r"nu.*'x'"),
    "nu = True": ({"nu": True}, ValueError, r"nu.*True"),
    "nu = [0.5]": ({"nu": [0.5]}, ValueError, r"nu.*\[0\.5\]"),
}
C = {
    "C = 0": ({"C": 0}, ValueError, r"C\b.*\b0\b"),
    "C < 0": ({"C": -1.5}, ValueError, r"C\b.*-1\.5"),
    "C = NaN": ({"C": np.nan}, ValueError, r"C\b.*nan"),
    "C = 'foo'": ({"C": "foo"}, ValueError, r"C\b.*'foo'"),
    "C = None": ({"C": None}, ValueError, r"C\b.*None"),
    "C = [1]": ({"C": [1.0]}, ValueError, r"C\b.*\[1\.0\]"),
}
ITERATIONS = {
    "max_iter = -1": ({"max_iter": -1}, ValueError, r"max_iter.*-1"),
    "max_iter = 2.5": ({"max_iter": 2.5}, ValueError, r"max_iter.*2\.5"),
    "max_iter = 'x'": ({"max_iter": "x"}, ValueError, r"max_iter.*'x'"),
}
SOLVER = {
    "solver": ({"solver": "simplex"}, ValueError, r"solver.*'dual', 'primal', 'ipm'.*'simplex'"),
    "solver = None": ({"solver": None}, ValueError, r"solver.*None"),
    "solver = []": ({"solver": ["dual"]}, ValueError, r"solver.*\['dual'\]"),
}
KERNEL = {
    "kernel": ({"kernel": "cubic"}, ValueError, r"kernel.*'stump', 'perceptron', 'rbf'.*'cubic'"),
    "kernel = None": ({"kernel": None}, ValueError, r"kernel.*None"),
    "kernel = []": ({"kernel": ["rbf"]}, ValueError, r"kernel.*\['rbf'\]"),
    "cache_size": ({"cache_size": -2}, ValueError, r"cache_size.*-2"),
}
GAMMA = {
    "gamma < 0": ({"gamma": -0.5}, ValueError, r"gamma.*-0\.5"),
    "gamma = 'wide'": ({"gamma": "wide"}, ValueError, r"gamma.*'wide'"),
    "gamma = None": ({"gamma": None}, ValueError, r"gamma.*None"),
    "gamma = NaN": ({"gamma": np.nan}, ValueError, r"gamma.*nan"),
}
COMPONENTS = {
    "n_components = 0": ({"n_components": 0}, ValueError, r"n_components.*\b0\b"),
    "n_components = -1": ({"n_components": -1}, ValueError, r"n_components.*-1"),
    "n_components = 1.5": ({"n_components": 1.5}, ValueError, r"n_components.*1\.5"),
    "n_components = 'x'": ({"n_components": "x"}, ValueError, r"n_components.*'x'"),
    "random_state": ({"random_state": "seed"}, ValueError, r"'seed'"),
}
OF_LPBOOST = {
    "C = inf": ({"C": np.inf}, ValueError, r"C\b.*inf"),
    "nu > 1": ({"nu": 1.5}, ValueError, r"nu.*1\.5"),
    "max_iter = 0": ({"max_iter": 0}, ValueError, r"max_iter.*\b0\b"),
}
OWN = {
    "MultiBoost": {**TOL, **NU},
    "LPBoost": {**TOL, **NU, **C, **ITERATIONS, **SOLVER, **OF_LPBOOST},
    "Gaussian kernel": {**TOL, **C, **KERNEL, **GAMMA},
    "random Fourier": {**TOL, **C, **GAMMA, **COMPONENTS, **ITERATIONS},
}
BAD_PARAMETERS = {
    (rival, name): case
    for rival in RIVALS
    for name, case in {**(COMMON if rival in ON_THE_LOOP else {}), **OWN.get(rival, {})}.items()
}


@pytest.mark.parametrize(("rival", "name"), BAD_PARAMETERS)
def test_bad_parameters(rival, name):
    options, error, pattern = BAD_PARAMETERS[rival, name]
    with pytest.raises(error, match=r"(?s)" + pattern) as raised:
        fit(rival, **options)
    assert_plain_words(str(raised.value))


def test_a_cost_beyond_the_solvers_infinity():
    """For HiGHS 1e20 is infinite, and the program unbounded."""
    with pytest.raises(ValueError, match=r"C\b.*1e\+90") as raised:
        fit("LPBoost", C=1e90)
    assert_plain_words(str(raised.value))


def test_a_bad_solver_is_told_before_highspy_is_missed(monkeypatch):
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(ValueError, match=r"solver.*'simplex'"):
        fit("LPBoost", solver="simplex")


BAD_PREDICTIONS = {
    "fewer features": (X[:, :3], ValueError, r"3 features.*6 features"),
    "more features": (np.column_stack([X, X]), ValueError, r"12 features.*6 features"),
    "NaN": (changed(X, (0, 0), np.nan), ValueError, r"NaN"),
    "inf": (changed(X, (0, 0), np.inf), ValueError, r"infinity"),
    "no rows": (X[:0], ValueError, r"0 sample"),
    "text": (changed(X, (0, 0), "red"), ValueError, r"0.*red"),
    "sparse": (sparse.csr_matrix(X), TypeError, r"(?i)sparse"),
    "one axis": (X[0], ValueError, r"1D array"),
}


@pytest.mark.parametrize("name", BAD_PREDICTIONS)
@every_rival
def test_bad_predictions(rival, name):
    rows, error, pattern = BAD_PREDICTIONS[name]
    model = fit(rival)
    methods = [model.predict, model.decision_function]
    if rival in ON_THE_LOOP:
        staged = (model.staged_predict, model.staged_decision_function)
        methods += [lambda rows, stages=own: next(stages(rows)) for own in staged]
    for method in methods:
        with pytest.raises(error, match=r"(?s)" + pattern) as raised:
            method(rows)
        assert_plain_words(str(raised.value))


@pytest.mark.parametrize("method", ["predict", "decision_function", "score"])
@every_rival
def test_not_fitted(rival, method):
    with pytest.raises(NotFittedError, match=type(RIVALS[rival]).__name__):
        getattr(clone(RIVALS[rival]), method)(*((X, Y) if method == "score" else (X,)))


def test_without_highspy(monkeypatch):
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(ImportError, match=r"pip install 'cgens\[lp\]'.*highspy") as raised:
        fit("LPBoost")
    assert_plain_words(str(raised.value))
    assert len(str(raised.value).split(". ")) == 1
    fit("MultiBoost")


def test_highspy_is_not_needed_for_the_other_rivals():
    script = "import sys; sys.modules['highspy'] = None; import cgens.baselines; print(len(cgens.baselines.__all__))"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (found.stdout.strip(), found.stderr) == ("7", "")


@pytest.mark.parametrize("rival", RIVALS)
def test_check_certificate_knows_no_rivals(rival):
    """It writes the paper's own problems down once more, and no others."""
    model = fit(rival)
    with pytest.raises(TypeError, match=rf"(?i)certificate.*CGEnsClassifier.*{type(model).__name__}") as raised:
        check_certificate(model, X, Y)
    assert_plain_words(str(raised.value))
