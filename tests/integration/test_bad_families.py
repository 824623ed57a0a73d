"""Bad input to the families: one clear sentence that names the family, the parameter or column, and the value."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cgens import CGEnsClassifier, CGEnsClassifierCV
from cgens.types import Column, Pricing
from cgens.weak_learners import Box, Fourier, Linear, Mixture, Perceptron, SklearnLearner, Stump, Tree
from tests.integration.family_fits import X, Y, assert_refused, fit

FRAME = pd.DataFrame(X, columns=list("abcdef"))


# --- bad lists


BAD_LISTS = {
    "column beyond the last": (lambda: fit([("stump", [6])]), ValueError, r"'stump'.*column 6.*X has 6"),
    "column before the first": (lambda: fit([("stump", [-7])]), ValueError, r"'stump'.*column -7.*X has 6"),
    "column of no name": (lambda: fit([("tree", ["a", "z"])], FRAME), ValueError, r"'tree'.*column 'z'"),
    "names without a frame": (lambda: fit([("tree", ["a"])]), ValueError, r"'tree'.*'a'.*DataFrame.*numbers"),
    "names, but the frame has numbers": (
        lambda: fit([("tree", ["a"])], pd.DataFrame(X)), ValueError, r"'tree'.*'a'.*DataFrame"
    ),
    "the second of two": (
        lambda: fit([("tree", [0]), ("tree", [9])]), ValueError, r"'tree-2'.*column 9"
    ),
    "no columns": (lambda: fit([("linear", [])]), ValueError, r"'linear'.*no column.*empty"),
    "columns of 2.5": (lambda: fit([("linear", [2.5])]), TypeError, r"'linear'.*names or integers.*2\.5"),
    "column 2.5": (lambda: fit([("linear", 2.5)]), TypeError, r"'linear'.*names or integers.*2\.5"),
    "column True": (lambda: fit([("linear", True)]), TypeError, r"'linear'.*names or integers.*True"),
    "columns as a mask": (lambda: fit([("linear", X[0] > 0)]), TypeError, r"'linear'.*names or integers.*(True|False)"),
    "empty list": (lambda: fit([]), ValueError, r"mixture.*at least one.*empty"),
    "empty mixture": (lambda: fit(Mixture([])), ValueError, r"mixture.*at least one.*empty"),
    "number in a list": (lambda: fit(["stump", 3]), TypeError, r"weak_learner.*got 3"),
    "None in a list": (lambda: fit([None]), TypeError, r"weak_learner.*None"),
    "class in a list": (lambda: fit([Stump]), TypeError, r"weak_learner.*class.*Stump"),
    "unknown name in a list": (lambda: fit(["stump", "stamp"]), ValueError, r"weak_learner.*'stamp'"),
    "unknown name in a pair": (lambda: fit([("stamp", [0])]), ValueError, r"weak_learner.*'stamp'"),
    "pair the wrong way round": (lambda: fit([([0], "stump")]), TypeError, r"weak_learner.*got"),
    "three in a tuple": (lambda: fit([("stump", [0], 1)]), TypeError, r"got \('stump', \[0\], 1\)"),
    "one in a tuple": (lambda: fit([("stump",)]), TypeError, r"got \('stump',\)"),
    "tuple instead of a list": (lambda: fit(("stump", "tree")), TypeError, r"list.*got \('stump', 'tree'\)"),
    "Mixture of a name": (lambda: fit(Mixture("stump")), TypeError, r"mixture.*list.*got 'stump'"),
    "Mixture of None": (lambda: fit(Mixture(None)), TypeError, r"mixture.*list.*None"),
    "parameter of a family in a list": (lambda: fit([Fourier(gamma=-1)]), ValueError, r"Fourier: gamma.*-1"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_LISTS)
def test_bad_lists(name):
    act, error, pattern = BAD_LISTS[name]
    assert_refused(error, pattern, act)


def test_columns_that_do_not_exist_are_refused_by_a_search_too():
    with pytest.raises(ValueError, match=r"'stump'.*column 6"):
        CGEnsClassifierCV([("stump", [6])], Cs=2, n_estimators=5, cv=3).fit(X, Y)


def test_a_mixture_within_a_list_knows_the_names_of_columns():
    assert fit(["stump", Mixture([(Linear(), ["a", "b"])])], FRAME).n_columns_ == 8


def test_a_bad_mixture_can_be_written_down_and_asked_for_its_parameters():
    """As all estimators: the constructor only stores, and fit complains."""
    model = CGEnsClassifier(Mixture(["stump"]))
    assert "stump" in repr(model)
    assert model.get_params()["weak_learner__families"] == ["stump"]


def test_a_refused_family_leaves_the_model_as_it_was():
    model = fit("stump")
    before = model.decision_function(X).tobytes()
    with pytest.raises(ValueError, match="gamma"):
        model.set_params(weak_learner=Fourier(gamma=-1)).fit(X, Y)
    assert model.decision_function(X).tobytes() == before


# --- bad parameters

COUNTS = [0, -1, 2.5, "many", None, True, [5]]
SWITCHES = ["yes", None]
INPUTS = [0, -1, 2.5, "all", True, [0], [2, "x"], {"a": 1}]
POOLS = ["new", None, True, 3, ["fixed"]]
LEARN = ["no", None, 1, 0, [True]]

BAD_PARAMETERS = {
    Stump: {"max_bins": [1, 2.5, "all", True]},
    Fourier: {
        "gamma": [0, -1.0, np.nan, np.inf, "wide", None, True, [0.1, -1], [[0.1]], 1j, {"a": 1}, float],
        "n_candidates": COUNTS,
        "pool": POOLS,
        "n_inputs": INPUTS,
        "orthogonal": SWITCHES,
        "standardize": SWITCHES,
        "learn": LEARN,
    },
    Perceptron: {
        "n_candidates": COUNTS,
        "pool": POOLS,
        "n_inputs": INPUTS,
        "orthogonal": SWITCHES,
        "standardize": SWITCHES,
        "learn": LEARN,
    },
    Tree: {
        "max_leaf_nodes": [1, 0, -2, 2.5, "x", None, True],
        "leaves": ["float", None, 1, ["real"]],
        "min_samples_leaf": [-1, np.nan, np.inf, "few", None, [2]],
        "max_features": [0, -0.5, 1.5, np.nan, "half", None, [0.5]],
        "max_bins": [1, 0, 2.5, "all", None, True],
    },
    Box: {"n_thresholds": [0, -1, 2.5, "x", None, True, [0], [2, "x"]], "n_candidates": COUNTS, "pool": POOLS},
    SklearnLearner: {"estimator": [None, 3, "tree", DecisionTreeClassifier]},
}


@pytest.mark.parametrize(
    ("family", "parameter", "value"),
    [
        pytest.param(family, parameter, value, id=f"{family.__name__}({parameter}={value!r})")
        for family, parameters in BAD_PARAMETERS.items()
        for parameter, bad in parameters.items()
        for value in bad
    ],
)
def test_bad_parameters(family, parameter, value):
    named = "" if family is SklearnLearner else f".*{parameter}"  # it has only one
    pattern = rf"{family.__name__}{named}.*{re.escape(repr(value))}"
    assert_refused((ValueError, TypeError), pattern, lambda: fit(family(**{parameter: value})))


@pytest.mark.parametrize(
    ("family", "parameter"),
    [(Fourier, "gamma"), (Fourier, "n_inputs"), (Perceptron, "n_inputs"), (Box, "n_thresholds")],
)
def test_an_empty_list_to_draw_from(family, parameter):
    assert_refused(ValueError, rf"{family.__name__}: {parameter}.*empty", lambda: fit(family(**{parameter: []})))


@pytest.mark.parametrize("family", [Fourier, Perceptron])
def test_orthogonal_directions_of_few_inputs(family):
    pattern = rf"{family.__name__}: orthogonal=True.*n_inputs=\[?2\b"
    assert_refused(ValueError, pattern, lambda: fit(family(orthogonal=True, n_inputs=2)))


def test_more_inputs_than_features_are_all_of_them():
    assert all(np.all(own.theta != 0) for own in fit(Fourier(n_inputs=50, learn=False)).ensemble_.learners)


def test_numpy_numbers_are_numbers():
    family = Fourier(np.float32(0.5), np.int64(50), n_inputs=np.int32(2), standardize=np.True_, learn=np.False_)
    assert fit(family).n_columns_ == 8
    assert fit(Tree(np.int64(4), max_features=np.float32(0.5), min_samples_leaf=np.int64(2))).n_columns_ == 8


# --- a user's own weak learner


@dataclass(frozen=True)
class Own:
    """h(x) = sign x[feature]."""

    feature: int
    sign: int = 1

    @property
    def key(self):
        return ("own", self.feature)

    def respond(self, X):
        return self.sign * X[:, self.feature]

    def negated(self):
        return replace(self, sign=-self.sign)


class OwnFamily(BaseEstimator):
    """The features in order; from the third round on, what it finds goes through `damage`."""

    def __init__(self, damage, sign):
        self.damage, self.sign = damage, sign

    def begin(self, sample, rng, n_threads):
        return OwnPricer(self.damage, self.sign, sample.matrix())


class OwnPricer:
    def __init__(self, damage, sign, X):
        self.damage, self.sign, self.X = damage, sign, X

    def price(self, duals, taken, rule):
        learner = Own(len(taken))
        response = learner.respond(self.X)
        score = self.sign * abs(float(response @ duals.array[:, 0]))
        column = Column(learner, response, score)
        return Pricing(column) if len(taken) < 2 else self.damage(column)


def with_response(change):
    return lambda column: Pricing(replace(column, response=change(column.response)))


def with_fourth(value):
    """Damage one number of the response, as a user's own price would feel it: the price is damaged with it."""

    def damage(column):
        response = column.response.copy()
        response[3] = value
        return Pricing(replace(column, response=response, score=float(column.score * value)))

    return damage


