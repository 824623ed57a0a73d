"""Perceptrons sign(theta.x - kappa), whose kernel is -|x - x'| but for a constant and a factor (Lin and Li)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cgens.blas import for_blocks
from cgens.packs import register_pack
from cgens.types import AnyArray, Floats, Sample
from cgens.weak_learners.projections.ascent import Sums
from cgens.weak_learners.projections.coordinates import Coordinates
from cgens.weak_learners.projections.directions import Directions, project_range
from cgens.weak_learners.projections.family import (
    ProjectionCandidates,
    ProjectionDraw,
    ProjectionFamily,
    ProjectionLearner,
    ProjectionPack,
)
from cgens.weak_learners.projections.learned import N_ROWS
from cgens.weak_learners.projections.spread import Spread
from cgens.weak_learners.search.candidates import distinct_rows, filled_pool, padded_responses

#: Root mean square of theta.z where learning begins: tanh is then near to the sign for most rows, and not for all.
SHARPNESS = 3.0


class Perceptron(ProjectionFamily):
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
    learn : bool or "auto", default="auto"
        Whether the most promising perceptrons are learned by gradient ascent, with tanh in the place of the sign, and
        then taken by the price of the sign. "auto" learns where gains hold on rows that the ascent has not seen.
        Learned perceptrons have no pool; `n_candidates` and `pool` are for what is selected.

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
        learn: bool | str = "auto",
    ) -> None:
        self.n_candidates = n_candidates
        self.pool = pool
        self.n_inputs = n_inputs
        self.orthogonal = orthogonal
        self.standardize = standardize
        self.learn = learn

    def _draw(self, n_candidates: int, sample: Sample, rng: np.random.Generator, n_threads: int) -> PerceptronDraw:
        return PerceptronDraw(self, n_candidates, sample, n_threads)

    def _learning(self, draw: PerceptronDraw) -> PerceptronLearning:
        return PerceptronLearning(draw)


@dataclass(frozen=True, eq=False)
class PerceptronLearner(ProjectionLearner):
    """h(x) = 1 where theta.x > kappa, else -1; int8."""


@register_pack("perceptron")
@dataclass(frozen=True, eq=False)
class PerceptronPack(ProjectionPack):
    """Many perceptrons as arrays."""

    dtype = np.int8
    learner_type = PerceptronLearner

    def respond_block(self, X: AnyArray) -> AnyArray:
        """Return the responses of a few rows, shape (n, J)."""
        return np.where(self.projected(X) > self.kappas, np.int8(1), np.int8(-1))


PerceptronLearner.pack_type = PerceptronPack


class PerceptronDraw(ProjectionDraw):
    """Draws perceptrons for the training rows."""

    def __init__(self, spec: Perceptron, n_candidates: int, sample: Sample, n_threads: int) -> None:
        self.sample, self.n_threads, self.n_candidates = sample, n_threads, n_candidates
        self.spread = Spread.of(sample, "Perceptron", spec.standardize)
        self.directions = Directions.of("Perceptron", sample.X.shape[1], spec.n_inputs, spec.orthogonal)

    def __call__(self, rng: np.random.Generator) -> ProjectionCandidates:
        """Return new perceptrons: as many as were asked for, or as there are different ones to be found."""
        return filled_pool(self.once, self.n_candidates, len(self.sample), rng)

    def once(self, rng: np.random.Generator) -> ProjectionCandidates:
        """Return what one draw gives: at most as many perceptrons as were asked for.

        All offsets of one range for all directions make the kernel; those outside a direction's own range give constant
        columns. So a direction is kept with a probability in proportion to its range, and its offset drawn within.
        """
        normal, _ = self.directions.draw(self.n_candidates, rng)
        thetas, _ = self.spread.unscaled(normal / np.linalg.norm(normal, axis=1, keepdims=True))
        low, high = project_range(self.sample, thetas, self.n_threads)
        kept = np.flatnonzero(rng.random(len(thetas)) * np.max(high - low) < high - low)
        return self.candidates(thetas[kept], rng.uniform(low[kept], high[kept]))

    def candidates(self, thetas: Floats, kappas: Floats) -> ProjectionCandidates:
        """Return given perceptrons, those of constant responses and repetitions left out."""
        responses = padded_responses(len(thetas), len(self.sample), np.int8)

        def work(begin: int, end: int) -> None:
            X = self.sample.matrix()[begin:end].astype(np.float64)
            responses[:, begin:end] = 2 * (thetas @ X.T > kappas[:, None]).astype(np.int8) - 1

        for_blocks(work, len(self.sample), self.n_threads)
        found = ProjectionCandidates(PerceptronLearner, thetas, kappas, responses)
        return found.kept(distinct_rows(responses, len(self.sample)))


class TanhActivation:
    """c = tanh(phase) in the place of sign(phase); there is no state, for the offset is an entry of theta."""

    def basis(self, phase: AnyArray, state: Floats) -> tuple[AnyArray, ...]:
        """Return the column itself."""
        return (np.tanh(phase),)

    def refine(self, state: Floats, sums: Sums) -> Floats:
        """Return the state as it is."""
        return state

    def weights(self, state: Floats) -> tuple[Floats, ...]:
        """Return ones."""
        return (np.ones(len(state)),)

    def derivative(self, basis: tuple[AnyArray, ...], state: Floats) -> AnyArray:
        """Return 1 - tanh^2."""
        return 1 - basis[0] * basis[0]


class PerceptronLearning:
    """How perceptrons are learned: in coordinates with a constant one, whose entry of theta is -kappa."""

    def __init__(self, draw: PerceptronDraw) -> None:
        self._draw = draw
        self.activation = TanhActivation()
        plain = Coordinates.of(draw.sample, draw.spread, draw.directions.n_inputs is None, draw.n_threads)
        Z = np.hstack([plain.Z, np.ones((len(plain.Z), 1), dtype=np.float32)])
        self._plain = plain
        self.coordinates = replace(plain, Z=Z, variance=np.append(plain.variance, 1.0))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[AnyArray, AnyArray | None]:
        """Return directions of a given sharpness, offsets uniform over where the rows are, and what may change."""
        variance, mask = self._plain.variance, None
        if self._draw.directions.n_inputs is None:
            normal = rng.normal(size=(n, len(variance)))
        else:
            normal, _ = self._draw.directions.draw(n, rng)
            mask = np.hstack([normal != 0, np.ones((n, 1), dtype=bool)])
        deviation = np.sqrt(np.sum(normal**2 * variance, axis=1, keepdims=True))
        thetas = (SHARPNESS * normal / np.maximum(deviation, 1e-300)).astype(np.float32)
        phases = self._plain.Z[rng.permutation(len(self._plain.Z))[:N_ROWS]] @ thetas.T
        offsets = rng.uniform(phases.min(axis=0), phases.max(axis=0))
        return np.hstack([thetas, -offsets[:, None].astype(np.float32)]), mask

    def candidates(self, thetas: AnyArray, state: Floats) -> ProjectionCandidates:
        """Return the learned directions as candidates, of length 1."""
        raw, shifts = self._plain.raw(thetas[:, :-1].astype(np.float64))
        length = np.maximum(np.linalg.norm(raw, axis=1), 1e-300)
        return self._draw.candidates(raw / length[:, None], (shifts - thetas[:, -1]) / length)
