"""A loss as an object: everything that estimators, searches and checks need to know about it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar, Self

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score

from cgens.coding import ClassCoding, LabelCoding, QuantileCoding, RegressionCoding
from cgens.default_c import CKind, DefaultC
from cgens.path_problem import PathProblem, PathSolutions
from cgens.types import AnyArray, Family, Floats, Poll, RestrictedMaster, Rule, Status, Target
from cgens.user_warnings import warn_user


class Loss(BaseEstimator):  # type: ignore[misc]
    """Base class of losses: min 1/2 |W|^2 + sum_i c_i loss(F(x_i), L_i), F = W'h + b, with c_i = C times the weight.

    A loss is the specification of a master problem (see `cgens.types.Master`), and is passed to estimators by its name
    or as an object. A subclass has `begin`, `losses`, `dual_values` and, if smooth, `gradient`; the other methods have
    defaults. ``examples/own_loss.py`` is a complete one.

    Attributes
    ----------
    name : str
    targets : frozenset of {"classes", "labels", "regression"}
        What it can fit: classes, a multilabel indicator matrix, regression targets.
    rules : tuple of {"max", "gain", "votes"}
        Pricing rules that it supports, the best one first.
    c_kind : {"margin", "squares", "regression"}
        Which of a family's default values of C it uses; `c_factor` multiplies it.
    smooth : bool
        Whether the duals are a function of the decisions; then a model need not store them.
    has_probabilities : bool
        Whether there is a `probabilities` method.
    nonnegative_targets : bool
        Whether regression targets must be >= 0.
    dual_sum : float
        What the duals of each output sum to: the coefficient of the intercept in the objective; 1 for the one-class
        SVM, else 0.
    """

    name: ClassVar[str]
    targets: ClassVar[frozenset[Target]] = frozenset()
    rules: ClassVar[tuple[Rule, ...]] = ("max",)
    c_kind: ClassVar[CKind] = "margin"
    c_factor: ClassVar[float] = 1.0
    repeats: bool = False
    positive_prices: bool = False
    smooth: bool = False
    has_probabilities: ClassVar[bool] = False
    nonnegative_targets: ClassVar[bool] = False
    dual_sum: ClassVar[float] = 0.0
    C: float | None

    def begin(self, target: Floats, sample_weight: Floats, n_threads: int) -> RestrictedMaster:
        """Return the restricted master without columns, for a target of shape (m, l)."""
        raise NotImplementedError

    def prepared(self, target: Floats, sample_weight: Floats) -> Self:
        """Return the loss with all parameters as numbers, for `begin`.

        Raises
        ------
        ValueError
            If C is invalid, or the loss cannot fit the target.
        """
        loss = self.for_target(target, sample_weight)
        loss.check_target(target)
        lightest = float(loss.scale(sample_weight).min())
        if not lightest > 1e-300:
            raise ValueError(f"C times the smallest sample weight is {lightest:.3g}: remove such rows, or increase C.")
        return loss

    def check_target(self, target: Floats) -> None:
        """Raise ValueError if the loss cannot fit the target."""

    def losses(self, decision: Floats, target: Floats) -> Floats:
        """Return the loss of every row for decisions of shape (m, l), shape (m,)."""
        raise NotImplementedError

    def dual_values(self, duals: Floats, target: Floats, scale: Floats) -> Floats:
        """Return the term of every row in the dual objective, shape (m,): -c_i loss*(-r_i / c_i), loss* the conjugate.

        Parameters
        ----------
        duals : ndarray of shape (m, l)
        target : ndarray of shape (m, l)
        scale : ndarray of shape (m,)
            The c_i: C times the weight of each row.
        """
        raise NotImplementedError

    def gradient(self, decision: Floats, target: Floats) -> Floats:
        """Return the derivative of `losses` with respect to the decisions, shape (m, l), if the loss is smooth."""
        raise NotImplementedError

    def probabilities(self, decision: Floats, codes: Floats | None) -> Floats:
        """Return probabilities of classes with these codes, shape (n, k); of labels if codes is None, shape (n, l)."""
        raise NotImplementedError

    def infeasibility(self, duals: Floats, target: Floats, scale: Floats) -> float:
        """Return the largest violation of the bounds of the duals; 0 if they are unbounded."""
        return 0.0

    def code_classes(self, classes: AnyArray) -> ClassCoding:
        """Return how classes are coded: by a simplex, unless the loss needs labels of +-1."""
        return ClassCoding.simplex(classes)

    def code_labels(self, n_labels: int) -> LabelCoding:
        """Return how a multilabel indicator matrix is coded."""
        return LabelCoding(n_labels)

    def code_numbers(self, flat: bool) -> RegressionCoding | QuantileCoding:
        """Return how regression targets are coded; `flat` if y has one dimension."""
        return RegressionCoding(flat)

    def for_target(self, target: Floats, weight: Floats) -> Self:
        """Return the loss with parameters such as "scale" replaced by numbers, in units of the target."""
        return self

    def default_c(self, family: Family, target: Floats, weight: Floats) -> float:
        """Return the C of ``C="scale"`` for a family and rows of these weights."""
        rule = getattr(family, "default_c", DefaultC())
        return self.c_factor * float(rule(self.c_kind, target.shape[1], total_weight(weight)))

    def scale(self, sample_weight: Floats) -> Floats:
        """Return the c_i, the factors of the losses of the rows: C times their weights, 1 times if C is None."""
        C = 1.0 if self.C is None else self.C
        if not 0 < C < np.inf:
            raise ValueError(f"C must be a finite number > 0; got {C}.")
        return C * sample_weight

    def value(self, decision: Floats, target: Floats, scale: Floats) -> float:
        """Return the loss term of the objective, sum_i c_i loss(F(x_i), L_i)."""
        return float((scale * self.losses(decision, target)).sum())

    def dual_value(self, duals: Floats, target: Floats, scale: Floats, energy: float) -> float:
        """Return the dual objective, given the sum of price^2 over the columns."""
        return float(np.sum(self.dual_values(duals, target, scale))) - 0.5 * energy

    def pool_bound(self, duals: Floats, target: Floats, scale: Floats, energy: float) -> float:
        """Return the best dual objective of multiples s of the duals, 0 <= s <= 1: these remain feasible."""
        return best_multiple(lambda s: self.dual_value(s * duals, target, scale, s * s * energy))

    def score(self, decision: Floats, target: Floats, weight: Floats) -> float:
        """Return the score of a regression for the selection of parameters: R^2, the mean over the outputs."""
        return float(r2_score(target, decision, sample_weight=weight))

    def solve_path(self, problem: PathProblem, interrupted: Poll) -> PathSolutions:
        """Solve for every C and number of columns; for each C, the columns are added stage by stage."""
        paths: PathSolutions = []
        worst = (0.0, 0.0)
        for C in problem.Cs:
            restricted = clone(self).set_params(C=C).begin(problem.target, problem.sample_weight, problem.n_threads)
            path, n_added = [], 0
            for stage in problem.stages:
                for j in range(n_added, stage):
                    restricted.add(problem.columns[j])
                n_added = stage
                solution = restricted.solve(problem.tol, interrupted)
                if interrupted():
                    return []
                path.append((solution.weights, solution.intercept))
                if solution.status is Status.NOT_CONVERGED:
                    gap = solution.relative_gap  # nan if the duals do not prove a bound
                    worst = max(worst, (np.inf if np.isnan(gap) else gap, C))
            paths.append(path)
        warn_about_path(worst, problem.tol)
        return paths


def best_multiple(value: Callable[[float], float]) -> float:
    """Return the maximum of a concave function over [0, 1], or almost."""
    found = minimize_scalar(lambda s: -value(s), bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-6})
    return max(-float(found.fun), value(1.0))


def warn_about_path(worst: tuple[float, float], tol: float) -> None:
    """Warn if the solution with the largest relative gap, at the given C, has not reached the tolerance."""
    if worst[0] > 0:
        warn_user(
            f"A problem of the path was solved to a relative gap of {worst[0]:.1e}, not {tol:g}, at "
            f"C = {worst[1]:.3g}: use smaller values of C.",
            ConvergenceWarning,
        )


def total_weight(weights: Floats) -> float:
    """Return the exactly rounded sum, so that it does not depend on the order of the rows."""
    try:
        return math.fsum(weights)
    except OverflowError:
        raise ValueError(
            f"The sum of the sample weights overflows (the largest is {weights.max():.3g}): divide them by their "
            "maximum."
        ) from None
