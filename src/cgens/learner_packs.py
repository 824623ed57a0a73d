"""Many learners as arrays: what a model keeps and predicts with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from cgens.types import AnyArray, Floats, Learner


class LearnerPack(Protocol):
    """Many learners of one family as arrays: what a model keeps and predicts with."""

    def __len__(self) -> int: ...

    def respond(self, X: AnyArray, n_threads: int) -> AnyArray:
        """Return the responses, shape (n, J)."""

    def decision(self, X: AnyArray, weights: Floats, n_threads: int) -> Floats:
        """Return responses @ weights, shape (n, l)."""

    def arrays(self) -> dict[str, AnyArray]:
        """Return the learners as named arrays."""


def pack_learners(learners: Sequence[Learner]) -> tuple[tuple[AnyArray, LearnerPack], ...]:
    """Return the learners family by family: the columns they stand in, and their pack."""
    families: dict[type, list[int]] = {}
    for j, learner in enumerate(learners):
        families.setdefault(type(learner), []).append(j)
    packs = []
    for family, columns in families.items():
        members = [learners[j] for j in columns]
        pack = family.pack(members) if hasattr(family, "pack") else PlainPack(members)
        packs.append((np.array(columns), pack))
    return tuple(packs)


def respond_packs(
    packs: Sequence[tuple[AnyArray, LearnerPack]], n_columns: int, X: AnyArray, n_threads: int
) -> AnyArray:
    """Return the responses of several packs side by side, shape (n, n_columns); int8 where all are."""
    parts = [(columns, pack.respond(X, n_threads)) for columns, pack in packs]
    if len(parts) == 1:
        return parts[0][1]
    dtype = np.result_type(np.int8, *(part.dtype for _, part in parts))
    responses = np.empty((len(X), n_columns), dtype=dtype)
    for columns, part in parts:
        responses[:, columns] = part
    return responses


def decide_packs(packs: Sequence[tuple[AnyArray, LearnerPack]], weights: Floats, X: AnyArray, n_threads: int) -> Floats:
    """Return responses @ weights of several packs, shape (n, l)."""
    total = np.zeros((len(X), weights.shape[1]))
    for columns, pack in packs:
        total += pack.decision(X, weights[columns], n_threads)
    return total


class PlainPack:
    """Learners of a family without a ``pack`` of its own: asked one by one."""

    def __init__(self, learners: Sequence[Learner]) -> None:
        self._learners = tuple(learners)

    def __len__(self) -> int:
        return len(self._learners)

    def respond(self, X: AnyArray, n_threads: int) -> AnyArray:
        """Return the responses, shape (n, J)."""
        return np.column_stack([learner.respond(X) for learner in self._learners])

    def decision(self, X: AnyArray, weights: Floats, n_threads: int) -> Floats:
        """Return responses @ weights, shape (n, l)."""
        total = np.zeros((len(X), weights.shape[1]))
        for learner, weight in zip(self._learners, weights, strict=True):
            total += np.multiply.outer(learner.respond(X), weight)
        return total

    def arrays(self) -> dict[str, AnyArray]:
        """Return nothing: what such a learner consists of, only its author knows."""
        return {}
