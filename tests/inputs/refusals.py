"""Invalid calls: one row per mistake, for all estimators with which it can be made.

A row lists the estimators, the parameters and data or the method, the exception, and a regular expression for its
message: the parameter or the position, the value, and the advice, if any.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from cgens.inspection import check_certificate
from cgens.masters import EpsilonInsensitive, Hinge, Huber, LeastSquares, OneClass, Quantile
from cgens.weak_learners import Stump
from tests.inputs.estimators import ESTIMATORS, REGRESSION, X, Y, data, named

NAN, INF, ONES = np.nan, np.inf, np.ones(90)


@dataclass(frozen=True)
class Refusal:
    """A call that must raise `error` with a message that contains `pattern`.

    `act` is called with the estimator `name` with `params`, in all `states`: fitted before or not.
    """

    id: str
    name: str
    act: Callable[[Any], object]
    error: type[Exception]
    pattern: str
    params: dict[str, Any] = field(default_factory=dict)
    states: tuple[str, ...] = ("not fitted", "fitted")


def refused_fit(
    name: str, what: str, error: type[Exception], pattern: str, params: dict[str, Any] | None = None, **spoilt: Any
) -> Refusal:
    """Return a fit to valid data, some of which are replaced by a value or by a function of the valid ones."""
    good = data(name)
    given = {key: value(good[key]) if callable(value) else value for key, value in spoilt.items()}
    id_ = f"{name}: {' '.join(what.split())[:60]}"
    return Refusal(id_, name, lambda model: model.fit(**{**good, **given}), error, pattern, params or {})


def changed(values: Any, index: Any, value: Any) -> Any:
    copy = np.array(values, dtype=object if isinstance(value, str) or value is None else None)
    copy[index] = value
    return copy


def shown(value: object) -> str:
    """Return a pattern that finds a value in a message."""
    return rf"(?<![\w.]){re.escape(repr(value))}(?!\w)"


# --- data

#: X | the exception | a pattern of its message. Every estimator refuses them.
BAD_X: list[tuple[str, Any, type[Exception], str]] = [
    ("inf", changed(X, (3, 2), INF), ValueError, r"infinity.*row 3, column 2"),
    ("-inf", changed(X, (3, 2), -INF), ValueError, r"infinity \(-inf\).*row 3, column 2"),
    ("inf in float32", changed(X, (3, 2), INF).astype(np.float32), ValueError, r"infinity.*row 3, column 2"),
    ("inf and NaN", changed(changed(X, (3, 2), INF), (1, 1), NAN), ValueError, r"infinity.*row 3, column 2"),
    (
        "inf in a frame",
        pd.DataFrame({"a": ONES, "b": changed(ONES, 3, INF)}),
        ValueError,
        r"infinity.*row 3, column 'b'",
    ),
    (
        "inf in polars",
        pl.DataFrame({"a": ONES, "b": changed(ONES, 3, INF)}),
        ValueError,
        r"infinity.*row 3, column 'b'",
    ),
    ("sparse inf", sparse.csc_matrix(changed(X, (3, 2), INF)), ValueError, r"infinity.*row 3, column 2"),
    ("two rows too few", X[:-2], ValueError, r"88.*90"),
    ("frame of too few rows", pd.DataFrame({"a": ONES[:88]}), ValueError, r"88.*90"),
    ("no features", X[:, :0], ValueError, r"0 feature"),
    ("frame without columns", pd.DataFrame(index=range(90)), ValueError, r"no columns.*\(90, 0\)"),
    ("frame of nothing", pl.DataFrame(), ValueError, r"no columns.*\(0, 0\)"),
    ("empty frame", pd.DataFrame({"a": ONES[:0]}), ValueError, r"no rows.*\(0, 1\)"),
    ("one axis", X[:, 0], ValueError, r"1D array"),
    ("series", pd.Series(X[:, 0]), ValueError, r"\bX\b.*Series.*90"),
    ("three axes", X[:, :, None], ValueError, r"dim 3"),
    ("complex", X.astype(complex), ValueError, r"(?i)complex"),
    ("text in one cell", changed(X, (3, 2), "red"), ValueError, r"Column 2.*'red'.*numbers.*astype\(str\)"),
    ("mixed in a frame", pd.DataFrame({"kind": ["red", 3, None] * 30}), ValueError, r"'kind'.*'red'.*\b3\b"),
    (
        "mixed categories",
        pd.DataFrame({"kind": pd.Categorical([1, "1"] * 45)}),
        ValueError,
        r"'kind'.*mixes text \('1'\) and numbers \(1\)",
    ),
    (
        "categories some of which are unused",
        pd.DataFrame({"kind": pd.Categorical([2.0, 3.0] * 45, ["x", 2.0, 3.0])}),
        ValueError,
        r"'kind'.*mixes text \('x'\) and numbers \(2.0\)",
    ),
    ("huge", pd.DataFrame({"n": [10**400] * 90}, dtype=object), ValueError, r"'n'.*401 digits"),
    ("object", changed(X.astype(object), (3, 2), {}), TypeError, r"Column 2.*dict"),
    ("lists in a frame", pl.DataFrame({"kind": [[1, 2]] * 90}), TypeError, r"'kind'.*List"),
    ("None", None, ValueError, r"None|scalar"),
    ("None and text", changed(changed(X, (3, 2), None), (3, 4), "red"), ValueError, r"Column 4.*'red'"),
    ("dates", np.full((90, 1), "2020-01-01", dtype="M8[D]"), TypeError, r"Column 0.*dates.*days"),
    ("objects of dates", np.full((90, 1), date(2020, 1, 1), dtype=object), TypeError, r"Column 0.*2020, 1, 1.*days"),
    *(
        (f"dates of {library}", frame({"day": [date(2020, 1, 1)] * 90}), TypeError, rf"'day'.*dates.*{advice}")
        for library, frame, advice in (
            ("polars", pl.DataFrame, r"pl.col\('day'\).dt.epoch\('d'\)"),
            ("pyarrow", pa.table, r"X\['day'\].cast\('int32'\)"),
        )
    ),
    ("dates of pandas", pd.DataFrame({"day": pd.date_range("2020", periods=90)}), TypeError, r"'day'.*\.dt\.days"),
    ("durations", pd.DataFrame({"age": pd.to_timedelta(np.arange(90), unit="D")}), TypeError, r"'age'.*\.dt\.days"),
    ("lazy", pl.LazyFrame({"a": ONES}), TypeError, r"lazy.*collect\(\)"),
    ("batch", pa.RecordBatch.from_pydict({"a": Y}), TypeError, r"RecordBatch.*from_batches"),
    ("two columns of a name", pd.DataFrame(X[:, :2], columns=["a", "a"]), ValueError, r"'a'.*unique"),
]
FLOWERS = dict(zip("Xy", load_iris(return_X_y=True), strict=True))
INDICATOR = np.column_stack([Y, 1 - Y, Y])
#: Estimators | what | replaced data | a pattern of the message of the ValueError
BAD_DATA: list[tuple[str, str, dict[str, Any], str]] = [
    ("all", "no rows", {"X": X[:0], "y": Y[:0]}, r"0 sample"),
    ("all", "y too short", {"y": lambda y: y[:-1]}, r"90.*89"),
    ("all", "no y", {"y": None}, r"\by\b"),
    ("all", "NaN in y", {"y": lambda y: changed(y.astype(float), 3, NAN)}, r"NaN"),
    ("all", "weights too short", {"sample_weight": ONES[1:]}, r"89"),
    ("all", "NaN weight", {"sample_weight": changed(ONES, 3, NAN)}, r"NaN"),
    ("all", "inf weight", {"sample_weight": changed(ONES, 3, INF)}, r"infinity"),
    ("all", "negative weight", {"sample_weight": changed(ONES, 3, -1.0)}, r"(?i)negative"),
    ("all", "all weights zero", {"sample_weight": 0 * ONES}, r"(?i)weight"),
    ("ensembles", "weights of infinite sum", {"sample_weight": 1e308 * ONES}, r"weight"),
    ("classifiers", "None in y", {"y": changed(Y, 3, None)}, r"None.*row 3"),
    ("classifiers", "one class", {"y": np.full(90, 7)}, r"(1|one) class.*7"),
    ("classifiers", "real numbers", {"y": REGRESSION}, r"continuous"),
    ("classifiers", "two outputs", {"y": np.column_stack([Y, 2 * Y])}, r"2 columns.*MultiOutputClassifier"),
    ("classifiers", "one row", {"X": X[:1], "y": Y[:1]}, r"(1|one) class"),
    ("classifiers", "one class of no weight", {"sample_weight": 1.0 * Y}, r"(?i)classes.*weight"),
    ("boosting", "class 0 of no weight", {"sample_weight": 1.0 * Y}, r"class 0.*weight"),
    ("AdaBoost, LPBoost", "three classes", FLOWERS, r"binary.*3 classes.*(AdaBoostMHClassifier|OneVsRestClassifier)"),
    ("regressors", "NaN in one output", {"y": changed(X[:, :2], (3, 1), NAN)}, r"NaN"),
    ("regressors", "inf in y", {"y": changed(REGRESSION, 3, INF)}, r"infinity"),
    ("regressors", "-inf in y", {"y": changed(REGRESSION, 3, -INF)}, r"infinity"),
    ("regressors", "labels", {"y": np.array(["a", "b"])[Y]}, r"\by\b.*'[ab]'.*CGEnsClassifier"),
    ("regressors", "text in y", {"y": changed(REGRESSION, 3, "red")}, r"\by\b.*red"),
    ("regressors", "complex y", {"y": REGRESSION + 1j}, r"(?i)complex"),
    *(
        ("regressors", f"y times 1e{power}", {"y": REGRESSION * 10.0**power}, rf"target.*e\+?{power + 1}\b")
        for power in (-310, -200, 150, 200, 300)
    ),  # the squares of the target overflow or underflow
    *(
        ("box regressors, Huber", f"y times 1e{power}", {"y": REGRESSION * 10.0**power}, rf"target.*e\+?{power + 1}\b")
        for power in (-310, -200, 150, 200, 300)
    ),
    ("outliers", "no rows", {"X": X[:0], "y": None}, r"0 sample"),
    ("outliers", "weights too short", {"sample_weight": ONES[1:]}, r"89"),
    ("outliers", "NaN weight", {"sample_weight": changed(ONES, 3, NAN)}, r"NaN"),
    ("outliers", "negative weight", {"sample_weight": changed(ONES, 3, -1.0)}, r"(?i)negative"),
    ("outliers", "all weights zero", {"sample_weight": 0 * ONES}, r"(?i)weight"),
    ("outliers", "weights of infinite sum", {"sample_weight": 1e308 * ONES}, r"weight"),
    ("regressors", "y of three axes", {"y": REGRESSION[:, None, None]}, r"dim 3"),
    ("regressors", "y of no columns", {"y": np.empty((90, 0))}, r"0 feature|0 column"),
    ("loop, loop with logistic", "labels 0 and 1", {"y": Y}, r"-1 and 1.*0"),
    ("loop, loop with logistic", "0 in a second output", {"y": lambda y: np.column_stack([y, Y])}, r"-1 and 1.*0"),
    ("loops", "NaN in y", {"y": lambda y: changed(y, 3, NAN)}, r"target.*NaN.*row 3"),
    ("loops", "inf in y", {"y": lambda y: changed(y, 3, INF)}, r"target.*inf.*row 3"),
    ("loops", "y too short", {"y": lambda y: y[:-1]}, r"target.*89.*90"),
    ("loops", "y too long", {"y": lambda y: np.append(y, 1.0)}, r"target.*91.*90"),
    ("loops", "weights too short", {"sample_weight": ONES[1:]}, r"sample_weight.*89.*90"),
    ("loops", "negative weight", {"sample_weight": changed(ONES, 3, -1.0)}, r"sample_weight.*row 3.*-1"),
    ("loops", "NaN weight", {"sample_weight": changed(ONES, 3, NAN)}, r"sample_weight.*NaN.*row 3"),
    ("loops", "weights of zero", {"sample_weight": 0 * ONES}, r"sample_weight.*row 0"),
    (
        "loop with squares, loop with logistic",
        "a weight of 1e-320",
        {"sample_weight": changed(ONES, 3, 1e-320)},
        r"weight.*e-320",
    ),
    ("loops", "no rows", {"X": X[:0], "y": Y[:0]}, r"rows"),
    ("loops", "X of one axis", {"X": X[:, 0]}, r"two dimensions.*\b1\b"),
    ("loops", "inf in X", {"X": changed(X, (3, 2), INF)}, r"infinity"),
]


def of_data() -> Iterator[Refusal]:
    for who, what, spoilt, pattern in BAD_DATA:
        yield from (refused_fit(name, what, ValueError, pattern, **spoilt) for name in named(who))
    for what, bad, error, pattern in BAD_X:
        yield from (refused_fit(name, what, error, pattern, X=bad) for name in named("all"))
    for name in named("regressors"):
        yield refused_fit(name, "sparse y", TypeError, r"\by\b.*sparse", y=sparse.csr_matrix(X))
        yield refused_fit(name, "dates in y", TypeError, r"\by\b.*dates", y=np.full(90, "2020-01-01", "M8[D]"))
    for name in [name for name in named("baselines") if name != "AdaBoost.MH"]:
        pattern = rf"{type(ESTIMATORS[name]).__name__}.*label.*3 columns"
        for what, y in (("indicator", INDICATOR), ("sparse indicator", sparse.csr_matrix(INDICATOR))):
            yield refused_fit(name, what, ValueError, pattern, y=y)


# --- parameters

WITH_TOL = "CGEns, MultiBoost, LPBoost, Gaussian kernel, random Fourier"
#: Estimators | parameter | values. The message of the ValueError contains the parameter and the value.
BAD_VALUES: list[tuple[str, str, list[Any]]] = [
    ("CGEnsClassifier, CGEnsRegressor, LPBoost", "C", [0, -1.5, NAN, INF, "foo", None, True, [1.0]]),
    ("Gaussian kernel, random Fourier", "C", [0, -1.5, NAN, "foo", None, [1.0]]),
    (
        "CGEnsClassifier, CGEnsRegressor",
        "C",
        [1e300, 1e-300],
    ),  # valid, but the squares of its duals are not finite or 0
    ("LPBoost", "C", [1e90]),  # for HiGHS 1e20 is infinite, and the program unbounded
    ("ensembles", "n_estimators", [0, -3, 2.5, "many", None, True]),
    (WITH_TOL, "tol", [0.0, -1e-3, NAN, "x"]),
    ("loop", "tol", [-1.0]),
    ("ensembles", "n_jobs", [0, 1.5]),
    ("CGEnsClassifier, CGEnsClassifierCV", "loss", ["logarithmic", "squared"]),
    ("regressors", "loss", ["hinge"]),
    ("CGEns", "pricing", ["cheap", None]),
    ("CGEnsClassifier, CGEnsRegressor", "store_history", ["yes", None]),
    ("CGEnsClassifier, CGEnsClassifierCV", "class_weight", ["fair", {0: -1.0}, {0: NAN}, {0: INF}]),
    ("MultiBoost, LPBoost", "nu", [0, -0.5, NAN, INF, "x", True, [0.5]]),
    ("LPBoost", "nu", [1.5]),
    ("outliers", "nu", [0, -0.5, 1.5, NAN, INF, "x", True, None, [0.5]]),
    ("outliers", "n_estimators", [0, 2.5]),
    ("outliers", "tol", [0.0, NAN]),
    ("quantile", "quantile", [0, 1, -0.5, 1.5, NAN, "x", True, [0.5, 1.0], ["x"]]),
    ("regressors", "quantile", [0.5]),
    ("LPBoost", "solver", [None, ["dual"]]),
    ("LPBoost", "max_iter", [0, -1, 2.5, "x", 2**31]),
    ("random Fourier", "max_iter", [-1, 2.5, "x"]),
    ("random Fourier", "n_components", [0, -1, 1.5, "x"]),
    ("Gaussian kernel, random Fourier", "gamma", [-0.5, "wide", None, NAN]),
    ("Gaussian kernel", "kernel", [None, ["rbf"]]),
    ("Gaussian kernel", "cache_size", [-2]),
    ("searches", "stages", ["all", 7, None, []]),
    ("searches", "Cs", [0, 2.5, "scale", None, True]),
    ("searches", "cv", [0, -3, 2.5]),
]
#: Estimators | parameter | value | the exception | a pattern of its message
BAD_PARAMETERS: list[tuple[str, str, Any, type[Exception], str]] = [
    ("ensembles", "weak_learner", "stamp", ValueError, r"weak_learner.*stump.*'stamp'"),
    ("ensembles", "weak_learner", 3, TypeError, r"weak_learner.*begin.*\b3\b"),
    ("ensembles", "weak_learner", Stump, TypeError, r"weak_learner.*Stump\(\).*class.*Stump"),
    ("ensembles", "weak_learner", [], ValueError, r"(?i)mixture.*empty"),
    ("ensembles", "weak_learner", Stump(1), ValueError, r"max_bins.*\b1\b"),
    ("ensembles", "weak_learner", [("stump", [6])], ValueError, r"'stump'.*\b6\b.*\b6\b"),
    *(
        ("tube", "loss", EpsilonInsensitive(own), ValueError, rf"epsilon.*>= 0.*{shown(own)}")
        for own in (-0.1, NAN, INF, "wide", None, True)
    ),
    ("tube", "loss", EpsilonInsensitive([0.1, 0.2]), ValueError, r"epsilon=\[0.1, 0.2\].*2 outputs.*\b1\b"),
    ("CGEnsRegressor", "loss", OneClass(), ValueError, r"OneClass\(\) is for another estimator"),
    ("Huber", "loss", Huber(max_iter=0), ValueError, r"max_iter.*\b0\b"),
    ("regressors", "quantile", 0.9, ValueError, r"quantile=0\.9.*loss='quantile'.*'squared'"),
    *(("loop", "master", OneClass(nu), ValueError, rf"\bnu\b.*{shown(nu)}") for nu in (0.0, 1.1)),
    ("loop", "master", Quantile([0.1, 0.9]), ValueError, r"quantile=\[0.1, 0.9\].*2 outputs.*\b1\b"),
    *(("loop", "master", Quantile(0.5, C), ValueError, rf"\bC\b.*{shown(C)}") for C in (-1.0, 0.0, NAN, INF)),
    ("ensembles, random Fourier", "random_state", "seed", ValueError, r"'seed'"),
    ("hinge, hinge search", "pricing", "gain", ValueError, r"pricing='gain'.*hinge"),
    ("CGEnsClassifier, CGEnsClassifierCV", "loss", "squared", ValueError, r"'least_squares'"),
    ("CGEnsClassifier, CGEnsClassifierCV", "class_weight", {5: 1.0}, ValueError, r"class"),
    ("CGEnsClassifier, CGEnsClassifierCV", "class_weight", {0: 0.0}, ValueError, r"class 0.*weight"),
    ("LPBoost", "solver", "simplex", ValueError, r"solver.*'dual', 'primal', 'ipm'.*'simplex'"),
    ("Gaussian kernel", "kernel", "cubic", ValueError, r"kernel.*'stump', 'perceptron', 'rbf'.*'cubic'"),
    *(("searches", "stages", [own], ValueError, rf"stages.*{shown(own)}") for own in (0, 2.5, "a")),
    ("searches", "stages", [2, 6], ValueError, r"stages.*n_estimators=5\b.*\[2, 6\]"),
    ("searches", "Cs", "auto", ValueError, r"Cs.*list of numbers.*'auto'"),
    ("searches", "Cs", [0.1, "auto"], ValueError, r"Cs.*'auto'.*not for searches"),
    ("LPBoost", "C", "auto", ValueError, r"\bC\b.*'scale'.*'auto'"),
    *(
        (who, "C", "auto", ValueError, rf"C='auto'.*pool.*without labels.*{family}.*use CGEnsClassifierCV")
        for who, family in (
            ("tree", "Tree"),
            ("learned fourier", "Fourier"),
            ("fresh fourier", "Fourier"),
            ("sklearn", "SklearnLearner"),
            ("list", "Mixture"),
        )
    ),
    ("searches", "Cs", [], ValueError, r"Cs.*empty"),
    *(("searches", "Cs", [0.1, own], ValueError, rf"\bC\b.*{shown(own)}") for own in (-1, NAN, 1e300)),
    ("searches", "cv", 1, ValueError, r"cv=1\b"),
    ("searches", "cv", "five", ValueError, r"\bcv\b.*five"),
    ("searches", "cv", [], ValueError, r"\bcv\b.*(fold|empty)"),
    ("searches", "cv", [(np.arange(90), np.arange(0))], ValueError, r"fold.*test"),
    ("searches", "cv", [(np.arange(0), np.arange(90))], ValueError, r"fold.*train"),
    ("searches", "scoring", "beauty", ValueError, r"'beauty'"),
    ("CGEnsRegressorCV, hinge search", "scoring", "neg_log_loss", ValueError, r"scoring='neg_log_loss'.*predict_proba"),
    ("searches", "scoring", lambda model, X, y: NAN, ValueError, r"score.*\bnan\b"),
    ("searches", "scoring", lambda model, X, y: 1 / 0, ZeroDivisionError, r"division"),
    *(("loop", "master", Hinge(C), ValueError, rf"\bC\b.*{shown(C)}") for C in (-1.0, 0.0, NAN)),
    *(("loop", "master", LeastSquares(C), ValueError, rf"\bC\b.*{shown(C)}") for C in (-1.0, 0.0, NAN, INF)),
    ("loop", "pricing", "gain", ValueError, r"gain.*least squares"),
    ("loop", "rows", np.arange(1, 91), ValueError, r"rows.*90 rows.*1 to 90"),
    ("loop", "rows", np.arange(-1, 89), ValueError, r"rows.*90 rows.*-1 to 88"),
    ("loop", "pricing", "cheap", ValueError, r"pricing.*'max', 'gain', 'votes'.*'cheap'"),
    *(
        ("CGEnsRegressor", "loss", Huber(delta=own), ValueError, rf"delta.*> 0.*{shown(own)}")
        for own in (0.0, -1.0, NAN, INF, "wide", None, True)
    ),
    ("CGEnsRegressor", "loss", Huber(delta=[1.0, 2.0]), ValueError, r"delta=\[1, 2\].*2 outputs.*\b1\b"),
    ("searches", "scoring", lambda model, X, y: X.beauty, AttributeError, r"'beauty'"),
]


def of_parameters() -> Iterator[Refusal]:
    plain = [
        (who, parameter, value, ValueError, rf"\b{parameter}\b.*{shown(value)}")
        for who, parameter, values in BAD_VALUES
        for value in values
    ]
    for who, parameter, value, error, pattern in [*plain, *BAD_PARAMETERS]:
        what = f"{parameter}={getattr(value, '__name__', repr(value))}"
        yield from (refused_fit(name, what, error, pattern, {parameter: value}) for name in named(who))


# --- calls of a fitted estimator, and of one that is not

BAD_ROWS: list[tuple[str, Any, type[Exception], str]] = [
    ("fewer features", X[:, :3], ValueError, r"3 features.*6 features"),
    *(row for row in BAD_X if row[0] in ("inf", "text in one cell", "one axis", "lazy")),
    ("text", np.full((90, 6), "red"), ValueError, r"Column 0.*'red'.*numbers when the model was fitted"),
    ("more features", np.column_stack([X, X]), ValueError, r"12 features.*6 features"),
    ("no rows", X[:0], ValueError, r"0 sample"),
]
METHODS = ("predict", "decision_function", "score", "staged_predict", "staged_decision_function")


def call(method: str, rows: Any, model: Any) -> object:
    """Call a method; take the first value of a generator."""
    found = getattr(model, method)(rows, *[Y] * (method == "score"))
    return next(found) if method.startswith("staged") else found


def of_calls() -> Iterator[Refusal]:
    for name in named("all"):
        methods = [method for method in METHODS if hasattr(ESTIMATORS[name], method)]
        for method in methods:
            for what, rows, error, pattern in BAD_ROWS[
                : None if method == "predict" else 2
            ]:  # all methods check rows in the same way
                act = partial(call, method, rows)
                yield Refusal(f"{name}.{method}: {what}", name, act, error, pattern, states=("fitted",))
        acts = {method: partial(call, method, X) for method in methods}
        if name in named("ensembles"):
            acts["feature_importances_"] = attrgetter("feature_importances_")
        for what, act in acts.items():
            pattern = type(ESTIMATORS[name]).__name__
            yield Refusal(f"{name}.{what}: not fitted", name, act, NotFittedError, pattern, states=("not fitted",))
    for name in named("regressors"):
        act = attrgetter("decision_function")
        yield Refusal(f"{name}.decision_function", name, act, AttributeError, r"decision_function")
    for name in named("baselines"):  # it recomputes the objectives of CGEns alone
        act, pattern = partial(check_certificate, X=X, y=Y), rf"CGEnsClassifier.*{type(ESTIMATORS[name]).__name__}"
        yield Refusal(f"check_certificate({name})", name, act, TypeError, rf"(?i)certif.*{pattern}", states=("fitted",))
    for what, act, pattern in (
        ("no y", partial(check_certificate, X=X), r"needs the y"),
        ("other labels", partial(check_certificate, X=X, y=Y + 7), r"none of the classes.*\[0, 1\]"),
        ("other rows", partial(check_certificate, X=X[:5], y=Y[:5]), r"90 rows.*5.*5"),
    ):
        row = Refusal(f"check_certificate: {what}", "CGEnsClassifier", act, ValueError, pattern, states=("fitted",))
        yield row
    for name in ("CGEnsClassifier", "CGEnsRegressor"):
        few = {"warm_start": True, "n_estimators": 4}, r"n_estimators=4\b.*\b5\b", {}
        other = {"warm_start": True}, r"1 features.*6 features", {"X": X[:, :1]}
        text = {"warm_start": True, "n_estimators": "10"}, r"n_estimators.*'10'", {}
        switch = {"warm_start": "yes"}, r"warm_start.*'yes'", {}
        for params, pattern, spoilt in (few, other, text, switch):
            row = refused_fit(name, f"warm start, {pattern}", ValueError, pattern, params, **spoilt)
            yield replace(row, states=("fitted",))


REFUSALS = [*of_data(), *of_parameters(), *of_calls()]
