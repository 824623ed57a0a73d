"""A diagonal metric of the inputs that was learned by a fit, and what a model keeps of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Self

import numpy as np

from cgens.types import AnyArray, Floats


@dataclass(frozen=True, eq=False)
class InputMetric:
    """How much the target changes along each input.

    Attributes
    ----------
    factors : ndarray of shape (d,)
        Root mean squares of the derivatives of a fit, divided by their own root mean square: those of a flat metric
        are 1.
    deviations : ndarray of shape (d,)
        Standard deviations of the inputs.
    """

    factors: Floats
    deviations: Floats

    @cached_property
    def digest(self) -> bytes:
        """A digest of the content."""
        return blake2b(self.factors.tobytes() + self.deviations.tobytes(), digest_size=16).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InputMetric) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def sizes(self) -> Floats:
        """How much the target changes over the spread of each input: derivatives times deviations.

        Flat if all inputs are constant.
        """
        sizes = self.factors * self.deviations
        return sizes if sizes.any() else np.ones(len(sizes))

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return the attributes."""
        return {"factors": self.factors, "deviations": self.deviations}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """Return the metric with these attributes."""
        return cls(arrays["factors"], arrays["deviations"])
