"""CGEns with cross-validated parameters as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from cgens.estimators._losses import ClassLossPlanner
from cgens.estimators._probabilities import has_probabilities
from cgens.estimators._search import SearchEstimator
from cgens.estimators._shared_docs import expand_shared
from cgens.estimators.classifier import CGEnsClassifier
from cgens.types import AnyArray, Floats


@expand_shared
@dataclass(eq=False, repr=False)
class CGEnsClassifierCV(ClassLossPlanner, SearchEstimator):
    """CGEnsClassifier with C and the number of weak learners selected by cross-validation over shared columns.

    Each fold finds columns at the middle C and solves over the first k of them for every C and k: far less work than a
    fit for every pair. If another C scores best, columns are found again at that C. The best pair is fitted on all
    rows. Folds run in parallel.

    Parameters
    ----------
    weak_learner : shared
    loss : {"auto", "hinge", "squared_hinge", "logistic", "least_squares"} or Loss, default="auto"
        As in `CGEnsClassifier`.
    Cs, n_estimators, stages : shared
    cv : int, splitter or iterable, default=5
        An integer gives stratified folds that do not depend on the order of the rows: copies of a row go to different
        folds, and a row with a large weight stays whole. There are at most as many folds as the largest class has rows.
    scoring : str, callable or None, default=None
        A scikit-learn scorer, which is passed the sample weights if it takes them. None: accuracy, weighted by the
        sample weights.
    tol, pricing, class_weight, categorical_features, store_history, random_state, n_jobs, verbose : shared

    Attributes
    ----------
    best_estimator_ : CGEnsClassifier
        Fitted on all rows.
    best_params_, best_index_, best_score_, C_, n_columns_, Cs_, stages_, column_Cs_, folds_, scores_ : shared
    cv_results_, classes_, n_features_in_, feature_names_in_, schema_, loss_, master_ : shared
    ensemble_, certificate_, feature_importances_, input_importances_, family_shares_ : shared

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from cgens import CGEnsClassifierCV
    >>> model = CGEnsClassifierCV(n_estimators=60).fit(*load_wine(return_X_y=True))
    >>> model.scores_.shape == (5, 7, len(model.stages_))
    True
    >>> bool(model.best_score_ > 0.95)
    True
    """

    weak_learner: Any = "stump"
    loss: Any = "auto"
    Cs: Any = 7
    n_estimators: int = 500
    stages: Any = "log"
    cv: Any = 5
    scoring: Any = None
    tol: float = 1e-3
    pricing: str = "auto"
    class_weight: Any = None
    categorical_features: Any = None
    store_history: bool = False
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    _estimator_class = CGEnsClassifier

    def _default_score(self, X: AnyArray, y: AnyArray, weight: Floats, decision: Floats) -> float:
        """Return the accuracy; all labels of a multilabel row must be correct."""
        correct = self.coding_.decode(decision) == y
        return float(np.average(correct if correct.ndim == 1 else correct.all(axis=1), weights=weight))

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """Return the class probabilities of the best model; see `CGEnsClassifier.predict_proba`."""
        return np.asarray(self._best().predict_proba(X))

    @available_if(has_probabilities)
    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of `predict_proba`."""
        return np.asarray(self._best().predict_log_proba(X))

    def decision_function(self, X: Any) -> Floats:
        """Return the decisions of the best model; see `CGEnsClassifier.decision_function`."""
        return np.asarray(self._best().decision_function(X))
