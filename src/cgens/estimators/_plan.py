"""Everything that a fit needs, resolved once: the input of plain fits, searches and refits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from cgens.coding import Coding
from cgens.colgen import generate_columns
from cgens.ensemble import Ensemble
from cgens.masters.loss import Loss, total_weight
from cgens.rounds import Callback
from cgens.sample_order import SampleOrder
from cgens.table import Table
from cgens.trace import Trace
from cgens.types import AnyArray, Family, Floats, Master, Rule


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Validated data, with y encoded as the target of the master problem.

    Attributes
    ----------
    X : Table of shape (n, n_features)
    target : ndarray of shape (n, l)
    sample_weight : ndarray of shape (n,)
        Non-negative.
    factors : ndarray of shape (n,)
        Class weight of each row. They multiply the sample weights after equal rows are merged: k copies then have
        exactly k times the weight of one.
    class_index : ndarray of shape (n,)
        Index of the class of each row; all 0 if there are no classes.
    balanced : bool
        Whether to replace the class weights with those that give all classes the same total weight in the rows to fit.
    """

    X: Table
    target: Floats
    sample_weight: Floats
    factors: Floats
    class_index: AnyArray
    balanced: bool = False

    @staticmethod
    def without_classes(X: Table, target: Floats, sample_weight: Floats) -> TrainingData:
        """Return data for regression or multilabel classification."""
        if not sample_weight.any():
            raise ValueError("All sample weights are 0: there is nothing to fit.")
        return TrainingData(X, target, sample_weight, np.broadcast_to(1.0, len(X)), np.zeros(len(X), dtype=np.int8))

    def order(self, sample_weight: Floats, n_threads: int) -> tuple[SampleOrder, Floats]:
        """Return the rows of positive weight in canonical order, and their weights in the master problem."""
        order = SampleOrder.of(self.X, self.target, sample_weight, n_threads)
        factors = self.factors
        if self.balanced:
            factors = balanced_factors(class_totals(self.class_index, sample_weight))[self.class_index]
        if factors.strides == (0,) and factors[0] == 1.0:
            return order, order.weight
        return order, order.weight * factors[order.rows]

    def largest_weights(self, rows: AnyArray, weight: Floats) -> Floats:
        """Return the largest row weight of each class."""
        largest = np.zeros(self.class_index.max() + 1)
        np.maximum.at(largest, self.class_index[rows], weight)
        return largest[largest > 0]


def class_totals(class_index: AnyArray, sample_weight: Floats) -> Floats:
    """Return the total weight of each class, exactly rounded so that it does not depend on the order of the rows."""
    ends = np.cumsum(np.bincount(class_index))
    sorted_weight = sample_weight[np.argsort(class_index, kind="stable")]
    return np.array([total_weight(part) for part in np.split(sorted_weight, ends[:-1])])


def balanced_factors(totals: Floats) -> Floats:
    """Return class weights that give all classes of positive weight the same total weight."""
    present = totals > 0
    return np.asarray(totals.sum() / (np.sum(present) * np.where(present, totals, np.inf)))


@dataclass(frozen=True, eq=False)
class Validation:
    """Rows for early stopping.

    Attributes
    ----------
    X : Table of shape (n, n_features)
    target : ndarray of shape (n, l)
    weight : ndarray of shape (n,)
    n_iter_no_change : int
        Number of rounds without a lower loss after which a fit stops.
    training_weight : ndarray of shape (m,) or None
        Weights of the rows of the plan without what is held out; None if the rows are not from the training data.
    """

    X: Table
    target: Floats
    weight: Floats
    n_iter_no_change: int
    training_weight: Floats | None = None


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
        Converts decisions to predictions.
    family : Family
        With column names resolved.
    master : Master
    C : float or None
        The master's C, if it has one.
    rule : {"max", "gain", "votes"}
    tol : float
    max_columns : int
    seed : int
        For families that sample weak learners at random.
    n_threads : int
    initial : Ensemble or None
        Columns of an earlier fit to start from.
    earlier_typical : ndarray of shape (n_features,) or None
        What stood for gaps in the earlier fit (see `typical_values`).
    store_history : bool
        Whether a pickled model keeps the weights of every round.
    validation : Validation or None
        Rows that decide when to stop.
    squared : Loss or None
        The squared loss for the same target, if C is to be chosen by leave-one-out errors (see `with_loo_c`).
    """

    data: TrainingData
    order: SampleOrder
    weight: Floats
    coding: Coding
    family: Family
    master: Master
    C: float | None
    rule: Rule
    tol: float
    max_columns: int
    seed: int
    n_threads: int
    initial: Ensemble | None = None
    earlier_typical: Floats | None = None
    store_history: bool = False
    validation: Validation | None = None
    squared: Loss | None = None

    def run(
        self, callback: Callback | None = None, resumable: bool = False, resume: Mapping[str, AnyArray] | None = None
    ) -> tuple[Ensemble, Trace]:
        """Run column generation; the arguments are those of `generate_columns`."""
        return generate_columns(
            self.master,
            self.family,
            self.data.X,
            self.target,
            max_columns=self.max_columns,
            callback=callback,
            initial=self.initial,
            store_history=self.store_history,
            resumable=resumable,
            resume=resume,
            **self.options(),
        )

    @property
    def target(self) -> Floats:
        """The target of the rows to fit, shape (m, l)."""
        return self.data.target[self.order.rows]

    def typical_values(self) -> Floats | None:
        """Return what stands for later gaps in columns that have none in the rows to fit; NaN for other columns.

        None if the weak learners respond to gaps themselves.
        """
        earlier = self.earlier_typical
        if earlier is None and not getattr(self.family, "fills_gaps", False):
            return None
        typical = self.data.X.typical_values(self.order.rows)
        return typical if earlier is None else np.where(np.isnan(earlier), typical, earlier)

    def options(self) -> dict[str, Any]:
        """Return the options that `generate_columns` and `path` share."""
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
