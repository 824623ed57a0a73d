"""Independent checks of a fitted model, in plain NumPy from the data and the duals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cgens.masters.loss import Loss
from cgens.types import AnyArray, Floats, relative_gap
from cgens.weak_learners import Stump, StumpLearner
from cgens.weak_learners.bins import MIN_LEVEL_WEIGHT
from cgens.weak_learners.thresholds import midpoints

__all__ = ["CertificateCheck", "check_certificate", "stump_pool_prices", "stump_responses", "stump_thresholds"]


@dataclass(frozen=True)
class CertificateCheck:
    """A certificate recomputed from the data.

    Attributes
    ----------
    primal, dual, relative_gap : float
        For the master problem over the selected columns.
    n_candidates : int or None
    max_price : float or None
    full_lower_bound, full_relative_gap : float or None
        For the master problem over the whole pool; None, as the two above, unless the pool consists of stumps.
    problems : tuple of str
        One message for each disagreement with ``model.certificate_`` and for each violated constraint.
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
        """Whether the certificate of the model is correct."""
        return not self.problems


def check_certificate(
    model: Any, X: Any, y: Any = None, sample_weight: Any = None, *, rtol: float = 1e-9
) -> CertificateCheck:
    """Recompute the certificate of a model from the training data, the model and, for non-smooth losses, its duals.

    Parameters
    ----------
    model : CGEnsClassifier, CGEnsRegressor or CGEnsOutlierDetector
        Fitted on `X` and `y`; for a cross-validated model, the best estimator is checked.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        None for an outlier detector.
    sample_weight : array-like of shape (n_samples,), optional
        As passed to ``fit``.
    rtol : float
        Largest difference attributed to rounding, relative to the primal value.

    Returns
    -------
    check : CertificateCheck
        ``check.agrees`` is True, or ``check.problems`` has the disagreements.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from cgens import CGEnsClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CGEnsClassifier("stump", n_estimators=50).fit(X, y)
    >>> check_certificate(model, X, y).agrees
    True
    """
    model = getattr(model, "best_estimator_", model)
    check_is_fitted(model)
    if hasattr(model, "parts_"):
        return _check_parts(model, X, y, sample_weight, rtol)
    if not hasattr(model, "loss_"):
        raise TypeError(
            f"check_certificate needs a CGEnsClassifier, CGEnsRegressor or CGEnsOutlierDetector; got {model!r}."
        )
    X = model._check_input(X)
    X = np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)
    if y is None and hasattr(model, "classes_"):
        raise ValueError("check_certificate needs the y that the model was fitted on.")
    y = np.zeros(len(X)) if y is None else np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    _check_data(model, X, y)
    weight = _fit_weights(model, y, sample_weight)
    kept = weight > 0
    X, y, weight = X[kept], y[kept], weight[kept]
    loss = model.master_
    problem = _Problem(loss, _fit_target(model, y), model.C_ * weight if hasattr(model, "C_") else loss.scale(weight))

    # The model's objective and the dual value of its duals, over the selected columns.
    learners, weights, intercept = model.ensemble_.learners, model.ensemble_.weights, model.ensemble_.intercept
    responses = np.array([learner.respond(X) for learner in learners], dtype=np.float64).reshape(len(learners), len(X))
    decision = responses.T @ weights + intercept
    duals = problem.derived_duals(decision) if loss.smooth else _as_matrix(model.duals_)[kept]
    primal = float(0.5 * np.sum(weights**2)) + loss.value(decision, problem.target, problem.scale)
    primal += loss.dual_sum * float(intercept.sum())
    dual = loss.dual_value(duals, problem.target, problem.scale, float(np.sum((responses @ duals) ** 2)))
    # Differences attributed to rounding: a share of the objective, and the rounding of F times its effect.
    sizes = np.abs(responses).T @ np.abs(weights) + np.abs(intercept)
    scale = rtol * abs(primal) + problem.rounding(decision, duals, sizes, len(learners))
    ratio = scale / max(abs(primal), np.finfo(float).tiny)
    found: dict[str, tuple[Any, float]] = {  # values and tolerances
        "primal": (primal, scale),
        "dual": (dual, scale),
        "relative_gap": (relative_gap(primal, dual), ratio),
    }
    problems = problem.infeasibilities("duals_", duals)
    if primal - dual < -scale:
        problems.append(f"The gap is negative: primal {primal!r}, dual {dual!r}.")

    family = model.weak_learner_
    if model.certificate_.scope == "pool" and isinstance(family, Stump):
        taken = [learner for learner in learners if isinstance(learner, StumpLearner)]
        is_category = model.schema_.is_category
        # Equal rows are merged before weights are compared with those of single rows.
        n_rows = len({row.tobytes() for row in np.hstack([X, problem.target]) + 0.0})
        least = MIN_LEVEL_WEIGHT * min(1.0, float(weight.sum()) / n_rows)
        prices, free = stump_pool_prices(X, weight, duals, family.max_bins, taken, is_category, least)
        if loss.smooth:
            weights, intercept = model.trace_.bound_weights, model.trace_.bound_intercept
            bound_duals = problem.derived_duals(responses[: len(weights)].T @ weights + intercept)
        else:
            bound_duals = _as_matrix(model.bound_duals_)[kept]
        problems += problem.infeasibilities("bound_duals_", bound_duals)
        energy = np.sum(stump_pool_prices(X, weight, bound_duals, family.max_bins, (), is_category, least)[0] ** 2)
        bound = loss.pool_bound(bound_duals, problem.target, problem.scale, float(energy))
        max_price = float(np.abs(prices[free]).max(initial=0.0))
        found |= {
            "n_candidates": (len(prices), 0),
            "max_price": (max_price, rtol * max(1.0, np.abs(duals).sum())),
            "full_lower_bound": (bound, scale),
            "full_relative_gap": (relative_gap(primal, bound), ratio),
        }
    for name, (value, tolerance) in found.items():
        claimed = getattr(model.certificate_, name)
        unpriced = name == "max_price" and np.isnan(claimed)  # after Ctrl-C
        if not unpriced and not abs(claimed - value) <= tolerance:
            problems.append(f"{name} is {claimed!r} in the certificate, but {value!r} recomputed from the data.")
    values: dict[str, Any] = dict.fromkeys(("n_candidates", "max_price", "full_lower_bound", "full_relative_gap"))
    values |= {name: value for name, (value, _) in found.items()}
    return CertificateCheck(**values, problems=tuple(problems))


