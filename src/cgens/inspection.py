"""Look at a fitted model without trusting it: everything here is plain NumPy on the data and the duals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cgens.types import AnyArray, Floats, relative_gap
from cgens.weak_learners import Stump, StumpLearner

__all__ = ["CertificateCheck", "check_certificate", "stump_pool_prices", "stump_thresholds"]


@dataclass(frozen=True)
class CertificateCheck:
    """A certificate derived anew.

    Attributes
    ----------
    primal, dual, relative_gap : float
        Of the SVM over the selected columns.
    n_candidates : int or None
    max_price : float or None
    full_lower_bound, full_relative_gap : float or None
        Of the SVM over the whole pool; None where the certificate does not speak of a pool, or of one that is not
        made of stumps: this module knows no other.
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
    """Derive a model's certificate again from the training data and its duals.

    Parameters
    ----------
    model : CGEnsClassifier
        Fitted on `X` and `y`.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
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
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    weight = _fit_weights(model, y, sample_weight)
    bound, certificate = model.C_ * weight, model.certificate_
    problems: list[str] = []

    # The model's objective (EQ:SVM1), and the dual value of its duals (EQ:SVM_D1), over the selected columns.
    learners = model.ensemble_.learners
    responses = np.array([learner.respond(X) for learner in learners], dtype=np.float64).reshape(len(learners), len(X))
    weights, intercept = model.ensemble_.weights[:, 0], model.ensemble_.intercept[0]
    decision = weights @ responses + intercept
    primal = 0.5 * weights @ weights + bound @ np.maximum(0.0, 1.0 - signs * decision)
    # What counts as rounding: a share of the objective, and what the rounding of F is multiplied by, C s_i.
    scale = rtol * primal + 8 * np.finfo(float).eps * bound @ (1 + np.abs(decision))
    problems += _infeasibilities("duals_", model.duals_, signs, bound)
    dual = np.abs(model.duals_).sum() - 0.5 * np.sum((responses @ model.duals_) ** 2)
    _compare(problems, "primal", certificate.primal, primal, scale)
    _compare(problems, "dual", certificate.dual, dual, scale)
    _compare(problems, "relative_gap", certificate.relative_gap, relative_gap(primal, dual), scale / primal)
    if primal - dual < -scale:
        problems.append(f"The gap is negative: primal {primal!r}, dual {dual!r}.")

    n_candidates = max_price = full_bound = full_gap = None
    family = Stump() if model.weak_learner == "stump" else model.weak_learner
    if certificate.scope == "pool" and isinstance(family, Stump):
        max_bins = family.max_bins
        taken = [learner for learner in learners if isinstance(learner, StumpLearner)]
        kept = weight > 0
        prices, free = stump_pool_prices(X[kept], weight[kept], model.duals_[kept], max_bins, taken)
        n_candidates, max_price = len(prices), float(np.abs(prices[free]).max(initial=0.0))
        problems += _infeasibilities("bound_duals_", model.bound_duals_, signs, bound)
        energy = np.sum(stump_pool_prices(X[kept], weight[kept], model.bound_duals_[kept], max_bins, ())[0] ** 2)
        total = np.abs(model.bound_duals_).sum()
        shrink = min(1.0, total / energy) if energy > 0 else 1.0
        full_bound = float(shrink * total - 0.5 * shrink**2 * energy)
        full_gap = float(relative_gap(primal, full_bound))
        _compare(problems, "n_candidates", certificate.n_candidates, n_candidates, 0)
        if not np.isnan(certificate.max_price):  # after Ctrl-C nothing is priced any more
            _compare(problems, "max_price", certificate.max_price, max_price, rtol * max(1.0, total))
        _compare(problems, "full_lower_bound", certificate.full_lower_bound, full_bound, scale)
        _compare(problems, "full_relative_gap", certificate.full_relative_gap, full_gap, scale / primal)
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
    """Return the prices of all stumps with distinct responses up to sign, and which of them are not in `taken`."""
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
            prices.append(duals.sum() - 2 * duals[X[:, feature] <= thresholds[k]].sum())
            free.append((feature, float(thresholds[k])) not in taken_keys)
    return np.array(prices), np.array(free, dtype=bool)


def _fit_weights(model: Any, y: AnyArray, sample_weight: Any) -> Floats:
    """Return sample weights times class weights, as `fit` used them."""
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    second = y == model.classes_[1]
    if model.class_weight is None:
        return weight
    if isinstance(model.class_weight, str):  # "balanced"
        totals = np.array([weight[~second].sum(), weight[second].sum()])
        factors = totals.sum() / (2 * totals)
    else:
        factors = np.array([model.class_weight.get(label, 1.0) for label in model.classes_.tolist()])
    return np.asarray(weight * factors[second.astype(np.intp)])


def _infeasibilities(name: str, duals: Floats, signs: Floats, bound: Floats) -> list[str]:
    problems = []
    slack = 1e-12 * max(1.0, float(bound.max()))
    alphas = signs * duals
    if np.any(alphas < -slack) or np.any(alphas > bound + slack):
        worst = float(max(-alphas.min(), (alphas - bound).max()))
        problems.append(f"{name} leave their box [0, C] by up to {worst:.3g}.")
    if abs(duals.sum()) > 1e-9 * max(np.abs(duals).sum(), np.finfo(float).tiny):
        problems.append(f"{name} do not sum to 0 but to {duals.sum():.3g}.")
    return problems


def _compare(problems: list[str], name: str, claimed: Any, derived: Any, tolerance: float) -> None:
    if not abs(claimed - derived) <= tolerance:
        problems.append(f"{name} is {claimed!r} in the certificate, but {derived!r} from the data.")
