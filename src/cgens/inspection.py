"""Look at a fitted model without trusting it: everything here is plain NumPy on the data and the duals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cgens.coding import simplex_codes
from cgens.types import AnyArray, Floats, relative_gap
from cgens.weak_learners import Stump, StumpLearner

__all__ = ["CertificateCheck", "check_certificate", "stump_pool_prices", "stump_thresholds"]


@dataclass(frozen=True)
class CertificateCheck:
    """A certificate derived anew.

    Attributes
    ----------
    primal, dual, relative_gap : float
        Of the master problem over the selected columns.
    n_candidates : int or None
    max_price : float or None
    full_lower_bound, full_relative_gap : float or None
        Of the master problem over the whole pool; None where the certificate does not speak of a pool, or of one that
        is not made of stumps: this module knows no other.
    problems : tuple of str
        One sentence for each disagreement with ``model.certificate_`` and for each violated constraint.
    """

    primal: float
    dual: float
    relative_gap: float
    n_candidates: int | None
    max_price: float | None
    full_lower_bound: float | None
    full_relative_gap: float | None
    problems: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether the model's certificate holds."""
        return not self.problems


def check_certificate(model: Any, X: Any, y: Any, sample_weight: Any = None, *, rtol: float = 1e-9) -> CertificateCheck:
    """Derive a model's certificate again from the training data, the model, and the duals of the hinge loss.

    Parameters
    ----------
    model : CGEnsClassifier or CGEnsRegressor
        Fitted on `X` and `y`; of a cross-validated one the best estimator is checked.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
    sample_weight : array-like of shape (n_samples,), optional
        As given to ``fit``.
    rtol : float
        Largest difference that counts as rounding, relative to the primal value.

    Returns
    -------
    check : CertificateCheck
        ``check.agrees``, or the sentences in ``check.problems``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from cgens import CGEnsClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CGEnsClassifier(n_estimators=50).fit(X, y)
    >>> check_certificate(model, X, y).agrees
    True
    """
    model = getattr(model, "best_estimator_", model)
    check_is_fitted(model)
    if not hasattr(model, "loss_"):
        raise TypeError(f"Certificates of CGEnsClassifier and CGEnsRegressor can be derived again; got {model!r}.")
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    weight = _fit_weights(model, y, sample_weight)
    kept = weight > 0
    X, y, weight = X[kept], y[kept], weight[kept]
    problem = _Problem(model.loss_, _fit_target(model, y), model.C_ * weight)
    certificate = model.certificate_
    problems: list[str] = []

    # The model's objective and the dual value of its duals, over the selected columns.
    learners = model.ensemble_.learners
    responses = np.array([learner.respond(X) for learner in learners], dtype=np.float64).reshape(len(learners), len(X))
    decision = responses.T @ model.ensemble_.weights + model.ensemble_.intercept
    duals = _matrix(model.duals_)[kept] if problem.is_hinge else problem.residual_duals(decision)
    primal = 0.5 * np.sum(model.ensemble_.weights**2) + problem.loss(decision)
    # What counts as rounding: a share of the objective, and what the rounding of F is multiplied by.
    sizes = np.abs(responses).T @ np.abs(model.ensemble_.weights) + np.abs(model.ensemble_.intercept)
    scale = rtol * primal + problem.rounding(decision, sizes, len(learners))
    problems += problem.infeasibilities("duals_", duals)
    dual = problem.dual(duals, np.sum((responses @ duals) ** 2))
    ratio = scale / max(primal, np.finfo(float).tiny)
    _compare(problems, "primal", certificate.primal, primal, scale)
    _compare(problems, "dual", certificate.dual, dual, scale)
    _compare(problems, "relative_gap", certificate.relative_gap, relative_gap(primal, dual), ratio)
    if primal - dual < -scale:
        problems.append(f"The gap is negative: primal {primal!r}, dual {dual!r}.")

    n_candidates = max_price = full_bound = full_gap = None
    family = Stump() if model.weak_learner == "stump" else model.weak_learner
    if certificate.scope == "pool" and isinstance(family, Stump):
        taken = [learner for learner in learners if isinstance(learner, StumpLearner)]
        prices, free = stump_pool_prices(X, weight, duals, family.max_bins, taken)
        n_candidates, max_price = len(prices), float(np.abs(prices[free]).max(initial=0.0))
        if problem.is_hinge:
            bound_duals = _matrix(model.bound_duals_)[kept]
        else:
            weights, intercept = model.trace_.bound_weights, model.trace_.bound_intercept
            bound_duals = problem.residual_duals(responses[: len(weights)].T @ weights + intercept)
        problems += problem.infeasibilities("bound_duals_", bound_duals)
        energy = np.sum(stump_pool_prices(X, weight, bound_duals, family.max_bins, ())[0] ** 2)
        full_bound = problem.pool_bound(bound_duals, energy)
        full_gap = float(relative_gap(primal, full_bound))
        _compare(problems, "n_candidates", certificate.n_candidates, n_candidates, 0)
        if not np.isnan(certificate.max_price):  # after Ctrl-C nothing is priced any more
            _compare(problems, "max_price", certificate.max_price, max_price, rtol * max(1.0, np.abs(duals).sum()))
        _compare(problems, "full_lower_bound", certificate.full_lower_bound, full_bound, scale)
        _compare(problems, "full_relative_gap", certificate.full_relative_gap, full_gap, ratio)
    return CertificateCheck(
        primal=float(primal),
        dual=float(dual),
        relative_gap=float(relative_gap(primal, dual)),
        n_candidates=n_candidates,
        max_price=max_price,
        full_lower_bound=full_bound,
        full_relative_gap=full_gap,
        problems=tuple(problems),
    )