def _check_parts(model: Any, X: Any, y: Any, sample_weight: Any, rtol: float) -> CertificateCheck:
    """Recompute the certificate of each part of an automatic model: objectives and bounds add up."""
    checks = {name: check_certificate(part, X, y, sample_weight, rtol=rtol) for name, part in model.parts_.items()}
    problems = [f"{name}: {problem}" for name, check in checks.items() for problem in check.problems]
    primal, dual = sum(own.primal for own in checks.values()), sum(own.dual for own in checks.values())
    for name, value in (("primal", primal), ("dual", dual)):
        claimed = getattr(model.certificate_, name)
        if not abs(claimed - value) <= rtol * abs(primal):
            problems.append(f"{name} is {claimed!r} in the certificate, but the parts add up to {value!r}.")
    unknown: dict[str, Any] = dict.fromkeys(("n_candidates", "max_price", "full_lower_bound", "full_relative_gap"))
    return CertificateCheck(primal, dual, relative_gap(primal, dual), **unknown, problems=tuple(problems))


def _check_data(model: Any, X: Floats, y: AnyArray) -> None:
    """Raise ValueError if these are not the data that the model was fitted on."""
    n_rows = model._duals.n_rows
    if not len(X) == len(y) == n_rows:
        raise ValueError(f"The model was fitted on {n_rows} rows; X has {len(X)} and y has {len(y)}.")
    if hasattr(model, "classes_") and y.ndim == 1 and not np.isin(y, model.classes_).any():
        raise ValueError(f"y has none of the classes of the model, {model.classes_.tolist()[:3]}: pass the training y.")


@dataclass(frozen=True)
class _Problem:
    """The master problem of a model, by the definitions of its loss."""

    loss: Loss
    target: Floats  # (m, l)
    scale: Floats  # (m,): C times the weights

    def rounding(self, decision: Floats, duals: Floats, sizes: Floats, n_columns: int) -> float:
        """Return how much rounding a decision, a sum of terms of these sizes, may change the objectives."""
        eps = np.finfo(float).eps
        first_order = 8 * eps * np.sum((self.scale[:, None] + np.abs(duals)) * (1 + np.abs(decision)))
        if not self.loss.smooth:
            return float(first_order)
        # The duals of a smooth loss change too. At the optimum of the dual that is a second-order effect, with
        # independent changes of all prices.
        return float(first_order + 0.5 * n_columns * np.sum((4 * eps * self.scale[:, None] * (1 + sizes)) ** 2))

    def derived_duals(self, decision: Floats) -> Floats:
        """Return the duals of a smooth loss, -C s gradient(F).

        They sum to 0 except for the rounding of F, which a large C amplifies: that rounding is taken out, as the
        intercept that makes the sum 0 would do.
        """
        duals = -self.scale[:, None] * self.loss.gradient(decision, self.target)
        return np.asarray(duals - self.scale[:, None] * (duals.sum(axis=0) / self.scale.sum()))

    def infeasibilities(self, name: str, duals: Floats) -> list[str]:
        """Return a message for each constraint that the duals violate."""
        problems = []
        worst = self.loss.infeasibility(duals, self.target, self.scale)
        if worst > 1e-12 * max(1.0, float(self.scale.max())):
            problems.append(f"{name} are outside their domain by up to {worst:.3g}.")
        sums, slack = duals.sum(axis=0), 1e-9 * np.maximum(np.abs(duals).sum(axis=0), np.finfo(float).tiny)
        if self.loss.smooth:
            slack += 64 * np.finfo(float).eps * (self.scale @ np.abs(self.target - self.target[0]))
        excess = np.abs(sums - self.loss.dual_sum)
        if np.any(excess > slack):
            problems.append(f"{name} sum to {sums[np.argmax(excess)]:.3g}, not to {self.loss.dual_sum:g}.")
        return problems


