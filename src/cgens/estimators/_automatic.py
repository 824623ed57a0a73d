"""Fits with ``weak_learner="auto"``: the parts are chosen, each is fitted as any other model, and they are added up."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import clone

from cgens.automatic.calibration import Calibration
from cgens.automatic.closed_form import PackColumns, solve_part
from cgens.automatic.joined import join_certificates, join_ensembles
from cgens.automatic.problem import Clock, Problem
from cgens.automatic.recipe import Part, Recipe, choose_parts
from cgens.automatic.report import AutomaticReport, PartReport
from cgens.automatic.spec import Automatic
from cgens.coding import ClassCoding, LabelCoding
from cgens.ensemble import Ensemble
from cgens.estimators._inputs import has_sparse_columns
from cgens.estimators._parameters import check_positive, resolve_weak_learner
from cgens.estimators._plan import FitPlan
from cgens.estimators._planner import Planner
from cgens.masters import Logistic
from cgens.rounds import Callback
from cgens.table.accepted import check_accepted
from cgens.trace import Trace
from cgens.types import AnyArray, Family, Floats
from cgens.weak_learners import Pool, Stump

#: What the automatic model decides by itself, or does not do: setting one of these asks for a single family.
OF_ONE_FAMILY = ("loss", "C", "pricing", "warm_start", "early_stopping", "checkpoint")
#: Sparse rows with up to this many entries, zeros included, become dense for the automatic model.
MOST_DENSE = 50_000_000


class AutomaticMixin(Planner):
    """An estimator with ``weak_learner="auto"`` and the parameter `time_budget`."""

    time_budget: float | None
    _function_callbacks: Callable[[], list[Callback]]

    def _resolve_family(self, X: Any) -> Family:
        """Return what `weak_learner` stands for.

        "auto" is the automatic model, or stumps if a parameter is set that belongs to a single family, such as
        ``loss="hinge"`` or ``C=1.0``, if a callback is set, and for large sparse X.
        """
        if self.time_budget is not None:
            check_positive("time_budget", self.time_budget)
        family = resolve_weak_learner(self.weak_learner)
        if not isinstance(family, Automatic):
            return family
        for name in OF_ONE_FAMILY:
            value, default = getattr(self, name), type(self).__dataclass_fields__[name].default
            if not (value is default or (isinstance(value, str | bool | np.bool_) and value == default)):
                return Stump()
        if self._function_callbacks():  # they are called after each round
            return Stump()
        is_sparse = scipy.sparse.issparse(X) or has_sparse_columns(X)
        if is_sparse and len(X.shape) == 2 and X.shape[0] * X.shape[1] > MOST_DENSE:
            return Stump()
        return family


def run_automatic(
    estimator: Any,
    plan: FitPlan,
    callbacks: Sequence[Callback],
    store_context: Callable[[Any, FitPlan], None],
    store_fit: Callable[[Any, FitPlan, Ensemble, Trace], None],
) -> None:
    """Choose the parts, fit them one by one, and set the fitted attributes by the given functions."""
    check_accepted(plan.family, plan.data.X)
    if plan.data.X.is_sparse:
        plan = replace(plan, data=replace(plan.data, X=plan.data.X.dense()))
    clock = Clock(estimator.time_budget, show_step if estimator.verbose else None)
    recipe = choose(plan, clock)
    models = {}
    for part in recipe.parts:
        own = with_part(plan, part)
        columns = PackColumns(part.learners, plan.data.X, plan.order.rows, plan.n_threads)
        result = solve_part(columns, plan.target, plan.weight, part.penalty)
        models[part.name] = copy.copy(estimator)
        models[part.name].weak_learner = own.family
        store_fit(models[part.name], own, *result)
    weights = [part.weight for part in recipe.parts]
    if not models:  # nothing predicts better than a constant
        own = replace(plan, family=Stump(), max_columns=0)
        models, weights = {"constant": copy.copy(estimator)}, [1.0]
        models["constant"].weak_learner = own.family
        store_fit(models["constant"], own, *own.run())
    mean = plan.weight @ plan.target / plan.weight.sum()
    store_context(estimator, plan)
    estimator.parts_ = models
    estimator.ensemble_ = join_ensembles([own.ensemble_ for own in models.values()], weights, mean)
    estimator.certificate_ = join_certificates([own.certificate_ for own in models.values()])
    traces = [own.trace_ for own in models.values()]
    estimator.trace_ = replace(reduce(Trace.followed_by, traces), certificate=estimator.certificate_)
    estimator.n_columns_, estimator.n_iter_ = len(estimator.ensemble_), sum(own.n_iter_ for own in models.values())
    estimator._duals = estimator._bound_duals = DualsOfParts()
    estimator.calibration_ = fit_calibration(plan, recipe)
    if estimator.calibration_ is not None:
        estimator.master_ = Logistic()
    clock.lap("weights on all rows")
    estimator.auto_ = report_of(plan, recipe, estimator.parts_)


def show_step(name: str, seconds: float) -> None:
    """Write a line about a step that has ended."""
    print(f"automatic model: {name}, {seconds:.1f} s", file=sys.stderr, flush=True)


def choose(plan: FitPlan, clock: Clock) -> Recipe:
    """Choose the parts; targets are scaled to variance 1."""
    rows, weight, target = plan.order.rows, plan.weight, plan.target
    share = weight / weight.sum()
    centred = target - share @ target
    unit = np.abs(centred).max(axis=0)
    unit[unit == 0] = 1.0
    deviation = unit * np.sqrt(share @ (centred / unit) ** 2)  # squares neither overflow nor vanish
    classes = plan.data.class_index[rows] if isinstance(plan.coding, ClassCoding) else None
    error_of: Callable[[Floats, AnyArray], float]
    if isinstance(plan.coding, ClassCoding):
        codes = plan.coding.codes
        deviation = np.ones(len(deviation))

        def error_of(decision: Floats, rows: AnyArray) -> float:
            wrong = (decision @ codes.T).argmax(axis=1) != classes[rows]  # type: ignore[index]
            return max(float(weight[rows] @ wrong / weight[rows].sum()), 0.5 / len(rows))

    else:

        def error_of(decision: Floats, rows: AnyArray) -> float:
            return 1.0

    scaled = centred / np.where(deviation > 0, deviation, 1.0) if classes is None else target
    problem = Problem(plan.data.X, rows, np.ascontiguousarray(scaled), weight, classes, error_of, plan.n_threads, clock)
    return choose_parts(problem, plan.max_columns, np.random.SeedSequence(plan.seed))


def with_part(plan: FitPlan, part: Part) -> FitPlan:
    """Return the plan of one part."""
    C = 1.0 / part.penalty
    master, family = clone(plan.master).set_params(C=C), Pool(part.learners)
    return replace(plan, family=family, master=master, C=C, rule="gain", max_columns=len(part.learners))


def fit_calibration(plan: FitPlan, recipe: Recipe) -> Calibration | None:
    """Return the map from decisions to logits for classes or labels; None for regression."""
    rows, weight = recipe.honest.rows, recipe.honest.weight
    if isinstance(plan.coding, ClassCoding):
        classes = plan.data.class_index[plan.order.rows][rows]
        return Calibration.of_classes(recipe.decisions, classes, weight, plan.coding.codes)
    if isinstance(plan.coding, LabelCoding):
        # `choose` centres and scales the target of each label
        share = plan.weight / plan.weight.sum()
        mean = share @ plan.target
        deviation = np.sqrt(share @ (plan.target - mean) ** 2)
        decisions = mean + np.where(deviation > 0, deviation, 1.0) * recipe.decisions
        return Calibration.of_labels(decisions, (plan.target[rows] > 0).astype(int), weight)
    return None


def report_of(plan: FitPlan, recipe: Recipe, models: Mapping[str, Any]) -> AutomaticReport:
    """Return what was decided."""
    parts = [
        PartReport(own.name, own.weight, 1.0 / own.penalty, models[own.name].n_columns_, own.n_candidates)
        for own in recipe.parts
    ]
    groups = zip(recipe.cosines.fits, recipe.cosines.group_weights, strict=True)
    return AutomaticReport(
        parts=tuple(sorted(parts, key=lambda own: -own.weight)),
        groups={str(fit.group): float(own) for fit, own in groups if own > 0},
        group_errors={str(fit.group): fit.error for fit in recipe.cosines.fits},
        group_penalties={str(fit.group): fit.penalty for fit in recipe.cosines.fits},
        chain_errors={chain.growth.name: chain.error for chain in recipe.chains},
        metrics=dict(recipe.cosines.metrics),
        honest_error=recipe.error,
        n_rows=len(plan.order.rows),
        n_honest_rows=len(np.unique(recipe.honest.rows)),
        seconds=dict(recipe.seconds),
        left_out={kind: tuple(own) for kind, own in recipe.left_out.items()},
    )


class DualsOfParts:
    """In place of duals: those of an automatic model belong to its parts."""

    def array(self) -> Floats:
        """Raise AttributeError."""
        raise AttributeError("An automatic model has duals for each of its parts: see model.parts_[name].duals_.")
