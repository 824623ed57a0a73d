"""Regularised least squares over all weak learners as a scikit-learn regressor."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import RegressorMixin

from cgens.estimators._base import EnsembleEstimator
from cgens.estimators._losses import RegressionLossPlanner


class CGEnsRegressor(RegressorMixin, RegressionLossPlanner, EnsembleEstimator):  # type: ignore[misc]
    """Ensemble that solves regularised least squares over all weak learners of a family, by column generation.

    Each round adds the weak learner that lowers the objective most and re-solves for the weights of all of them, in
    closed form. Several columns of y share the weak learners and are solved at once, for hardly more than the price
    of one.

    Parameters
    ----------
    weak_learner : str, object or list, default="stump"
        "stump", "perceptron", "fourier", "tree", "box" or "linear"; a family with parameters such as
        ``cgens.weak_learners.Fourier(gamma=0.1)``; or a list of them for a mixture, each on columns of its own where it
        is a pair: ``["stump", (Fourier(standardize=True), ["age", "income"])]``.
    loss : {"squared"}, default="squared"
        C/2 times the sum of squared residuals.
    C : float or "scale", default="scale"
        Weight of the losses, which are summed over rows. Larger fits the training rows closer. "scale" is a
        measured rule for each family, for stumps 0.003 whatever the scale of y; multiply ``C_`` of a fit by powers of 3
        to tune, or use `CGEnsRegressorCV`.
    n_estimators : int, default=500
        Most columns (weak learners).
    tol : float, default=1e-3
        Relative duality gap of the final problem over the selected columns. The closed form is exact but for rounding:
        it matters where C is so large that rounding does.
    pricing : {"auto", "gain", "max"}, default="auto"
        Which weak learner a round adds: the one that lowers the objective most ("gain", which is "auto"), or the one
        of the largest price of a single output ("max", the paper's rule).
    warm_start : bool, default=False
        Go on from the columns of the last ``fit``.
    store_history : bool, default=False
        Whether a pickle of the model keeps the weights of every round, which ``staged_predict`` needs: about
        n_estimators^2 / 2 numbers. In the process that fitted the model they are there anyway.
    random_state : int, RandomState or None
        For families that draw. Stumps do not.
    n_jobs : int or None
        Threads. None: as many as OpenMP would take. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X had column names.
    n_outputs_ : int
        Columns of y.
    loss_ : str
        The loss that was used.
    C_ : float
        The C that was used.
    ensemble_ : Ensemble
        Weak learners, weights and intercept.
    n_columns_, n_iter_ : int
        Number of weak learners, and of rounds in the last fit.
    trace_ : Trace
        Prices, objectives, gaps and seconds of every round.
    certificate_ : Certificate
        Primal, dual and gap, for the selected columns and for the whole pool.
    duals_ : ndarray of shape (n_samples,) or (n_samples, n_outputs_)
        C times the weighted residuals of the rows of X.
    bound_duals_ : ndarray of the same shape, or None
        The duals that prove ``certificate_.full_lower_bound``.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Of stumps and trees: spread of each feature's part of the prediction over the training rows, as a share of the
        sum.
    family_shares_ : dict of str to float
        Of a mixture: the same for each of its families, by name.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.model_selection import train_test_split
    >>> from cgens import CGEnsRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = CGEnsRegressor(n_estimators=100).fit(X_train, y_train)
    >>> bool(model.score(X_test, y_test) > 0.3)
    True
    """

    _targets_word, _constant_word = "the rows' targets", "the mean of y"

    def __init__(
        self,
        weak_learner: Any = "stump",
        loss: str = "squared",
        C: float | str = "scale",
        n_estimators: int = 500,
        tol: float = 1e-3,
        pricing: str = "auto",
        warm_start: bool = False,
        store_history: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.weak_learner = weak_learner
        self.loss = loss
        self.C = C
        self.n_estimators = n_estimators
        self.tol = tol
        self.pricing = pricing
        self.warm_start = warm_start
        self.store_history = store_history
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers. float32 and float64 arrays are read as they are, in any memory order.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Finite numbers.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative; a weight of k is the same as k copies of the row, 0 the same as leaving it out.

        Returns
        -------
        self

        Notes
        -----
        On Ctrl-C the rounds done are stored, with ``certificate_.status`` "interrupted", and KeyboardInterrupt goes on.
        A fit that fails leaves the estimator as it was.
        """
        return super().fit(X, y, sample_weight)
