"""Learners of a family that has no arrays of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np

from cgens.packs.pack import Decider
from cgens.types import AnyArray, Floats, Learner


class ObjectPack:
    """Learners of a class without a ``pack`` of its own: kept as objects and evaluated one by one."""

    kind: ClassVar[str] = "objects"

    def __init__(self, learners: Sequence[Learner]) -> None:
        self._learners = tuple(learners)

    def __len__(self) -> int:
        return len(self._learners)

    def learner(self, number: int) -> Learner:
        """Return one of the learners."""
        return self._learners[number]

    def respond(self, X: AnyArray, n_threads: int) -> AnyArray:
        """Return the responses, shape (n, J)."""
        return np.column_stack([learner.respond(X) for learner in self._learners])

    def decider(self, weights: Floats) -> Decider:
        """Prepare responses @ weights."""

        def decide(X: AnyArray, n_threads: int) -> Floats:
            total = np.zeros((len(X), weights.shape[1]))
            for learner, weight in zip(self._learners, weights, strict=True):
                total += np.multiply.outer(learner.respond(X), weight)
            return total

        return decide

    def to_arrays(self) -> dict[str, AnyArray]:
        """Raise TypeError: only the author of the learners knows what they consist of."""
        name = type(self._learners[0]).__name__
        raise TypeError(
            f"{name} cannot be turned into arrays: give it a static method pack(learners) that returns a pack with "
            "to_arrays and from_arrays (see cgens.packs.Pack)."
        )

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """Raise TypeError, as `to_arrays` does."""
        raise TypeError("Learners that were kept as objects cannot be rebuilt from arrays.")
