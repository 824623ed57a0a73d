"""The automatic choice: which cosines and trees, under which penalties, and how much of each.

Every part is then an ordinary least-squares problem over a finite pool, with a certificate of its own; the decision is
the weighted sum of theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from cgens.automatic.chains import GROWTHS, Chain, Chains
from cgens.automatic.cosine_part import CosinePart, choose_cosines
from cgens.automatic.problem import HonestRows, Problem
from cgens.automatic.shares import held_out_weights
from cgens.blas import ONE_BLAS_THREAD
from cgens.packs import PackSet
from cgens.selection import honest_weights
from cgens.selection.leave_one_out import mean_square
from cgens.types import Floats

#: Up to this many rows, each is held out once from the trees; of more rows, one in five is.
FOLD_ROWS, N_FOLDS = 2000, 5
#: Rows, at most, on which cosines and trees are weighed.
HONEST_ROWS = 2500
#: Trees of a chain, on up to so many rows and on more.
MOST_TREES = {True: 100, False: 200}
#: The name of the part that is not of trees.
COSINES = "cosines"
#: Parts with less than this share of the sum of weights are dropped.
LEAST_SHARE = 0.05


@dataclass(frozen=True, eq=False)
class Part:
    """One of the problems whose solutions are added up.

    Attributes
    ----------
    name : str
    learners : PackSet
    n_candidates : int
        From how many the learners were selected.
    penalty : float
        1 / C.
    weight : float
        By how much its decisions are multiplied.
    """

    name: str
    learners: PackSet
    n_candidates: int
    penalty: float
    weight: float


@dataclass(frozen=True, eq=False)
class Recipe:
    """What was chosen, and by which errors.

    Attributes
    ----------
    parts : list of Part
    cosines : CosinePart
    chains : list of Chain
    honest : HonestRows
    decisions : ndarray of shape (k, l)
        Of the weighted sum, for the honest rows: leave-one-out and held-out decisions.
    error : float
        Their mean squared error, relative to that of the mean.
    seconds : dict of float
    """

    parts: list[Part]
    cosines: CosinePart
    chains: list[Chain]
    honest: HonestRows
    decisions: Floats
    error: float
    seconds: Mapping[str, float]


def choose_parts(problem: Problem, n_columns: int, seed: np.random.SeedSequence) -> Recipe:
    """Compare groups of cosines, draw the final pool, grow trees, and weigh the parts.

    Parameters
    ----------
    problem : Problem
    n_columns : int
        Of all parts together.
    seed : numpy.random.SeedSequence

    Returns
    -------
    recipe : Recipe
    """
    n_rows, weight = len(problem.rows), problem.weight
    cosine_seed, fold_seed, row_seed, *chain_seeds = seed.spawn(3 + len(GROWTHS))
    complete = n_rows <= FOLD_ROWS
    held_out = weight[None]  # a single row cannot be held out
    if n_rows > 1:
        held_out = held_out_weights(weight, problem.classes, N_FOLDS, np.random.default_rng(fold_seed))
        held_out = held_out if complete else held_out[:1]
    honest = HonestRows.of(list(held_out), None if complete else HONEST_ROWS, np.random.default_rng(row_seed))

    cosines = choose_cosines(problem, honest, n_columns, cosine_seed)
    chains = []
    if n_rows > 1:
        lengths = chain_lengths(n_rows, n_columns)
        chains = grow_chains(Chains(problem, held_out, honest, complete, lengths), chain_seeds)
    problem.clock.lap("trees")

    found = [
        (Part(chain.growth.name, chain.ensemble.packs, len(chain.ensemble), chain.penalty, 0.0), chain.decisions)
        for chain in chains
        if len(chain.ensemble)
    ]
    if cosines.pool is not None and cosines.decisions is not None:
        own = Part(COSINES, cosines.pool.first(0), len(cosines.pool), cosines.penalty, 0.0)
        found.append((own, cosines.decisions))
    target, mean = problem.target[honest.rows], weight @ problem.target / weight.sum()
    weights = honest_weights([own for _, own in found], target, honest.weight, LEAST_SHARE)
    decisions = np.tile(mean, (len(target), 1))
    for share, (_, honest_decisions) in zip(weights, found, strict=True):
        decisions += share * (honest_decisions - mean)
    of_mean, of_sum = (mean_square(target - own, honest.weight) for own in (mean, decisions))
    parts = [replace(part, weight=float(own)) for own, (part, _) in zip(weights, found, strict=True) if own > 0]
    if cosines.pool is not None and parts and parts[-1].name == COSINES:
        # They come last, and get the columns that the trees leave.
        left = max(1, n_columns - sum(len(part.learners) for part in parts))
        parts[-1] = replace(parts[-1], learners=cosines.pool.first(left))
    problem.clock.lap("weights")
    error = of_sum / of_mean if of_mean > 0 else 1.0
    return Recipe(parts, cosines, chains, honest, decisions, error, problem.clock.seconds)


def grow_chains(chains: Chains, seeds: Sequence[np.random.SeedSequence]) -> list[Chain]:
    """Grow chains of all kinds; in parallel, if their folds are not."""
    n_threads = chains.problem.n_threads
    if not chains.complete:
        chains = replace(chains, problem=replace(chains.problem, n_threads=1))
    with ONE_BLAS_THREAD, ThreadPoolExecutor(1 if chains.complete else n_threads) as executor:
        return list(executor.map(chains.grow, GROWTHS, seeds))


def chain_lengths(n_rows: int, n_columns: int) -> tuple[int, ...]:
    """Return the numbers of trees to try for a chain: at most a quarter of all columns."""
    most = max(1, min(MOST_TREES[n_rows <= FOLD_ROWS], n_columns // 4))
    return tuple(sorted({max(1, most // 4), max(1, most // 2), most}))