def with_fourth_and_a_good_price(value):
    return with_response(lambda response: np.where(np.arange(len(response)) == 3, value, response))


DAMAGE = {
    "NaN": (with_fourth(np.nan), ValueError, r"response is nan at row 3 "),
    "NaN with a good price": (with_fourth_and_a_good_price(np.nan), ValueError, r"response is nan at row 3 "),
    "infinity": (with_fourth(np.inf), ValueError, r"response is inf at row 3 "),
    "infinity with a good price": (with_fourth_and_a_good_price(np.inf), ValueError, r"response is inf at row 3 "),
    "price of NaN": (lambda column: Pricing(replace(column, score=np.nan)), ValueError, r"price of the column is nan"),
    "column vector": (with_response(lambda response: response[:, None]), ValueError, r"shape \(90, 1\), not \(90,\)"),
    "too short": (with_response(lambda response: response[1:]), ValueError, r"shape \(89,\), not \(90,\)"),
    "scalar": (with_response(lambda response: response[0]), ValueError, r"shape \(\), not \(90,\)"),
    "list": (with_response(lambda response: response.tolist()), TypeError, r"list.*NumPy array"),
    "integers": (with_response(lambda response: np.sign(response).astype(int)), TypeError, r"int64.*int8"),
    "booleans": (with_response(lambda response: response > 0), TypeError, r"bool.*int8"),
    "taken key": (lambda column: Pricing(replace(column, learner=Own(0))), ValueError, r"Own\(feature=0.*taken"),
}


