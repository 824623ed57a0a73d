"""A linear SVM on random Fourier features."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC

from cgens.baselines._wrapped import WrappedClassifier
from cgens.estimators._shared_docs import expand_shared
from cgens.types import AnyArray, Floats

# LIBLINEAR squares C, and never ends if that overflows or underflows.
MIN_C, MAX_C = 1e-100, 1e50


@expand_shared
@dataclass(eq=False, repr=False)
class RandomFourierSVC(WrappedClassifier):
    """Linear SVM on random Fourier features (Rahimi & Recht, 2007): scikit-learn's `RBFSampler` and `LinearSVC`.

    Parameters
    ----------
    n_components : int, default=2000
        Number of cosines; the default is the paper's.
    gamma : "scale" or float, default="scale"
        Coefficient of the Gaussian kernel that they approximate; "scale" is 1 / (n_features * X.var()).
    C : float, default=1.0
        Weight of the squared hinge losses.
    tol : float, default=1e-4
        Tolerance of the linear SVM.
    max_iter : int, default=1000
        Maximum number of iterations of the linear SVM.
    categorical_features : shared
    random_state : int, RandomState instance or None, default=None
        Seed for the cosines.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_, feature_names_in_ : shared
    n_iter_ : int
    pipeline_ : Pipeline
        The fitted features and SVM.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cgens.baselines import RandomFourierSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(RandomFourierSVC(n_components=200, random_state=0).fit(X, y).score(X, y) > 0.95)
    True
    """

    n_components: int = 2000
    gamma: float | str = "scale"
    C: float = 1.0
    tol: float = 1e-4
    max_iter: int = 1000
    categorical_features: Any = None
    random_state: Any = None

    _wrapped = "pipeline_"

    def _fit(self, X: AnyArray, y: AnyArray, sample_weight: Floats) -> None:
        largest = float(sample_weight.max())
        if isinstance(self.C, Real) and not MIN_C <= self.C * largest <= MAX_C and self.C > 0:
            raise ValueError(
                f"C times the largest sample_weight must be in [{MIN_C:g}, {MAX_C:g}], or LIBLINEAR never ends; "
                f"got {self.C * largest:g}. Change C, or divide the weights by their mean."
            )
        sampler = RBFSampler(gamma=self.gamma, n_components=self.n_components, random_state=self.random_state)
        # The primal solver, because the dual one is randomized.
        svm = LinearSVC(C=self.C, tol=self.tol, max_iter=self.max_iter, dual=False)
        self.pipeline_: Pipeline = make_pipeline(sampler, svm)
        self.pipeline_.fit(X, y, linearsvc__sample_weight=sample_weight)
        self.classes_ = self.pipeline_.classes_
        self.n_iter_ = int(svm.n_iter_)
