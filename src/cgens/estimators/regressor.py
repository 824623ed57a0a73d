"""Regularized regression over all weak learners as a scikit-learn regressor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cgens.estimators._automatic import AutomaticMixin
from cgens.estimators._losses import RegressionLossPlanner
from cgens.estimators._shared_docs import expand_shared
from cgens.estimators._stopping import StoppingEstimator


@expand_shared
@dataclass(eq=False, repr=False)
class CGEnsRegressor(AutomaticMixin, RegressionLossPlanner, StoppingEstimator):
    """Ensemble of weak learners for regression that tunes itself, or that solves one problem over a family.

    Without parameters this is an automatic model: the weighted sum of random cosines and trees, chosen by exact
    leave-one-out errors and by errors on held-out rows.

    With a `weak_learner`, a `loss` or a `C` it is regularized regression over all weak learners of a family, by column
    generation: each round adds the weak learner that most violates optimality (with smooth losses, the one that
    promises the largest decrease of the objective) and solves again for the weights of all of them: least squares in
    closed form, quantile and support vector regression by coordinate descent, Huber and Poisson by conjugate gradients.
    Several columns of y share the weak learners and are fitted together; with least squares that costs hardly more than
    fitting one.

    Parameters
    ----------
    weak_learner : str, object or list, default="auto"
        "auto": an automatic model, the weighted sum of random cosines, trees and, for images, learned cosines. It tunes
        itself by errors on rows that its parts were not fitted on, and ``auto_.summary()`` tells what it chose. If a
        parameter is set that belongs to a single family (``loss="huber"``, `C`, `pricing`, `warm_start`,
        `early_stopping`, `checkpoint`), if a callback is set, and for large sparse X, "auto" stands for "stump".
        "stump", "perceptron", "fourier", "tree", "box", "linear", or a family with parameters such as
        ``cgens.weak_learners.Fourier(gamma=0.1)``: column generation over that family. A list of these is a mixture. A
        pair in the list gives a family its own columns of X:
        ``["stump", (Fourier(standardize=True), ["age", "income"])]``.
    loss : {"squared", "huber", "quantile", "epsilon_insensitive", "poisson"} or Loss, default="squared"
        "squared": C/2 times the sum of squared residuals. "huber": residuals beyond 1.35 robust standard deviations
        of y count linearly (``cgens.masters.Huber(delta=...)`` for another threshold), so that outliers do little harm.
        "poisson": counts, with predictions exp(F(x)). "quantile": C times the sum of the pinball losses, for
        the quantile of the parameter `quantile`. "epsilon_insensitive": support vector regression, C times the sum of
        max(0, |residual| - epsilon), where epsilon is 0.1 times a robust standard deviation of y; for another one pass
        ``cgens.masters.EpsilonInsensitive(epsilon=0.5)``.
    quantile : float, list of float or None, default=None
        For the loss "quantile": a number in (0, 1); None means 0.5. A list, for y of one dimension, gives one
        prediction per quantile, of shape (n_samples, n_quantiles), over the same weak learners; they are sorted, so
        that quantiles do not cross.
    C : float, "scale" or "auto", default="scale"
        Weight of the loss, which is summed over rows. A larger C fits the training rows more closely. "scale" is an
        empirical rule for each family. For stumps: 0.003 for "squared" and "huber"; 0.003 times a robust standard
        deviation of y for "quantile" and "epsilon_insensitive"; 7 / total weight of the rows for "poisson". "auto"
        multiplies that by a factor with small leave-one-out errors: see the Notes. To tune C, multiply ``C_`` of a fit
        by powers of 3, or use `CGEnsRegressorCV`.
    n_estimators : int or "auto", default="auto"
        Maximum number of columns (weak learners). "auto": for the automatic model 600, and 150 more for each output, at
        most 4000; for a family 500.
    tol, pricing, warm_start, early_stopping, validation_fraction, n_iter_no_change : shared
    checkpoint, categorical_features, store_history, time_budget, random_state, n_jobs, verbose : shared

    Attributes
    ----------
    n_features_in_, feature_names_in_, schema_, n_outputs_ : shared
    loss_, master_, C_, ensemble_, n_columns_, n_iter_, trace_, certificate_ : shared
    duals_ : ndarray of shape (n_samples,) or (n_samples, n_outputs_)
        Signed duals of the rows of X. For smooth losses, minus C times the weight times the derivative of the loss (for
        "squared", C times the weighted residual); for the others, between bounds proportional to C times the weight.
    bound_duals_, feature_importances_, input_importances_, weak_learner_, parts_, auto_, family_shares_ : shared
    validation_losses_ : shared

    Notes
    -----
    ``C="auto"`` solves ridge regression over the whole pool, with closed-form leave-one-out errors, for squared
    residuals and 11 multiples of their default C, and takes the multiple of the least squared error, with all outputs
    scaled to the same variance. C is that multiple of the default of the loss itself, times (n / n_estimators)^(3/4) if
    the pool has n > n_estimators candidates, because fewer columns need smaller penalties. At most 3000 random rows and
    1000 columns of the pool, at equal distances, take part. A row is left out with all its copies, and with its whole
    weight, unless there are few copies or the same inputs also occur with other targets. The errors are honest only if
    the pool does not depend on y. Stumps, boxes, raw features, a `Pool` of learners that were not fitted to y, cosines
    and perceptrons with ``pool="fixed"`` and ``learn=False``, and mixtures of these have such a pool; others, among
    them trees, learned cosines and a learned metric, are refused: use `CGEnsRegressorCV`. A warm start chooses C again,
    for the new rows; early stopping chooses it on all rows, including those that it holds out.

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

    weak_learner: Any = "auto"
    loss: Any = "squared"
    quantile: Any = None
    C: float | str = "scale"
    n_estimators: int | str = "auto"
    tol: float = 1e-3
    pricing: str = "auto"
    warm_start: bool = False
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 20
    checkpoint: Any = None
    categorical_features: Any = None
    store_history: bool = False
    time_budget: float | None = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    _constant_prediction = "the mean of y, or its quantile"
