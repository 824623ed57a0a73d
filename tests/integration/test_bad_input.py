"""Bad input gets one clear sentence with the offending value in it: no crash, no silent wrong model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from cgens import CGEnsClassifier
from cgens.weak_learners import Stump
from tests.integration.small_data import noisy
from tests.sentences import assert_plain_words

X, Y = noisy()


def changed(values, index, value):
    copy = np.array(values, dtype=object if isinstance(value, str) else None)
    copy[index] = value
    return copy


def fit(X=X, y=Y, weight=None, **options):
    return CGEnsClassifier(**{"n_estimators": 5, **options}).fit(X, y, sample_weight=weight)


def fitted():
    return fit()


# What is done | the exception | what its sentence says: the value, or where it is.
BAD_DATA = {
    "NaN": (lambda: fit(changed(X, (3, 2), np.nan)), ValueError, "NaN"),
    "inf": (lambda: fit(changed(X, (3, 2), np.inf)), ValueError, "infinity"),
    "-inf": (lambda: fit(changed(X, (3, 2), -np.inf)), ValueError, "infinity"),
    "NaN in float32": (lambda: fit(changed(X, (3, 2), np.nan).astype(np.float32)), ValueError, "NaN"),
    "NaN in y": (lambda: fit(y=changed(Y.astype(float), 3, np.nan)), ValueError, "NaN"),
    "one class": (lambda: fit(y=np.full(len(Y), 7)), ValueError, r"1 class.*7"),
    "real-valued target": (lambda: fit(y=X[:, 0]), ValueError, "continuous"),
    "two outputs": (lambda: fit(y=np.column_stack([Y, 2 * Y])), ValueError, r"2 columns.*MultiOutputClassifier"),
    "y too short": (lambda: fit(y=Y[:-1]), ValueError, r"90.*89"),
    "y too long": (lambda: fit(X[:-2]), ValueError, r"88.*90"),
    "no y": (lambda: fit(y=None), ValueError, "y"),
    "weights too short": (lambda: fit(weight=np.ones(89)), ValueError, r"89"),
    "negative weight": (lambda: fit(weight=changed(np.ones(90), 3, -1.0)), ValueError, "(?i)negative"),
    "NaN weight": (lambda: fit(weight=changed(np.ones(90), 3, np.nan)), ValueError, "NaN"),
    "inf weight": (lambda: fit(weight=changed(np.ones(90), 3, np.inf)), ValueError, "infinity"),
    "all weights zero": (lambda: fit(weight=np.zeros(90)), ValueError, "(?i)weight"),
    "one class of zero weight": (lambda: fit(weight=Y.astype(float)), ValueError, r"(?i)two classes.*weight.*1 class"),
    "weights that add up to inf": (lambda: fit(weight=np.full(90, 1e308)), ValueError, "weight"),
    "no rows": (lambda: fit(X[:0], Y[:0]), ValueError, r"0 sample"),
    "no features": (lambda: fit(X[:, :0]), ValueError, r"0 feature"),
    "one axis": (lambda: fit(X[:, 0]), ValueError, "1D array"),
    "three axes": (lambda: fit(X[:, :, None]), ValueError, "dim 3"),
    "single row": (lambda: fit(X[:1], Y[:1]), ValueError, "1 class"),
    "complex": (lambda: fit(X.astype(complex)), ValueError, "(?i)complex"),
    "sparse": (lambda: fit(sparse.csr_matrix(X)), TypeError, "(?i)sparse.*toarray"),
    "text": (lambda: fit(changed(X, (3, 2), "red")), ValueError, r"2.*red"),
    "text array": (lambda: fit(X.astype(str)[:, :1] + "kg"), ValueError, r"kg"),
    "list of text": (lambda: fit([["a", "b"], ["c", "d"]], [0, 1]), ValueError, r"'?a'?"),
    "None": (lambda: fit(None), ValueError, "None|scalar"),
    "dates": (lambda: fit(np.array([["2020-01-01"], ["2021-01-01"]], dtype="M8[D]"), [0, 1]), TypeError, r"0.*numeric"),
    "object in X": (lambda: fit(np.array([[1.0], [{}]], dtype=object), [0, 1]), TypeError, r"dict"),
    "text column": (
        lambda: fit(pd.DataFrame({"size": X[:, 0], "colour": ["red"] * 90}), Y), ValueError, r"'colour'.*'red'"
    ),
    "category column": (
        lambda: fit(pd.DataFrame({"kind": pd.Categorical(["u", "v"] * 45)})), ValueError, r"'kind'.*'u'"
    ),
    "date column": (
        lambda: fit(pd.DataFrame({"day": pd.date_range("2020-01-01", periods=90)})), TypeError, r"'day'"
    ),
    "missing value in a frame": (
        lambda: fit(pd.DataFrame({"a": changed(X[:, 0], 3, np.nan)}), Y), ValueError, "NaN"
    ),
    "nullable value in a frame": (
        lambda: fit(pd.DataFrame({"a": pd.array([1, None] * 45, dtype="Int64")}), Y), ValueError, "NaN|NA"
    ),
}  # fmt: skip

BAD_PARAMETERS = {
    "C = 0": ({"C": 0}, ValueError, r"C .*\b0\b"),
    "C < 0": ({"C": -1.5}, ValueError, r"C .*-1\.5"),
    "C = NaN": ({"C": np.nan}, ValueError, r"C .*nan"),
    "C = inf": ({"C": np.inf}, ValueError, r"C .*inf"),
    "C = 'foo'": ({"C": "foo"}, ValueError, r"C .*'foo'"),
    "C = None": ({"C": None}, ValueError, r"C .*None"),
    "C = True": ({"C": True}, ValueError, r"C .*True"),
    "C = [1]": ({"C": [1.0]}, ValueError, r"C .*\[1\.0\]"),
    "n_estimators = 0": ({"n_estimators": 0}, ValueError, r"n_estimators.*\b0\b"),
    "n_estimators = -3": ({"n_estimators": -3}, ValueError, r"n_estimators.*-3"),
    "n_estimators = 2.5": ({"n_estimators": 2.5}, ValueError, r"n_estimators.*2\.5"),
    "n_estimators = 'many'": ({"n_estimators": "many"}, ValueError, r"n_estimators.*'many'"),
    "n_estimators = None": ({"n_estimators": None}, ValueError, r"n_estimators.*None"),
    "tol = 0": ({"tol": 0.0}, ValueError, r"tol.*0\.0"),
    "tol < 0": ({"tol": -1e-3}, ValueError, r"tol.*-0\.001"),
    "tol = NaN": ({"tol": np.nan}, ValueError, r"tol.*nan"),
    "tol = 'x'": ({"tol": "x"}, ValueError, r"tol.*'x'"),
    "loss": ({"loss": "logarithmic"}, ValueError, r"loss.*'logarithmic'"),
    "loss of a regressor": ({"loss": "squared"}, ValueError, r"loss.*'least_squares'.*'squared'"),
    "pricing": ({"pricing": "cheap"}, ValueError, r"pricing.*'max'.*'cheap'"),
    "pricing = None": ({"pricing": None}, ValueError, r"pricing.*None"),
    "pricing for the hinge loss": ({"pricing": "gain"}, ValueError, r"pricing='gain'.*hinge"),
    "weak_learner": ({"weak_learner": "stamp"}, ValueError, r"weak_learner.*stump.*'stamp'"),
    "weak_learner of no kind": ({"weak_learner": 3}, TypeError, r"weak_learner.*begin.*\b3\b"),
    "weak_learner class": ({"weak_learner": Stump}, TypeError, r"weak_learner.*Stump\(\)"),
    "max_bins = 1": ({"weak_learner": Stump(1)}, ValueError, r"max_bins.*\b1\b"),
    "max_bins = 0": ({"weak_learner": Stump(0)}, ValueError, r"max_bins.*\b0\b"),
    "max_bins = 2.5": ({"weak_learner": Stump(2.5)}, ValueError, r"max_bins.*2\.5"),
    "max_bins = 'all'": ({"weak_learner": Stump("all")}, ValueError, r"max_bins.*'all'"),
    "max_bins = True": ({"weak_learner": Stump(True)}, ValueError, r"max_bins.*True"),
    "n_jobs = 0": ({"n_jobs": 0}, ValueError, r"n_jobs.*\b0\b"),
    "n_jobs = 1.5": ({"n_jobs": 1.5}, ValueError, r"n_jobs.*1\.5"),
    "class_weight": ({"class_weight": "fair"}, ValueError, r"class_weight.*'fair'"),
    "class_weight of no class": ({"class_weight": {5: 1.0}}, ValueError, r"class"),
    "class_weight < 0": ({"class_weight": {0: -1.0, 1: 1.0}}, ValueError, r"class_weight.*-1\.0"),
    "class_weight = 0": ({"class_weight": {0: 0.0, 1: 1.0}}, ValueError, r"weight"),
    "class_weight = NaN": ({"class_weight": {0: np.nan, 1: 1.0}}, ValueError, r"class_weight.*nan"),
    "class_weight = inf": ({"class_weight": {0: np.inf, 1: 1.0}}, ValueError, r"class_weight.*inf"),
    "random_state": ({"random_state": "seed"}, ValueError, r"'seed'"),
}

BAD_PREDICTIONS = {
    "fewer features": (lambda: fitted().predict(X[:, :3]), ValueError, r"3 features.*6 features"),
    "more features": (lambda: fitted().predict(np.column_stack([X, X])), ValueError, r"12 features.*6 features"),
    "NaN": (lambda: fitted().predict(changed(X, (0, 0), np.nan)), ValueError, "NaN"),
    "inf": (lambda: fitted().predict(changed(X, (0, 0), np.inf)), ValueError, "infinity"),
    "no rows": (lambda: fitted().predict(X[:0]), ValueError, r"0 sample"),
    "text": (lambda: fitted().predict(changed(X, (0, 0), "red")), ValueError, r"0.*red"),
    "sparse": (lambda: fitted().predict(sparse.csr_matrix(X)), TypeError, "(?i)sparse"),
    "one axis": (lambda: fitted().predict(X[0]), ValueError, "1D array"),
    "stages of fewer features": (lambda: next(fitted().staged_predict(X[:, :3])), ValueError, r"3 features"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_DATA)
def test_bad_data(name):
    act, error, pattern = BAD_DATA[name]
    with pytest.raises(error, match=r"(?s)" + pattern) as raised:
        act()
    assert_plain_words(str(raised.value))


@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_bad_parameters(name):
    options, error, pattern = BAD_PARAMETERS[name]
    with pytest.raises(error, match=pattern) as raised:
        fit(**options)
    assert_plain_words(str(raised.value))


@pytest.mark.parametrize("name", BAD_PREDICTIONS)
def test_bad_predictions(name):
    act, error, pattern = BAD_PREDICTIONS[name]
    with pytest.raises(error, match=r"(?s)" + pattern) as raised:
        act()
    assert_plain_words(str(raised.value))


@pytest.mark.parametrize("method", ["predict", "decision_function"])
def test_not_fitted(method):
    with pytest.raises(NotFittedError, match="CGEnsClassifier"):
        getattr(CGEnsClassifier(), method)(X)
    assert not hasattr(CGEnsClassifier(), "feature_importances_")


def test_warm_start_with_fewer_columns():
    model = fit(n_estimators=8, warm_start=True)
    with pytest.raises(ValueError, match=r"n_estimators=5.*8 columns"):
        model.set_params(n_estimators=5).fit(X, Y)
    assert model.n_columns_ == 8


def test_warm_start_with_other_features():
    model = fit(n_estimators=8, warm_start=True)
    with pytest.raises(ValueError, match=r"features"):
        model.set_params(n_estimators=9).fit(X[:, :1], Y)


def test_one_row_of_a_third_class_is_no_error():
    model = fit(y=changed(Y, 3, 9))
    assert model.classes_.tolist() == [0, 1, 9]
    assert model.decision_function(X).shape == (90, 3)


@pytest.mark.parametrize("C", [1e300, 1e-300])
def test_an_objective_beyond_all_numbers(C):
    """A legal number, but the squares of its duals are none."""
    with pytest.raises(ValueError, match=rf"C .*{C:.3g}".replace("+", r"\+")):
        fit(C=C)
