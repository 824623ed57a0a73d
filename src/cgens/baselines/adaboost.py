"""Discrete AdaBoost for two classes."""

from __future__ import annotations

from cgens.baselines._base import BinaryBaseline, StageWiseBaseline
from cgens.estimators._plan import TrainingData
from cgens.masters import AdaBoost
from cgens.types import Floats, Master, WeakLearner


class AdaBoostClassifier(BinaryBaseline, StageWiseBaseline):
    """Discrete AdaBoost (Freund & Schapire, 1997): each round adds the weak learner of largest edge, stage by stage.

    The same predictions as scikit-learn's AdaBoost around the same weak learner, with the library's fast search for it.

    Parameters
    ----------
    weak_learner : str, object or list, default="stump"
        As for `cgens.CGEnsClassifier`. A weak learner whose values are not +-1 gets the coefficient that minimises the
        exponential loss (Schapire & Singer, 1999).
    n_estimators : int, default=500
        Rounds. It ends before where no weak learner has an edge, or one makes no mistake.
    random_state : int, RandomState or None
        For families that draw. Stumps do not.
    n_jobs : int or None
        Threads. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, ensemble_, n_columns_, n_iter_, trace_, feature_importances_
        As of `cgens.CGEnsClassifier`.
    certificate_ : Certificate
        ``primal`` is the mean exponential loss. Stage-wise fits prove nothing: ``dual`` is 0.
    duals_ : ndarray of shape (n_samples,)
        y_i times the row's share of the distribution after the last round.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from cgens.baselines import AdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=50).fit(X, y)
    >>> bool(model.score(X, y) > 0.98)
    True
    """

    _for_more_classes = "AdaBoostMHClassifier"

    def _master(self, data: TrainingData, family: WeakLearner, largest: Floats, seed: int) -> Master:
        return AdaBoost()
