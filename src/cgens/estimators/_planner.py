"""From parameters and data to a plan: what fits and searches have in common."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from cgens.coding import Coding
from cgens.ensemble import Ensemble
from cgens.estimators._parameters import (
    check_count,
    check_positive,
    check_switch,
    for_features,
    resolve_threads,
    resolve_weak_learner,
)
from cgens.estimators._plan import FitPlan, TrainingData
from cgens.estimators._versioned import VersionedEstimator
from cgens.types import Floats, Master, Rule, Sample, WeakLearner


class Planner(VersionedEstimator):
    """An estimator whose parameters and data make a `FitPlan`; a subclass reads y and chooses the master."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator, or of its weak learners as ``weak_learner__max_bins``.

        Parameters
        ----------
        **params : dict
            Weak learners that are given by a name or a list become the object they stand for where one of their
            parameters is set.

        Returns
        -------
        self
        """
        if any(name.startswith("weak_learner__") for name in params):
            family = params.get("weak_learner", self.weak_learner)
            if isinstance(family, str | list):
                params = {**params, "weak_learner": resolve_weak_learner(family)}
        super().set_params(**params)
        return self

    def _check_parameters(self) -> None:
        """Raise where a parameter is wrong, whatever the data are."""
        raise NotImplementedError

    def _read(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[TrainingData, Coding]:
        """Validate the data and encode y."""
        raise NotImplementedError

    def _master(self, data: TrainingData, family: WeakLearner, largest: Floats, seed: int) -> Master:
        """Return the master problem; `largest` has the largest weight of a row of each class."""
        raise NotImplementedError

    def _rule(self) -> Rule:
        """Return which column a round adds."""
        raise NotImplementedError

    def _plan(self, X: Any, y: Any, sample_weight: Any, initial: Ensemble | None = None) -> FitPlan:
        """Resolve everything that a fit needs."""
        tol, max_columns = check_positive("tol", self.tol), check_count("n_estimators", self.n_estimators)
        n_threads, family = resolve_threads(self.n_jobs), resolve_weak_learner(self.weak_learner)
        self._check_parameters()
        data, coding = self._read(X, y, sample_weight, reset=initial is None)
        family = for_features(family, getattr(self, "feature_names_in_", None), self.n_features_in_)
        order, weight = data.order(data.sample_weight, n_threads)
        seed, master_seed = check_random_state(self.random_state).randint(2**31, size=2).tolist()
        master = self._master(data, family, data.largest_weights(order.rows, weight), master_seed)
        return FitPlan(
            data=data,
            order=order,
            weight=weight,
            coding=coding,
            family=family,
            master=master,
            C=getattr(master, "C", None),
            rule=self._rule(),
            tol=tol,
            max_columns=max_columns,
            seed=seed,
            n_threads=n_threads,
            initial=initial,
            store_history=check_switch("store_history", getattr(self, "store_history", False)),
        )

    def _warn_of_scales(self, plan: FitPlan) -> None:
        """Let the family warn of features that it can hardly see: once a fit, and once a search."""
        if hasattr(plan.family, "warn_of_scales"):
            names = getattr(self, "feature_names_in_", None)
            labels = None if names is None else [repr(name) for name in names.tolist()]
            X = plan.data.X
            plan.family.warn_of_scales(Sample(X, np.arange(len(X)), plan.data.sample_weight), labels)
