"""Kernels of families: means of h(x) h(x') over large pools, closed forms, and the kernel of a fitted model."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances, rbf_kernel
from sklearn.svm import SVC

from cgens import CGEnsClassifier, CGEnsRegressor
from cgens.kernels import columns_kernel, perceptron_kernel, stump_kernel
from cgens.types import Sample
from cgens.weak_learners import Box, Fourier, Perceptron, Stump, Tree
from cgens.weak_learners.fourier import resolve_gammas
from cgens.weak_learners.projections.spread import Spread
from tests.tolerances import CLOSED_FORM, SIGMAS, SVC_DECISION, TIGHT


def pool_kernel(family, X, rows):
    """Return the mean of h(x) h(x') over a family's pool on the rows of X, for some of them, and the pool's size."""
    sample = Sample(X, np.arange(len(X)), np.ones(len(X)))
    pool = family.begin(sample, np.random.default_rng(0), 1).pool()
    H = type(pool[0]).pack(pool).respond(X[rows], 1).astype(np.float64)
    return H @ H.T / len(pool), len(pool)


N = 4000


def sparse_rbf(X, gamma):
    pairs = list(combinations(range(X.shape[1]), 2))
    return sum(rbf_kernel(X[:, list(pair)], gamma=gamma) for pair in pairs) / len(pairs)


FOURIER = {
    "a width": (Fourier(0.3, N, standardize=False, learn=False), lambda X: rbf_kernel(X, gamma=0.3)),
    "orthogonal": (
        Fourier(0.3, N, orthogonal=True, standardize=False, learn=False),
        lambda X: rbf_kernel(X, gamma=0.3),
    ),
    "scale": (
        Fourier(n_candidates=N, standardize=False, learn=False),
        lambda X: rbf_kernel(X, gamma=1 / X.var(axis=0).sum()),
    ),
    "several widths": (
        Fourier([0.05, 0.5], N, standardize=False, learn=False),
        lambda X: 0.5 * rbf_kernel(X, gamma=0.05) + 0.5 * rbf_kernel(X, gamma=0.5),
    ),
    "standardized": (
        Fourier(0.2, N, standardize=True, learn=False),
        lambda X: rbf_kernel(X / X.std(axis=0), gamma=0.2),
    ),
    "two inputs": (Fourier(0.3, N, n_inputs=2, standardize=False, learn=False), lambda X: sparse_rbf(X, 0.3)),
}


@pytest.mark.parametrize("name", FOURIER)
def test_cosines_have_a_gaussian_kernel(name, rng):
    """The mean of (h h')^2, and so the variance of h h', is at most the mean of h^4, which is 3/2."""
    family, kernel = FOURIER[name]
    X = rng.normal(size=(25, 3)) * [1.0, 0.5, 2.0] + [0.0, 1.0, -3.0]
    found, n = pool_kernel(family, X, slice(None))
    assert n == N
    assert np.abs(found - kernel(X)).max() <= SIGMAS * np.sqrt(1.5 / n)


def test_the_median_width_is_the_median_distance(rng):
    X = rng.normal(size=(25, 3))
    found, n = pool_kernel(Fourier("median", N, standardize=False, learn=False), X, slice(None))
    squares = euclidean_distances(X, squared=True)
    widths = np.quantile(squares[np.triu_indices(25, 1)], [0.45, 0.55])  # between random pairs
    low, high = (np.exp(-squares / width) for width in widths)
    error = SIGMAS * np.sqrt(1.5 / n)
    assert np.all((found >= low - error) & (found <= high + error))


def assert_affine(kernel, distances, n):
    """1 - kernel = slope * distance, with the best slope; a mean of +-1 has a variance of at most 1 / n."""
    slope = np.sum((1 - kernel) * distances) / np.sum(distances**2)
    assert slope > 0
    assert np.abs(1 - kernel - slope * distances).max() <= SIGMAS / np.sqrt(n)
    assert np.ptp(slope * distances) > 2 * SIGMAS / np.sqrt(n), "otherwise the test is empty"


def test_the_median_width_of_standardized_features_does_not_depend_on_their_units(rng):
    X, gammas = rng.normal(size=(200, 3)), []
    for units in ([1.0, 1.0, 1.0], [1.0, 256.0, 2.0**-9]):
        sample = Sample(X * units, np.arange(200), np.ones(200))
        spread = Spread.of(sample, "Fourier", standardize=True)
        gammas.append(resolve_gammas("median", sample, spread, np.random.default_rng(0)))
    assert gammas[0] == gammas[1]


@pytest.mark.parametrize("orthogonal", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
def test_perceptrons_have_the_perceptron_kernel(standardize, orthogonal, rng):
    """With so many rows responses rarely repeat, except at the rim: the kernel is taken of rows inside."""
    X = rng.normal(size=(3000, 4)) * ([1.0, 5.0, 0.3, 1.0] if standardize else 1.0)
    Z = X / X.std(axis=0) if standardize else X
    rows = np.flatnonzero(np.linalg.norm(Z, axis=1) < 2.5)[:20]
    family = Perceptron(N, standardize=standardize, orthogonal=orthogonal, learn=False)
    kernel, n = pool_kernel(family, X, rows)
    assert_affine(kernel, -perceptron_kernel(Z[rows]), n)


def test_perceptrons_with_one_input_have_the_stump_kernel(rng):
    X = rng.uniform(-1, 1, size=(6000, 3)) * [1.0, 2.0, 0.5]
    kernel, n = pool_kernel(Perceptron(1500, n_inputs=1, standardize=False, learn=False), X, np.arange(20))
    assert_affine(kernel, -stump_kernel(X[:20]), n)


def test_closed_forms(rng):
    X, Y = rng.normal(size=(7, 3)), rng.normal(size=(4, 3))
    assert stump_kernel([[0.0, 0.0]], [[3.0, -4.0], [0.0, 1.0]]).tolist() == [[-7.0, -1.0]]
    assert perceptron_kernel([[0.0, 0.0]], [[3.0, -4.0], [0.0, 1.0]]).tolist() == [[-5.0, -1.0]]
    for kernel, distances in ((stump_kernel, manhattan_distances), (perceptron_kernel, euclidean_distances)):
        assert kernel(X, Y).shape == (7, 4)
        assert np.allclose(kernel(X, Y, delta=2.5), 2.5 - distances(X, Y), rtol=CLOSED_FORM)
        assert np.allclose(kernel(X), kernel(X, X), rtol=0, atol=CLOSED_FORM)
        assert np.allclose(kernel(X), kernel(X).T, rtol=0, atol=CLOSED_FORM)


def test_half_the_sum_of_ranges_makes_the_stump_kernel_positive(rng):
    X = rng.normal(size=(40, 3))
    delta = 0.5 * np.ptp(X, axis=0).sum()
    eigenvalues = np.linalg.eigvalsh(stump_kernel(X, delta=delta))
    assert eigenvalues.min() >= -CLOSED_FORM * eigenvalues.max()


MODELS = {
    "stumps": CGEnsClassifier(n_estimators=12),
    "cosines": CGEnsRegressor(Fourier(n_candidates=40, learn=False), n_estimators=12, random_state=0),
    "mixture": CGEnsClassifier([Stump(), Tree(3), Box(n_candidates=20)], n_estimators=12, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_columns_of_a_model_define_a_kernel(name, rng):
    X = rng.normal(size=(50, 3))
    model = MODELS[name].fit(X, np.where(X[:, 0] + X[:, 1] > 0, 1, 0))
    H = model.ensemble_.respond(X).astype(np.float64)
    assert np.allclose(columns_kernel(model, X), H @ H.T, rtol=0, atol=CLOSED_FORM * 12)
    assert np.allclose(columns_kernel(model, X, X[:7]), H @ H[:7].T, rtol=0, atol=CLOSED_FORM * 12)
    assert np.allclose(columns_kernel(model, X.tolist()), H @ H.T, rtol=0, atol=CLOSED_FORM * 12)


def test_an_svm_with_the_columns_kernel_is_the_model(rng):
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=80) > 0).astype(int)
    model = CGEnsClassifier(Box(n_candidates=60), loss="hinge", C=0.2, n_estimators=15, tol=TIGHT, random_state=0).fit(
        X, y
    )
    svm = SVC(kernel="precomputed", C=model.C_, tol=TIGHT).fit(columns_kernel(model, X), y)
    new = rng.normal(size=(30, 3))
    expected = svm.decision_function(columns_kernel(model, new, X))
    assert np.allclose(model.decision_function(new), expected, rtol=0, atol=SVC_DECISION)


def test_an_unfitted_model_has_no_kernel():
    with pytest.raises(NotFittedError):
        columns_kernel(CGEnsClassifier(), np.zeros((2, 2)))
