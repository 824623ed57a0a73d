"""Chains of trees, grown on four fifths of the rows, with their penalty chosen on the last fifth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cgens.automatic.shares import HeldOut
from cgens.colgen import generate_columns
from cgens.ensemble import Ensemble
from cgens.masters import LeastSquares
from cgens.selection import RidgePath
from cgens.selection.leave_one_out import mean_square
from cgens.table import Table
from cgens.types import Floats, Integers
from cgens.weak_learners import Tree

#: Penalties of the weights of grown trees, in multiples of m / l.
MULTIPLES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


@dataclass(frozen=True)
class Growth:
    """How a chain grows.

    Attributes
    ----------
    name : str
    tree : Tree
    penalty : float
        Of the weights while the chain grows, in multiples of m / l: a strong one lets each tree see most of what is
        left to explain.
    """

    name: str
    tree: Tree
    penalty: float


#: Strongly randomized small trees for few or noisy rows, and large ones for many rows (docs/decisions/0020).
GROWTHS = (
    Growth("random trees", Tree(31, min_samples_leaf=5, max_samples=0.7, splitter="random", max_bins=250), 40.0),
    Growth("large trees", Tree(127, min_samples_leaf=5, max_samples=0.7, max_bins=250), 10.0),
)


@dataclass(frozen=True, eq=False)
class Chain:
    """A grown chain.

    Attributes
    ----------
    growth : Growth
    ensemble : Ensemble
        Its trees.
    n_trees : int
        How many of them are best on the held-out rows, with the penalty.
    penalty : float
        For all rows.
    error : float
        Mean squared error on the held-out rows.
    decisions : ndarray of shape (n_held_out, l)
        Decisions for the held-out rows, by a fit without them.
    """

    growth: Growth
    ensemble: Ensemble
    n_trees: int
    penalty: float
    error: float
    decisions: Floats


def grow_chain(
    growth: Growth,
    X: Table,
    rows: Integers,
    target: Floats,
    weight: Floats,
    held_out: HeldOut,
    n_trees: Sequence[int],
    seed: np.random.SeedSequence,
    n_threads: int,
) -> Chain:
    """Grow a chain on the rows that are not held out, and choose its length and penalty on those that are.

    Parameters
    ----------
    growth : Growth
    X : Table
    rows : ndarray of shape (m,)
        The rows of X to fit.
    target : ndarray of shape (m, l)
    weight : ndarray of shape (m,)
    held_out : HeldOut
    n_trees : sequence of int
        Lengths to try, ascending.
    seed : numpy.random.SeedSequence
    n_threads : int

    Returns
    -------
    chain : Chain
    """
    left = weight - held_out.weight
    kept, tested = left > 0, held_out.weight > 0
    n_outputs, total = target.shape[1], float(left.sum())
    tree = Tree(**{**growth.tree.get_params(), "min_samples_leaf": min(growth.tree.min_samples_leaf, total / 8)})
    ensemble, _ = generate_columns(
        LeastSquares(n_outputs / (growth.penalty * total)),
        tree,
        X,
        target[kept],
        sample_weight=left[kept],
        rows=rows[kept],
        max_columns=max(n_trees),
        rng=np.random.default_rng(seed),
        n_threads=n_threads,
    )
    responses = ensemble.respond(X.take(rows).matrix(), n_threads)
    best: Chain | None = None
    for n in sorted({min(own, len(ensemble)) for own in n_trees}):
        path = RidgePath(responses[kept, :n], target[kept], left[kept], n_threads)
        for multiple in MULTIPLES:
            weights, intercept = path.solution(multiple * total / n_outputs)
            decisions = responses[tested, :n] @ weights + intercept
            error = mean_square(target[tested] - decisions, held_out.weight[tested])
            if best is None or error < best.error:
                penalty = multiple * float(weight.sum()) / n_outputs
                best = Chain(growth, ensemble, n, penalty, error, decisions)
    assert best is not None
    return best
