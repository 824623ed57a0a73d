"""Functions of theta.x - kappa, one by one and as arrays."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import ClassVar

import numpy as np

from cgens.packs import BlockPack
from cgens.types import AnyArray, Floats


@dataclass(frozen=True, eq=False)
class ProjectionLearner:
    """h(x) = f(theta.x - kappa), with f = `pack_type.activate`."""

    theta: Floats
    kappa: float

    pack_type: ClassVar[type[ProjectionPack]]

    def __post_init__(self) -> None:
        theta = self.theta.copy()
        theta.setflags(write=False)
        object.__setattr__(self, "theta", theta)

    @property
    def key(self) -> Hashable:
        """The direction and offset."""
        content = self.theta.tobytes() + np.float64(self.kappa).tobytes()
        return type(self).__name__, blake2b(content, digest_size=16).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProjectionLearner) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def respond(self, X: AnyArray) -> AnyArray:
        """Return h(x) for every row."""
        return self.pack([self]).respond(X, 1)[:, 0]

    @classmethod
    def pack(cls, learners: Sequence[ProjectionLearner]) -> ProjectionPack:
        """Return the learners as arrays."""
        return cls.pack_type(
            np.array([learner.theta for learner in learners]),
            np.array([learner.kappa for learner in learners]),
        )


@dataclass(frozen=True, eq=False)
class ProjectionPack(BlockPack):
    """Functions of theta.x - kappa as arrays; a subclass has `activate` and `learner_type`."""

    thetas: Floats
    kappas: Floats

    learner_type: ClassVar[type[ProjectionLearner]]

    def __len__(self) -> int:
        return len(self.thetas)

    def learner(self, number: int) -> ProjectionLearner:
        """Return one of the functions."""
        return self.learner_type(self.thetas[number], float(self.kappas[number]))

    @staticmethod
    def activate(projections: Floats, kappas: Floats) -> AnyArray:
        """Return h for values of theta.x, in the shape of `projections`."""
        raise NotImplementedError

    @cached_property
    def _used(self) -> tuple[AnyArray, Floats]:
        """The features that any direction uses, and the directions restricted to them."""
        features = np.flatnonzero(np.any(self.thetas != 0, axis=0))
        return features, np.ascontiguousarray(self.thetas[:, features])

    def respond_block(self, X: AnyArray) -> AnyArray:
        """Return the responses for a block of rows, shape (n, J)."""
        features, thetas = self._used
        own = X if len(features) == self.thetas.shape[1] else X[:, features]
        return self.activate(own.astype(np.float64, copy=False) @ thetas.T, self.kappas)

    def respond_transposed(self, X: AnyArray) -> AnyArray:
        """Return the responses for a block of rows, shape (J, n)."""
        return self.activate(self.thetas @ X.astype(np.float64).T, self.kappas[:, None])
