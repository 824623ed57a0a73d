"""Cosines sqrt(2) cos(theta.x - kappa), whose kernel is Gaussian (Rahimi and Recht)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from cgens._core import take_cosines
from cgens.blas import for_blocks
from cgens.packs import register_pack
from cgens.types import AnyArray, Floats, Sample
from cgens.weak_learners.projections.ascent import Sums
from cgens.weak_learners.projections.coordinates import Coordinates
from cgens.weak_learners.projections.directions import Directions
from cgens.weak_learners.projections.family import (
    ProjectionCandidates,
    ProjectionDraw,
    ProjectionFamily,
    ProjectionLearner,
    ProjectionPack,
)
from cgens.weak_learners.projections.spread import Spread
from cgens.weak_learners.search.candidates import distinct_rows, padded_responses

#: Pairs of rows whose distances make ``gamma="median"``.
MEDIAN_PAIRS = 2000


class Fourier(ProjectionFamily):
    """Cosines sqrt(2) cos(theta.x - kappa), theta ~ N(0, 2 gamma I), kappa uniform.

    Their kernel, the mean of h(x) h(x') over all of them, is exp(-gamma |x - x'|^2). The factor sqrt(2) gives a column
    the mean square 1, as columns of +-1 have it: C means the same for all families.

    Parameters
    ----------
    gamma : float, "scale", "median", or a list of these, default="scale"
        Inverse squared width of the kernel; from a list each cosine draws its own. "scale" is
        1 / (number of inputs * mean variance of the features), "median" 1 / median of |x - x'|^2.
    n_candidates : int, default=2000
        How many cosines are drawn.
    pool : {"fixed", "fresh"}, default="fixed"
        Draw once for the whole fit, which gives a certificate for the pool; or anew each round, which sees more.
    n_inputs : int, list of int or None, default=None
        Sparse cosines, of so many features each; from a list each cosine draws its number. None: of all features.
    orthogonal : bool, default=False
        Draw directions that are orthogonal in blocks (Yu et al.): fewer of them approximate the kernel as well.
    standardize : bool, default=False
        Measure each feature in its own standard deviations, as a StandardScaler before the model would.
    learn : bool or "auto", default="auto"
        Whether the most promising cosines are learned by gradient ascent on the price. It pays on images and large
        tables, and overfits small ones: "auto" learns where gains hold on rows that the ascent has not seen. Learned
        cosines have no pool; `n_candidates` and `pool` are for what is selected.

    Examples
    --------
    >>> from cgens import CGEnsClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> family = Fourier(standardize=True, learn=False)
    >>> model = CGEnsClassifier(family, n_estimators=50, random_state=0).fit(X, y)
    >>> model.certificate_.scope, model.certificate_.n_candidates
    ('pool', 2000)
    """

    def __init__(
        self,
        gamma: Any = "scale",
        n_candidates: int = 2000,
        pool: str = "fixed",
        n_inputs: Any = None,
        orthogonal: bool = False,
        standardize: bool = False,
        learn: bool | str = "auto",
    ) -> None:
        self.gamma = gamma
        self.n_candidates = n_candidates
        self.pool = pool
        self.n_inputs = n_inputs
        self.orthogonal = orthogonal
        self.standardize = standardize
        self.learn = learn

    def _draw(self, n_candidates: int, sample: Sample, rng: np.random.Generator, n_threads: int) -> FourierDraw:
        return FourierDraw(self, n_candidates, sample, rng, n_threads)

    def _learning(self, draw: FourierDraw) -> FourierLearning:
        return FourierLearning(draw)


@dataclass(frozen=True, eq=False)
class FourierLearner(ProjectionLearner):
    """h(x) = sqrt(2) cos(theta.x - kappa), float32."""


@register_pack("fourier")
@dataclass(frozen=True, eq=False)
class FourierPack(ProjectionPack):
    """Many cosines as arrays."""

    learner_type = FourierLearner

    def respond_block(self, X: AnyArray) -> AnyArray:
        """Return the responses of a few rows, shape (n, J)."""
        return cosines_of(self.projected(X) - self.kappas)


FourierLearner.pack_type = FourierPack


class FourierDraw(ProjectionDraw):
    """Draws cosines for the training rows."""

    def __init__(
        self, spec: Fourier, n_candidates: int, sample: Sample, rng: np.random.Generator, n_threads: int
    ) -> None:
        self.sample, self.n_threads, self.n_candidates = sample, n_threads, n_candidates
        self.spread = Spread.of(sample, "Fourier", spec.standardize)
        self.directions = Directions.of("Fourier", sample.X.shape[1], spec.n_inputs, spec.orthogonal)
        self._gammas = resolve_gammas(spec.gamma, sample, self.spread, rng)

    def __call__(self, rng: np.random.Generator) -> ProjectionCandidates:
        """Return new cosines."""
        return self.candidates(*self.raw(self.n_candidates, rng))

    once = __call__  # hardly any two are alike

    def candidates(self, thetas: Floats, kappas: Floats) -> ProjectionCandidates:
        """Return given cosines, those of constant responses and repetitions left out."""
        responses = respond_sample(self.sample, thetas, kappas, self.n_threads)
        found = ProjectionCandidates(FourierLearner, thetas, kappas, responses)
        return found.kept(distinct_rows(responses, len(self.sample)))

    def raw(self, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return n directions and offsets for the inputs as they are."""
        normal, n_inputs = self.directions.draw(n, rng)
        thetas, shifts = self.spread.unscaled(self.widths(n_inputs, rng)[:, None] * normal)
        return thetas, rng.uniform(0.0, 2 * np.pi, size=n) + shifts

    def widths(self, n_inputs: Floats, rng: np.random.Generator) -> Floats:
        """Return sqrt(2 gamma) for cosines of so many inputs each, gamma drawn."""
        own = rng.integers(len(self._gammas), size=len(n_inputs))
        values, absolute = (np.array(part)[own] for part in zip(*self._gammas, strict=True))
        return np.asarray(np.sqrt(2 * values / np.where(absolute, 1.0, n_inputs)))


