"""AdaBoost.MH for classes and for several labels a row."""

from __future__ import annotations

from typing import Any

from cgens.baselines._base import StageWiseBaseline
from cgens.coding import ClassCoding, LabelCoding
from cgens.estimators._plan import TrainingData
from cgens.masters import AdaBoost
from cgens.types import AnyArray, Floats, Master, Rule, WeakLearner


class AdaBoostMHClassifier(StageWiseBaseline):
    """AdaBoost.MH (Schapire & Singer, 1999): boosting of the Hamming loss over all classes.

    Each row is an example of every class, +1 for its own and -1 for the others. A weak learner of two values votes for
    or against every class, with one coefficient for all; a round adds the one whose edges add up to most. With two
    classes this is AdaBoost.

    Parameters
    ----------
    weak_learner : str, object or list, default="stump"
        As for `cgens.CGEnsClassifier`.
    n_estimators : int, default=500
        Rounds.
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
        ``primal`` is the mean exponential loss. Stage-wise fits prove nothing: ``dual`` is 0.
    duals_ : ndarray of shape (n_samples, n_classes)
        Labels of +-1 times the distribution over rows and classes after the last round.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cgens.baselines import AdaBoostMHClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AdaBoostMHClassifier(n_estimators=50).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _code_classes(self, classes: AnyArray) -> ClassCoding:
        return ClassCoding.simplex(classes) if len(classes) == 2 else ClassCoding.one_vs_rest(classes)

    def _code_labels(self, n_labels: int) -> LabelCoding:
        return LabelCoding(n_labels)

    def _master(self, data: TrainingData, family: WeakLearner, largest: Floats, seed: int) -> Master:
        return AdaBoost()

    def _rule(self) -> Rule:
        return "votes"
