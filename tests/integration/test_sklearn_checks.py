"""scikit-learn's estimator checks, which only the wrappers fail where the wrapped estimators do; and its tools."""

from __future__ import annotations

import re
from inspect import signature

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils._test_common.instance_generator import _get_expected_failed_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import cgens.baselines
from cgens import CGEnsClassifier, CGEnsClassifierCV, CGEnsOutlierDetector, CGEnsRegressor, CGEnsRegressorCV
from cgens.masters.registry import LOSSES
from cgens.weak_learners import Box, Fourier, Linear, Mixture, Perceptron, Stump, Tree
from tests.integration.small_data import breast_cancer, iris
from tests.models import FAMILIES, SMALL, make

#: All kinds of columns: signs and real values, drawn and learned, with and without a pool.
MIXED = Mixture([Stump(8), Perceptron(20), Fourier(learn=True), Tree(4, min_samples_leaf=1), Box(1, 20), Linear()])

ESTIMATORS = [
    CGEnsClassifier("stump", n_estimators=6, n_jobs=1),
    CGEnsClassifier(MIXED, n_estimators=4, random_state=0, n_jobs=1),
    CGEnsRegressor("stump", n_estimators=6, n_jobs=1),
    CGEnsRegressor(loss="quantile", quantile=0.4, n_estimators=20, n_jobs=1),
    CGEnsRegressor(loss="epsilon_insensitive", n_estimators=6, n_jobs=1),
    CGEnsOutlierDetector(n_estimators=6, n_jobs=1),
    CGEnsClassifierCV(Cs=2, n_estimators=6, cv=2, n_jobs=1),
    CGEnsRegressorCV(Cs=2, n_estimators=6, cv=2, n_jobs=1),
    make("AdaBoost.MH", n_estimators=5),
    make("LPBoost", n_estimators=5),
    make("selector", n_components=4),
]
#: Every loss with every family.
EVERY_FAMILY = (
    Stump(),
    Perceptron(100),
    Fourier(n_candidates=300),
    Fourier(learn=True),
    Tree(4),
    Box(2, 50),
    Linear(),
    MIXED,
)
PAIRS = [
    estimator(family, loss=loss, n_estimators=60, random_state=0, n_jobs=1)
    for estimator, target in ((CGEnsClassifier, "classes"), (CGEnsRegressor, "regression"))
    for loss, spec in LOSSES.items()
    if target in spec.targets
    for family in EVERY_FAMILY
]
# With linear features, perceptrons and trees a one-class SVM is a constant, which the fit warns of.
PAIRS += [
    CGEnsOutlierDetector(own, **SMALL) for own in (Fourier(n_candidates=300), Fourier(learn=True), Box(2, 50), MIXED)
]
#: Other searches, and boosters with other families.
MORE = [
    CGEnsClassifier("auto", n_estimators=40, random_state=0, n_jobs=1),
    CGEnsRegressor("auto", n_estimators=40, random_state=0, n_jobs=1),
    CGEnsClassifier(Stump(), C="auto", n_estimators=20, n_jobs=1),
    CGEnsRegressor(Fourier(n_candidates=100, learn=False), C="auto", n_estimators=20, random_state=0, n_jobs=1),
    CGEnsClassifier(Fourier(n_candidates=100, metric="learned"), n_estimators=20, random_state=0, n_jobs=1),
    CGEnsRegressor(Fourier(draw="sparse", metric="learned"), n_estimators=20, random_state=0, n_jobs=1),
    CGEnsClassifierCV(loss="hinge", Cs=2, n_estimators=10, n_jobs=1),
    CGEnsClassifierCV(loss="logistic", Cs=2, n_estimators=10, n_jobs=1),
    CGEnsRegressorCV(loss="quantile", Cs=2, n_estimators=6, cv=2, n_jobs=1),
    CGEnsClassifier(FAMILIES["scikit-learn"], n_estimators=5, random_state=0, n_jobs=1),
    make("LPBoost, nu"),
    make("MultiBoost", n_estimators=5),
    make("AdaBoost", weak_learner=Fourier(n_candidates=50)),
    make("AdaBoost.MH", weak_learner=Tree(4, min_samples_leaf=1)),
    make("AdaBoost.ECC", weak_learner=Perceptron(50)),
]

#: As scikit-learn lists them for its own SVMs.
OF_COPIES = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "LIBSVM and liblinear are not exact in copies of a row",
)


PUBLIC = [getattr(module, name) for module in (cgens, cgens.baselines) for name in module.__all__]


@pytest.mark.parametrize("estimator", [own for own in PUBLIC if hasattr(own, "fit")], ids=lambda own: own.__name__)
def test_the_docstring_describes_every_parameter_in_order(estimator):
    section = re.search(r"\nParameters\n-+\n(.+?)\n\n", estimator.__doc__, re.DOTALL).group(1)
    assert re.findall(r"^(\w+) : .+\n    ", section, re.MULTILINE) == list(signature(estimator).parameters)
    assert ": shared" not in estimator.__doc__


@parametrize_with_checks(ESTIMATORS)
def test_sklearn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([*PAIRS, *MORE])
def test_sklearn_check_of_losses_and_families(estimator, check):
    check(estimator)


@parametrize_with_checks([make("stump kernel"), make("random Fourier")], expected_failed_checks=lambda _: OF_COPIES)
def test_sklearn_check_of_wrappers(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [make("perceptron kernel"), make("Gaussian kernel")], expected_failed_checks=lambda _: OF_COPIES
)
def test_sklearn_check_of_other_kernels(estimator, check):
    check(estimator)


@pytest.mark.parametrize("wrapped", [SVC(), LinearSVC()])
def test_wrappers_may_fail_only_what_the_wrapped_estimators_fail(wrapped):
    """Except for `n_iter_` of LinearSVC, which is checked."""
    assert set(OF_COPIES) == set(_get_expected_failed_checks(wrapped)) - {"check_non_transformer_estimators_n_iter"}


def test_calibration():
    X, y = breast_cancer(200)
    probabilities = (
        CalibratedClassifierCV(CGEnsClassifier(loss="hinge", n_estimators=10), cv=3).fit(X, y).predict_proba(X)
    )
    assert np.allclose(probabilities.sum(axis=1), 1)
    model = CGEnsClassifier(loss="hinge", n_estimators=10, n_jobs=1)
    assert hasattr(CGEnsClassifier(), "predict_proba")
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model.fit(X, y), "coef_")
    assert cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=3).mean() > 0.9


def fit_and_decide(X, y, n_jobs):
    return CGEnsClassifier("stump", n_estimators=20, n_jobs=n_jobs).fit(X, y).decision_function(X)


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_joblib(backend):
    X, y = iris()
    expected = fit_and_decide(X, y, 1)
    decisions = Parallel(n_jobs=2, backend=backend)(delayed(fit_and_decide)(X, y, n) for n in (None, 1, 2, 2))
    assert all(decision.tobytes() == expected.tobytes() for decision in decisions)


def test_prediction_of_one_model_from_many_threads():
    X, y = breast_cancer(200)
    model = CGEnsClassifier("stump", n_estimators=50).fit(X, y)
    expected = model.decision_function(X).tobytes()
    decisions = Parallel(n_jobs=4, backend="threading")(delayed(model.decision_function)(X) for _ in range(20))
    assert all(decision.tobytes() == expected for decision in decisions)
