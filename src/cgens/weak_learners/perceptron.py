"""Perceptrons sign(theta.x - kappa), whose kernel is -|x - x'| but for a constant and a factor (Lin and Li)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from cgens.types import AnyArray, Floats, Pricer, Sample
from cgens.weak_learners.block_pack import BlockPack
from cgens.weak_learners.candidates import (
    FixedPricer,
    FreshPricer,
    check_candidates,
    distinct_rows,
    padded_responses,
)
from cgens.weak_learners.projections import Directions, Spread, key_of, project_rows, project_sample

#: How often perceptrons are drawn to fill the pool; with few rows there may not be as many that differ.
MOST_DRAWS = 8


class Perceptron(BaseEstimator):  # type: ignore[misc]
    """Perceptrons sign(theta.x - kappa), theta uniform on the sphere, kappa uniform over where the rows are.

    Their kernel is Delta' - |x - x'| up to a factor, the perceptron kernel of Lin and Li: it has no parameter.

    Parameters
    ----------
    n_candidates : int, default=2000
        How many perceptrons are drawn.
    pool : {"fixed", "fresh"}, default="fixed"
        Draw once for the whole fit, which gives a certificate for the pool; or anew each round, which sees more.
    n_inputs : int, list of int or None, default=None
        Sparse perceptrons, of so many features each; from a list each draws its number. None: of all features.
    orthogonal : bool, default=False
        Draw directions that are orthogonal in blocks.
    standardize : bool, default=False
        Measure each feature in its own standard deviations, as a StandardScaler before the model would.

    Examples
    --------
    >>> from cgens import CGEnsClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CGEnsClassifier(Perceptron(standardize=True), n_estimators=50, random_state=0).fit(X, y)
    >>> model.ensemble_.respond(X).dtype
    dtype('int8')
    """

    def __init__(
        self,
        n_candidates: int = 2000,
        pool: str = "fixed",
        n_inputs: Any = None,
        orthogonal: bool = False,
        standardize: bool = False,
    ) -> None:
        self.n_candidates = n_candidates
        self.pool = pool
        self.n_inputs = n_inputs
        self.orthogonal = orthogonal
        self.standardize = standardize

    def begin(self, sample: Sample, rng: np.random.Generator, n_threads: int) -> Pricer:
        """Draw the pool, or prepare to draw."""
        n_candidates = check_candidates("Perceptron", self.n_candidates, self.pool)
        draw = PerceptronDraw(self, n_candidates, sample, n_threads)
        if self.pool == "fresh":
            return FreshPricer(draw, sample, rng, n_threads)
        return FixedPricer(draw(rng), sample, n_threads)


@dataclass(frozen=True, eq=False)
class PerceptronLearner:
    """h(x) = polarity where theta.x > kappa, else -polarity."""

    theta: Floats
    kappa: float
    polarity: int = 1

    def __post_init__(self) -> None:
        self.theta.setflags(write=False)

    @property
    def key(self) -> Hashable:
        """Direction and offset, whatever the sign."""
        return key_of("perceptron", self.theta, self.kappa)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PerceptronLearner) and (self.key, self.polarity) == (other.key, other.polarity)

    def __hash__(self) -> int:
        return hash((self.key, self.polarity))

    def respond(self, X: AnyArray) -> AnyArray:
        """Return h(x) of every row, int8."""
        return PerceptronLearner.pack([self]).respond(X, 1)[:, 0]

    def negated(self) -> PerceptronLearner:
        """Return -h."""
        return PerceptronLearner(self.theta, self.kappa, -self.polarity)

    @staticmethod
    def pack(learners: Sequence[PerceptronLearner]) -> PerceptronPack:
        """Return the learners as arrays."""
        return PerceptronPack(
            np.array([learner.theta for learner in learners]),
            np.array([learner.kappa for learner in learners]),
            np.array([learner.polarity for learner in learners], dtype=np.int8),
        )


@dataclass(frozen=True)
class PerceptronPack(BlockPack):
    """Many perceptrons as arrays."""

    thetas: Floats
    kappas: Floats
    polarities: AnyArray

    dtype = np.int8

    def __len__(self) -> int:
        return len(self.thetas)

    def respond_block(self, X: AnyArray) -> AnyArray:
        """Return the responses of a few rows, shape (n, J)."""
        return np.where(project_rows(X, self.thetas) > self.kappas, self.polarities, -self.polarities)

    def arrays(self) -> dict[str, AnyArray]:
        """Return the perceptrons as named arrays."""
        return {"thetas": self.thetas, "kappas": self.kappas, "polarities": self.polarities}


@dataclass(frozen=True)
class PerceptronCandidates:
    """Drawn perceptrons."""

    thetas: Floats
    kappas: Floats
    responses: AnyArray

    def learner(self, number: int) -> PerceptronLearner:
        """Return one of them."""
        return PerceptronLearner(self.thetas[number].copy(), float(self.kappas[number]))


class PerceptronDraw:
    """Draws perceptrons for the training rows."""

    def __init__(self, spec: Perceptron, n_candidates: int, sample: Sample, n_threads: int) -> None:
        self.sample, self.n_threads, self.n_candidates = sample, n_threads, n_candidates
        self.spread = Spread.of(sample, "Perceptron", spec.standardize)
        self.directions = Directions.of("Perceptron", sample.X.shape[1], spec.n_inputs, spec.orthogonal)

    def __call__(self, rng: np.random.Generator) -> PerceptronCandidates:
        """Return new perceptrons: as many as were asked for, or as there are different ones to be found."""
        n, n_rows = self.n_candidates, len(self.sample)
        thetas, kappas = np.empty((0, self.sample.X.shape[1])), np.empty(0)
        responses = padded_responses(0, n_rows, np.int8)
        for _ in range(MOST_DRAWS):
            more, offsets, signs = self.raw(n, rng)
            thetas, kappas = np.vstack([thetas, more]), np.concatenate([kappas, offsets])
            responses = np.vstack([responses, signs])
            kept = distinct_rows(responses, n_rows)[:n]
            thetas, kappas, responses = thetas[kept], kappas[kept], responses[kept]
            if len(kept) == n:
                break
        return PerceptronCandidates(thetas, kappas, responses)

    def raw(self, n: int, rng: np.random.Generator) -> tuple[Floats, Floats, AnyArray]:
        """Return directions and offsets for the inputs as they are, and responses, of at most n perceptrons.

        All offsets of one range for all directions make the kernel; those outside a direction's own range give constant
        columns. So a direction is kept with a probability in proportion to its range, and its offset drawn within.
        """
        normal, _ = self.directions.draw(n, rng)
        thetas, _ = self.spread.unscaled(normal / np.linalg.norm(normal, axis=1, keepdims=True))
        products = project_sample(self.sample, thetas, self.n_threads)
        low, high = products.min(axis=1), products.max(axis=1)
        kept = np.flatnonzero(rng.random(n) * np.max(high - low) < high - low)
        thetas, products, low, high = thetas[kept], products[kept], low[kept], high[kept]
        kappas = rng.uniform(low, high)
        responses = padded_responses(len(kept), len(self.sample), np.int8)
        responses[:, : len(self.sample)] = np.where(products > kappas[:, None], 1, -1)
        return thetas, kappas, responses
