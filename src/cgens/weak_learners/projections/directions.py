"""Random directions theta."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cgens.blas import ONE_BLAS_THREAD
from cgens.types import Floats
from cgens.weak_learners.checks import check_counts
from cgens.weak_learners.projections.draws import draw_sparse_normal
from cgens.weak_learners.projections.input_metric import InputMetric
from cgens.weak_learners.search.sampler import random_subsets


@dataclass(frozen=True)
class Directions:
    """How directions are drawn.

    Attributes
    ----------
    n_features : int
    n_inputs : sequence of int or None
        Each direction uses one of these numbers of features, drawn at random; None: all features.
    orthogonal : bool
        Whether to draw blocks of `n_features` directions that are orthogonal to each other.
    metric : InputMetric or None
        Multiplies directions on all features; of few, it says how likely each feature is. None: all are alike.
    """

    n_features: int
    n_inputs: Sequence[int] | None
    orthogonal: bool
    metric: InputMetric | None = None

    @staticmethod
    def of(
        family: str, n_features: int, n_inputs: object, orthogonal: bool, metric: InputMetric | None = None
    ) -> Directions:
        """Check the parameters."""
        counts = None if n_inputs is None else check_counts(f"{family}: n_inputs", n_inputs, n_features)
        if counts is not None and orthogonal:
            raise ValueError(f"{family}: orthogonal=True needs all inputs; leave out n_inputs={n_inputs!r}.")
        return Directions(n_features, counts, orthogonal, metric)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return n directions of normal entries, shape (n, n_features), and their numbers of inputs, (n,)."""
        if self.n_inputs is None:
            thetas = self._orthogonal(n, rng) if self.orthogonal else rng.normal(size=(n, self.n_features))
            if self.metric is not None:
                thetas = thetas * self.metric.factors
            return thetas, np.full(n, float(self.n_features))
        if self.metric is not None:
            thetas, counts = draw_sparse_normal(n, self.metric.sizes, self.n_inputs, rng)
            return thetas, counts.astype(np.float64)
        counts, inputs = random_subsets(n, self.n_inputs, self.n_features, rng)
        values = rng.normal(size=inputs.shape) * (np.arange(inputs.shape[1]) < counts[:, None])
        thetas = np.zeros((n, self.n_features))
        np.put_along_axis(thetas, inputs, values, axis=1)
        return thetas, counts.astype(np.float64)

    def _orthogonal(self, n: int, rng: np.random.Generator) -> Floats:
        """Return normal directions, orthogonal in blocks: rows of random rotations with chi-distributed lengths."""
        blocks = []
        for _ in range(0, n, self.n_features):
            normal = rng.normal(size=(self.n_features, self.n_features))
            with ONE_BLAS_THREAD:
                rotation, triangle = np.linalg.qr(normal)
            blocks.append(rotation * np.sign(np.diag(triangle)))
        lengths = np.sqrt(rng.chisquare(self.n_features, size=n))
        return np.vstack(blocks)[:n] * lengths[:, None]
