"""Families of functions of theta.x - kappa: cosines and perceptrons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from cgens.table.accepted import EXTRAS
from cgens.table.scaling import ScalingKind
from cgens.types import Pricer, Sample
from cgens.weak_learners.encoded import begin_encoded
from cgens.weak_learners.projections.coordinates import MAX_FEATURES
from cgens.weak_learners.projections.learned import MIN_ROWS, LearnedPricer
from cgens.weak_learners.projections.sampler import ProjectionSampler
from cgens.weak_learners.projections.spread import has_units, warn_about_scales

#: What `standardize` may be besides True and False.
SCALINGS = ("robust", "zc", "rank", "auto")


class ProjectionFamily(BaseEstimator):  # type: ignore[misc]
    """Selects functions from a pool or learns them; a subclass has the parameters, and a sampler."""

    n_inputs: Any
    standardize: bool | str
    orthogonal: bool
    learn: bool | str

    fills_gaps: ClassVar[bool] = True
    sampler_type: ClassVar[type[ProjectionSampler]]

    @property
    def accepts(self) -> tuple[str, ...]:
        """What X may have besides complete numbers."""
        return EXTRAS

    def warn_about_scales(self, sample: Sample, columns: Sequence[object] | None = None) -> None:
        """Warn if a few features dominate all distances; `columns` are their names in the user's table."""
        if isinstance(self.standardize, bool | np.bool_) and not self.standardize:
            warn_about_scales(sample, type(self).__name__, columns)

    def begin(self, sample: Sample, rng: np.random.Generator, n_threads: int) -> Pricer:
        """Draw the pool, or prepare to draw or learn in each round."""
        family = type(self).__name__
        if not isinstance(self.orthogonal, bool | np.bool_):
            raise ValueError(f"{family}: orthogonal must be True or False; got {self.orthogonal!r}.")
        if not isinstance(self.standardize, bool | np.bool_) and self.standardize not in SCALINGS:
            raise ValueError(
                f"{family}: standardize must be True, False, {', '.join(map(repr, SCALINGS))}; got "
                f"{self.standardize!r}."
            )
        if not isinstance(self.learn, bool | np.bool_) and self.learn != "auto":
            raise ValueError(f"{family}: learn must be True, False or 'auto'; got {self.learn!r}.")
        return begin_encoded(sample, self._scaling(sample), lambda own: self._begin(own, rng, n_threads))

    def _scaling(self, sample: Sample) -> ScalingKind:
        """Return how numbers are encoded; True standardizes them afterwards, in the units of the directions."""
        if self.standardize == "auto":
            return "robust" if has_units(sample) else "none"
        if self.standardize == "rank" and sample.X.is_sparse:
            raise ValueError(
                f"{type(self).__name__}: standardize='rank' would make sparse rows dense; use 'zc' or 'robust'."
            )
        return self.standardize if isinstance(self.standardize, str) else "none"  # type: ignore[return-value]

    def _begin(self, sample: Sample, rng: np.random.Generator, n_threads: int) -> Pricer:
        sampler = self.sampler_type(self, sample, rng, n_threads)
        # Directions of few inputs are learned in the features themselves, as a dense array.
        too_wide = sample.X.is_sparse and self.n_inputs is not None and sample.X.shape[1] > MAX_FEATURES
        learn = self._learns()
        if not learn or len(sample) < MIN_ROWS or too_wide:
            return sampler.pricer()
        return LearnedPricer(sampler, sampler.pricer if learn == "auto" else None)

    def _learns(self) -> bool | str:
        """Return whether to learn directions by ascent: True, False or "auto"."""
        return self.learn
