"""Chains of trees or learned cosines, with their length and penalty chosen on rows on which they were not grown."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from cgens.automatic.problem import HonestRows, Problem
from cgens.blas import ONE_BLAS_THREAD
from cgens.colgen import generate_columns
from cgens.ensemble import Ensemble
from cgens.masters import LeastSquares
from cgens.selection import RidgePath
from cgens.selection.leave_one_out import mean_square
from cgens.types import Family, Floats, Integers
from cgens.weak_learners import Fourier, Tree

#: Penalties of the weights of grown columns, in multiples of m / l.
MULTIPLES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
#: Features that a tree may use, at most.
TREE_FEATURES = 100
#: Rows, at most, on which the weights of grown columns are fitted to compare lengths and penalties.
RIDGE_ROWS = 50_000
#: If a larger share of the rows is held out, the final chain is grown on all rows.
FEW_HELD_OUT = 0.1
#: Shares of a time budget after which no further chain is begun, and after which the last one stops.
BEGIN_UNTIL, END_UNTIL = 0.6, 0.9


@dataclass(frozen=True)
class Growth:
    """How a chain grows.

    Attributes
    ----------
    name : str
    family : Tree or Fourier
    penalty : float
        Of the weights while the chain grows, in multiples of m / l: a strong one lets each weak learner see most of
        what is left to explain.
    """

    name: str
    family: Family
    penalty: float

    def family_for(self, total: float, n_features: int) -> Family:
        """Return the family for rows of this total weight: leaves of trees are small if there are few rows."""
        if not isinstance(self.family, Tree):
            return self.family
        least = min(self.family.min_samples_leaf, total / 8)
        share = min(self.family.max_features, TREE_FEATURES / n_features)
        return Tree(**{**self.family.get_params(), "min_samples_leaf": least, "max_features": share})


#: Strongly randomized small trees for few or noisy rows, and large ones for many rows (docs/decisions/0020).
TREES = (
    Growth("random trees", Tree(31, min_samples_leaf=5, max_samples=0.7, splitter="random", max_bins=250), 40.0),
    Growth("large trees", Tree(127, min_samples_leaf=5, max_samples=0.7, max_bins=250), 10.0),
)
#: For images: cosines by gradient ascent.
LEARNED = Growth("learned cosines", Fourier(learn=True), 10.0)


@dataclass(frozen=True, eq=False)
class Chain:
    """A grown chain.

    Attributes
    ----------
    growth : Growth
    ensemble : Ensemble
        The weak learners for the model.
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
    """Grows chains of weak learners on some rows, with others held out.

    Attributes
    ----------
    problem : Problem
    held_out : ndarray of shape (n_folds, m)
        Held-out weight of each row.
    honest : HonestRows
        Rows of the folds on which length and penalty are chosen.
    """

    problem: Problem
    held_out: Floats
    honest: HonestRows

    def grow(self, growths: Sequence[tuple[Growth, Sequence[int]]], seed: np.random.SeedSequence) -> list[Chain]:
        """Return chains on all rows, of the lengths and penalties that are best on held-out rows.

        Parameters
        ----------
        growths : sequence of (Growth, sequence of int)
            The lengths to try of each, numbers of columns in ascending order. With a time budget, they are grown one
            after another, and those that there is no time for are left out.
        seed : numpy.random.SeedSequence
        """
        clock, n_folds, seconds = self.problem.clock, len(self.held_out), dict.fromkeys(range(len(growths)), 0.0)
        few = self.held_out[0].sum() <= FEW_HELD_OUT * self.problem.weight.sum()
        seeds = [own.spawn(1 + n_folds) for own in seed.spawn(len(growths))]
        tasks = [(number, fold) for number in range(len(growths)) for fold in range(n_folds)]
        in_turn = clock.budget is not None or len(tasks) == 1
        n_workers, n_threads = (1, self.problem.n_threads) if in_turn else (self.problem.n_threads, 1)

        def on_fold(task: tuple[int, int]) -> Ensemble | None:
            number, fold = task
            growth, lengths = growths[number]
            until = BEGIN_UNTIL + (END_UNTIL - BEGIN_UNTIL) * (number + 1) / len(growths)
            if clock.is_past(until):
                clock.leave_out("chains", growth.name)
                return None
            began, length = perf_counter(), max(lengths)
            own = self._grow(growth, self.held_out[fold], seeds[number][1 + fold], length, n_threads, until)
            if len(own) < length and clock.is_past(until):
                clock.leave_out("ends of chains", f"the last {length - len(own)} {growth.name}")
            seconds[number] = perf_counter() - began
            return own

        def finish(number: int, on_folds: Sequence[Ensemble | None]) -> Chain | None:
            own = [ensemble for ensemble in on_folds if ensemble]
            if len(own) < n_folds:
                return None
            growth, lengths = growths[number]
            (length, penalty), error, decisions = self._choose(lengths, own)
            ensemble = own[0].first(length)
            if not few and clock.has_time_for(seconds[number], END_UNTIL):
                none = np.zeros_like(self.problem.weight)
                ensemble = self._grow(growth, none, seeds[number][0], length, n_threads)
                if len(ensemble) < length and clock.is_past(1.0):
                    clock.leave_out("ends of chains", f"the last {length - len(ensemble)} {growth.name}")
            return Chain(growth, ensemble, penalty, error, decisions)

        with ONE_BLAS_THREAD, ThreadPoolExecutor(n_workers) as pool:
            grown = list(pool.map(on_fold, tasks))
            of_growths = [grown[begin : begin + n_folds] for begin in range(0, len(grown), n_folds)]
            found = list(pool.map(finish, range(len(growths)), of_growths))
        return [chain for chain in found if chain is not None]

    def _choose(self, lengths: Sequence[int], grown: Sequence[Ensemble]) -> tuple[tuple[int, float], float, Floats]:
        """Return length and penalty of the least error, given the chains of the folds, and the error and decisions."""
        shortest = min(len(own) for own in grown)
        lengths = sorted({min(shortest, own) for own in lengths})
        fits = [self._fit(lengths, *own) for own in zip(grown, self.held_out, self.honest.folds, strict=True)]
        settings = {key: np.concatenate([own[key] for own in fits]) for key in fits[0]}
        errors = {key: self._error(own) for key, own in settings.items()}
        length, multiple = best = min(errors, key=lambda setting: errors[setting])
        unit = float(self.problem.weight.sum()) / self.problem.target.shape[1]
        return (length, multiple * unit), errors[best], settings[best]

    def _fit(
        self, lengths: Sequence[int], ensemble: Ensemble, held_out: Floats, tested: Integers
    ) -> dict[tuple[int, float], Floats]:
        """Return decisions for some rows, for each length and penalty, by ridge fits on what is not held out."""
        left = self.problem.weight - held_out
        kept = np.flatnonzero(left > 0)
        kept = kept[:: -(-len(kept) // RIDGE_ROWS)]
        target, weight, n_outputs = self.problem.target[kept], left[kept], self.problem.target.shape[1]
        fitted, honest = (
            ensemble.respond(self.problem.X.take(self.problem.rows[own]).matrix()) for own in (kept, tested)
        )
        decisions = {}
        for length in lengths:
            path = RidgePath(fitted[:, :length], target, weight)
            for multiple in MULTIPLES:
                weights, intercept = path.solution(multiple * float(weight.sum()) / n_outputs)
                decisions[length, multiple] = honest[:, :length] @ weights + intercept
        return decisions

    def _error(self, decisions: Floats) -> float:
        """Return the mean squared error on the honest rows."""
        return mean_square(self.problem.target[self.honest.rows] - decisions, self.honest.weight)

    def _grow(
        self,
        growth: Growth,
        held_out: Floats,
        seed: np.random.SeedSequence,
        length: int,
        n_threads: int = 1,
        until: float = 1.0,
    ) -> Ensemble:
        """Grow a chain on what is not held out; with a time budget, until a share of it is used."""
        left = self.problem.weight - held_out
        kept, total, clock = left > 0, float(left.sum()), self.problem.clock
        ensemble, _ = generate_columns(
            LeastSquares(self.problem.target.shape[1] / (growth.penalty * total)),
            growth.family_for(total, self.problem.X.shape[1]),
            self.problem.X,
            self.problem.target[kept],
            sample_weight=left[kept],
            rows=self.problem.rows[kept],
            max_columns=length,
            callback=None if clock.budget is None else lambda _: clock.is_past(until),
            rng=np.random.default_rng(seed),
            n_threads=n_threads,
        )
        return ensemble
