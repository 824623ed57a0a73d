"""Cosines sqrt(2) cos(theta.x - kappa), whose kernel is Gaussian (Rahimi and Recht)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from cgens._core import CosineTables, RowEncoder, take_cosines
from cgens.default_c import DefaultC
from cgens.packs import Decider, register_pack
from cgens.packs.array_pack import decide_compiled, respond_compiled
from cgens.table.encoding import plain_encoding
from cgens.table.scaling import ScalingKind
from cgens.types import AnyArray, Floats, Pricer, Sample
from cgens.weak_learners.checks import check_choice
from cgens.weak_learners.projections.ascent import Sums
from cgens.weak_learners.projections.draws import SPARSE_SIZES, draw_pairs
from cgens.weak_learners.projections.family import ProjectionFamily
from cgens.weak_learners.projections.input_metric import InputMetric
from cgens.weak_learners.projections.learner import ProjectionLearner, ProjectionPack
from cgens.weak_learners.projections.metric_search import MetricPricer, metric_of_duals
from cgens.weak_learners.projections.sampler import ProjectionSampler, spread_of
from cgens.weak_learners.projections.spread import Spread
from cgens.weak_learners.search.candidates import Candidates

#: Multiples of half a period, as distances between two rows, for ``draw="pairs"``.
PAIR_SCALES = (1.0, 2.0)
#: Number of pairs of rows whose distances give ``gamma="median"``.
MEDIAN_PAIRS = 2000


class Fourier(ProjectionFamily):
    """Cosines sqrt(2) cos(theta.x - kappa), theta ~ N(0, 2 gamma I), kappa uniform.

    Their kernel, the mean of h(x) h(x') over all cosines, is exp(-gamma |x - x'|^2). The factor sqrt(2) gives columns a
    mean square of 1, as columns of +-1 have: a given C then regularizes both equally.

    Parameters
    ----------
    gamma : float, "scale", "median", or a list of these, default="scale"
        Inverse squared width of the kernel; if a list, each cosine uses one of its values, drawn at random. "scale" is
        1 / (number of inputs * mean variance of the features), "median" is 1 / median of |x - x'|^2.
    n_candidates : int, default=2000
        Number of cosines to draw.
    pool : {"fixed", "fresh"}, default="fixed"
        "fixed" draws the cosines once per fit, so that the certificate covers all of them; "fresh" draws new ones in
        each round, and so searches more of them.
    n_inputs : int, list of int or None, default=None
        Number of features per cosine, for sparse ones; if a list, each cosine uses one of its values, drawn at random.
        None: all features; 1, 2, 3 or 6 with ``draw="sparse"``.
    orthogonal : bool, default=False
        Draw directions in orthogonal blocks (Yu et al.), which approximates the kernel equally well with fewer cosines.
    standardize : bool, "robust", "zc", "rank" or "auto", default="auto"
        True standardizes the features, as a StandardScaler before the model would. The others work on tables with gaps
        and categories too. "robust" maps a number x to z / sqrt(1 + (z / 3)^2) with z = (x - median) / (interquartile
        range), so that neither units nor outliers matter; "zc" does so with z = (x - mean) / (standard deviation), and
        standardizes the result; "rank" standardizes mid-ranks, which no monotone change of a feature affects. "auto" is
        "robust" for tables with units, gaps or categories, and False for features on one scale, such as the pixels of
        an image, and for sparse X; it is "zc" with ``metric="learned"``, which needs inputs of about unit variance.
    learn : bool or "auto", default="auto"
        Whether to learn the most promising cosines by gradient ascent on the price. This pays off on images and large
        tables, and overfits small ones: "auto" learns if the gains hold on rows that the ascent has not seen. With
        fewer than 40 distinct rows nothing is learned, nor with `n_inputs` from a sparse X of more than 1024 columns.
        Learned cosines have no pool; `n_candidates` and `pool` apply to selected ones. With `draw` or `metric` other
        than the default nothing is learned, and True is refused.
    draw : {"normal", "sparse", "pairs"}, default="normal"
        "normal" draws directions as above. "sparse" draws cosines of few features (see `n_inputs`); in a learned
        metric, a feature is drawn with a probability proportional to the square of its part in ``input_importances_``.
        "pairs" draws the directions between two training rows: half a period or a whole one, at random, is the distance
        between the rows; `gamma` is not used.
    metric : {"flat", "learned"}, default="flat"
        "learned" draws cosines in units that are learned first: exp(-gamma sum_f a_f^2 (x_f - x'_f)^2), with a mean
        a_f^2 of 1, instead of the Gaussian kernel. a_f is how much the target changes along a feature, the root mean
        square derivative of a ridge regression over random cosines on at most 3000 rows. It is fitted to the first
        duals over the weights of the rows. Those are of a model without columns: for least squares and the logistic
        loss they are the centred target up to a factor, otherwise derivatives of the loss at the best constant. The
        pool is drawn in this metric, and the certificate covers it. The fitted model has the metric in
        ``input_importances_`` and ``feature_importances_``. X must not be sparse, and `n_inputs` needs
        ``draw="sparse"``. ``warm_start=True`` keeps the metric, unless gaps, levels or scales of the new rows are
        encoded differently: it is then learned again, from what the earlier columns leave.

    Examples
    --------
    >>> from cgens import CGEnsClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> family = Fourier(standardize=True, learn=False)
    >>> model = CGEnsClassifier(family, n_estimators=50, random_state=0).fit(X, y)
    >>> model.certificate_.scope, model.certificate_.n_candidates
    ('pool', 2000)

    In a learned metric, with the part of each feature in it:

    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> family = Fourier(draw="sparse", metric="learned")
    >>> model = CGEnsClassifier(family, n_estimators=50, random_state=0).fit(X, y)
    >>> list(model.input_importances_)[:2], round(sum(model.input_importances_.values()), 6)
    (['mean radius', 'mean texture'], 1.0)
    """

    default_c: ClassVar[DefaultC] = DefaultC(margin=0.7, squares=0.3)

    def __init__(
        self,
        gamma: Any = "scale",
        n_candidates: int = 2000,
        pool: str = "fixed",
        n_inputs: Any = None,
        orthogonal: bool = False,
        standardize: bool | str = "auto",
        learn: bool | str = "auto",
        draw: str = "normal",
        metric: str = "flat",
    ) -> None:
        self.gamma = gamma
        self.n_candidates = n_candidates
        self.pool = pool
        self.n_inputs = n_inputs
        self.orthogonal = orthogonal
        self.standardize = standardize
        self.learn = learn
        self.draw = draw
        self.metric = metric

    @property
    def accepts(self) -> tuple[str, ...]:
        """What X may have besides complete numbers: a learned metric needs dense rows."""
        return ("gaps", "categories") if self.metric == "learned" else super().accepts

    def begin(self, sample: Sample, rng: np.random.Generator, n_threads: int) -> Pricer:
        """Draw the pool, or prepare to draw or learn in each round."""
        self._check_draw()
        return super().begin(sample, rng, n_threads)

    def _check_draw(self) -> None:
        """Raise ValueError if a parameter does not go with `draw` or `metric`."""
        check_choice("Fourier: draw", self.draw, ("normal", "sparse", "pairs"))
        check_choice("Fourier: metric", self.metric, ("flat", "learned"))
        if self._is_plain():
            return
        given = f"draw={self.draw!r}" if self.draw != "normal" else f"metric={self.metric!r}"
        if isinstance(self.learn, bool | np.bool_) and self.learn:
            raise ValueError(f"Fourier: {given} has no gradient ascent: leave out learn=True.")
        if self.draw != "normal" and isinstance(self.orthogonal, bool | np.bool_) and self.orthogonal:
            raise ValueError(f"Fourier: {given} draws no orthogonal directions: leave out orthogonal=True.")
        if self.draw != "sparse" and self.n_inputs is not None:
            raise ValueError(f"Fourier: n_inputs={self.n_inputs!r} with {given} needs draw='sparse'.")
        if self.draw == "pairs" and not (isinstance(self.gamma, str) and self.gamma == "scale"):
            raise ValueError(f"Fourier: draw='pairs' takes its widths from the rows: leave out gamma={self.gamma!r}.")

    def _is_plain(self) -> bool:
        """Return whether `draw` and `metric` have their defaults."""
        return self.draw == "normal" and self.metric == "flat"

    def _learns(self) -> bool | str:
        return self.learn if self._is_plain() else False

    def _scaling(self, sample: Sample) -> ScalingKind:
        return "zc" if self.metric == "learned" and self.standardize == "auto" else super()._scaling(sample)

    def _begin(self, sample: Sample, rng: np.random.Generator, n_threads: int) -> Pricer:
        if self.metric == "flat":
            return super()._begin(sample, rng, n_threads)
        metric_rng, spread = rng.spawn(1)[0], spread_of(self, sample)
        return MetricPricer(
            lambda duals: metric_of_duals(sample, spread, duals, metric_rng, n_threads),
            lambda metric: FourierSampler(self, sample, rng, n_threads, metric).pricer(),
            rng,
        )


@dataclass(frozen=True, eq=False)
class FourierLearner(ProjectionLearner):
    """h(x) = sqrt(2) cos(theta.x - kappa), float32."""


@register_pack("fourier")
@dataclass(frozen=True, eq=False)
class FourierPack(ProjectionPack):
    """Cosines as arrays."""

    learner_type = FourierLearner

    def on_encoded(self, encoder: RowEncoder) -> CosineTables:
        """Return the cosines of the inputs that an encoder makes of a row."""
        return CosineTables(encoder, np.ascontiguousarray(self.thetas, dtype=np.float64), self.kappas)

    @cached_property
    def _tables(self) -> CosineTables:
        return self.on_encoded(plain_encoding(self.thetas.shape[1]).encoder)

    def respond(self, X: AnyArray, n_threads: int) -> AnyArray:
        """Return the responses, shape (n, J)."""
        if not isinstance(X, np.ndarray):
            return super().respond(X, n_threads)
        return respond_compiled(self._tables, X, len(self), n_threads)

    def decider(self, weights: Floats) -> Decider:
        """Prepare responses @ weights."""
        decide_sparse = super().decider(weights)

        def decide(X: AnyArray, n_threads: int) -> Floats:
            if isinstance(X, np.ndarray):
                return decide_compiled(self._tables, X, weights, n_threads)
            return decide_sparse(X, n_threads)

        return decide

    @staticmethod
    def activate(projections: Floats, kappas: Floats) -> AnyArray:
        """Return sqrt(2) cos(theta.x - kappa), float32."""
        return take_cosines(np.ascontiguousarray(projections - kappas), 1).reshape(projections.shape)


FourierLearner.pack_type = FourierPack


class CosineActivation:
    """c = sqrt(2) cos(phase - kappa) = sqrt(2) (cos(kappa) cos(phase) + sin(kappa) sin(phase)); the state is kappa."""

    def basis(self, phase: AnyArray) -> tuple[AnyArray, ...]:
        """Return cosine and sine."""
        return np.cos(phase), np.sin(phase)

    def refine(self, state: Floats, sums: Sums) -> Floats:
        """Return the kappa with the largest gain: the leading generalized eigenvector of the 2 x 2 matrices M and N."""
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


class FourierSampler(ProjectionSampler):
    """Draws cosines."""

    pack_type = FourierPack
    activation = CosineActivation()

    def __init__(
        self,
        spec: Fourier,
        sample: Sample,
        rng: np.random.Generator,
        n_threads: int,
        metric: InputMetric | None = None,
    ) -> None:
        sparse_sizes = SPARSE_SIZES if spec.draw == "sparse" and spec.n_inputs is None else None
        super().__init__(spec, sample, rng, n_threads, metric, sparse_sizes)
        self._pairs = spec.draw == "pairs"
        self._factors = None if metric is None or spec.draw == "sparse" else metric.factors
        self._gammas = resolve_gammas(spec.gamma, sample, self.spread, rng, self._factors)

    def draw(self) -> Candidates:
        """Return new cosines."""
        if self._pairs:
            factors = np.ones(self.sample.X.shape[1]) if self._factors is None else self._factors
            rows, unit = self.sample.matrix(), self.spread.scale
            drawn = draw_pairs(self.n_candidates, factors, PAIR_SCALES, rows, self.sample.weight, self.rng, unit)
            thetas, shifts = self.spread.unscaled(drawn)
            return self.candidates(thetas, self.rng.uniform(0.0, 2 * np.pi, size=len(thetas)) + shifts)
        normal, n_inputs = self.directions.draw(self.n_candidates, self.rng)
        thetas, shifts = self.spread.unscaled(self._widths(n_inputs)[:, None] * normal)
        return self.candidates(thetas, self.rng.uniform(0.0, 2 * np.pi, size=len(thetas)) + shifts)

    draw_pool = draw  # one draw is enough: repeated responses are rare

    def _widths(self, n_inputs: Floats) -> Floats:
        """Return sqrt(2 gamma) with a random gamma for each cosine, given its number of inputs."""
        own = self.rng.integers(len(self._gammas), size=len(n_inputs))
        values, absolute = (np.array(part)[own] for part in zip(*self._gammas, strict=True))
        return np.asarray(np.sqrt(2 * values / np.where(absolute, 1.0, n_inputs)))

    def draw_starts(self, n: int) -> tuple[AnyArray, AnyArray | None]:
        """Return n directions to start from, shape (n, r), float32, and a mask of the entries that may change."""
        normal, n_inputs, mask = self.draw_normal(n)
        widths = self.coordinates.unit * self._widths(n_inputs)
        return (widths[:, None] * normal).astype(np.float32), mask

    def learned(self, thetas: AnyArray, state: Floats) -> Candidates:
        """Return learned directions as candidates."""
        raw, shifts = self.coordinates.raw(thetas.astype(np.float64))
        return self.candidates(raw, state + shifts)


Fourier.sampler_type = FourierSampler


def resolve_gammas(
    value: Any, sample: Sample, spread: Spread, rng: np.random.Generator, factors: Floats | None = None
) -> list[tuple[float, bool]]:
    """Return each gamma to draw from, and whether it is absolute or to be divided by the number of inputs.

    "median" multiplies inputs by `factors`.
    """
    values = list(value) if isinstance(value, list | tuple) or np.ndim(value) == 1 else [value]
    if not values:
        raise ValueError("Fourier: gamma must have at least one value; it is empty.")
    resolved: list[tuple[float, bool]] = []
    for one in values:
        if isinstance(one, str) and one == "scale":
            resolved.append((1.0 / spread.variance, False))
        elif isinstance(one, str) and one == "median":
            resolved.append((sample.X.shape[1] / median_distance(sample, spread, rng, factors), False))
        elif isinstance(one, bool) or not isinstance(one, Real) or not 0 < float(one) < np.inf:
            raise ValueError(
                f"Fourier: gamma must be a number > 0, 'scale', 'median' or a list of them; got {value!r}."
            )
        else:
            resolved.append((float(one), True))
    return resolved


def median_distance(sample: Sample, spread: Spread, rng: np.random.Generator, factors: Floats | None = None) -> float:
    """Return the median of |x - x'|^2 over random pairs of distinct rows, drawn by weight; 1 if all pairs are equal."""
    share = sample.weight / sample.weight.sum()
    pairs = rng.choice(len(sample), size=(2, MEDIAN_PAIRS), p=share)
    first, second = (sample.matrix()[own].astype(np.float64) for own in pairs)
    difference = (first - second) / spread.scale
    distances = np.sum((difference if factors is None else difference * factors) ** 2, axis=1)
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 1.0
