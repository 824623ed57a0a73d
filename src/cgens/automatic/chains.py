"""Chains of trees, with their length and penalty chosen on rows on which they were not grown."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from cgens.automatic.problem import HonestRows, Problem
from cgens.blas import ONE_BLAS_THREAD
from cgens.colgen import generate_columns
from cgens.ensemble import Ensemble
from cgens.masters import LeastSquares
from cgens.selection import RidgePath
from cgens.selection.leave_one_out import mean_square
from cgens.types import Floats, Integers
from cgens.weak_learners import Tree

#: Penalties of the weights of grown trees, in multiples of m / l.
MULTIPLES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
#: Rows, at most, on which the weights of grown trees are fitted to compare lengths and penalties.
RIDGE_ROWS = 50_000


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
        The trees for the model.
    penalty : float
        Of their weights, for all rows.
    error : float
        Mean squared error on held-out rows.
    decisions : ndarray of shape (k, l)
        For the honest rows, by chains that were grown on the others.
    """

    growth: Growth
    ensemble: Ensemble
    penalty: float
    error: float
    decisions: Floats


@dataclass(frozen=True, eq=False)
class Chains:
    """Grows chains of trees on some rows, with others held out.

    Attributes
    ----------
    problem : Problem
    held_out : ndarray of shape (n_folds, m)
        Held-out weight of each row.
    honest : HonestRows
        Rows of the folds on which length and penalty are chosen.
    complete : bool
        Whether each row is held out once. A further chain is then grown on all rows; otherwise that of the first fold
        is used, with its weights fitted on all rows.
    lengths : sequence of int
        Numbers of trees to try, ascending.
    """

    problem: Problem
    held_out: Floats
    honest: HonestRows
    complete: bool
    lengths: Sequence[int]

    def grow(self, growth: Growth, seed: np.random.SeedSequence) -> Chain:
        """Return the chain of the length and penalty that are best on held-out rows."""
        last_seed, *seeds = seed.spawn(1 + len(self.held_out))
        with ONE_BLAS_THREAD, ThreadPoolExecutor(min(self.problem.n_threads, len(seeds))) as pool:
            grown = list(pool.map(lambda own, child: self._grow(growth, own, child), self.held_out, seeds))
            fits = list(pool.map(self._fit, grown, self.held_out, self.honest.folds))
        settings = {key: np.concatenate([own[key] for own in fits]) for key in fits[0]}
        errors = {key: self._error(own) for key, own in settings.items()}
        length, multiple = best = min(errors, key=lambda setting: errors[setting])
        ensemble = grown[0]
        if self.complete:
            ensemble = self._grow(growth, np.zeros_like(self.problem.weight), last_seed, length)
        penalty = multiple * float(self.problem.weight.sum()) / self.problem.target.shape[1]
        return Chain(growth, ensemble.first(length), penalty, errors[best], settings[best])

    def _fit(self, ensemble: Ensemble, held_out: Floats, tested: Integers) -> dict[tuple[int, float], Floats]:
        """Return decisions for some rows, for each length and penalty, by ridge fits on what is not held out."""
        left = self.problem.weight - held_out
        kept = np.flatnonzero(left > 0)
        kept = kept[:: -(-len(kept) // RIDGE_ROWS)]
        target, weight, n_outputs = self.problem.target[kept], left[kept], self.problem.target.shape[1]
        fitted, honest = (
            ensemble.respond(self.problem.X.take(self.problem.rows[own]).matrix()) for own in (kept, tested)
        )
        decisions = {}
        for length in self.lengths:
            path = RidgePath(fitted[:, :length], target, weight)
            for multiple in MULTIPLES:
                weights, intercept = path.solution(multiple * float(weight.sum()) / n_outputs)
                decisions[length, multiple] = honest[:, :length] @ weights + intercept
        return decisions

    def _error(self, decisions: Floats) -> float:
        """Return the mean squared error on the honest rows."""
        return mean_square(self.problem.target[self.honest.rows] - decisions, self.honest.weight)

    def _grow(
        self, growth: Growth, held_out: Floats, seed: np.random.SeedSequence, length: int | None = None
    ) -> Ensemble:
        """Grow a chain on what is not held out."""
        left = self.problem.weight - held_out
        kept, total = left > 0, float(left.sum())
        least = min(growth.tree.min_samples_leaf, total / 8)
        ensemble, _ = generate_columns(
            LeastSquares(self.problem.target.shape[1] / (growth.penalty * total)),
            Tree(**{**growth.tree.get_params(), "min_samples_leaf": least}),
            self.problem.X,
            self.problem.target[kept],
            sample_weight=left[kept],
            rows=self.problem.rows[kept],
            max_columns=length or max(self.lengths),
            rng=np.random.default_rng(seed),
            n_threads=1 if len(self.held_out) > 1 else self.problem.n_threads,
        )
        return ensemble
