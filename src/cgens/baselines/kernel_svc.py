"""The paper's kernels in scikit-learn's SVM."""

from __future__ import annotations

from typing import Any

from sklearn.svm import SVC

from cgens.baselines._wrapped import WrappedClassifier
from cgens.kernels import perceptron_kernel, stump_kernel
from cgens.types import AnyArray, Floats

_KERNELS: dict[str, Any] = {"stump": stump_kernel, "perceptron": perceptron_kernel, "rbf": "rbf"}


class KernelSVC(WrappedClassifier):
    """A support vector machine with the stump, the perceptron or the Gaussian kernel: scikit-learn's `SVC`.

    What `cgens.CGEnsClassifier` comes to with all weak learners of the family, and none selected. Ctrl-C is heard only
    when the machine is fitted.

    Parameters
    ----------
    kernel : {"stump", "perceptron", "rbf"}, default="stump"
        Delta - |x - x'|_1, Delta' - |x - x'|_2 (Lin & Li, 2008; the constants do not matter), or
        exp(-gamma |x - x'|^2).
    C : float, default=1.0
        The paper's C.
    gamma : {"scale", "auto"} or float, default="scale"
        Of the Gaussian kernel, as in scikit-learn.
    tol : float, default=1e-3
        As in scikit-learn.
    cache_size : float, default=200
        Megabytes for rows of the Gaussian kernel's matrix; of the others all of it is made.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X had column names.
    n_iter_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
    svc_ : SVC
        The fitted machine.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import minmax_scale
    >>> from cgens.baselines import KernelSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bool(KernelSVC("stump").fit(minmax_scale(X), y).score(minmax_scale(X), y) > 0.97)
    True
    """

    _machine = "svc_"

    def __init__(
        self,
        kernel: str = "stump",
        C: float = 1.0,
        gamma: float | str = "scale",
        tol: float = 1e-3,
        cache_size: float = 200,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.tol = tol
        self.cache_size = cache_size

    def _fit(self, X: AnyArray, y: AnyArray, sample_weight: Floats | None) -> None:
        if not isinstance(self.kernel, str) or self.kernel not in _KERNELS:
            raise ValueError(f"kernel must be one of {', '.join(map(repr, _KERNELS))}; got {self.kernel!r}.")
        svc = SVC(C=self.C, kernel=_KERNELS[self.kernel], gamma=self.gamma, tol=self.tol, cache_size=self.cache_size)
        self.svc_ = svc.fit(X, y, sample_weight)
        self.classes_, self.n_iter_ = svc.classes_, svc.n_iter_
