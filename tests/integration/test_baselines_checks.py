"""scikit-learn's own checks of the rivals: none of those on the loop fails, the wrappers only where the wrapped do."""

from __future__ import annotations

import pytest
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils._test_common.instance_generator import _get_expected_failed_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from cgens.baselines import (
    AdaBoostClassifier,
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    KernelSVC,
    LPBoostClassifier,
    MultiBoostClassifier,
    RandomFourierSVC,
)
from cgens.weak_learners import Fourier, Perceptron, SklearnLearner, Tree

SMALL = {"n_estimators": 10, "random_state": 0, "n_jobs": 1}

ON_THE_LOOP = [
    AdaBoostClassifier(n_estimators=10),
    AdaBoostMHClassifier(n_estimators=10),
    AdaBoostECCClassifier(n_estimators=10),
    MultiBoostClassifier(n_estimators=10),
    LPBoostClassifier(n_estimators=10),
    LPBoostClassifier(nu=0.2, n_estimators=10),
]

#: Columns that are not +-1, that are drawn, and that have no pool: one of them for each rival.
OTHER_FAMILIES = [
    AdaBoostClassifier(Fourier(n_candidates=50), **SMALL),
    AdaBoostMHClassifier(Tree(4, min_samples_leaf=1), **SMALL),
    AdaBoostECCClassifier(Perceptron(50), **SMALL),
    MultiBoostClassifier(["stump", "linear"], **SMALL),
    LPBoostClassifier(SklearnLearner(DecisionTreeClassifier(max_depth=2)), **SMALL),
]

WRAPPERS = [
    KernelSVC("stump"),
    KernelSVC("perceptron"),
    KernelSVC("rbf"),
    RandomFourierSVC(n_components=50, random_state=0),
]

#: As scikit-learn lists them for its own machines.
OF_COPIES = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "LIBSVM and liblinear are not exact in copies of a row",
)


@parametrize_with_checks(ON_THE_LOOP)
def test_sklearn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(OTHER_FAMILIES)
def test_sklearn_check_of_other_families(estimator, check):
    check(estimator)


@parametrize_with_checks(WRAPPERS, expected_failed_checks=lambda _: OF_COPIES)
def test_sklearn_check_of_wrappers(estimator, check):
    check(estimator)


@pytest.mark.parametrize("wrapped", [SVC(), LinearSVC()])
def test_wrappers_are_excused_from_what_the_wrapped_are(wrapped):
    """Not from one check more than scikit-learn excuses its own machines from; `n_iter_` of LinearSVC is no excuse."""
    assert set(OF_COPIES) == set(_get_expected_failed_checks(wrapped)) - {"check_non_transformer_estimators_n_iter"}
