"""The kernels of weak-learner families, in closed form and from the columns of a fitted model."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import check_pairwise_arrays, manhattan_distances
from sklearn.utils.validation import check_is_fitted

from cgens.types import Floats

__all__ = ["columns_kernel", "perceptron_kernel", "stump_kernel"]


def stump_kernel(X: Any, Y: Any = None, *, delta: float = 0.0) -> Floats:
    """Return delta - |x - x'|_1: the kernel of all decision stumps (Lin and Li).

    Parameters
    ----------
    X : array-like of shape (n, n_features)
    Y : array-like of shape (k, n_features), default X
    delta : float
        A constant that does not affect an SVM with an intercept. Methods without an intercept need a value that makes
        the kernel positive definite: half the sum of the ranges of the features.

    Returns
    -------
    kernel : ndarray of shape (n, k)

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from sklearn.svm import SVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> round(SVC(kernel=stump_kernel).fit(scale(X), y).score(scale(X), y), 3)
    1.0
    """
    return np.asarray(delta - manhattan_distances(X, Y))


def perceptron_kernel(X: Any, Y: Any = None, *, delta: float = 0.0) -> Floats:
    """Return delta - |x - x'|_2: the kernel of all perceptrons (Lin and Li).

    Parameters
    ----------
    X : array-like of shape (n, n_features)
    Y : array-like of shape (k, n_features), default X
    delta : float
        A constant that does not affect an SVM with an intercept.

    Returns
    -------
    kernel : ndarray of shape (n, k)

    Examples
    --------
    >>> perceptron_kernel([[0.0, 0.0]], [[3.0, 4.0], [0.0, 1.0]])
    array([[-5., -1.]])
    """
    X, Y = check_pairwise_arrays(X, Y)
    # Inner products would be faster, but lose half of the digits of small distances.
    return np.asarray(delta - cdist(X, Y))


def columns_kernel(model: Any, X: Any, Y: Any = None) -> Floats:
    """Return H(x) H(x')', the kernel whose feature map is the columns of a fitted model.

    For two classes and the hinge loss, an SVM with this kernel and the model's C solves the model's own master problem.

    Parameters
    ----------
    model : fitted CGEnsClassifier, CGEnsRegressor, CGEnsOutlierDetector, CGEnsClassifierCV or CGEnsRegressorCV
    X : array-like of shape (n, n_features)
    Y : array-like of shape (k, n_features), default X

    Returns
    -------
    kernel : ndarray of shape (n, k)

    Examples
    --------
    >>> from cgens import CGEnsClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CGEnsClassifier("stump", n_estimators=20).fit(X, y)
    >>> columns_kernel(model, X[:2]).diagonal()
    array([20., 20.])
    """
    check_is_fitted(model)
    model = getattr(model, "best_estimator_", model)
    tables = [X] if Y is None else [X, Y]
    responses = [model.ensemble_.respond(model._check_input(own)).astype(np.float64) for own in tables]
    return np.asarray(responses[0] @ responses[-1].T)
