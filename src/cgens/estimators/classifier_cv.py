"""Cross-validated CGEns as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cgens.estimators._losses import ClassLossPlanner
from cgens.estimators._search import SearchEstimator
from cgens.estimators.classifier import CGEnsClassifier
from cgens.types import AnyArray, Floats


class CGEnsClassifierCV(ClassLossPlanner, SearchEstimator):
    """CGEnsClassifier with C and the number of columns chosen by cross-validation, in one pass.

    Each fold looks for columns once, at the middle C, and solves over the first so many of them for every other C:
    far less work than a fit for every pair. The best pair is fitted on all rows.

    Parameters
    ----------
    weak_learner, loss, tol, pricing, class_weight, store_history, random_state
        As in `CGEnsClassifier`.
    Cs : int or list of float, default=7
        Values of C, or how many of them: the default C and its neighbours, each 3 times the last.
    n_estimators : int, default=500
        Most columns.
    columns : "staged", "paper" or list of int, default="staged"
        Numbers of columns to choose from. "staged": up to 25 from 5 to `n_estimators`, evenly spaced on a log scale.
        "paper": 25, 50, 100, 250 and 500; with ``cv=5`` that is the paper's protocol.
    cv : int, splitter or iterable, default=5
        A number makes stratified folds of *distinct* rows in an order that depends on their content alone:
        copies of a row stay together, so that a weight of k is the same as k copies. There are fewer folds where there
        are not as many distinct rows (in the largest class, where there are classes).
    scoring : str, callable or None
        A scorer of scikit-learn. None is accuracy, weighted by the sample weights.
        Scorers that take weights get them.
    n_jobs : int or None
        Threads; folds run beside each other. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    best_estimator_ : CGEnsClassifier
        Fitted on all rows.
    best_params_ : dict
        What was chosen: "C" and "n_estimators".
    C_ : float
        The chosen C.
    n_columns_ : int
        Columns of the best estimator: fewer than were chosen where there are no more.
    best_score_ : float
        Its mean score over the folds.
    Cs_, columns_ : ndarray
        The grid.
    folds_ : list of (ndarray, ndarray)
        Training and test rows of every fold.
    scores_ : ndarray of shape (n_folds, n_Cs, n_columns)
        Score of every fold, C and number of columns.
    cv_results_ : dict of ndarrays
        The same in columns, by the names of scikit-learn's searches, without times.
    ensemble_, certificate_, feature_importances_, family_shares_
        Of the best estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from cgens import CGEnsClassifierCV
    >>> model = CGEnsClassifierCV(n_estimators=60).fit(*load_wine(return_X_y=True))
    >>> model.scores_.shape == (5, 7, len(model.columns_))
    True
    >>> bool(model.best_score_ > 0.95)
    True
    """

    _plain_class = CGEnsClassifier

    def __init__(
        self,
        weak_learner: Any = "stump",
        loss: str = "auto",
        Cs: Any = 7,
        n_estimators: int = 500,
        columns: Any = "staged",
        cv: Any = 5,
        scoring: Any = None,
        tol: float = 1e-3,
        pricing: str = "auto",
        class_weight: Any = None,
        store_history: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.weak_learner = weak_learner
        self.loss = loss
        self.Cs = Cs
        self.n_estimators = n_estimators
        self.columns = columns
        self.cv = cv
        self.scoring = scoring
        self.tol = tol
        self.pricing = pricing
        self.class_weight = class_weight
        self.store_history = store_history
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _default_score(self, X: AnyArray, y: AnyArray, weight: Floats, decision: Floats) -> float:
        """Return the accuracy; of a multilabel row all labels must be right."""
        right = self.coding_.decode(decision) == y
        return float(np.average(right if right.ndim == 1 else right.all(axis=1), weights=weight))

    def decision_function(self, X: Any) -> Floats:
        """Return the decisions of the best model; see `CGEnsClassifier.decision_function`."""
        return np.asarray(self._best().decision_function(X))

    def staged_predict(self, X: Any) -> Iterator[AnyArray]:
        """Yield the best model's predictions after each round; see `CGEnsClassifier.staged_predict`."""
        yield from self._best().staged_predict(X)
