"""CGEns as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cgens.estimators._automatic import AutomaticMixin
from cgens.estimators._classification import EnsembleClassifier
from cgens.estimators._losses import ClassLossPlanner
from cgens.estimators._probabilities import ProbabilityMixin
from cgens.estimators._shared_docs import expand_shared
from cgens.estimators._stopping import StoppingEstimator


@expand_shared
@dataclass(eq=False, repr=False)
class CGEnsClassifier(AutomaticMixin, ProbabilityMixin, ClassLossPlanner, StoppingEstimator, EnsembleClassifier):
    """Ensemble of weak learners that tunes itself, or that solves the SVM or another kernel machine over a family.

    Without parameters this is an automatic model: the weighted sum of random cosines and trees, chosen by exact
    leave-one-out errors and by errors on held-out rows, with probabilities. Each part is a kernel machine over its own
    columns.

    With a `weak_learner`, a `loss` or a `C` it is a single kernel machine over all weak learners of a family, fitted by
    column generation: each round adds the weak learner that most violates the optimality conditions and solves the
    problem again over all weak learners so far. The paper's methods are ``loss="hinge"``, the SVM (CGEns), and
    ``loss="least_squares"`` (CGEns-SLS): the targets of several classes are then simplex codes, one unit vector per
    class, fitted in closed form, and the work of a round over the rows does not grow with the number of classes.

    All models come with a certificate: an upper bound on their distance from the optimum. y may also be a multilabel
    indicator matrix.

    Parameters
    ----------
    weak_learner : str, object or list, default="auto"
        "auto": an automatic model, the weighted sum of random cosines, trees and, for images, learned cosines. It tunes
        itself by errors on rows that its parts were not fitted on, and ``auto_.summary()`` tells what it chose. If a
        parameter is set that belongs to a single family (``loss="hinge"``, `C`, `pricing`, `warm_start`,
        `early_stopping`, `checkpoint`), if a callback is set, and for large sparse X, "auto" stands for "stump".
        "stump", "perceptron", "fourier", "tree", "box", "linear", or a family with parameters such as
        ``cgens.weak_learners.Fourier(gamma=0.1)``: column generation over that family. A list of these is a mixture. A
        pair in the list gives a family its own columns of X:
        ``["stump", (Fourier(standardize=True), ["age", "income"])]``.
    loss : {"auto", "hinge", "squared_hinge", "logistic", "least_squares"} or Loss, default="auto"
        The automatic model uses least squares, and maps decisions to logits by a logistic regression on decisions for
        rows that it was not fitted on. For a family, "auto" is "logistic": the softmax over the same weak learners for
        more than two classes, one logistic function per label for labels. "logistic" and "least_squares" have
        `predict_proba`. Those of the logistic loss are well calibrated; those of least squares are not, but it is three
        to four times as fast for ten classes. The errors of "hinge" are about the same as those of "logistic". With
        more than two classes, both hinge losses are one-vs-rest: one problem per class, over the same weak learners.
        Least squares with two classes is the LS-SVM. An object such as ``cgens.masters.Logistic()`` or your own loss
        also works.
    C : float, "scale" or "auto", default="scale"
        Weight of the loss, which is summed over rows. A larger C fits the training rows more closely. "scale" is an
        empirical rule for each loss and family: for stumps, 7 / total weight of the rows with the hinge loss, twice
        that times the number of classes minus 1 with the logistic loss, and 0.01 with least squares. "auto" multiplies
        that by a factor with small leave-one-out errors: see the Notes. To tune C, multiply ``C_`` of a fit by powers
        of 3, or use `CGEnsClassifierCV`.
    n_estimators : int or "auto", default="auto"
        Maximum number of columns (weak learners). "auto": for the automatic model 600, and 150 more for each output
        (one for two classes, k - 1 for k classes, one for each label), at most 4000; for a family 500.
    tol, pricing, class_weight, warm_start, early_stopping, validation_fraction, n_iter_no_change : shared
    checkpoint, categorical_features, store_history, time_budget, random_state, n_jobs, verbose : shared

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, schema_, loss_, master_, C_, ensemble_, n_columns_, n_iter_ : shared
    trace_, certificate_ : shared
    duals_ : ndarray of shape (n_samples,), or (n_samples, n_outputs) for more than one output
        Signed duals of the rows of X: y_i a_i for the hinge loss, minus C times the weighted derivative of a smooth
        loss.
    bound_duals_, feature_importances_, input_importances_, weak_learner_, parts_, auto_, calibration_ : shared
    family_shares_ : shared
    validation_losses_ : shared

    Notes
    -----
    ``C="auto"`` solves ridge regression over the whole pool, with closed-form leave-one-out errors, for squared
    residuals and 11 multiples of their default C, and takes the multiple of the least error times squared error. C is
    that multiple of the default of the loss itself, times (n / n_estimators)^(3/4) if the pool has n > n_estimators
    candidates, because fewer columns need smaller penalties. At most 3000 random rows and 1000 columns of the pool, at
    equal distances, take part. A row is left out with all its copies, and with its whole weight, unless there are few
    copies or the same inputs also occur with other targets. The errors are honest only if the pool does not depend on
    y. Stumps, boxes, raw features, a `Pool` of learners that were not fitted to y, cosines and perceptrons with
    ``pool="fixed"`` and ``learn=False``, and mixtures of these have such a pool; others, among them trees, learned
    cosines and a learned metric, are refused: use `CGEnsClassifierCV`. A warm start chooses C again, for the new rows;
    early stopping chooses it on all rows, including those that it holds out.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from cgens import CGEnsClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = CGEnsClassifier(n_estimators=100).fit(X_train, y_train)
    >>> bool(model.score(X_test, y_test) > 0.95)
    True
    >>> model.certificate_.relative_gap <= model.tol
    True

    With C by leave-one-out errors:

    >>> model = CGEnsClassifier("stump", C="auto", n_estimators=100).fit(X_train, y_train)
    >>> bool(model.score(X_test, y_test) > 0.95)
    True
    """

    weak_learner: Any = "auto"
    loss: Any = "auto"
    C: float | str = "scale"
    n_estimators: int | str = "auto"
    tol: float = 1e-3
    pricing: str = "auto"
    class_weight: Any = None
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
