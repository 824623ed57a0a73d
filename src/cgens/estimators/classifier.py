"""CGEns as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any

from cgens.estimators._classification import EnsembleClassifier
from cgens.estimators._losses import ClassLossPlanner


class CGEnsClassifier(ClassLossPlanner, EnsembleClassifier):
    """Ensemble that solves the SVM problem over all weak learners of a family, by column generation.

    Each round adds the weak learner that violates the SVM's optimality conditions most and re-solves the SVM over
    all weak learners so far. The result comes with a certificate: how far it is, at most, from the optimum.

    Two classes are told apart by the hinge loss. More have simplex codes as their targets, one unit vector a class, and
    least squares in closed form (CGEns-SLS): a round's work over the rows is the same for few classes and for many. y
    may also be an indicator matrix of several labels a row.

    Parameters
    ----------
    weak_learner : str, object or list, default="stump"
        "stump", "perceptron", "fourier", "tree", "box" or "linear"; a family with parameters such as
        ``cgens.weak_learners.Fourier(gamma=0.1)``; or a list of them for a mixture, each on columns of its own where it
        is a pair: ``["stump", (Fourier(standardize=True), ["age", "income"])]``.
    loss : {"auto", "hinge", "least_squares"}, default="auto"
        "auto" is "hinge" for two classes, else "least_squares". The hinge loss with more than two classes is one
        against the rest, a problem per class over the same weak learners. Least squares with two classes is the LS-SVM.
    C : float or "scale", default="scale"
        Weight of the losses, which are summed over rows. Larger fits the training rows closer. "scale" is a
        measured rule for each loss and family, for stumps 7 / total weight of the rows with the hinge loss, 0.01 with
        least squares; multiply ``C_`` of a fit by powers of 3 to tune, or use `CGEnsClassifierCV`.
    n_estimators : int, default=500
        Most columns (weak learners).
    tol : float, default=1e-3
        Relative duality gap of the final SVM over the selected columns.
    pricing : {"auto", "gain", "max"}, default="auto"
        Which weak learner a round adds. "max": the one of the largest price of a single output, as in the paper.
        "gain": the one that lowers the objective most, which only least squares knows, at the same cost. "auto" is
        "gain" where there is one.
    class_weight : dict, "balanced" or None
        Multiplies the sample weights by class.
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
        1 shows a progress bar: columns, duality gap over the columns selected so far, seconds left.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        For an indicator matrix the numbers of its columns.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X had column names.
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
    duals_ : ndarray of shape (n_samples,), or (n_samples, n_outputs) where there are several
        Signed duals of the rows of X: y_i a_i for the hinge loss, C times the weighted residuals for least squares.
    bound_duals_ : ndarray of the same shape, or None
        The duals that prove ``certificate_.full_lower_bound``.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Of stumps and trees: spread of each feature's part of the decision over the training rows, as a share of the
        sum.
    family_shares_ : dict of str to float
        Of a mixture: the same for each of its families, by name.

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
    """

    def __init__(
        self,
        weak_learner: Any = "stump",
        loss: str = "auto",
        C: float | str = "scale",
        n_estimators: int = 500,
        tol: float = 1e-3,
        pricing: str = "auto",
        class_weight: Any = None,
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
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.store_history = store_history
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
