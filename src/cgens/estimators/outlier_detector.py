"""The one-class SVM over all weak learners as a scikit-learn outlier detector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from cgens.coding import Coding, OutlierCoding
from cgens.estimators._base import EnsembleEstimator
from cgens.estimators._callbacks import with_callbacks
from cgens.estimators._inputs import row_weights, validated
from cgens.estimators._plan import TrainingData
from cgens.estimators._shared_docs import expand_shared
from cgens.masters.loss import total_weight
from cgens.masters.one_class import OneClass
from cgens.types import Family, Floats, Master


@expand_shared
@dataclass(eq=False, repr=False)
class CGEnsOutlierDetector(OutlierMixin, EnsembleEstimator):  # type: ignore[misc]
    """Ensemble that solves the one-class SVM over all weak learners of a family, by column generation.

    It minimizes 1/2 |w|^2 - rho + 1/(nu n) sum_i max(0, rho - w.h(x_i)): w.h(x) is large where the training rows are,
    and falls below rho for at most a fraction nu of them. Do not use trees: they are fitted to the duals, which are
    positive and initially all equal, so that no tree is better than a constant. Linear features and perceptrons,
    which are centred, often give a constant too; the fit then warns.

    Parameters
    ----------
    weak_learner : shared
    nu : float, default=0.1
        In (0, 1]: an upper bound on the fraction of training rows that are outliers and a lower bound on that of
        support vectors.
    n_estimators, tol, warm_start, checkpoint, categorical_features, store_history, random_state : shared
    n_jobs, verbose : shared

    Attributes
    ----------
    n_features_in_, feature_names_in_, schema_ : shared
    offset_ : float
        rho: the decision is ``score_samples(X) - offset_``.
    loss_, master_, ensemble_, n_columns_, n_iter_, trace_, certificate_ : shared
    duals_ : ndarray of shape (n_samples,)
        In [0, weight / (nu * total weight)], with sum 1.
    bound_duals_, feature_importances_, family_shares_ : shared

    Examples
    --------
    >>> import numpy as np
    >>> from cgens import CGEnsOutlierDetector
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> model = CGEnsOutlierDetector(n_estimators=100).fit(X)
    >>> model.predict([[0.0, 0.0], [5.0, -5.0]])
    array([ 1, -1])
    """

    weak_learner: Any = "stump"
    nu: float = 0.1
    n_estimators: int = 500
    tol: float = 1e-3
    warm_start: bool = False
    checkpoint: Any = None
    categorical_features: Any = None
    store_history: bool = False
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    _constant_prediction = "1, an inlier, for every row"

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers. float32 and float64 arrays are read as they are, in any memory order.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative. A weight of k is equivalent to k copies of the row, a weight of 0 to leaving it out.

        Returns
        -------
        self
        """
        return self._fit(X, None, sample_weight)

    def _check_parameters(self) -> None:
        OneClass(self.nu).check_nu()

    def _read(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[TrainingData, Coding]:
        X = validated(self, X, reset=reset)
        sample_weight = row_weights(sample_weight, X)
        self.loss_ = OneClass.name
        coding = OutlierCoding()
        return TrainingData.without_classes(X, coding.encode(X), sample_weight), coding

    def _master(self, data: TrainingData, family: Family, largest_weights: Floats, seed: int) -> Master:
        total_weight(data.sample_weight)  # raises if it overflows
        return OneClass(self.nu)

    def _advice(self) -> str:
        return f"raise nu ({self.nu:.3g}) or tol"

    def _penalty_hint(self) -> str:
        return f", or is nu={self.nu:.3g} too small"

    @property
    def offset_(self) -> float:
        """The offset of the decision from the score."""
        check_is_fitted(self, "ensemble_")
        return -float(self.ensemble_.intercept[0])

    def decision_function(self, X: Any) -> Floats:
        """Return the decision of each row, negative for outliers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        decision : ndarray of shape (n_samples,)
        """
        return self._decision(X)[:, 0]

    def score_samples(self, X: Any) -> Floats:
        """Return w.h(x), the decision plus `offset_`: the lower, the more abnormal.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        score : ndarray of shape (n_samples,)
        """
        decision = self.decision_function(X)  # first: raises NotFittedError
        return decision + self.offset_
