"""Random functions of theta.x - kappa, and the directions from which they are learned."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from cgens.types import AnyArray, Floats, Sample
from cgens.weak_learners.projections.ascent import Activation
from cgens.weak_learners.projections.coordinates import Coordinates
from cgens.weak_learners.projections.directions import Directions
from cgens.weak_learners.projections.input_metric import InputMetric
from cgens.weak_learners.projections.learner import ProjectionPack
from cgens.weak_learners.projections.spread import Spread
from cgens.weak_learners.search.candidates import Candidates
from cgens.weak_learners.search.sampler import CandidateSampler


class ProjectionSampler(CandidateSampler):
    """Draws candidates f(theta.x - kappa), or directions from which to learn them."""

    pack_type: ClassVar[type[ProjectionPack]]
    activation: ClassVar[Activation]  #: the function of theta.z that is learned

    def __init__(
        self,
        spec: Any,
        sample: Sample,
        rng: np.random.Generator,
        n_threads: int,
        metric: InputMetric | None = None,
        n_inputs: object = None,
    ) -> None:
        super().__init__(spec, sample, rng, n_threads)
        self.spread = spread_of(spec, sample)
        n_inputs = spec.n_inputs if n_inputs is None else n_inputs
        self.directions = Directions.of(self.family, sample.X.shape[1], n_inputs, spec.orthogonal, metric)

    def candidates(self, thetas: Floats, kappas: Floats) -> Candidates:
        """Return given functions, those with a constant or repeated response left out."""
        return Candidates.of(self.pack_type(thetas, kappas), self.sample, self.n_threads)

    @cached_property
    def coordinates(self) -> Coordinates:
        """The training rows in principal components, or in the features themselves for sparse directions."""
        rotate = self.directions.n_inputs is None
        return Coordinates.of(self.sample, self.spread, rotate, self.n_threads)

    @property
    def ascent_coordinates(self) -> Coordinates:
        """The coordinates in which directions are learned."""
        return self.coordinates

    def draw_starts(self, n: int) -> tuple[AnyArray, AnyArray | None]:
        """Return n directions to start from, shape (n, r), float32, and a mask of the entries that may change."""
        raise NotImplementedError

    def draw_normal(self, n: int) -> tuple[Floats, Floats, AnyArray | None]:
        """Return n standard normal directions in `coordinates`, their numbers of inputs, and a mask of the inputs."""
        if self.directions.n_inputs is None:
            n_inputs = np.full(n, float(self.sample.X.shape[1]))
            return self.rng.normal(size=(n, self.coordinates.Z.shape[1])), n_inputs, None
        normal, n_inputs = self.directions.draw(n, self.rng)
        return normal, n_inputs, normal != 0

    def learned(self, thetas: AnyArray, state: Floats) -> Candidates:
        """Return learned directions as candidates, with exact responses on all training rows."""
        raise NotImplementedError


def spread_of(spec: Any, sample: Sample) -> Spread:
    """Measure the features for a family with the parameter `standardize`."""
    standardize = isinstance(spec.standardize, bool | np.bool_) and bool(spec.standardize)
    return Spread.of(sample, type(spec).__name__, standardize)
