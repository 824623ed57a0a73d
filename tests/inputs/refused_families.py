"""Invalid weak learners: their parameters, lists of them, and mistakes of the author of a new family."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cgens.types import Column, Pricing
from cgens.weak_learners import Box, Fourier, Linear, Mixture, Perceptron, SklearnLearner, Stump, Tree
from tests.inputs.estimators import X
from tests.inputs.refusals import INF, NAN, Refusal, refused_fit, shown

FRAME = pd.DataFrame(X, columns=list("abcdef"))
COUNTS = [0, -1, 2.5, "many", None, True, [5]]
#: Families | parameter | values. The message of the ValueError contains all three.
BAD_VALUES: list[tuple[list[type], str, list[Any]]] = [
    ([Stump], "max_bins", [1, 0, 2.5, "all", True]),
    ([Fourier], "gamma", [0, -1.0, NAN, INF, "wide", None, True, [0.1, -1], [[0.1]], 1j, {"a": 1}, float]),
    ([Fourier, Perceptron, Box], "n_candidates", COUNTS),
    ([Fourier, Perceptron, Box], "pool", ["new", None, True, 3, ["fixed"]]),
    ([Fourier, Perceptron], "n_inputs", [0, -1, 2.5, "all", True, [0], [2, "x"], {"a": 1}]),
    ([Fourier, Perceptron], "orthogonal", ["yes", None]),
    ([Fourier, Perceptron], "standardize", ["yes", None]),
    ([Fourier], "draw", ["dense", None, True, ["sparse"]]),
    ([Fourier], "metric", ["flatter", None, True]),
    ([Fourier, Perceptron], "learn", ["no", None, 1, 0, [True]]),
    ([Tree], "max_leaf_nodes", [1, 0, -2, 2.5, "x", None, True]),
    ([Tree], "leaves", ["float", None, 1, ["real"]]),
    ([Tree], "min_samples_leaf", [-1, NAN, INF, "few", None, [2]]),
    ([Tree], "splitter", ["worst", None]),
    ([Tree], "max_samples", [0, -0.5, 1.5, NAN, "half", None]),
    ([Tree], "max_features", [0, -0.5, 1.5, NAN, "half", None, [0.5]]),
    ([Tree], "max_bins", [1, 0, 2.5, "all", None, True]),
    ([Box], "n_thresholds", [0, -1, 2.5, "x", None, True, [0], [2, "x"]]),
]


class ColumnPredictor(DecisionTreeClassifier):
    def predict(self, X):
        return super().predict(X)[:, None]


class TextPredictor(DecisionTreeClassifier):
    def predict(self, X):
        return np.full(len(X), "yes")


#: Weak learners | the exception | a pattern of its message | X, if another one
BAD_WEAK_LEARNERS: list[tuple[Any, ...]] = [
    (Fourier(gamma=[]), ValueError, r"Fourier\b.*\bgamma\b.*empty"),
    (Box(n_thresholds=[]), ValueError, r"Box\b.*\bn_thresholds\b.*empty"),
    *(
        (family(**params), ValueError, rf"{family.__name__}\b.*{pattern}", table)
        for family in (Fourier, Perceptron)
        for params, pattern, table in (
            ({"n_inputs": []}, r"\bn_inputs\b.*empty", X),
            ({"orthogonal": True, "n_inputs": 2}, r"orthogonal=True.*n_inputs=\[?2\b", X),
            ({}, r"e\+200.*standardize=True", 1e200 * X),
            ({}, r"e-200.*standardize=True", 1e-200 * X),
        )
    ),
    *(
        (Fourier(**params), ValueError, pattern)
        for params, pattern in (
            ({"draw": "pairs", "learn": True}, r"Fourier: draw='pairs'.*learn=True"),
            ({"metric": "learned", "learn": True}, r"Fourier: metric='learned'.*learn=True"),
            ({"draw": "sparse", "orthogonal": True}, r"Fourier: draw='sparse'.*orthogonal=True"),
            ({"draw": "pairs", "n_inputs": 2}, r"Fourier: n_inputs=2 with draw='pairs' needs draw='sparse'"),
            ({"metric": "learned", "n_inputs": [1, 2]}, r"Fourier: n_inputs=\[1, 2\].*needs draw='sparse'"),
            ({"draw": "pairs", "gamma": 0.3}, r"Fourier: draw='pairs'.*gamma=0.3"),
        )
    ),
    (
        Fourier(metric="learned"),
        ValueError,
        r"Fourier\(metric='learned'\) does not accept sparse X.*toarray",
        sparse.csr_matrix(X),
    ),
    *((SklearnLearner(own), TypeError, rf"SklearnLearner\b.*{shown(own)}") for own in (None, 3, "tree")),
    (SklearnLearner(DecisionTreeClassifier), TypeError, r"SklearnLearner\b.*classifier.*class.*DecisionTreeClassifier"),
    (SklearnLearner(LinearRegression()), TypeError, r"SklearnLearner\b.*LinearRegression"),
    (SklearnLearner(DecisionTreeRegressor()), TypeError, r"SklearnLearner\b.*DecisionTreeRegressor"),
    (SklearnLearner(KNeighborsClassifier()), TypeError, r"SklearnLearner\b.*KNeighborsClassifier.*sample_weight"),
    (SklearnLearner(ColumnPredictor()), ValueError, r"SklearnLearner\b.*ColumnPredictor\b.*90\b.*\(90, 1\)"),
    (SklearnLearner(TextPredictor()), ValueError, r"SklearnLearner\b.*TextPredictor\b.*-1 and 1.*'yes'"),
    ([("stump", [-7])], ValueError, r"'stump'.*-7\b.*\b6\b"),
    ([("tree", ["a", "z"])], ValueError, r"'tree'.*'z'", FRAME),
    ([("tree", ["a"])], ValueError, r"'tree'.*'a'.*DataFrame"),
    ([("tree", ["a"])], ValueError, r"'tree'.*'a'.*DataFrame", pd.DataFrame(X)),
    ([("tree", [0]), ("tree", [9])], ValueError, r"'tree-2'.*\b9\b"),
    ([("linear", [])], ValueError, r"'linear'.*empty"),
    *(([("linear", own)], TypeError, r"'linear'.*integers.*(2\.5|True|False)") for own in ([2.5], 2.5, True, X[0] > 0)),
    (Mixture([]), ValueError, r"(?i)mixture.*empty"),
    (Mixture("stump"), TypeError, r"(?i)mixture.*list.*'stump'"),
    (Mixture(None), TypeError, r"(?i)mixture.*list.*None"),
    (["stump", 3], TypeError, r"weak_learner.*\b3\b"),
    ([None], TypeError, r"weak_learner.*None"),
    ([Stump], TypeError, r"weak_learner.*class.*Stump"),
    (["stump", "stamp"], ValueError, r"weak_learner.*'stamp'"),
    ([("stamp", [0])], ValueError, r"weak_learner.*'stamp'"),
    ([([0], "stump")], TypeError, r"weak_learner.*\[0\]"),
    ([("stump", [0], 1)], TypeError, r"list.*\('stump', \[0\], 1\)"),
    ([("stump",)], TypeError, r"list.*\('stump',\)"),
    (("stump", "tree"), TypeError, r"list.*\('stump', 'tree'\)"),
    ([Fourier(gamma=-1)], ValueError, r"Fourier: gamma.*-1"),
]


class Spoilt(BaseEstimator):
    """A family with a mistake: from the third round on it returns the result of `spoil`.

    `spoil` gets the correct column and that of the first round.
    """

    def __init__(self, spoil: Callable[[Column, Column], Any]):
        self.spoil = spoil

    def begin(self, sample, rng, n_threads):
        self.pricer = Linear().begin(sample, rng, n_threads)
        return self

    def price(self, duals, taken, rule):
        found = self.pricer.price(duals, taken, rule)
        self.first = self.first if taken else found.column
        return found if len(taken) < 2 else self.spoil(found.column, self.first)


def with_response(change: Callable[[np.ndarray], Any], factor: float = 1.0) -> Callable[[Column, Column], Pricing]:
    return lambda own, first: Pricing(replace(own, response=change(own.response), price=float(own.price * factor)))


def with_fourth(value: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda response: np.where(np.arange(90) == 3, value, response)


MISTAKES: dict[str, tuple[Callable[[Column, Column], Any], type[Exception], str]] = {
    "NaN": (with_response(with_fourth(NAN), NAN), ValueError, r"response.*\bnan\b.*row 3\b"),
    "infinity": (with_response(with_fourth(INF), INF), ValueError, r"response.*\binf\b.*row 3\b"),
    "NaN, good price": (with_response(with_fourth(NAN)), ValueError, r"response.*\bnan\b.*row 3\b"),
    "infinity, good price": (with_response(with_fourth(INF)), ValueError, r"response.*\binf\b.*row 3\b"),
    "price of NaN": (with_response(np.array, NAN), ValueError, r"price.*\bnan\b"),
    "price of inf": (with_response(np.array, INF), ValueError, r"price.*\binf\b"),
    "two axes": (with_response(lambda h: h[:, None]), ValueError, r"shape.*\(90, 1\).*\(90,\)"),
    "too short": (with_response(lambda h: h[1:]), ValueError, r"shape.*\(89,\).*\(90,\)"),
    "scalar": (with_response(lambda h: h[0]), ValueError, r"shape.*\(\).*\(90,\)"),
    "list": (with_response(np.ndarray.tolist), TypeError, r"list.*array"),
    "integers": (with_response(lambda h: np.sign(h).astype(int)), TypeError, r"int64.*int8"),
    "booleans": (with_response(lambda h: h > 0), TypeError, r"bool.*int8"),
    "energy of NaN": (lambda own, first: Pricing(own, 6, NAN), ValueError, r"price.*energy=nan"),
    "energy below 0": (lambda own, first: Pricing(own, 6, -1.0), ValueError, r"price.*energy=-1\.0"),
    "energy of 0": (lambda own, first: Pricing(own, 6, 0.0), ValueError, r"Spoilt\b.*lower bound.*objective"),
    "taken key": (lambda own, first: Pricing(replace(own, learner=first.learner)), ValueError, r"learner.*taken"),
}


def of_families() -> Iterator[Refusal]:
    who = "CGEnsClassifier"
    for families, parameter, values in BAD_VALUES:
        for own in [family(**{parameter: value}) for family in families for value in values]:
            pattern = rf"{type(own).__name__}\b.*\b{parameter}\b.*{shown(getattr(own, parameter))}"
            yield refused_fit(who, f"{own!r}", ValueError, pattern, {"weak_learner": own})
    for own, error, pattern, *table in BAD_WEAK_LEARNERS:
        yield refused_fit(who, f"{own!r}", error, pattern, {"weak_learner": own}, X=table[0] if table else X)
    for mistake, (spoil, error, pattern) in MISTAKES.items():
        for loss in ("hinge", "least_squares"):
            for own in (Spoilt(spoil), [Spoilt(spoil)]):
                params = {"weak_learner": own, "loss": loss}
                what = f"{mistake}, {loss}, {type(own).__name__}"
                yield refused_fit(who, what, error, rf"Round 3\b.*{pattern}", params)
    for returned, spoil in (("None", lambda own, first: None), (r"\(1, 2\)", lambda own, first: (1, 2))):
        for own in (Spoilt(spoil), [Spoilt(spoil)]):
            pattern, what = (
                rf"Round 3\b.*Spoilt\.price.*Pricing.*{returned}",
                f"price is {returned}, {type(own).__name__}",
            )
            yield refused_fit(who, what, TypeError, pattern, {"weak_learner": own})


REFUSED_FAMILIES = list(of_families())
