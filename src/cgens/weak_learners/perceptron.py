"""Perceptrons sign(theta.x - kappa), whose kernel is -|x - x'| up to a constant and a factor (Lin and Li)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from cgens.blas import BLOCK, for_blocks
from cgens.default_c import DefaultC
from cgens.packs import register_pack
from cgens.types import AnyArray, Floats
from cgens.weak_learners.projections.ascent import Sums
from cgens.weak_learners.projections.coordinates import Coordinates
from cgens.weak_learners.projections.family import ProjectionFamily
from cgens.weak_learners.projections.learned import N_ROWS
from cgens.weak_learners.projections.learner import ProjectionLearner, ProjectionPack
from cgens.weak_learners.projections.sampler import ProjectionSampler
from cgens.weak_learners.search.candidates import Candidates

#: Root mean square of theta.z at the start of learning: tanh is then close to the sign for most rows, but not all.
SHARPNESS = 3.0


class Perceptron(ProjectionFamily):
    """Perceptrons sign(theta.x - kappa), theta uniform on the sphere, kappa uniform over the range of the rows.

    Up to a factor their kernel is Delta' - |x - x'|, the perceptron kernel of Lin and Li: it has no parameter.

    Parameters
    ----------
    n_candidates : int, default=2000
        Number of perceptrons to draw.
    pool : {"fixed", "fresh"}, default="fixed"
        "fixed" draws the perceptrons once per fit, so that the certificate covers all of them; "fresh" draws new ones
        in each round, and so searches more of them.
    n_inputs : int, list of int or None, default=None
        Number of features per perceptron, for sparse ones; if a list, each perceptron uses one of its values, drawn at
        random. None: all features.
    orthogonal : bool, default=False
        Draw directions in orthogonal blocks.
    standardize : bool, "robust", "zc", "rank" or "auto", default="auto"
        True standardizes the features, as a StandardScaler before the model would. The others work on tables with gaps
        and categories too. "robust" maps a number x to z / sqrt(1 + (z / 3)^2) with z = (x - median) / (interquartile
        range), so that neither units nor outliers matter; "zc" does so with z = (x - mean) / (standard deviation), and
        standardizes the result; "rank" standardizes mid-ranks, which no monotone change of a feature affects. "auto" is
        "robust" for tables with units, gaps or categories, and False for features on one scale, such as the pixels of
        an image, and for sparse X.
    learn : bool or "auto", default="auto"
        Whether to learn the most promising perceptrons by gradient ascent, with tanh in place of the sign, and then
        select them by the price of the sign. "auto" learns if the gains hold on rows that the ascent has not seen.
        With fewer than 40 distinct rows nothing is learned, nor with `n_inputs` from a sparse X of more than 1024
        columns. Learned perceptrons have no pool; `n_candidates` and `pool` apply to selected ones.

    Examples
    --------
    >>> from cgens import CGEnsClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CGEnsClassifier(Perceptron(standardize=True), n_estimators=50, random_state=0).fit(X, y)
    >>> model.ensemble_.respond(X).dtype
    dtype('int8')
    """

    default_c: ClassVar[DefaultC] = DefaultC(margin=1.5, squares=1.0)

    def __init__(
        self,
        n_candidates: int = 2000,
        pool: str = "fixed",
        n_inputs: Any = None,
        orthogonal: bool = False,
        standardize: bool | str = "auto",
        learn: bool | str = "auto",
    ) -> None:
        self.n_candidates = n_candidates
        self.pool = pool
        self.n_inputs = n_inputs
        self.orthogonal = orthogonal
        self.standardize = standardize
        self.learn = learn


@dataclass(frozen=True, eq=False)
class PerceptronLearner(ProjectionLearner):
    """h(x) = 1 if theta.x > kappa, else -1; int8."""


@register_pack("perceptron")
@dataclass(frozen=True, eq=False)
class PerceptronPack(ProjectionPack):
    """Perceptrons as arrays."""

    dtype = np.int8
    learner_type = PerceptronLearner

    @staticmethod
    def activate(projections: Floats, kappas: Floats) -> AnyArray:
        """Return the sign of theta.x - kappa, -1 for 0."""
        return 2 * (projections > kappas).view(np.int8) - 1


PerceptronLearner.pack_type = PerceptronPack


class TanhActivation:
    """c = tanh(phase) in place of sign(phase); there is no state, as the offset is an entry of theta."""

    def basis(self, phase: AnyArray) -> tuple[AnyArray, ...]:
        """Return the column itself."""
        return (np.tanh(phase),)

    def refine(self, state: Floats, sums: Sums) -> Floats:
        """Return the state unchanged."""
        return state

    def weights(self, state: Floats) -> tuple[Floats, ...]:
        """Return ones."""
        return (np.ones(len(state)),)

    def derivative(self, basis: tuple[AnyArray, ...], state: Floats) -> AnyArray:
        """Return 1 - tanh^2."""
        return 1 - basis[0] * basis[0]


class PerceptronSampler(ProjectionSampler):
    """Draws perceptrons; they are learned in coordinates with a constant one, whose entry of theta is -kappa."""

    pack_type = PerceptronPack
    activation = TanhActivation()

    def draw(self) -> Candidates:
        """Return new perceptrons.

        The kernel takes offsets from the same range for all directions; those outside the range of a direction's own
        projections give constant columns. So a direction is kept with a probability proportional to its range, and its
        offset is drawn from that.
        """
        normal, _ = self.directions.draw(self.n_candidates, self.rng)
        thetas, _ = self.spread.unscaled(normal / np.linalg.norm(normal, axis=1, keepdims=True))
        low, high = self._ranges(thetas)
        kept = np.flatnonzero(self.rng.random(len(thetas)) * np.max(high - low) < high - low)
        return self.candidates(thetas[kept], self.rng.uniform(low[kept], high[kept]))

    def _ranges(self, thetas: Floats) -> tuple[Floats, Floats]:
        """Return the minimum and maximum of theta.x over the training rows, for each direction."""
        n_blocks = -(-len(self.sample) // BLOCK)
        low, high = np.empty((n_blocks, len(thetas))), np.empty((n_blocks, len(thetas)))

        def work(begin: int, end: int) -> None:
            products = thetas @ self.sample.matrix()[begin:end].astype(np.float64).T
            low[begin // BLOCK], high[begin // BLOCK] = products.min(axis=1), products.max(axis=1)

        for_blocks(work, len(self.sample), self.n_threads)
        return low.min(axis=0), high.max(axis=0)

    @cached_property
    def ascent_coordinates(self) -> Coordinates:
        """The coordinates with a constant 1 appended."""
        plain = self.coordinates
        Z = np.hstack([plain.Z, np.ones((len(plain.Z), 1), dtype=np.float32)])
        return replace(plain, Z=Z, variance=np.append(plain.variance, 1.0))

    def draw_starts(self, n: int) -> tuple[AnyArray, AnyArray | None]:
        """Return directions of sharpness `SHARPNESS` with offsets uniform over the range of the rows, and a mask."""
        normal, _, mask = self.draw_normal(n)
        if mask is not None:
            mask = np.hstack([mask, np.ones((n, 1), dtype=bool)])
        deviation = np.sqrt(np.sum(normal**2 * self.coordinates.variance, axis=1, keepdims=True))
        deviation[deviation == 0] = np.inf  # constant inputs only
        thetas = (SHARPNESS * normal / deviation).astype(np.float32)
        Z = self.coordinates.Z
        phases = Z[self.rng.permutation(len(Z))[:N_ROWS]] @ thetas.T
        offsets = self.rng.uniform(phases.min(axis=0), phases.max(axis=0))
        return np.hstack([thetas, -offsets[:, None].astype(np.float32)]), mask

    def learned(self, thetas: AnyArray, state: Floats) -> Candidates:
        """Return learned directions as candidates, scaled to length 1."""
        raw, shifts = self.coordinates.raw(thetas[:, :-1].astype(np.float64))
        length = np.maximum(np.linalg.norm(raw, axis=1), 1e-300)
        return self.candidates(raw / length[:, None], (shifts - thetas[:, -1]) / length)


Perceptron.sampler_type = PerceptronSampler
