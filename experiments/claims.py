"""The paper's two claims, checked against an explicit pool of stumps.

Claim 1 is checked as it is proved, at the fixed duals of the round: the column of the largest |price| (EQ:WL_SV) takes
most from the duality gap, 1/2 sum over the columns outside of price^2 (EQ:DGap1). Claim 2: in a pool with the
negation of each of its columns, the largest price (EQ:WL) is the largest |price|.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.data import Split
from cgens.types import AnyArray, Floats
from experiments.experiment import Effort, Experiment, Fit
from experiments.literal import BINARY, algorithm1, literal_rounds
from experiments.splits import published_split

ROUNDS = 60
ROUNDING = 1e-9


def stump_pool(X: AnyArray) -> Floats:
    """Return every distinct stump on these rows, up to its sign, shape (n, m)."""
    columns = []
    for values in X.T:
        cuts = np.unique(values)
        columns.append(np.where(values > cuts[:-1, None], 1.0, -1.0))
    pool = np.concatenate(columns)
    return np.unique(pool * pool[:, :1], axis=0)


def _claim1(split: Split, seed: int, effort: Effort, given: dict[str, Any]) -> Fit:
    """Count the rounds in which another column would have taken more from the gap; check EQ:DGap1 on the way."""
    pool, failed, n_rounds, worst = stump_pool(split.X), 0, 0, 0.0
    kernel, inside = pool.T @ pool, np.zeros(len(pool), dtype=bool)
    for turn in literal_rounds(algorithm1(split), ROUNDS, repeats=False):
        place = _place(pool, turn.column.response)
        if turn.before is not None:  # before the first solve no primal solution belongs to the duals
            duals = turn.duals[:, 0]
            prices = pool @ duals
            gap = 0.5 * np.sum(prices[~inside] ** 2)
            # The dual value over the whole pool, straight from its kernel matrix.
            dual = np.abs(duals).sum() - 0.5 * duals @ kernel @ duals
            worst = max(worst, abs(turn.before.primal - dual - gap) / turn.before.primal)
            left = gap - 0.5 * np.where(inside, 0.0, prices**2)
            failed += left[place] > left.min() + ROUNDING * gap
            n_rounds += 1
        inside[place] = True
    return Fit(None, {"rounds": n_rounds, "pool": len(pool), "gap_identity": worst}, 100 * failed / n_rounds)


def _claim2(split: Split, seed: int, effort: Effort, given: dict[str, Any]) -> Fit:
    """Count the rounds in which the largest price of the pool and its negations is not the largest |price|."""
    pool, failed, n_rounds = stump_pool(split.X), 0, 0
    for turn in literal_rounds(algorithm1(split), ROUNDS, repeats=True):
        signed = np.concatenate([pool, -pool]) @ turn.duals[:, 0]
        largest = np.abs(pool @ turn.duals[:, 0]).max()
        failed += not np.allclose([signed.max(), turn.column.score], largest, rtol=ROUNDING, atol=0)
        n_rounds += 1
    return Fit(None, {"rounds": n_rounds, "pool": len(pool)}, 100 * failed / n_rounds)


def _place(pool: Floats, response: AnyArray) -> int:
    """Return where a column stands in the pool."""
    return int(np.flatnonzero(np.all(pool == response * response[0], axis=1))[0])


def _experiment(name: str, title: str, method: Any) -> Experiment:
    return Experiment(name, title, lambda effort: BINARY, {"CGEns": method}, published_split, runs=lambda dataset: 1)


CLAIM1 = _experiment("claim1", "Claim 1: the column of the largest |price| closes most of the gap", _claim1)
CLAIM2 = _experiment("claim2", "Claim 2: with negations, the largest price is the largest |price|", _claim2)