def _as_matrix(values: Floats) -> Floats:
    return values if values.ndim == 2 else values[:, None]


def stump_thresholds(values: Floats, weight: Floats, max_bins: int | None) -> Floats:
    """Return the candidate thresholds of one feature, in ascending order.

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
            # The value that fills a bin's share of the weight left when the bin began closes it, except for rounding.
            if len(chosen) + 1 < max_bins and filled >= (1 - 1e-9) * left / (max_bins - len(chosen)):
                chosen.append(int(k))
                left, filled = left - filled, 0.0
        cuts = np.array(chosen, dtype=np.intp)
    return midpoints(distinct[cuts], distinct[cuts + 1])


def stump_responses(
    values: Floats, weight: Floats, max_bins: int | None, is_category: bool = False, min_level_weight: float = 2.0
) -> AnyArray:
    """Return whether each row is above each split of one feature, shape (n, n_splits).

    Numbers are split at thresholds. With missing values these are above every threshold and above the largest number,
    then below every threshold. Levels of a category are split off one by one; those that are rare share one split, and
    missing values have their own.

    Examples
    --------
    >>> stump_responses(np.array([3.0, 1.0, np.nan]), np.ones(3), None).astype(int)
    array([[1, 0, 1],
           [0, 0, 0],
           [1, 1, 0]])
    """
    gaps = np.isnan(values)
    if is_category:
        levels, inverse = np.unique(values[~gaps], return_inverse=True)
        heavy = np.bincount(inverse, weights=weight[~gaps]) >= (1 - 1e-9) * min_level_weight
        sides = [values == level for level in levels[heavy]]
        if not heavy.all():
            sides.append(~np.isin(values, levels[~heavy]))
        if gaps.any():
            sides.append(gaps)
        return np.array(sides).T if len(sides) > 1 else np.zeros((len(values), 0), dtype=bool)
    above = values[:, None] > stump_thresholds(values[~gaps], weight[~gaps], max_bins)
    if gaps.any() and not gaps.all():
        above = np.hstack([above | gaps[:, None], gaps[:, None], above])
    return above


def stump_pool_prices(
    X: Floats,
    weight: Floats,
    duals: Floats,
    max_bins: int | None,
    taken: Any,
    is_category: AnyArray | None = None,
    min_level_weight: float = 2.0,
) -> tuple[Floats, AnyArray]:
    """Return the prices of all stumps with distinct responses up to sign, and whether each is not in `taken`.

    Parameters
    ----------
    X : ndarray of shape (m, n_features)
        NaN for missing values; levels of categories by their codes.
    weight : ndarray of shape (m,)
    duals : ndarray of shape (m, l)
    max_bins : int or None
    taken : iterable of StumpLearner
    is_category : ndarray of shape (n_features,), optional
        All columns are numbers if it is left out.
    min_level_weight : float
        A level with less weight shares a stump with all such levels.

    Returns
    -------
    prices : ndarray of shape (n_candidates, l)
    free : ndarray of shape (n_candidates,)
    """
    seen: set[bytes] = set()
    prices, free = [], []
    taken_patterns = {_patterns(learner.respond(X)[:, None] > 0)[0] for learner in taken}
    for feature, values in enumerate(X.T):
        own = is_category is not None and bool(is_category[feature])
        above = stump_responses(values, weight, max_bins, own, min_level_weight)
        for k, pattern in enumerate(_patterns(above)):
            if pattern in seen:
                continue
            seen.add(pattern)
            prices.append(duals.sum(axis=0) - 2 * duals[~above[:, k]].sum(axis=0))
            free.append(pattern not in taken_patterns)
    return np.array(prices).reshape(len(prices), duals.shape[1]), np.array(free, dtype=bool)


def _patterns(above: AnyArray) -> list[bytes]:
    """Return the content of each column; those that are opposite have the same."""
    return [pattern.tobytes() for pattern in np.packbits(above ^ above[:1], axis=0).T]


def _fit_target(model: Any, y: AnyArray) -> Floats:
    """Return the target of the master: class codes, +-1 for labels, or regression targets."""
    if not hasattr(model, "classes_"):
        return np.asarray(model.coding_.encode(np.asarray(y, dtype=np.float64)))
    if y.ndim == 2:
        return np.where(y != 0, 1.0, -1.0)
    own = y[:, None] == model.classes_
    return np.asarray(model.coding_.codes[own.argmax(axis=1)])


def _fit_weights(model: Any, y: AnyArray, sample_weight: Any) -> Floats:
    """Return sample weights times class weights, as used by `fit`; 0 for rows of classes that it ignored."""
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
