"""CGEns as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.validation import _check_sample_weight

from cgens.coding import ClassCoding, LabelCoding
from cgens.estimators._base import EnsembleEstimator, FitProblem
from cgens.estimators._inputs import validated_labels
from cgens.estimators._parameters import total_weight
from cgens.types import AnyArray, Floats


class CGEnsClassifier(ClassifierMixin, EnsembleEstimator):  # type: ignore[misc]
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

    _targets_word, _constant_word = "the classes", "the heavier class"
    _coding: ClassCoding | LabelCoding

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
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers. float32 and float64 arrays are read as they are, in any memory order.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Two or more distinct labels of any kind; or an indicator of 0 and 1 for several labels a row.
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

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> FitProblem:
        self._check_parameters(("auto", "hinge", "least_squares"))
        X, y, several = validated_labels(self, X, y, reset=self._earlier_ensemble() is None)
        sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if several:
            return self._prepare_labels(X, y, sample_weight)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"Two classes are needed; y has 1 class, {self.classes_[0]!s}.")
        factors = self._class_factors(numbers, sample_weight)
        if not factors.all():  # a weight of 0 is the same as leaving the rows out, and their class with them
            sample_weight = np.where(factors[numbers] > 0, sample_weight, 0.0)
            numbers = np.maximum(np.cumsum(factors > 0) - 1, 0)[numbers]
            self.classes_, factors = self.classes_[factors > 0], factors[factors > 0]
        n_classes = len(self.classes_)
        loss = ("hinge" if n_classes == 2 else "least_squares") if self.loss == "auto" else self.loss
        one_vs_rest = loss == "hinge" and n_classes > 2
        self._coding = ClassCoding.one_vs_rest(n_classes) if one_vs_rest else ClassCoding.simplex(n_classes)
        return FitProblem(X, self._coding.encode(numbers), sample_weight, factors[numbers], numbers, loss, y)

    def _prepare_labels(self, X: AnyArray, y: AnyArray, sample_weight: Floats) -> FitProblem:
        """Return the problem of several labels a row."""
        if self.class_weight is not None:
            raise ValueError(f"class_weight is for one label a row; got {self.class_weight!r}: use sample_weight.")
        if not sample_weight.any():
            raise ValueError("All sample weights are 0: there is nothing to fit.")
        self.classes_ = np.arange(y.shape[1])
        self._coding = LabelCoding(y.shape[1])
        everything = np.zeros(len(X), dtype=np.intp)
        loss = "least_squares" if self.loss == "auto" else self.loss
        return FitProblem(X, self._coding.encode(y), sample_weight, np.ones(len(X)), everything, loss, y)

    def _class_factors(self, numbers: AnyArray, sample_weight: Floats) -> Floats:
        """Return what `class_weight` multiplies each class by, 0 where nothing is left of a class.

        "balanced" counts weights, not rows.
        """
        # Class by class, each sum exactly rounded: the same in whatever order the rows come.
        ends = np.cumsum(np.bincount(numbers))
        sorted_weight = sample_weight[np.argsort(numbers, kind="stable")]
        totals = np.array([total_weight(part) for part in np.split(sorted_weight, ends[:-1])])
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            factors = totals.sum() / (np.sum(totals > 0) * np.where(totals > 0, totals, np.inf))
        else:
            factors = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_[numbers])
        if not np.all(np.isfinite(factors) & (factors >= 0)):
            raise ValueError(f"class_weight must have finite weights >= 0; got {self.class_weight!r}.")
        factors = np.where(totals > 0, factors, 0.0)
        if np.sum(factors > 0) < 2:
            gone = ", ".join(str(label) for label in self.classes_[factors == 0][:3])
            raise ValueError(
                f"Two classes are needed; all rows of class {gone} have weight 0, leaving {np.sum(factors > 0)} class."
            )
        return factors

    def decision_function(self, X: Any) -> Floats:
        """Return how much speaks for each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        decision : ndarray of shape (n_samples,) for two classes, else (n_samples, n_classes)
            F(x) = sum_j w_j h_j(x) + b, positive for ``classes_[1]``. For more classes its inner product with each
            class's code, for one against the rest and for several labels each one's own F(x).
        """
        decision = self._decision(X)  # first, for it says so where the model is not fitted
        return self._coding.scores(decision)

    def predict(self, X: Any) -> AnyArray:
        """Return the class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,), or (n_samples, n_labels) for an indicator matrix
        """
        return self._labels(self._decision(X))

    def _labels(self, decision: Floats) -> AnyArray:
        winners = self._coding.decode(decision)
        return winners if isinstance(self._coding, LabelCoding) else np.asarray(self.classes_[winners])

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield the decision after each round.

        Every round has its own weights for all its columns, in closed form or, for the hinge loss, solved to the loose
        tolerance used between rounds; the last one is the final model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        for decision in self._staged(X):
            yield self._coding.scores(decision)

    def staged_predict(self, X: Any) -> Iterator[AnyArray]:
        """Yield the predicted classes after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        labels : ndarray of shape (n_samples,) or (n_samples, n_labels)
        """
        for decision in self._staged(X):
            yield self._labels(decision)
