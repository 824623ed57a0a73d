"""The automatic choice: which cosines and trees, under which penalties, and how much of each.

Every part is then an ordinary least-squares problem over a finite pool, with a certificate of its own; the decision is
the weighted sum of theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cgens.automatic.chains import LEARNED, TREES, Chain, Chains, Growth
from cgens.automatic.cosine_part import CosinePart, choose_cosines
from cgens.automatic.problem import HonestRows, Problem
from cgens.automatic.shares import held_out_weights
from cgens.packs import PackSet
from cgens.selection import honest_weights
from cgens.selection.leave_one_out import mean_square
from cgens.types import Floats

#: Up to this many rows, and values in them, each row is held out once from the trees, in three folds; of more rows, one
#: in five is.
FOLD_ROWS, FOLD_VALUES, N_FOLDS, ONE_IN = 3000, 300_000, 3, 5
#: With a time budget of less, a fifth is held out in any case.
FOLD_SECONDS = 60.0
#: A fifth of fewer rows says too little, however wide they are.
LEAST_HELD_OUT = 100
#: Rows, at most, on which the parts are weighed if there are more; about as many are held out, but at most one in five.
HONEST_ROWS = HELD_OUT_ROWS = 3000
#: Trees of a chain at most; for more rows than `MANY_ROWS` there is one chain, of large trees, and it is longer.
MOST_TREES, MANY_ROWS, MOST_LARGE_TREES = 200, 30_000, 300
#: Cosines are learned for tables with inputs on one scale, such as pixels, if there are as many inputs and rows.
LEARNED_INPUTS, LEARNED_ROWS = 50, 500
#: The name of the part that is not grown.
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
    others : PackSet or None
        The rest of the pool that the learners were selected from; None if they were not selected from a pool.
    penalty : float
        1 / C.
    weight : float
        By how much its decisions are multiplied.
    """

    name: str
    learners: PackSet
    others: PackSet | None
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
        Of each step.
    left_out : dict of str to list of str
        What the time budget left no time for, by its kind.
    """

    parts: list[Part]
    cosines: CosinePart
    chains: list[Chain]
    honest: HonestRows
    decisions: Floats
    error: float
    seconds: Mapping[str, float]
    left_out: Mapping[str, Sequence[str]]


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
    cosine_seed, fold_seed, row_seed, chain_seed = seed.spawn(4)
    few = (n_rows <= FOLD_ROWS and n_rows * problem.X.shape[1] <= FOLD_VALUES) or n_rows < ONE_IN * LEAST_HELD_OUT
    complete = few and (problem.clock.budget is None or problem.clock.budget >= FOLD_SECONDS)
    held_out = weight[None]  # a single row cannot be held out
    if n_rows > 1:
        n_folds, n_used = (N_FOLDS, N_FOLDS) if complete else (max(ONE_IN, n_rows // HELD_OUT_ROWS), 1)
        held_out = held_out_weights(
            weight, problem.copies, problem.classes, n_folds, np.random.default_rng(fold_seed), n_used
        )
    most, of_copy = None if complete else HONEST_ROWS, weight / problem.copies
    honest = HonestRows.of(list(held_out), of_copy, most, np.random.default_rng(row_seed))

    cosines = choose_cosines(problem, honest, n_columns, cosine_seed)
    growths = growths_for(problem, n_columns) if n_rows > 1 else []
    chains = Chains(problem, held_out, honest).grow(growths, chain_seed)
    problem.clock.lap("trees and learned cosines")

    honest_parts = [(chain.growth.name, len(chain.ensemble), chain.decisions) for chain in chains]
    if cosines.decisions is not None:
        honest_parts.append((COSINES, 0, cosines.decisions))
    target, mean = problem.target[honest.rows], weight @ problem.target / weight.sum()
    weights, decisions = weigh_parts(honest_parts, target, mean, honest, n_columns)
    parts = []
    for chain in chains:
        if chain.growth.name in weights:
            own = weights[chain.growth.name]
            parts.append(Part(chain.growth.name, chain.ensemble.packs, None, chain.penalty, own))
    if cosines.pool is not None and COSINES in weights:
        left = n_columns - sum(len(part.learners) for part in parts)
        learners, others = cosines.pool.first(left), cosines.pool.others(left)
        parts.append(Part(COSINES, learners, others, cosines.penalty, weights[COSINES]))
    of_mean, of_sum = (mean_square(target - own, honest.weight) for own in (mean, decisions))
    problem.clock.lap("weights")
    error = of_sum / of_mean if of_mean > 0 else 1.0
    clock = problem.clock
    return Recipe(parts, cosines, chains, honest, decisions, error, clock.seconds, clock.left_out)


def weigh_parts(
    parts: Sequence[tuple[str, int, Floats]], target: Floats, mean: Floats, honest: HonestRows, n_columns: int
) -> tuple[dict[str, float], Floats]:
    """Return the weights of the parts that are used, and the weighted sum of their decisions.

    Parameters
    ----------
    parts : sequence of (name, number of columns, honest decisions)
        The cosines last, with 0 columns: they take those that the others leave, at least one.
    target : ndarray of shape (k, l)
    mean : ndarray of shape (l,)
    honest : HonestRows
    n_columns : int
        If there are too few for all parts, the one of the least weight is left out.
    """
    kept = list(parts)
    while True:
        weights = honest_weights([own for _, _, own in kept], target, honest.weight, LEAST_SHARE)
        used = [(own, part) for own, part in zip(weights.tolist(), kept, strict=True) if own > 0]
        if sum(max(1, part[1]) for _, part in used) <= n_columns:
            break
        least = min(used, key=lambda pair: pair[0])[1]
        kept = [part for _, part in used if part is not least]
    decisions = np.tile(mean, (len(target), 1))
    for own, (_, _, honest_decisions) in used:
        decisions += own * (honest_decisions - mean)
    if not exceeds_its_error(target - mean, target - decisions, honest.weight, honest.copies):
        return {}, np.tile(mean, (len(target), 1))
    return {name: own for own, (name, _, _) in used}, decisions


def exceeds_its_error(before: Floats, after: Floats, weight: Floats, copies: Floats) -> bool:
    """Return whether the mean gain in squared residuals is larger than its standard error.

    If nothing is to be learned, weights >= 0 find a small gain in every second case. Copies of a row are rows of their
    own, which have the same gain.
    """
    gains, share = np.sum(before**2, axis=1) - np.sum(after**2, axis=1), weight / weight.sum()
    gain = float(share @ gains)
    return gain > float(np.sqrt(np.sum((share * (gains - gain)) ** 2 / copies)))


def growths_for(problem: Problem, n_columns: int) -> list[tuple[Growth, tuple[int, ...]]]:
    """Return the chains to grow, and the numbers of columns to try for each."""
    n_rows, n_inputs = len(problem.rows), problem.X.shape[1]
    growths = [(own, lengths_up_to(min(MOST_TREES, n_columns // 4))) for own in TREES]
    if n_rows > MANY_ROWS:
        growths = [(own, lengths_up_to(min(MOST_LARGE_TREES, 2 * n_columns // 5))) for own in TREES[-1:]]
    if n_inputs >= LEARNED_INPUTS and n_rows >= LEARNED_ROWS and problem.one_scale:
        growths.insert(0, (LEARNED, lengths_up_to(n_columns // 2)))
    return growths


def lengths_up_to(most: int) -> tuple[int, ...]:
    """Return a quarter, half and all of a number of columns."""
    return tuple(sorted({max(1, most // 4), max(1, most // 2), max(1, most)}))
