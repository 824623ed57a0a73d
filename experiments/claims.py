"""The paper's two claims, checked against an explicit pool of all stumps.

Claim 1 is checked as the paper proves it, at the fixed duals of a round: of all columns that are not selected, the
one with the largest |price| (EQ:WL_SV) reduces the duality gap, 1/2 sum price^2 over these columns (EQ:DGap1), most.
Claim 2: if the pool contains the negation of each of its columns, the largest price (EQ:WL) is the largest |price|.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cgens.types import AnyArray, Floats
from evaluation.splits import Split
from experiments.experiment import Effort, Experiment, Fit, Method
from experiments.literal import BINARY, algorithm1, literal_rounds
from experiments.splits import published_split

ROUNDS = 60
ROUNDING = 1e-9


def stump_pool(X: AnyArray) -> Floats:
    """Return the responses of all distinct stumps on these rows, up to sign, shape (n_stumps, n_rows)."""
    columns = []
    for values in X.T:
        thresholds = np.unique(values)[:-1]
        columns.append(np.where(values > thresholds[:, None], 1.0, -1.0))
    pool = np.concatenate(columns)
    return np.unique(pool * pool[:, :1], axis=0)


def check_claim1(split: Split, seed: int, effort: Effort, inherited: dict[str, Any]) -> Fit:
    """Count the rounds in which another column would have reduced the gap more; verify EQ:DGap1 in each round."""
    pool, n_failed, n_rounds, worst = stump_pool(split.X), 0, 0, 0.0
    kernel, selected = pool.T @ pool, np.zeros(len(pool), dtype=bool)
    for step in literal_rounds(algorithm1(split), ROUNDS, repeats=False):
        j = _index(pool, step.column.response)
        if step.before is not None:  # the initial duals belong to no primal solution
            duals = step.duals[:, 0]
            prices = pool @ duals
            gap = 0.5 * np.sum(prices[~selected] ** 2)
            # The dual objective over the whole pool, directly from its kernel matrix.
            dual = np.abs(duals).sum() - 0.5 * duals @ kernel @ duals
            worst = max(worst, abs(step.before.primal - dual - gap) / step.before.primal)
            remaining = gap - 0.5 * np.where(selected, 0.0, prices**2)
            n_failed += remaining[j] > remaining.min() + ROUNDING * gap
            n_rounds += 1
        selected[j] = True
    return Fit(None, {"rounds": n_rounds, "pool": len(pool), "gap_identity": worst}, 100 * n_failed / n_rounds)


def check_claim2(split: Split, seed: int, effort: Effort, inherited: dict[str, Any]) -> Fit:
    """Count the rounds in which the largest price over the pool and its negations is not the largest |price|."""
    pool, n_failed, n_rounds = stump_pool(split.X), 0, 0
    for step in literal_rounds(algorithm1(split), ROUNDS, repeats=True):
        signed = np.concatenate([pool, -pool]) @ step.duals[:, 0]
        largest = np.abs(pool @ step.duals[:, 0]).max()
        n_failed += not np.allclose([signed.max(), abs(step.column.price)], largest, rtol=ROUNDING, atol=0)
        n_rounds += 1
    return Fit(None, {"rounds": n_rounds, "pool": len(pool)}, 100 * n_failed / n_rounds)


def _index(pool: Floats, response: AnyArray) -> int:
    """Return the index of a response in the pool."""
    return int(np.flatnonzero(np.all(pool == response * response[0], axis=1))[0])


def _experiment(name: str, title: str, method: Method) -> Experiment:
    return Experiment(
        name,
        title,
        datasets=lambda effort: BINARY,
        methods={"CGEns": method},
        split=published_split,
        runs=lambda dataset: 1,
    )


CLAIM1 = _experiment(
    "claim1", "Claim 1: the column with the largest |price| reduces the duality gap the most", check_claim1
)
CLAIM2 = _experiment("claim2", "Claim 2: with negations, the largest price is the largest |price|", check_claim2)
