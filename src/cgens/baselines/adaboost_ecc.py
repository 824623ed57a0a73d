"""AdaBoost.ECC for any number of classes."""

from __future__ import annotations

from cgens.baselines._base import StageWiseBaseline
from cgens.coding import ClassCoding
from cgens.estimators._plan import TrainingData
from cgens.masters import AdaBoostECC
from cgens.types import AnyArray, Floats, Master, WeakLearner


class AdaBoostECCClassifier(StageWiseBaseline):
    """AdaBoost.ECC (Guruswami & Sahai, 1999): each round learns one bit of an error-correcting code of the classes.

    The colouring of a round, which tells the classes of its bit from the others, is drawn at random among those that
    split the classes into halves.

    Parameters
    ----------
    weak_learner : str, object or list, default="stump"
        As for `cgens.CGEnsClassifier`.
    n_estimators : int, default=500
        Rounds, which are bits of the code.
    random_state : int, RandomState or None
        For the colourings, and for families that draw.
    n_jobs : int or None
        Threads. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, ensemble_, n_columns_, n_iter_, trace_, feature_importances_
        As of `cgens.CGEnsClassifier`.
    certificate_ : Certificate
        ``primal`` is the mean exponential loss over rows and wrong classes. Stage-wise fits prove nothing: ``dual`` is
        0.
    duals_ : ndarray of shape (n_samples,)
        Of the round that would come next: its bit of the row's class, times the row's weight.

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

    def _master(self, data: TrainingData, family: WeakLearner, largest: Floats, seed: int) -> Master:
        return AdaBoostECC(seed)
