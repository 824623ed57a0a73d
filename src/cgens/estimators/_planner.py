"""Base class of fits and searches: makes a plan from parameters and data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from sklearn.utils import check_random_state

from cgens.automatic.size import default_size
from cgens.automatic.spec import Automatic
from cgens.coding import Coding
from cgens.ensemble import Ensemble
from cgens.estimators._parameters import (
    DEFAULT_COLUMNS,
    check_positive,
    check_size,
    check_switch,
    resolve_threads,
    resolve_weak_learner,
)
from cgens.estimators._plan import FitPlan, TrainingData
from cgens.estimators._versioned import VersionedEstimator
from cgens.table import Table
from cgens.table.accepted import EXTRAS
from cgens.table.schema import Schema
from cgens.types import AnyArray, Family, Floats, Master, Rule, Sample
from cgens.weak_learners import Mixture


class Planner(VersionedEstimator):
    """An estimator that makes a `FitPlan`; subclasses read y and choose the master problem."""

    schema_: Schema
    _family: Family  # set before y is read, because the loss may depend on it

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Names and lists are of families that accept everything.
        accepts = getattr(self.weak_learner, "accepts", ()) if hasattr(self.weak_learner, "begin") else EXTRAS
        tags.input_tags.sparse, tags.input_tags.allow_nan = "sparse" in accepts, "gaps" in accepts
        # For scikit-learn this means integers that are categories: here they are only if they are declared.
        tags.input_tags.categorical = getattr(self, "categorical_features", None) is not None
        return tags

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator, or of its weak learners, such as ``weak_learner__max_bins``.

        Parameters
        ----------
        **params : dict
            If a parameter of a weak learner is set, a weak learner that was given as a name or a list becomes the
            object that it stands for. "auto" has no parameters: choose another weak learner first.

        Returns
        -------
        self
        """
        nested = {name.partition("__")[2]: name for name in params if name.startswith("weak_learner__")}
        family = params.get("weak_learner", self.weak_learner)
        if nested and isinstance(family, str | list):
            resolved: Any = resolve_weak_learner(family)
            if isinstance(resolved, Automatic):
                raise ValueError(
                    f"{next(iter(nested.values()))} cannot be set, because weak_learner='auto' has no parameters: "
                    "choose a weak learner, for example weak_learner='stump'."
                )
            # on the new object, so that nothing is changed if one of them is invalid
            resolved.set_params(**{name: params.pop(full) for name, full in nested.items()})
            params["weak_learner"] = resolved
        super().set_params(**params)
        return self

    def _check_parameters(self) -> None:
        """Raise ValueError if a parameter is invalid for any data."""

    def _resolve_family(self, X: Any) -> Family:
        """Return the family of weak learners."""
        family = resolve_weak_learner(self.weak_learner)
        if isinstance(family, Automatic):
            raise ValueError(
                f"weak_learner='auto' is for CGEnsClassifier and CGEnsRegressor, not for {type(self).__name__}: it "
                "tunes itself."
            )
        return family

    def _max_columns(self, n_outputs: int) -> int:
        """Return the maximum number of columns."""
        size = check_size(self.n_estimators)
        if size is not None:
            return size
        return default_size(n_outputs) if isinstance(self._family, Automatic) else DEFAULT_COLUMNS

    def _read(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[TrainingData, Coding]:
        """Validate the data and encode y."""
        raise NotImplementedError

    def _master(self, data: TrainingData, family: Family, largest_weights: Floats, seed: int) -> Master:
        """Return the master problem, given the largest row weight of each class."""
        raise NotImplementedError

    def _rule(self) -> Rule:
        """Return the rule by which a round chooses its column."""
        return "max"

    def _plan(self, X: Any, y: Any, sample_weight: Any, initial: Ensemble | None = None) -> FitPlan:
        """Resolve everything that a fit needs."""
        tol, n_threads = check_positive("tol", self.tol), resolve_threads(self.n_jobs)
        check_size(self.n_estimators)
        family = self._family = self._resolve_family(X)
        self._check_parameters()
        data, coding = self._read(X, y, sample_weight, reset=initial is None)
        data = replace(data, X=self._without_ignored(data.X, data.sample_weight > 0, reset=initial is None))
        earlier = None if initial is None else getattr(self, "_typical", None)
        if earlier is not None:  # the weak learners to start from cannot respond to gaps in columns that had none
            data = replace(data, X=data.X.filled(earlier))
        if isinstance(family, Mixture):
            family = family.for_features(getattr(self, "feature_names_in_", None), self.n_features_in_)
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
            max_columns=self._max_columns(data.target.shape[1]),
            seed=seed,
            n_threads=n_threads,
            initial=initial,
            earlier_typical=earlier,
            store_history=check_switch("store_history", getattr(self, "store_history", False)),
        )

    def _without_ignored(self, X: Table, kept: AnyArray, reset: bool) -> Table:
        """Return the table as if it had only the rows `kept`: levels and gaps of the others do not count."""
        if kept.all():
            return X
        if reset and X.is_category.any():
            self.schema_, X = self.schema_.with_levels_of(X, kept)
        return X.with_gaps_of(kept)

    def _warn_about_scales(self, plan: FitPlan) -> None:
        """Let the family warn of features on very different scales, once per fit or search."""
        if hasattr(plan.family, "warn_about_scales"):
            names = getattr(self, "feature_names_in_", None)
            labels = None if names is None else [repr(name) for name in names.tolist()]
            plan.family.warn_about_scales(Sample(plan.data.X, plan.order.rows, plan.weight), labels)
