"""MultiBoost for any number of classes."""

from __future__ import annotations

from typing import Any

from cgens.baselines._base import Baseline
from cgens.coding import ClassCoding
from cgens.estimators._parameters import check_positive
from cgens.estimators._plan import TrainingData
from cgens.masters import MultiBoost
from cgens.types import AnyArray, Floats, Master, WeakLearner


class MultiBoostClassifier(Baseline):
    """MultiBoost (Shen & Hao, 2011): direct multi-class boosting, totally corrective, exponential loss and l1 norm.

    Each round adds the weak learner that violates optimality most for some class, and solves for the weights of all
    weak learners and classes again, with L-BFGS-B from the last solution.

    Parameters
    ----------
    weak_learner : str, object or list, default="stump"
        As for `cgens.CGEnsClassifier`.
    nu : float, default=1e-3
        Weight of the l1 norm against the mean loss over rows and wrong classes. A round adds no weak learner whose
        prices are all below it.
    n_estimators : int, default=500
        Most columns (weak learners).
    tol : float, default=1e-3
        Relative duality gap of the final problem over the selected columns.
    random_state : int, RandomState or None
        For families that draw.
    n_jobs : int or None
        Threads. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, ensemble_, n_columns_, n_iter_, trace_, feature_importances_
        As of `cgens.CGEnsClassifier`.
    certificate_ : Certificate
        Primal, dual and gap, for the selected columns and for the whole pool.
    duals_ : ndarray of shape (n_samples, n_classes)
        Minus the weight of each wrong class, and for the row's own their sum.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cgens.baselines import MultiBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MultiBoostClassifier(n_estimators=100).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), bool(model.certificate_.relative_gap <= model.tol)
    (True, True)
    """

    def __init__(
        self,
        weak_learner: Any = "stump",
        nu: float = 1e-3,
        n_estimators: int = 500,
        tol: float = 1e-3,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.weak_learner = weak_learner
        self.nu = nu
        self.n_estimators = n_estimators
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_positive("nu", self.nu)

    def _code_classes(self, classes: AnyArray) -> ClassCoding:
        return ClassCoding.one_vs_rest(classes)

    def _master(self, data: TrainingData, family: WeakLearner, largest: Floats, seed: int) -> Master:
        return MultiBoost(float(self.nu))

    def _advice(self) -> str:
        return f"raise nu ({self.nu:.3g}) or tol"

    def _penalty_hint(self) -> str:
        return f", or nu ({self.nu:.3g}) too large"