class CosineActivation:
    """c = sqrt(2) cos(phase - kappa) = sqrt(2) (cos(kappa) cos(phase) + sin(kappa) sin(phase)); the state is kappa."""

    def basis(self, phase: AnyArray, state: Floats) -> tuple[AnyArray, ...]:
        """Return cosine and sine."""
        return np.cos(phase), np.sin(phase)

    def refine(self, state: Floats, sums: Sums) -> Floats:
        """Return the kappa of the largest gain: an eigenvector of two 2 x 2 matrices, M - gain N."""
        m11, m12, m22 = (np.sum(sums.prices[i] * sums.prices[j], axis=1) for i, j in ((0, 0), (0, 1), (1, 1)))
        n11, n12, n22 = (sums.squares[i, j] + 0.5 * (i == j) for i, j in ((0, 0), (0, 1), (1, 1)))
        a, b, c = n11 * n22 - n12**2, m11 * n22 + m22 * n11 - 2 * m12 * n12, m11 * m22 - m12**2
        gain = (b + np.sqrt(np.maximum(b * b - 4 * a * c, 0.0))) / (2 * np.maximum(a, 1e-300))
        first = m11 - gain * n11, m12 - gain * n12
        second = m12 - gain * n12, m22 - gain * n22
        larger = np.abs(first).sum(axis=0) >= np.abs(second).sum(axis=0)
        return np.asarray(np.arctan2(np.where(larger, first[0], second[0]), -np.where(larger, first[1], second[1])))

    def weights(self, state: Floats) -> tuple[Floats, ...]:
        """Return the weights of cosine and sine."""
        return np.sqrt(2) * np.cos(state), np.sqrt(2) * np.sin(state)

    def derivative(self, basis: tuple[AnyArray, ...], state: Floats) -> AnyArray:
        """Return -sqrt(2) sin(phase - kappa)."""
        cosine, sine = (weight.astype(np.float32) for weight in self.weights(state))
        return sine * basis[0] - cosine * basis[1]


class FourierLearning:
    """How cosines are learned."""

    def __init__(self, draw: FourierDraw) -> None:
        self._draw = draw
        self.activation = CosineActivation()
        rotate = draw.directions.n_inputs is None
        self.coordinates = Coordinates.of(draw.sample, draw.spread, rotate, draw.n_threads)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[AnyArray, AnyArray | None]:
        """Return directions in the coordinates, and of sparse ones the entries that may change."""
        directions, n_features = self._draw.directions, float(self._draw.sample.X.shape[1])
        if directions.n_inputs is None:
            normal = rng.normal(size=(n, self.coordinates.Z.shape[1]))
            n_inputs, mask = np.full(n, n_features), None
        else:
            normal, n_inputs = directions.draw(n, rng)
            mask = normal != 0
        widths = self.coordinates.unit * self._draw.widths(n_inputs, rng)
        return (widths[:, None] * normal).astype(np.float32), mask

    def candidates(self, thetas: AnyArray, state: Floats) -> ProjectionCandidates:
        """Return the learned directions as candidates."""
        raw, shifts = self.coordinates.raw(thetas.astype(np.float64))
        return self._draw.candidates(raw, state + shifts)


def resolve_gammas(value: Any, sample: Sample, spread: Spread, rng: np.random.Generator) -> list[tuple[float, bool]]:
    """Return each gamma to draw from, and whether it is absolute or to be divided by a cosine's number of inputs."""
    values = list(value) if isinstance(value, list | tuple) or np.ndim(value) == 1 else [value]
    if not values:
        raise ValueError("Fourier: gamma must have at least one value; it is empty.")
    resolved: list[tuple[float, bool]] = []
    for one in values:
        if isinstance(one, str) and one == "scale":
            resolved.append((1.0 / spread.variance, False))
        elif isinstance(one, str) and one == "median":
            resolved.append((sample.X.shape[1] / median_distance(sample, spread, rng), False))
        elif isinstance(one, bool) or not isinstance(one, Real) or not 0 < float(one) < np.inf:
            raise ValueError(
                f"Fourier: gamma must be a number > 0, 'scale', 'median' or a list of them; got {value!r}."
            )
        else:
            resolved.append((float(one), True))
    return resolved


def median_distance(sample: Sample, spread: Spread, rng: np.random.Generator) -> float:
    """Return the median of |x - x'|^2 over random pairs of rows, drawn by weight; 1 where rows hardly differ."""
    share = sample.weight / sample.weight.sum()
    pairs = rng.choice(len(sample), size=(2, MEDIAN_PAIRS), p=share)
    first, second = (sample.matrix()[own].astype(np.float64) for own in pairs)
    distances = np.sum(((first - second) / spread.scale) ** 2, axis=1)
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 1.0


def respond_sample(sample: Sample, thetas: Floats, kappas: Floats, n_threads: int) -> AnyArray:
    """Return the responses of cosines on the training rows, shape (n, padded_length(m)), float32."""
    responses = padded_responses(len(thetas), len(sample), np.float32)

    def work(begin: int, end: int) -> None:
        X = sample.matrix()[begin:end].astype(np.float64)
        responses[:, begin:end] = cosines_of(thetas @ X.T - kappas[:, None])

    for_blocks(work, len(sample), n_threads)
    return responses


def cosines_of(phases: Floats) -> AnyArray:
    """Return sqrt(2) cos(phases), float32."""
    return np.asarray(take_cosines(np.ascontiguousarray(phases), 1).reshape(phases.shape))
