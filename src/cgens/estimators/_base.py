"""What classifier and regressor share: one fit by column generation, and what it leaves behind."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from cgens.colgen import generate_columns
from cgens.ensemble import Ensemble
from cgens.estimators._inputs import validated
from cgens.estimators._parameters import (
    check_count,
    check_positive,
    for_features,
    resolve_c,
    resolve_pricing,
    resolve_threads,
    resolve_weak_learner,
    scale_c,
    total_weight,
)
from cgens.importances import family_shares, feature_importances
from cgens.masters import Hinge, LeastSquares
from cgens.progress import ProgressBar
from cgens.sample_order import SampleOrder
from cgens.types import AnyArray, Floats, Master, Rule, Sample, Status, WeakLearner
from cgens.weak_learners import Mixture

#: The masters behind the names of losses.
MASTERS: dict[str, type] = {"hinge": Hinge, "least_squares": LeastSquares, "squared": LeastSquares}


@dataclass(frozen=True, eq=False)
class FitProblem:
    """Validated data and what a master is to make of them.

    Attributes
    ----------
    X : ndarray of shape (n, n_features)
    target : ndarray of shape (n, l)
    sample_weight : ndarray of shape (n,)
        Non-negative.
    factors : ndarray of shape (n,)
        Class weights. They multiply the sample weights after the merging of equal rows: k copies then have exactly the
        weight k times one.
    groups : ndarray of shape (n,)
        Number of each row's class: each must keep a weight that C can multiply.
    loss : str
    y : ndarray of shape (n,) or (n, n_outputs)
        As predictions are compared with it.
    """

    X: AnyArray
    target: Floats
    sample_weight: Floats
    factors: Floats
    groups: AnyArray
    loss: str
    y: AnyArray

    def order(self, sample_weight: Floats, n_threads: int) -> tuple[SampleOrder, Floats]:
        """Return the rows of positive weight in canonical order, and their weights in the master."""
        order = SampleOrder.of(self.X, self.target, sample_weight, n_threads)
        return order, order.weight * self.factors[order.rows]

    def resolve_c(self, C: Any, family: WeakLearner, rows: AnyArray, weight: Floats) -> float:
        """Return the number that `C` stands for."""
        default = scale_c(self.loss, family, self.target.shape[1], total_weight(self.sample_weight))
        return resolve_c(C, default, self.largest_weights(rows, weight))

    def largest_weights(self, rows: AnyArray, weight: Floats) -> Floats:
        """Return the largest weight of a row of each class."""
        largest = np.zeros(self.groups.max() + 1)
        np.maximum.at(largest, self.groups[rows], weight)
        return largest[largest > 0]


class EnsembleEstimator(BaseEstimator):  # type: ignore[misc]
    """Fit, staged decisions and importances of an ensemble by column generation."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the ensemble; what X and y may be, a subclass says."""
        # On a copy, so that a fit that fails leaves the estimator as it was.
        attempt = copy.copy(self)
        problem = attempt._prepare(X, y, sample_weight)
        attempt._generate(problem)
        self.__dict__ = attempt.__dict__
        self._warn_of_scales(problem)
        self._announce()
        return self

    def _warn_of_scales(self, problem: FitProblem) -> None:
        """Let the family warn of features that it can hardly see: once a fit, and once a search."""
        family = self._family()
        if hasattr(family, "warn_of_scales"):
            names = getattr(self, "feature_names_in_", None)
            labels = None if names is None else [repr(name) for name in names.tolist()]
            family.warn_of_scales(Sample(problem.X, np.arange(len(problem.X)), problem.sample_weight), labels)

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> FitProblem:
        """Check everything, and remember how to get from decisions back to what y was."""
        raise NotImplementedError

    def _generate(self, problem: FitProblem) -> None:
        """Run column generation and store what it found."""
        n_threads = resolve_threads(self.n_jobs)
        order, weight = problem.order(problem.sample_weight, n_threads)
        target = problem.target[order.rows]
        family = self._family()
        master = self._master(problem, family, order.rows, weight)
        initial = self._earlier_ensemble()
        if initial is not None and initial.weights.shape[1] != target.shape[1]:
            raise ValueError(
                f"warm_start=True needs the targets of the earlier fit: that had {initial.weights.shape[1]} outputs, "
                f"this one has {target.shape[1]}."
            )
        bar = ProgressBar() if self.verbose else None
        try:
            self.ensemble_, self.trace_ = generate_columns(
                master,
                family,
                problem.X,
                target,
                sample_weight=weight,
                rows=order.rows,
                tol=check_positive("tol", self.tol),
                max_columns=check_count("n_estimators", self.n_estimators),
                pricing=self._rule(problem),
                rng=np.random.default_rng(check_random_state(self.random_state).randint(2**31)),
                n_threads=n_threads,
                callback=bar,
                initial=initial,
            )
        finally:
            if bar is not None:
                bar.close()
        self.certificate_ = self.trace_.certificate
        if len(self.ensemble_) == len(initial or ()) > 0 and self.certificate_.status is Status.INTERRUPTED:
            raise KeyboardInterrupt  # nothing is done yet: the earlier fit stays as it was
        self.n_columns_ = len(self.ensemble_)
        self.n_iter_ = len(self.trace_) - 1
        self.duals_ = _flat(order.spread_duals(self.trace_.duals))
        bound_duals = self.trace_.bound_duals
        self.bound_duals_ = None if bound_duals is None else _flat(order.spread_duals(bound_duals))
        self._store_shares(problem.X, order.rows, weight, n_threads)

    def _master(self, problem: FitProblem, family: WeakLearner, rows: AnyArray, weight: Floats) -> Master:
        """Return what the ensemble optimises, given the rows of the fit and their weights."""
        self.loss_ = problem.loss
        self.C_ = problem.resolve_c(self.C, family, rows, weight)
        return cast(Master, MASTERS[problem.loss](self.C_))

    def _rule(self, problem: FitProblem) -> Rule:
        """Return which column a round adds."""
        return resolve_pricing(self.pricing, problem.loss)

    def _advice(self) -> str:
        """Return what to do where the master was not solved to its tolerance."""
        return f"lower C ({self.C_:.3g}) or raise tol"

    def _penalty_hint(self) -> str:
        """Return what else may be why a fit found no column."""
        return ""

    def _family(self) -> WeakLearner:
        """Return the weak learners, those of a mixture on their columns of the data."""
        family = resolve_weak_learner(self.weak_learner)
        return for_features(family, getattr(self, "feature_names_in_", None), self.n_features_in_)

    def _store_shares(self, X: AnyArray, rows: AnyArray, weight: Floats, n_threads: int) -> None:
        """Keep how much each family of a mixture contributes; without a mixture there is nothing to share."""
        family = resolve_weak_learner(self.weak_learner)
        if isinstance(family, Mixture):
            names = [member.name for member in family.members()]
            self.family_shares_ = family_shares(self.ensemble_, names, X[rows], weight, n_threads)
        elif hasattr(self, "family_shares_"):
            del self.family_shares_

    def _check_parameters(self, losses: tuple[str, ...]) -> None:
        """Refuse what can be refused before the data are looked at."""
        if not isinstance(self.loss, str) or self.loss not in losses:
            raise ValueError(f"loss must be one of {', '.join(map(repr, losses))}; got {self.loss!r}.")
        self._check_common()
        resolve_pricing(self.pricing, "least_squares")

    def _check_common(self) -> None:
        """Refuse what no method can do with."""
        check_count("n_estimators", self.n_estimators)
        check_positive("tol", self.tol)
        resolve_threads(self.n_jobs)
        resolve_weak_learner(self.weak_learner)

    def _earlier_ensemble(self) -> Ensemble | None:
        """Return what a warm start begins with."""
        if not self.warm_start or not hasattr(self, "ensemble_"):
            return None
        if self.n_estimators < len(self.ensemble_):
            raise ValueError(
                f"n_estimators={self.n_estimators} must be at least the {len(self.ensemble_)} columns of the earlier "
                "fit when warm_start=True."
            )
        return self.ensemble_

    def _announce(self) -> None:
        """Warn where there is reason to, and let Ctrl-C go on."""
        status = self.certificate_.status
        if status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if status is Status.NOT_CONVERGED:
            warnings.warn(
                f"The master problem over the {self.n_columns_} columns was solved to a relative gap of "
                f"{self.certificate_.relative_gap:.1e}, not tol={self.tol:g}: {self._advice()}.",
                ConvergenceWarning,
                stacklevel=4,
            )
        if self.n_columns_ > 0 and not self.ensemble_.weights.any():
            warnings.warn(
                f"All {self.n_columns_} columns have the weight 0 (do they contradict each other"
                f"{self._penalty_hint()}?): the model is a constant, {self._constant_word}.",
                UserWarning,
                stacklevel=4,
            )
        if self.n_columns_ == 0:
            warnings.warn(
                f"No weak learner tells {self._targets_word} apart (are all features constant, the rows too few, or a "
                f"parameter of {self.weak_learner!r} far off{self._penalty_hint()}?): the model is a constant, "
                f"{self._constant_word}.",
                UserWarning,
                stacklevel=4,
            )

    def _check_input(self, X: Any) -> AnyArray:
        check_is_fitted(self, "ensemble_")
        return np.asarray(validated(self, X, reset=False))

    def _decision(self, X: Any) -> Floats:
        """Return F(x), shape (n, l)."""
        X = self._check_input(X)
        return self.ensemble_.decision(X, resolve_threads(self.n_jobs))

    def _staged(self, X: Any) -> Iterator[Floats]:
        """Yield F(x) after each round, shape (n, l)."""
        X = self._check_input(X)
        yield from self.ensemble_.staged(X, resolve_threads(self.n_jobs))

    @property
    def feature_importances_(self) -> Floats:
        """Spread of each feature's part of the decision over the training rows, as a share of the sum."""
        check_is_fitted(self, "ensemble_")
        return feature_importances(self.ensemble_, self.n_features_in_)


def _flat(duals: Floats) -> Floats:
    """Return one output's duals as (n,), several as they are, (n, l)."""
    return duals[:, 0] if duals.shape[1] == 1 else duals
