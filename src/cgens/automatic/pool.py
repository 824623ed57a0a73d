"""The final pool: cosines of all groups of some weight, drawn for all rows, under one penalty."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from cgens.automatic.groups import GroupRows, HonestFit
from cgens.blas import ONE_BLAS_THREAD
from cgens.selection import NormalEquations, left_out_residuals
from cgens.selection.leave_one_out import mean_square
from cgens.types import AnyArray, Floats, Integers
from cgens.weak_learners.projections.cosine_pool import CosinePool

#: Number of columns of a group at least.
LEAST_COLUMNS = 40
#: Multiples of the penalty that the groups suggest.
MULTIPLES = (0.3, 1.0, 3.0, 10.0, 30.0)


def columns_of(pools: Sequence[tuple[str, CosinePool]]) -> AnyArray:
    """Return the responses of several pools side by side on the rows that they were drawn for, float32, (m, n)."""
    return np.hstack([pool.measured for _, pool in pools])


def draw_pools(
    fits: Sequence[HonestFit],
    weights: Floats,
    views: Mapping[str, Floats],
    metrics: Mapping[str, Floats],
    weight: Floats,
    n_columns: int,
    seed: np.random.SeedSequence,
) -> list[tuple[str, CosinePool]]:
    """Draw about `n_columns` cosines, shared out to groups in proportion to their weights."""
    pools = []
    for fit, own, child in zip(fits, weights, seed.spawn(len(fits)), strict=True):
        if own > 0:
            group, rng = fit.group, np.random.default_rng(child)
            rows = views[group.view]
            n = max(LEAST_COLUMNS, round(n_columns * own / weights.sum()))
            metric = metrics[group.view] if group.learned else np.ones(rows.shape[1])
            pools.append((group.view, group.pool(n, metric, rows, weight, rng)))
    return pools


def learn_metrics(
    fits: Sequence[HonestFit],
    weights: Floats,
    rows: GroupRows,
    n_columns: int,
    seed: np.random.SeedSequence,
    n_threads: int = 1,
) -> dict[str, Floats]:
    """Return the metric of each view in which a group of some weight has a learned one, from all rows."""
    used = sorted({fit.group.view for fit, own in zip(fits, weights, strict=True) if own > 0 and fit.group.learned})
    rngs = [np.random.default_rng(own) for own in seed.spawn(len(used))]
    every = np.arange(len(rows.weight))

    def learn(view: str, rng: np.random.Generator) -> Floats:
        return rows.learn_metric(view, every, n_columns, rng)

    with ONE_BLAS_THREAD, ThreadPoolExecutor(n_threads) as pool:
        return dict(zip(used, pool.map(learn, used, rngs), strict=True))


def suggested_penalty(fits: Sequence[HonestFit], weights: Floats, n_group: int) -> float:
    """Return the penalty per column of a pool, given those of groups of `n_group` columns each.

    The decision of a group of n columns of variance 1 under a penalty is about that of k n columns under k times it.
    """
    mean = np.sum(weights * np.log([fit.penalty for fit in fits])) / weights.sum()
    return float(np.exp(mean) / n_group / weights.sum())


@dataclass(frozen=True, eq=False)
class HonestPool:
    """Columns of which the leave-one-out decisions are honest for some rows: no label of these was used to draw them.

    Attributes
    ----------
    normal : NormalEquations
        Of the columns.
    columns : ndarray of shape (m, n)
    rows : ndarray of shape (k,)
        The rows that are left out.
    """

    normal: NormalEquations
    columns: AnyArray
    rows: Integers


def choose_penalty(
    pools: Sequence[HonestPool],
    target: Floats,
    copies: Floats,
    suggested: float,
    error_of: Callable[[Floats, Integers], float],
    n_threads: int,
) -> tuple[float, Floats, Integers]:
    """Return the penalty per column of a least error times squared error, and the leave-one-out decisions with it.

    Parameters
    ----------
    pools : sequence of HonestPool
    target : ndarray of shape (m, l)
    copies : ndarray of shape (m,)
        How many copies each row stands for.
    suggested : float
        The middle of the penalties to try, each of which is multiplied by the number of columns of a pool.
    error_of : callable
        ``error_of(decisions, rows)`` returns the error of decisions for some rows.
    n_threads : int

    Returns
    -------
    penalty : float
    decisions : ndarray of shape (k, l)
    rows : ndarray of shape (k,)
        Of the decisions: those of all pools, one after another.
    """
    rows = np.concatenate([own.rows for own in pools])
    weight = pools[0].normal.weight
    criteria: dict[int, float] = {}
    decisions: dict[int, Floats] = {}

    def compare(*numbers: int) -> None:
        found = []
        for own in pools:
            penalties = [suggested * MULTIPLES[number] * own.columns.shape[1] for number in numbers]
            unit = weight / copies
            found.append(
                left_out_residuals(own.normal, own.columns, target, penalties, own.rows, unit, n_threads, np.float32)
            )
        for number, parts in zip(numbers, zip(*found, strict=True), strict=True):
            residuals = np.concatenate(parts)
            decisions[number] = target[rows] - residuals
            criteria[number] = error_of(decisions[number], rows) * mean_square(residuals, weight[rows])

    # As the criterion falls and then rises, it is enough to go downhill: mostly, three penalties are compared.
    compare(1, 2)
    step = 1 if criteria[2] <= criteria[1] else -1
    best = 2 if step == 1 else 1
    while 0 <= best + step < len(MULTIPLES):
        compare(best + step)
        if criteria[best + step] > criteria[best]:
            break
        best += step
    return suggested * MULTIPLES[best], decisions[best], rows
