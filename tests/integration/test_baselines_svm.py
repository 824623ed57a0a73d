"""The two baselines that are no ensembles are exactly scikit-learn's SVMs."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics.pairwise import manhattan_distances, rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC, LinearSVC

from cgens import CGEnsClassifier
from cgens.baselines import KernelSVC, RandomFourierSVC
from cgens.weak_learners import Stump
from tests.integration.small_data import SMALL_DATA, flowers, noisy, wines
from tests.tolerances import CLOSED_FORM, SVC_DECISION, TIGHT

SETS = {**SMALL_DATA, "flowers": flowers, "wines": wines}


def distances(A, B):
    """Return |a - b|_2 without cancellation."""
    return np.sqrt(((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))


#: Each kernel, computed by other code.
KERNELS = {
    "stump": lambda A, B, gamma: -manhattan_distances(A, B),
    "perceptron": lambda A, B, gamma: -distances(A, B),
    "rbf": lambda A, B, gamma: rbf_kernel(A, B, gamma),
}


def halves(name):
    X, y = SETS[name]()
    X = minmax_scale(X)
    return X[::2], y[::2], X[1::2]


def weights(y, rng):
    return (None, rng.random(len(y)) + 0.1)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", SETS)
def test_a_kernel_svc_is_the_svc_of_the_kernel_matrix(name, kernel, rng):
    X, y, rows = halves(name)
    matrix = KERNELS[kernel]
    for weight in weights(y, rng):
        model = KernelSVC(kernel, C=3.0, gamma=0.7, tol=1e-8).fit(X, y, weight)
        machine = SVC(kernel="precomputed", C=3.0, tol=1e-8).fit(matrix(X, X, 0.7), y, weight)
        assert np.array_equal(model.predict(rows), machine.predict(matrix(rows, X, 0.7)))
        expected = machine.decision_function(matrix(rows, X, 0.7))
        assert np.abs(model.decision_function(rows) - expected).max() <= 1e-6  # some times LIBSVM's tolerance


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
def test_gamma_as_in_scikit_learn(gamma):
    X, y, rows = halves("wines")
    expected = SVC(gamma=gamma, C=2.0).fit(X, y).decision_function(rows)
    assert KernelSVC("rbf", C=2.0, gamma=gamma).fit(X, y).decision_function(rows).tobytes() == expected.tobytes()


def test_the_fitted_estimators_of_scikit_learn_are_accessible():
    X, y = noisy()
    model = KernelSVC().fit(X, y)
    assert isinstance(model.svc_, SVC)
    assert model.classes_ is model.svc_.classes_
    assert model.n_iter_ is model.svc_.n_iter_
    assert RandomFourierSVC(n_components=20).fit(X, y).pipeline_[-1].C == 1.0


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_a_copy_of_the_training_rows_has_the_same_decisions(kernel, offset):
    """A row and its copy are at distance 0, wherever the origin is."""
    X, y = noisy()
    X = X + offset
    model = KernelSVC(kernel).fit(X, y)
    assert np.allclose(model.decision_function(X), model.decision_function(X.copy()), rtol=0, atol=CLOSED_FORM)


def test_the_stump_kernel_is_the_ensemble_with_all_stumps():
    """One feature of consecutive integers: every stump has the same share of |x - x'|_1."""
    x = np.repeat(np.arange(12.0), 5)[:, None]
    y = (np.sin(x[:, 0]) + np.tile([-0.5, 0.1, 0.2, 0.3, 0.6], 12) > 0).astype(int)
    ensemble = CGEnsClassifier(Stump(None), loss="hinge", C=0.1, tol=TIGHT, n_estimators=1000).fit(x, y)
    assert ensemble.n_columns_ <= 11
    # sum_j h_j(x) h_j(x') = 11 - 2 |x - x'|
    machine = KernelSVC("stump", C=0.2, tol=1e-9).fit(x, y)
    assert np.abs(ensemble.decision_function(x) - machine.decision_function(x)).max() <= SVC_DECISION


@pytest.mark.parametrize("gamma", ["scale", 0.3])
@pytest.mark.parametrize("name", ["noisy", "unbalanced", "flowers", "wines"])
def test_random_fourier_svc_is_the_pipeline_by_hand(name, gamma, rng):
    X, y, rows = halves(name)
    for weight in weights(y, rng):
        model = RandomFourierSVC(80, gamma=gamma, C=2.0, tol=1e-6, max_iter=5000, random_state=4).fit(X, y, weight)
        sampler = RBFSampler(gamma=gamma, n_components=80, random_state=4)
        by_hand = make_pipeline(sampler, LinearSVC(C=2.0, tol=1e-6, max_iter=5000, dual=False, random_state=0))
        by_hand.fit(X, y, linearsvc__sample_weight=weight)
        assert model.decision_function(rows).tobytes() == by_hand.decision_function(rows).tobytes()
        assert np.array_equal(model.predict(rows), by_hand.predict(rows))
        assert model.n_iter_ == by_hand[-1].n_iter_


def test_many_random_cosines_approximate_the_gaussian_kernel():
    X, y, rows = halves("breast cancer")
    one, other = KernelSVC("rbf", gamma=1.0).fit(X, y), RandomFourierSVC(4000, gamma=1.0, random_state=0).fit(X, y)
    assert np.mean(one.predict(rows) == other.predict(rows)) > 0.9


@pytest.mark.parametrize("weight", [1e60, 1e-200])
def test_extreme_weights_are_refused(weight):
    """LIBLINEAR would not terminate."""
    X, y = flowers()
    with pytest.raises(ValueError, match=rf"\bC\b.*sample_weight.*{re.escape(f'{weight:g}')}"):
        RandomFourierSVC(10, random_state=0).fit(X, y, np.full(len(y), weight))