@dataclass(frozen=True)
class _Problem:
    """The master problem written down once more: its loss, its dual, and what its duals must fulfil."""

    name: str
    target: Floats  # (m, l)
    bound: Floats  # (m,): C times the weights

    @property
    def is_hinge(self) -> bool:
        return self.name == "hinge"

    def loss(self, decision: Floats) -> float:
        """Return the losses' part of the objective (EQ:SVM1, EQ:SLSVM1)."""
        if self.is_hinge:
            return float(np.sum(self.bound[:, None] * np.maximum(0.0, 1.0 - self.target * decision)))
        return float(0.5 * np.sum(self.bound[:, None] * (self.target - decision) ** 2))

    def rounding(self, decision: Floats, sizes: Floats, n_columns: int) -> float:
        """Return what the objectives move by when a decision, of terms of these sizes, is rounded differently."""
        eps = np.finfo(float).eps
        slope = 1.0 if self.is_hinge else np.abs(self.target - decision)
        first_order = 8 * eps * np.sum(self.bound[:, None] * slope * (1 + np.abs(decision)))
        if self.is_hinge:
            return float(first_order)
        # The duals of least squares move too, which at the optimum of the dual is of second order: by independent steps
        # in every price.
        return float(first_order + 0.5 * n_columns * np.sum((4 * eps * self.bound[:, None] * (1 + sizes)) ** 2))

    def residual_duals(self, decision: Floats) -> Floats:
        """Return the duals of least squares that belong to a model, C s (L - F).

        They sum to 0 but for the rounding of F, which a large C multiplies: the intercept that makes them do so is the
        best one, and differs from the model's by rounding only.
        """
        residual = self.target - decision
        return np.asarray(self.bound[:, None] * (residual - self.bound @ residual / self.bound.sum()))

    def dual(self, duals: Floats, energy: float) -> float:
        """Return the dual objective, given the sum of price^2 over the columns (EQ:SVM_D1, the paper's appendix)."""
        if self.is_hinge:
            return float(np.abs(duals).sum() - 0.5 * energy)
        return float(self.fit(duals) - 0.5 * (energy + np.sum(duals**2 / self.bound[:, None])))

    def fit(self, duals: Floats) -> float:
        """Return tr(L'U); duals sum to 0, so the target may be measured from its first row: sums then round less."""
        return float(np.sum((self.target - self.target[0]) * duals))

    def pool_bound(self, duals: Floats, energy: float) -> float:
        """Return the dual objective over a whole pool, at the best multiple of the duals."""
        if self.is_hinge:
            total = np.abs(duals).sum()
            shrink = min(1.0, total / energy) if energy > 0 else 1.0
            return float(shrink * total - 0.5 * shrink**2 * energy)
        whole = energy + np.sum(duals**2 / self.bound[:, None])
        return float(0.5 * self.fit(duals) ** 2 / whole) if whole > 0 else 0.0

    def infeasibilities(self, name: str, duals: Floats) -> list[str]:
        """Return a sentence for each constraint that the duals violate."""
        problems = []
        if self.is_hinge:
            slack = 1e-12 * max(1.0, float(self.bound.max()))
            alphas = self.target * duals
            if np.any(alphas < -slack) or np.any(alphas > self.bound[:, None] + slack):
                worst = float(max(-alphas.min(), (alphas - self.bound[:, None]).max()))
                problems.append(f"{name} leave their box [0, C] by up to {worst:.3g}.")
        sums, sizes = duals.sum(axis=0), np.abs(duals).sum(axis=0)
        rounding = (
            0.0 if self.is_hinge else 64 * np.finfo(float).eps * (self.bound @ np.abs(self.target - self.target[0]))
        )
        if np.any(np.abs(sums) > 1e-9 * np.maximum(sizes, np.finfo(float).tiny) + rounding):
            problems.append(f"{name} do not sum to 0 but to {sums[np.argmax(np.abs(sums))]:.3g}.")
        return problems


