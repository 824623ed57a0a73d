"""The features themselves as columns, each scaled to mean 0 and variance 1."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from cgens.default_c import DefaultC
from cgens.packs import BlockPack, register_pack
from cgens.table.accepted import EXTRAS
from cgens.table.table import dense_columns
from cgens.types import AnyArray, Floats, Integers, Pricer, Sample
from cgens.weak_learners.encoded import begin_encoded
from cgens.weak_learners.projections.spread import Spread
from cgens.weak_learners.search.candidates import Candidates
from cgens.weak_learners.search.fixed_pool import FixedPricer
from cgens.weak_learners.search.sparse_columns import SparseColumns


class Linear(BaseEstimator):  # type: ignore[misc]
    """The features as columns, (x_f - mean_f) / deviation_f: a linear model, or the linear part of a mixture.

    Scaled to mean square 1, like the columns of the other families, whatever the units of the features. A missing value
    is the median of its column, with a column of 0 and 1 for missing values; a category has a column of 0 and 1 for
    each frequent level.

    Examples
    --------
    >>> from cgens import CGEnsRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = CGEnsRegressor(Linear(), C=1.0).fit(X, y)
    >>> model.n_columns_, str(model.certificate_.status)
    (10, 'optimal')
    """

    accepts: ClassVar[tuple[str, ...]] = EXTRAS
    fills_gaps: ClassVar[bool] = True
    default_c: ClassVar[DefaultC] = DefaultC(margin=30.0, squares=30.0)

    def begin(self, sample: Sample, rng: np.random.Generator, n_threads: int) -> Pricer:
        """Measure the features; `rng` is not used."""
        return begin_encoded(sample, "none", lambda own: self._begin(own, n_threads))

    def _begin(self, sample: Sample, n_threads: int) -> Pricer:
        spread = Spread.of(sample, "Linear", standardize=True)
        pack = LinearPack(np.arange(sample.X.shape[1]), spread.mean, spread.scale)
        if not sample.X.is_sparse:
            return FixedPricer(Candidates.of(pack, sample, n_threads), sample, n_threads)
        kept = SparseColumns(sample, spread.mean, spread.scale).distinct()
        own = Sample(sample.X.select(kept.tolist()), sample.rows, sample.weight)
        pack = LinearPack(kept, spread.mean[kept], spread.scale[kept])
        return FixedPricer(Candidates(pack, SparseColumns(own, pack.means, pack.scales)), sample, n_threads)


@dataclass(frozen=True)
class LinearLearner:
    """h(x) = (x[feature] - mean) / scale."""

    feature: int
    mean: float
    scale: float

    exact_responses: ClassVar[bool] = True

    @property
    def key(self) -> Hashable:
        """The feature and its scaling."""
        return ("linear", self.feature, self.mean, self.scale)

    def respond(self, X: AnyArray) -> AnyArray:
        """Return h(x) for every row, float32."""
        return LinearLearner.pack([self]).respond(X, 1)[:, 0]

    @staticmethod
    def pack(learners: Sequence[LinearLearner]) -> LinearPack:
        """Return the learners as arrays."""
        return LinearPack(
            np.array([learner.feature for learner in learners], dtype=np.int64),
            np.array([learner.mean for learner in learners]),
            np.array([learner.scale for learner in learners]),
        )


@register_pack("linear")
@dataclass(frozen=True, eq=False)
class LinearPack(BlockPack):
    """Scaled features as arrays."""

    features: Integers
    means: Floats
    scales: Floats

    def __len__(self) -> int:
        return len(self.features)

    def learner(self, number: int) -> LinearLearner:
        """Return one of the scaled features."""
        return LinearLearner(int(self.features[number]), float(self.means[number]), float(self.scales[number]))

    def respond_block(self, X: AnyArray) -> AnyArray:
        """Return the responses for a block of rows, shape (n, J)."""
        scaled = (dense_columns(X, self.features).astype(np.float64) - self.means) / self.scales
        largest = np.finfo(np.float32).max  # responses to rows far from the training rows stay finite
        return np.clip(scaled, -largest, largest).astype(np.float32)

    def respond_transposed(self, X: AnyArray) -> AnyArray:
        """Return the responses for a block of rows, shape (J, n)."""
        return self.respond_block(X).T
