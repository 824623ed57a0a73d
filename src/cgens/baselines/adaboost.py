"""Discrete AdaBoost for two classes."""

from __future__ import annotations

from cgens.baselines._base import BinaryBaseline, StageWiseBaseline
from cgens.estimators._plan import TrainingData
from cgens.estimators._shared_docs import expand_shared
from cgens.masters import AdaBoost
from cgens.types import Family, Floats, Master


@expand_shared
class AdaBoostClassifier(BinaryBaseline, StageWiseBaseline):
    """Discrete AdaBoost (Freund & Schapire, 1997): each round adds the weak learner with the largest edge.

    The predictions equal those of scikit-learn's AdaBoost with the same weak learner; only the search for it is faster.
    A weak learner whose values are not +-1 gets the coefficient that minimizes the exponential loss (Schapire & Singer,
    1999).

    Parameters
    ----------
    weak_learner : shared
    n_estimators : int, default=500
        Maximum number of rounds. The fit ends early if no weak learner has an edge, or one makes no mistake.
    categorical_features, random_state, n_jobs, verbose : shared

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, ensemble_, n_columns_, n_iter_, trace_ : shared
    certificate_ : Certificate
        ``primal`` is the mean exponential loss. Stage-wise fits prove no bound: ``dual`` is 0.
    duals_ : ndarray of shape (n_samples,)
        y_i times the weight of the row in the distribution after the last round.
    feature_importances_, family_shares_ : shared

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from cgens.baselines import AdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=50).fit(X, y)
    >>> bool(model.score(X, y) > 0.98)
    True
    """

    _multiclass_alternative = "AdaBoostMHClassifier"

    def _master(self, data: TrainingData, family: Family, largest_weights: Floats, seed: int) -> Master:
        return AdaBoost()
