"""What a fit needs, resolved once: plain fits, searches and refits all run from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from cgens.coding import Coding
from cgens.colgen import generate_columns
from cgens.ensemble import Ensemble
from cgens.estimators._parameters import total_weight
from cgens.sample_order import SampleOrder
from cgens.trace import Trace
from cgens.types import AnyArray, Callback, Floats, Master, Rule, WeakLearner


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Validated data, with y as the master's target.

    Attributes
    ----------
    X : ndarray of shape (n, n_features)
    target : ndarray of shape (n, l)
    sample_weight : ndarray of shape (n,)
        Non-negative.
    factors : ndarray of shape (n,)
        Class weights. They multiply the sample weights after the merging of equal rows: k copies then have exactly k
        times the weight of one.
    balanced : bool
        Whether the class weights are to be those that give all classes of the rows to fit the same total weight.
    groups : ndarray of shape (n,)
        Each row's class, numbered; all 0 where there are no classes. C must be able to multiply the weights of each.
    """

    X: AnyArray
    target: Floats
    sample_weight: Floats
    factors: Floats
    groups: AnyArray
    balanced: bool = False

    def order(self, sample_weight: Floats, n_threads: int) -> tuple[SampleOrder, Floats]:
        """Return the rows of positive weight in canonical order, and their weights in the master."""
        order = SampleOrder.of(self.X, self.target, sample_weight, n_threads)
        factors = self.factors
        if self.balanced:
            factors = balanced_factors(class_totals(self.groups, sample_weight))[self.groups]
        return order, order.weight * factors[order.rows]

    def largest_weights(self, rows: AnyArray, weight: Floats) -> Floats:
        """Return the largest weight of a row of each class."""
        largest = np.zeros(self.groups.max() + 1)
        np.maximum.at(largest, self.groups[rows], weight)
        return largest[largest > 0]


def class_totals(groups: AnyArray, sample_weight: Floats) -> Floats:
    """Return the total weight of each class, exactly rounded: the same in whatever order the rows come."""
    ends = np.cumsum(np.bincount(groups))
    sorted_weight = sample_weight[np.argsort(groups, kind="stable")]
    return np.array([total_weight(part) for part in np.split(sorted_weight, ends[:-1])])


def balanced_factors(totals: Floats) -> Floats:
    """Return class weights that give every class that has a weight the same total."""
    present = totals > 0
    return np.asarray(totals.sum() / (np.sum(present) * np.where(present, totals, np.inf)))


@dataclass(frozen=True, eq=False)
class FitPlan:
    """One run of column generation.

    Attributes
    ----------
    data : TrainingData
    order : SampleOrder
        The rows to fit.
    weight : ndarray of shape (m,)
        Their weights, class weights included.
    coding : Coding
        From decisions back to predictions.
    family : WeakLearner
        With the names of columns resolved.
    master : Master
    C : float or None
        That of the master, where it has one.
    rule : {"max", "gain", "votes"}
    tol : float
    max_columns : int
    seed : int
        For families that draw.
    n_threads : int
    initial : Ensemble or None
        Columns of an earlier fit to begin with.
    store_history : bool
        Whether a pickle of the model keeps the weights of every round.
    """

    data: TrainingData
    order: SampleOrder
    weight: Floats
    coding: Coding
    family: WeakLearner
    master: Master
    C: float | None
    rule: Rule
    tol: float
    max_columns: int
    seed: int
    n_threads: int
    initial: Ensemble | None = None
    store_history: bool = False

    def run(self, callback: Callback | None = None) -> tuple[Ensemble, Trace]:
        """Generate columns."""
        return generate_columns(
            self.master,
            self.family,
            self.data.X,
            self.target,
            max_columns=self.max_columns,
            callback=callback,
            initial=self.initial,
            store_history=self.store_history,
            **self.options(),
        )

    @property
    def target(self) -> Floats:
        """The target of the rows to fit, shape (m, l)."""
        return self.data.target[self.order.rows]

    def options(self) -> dict[str, Any]:
        """Return what `generate_columns` and `path` have in common."""
        return {
            "sample_weight": self.weight,
            "rows": self.order.rows,
            "tol": self.tol,
            "pricing": self.rule,
            "rng": np.random.default_rng(self.seed),
            "n_threads": self.n_threads,
        }

    def with_c(self, C: float) -> FitPlan:
        """Return the plan with another C."""
        return replace(self, master=clone(self.master).set_params(C=C), C=C)

    def on_rows(self, sample_weight: Floats) -> FitPlan:
        """Return the plan for the rows of positive weight in `sample_weight`, shape (n,)."""
        order, weight = self.data.order(sample_weight, self.n_threads)
        return replace(self, order=order, weight=weight)
