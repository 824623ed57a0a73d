"""Learners multiplied by a power of two."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from cgens.packs import Decider, Pack, PackSet, pack_from_arrays, pack_to_arrays, register_pack
from cgens.types import AnyArray, Floats, Learner


@dataclass(frozen=True)
class ScaledLearner:
    """h(x) = factor * g(x), float32; a larger factor means a smaller penalty on the function g.

    The factor is a power of two (see `unit_factor`), so that no product is rounded.
    """

    learner: Learner
    factor: float

    @property
    def exact_responses(self) -> bool:
        """Whether those of its learner are."""
        return getattr(self.learner, "exact_responses", False)

    @property
    def key(self) -> Hashable:
        """The key of the learner, and the size of the factor."""
        return "scaled", self.learner.key, abs(self.factor)

    def respond(self, X: AnyArray) -> AnyArray:
        """Return h(x) for every row."""
        return _scale(self.learner.respond(X), np.array(self.factor))

    @staticmethod
    def pack(learners: Sequence[ScaledLearner]) -> ScaledPack:
        """Return the learners as arrays."""
        return ScaledPack(PackSet.of([own.learner for own in learners]), np.array([own.factor for own in learners]))


@register_pack("scaled")
@dataclass(frozen=True, eq=False)
class ScaledPack:
    """Learners times their factors, shape (J,)."""

    inner: Pack
    factors: Floats

    kind: ClassVar[str]

    def __len__(self) -> int:
        return len(self.inner)

    def learner(self, number: int) -> ScaledLearner:
        """Return one of the learners."""
        return ScaledLearner(self.inner.learner(number), float(self.factors[number]))

    def respond(self, X: AnyArray, n_threads: int) -> AnyArray:
        """Return the responses, shape (n, J)."""
        return _scale(self.inner.respond(X, n_threads), self.factors)

    def decider(self, weights: Floats) -> Decider:
        """Prepare responses @ weights: the factors are in the weights."""
        return self.inner.decider(self.factors[:, None] * weights)

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return the factors and the arrays of the learners."""
        return {"factors": self.factors, **pack_to_arrays(self.inner, "inner.")}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """Return the pack that `to_arrays` was called on."""
        return cls(pack_from_arrays(arrays, "inner."), arrays["factors"])


def unit_factor(deviations: Floats) -> Floats:
    """Return the powers of two that bring standard deviations next to 1.

    Examples
    --------
    >>> unit_factor(np.array([0.2, 1.0, 1.3, 1.5]))
    array([4. , 1. , 1. , 0.5])
    """
    return np.asarray(2.0 ** -np.rint(np.log2(deviations)))


def _scale(responses: AnyArray, factors: Floats) -> AnyArray:
    return np.asarray(responses * factors.astype(np.float32), dtype=np.float32)
