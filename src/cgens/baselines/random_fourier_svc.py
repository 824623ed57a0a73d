"""Random Fourier features before a linear SVM."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC

from cgens.baselines._wrapped import WrappedClassifier
from cgens.estimators._inputs import validated_classes

MOST_C = 1e50  # LIBLINEAR squares it, and goes round for ever where that overflows


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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Draw the features and fit the machine.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        X, y, sample_weight = validated_classes(self, X, y, sample_weight)
        largest = 1.0 if sample_weight is None else float(sample_weight.max())
        if isinstance(self.C, Real) and self.C * largest > MOST_C:
            raise ValueError(
                f"C times the largest sample_weight must be at most {MOST_C:g}, or LIBLINEAR does not come to an end; "
                f"got {self.C * largest:g}. Divide the weights by their mean."
            )
        sampler = RBFSampler(gamma=self.gamma, n_components=self.n_components, random_state=self.random_state)
        # The primal solver: it draws nothing, and the paper's 2000 features are mostly fewer than the rows.
        machine = LinearSVC(C=self.C, tol=self.tol, max_iter=self.max_iter, dual=False)
        self.pipeline_: Pipeline = make_pipeline(sampler, machine)
        self.pipeline_.fit(X, y, linearsvc__sample_weight=sample_weight)
        self.classes_ = self.pipeline_.classes_
        self.n_iter_ = int(machine.n_iter_)
        return self
