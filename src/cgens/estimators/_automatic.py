"""Fits with ``weak_learner="auto"``: the parts are chosen, each is fitted as any other model, and they are added up."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import clone

from cgens.automatic.calibration import Calibration
from cgens.automatic.closed_form import PackColumns, solve_part
from cgens.automatic.joined import join_certificates, join_ensembles, join_traces
from cgens.automatic.problem import Clock, Problem
from cgens.automatic.recipe import COSINES, Part, Recipe, choose_parts
from cgens.automatic.report import AutomaticReport, PartReport
from cgens.automatic.spec import Automatic
from cgens.coding import ClassCoding, LabelCoding
from cgens.cosine_importances import named_metric
from cgens.ensemble import Ensemble
from cgens.estimators._copies import left_out_copies
from cgens.estimators._deviations import deviations_of
from cgens.estimators._inputs import has_sparse_columns
from cgens.estimators._parameters import check_positive, resolve_weak_learner
from cgens.estimators._plan import FitPlan
from cgens.estimators._planner import Planner
from cgens.packs import PackSet
from cgens.rounds import Callback
from cgens.table.accepted import check_accepted
from cgens.table.schema import Schema
from cgens.trace import Trace
from cgens.types import AnyArray, Family, Floats, Sample
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
        columns = columns_of(part.learners, plan)
        others = None if part.others is None else columns_of(part.others, plan)
        result = solve_part(columns, others, plan.target, plan.weight, part.penalty)
        models[part.name] = model_of(estimator, own)
        store_fit(models[part.name], own, *result)
    weights = [part.weight for part in recipe.parts]
    if not models:  # nothing predicts better than a constant
        own = replace(plan, family=Stump(), max_columns=0)
        models, weights = {"constant": model_of(estimator, own)}, [1.0]
        store_fit(models["constant"], own, *own.run())
    mean = plan.weight @ plan.target / plan.weight.sum()
    store_context(estimator, plan)
    estimator.parts_ = models
    estimator.ensemble_ = join_ensembles([own.ensemble_ for own in models.values()], weights, mean)
    estimator.certificate_ = join_certificates([own.certificate_ for own in models.values()])
    estimator.trace_ = join_traces([own.trace_ for own in models.values()], estimator.certificate_)
    estimator.n_columns_, estimator.n_iter_ = len(estimator.ensemble_), len(estimator.trace_) - 1
    estimator._duals = estimator._bound_duals = DualsOfParts()
    estimator.calibration_ = fit_calibration(plan, recipe)
    clock.lap("weights on all rows")
    estimator.auto_ = report_of(plan, recipe, estimator.parts_)


def columns_of(learners: PackSet, plan: FitPlan) -> PackColumns:
    """Return the responses of learners on the rows of the fit."""
    return PackColumns(learners, plan.data.X, plan.order.rows, plan.n_threads)


def model_of(estimator: Any, plan: FitPlan) -> Any:
    """Return a model with the parameters of one part."""
    model = copy.copy(estimator)
    model.weak_learner, model.loss, model.C = plan.family, estimator.loss_, plan.C
    model.n_estimators = max(1, plan.max_columns)
    return model


def show_step(name: str, seconds: float) -> None:
    """Write a line about a step that has ended."""
    print(f"automatic model: {name}, {seconds:.1f} s", file=sys.stderr, flush=True)


def choose(plan: FitPlan, clock: Clock) -> Recipe:
    """Choose the parts, for targets of variance 1 and for weights that are 1 per copy on average.

    Class weights then change the choice only by their ratios.
    """
    rows, target, copies = plan.order.rows, plan.target, left_out_copies(plan)
    unit = float(plan.weight.sum() / copies.sum())
    classes = codes = None
    if isinstance(plan.coding, ClassCoding):
        classes, codes = plan.data.class_index[rows], plan.coding.codes
    else:
        mean = plan.weight @ target / plan.weight.sum()
        target = np.ascontiguousarray((target - mean) / deviations_of(target, plan.weight))

    def error_of(decision: Floats, rows: AnyArray, weight: Floats) -> float:
        if classes is None or codes is None:
            return 1.0
        wrong = (decision @ codes.T).argmax(axis=1) != classes[rows]
        return max(float(weight @ wrong / weight.sum()), 0.5 / len(rows))

    problem = Problem(
        X=plan.data.X,
        rows=rows,
        target=target,
        weight=plan.weight / unit,
        copies=copies,
        classes=classes,
        error_of=error_of,
        n_threads=plan.n_threads,
        clock=clock,
    )
    recipe = choose_parts(problem, plan.max_columns, np.random.SeedSequence(plan.seed))
    return replace(recipe, parts=[replace(part, penalty=part.penalty * unit) for part in recipe.parts])


def with_part(plan: FitPlan, part: Part) -> FitPlan:
    """Return the plan of one part."""
    C = 1.0 / part.penalty
    master, family = clone(plan.master).set_params(C=C), Pool(part.learners)
    return replace(plan, family=family, master=master, C=C, rule="gain", max_columns=len(part.learners))


def fit_calibration(plan: FitPlan, recipe: Recipe) -> Calibration | None:
    """Return the map from decisions to logits for classes or labels; None for regression."""
    rows, weight, n_copies = recipe.honest.rows, recipe.honest.weight, float(recipe.honest.copies.sum())
    if isinstance(plan.coding, ClassCoding):
        classes = plan.data.class_index[plan.order.rows][rows]
        return Calibration.of_classes(recipe.decisions, classes, weight, plan.coding.codes, n_copies)
    if isinstance(plan.coding, LabelCoding):
        mean = plan.weight @ plan.target / plan.weight.sum()
        decisions = mean + deviations_of(plan.target, plan.weight) * recipe.decisions  # `choose` has scaled the labels
        return Calibration.of_labels(decisions, (plan.target[rows] > 0).astype(int), weight, n_copies)
    return None


def report_of(plan: FitPlan, recipe: Recipe, models: Mapping[str, Any]) -> AutomaticReport:
    """Return what was decided."""
    parts = [
        PartReport(
            name=own.name,
            weight=own.weight,
            C=1.0 / own.penalty,
            n_columns=models[own.name].n_columns_,
            n_candidates=models[own.name].certificate_.n_candidates,
        )
        for own in recipe.parts
    ]
    used = COSINES in models
    groups = zip(recipe.cosines.fits, recipe.cosines.group_weights, strict=True) if used else ()
    return AutomaticReport(
        parts=tuple(sorted(parts, key=lambda own: -own.weight)),
        groups={str(fit.group): float(own) for fit, own in groups if own > 0},
        group_errors={str(fit.group): fit.error for fit in recipe.cosines.fits},
        group_penalties={str(fit.group): fit.penalty for fit in recipe.cosines.fits},
        chain_errors={chain.growth.name: chain.error for chain in recipe.chains},
        metrics=named_metrics(plan, recipe, models[COSINES].schema_) if used else {},
        honest_error=recipe.error,
        n_rows=len(plan.order.rows),
        n_honest_rows=len(np.unique(recipe.honest.rows)),
        seconds=dict(recipe.seconds),
        left_out={kind: tuple(own) for kind, own in recipe.left_out.items()},
    )


def named_metrics(plan: FitPlan, recipe: Recipe, schema: Schema) -> dict[str, dict[str, float]]:
    """Return the learned metrics, with the names of the inputs."""
    if recipe.cosines.pool is None:
        return {}
    sample, encodings = Sample(plan.data.X, plan.order.rows, plan.weight), recipe.cosines.pool.encodings
    return {
        view: named_metric(encodings[view], metric, schema, sample) for view, metric in recipe.cosines.metrics.items()
    }


class DualsOfParts:
    """In place of duals: those of an automatic model belong to its parts."""

    def array(self) -> Floats:
        """Raise AttributeError."""
        raise AttributeError("An automatic model has duals for each of its parts: see model.parts_[name].duals_.")
