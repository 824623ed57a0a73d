"""Random Fourier features before a linear SVM."""

from __future__ import annotations

from numbers import Real
from typing import Any

from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC

from cgens.baselines._wrapped import WrappedClassifier
from cgens.types import AnyArray, Floats

# LIBLINEAR squares it, and goes round for ever where that leaves the range of numbers.
LEAST_C, MOST_C = 1e-100, 1e50


class RandomFourierSVC(WrappedClassifier):
    """Random Fourier features (Rahimi & Recht, 2007), then a linear SVM: scikit-learn's `RBFSampler` and `LinearSVC`.

    Parameters
    ----------
    n_components : int, default=2000
        Number of cosines, as in the paper.
    gamma : "scale" or float, default="scale"
        Of the Gaussian kernel that they approximate; "scale" is 1 / (n_features * X.var()).
    C : float, default=1.0
        Weight of the squared hinge losses.
    tol : float, default=1e-4
    max_iter : int, default=1000
        Of the linear SVM.
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X had column names.
    n_iter_ : int
    pipeline_ : Pipeline
        The fitted features and machine.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cgens.baselines import RandomFourierSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(RandomFourierSVC(n_components=200, random_state=0).fit(X, y).score(X, y) > 0.95)
    True
    """

    _machine = "pipeline_"

    def __init__(
        self,
        n_components: int = 2000,
        gamma: float | str = "scale",
        C: float = 1.0,
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.gamma = gamma
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _fit(self, X: AnyArray, y: AnyArray, sample_weight: Floats | None) -> None:
        largest = 1.0 if sample_weight is None else float(sample_weight.max())
        if isinstance(self.C, Real) and not LEAST_C <= self.C * largest <= MOST_C and self.C > 0:
            raise ValueError(
                f"C times the largest sample_weight must be in [{LEAST_C:g}, {MOST_C:g}], or LIBLINEAR never ends; "
                f"got {self.C * largest:g}. Take another C, or divide the weights by their mean."
            )
        sampler = RBFSampler(gamma=self.gamma, n_components=self.n_components, random_state=self.random_state)
        # The primal solver: unlike the dual one it draws nothing.
        machine = LinearSVC(C=self.C, tol=self.tol, max_iter=self.max_iter, dual=False)
        self.pipeline_: Pipeline = make_pipeline(sampler, machine)
        self.pipeline_.fit(X, y, linearsvc__sample_weight=sample_weight)
        self.classes_ = self.pipeline_.classes_
        self.n_iter_ = int(machine.n_iter_)
