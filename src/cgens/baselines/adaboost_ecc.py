"""AdaBoost.ECC for any number of classes."""

from __future__ import annotations

from cgens.baselines._base import StageWiseBaseline
from cgens.coding import ClassCoding
from cgens.estimators._plan import TrainingData
from cgens.estimators._shared_docs import expand_shared
from cgens.masters import AdaBoostECC
from cgens.types import AnyArray, Family, Floats, Master


@expand_shared
class AdaBoostECCClassifier(StageWiseBaseline):
    """AdaBoost.ECC (Guruswami & Sahai, 1999): each round learns one bit of an error-correcting code of the classes.

    The colouring of a round, which separates the classes whose bit is set from the others, is drawn at random among
    those that split the classes into halves.

    Parameters
    ----------
    weak_learner : shared
    n_estimators : int, default=500
        Maximum number of rounds; each round adds one bit to the code.
    categorical_features : shared
    random_state : int, RandomState instance or None, default=None
        Seed for the colourings, and for families that sample weak learners at random.
    n_jobs, verbose : shared

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, ensemble_, n_columns_, n_iter_, trace_ : shared
    certificate_ : Certificate
        ``primal`` is the mean exponential loss over rows and wrong classes. Stage-wise fits prove no bound: ``dual`` is
        0.
    duals_ : ndarray of shape (n_samples,)
        Bit of the row's class in the round that would come next, times the weight of the row.
    feature_importances_, family_shares_ : shared

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cgens.baselines import AdaBoostECCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AdaBoostECCClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    def _code_classes(self, classes: AnyArray) -> ClassCoding:
        return ClassCoding.one_vs_rest(classes)

    def _master(self, data: TrainingData, family: Family, largest_weights: Floats, seed: int) -> Master:
        return AdaBoostECC(seed)