@pytest.mark.parametrize("loss", ["hinge", "least_squares"])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", DAMAGE)
def test_a_broken_promise_of_a_users_family(name, sign, loss):
    damage, error, pattern = DAMAGE[name]
    assert_refused(error, rf"Round 3 \(Own\).*{pattern}", lambda: fit(OwnFamily(damage, sign), loss=loss))


@pytest.mark.parametrize("loss", ["hinge", "least_squares"])
@pytest.mark.parametrize("name", [name for name in DAMAGE if name != "booleans"])
def test_a_broken_promise_within_a_list(name, loss):
    damage, error, pattern = DAMAGE[name]
    assert_refused(error, rf"Round 3 \(Own\).*{pattern}", lambda: fit([OwnFamily(damage, 1)], loss=loss))


@pytest.mark.parametrize("listed", [False, True])
def test_a_price_that_is_no_pricing(listed):
    family = OwnFamily(lambda column: None, 1)
    assert_refused(TypeError, r"OwnPricer\.price.*Pricing.*None", lambda: fit([family] if listed else family))


def test_an_unbroken_one_is_fitted():
    assert fit(OwnFamily(Pricing, 1), n_estimators=5).n_columns_ == 5


# --- scikit-learn's classifiers


class ColumnPredictor(DecisionTreeClassifier):
    def predict(self, X):
        return super().predict(X)[:, None]


class TextPredictor(DecisionTreeClassifier):
    def predict(self, X):
        return np.full(len(X), "yes")


BAD_ESTIMATORS = {
    "class": (DecisionTreeClassifier, TypeError, r"classifier.*class.*DecisionTreeClassifier"),
    "linear regressor": (LinearRegression(), (TypeError, ValueError), r"LinearRegression"),
    "regressor that says -1 and 1": (DecisionTreeRegressor(), (TypeError, ValueError), r"DecisionTreeRegressor"),
    "no sample_weight": (KNeighborsClassifier(), TypeError, r"KNeighborsClassifier.*sample_weight"),
    "predictions of the wrong shape": (
        ColumnPredictor(max_depth=2),
        ValueError,
        r"ColumnPredictor.*90 rows.*\(90, 1\)",
    ),
    "predictions of text": (TextPredictor(max_depth=2), ValueError, r"TextPredictor.*-1 and 1.*'yes'"),
}


@pytest.mark.parametrize("name", BAD_ESTIMATORS)
def test_bad_estimators(name):
    estimator, error, pattern = BAD_ESTIMATORS[name]
    assert_refused(error, rf"SklearnLearner.*{pattern}", lambda: fit(SklearnLearner(estimator)))
