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
from cgens.selection import honest_weights
from cgens.selection.leave_one_out import mean_square
from cgens.types import Floats
from cgens.weak_learners import Pool

#: Up to this many rows, each is held out once from the trees; of more rows, one in five is.
FOLD_ROWS, N_FOLDS = 2000, 5
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
    family : Pool
    penalty : float
        1 / C.
    weight : float
        By how much its decisions are multiplied.
    """

    name: str
    family: Pool
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


def choose_parts(problem: Problem, n_trees: Sequence[int], seed: np.random.SeedSequence) -> Recipe:
    """Compare groups of cosines, draw the final pool, grow trees, and weigh the parts.

    Parameters
    ----------
    problem : Problem
    n_trees : sequence of int
        Lengths of a chain of trees to try.
    seed : numpy.random.SeedSequence

    Returns
    -------
    recipe : Recipe
    """
    cosine_seed, fold_seed, *chain_seeds = seed.spawn(2 + len(GROWTHS))
    cosines = choose_cosines(problem, cosine_seed)
    folds, chains = grow_chains(problem, n_trees, fold_seed, chain_seeds)
    problem.clock.lap("trees")

    honest = HonestRows.of(list(folds), cosines.known)
    found: list[tuple[str, Pool, float, Floats]] = []
    if cosines.pack is not None and cosines.decisions is not None:
        decisions = cosines.decisions[np.searchsorted(cosines.known, honest.rows)]
        found.append((COSINES, Pool(cosines.pack), cosines.penalty, decisions))
    for chain in chains:
        if len(chain.ensemble):
            family = Pool(list(chain.ensemble.learners))
            found.append((chain.growth.name, family, chain.penalty, honest.of_folds(chain.decisions)))

    target, mean = problem.target[honest.rows], problem.weight @ problem.target / problem.weight.sum()
    weights = honest_weights([own[-1] for own in found], target, honest.weight, LEAST_SHARE)
    total = np.tile(mean, (len(target), 1))
    for weight, own in zip(weights, found, strict=True):
        total += weight * (own[-1] - mean)
    of_mean, of_sum = (mean_square(target - own, honest.weight) for own in (mean, total))
    parts = [
        Part(name, family, penalty, float(weight))
        for weight, (name, family, penalty, _) in zip(weights, found, strict=True)
        if weight > 0
    ]
    problem.clock.lap("weights")
    error = of_sum / of_mean if of_mean > 0 else 1.0
    return Recipe(parts, cosines, chains, honest, total, error, problem.clock.seconds)


def grow_chains(
    problem: Problem,
    n_trees: Sequence[int],
    fold_seed: np.random.SeedSequence,
    seeds: Sequence[np.random.SeedSequence],
) -> tuple[Floats, list[Chain]]:
    """Return the held-out weights of the rows in each fold, and the chains."""
    n_rows, n_threads = len(problem.rows), problem.n_threads
    if n_rows == 1:  # it cannot be held out
        return problem.weight[None], []
    complete = n_rows <= FOLD_ROWS
    folds = held_out_weights(problem.weight, problem.classes, N_FOLDS, np.random.default_rng(fold_seed))
    folds = folds if complete else folds[:1]
    chains = Chains(
        problem=problem if complete else replace(problem, n_threads=1),
        folds=folds,
        complete=complete,
        lengths=n_trees,
    )
    with ONE_BLAS_THREAD, ThreadPoolExecutor(1 if complete else n_threads) as executor:
        return folds, list(executor.map(chains.grow, GROWTHS, seeds))


def chain_lengths(n_rows: int, n_columns: int) -> tuple[int, ...]:
    """Return the numbers of trees to try for a chain: at most a quarter of all columns."""
    most = max(1, min(MOST_TREES[n_rows <= FOLD_ROWS], n_columns // 4))
    return tuple(sorted({max(1, most // 4), max(1, most // 2), most}))
