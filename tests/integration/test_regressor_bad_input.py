"""Bad input of the regressor gets one sentence, and leaves the model as it was."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from cgens import CGEnsRegressor
from cgens.weak_learners import Stump
from tests.integration.regression import SEVERAL, X, Y, fit


def changed(values, index, value):
    copy = np.array(values, dtype=object if isinstance(value, str) else None)
    copy[index] = value
    return copy


# What is done | what its sentence says: the value, or where it is.
BAD = {
    "NaN in y": (lambda: fit(y=changed(Y, 3, np.nan)), "NaN"),
    "NaN in one of several": (lambda: fit(y=changed(SEVERAL, (3, 1), np.nan)), "NaN"),
    "inf in y": (lambda: fit(y=changed(Y, 3, np.inf)), "infinity"),
    "-inf in y": (lambda: fit(y=changed(Y, 3, -np.inf)), "infinity"),
    "text in y": (lambda: fit(y=np.array(["a", "b"])[(Y > 3).astype(int)]), r"numbers.*'?[ab]'?.*CGEnsClassifier"),
    "one text in y": (lambda: fit(y=changed(Y, 3, "red")), r"numbers.*red"),
    "complex y": (lambda: fit(y=Y + 1j), "(?i)complex"),
    "y too large": (lambda: fit(y=Y * 1e200), r"target.*e\+200.*multiply"),
    "y too large for its squares": (lambda: fit(y=Y * 1e150), r"target.*e\+15.*multiply"),
    "y too large for squares of its squares": (lambda: fit(y=Y * 1e300), r"target.*e\+30.*multiply"),
    "no y": (lambda: fit(y=None), "y"),
    "y too short": (lambda: fit(y=Y[:-1]), r"120.*119"),
    "y of three axes": (lambda: fit(y=Y[:, None, None]), "dim 3"),
    "y of no columns": (lambda: fit(y=np.empty((120, 0))), "0 feature|0 column"),
    "sparse y": (lambda: fit(y=sparse.csr_matrix(SEVERAL)), "(?i)sparse"),
    "NaN in X": (lambda: fit(changed(X, (3, 2), np.nan)), r"NaN.*row 3, column 2"),
    "all weights zero": (lambda: fit(weight=np.zeros(120)), "(?i)weight"),
    "negative weight": (lambda: fit(weight=changed(np.ones(120), 3, -1.0)), "(?i)negative"),
    "weights too short": (lambda: fit(weight=np.ones(119)), "119"),
    "no rows": (lambda: fit(X[:0], Y[:0]), "0 sample"),
    "unknown loss": (lambda: fit(loss="hinge"), r"loss.*'squared'.*'hinge'"),
    "unknown pricing": (lambda: fit(pricing="best"), r"pricing.*'gain'.*'best'"),
    "pricing = None": (lambda: fit(pricing=None), r"pricing.*None"),
    "C = 0": (lambda: fit(C=0), r"C .*\b0\b"),
    "C = 'auto'": (lambda: fit(C="auto"), r"C .*'auto'"),
    "C beyond all numbers": (lambda: fit(C=1e300), r"C .*1e\+300"),
    "n_estimators = 0": (lambda: fit(n_estimators=0), r"n_estimators.*\b0\b"),
    "tol = 0": (lambda: fit(tol=0), r"tol.*\b0\b"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence(name):
    act, pattern = BAD[name]
    with pytest.raises((ValueError, TypeError), match=r"(?s)" + pattern) as raised:
        act()
    assert "incompatible function arguments" not in str(raised.value)


def test_not_fitted():
    with pytest.raises(NotFittedError, match="CGEnsRegressor"):
        CGEnsRegressor().predict(X)
    assert not hasattr(CGEnsRegressor(), "feature_importances_")
    assert not hasattr(CGEnsRegressor(), "decision_function")


@pytest.mark.parametrize("broken", [{"C": -1.0}, {"n_estimators": 0}, {"weak_learner": Stump(1)}, {"pricing": "?"}])
def test_a_fit_that_fails_leaves_the_model_as_it_was(broken):
    model = fit(X, SEVERAL)
    before = model.predict(X)
    with pytest.raises(ValueError, match=r"\w"):
        model.set_params(**broken).fit(X[:, :2], Y)
    assert model.n_features_in_ == 4
    assert model.n_outputs_ == 3
    assert model.predict(X).tobytes() == before.tobytes()
