"""Chains of trees, with their length and penalty chosen on rows on which they were not grown."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from cgens.automatic.problem import Problem
from cgens.blas import ONE_BLAS_THREAD
from cgens.colgen import generate_columns
from cgens.ensemble import Ensemble
from cgens.masters import LeastSquares
from cgens.selection import RidgePath
from cgens.types import Floats
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
        The trees for the model.
    penalty : float
        Of their weights, for all rows.
    error : float
        Mean squared error on held-out rows.
    decisions : list of ndarray of shape (n_held_out, l)
        For each fold, decisions for its rows by a chain that was grown on the others.
    """

    growth: Growth
    ensemble: Ensemble
    penalty: float
    error: float
    decisions: list[Floats]


@dataclass(frozen=True, eq=False)
class Chains:
    """Grows chains of trees on some rows, with others held out.

    Attributes
    ----------
    problem : Problem
    folds : ndarray of shape (n_folds, m)
        Held-out weight of each row.
    complete : bool
        Whether each row is held out once. A further chain is then grown on all rows; otherwise that of the first fold
        is used, with its weights fitted on all rows.
    lengths : sequence of int
        Numbers of trees to try, ascending.
    """

    problem: Problem
    folds: Floats
    complete: bool
    lengths: Sequence[int]

    def grow(self, growth: Growth, seed: np.random.SeedSequence) -> Chain:
        """Return the chain of the length and penalty that are best on held-out rows."""
        last_seed, *seeds = seed.spawn(1 + len(self.folds))
        matrix = self.problem.X.take(self.problem.rows).matrix()
        n_outputs = self.problem.target.shape[1]
        decisions: dict[tuple[int, float], list[Floats]] = {}
        ensembles = []
        with ONE_BLAS_THREAD, ThreadPoolExecutor(min(self.problem.n_threads, len(self.folds))) as pool:
            grown = pool.map(lambda fold, own: self._grow(growth, fold, own), self.folds, seeds)
            for held_out, ensemble in zip(self.folds, grown, strict=True):
                ensembles.append(ensemble)
                left = self.problem.weight - held_out
                kept, tested = left > 0, held_out > 0
                responses = ensemble.respond(matrix, self.problem.n_threads)
                for length in self.lengths:
                    own = responses[:, :length]
                    path = RidgePath(own[kept], self.problem.target[kept], left[kept])
                    for multiple in MULTIPLES:
                        weights, intercept = path.solution(multiple * float(left.sum()) / n_outputs)
                        decisions.setdefault((length, multiple), []).append(own[tested] @ weights + intercept)
        errors = {setting: self._error(own) for setting, own in decisions.items()}
        length, multiple = min(errors, key=lambda setting: errors[setting])
        ensemble = ensembles[0]
        if self.complete:
            ensemble = self._grow(growth, np.zeros_like(self.problem.weight), last_seed, length)
        penalty = multiple * float(self.problem.weight.sum()) / n_outputs
        return Chain(growth, ensemble.first(length), penalty, errors[length, multiple], decisions[length, multiple])

    def _error(self, decisions: Sequence[Floats]) -> float:
        total = 0.0
        for held_out, own in zip(self.folds, decisions, strict=True):
            tested = held_out > 0
            total += float(held_out[tested] @ np.sum((self.problem.target[tested] - own) ** 2, axis=1))
        return total / float(self.folds.sum())

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
            n_threads=1 if len(self.folds) > 1 else self.problem.n_threads,
        )
        return ensemble
