"""scikit-learn's SVM with the kernels of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.svm import SVC

from cgens.baselines._wrapped import WrappedClassifier
from cgens.estimators._shared_docs import expand_shared
from cgens.kernels import perceptron_kernel, stump_kernel
from cgens.table import Table
from cgens.types import AnyArray, Floats

_KERNELS: dict[str, Any] = {"stump": stump_kernel, "perceptron": perceptron_kernel, "rbf": "rbf"}


@expand_shared
@dataclass(eq=False, repr=False)
class KernelSVC(WrappedClassifier):
    """Support vector machine with the stump, perceptron or Gaussian kernel: scikit-learn's `SVC`.

    For two classes, this is the limit of `cgens.CGEnsClassifier` with the hinge loss when it uses all weak learners of
    the family. Ctrl-C takes effect only after the fit.

    Parameters
    ----------
    kernel : {"stump", "perceptron", "rbf"}, default="stump"
        Delta - |x - x'|_1, Delta' - |x - x'|_2 (Lin & Li, 2008; the constants do not matter), or
        exp(-gamma |x - x'|^2).
    C : float, default=1.0
        Weight of the hinge losses, as in the paper.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the Gaussian kernel, as in scikit-learn.
    tol : float, default=1e-3
        As in scikit-learn.
    cache_size : float, default=200
        Cache for the Gaussian kernel matrix, in megabytes. The matrices of the other kernels are computed in full.
    categorical_features : shared

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_, feature_names_in_ : shared
    n_iter_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
    svc_ : SVC
        The fitted SVM.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import minmax_scale
    >>> from cgens.baselines import KernelSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bool(KernelSVC("stump").fit(minmax_scale(X), y).score(minmax_scale(X), y) > 0.97)
    True
    """

    kernel: str = "stump"
    C: float = 1.0
    gamma: float | str = "scale"
    tol: float = 1e-3
    cache_size: float = 200
    categorical_features: Any = None

    _wrapped = "svc_"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel == "rbf"
        return tags

    def _numbers(self, table: Table) -> AnyArray:
        if table.is_sparse and self.kernel in _KERNELS and self.kernel != "rbf":
            raise TypeError(f"KernelSVC with kernel={self.kernel!r} does not accept sparse X: pass X.toarray().")
        return super()._numbers(table)

    def _fit(self, X: AnyArray, y: AnyArray, sample_weight: Floats) -> None:
        if not isinstance(self.kernel, str) or self.kernel not in _KERNELS:
            raise ValueError(f"kernel must be one of {', '.join(map(repr, _KERNELS))}; got {self.kernel!r}.")
        svc = SVC(C=self.C, kernel=_KERNELS[self.kernel], gamma=self.gamma, tol=self.tol, cache_size=self.cache_size)
        self.svc_ = svc.fit(X, y, sample_weight)
        self.classes_, self.n_iter_ = svc.classes_, svc.n_iter_