def _matrix(duals: Floats) -> Floats:
    return duals if duals.ndim == 2 else duals[:, None]


def stump_thresholds(values: Floats, weight: Floats, max_bins: int | None) -> Floats:
    """Return the thresholds that are priced on one feature, ascending.

    Parameters
    ----------
    values : ndarray of shape (n,)
    weight : ndarray of shape (n,)
        Positive.
    max_bins : int or None
        As in `cgens.weak_learners.Stump`.

    Examples
    --------
    >>> stump_thresholds(np.array([3.0, 1.0, 1.0, 2.0]), np.ones(4), None)
    array([1.5, 2.5])
    """
    distinct, inverse = np.unique(values, return_inverse=True)
    cuts = np.arange(len(distinct) - 1)
    if max_bins is not None and len(distinct) > max_bins:
        weights = np.bincount(inverse, weights=weight)
        left, filled = float(weights.sum()), 0.0
        chosen: list[int] = []
        for k in cuts:
            filled += weights[k]
            # A bin is closed by the value that fills its share of what was left when it was opened, but for rounding.
            if len(chosen) + 1 < max_bins and filled >= (1 - 1e-9) * left / (max_bins - len(chosen)):
                chosen.append(int(k))
                left, filled = left - filled, 0.0
        cuts = np.array(chosen, dtype=np.intp)
    low, high = distinct[cuts], distinct[cuts + 1]
    middle = 0.5 * low + 0.5 * high
    return np.where((middle >= low) & (middle < high), middle, low)


def stump_pool_prices(
    X: Floats, weight: Floats, duals: Floats, max_bins: int | None, taken: Any
) -> tuple[Floats, AnyArray]:
    """Return the prices of all stumps with distinct responses up to sign, and which of them are not in `taken`.

    Parameters
    ----------
    X : ndarray of shape (m, n_features)
    weight : ndarray of shape (m,)
    duals : ndarray of shape (m, l)
    max_bins : int or None
    taken : iterable of StumpLearner

    Returns
    -------
    prices : ndarray of shape (n_candidates, l)
    free : ndarray of shape (n_candidates,)
    """
    seen: set[bytes] = set()
    prices, free = [], []
    taken_keys = {learner.key for learner in taken}
    for feature in range(X.shape[1]):
        thresholds = stump_thresholds(X[:, feature], weight, max_bins)
        above = X[:, feature, None] > thresholds
        above ^= above[:1]  # the first row always says False: responses that differ in sign become equal
        for k, pattern in enumerate(np.packbits(above, axis=0).T):
            key = pattern.tobytes()
            if key in seen:
                continue
            seen.add(key)
            prices.append(duals.sum(axis=0) - 2 * duals[X[:, feature] <= thresholds[k]].sum(axis=0))
            free.append((feature, float(thresholds[k])) not in taken_keys)
    return np.array(prices).reshape(len(prices), duals.shape[1]), np.array(free, dtype=bool)


def _fit_target(model: Any, y: AnyArray) -> Floats:
    """Return what the master fitted: codes of the classes, +-1 of the labels, or numbers."""
    if not hasattr(model, "classes_"):
        return _matrix(np.asarray(y, dtype=np.float64))
    if y.ndim == 2:
        return np.where(y != 0, 1.0, -1.0)
    own = y[:, None] == model.classes_
    if model.loss_ == "hinge" and len(model.classes_) > 2:
        return np.where(own, 1.0, -1.0)
    return np.asarray(simplex_codes(len(model.classes_))[own.argmax(axis=1)])


def _fit_weights(model: Any, y: AnyArray, sample_weight: Any) -> Floats:
    """Return sample weights times class weights, as `fit` used them; 0 for rows of classes that it left out."""
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    class_weight = getattr(model, "class_weight", None)
    if not hasattr(model, "classes_") or y.ndim == 2:
        return weight
    own = y[:, None] == model.classes_
    if class_weight is None:
        factors = np.ones(len(model.classes_))
    elif isinstance(class_weight, str):  # "balanced"
        totals = weight @ own
        factors = totals.sum() / (len(totals) * totals)
    else:
        factors = np.array([class_weight.get(label, 1.0) for label in model.classes_.tolist()])
    return np.asarray(weight * (own @ factors))


def _compare(problems: list[str], name: str, claimed: Any, derived: Any, tolerance: float) -> None:
    if not abs(claimed - derived) <= tolerance:
        problems.append(f"{name} is {claimed!r} in the certificate, but {derived!r} from the data.")
