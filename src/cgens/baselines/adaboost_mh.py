"""AdaBoost.MH for any number of classes and for multilabel y."""

from __future__ import annotations

from typing import Any

from cgens.baselines._base import StageWiseBaseline
from cgens.coding import ClassCoding, LabelCoding
from cgens.estimators._plan import TrainingData
from cgens.estimators._shared_docs import expand_shared
from cgens.masters import AdaBoost
from cgens.types import AnyArray, Family, Floats, Master, Rule


@expand_shared
class AdaBoostMHClassifier(StageWiseBaseline):
    """AdaBoost.MH (Schapire & Singer, 1999): boosting of the Hamming loss over all classes.

    Each row is an example of every class, +1 for its own and -1 for the others. A two-valued weak learner votes for or
    against every class, with one coefficient for all; a round adds the one with the largest sum of edges. With two
    classes this is AdaBoost.

    Parameters
    ----------
    weak_learner, n_estimators, categorical_features, random_state, n_jobs, verbose : shared

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, ensemble_, n_columns_, n_iter_, trace_ : shared
    certificate_ : Certificate
        ``primal`` is the mean exponential loss. Stage-wise fits prove no bound: ``dual`` is 0.
    duals_ : ndarray of shape (n_samples, n_classes)
        Labels of +-1 times the distribution over rows and classes after the last round.
    feature_importances_, family_shares_ : shared

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

    def _master(self, data: TrainingData, family: Family, largest_weights: Floats, seed: int) -> Master:
        return AdaBoost()

    def _rule(self) -> Rule:
        return "votes"
