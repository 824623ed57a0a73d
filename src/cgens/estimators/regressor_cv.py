"""Regression over weak learners, with cross-validated parameters, as a scikit-learn regressor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cgens.estimators._losses import RegressionLossPlanner
from cgens.estimators._search import SearchEstimator
from cgens.estimators._shared_docs import expand_shared
from cgens.estimators.regressor import CGEnsRegressor
from cgens.types import AnyArray, Floats


@expand_shared
@dataclass(eq=False, repr=False)
class CGEnsRegressorCV(RegressionLossPlanner, SearchEstimator):
    """CGEnsRegressor with C and the number of weak learners selected by cross-validation over shared columns.

    Each fold finds columns at the middle C and solves over the first k of them for every C and k: far less work than a
    fit for every pair. If another C scores best, columns are found again at that C. The best pair is fitted on all
    rows. Folds run in parallel.

    Parameters
    ----------
    weak_learner : shared
    loss : {"squared", "huber", "quantile", "epsilon_insensitive", "poisson"} or Loss, default="squared"
        As in `CGEnsRegressor`.
    quantile : float, list of float or None, default=None
        As in `CGEnsRegressor`.
    Cs, n_estimators, stages : shared
    cv : int, splitter or iterable, default=5
        An integer gives folds that do not depend on the order of the rows: copies of a row go to different folds, and a
        row with a large weight stays whole. There are at most half as many folds as rows.
    scoring : str, callable or None, default=None
        A scikit-learn scorer, which is passed the sample weights if it takes them. None: weighted R^2, the mean over
        the outputs; for "quantile" and "poisson" D^2, 1 minus the ratio of the loss to that of the best constant
        prediction.
    tol, pricing, categorical_features, store_history, random_state, n_jobs, verbose : shared

    Attributes
    ----------
    best_estimator_ : CGEnsRegressor
        Fitted on all rows.
    best_params_, best_index_, best_score_, C_, n_columns_, Cs_, stages_, column_Cs_, folds_, scores_ : shared
    cv_results_, n_features_in_, feature_names_in_, schema_, n_outputs_, loss_, master_ : shared
    ensemble_, certificate_, feature_importances_, input_importances_, family_shares_ : shared

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from cgens import CGEnsRegressorCV
    >>> model = CGEnsRegressorCV(n_estimators=60).fit(*load_diabetes(return_X_y=True))
    >>> bool(model.best_score_ > 0.4)
    True
    """

    weak_learner: Any = "stump"
    loss: Any = "squared"
    quantile: Any = None
    Cs: Any = 7
    n_estimators: int = 500
    stages: Any = "log"
    cv: Any = 5
    scoring: Any = None
    tol: float = 1e-3
    pricing: str = "auto"
    categorical_features: Any = None
    store_history: bool = False
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    _estimator_class = CGEnsRegressor

    def _default_score(self, X: AnyArray, y: AnyArray, weight: Floats, decision: Floats) -> float:
        """Return the score of the loss, such as R^2."""
        return self._loss.score(decision, self.coding_.encode(y), weight)
