"""``C="auto"``: the C of the least leave-one-out error of ridge regression over the whole pool."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cgens.coding import ClassCoding, LabelCoding
from cgens.estimators._copies import left_out_copies
from cgens.estimators._deviations import deviations_of
from cgens.estimators._parameters import resolve_c
from cgens.estimators._plan import FitPlan
from cgens.selection import loo
from cgens.table.accepted import check_accepted
from cgens.types import AnyArray, Floats, Sample
from cgens.weak_learners.search.pool_columns import columns_of_pool

#: Multiples of the default C that are tried.
FACTORS = 3.0 ** np.arange(-5, 6)
#: Rows, drawn at random, and columns of the pool, at equal distances, that take part in the choice, at most.
MOST_ROWS, MOST_COLUMNS = 3000, 1000
#: For J of n columns, C is multiplied by this power of n / J. Random columns would need a power of 1, but selected ones
#: explain more (docs/decisions/0021-C-by-leave-one-out.md).
FEWER_COLUMNS = 0.75


def with_loo_c(plan: FitPlan) -> FitPlan:
    """Return the plan with the C that ``C="auto"`` stands for, given a plan with the default C.

    That is the default times the best factor for squared residuals over the whole pool, and times a further one if the
    model has fewer columns than the pool.

    Raises
    ------
    ValueError
        If the family has no pool that is drawn without labels.
    """
    if plan.squared is None:
        return plan
    assert plan.C is not None
    n_rows = len(plan.weight)
    rng = np.random.default_rng(np.random.SeedSequence(plan.seed).spawn(1)[0])
    some = np.sort(rng.permutation(n_rows)[:MOST_ROWS]) if n_rows > MOST_ROWS else np.arange(n_rows)
    target, weight = plan.target[some], plan.weight[some]
    check_accepted(plan.family, plan.data.X)
    sample = Sample(plan.data.X, plan.order.rows[some], weight)
    pricer = plan.family.begin(sample, np.random.default_rng(plan.seed), plan.n_threads)
    pool = columns_of_pool(pricer, MOST_COLUMNS)
    if pool is None:
        search = "CGEnsClassifierCV" if _is_classification(plan) else "CGEnsRegressorCV"
        raise ValueError(
            f"C='auto' needs a pool that is drawn without labels, which {plan.family!r} does not have: use {search} "
            "or, for cosines and perceptrons, learn=False, pool='fixed' and metric='flat'."
        )
    if not pool.n_candidates:
        return plan
    factors = FACTORS[::-1]  # penalties ascend
    penalties = 1.0 / (plan.squared.default_c(plan.family, target, weight) * factors)
    # For regression the errors of all outputs count alike.
    unit = np.ones(target.shape[1]) if _is_classification(plan) else deviations_of(target, weight)
    copies = left_out_copies(plan)[some]
    found = loo(pool.columns, target / unit, weight, penalties, n_threads=plan.n_threads, copies=copies)
    criteria = [
        _error(plan, decisions * unit, target, weight) * error
        for decisions, error in zip(found.all_decisions, found.errors, strict=True)
    ]
    best = len(criteria) - 1 - int(np.argmin(criteria[::-1]))
    C = float(factors[best] * plan.C) * max(1.0, pool.n_candidates / plan.max_columns) ** FEWER_COLUMNS
    largest = plan.data.largest_weights(plan.order.rows, plan.weight)
    return replace(plan.with_c(resolve_c(C, C, largest)), squared=None)


def _is_classification(plan: FitPlan) -> bool:
    return isinstance(plan.coding, ClassCoding | LabelCoding)


def _error(plan: FitPlan, decisions: Floats, target: Floats, weight: Floats) -> float:
    """Return the share of wrong classes or labels, at least half a row; 1 for regression."""
    if not _is_classification(plan):
        return 1.0
    wrong: AnyArray = plan.coding.decode(decisions) != plan.coding.invert(target)
    rows = wrong if wrong.ndim == 1 else wrong.mean(axis=1)
    return max(float(weight @ rows / weight.sum()), 0.5 / len(weight))
