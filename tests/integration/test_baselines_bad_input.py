"""Bad input of the rivals gets one clear sentence with the offending value in it; odd input a sound model."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from cgens.baselines import (
    AdaBoostClassifier,
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    KernelSVC,
    LPBoostClassifier,
    MultiBoostClassifier,
    RandomFourierSVC,
)
from cgens.inspection import check_certificate
from cgens.types import Status
from cgens.weak_learners import Stump
from tests.integration.small_data import noisy
from tests.tolerances import CLOSED_FORM, TIGHT

X, Y = noisy()
FLOWERS = load_iris(return_X_y=True)

ON_THE_LOOP = {
    "AdaBoost": AdaBoostClassifier(n_estimators=5),
    "AdaBoost.MH": AdaBoostMHClassifier(n_estimators=5),
    "AdaBoost.ECC": AdaBoostECCClassifier(n_estimators=5, random_state=0),
    "MultiBoost": MultiBoostClassifier(n_estimators=5),
    "LPBoost": LPBoostClassifier(n_estimators=5),
    "LPBoost of nu": LPBoostClassifier(nu=0.6, n_estimators=5),
}
WRAPPERS = {
    "stump kernel": KernelSVC(),
    "perceptron kernel": KernelSVC("perceptron"),
    "Gaussian kernel": KernelSVC("rbf"),
    "random Fourier": RandomFourierSVC(n_components=20, random_state=0),
}
RIVALS = {**ON_THE_LOOP, **WRAPPERS}
BINARY = ["AdaBoost", "LPBoost", "LPBoost of nu"]
STAGE_WISE = ["AdaBoost", "AdaBoost.MH", "AdaBoost.ECC"]

every_rival = pytest.mark.parametrize("rival", RIVALS)
every_on_the_loop = pytest.mark.parametrize("rival", ON_THE_LOOP)


def fit(rival, X=X, y=Y, weight=None, **options):
    return clone(RIVALS[rival]).set_params(**options).fit(X, y, sample_weight=weight)


def changed(values, index, value):
    copy = np.array(values, dtype=object if isinstance(value, str) else None)
    copy[index] = value
    return copy


def assert_one_sentence(message: str) -> None:
    assert message.strip()
    assert "Traceback" not in message
    assert "incompatible function arguments" not in message, "that is the compiled core speaking, not the library"


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
    assert_one_sentence(str(raised.value))


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
    assert_one_sentence(str(raised.value))


def test_a_cost_beyond_the_solvers_infinity():
    """For HiGHS 1e20 is infinite, and the program unbounded."""
    with pytest.raises(ValueError, match=r"C\b.*1e\+90") as raised:
        fit("LPBoost", C=1e90)
    assert_one_sentence(str(raised.value))


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
        assert_one_sentence(str(raised.value))


@pytest.mark.parametrize("method", ["predict", "decision_function", "score"])
@every_rival
def test_not_fitted(rival, method):
    with pytest.raises(NotFittedError, match=type(RIVALS[rival]).__name__):
        getattr(clone(RIVALS[rival]), method)(*((X, Y) if method == "score" else (X,)))


@every_rival
def test_some_constant_features(rival):
    wide = np.column_stack([np.zeros(90), X, np.full(90, 7.0)])
    model = fit(rival, wide)
    assert np.all(np.isfinite(model.decision_function(wide)))
    if rival in ON_THE_LOOP:
        assert model.feature_importances_[[0, -1]].tolist() == [0.0, 0.0]
        assert model.certificate_.n_candidates == fit(rival).certificate_.n_candidates
    if rival in STAGE_WISE:
        assert np.allclose(model.decision_function(wide), fit(rival).decision_function(X), rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize(("heavier", "weight"), [(0, None), (1, None), (1, [1.0, 1.0, 1.0, 9.0])])
@every_on_the_loop
def test_constant_features_give_a_constant_model(rival, heavier, weight):
    """And the warning says which one it is."""
    y = np.array([0, 0, 0, 1]) if heavier == 0 or weight is not None else np.array([1, 1, 1, 0])
    rows = np.full((4, 3), 2.5)
    with pytest.warns(UserWarning, match="constant") as caught:
        model = fit(rival, rows, y, weight)
    assert len(caught) == 1
    assert model.n_columns_ == 0
    assert len(set(model.predict(rows))) == 1
    assert np.all(np.isfinite(model.decision_function(rows)))
    assert model.feature_importances_.tolist() == [0.0, 0.0, 0.0]
    assert len(list(model.staged_predict(rows))) == 1
    if "the heavier class" in str(caught[0].message):
        assert model.predict(rows).tolist() == [heavier] * 4


@every_on_the_loop
def test_warnings_point_at_the_line_that_fits(rival):
    with pytest.warns(UserWarning, match="constant") as caught:
        clone(RIVALS[rival]).fit(np.ones((4, 1)), [0, 1, 0, 1])
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("rival", "options", "word"), [("LPBoost", {"C": 1e-3}, r"\bC\b"), ("MultiBoost", {"nu": 10.0}, r"\bnu\b")]
)
def test_a_penalty_that_leaves_nothing_says_so(rival, options, word):
    """There are weak learners, but none is worth its price: neither constant features nor few rows are to blame."""
    with pytest.warns(UserWarning, match=word):
        model = fit(rival, **options)
    assert model.n_columns_ == 0


@every_rival
def test_one_row_a_class(rival):
    rows = np.array([[0.0, 5.0], [1.0, 5.0]])
    model = fit(rival, rows, ["a", "b"])
    assert model.predict(rows).tolist() == ["a", "b"]
    assert np.all(np.isfinite(model.decision_function(rows)))


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@pytest.mark.parametrize("rival", [name for name in RIVALS if name not in BINARY])
def test_every_row_its_own_class(rival, rng):
    rows = rng.normal(size=(9, 4))
    options = {"n_estimators": 200} if rival in ON_THE_LOOP else {"C": 1e4}
    model = fit(rival, rows, np.arange(9), **options)
    assert model.decision_function(rows).shape == (9, 9)
    assert np.array_equal(model.predict(rows), np.arange(9))


@every_rival
def test_more_features_than_rows(rival, rng):
    rows, y = rng.normal(size=(12, 300)), np.arange(12) % 2
    options = {"n_estimators": 50} if rival in ON_THE_LOOP else {"C": 100.0}
    model = fit(rival, rows, y, **options)
    assert np.all(np.isfinite(model.decision_function(rows)))
    assert model.score(rows, y) == 1.0


@every_on_the_loop
@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_extreme_values(rival, scale, rng):
    """Linear programs have many solutions, and which one is found depends on the order of the rows: not its value."""
    rows = rng.integers(-5, 6, size=(60, 3)).astype(float)
    y = (rows[:, 0] + rows[:, 1] > 0).astype(int)
    plain, scaled = (fit(rival, own, y, n_estimators=100) for own in (rows, rows * scale))
    rel = 2 * plain.tol if rival == "MultiBoost" else TIGHT
    assert scaled.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=rel)
    if rival in STAGE_WISE:
        assert np.array_equal(scaled.predict(rows * scale), plain.predict(rows))


@every_on_the_loop
def test_weights_of_very_different_size(rival, rng):
    model = fit(rival, weight=10.0 ** rng.uniform(-6, 6, 90))
    assert np.all(np.isfinite(model.decision_function(X)))
    assert model.certificate_.dual <= model.certificate_.primal


@every_on_the_loop
@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_the_unit_of_the_weights_does_not_matter(rival, factor):
    """C = "scale" is divided by the total weight; all other losses are means."""
    plain, scaled = fit(rival), fit(rival, weight=np.full(90, factor))
    assert scaled.ensemble_.learners == plain.ensemble_.learners
    assert np.allclose(scaled.decision_function(X), plain.decision_function(X), rtol=1e-6, atol=1e-9)


def test_without_highspy(monkeypatch):
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(ImportError, match=r"pip install 'cgens\[lp\]'.*highspy") as raised:
        fit("LPBoost")
    assert_one_sentence(str(raised.value))
    assert len(str(raised.value).split(". ")) == 1
    fit("MultiBoost")


def test_highspy_is_not_needed_for_the_other_rivals():
    script = "import sys; sys.modules['highspy'] = None; import cgens.baselines; print(len(cgens.baselines.__all__))"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (found.stdout.strip(), found.stderr) == ("7", "")


@pytest.mark.parametrize("solver", ["dual", "primal", "ipm"])
@pytest.mark.parametrize("nu", [None, 0.3])
def test_a_solver_that_stops_early(solver, nu):
    with pytest.warns(ConvergenceWarning, match=r"relative gap of .* not tol=0\.001: raise max_iter \(1\) or tol"):
        model = LPBoostClassifier(nu=nu, solver=solver, max_iter=1, n_estimators=30).fit(X, Y)
    assert model.certificate_.status is Status.NOT_CONVERGED
    assert model.certificate_.relative_gap > model.tol
    assert model.certificate_.dual <= model.certificate_.primal
    assert model.n_columns_ >= 1
    assert np.all(np.isfinite(model.decision_function(X)))
    assert len(list(model.staged_predict(X))) == model.n_columns_


def test_multiboost_that_does_not_get_there():
    with pytest.warns(ConvergenceWarning, match=r"relative gap of .* not tol=1e-300: raise nu \(0\.001\) or tol"):
        model = MultiBoostClassifier(tol=1e-300, n_estimators=3).fit(*FLOWERS)
    assert model.certificate_.status is Status.NOT_CONVERGED
    assert model.score(*FLOWERS) > 0.9


@pytest.mark.parametrize("rival", RIVALS)
def test_check_certificate_knows_no_rivals(rival):
    """It writes the paper's own problems down once more, and no others."""
    model = fit(rival)
    with pytest.raises(TypeError, match=rf"(?i)certificate.*CGEnsClassifier.*{type(model).__name__}") as raised:
        check_certificate(model, X, Y)
    assert_one_sentence(str(raised.value))


@every_on_the_loop
def test_no_warning_on_the_way(rival):
    """Nothing divides by zero or overflows without a word from the library."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(rival, n_estimators=60)
        fit(rival, X[:, :1] > 0, n_estimators=60)


def test_columns_that_all_weigh_nothing_are_told_of():
    """By chance alone no combination of a few stumps has a margin for most rows."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    with pytest.warns(UserWarning, match=r"All 5 columns have the weight 0 .*nu \(0.05\) or n_estimators too small"):
        model = LPBoostClassifier(nu=0.05, n_estimators=5).fit(X, y)
    assert not model.ensemble_.weights.any()
