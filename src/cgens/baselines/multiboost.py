"""MultiBoost for any number of classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cgens.baselines._base import Baseline
from cgens.coding import ClassCoding
from cgens.estimators._parameters import check_positive
from cgens.estimators._plan import TrainingData
from cgens.estimators._shared_docs import expand_shared
from cgens.masters import MultiBoost
from cgens.types import AnyArray, Family, Floats, Master


@expand_shared
@dataclass(eq=False, repr=False)
class MultiBoostClassifier(Baseline):
    """MultiBoost (Shen & Hao, 2011): totally corrective multiclass boosting with exponential loss and l1 norm.

    Each round adds the weak learner that most violates optimality for some class, and solves again for the weights of
    all weak learners and classes, with L-BFGS-B from the last solution.

    Parameters
    ----------
    weak_learner : shared
    nu : float, default=1e-3
        Weight of the l1 norm relative to the mean loss over rows and wrong classes. A round adds no weak learner whose
        prices are all below it.
    n_estimators : shared
    tol : float, default=1e-3
        Relative duality gap of the final problem over the selected columns.
    categorical_features, random_state, n_jobs, verbose : shared

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, ensemble_, n_columns_, n_iter_, trace_, certificate_ : shared
    duals_ : ndarray of shape (n_samples, n_classes)
        Minus the weight of each wrong class; for the row's own class, the sum of these weights.
    feature_importances_, family_shares_ : shared

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cgens.baselines import MultiBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MultiBoostClassifier(n_estimators=100).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), bool(model.certificate_.relative_gap <= model.tol)
    (True, True)
    """

    weak_learner: Any = "stump"
    nu: float = 1e-3
    n_estimators: int = 500
    tol: float = 1e-3
    categorical_features: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    def _check_parameters(self) -> None:
        check_positive("nu", self.nu)

    def _code_classes(self, classes: AnyArray) -> ClassCoding:
        return ClassCoding.one_vs_rest(classes)

    def _master(self, data: TrainingData, family: Family, largest_weights: Floats, seed: int) -> Master:
        return MultiBoost(float(self.nu))

    def _advice(self) -> str:
        return f"raise nu ({self.nu:.3g}) or tol"

    def _penalty_hint(self) -> str:
        return f", or is nu ({self.nu:.3g}) too large"
