"""A set of packs whose learners are the columns of one model, and the pack of learners without arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import eq
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from cgens.packs.pack import Decider, Pack, pack_from_arrays, pack_to_arrays, register_pack
from cgens.table.table import dense_blocks
from cgens.types import AnyArray, Floats, Integers, Learner


class ObjectPack:
    """Learners of a class without a ``pack`` method, stored as objects and evaluated one by one."""

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
        sparse_taken = all(getattr(learner, "takes_sparse", False) for learner in self._learners)
        whole = sparse_taken or isinstance(X, np.ndarray)
        blocks = [X] if whole else dense_blocks(X, np.arange(X.shape[1]))
        return np.vstack([np.column_stack([learner.respond(own) for learner in self._learners]) for own in blocks])

    def decider(self, weights: Floats) -> Decider:
        """Return a function that computes responses @ weights."""

        def decide(X: AnyArray, n_threads: int) -> Floats:
            total = np.zeros((X.shape[0], weights.shape[1]))
            for response, weight in zip(self.respond(X, n_threads).T, weights, strict=True):
                total += np.multiply.outer(response, weight)
            return total

        return decide

    def to_arrays(self) -> dict[str, AnyArray]:
        """Raise TypeError: the arrays that the learners consist of are unknown."""
        name = type(self._learners[0]).__name__
        raise TypeError(
            f"{name} cannot be converted to arrays: add a static method pack(learners) to it that returns a pack with "
            "to_arrays and from_arrays (see cgens.packs.Pack)."
        )

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """Raise TypeError, as `to_arrays` does."""
        raise TypeError("Learners stored as objects cannot be rebuilt from arrays.")


class PackPart(NamedTuple):
    """A pack of a set, and the columns of the set that its learners form."""

    columns: Integers
    pack: Pack


@register_pack("set")
class PackSet:
    """The columns of a model, or of one family of a mixture, grouped into packs.

    Parameters
    ----------
    parts : sequence of PackPart
        Each column 0 ... J - 1 is in exactly one of them.
    """

    kind: ClassVar[str]

    def __init__(self, parts: Sequence[PackPart]) -> None:
        self.parts = tuple(parts)
        self._position = np.empty((sum(len(columns) for columns, _ in self.parts), 2), dtype=np.int64)
        for number, (columns, _) in enumerate(self.parts):
            self._position[columns, 0] = number
            self._position[columns, 1] = np.arange(len(columns))

    @staticmethod
    def of(learners: Sequence[Learner]) -> PackSet:
        """Return a set with one pack per class of learners."""
        classes: dict[type, list[int]] = {}
        for j, learner in enumerate(learners):
            classes.setdefault(type(learner), []).append(j)
        parts = []
        for own, columns in classes.items():
            members = [learners[j] for j in columns]
            pack = own.pack(members) if hasattr(own, "pack") else ObjectPack(members)
            parts.append(PackPart(np.array(columns), pack))
        return PackSet(parts)

    def __len__(self) -> int:
        return len(self._position)

    def __repr__(self) -> str:
        return ", ".join(f"{len(pack)} {type(pack.learner(0)).__name__}" for _, pack in self.parts)

    def learner(self, number: int) -> Learner:
        """Return the learner of one column."""
        part, index = map(int, self._position[number])
        return self.parts[part].pack.learner(index)

    def respond(self, X: AnyArray, n_threads: int) -> AnyArray:
        """Return the responses, shape (n, J); int8 if all are."""
        if len(self.parts) == 1:
            return self.parts[0].pack.respond(X, n_threads)
        responses = [pack.respond(X, n_threads) for _, pack in self.parts]
        combined = np.empty((X.shape[0], len(self)), dtype=np.result_type(np.int8, *(own.dtype for own in responses)))
        for (columns, _), own in zip(self.parts, responses, strict=True):
            combined[:, columns] = own
        return combined

    def decider(self, weights: Floats) -> Decider:
        """Return a function that computes responses @ weights as the sum over all packs."""
        deciders = [pack.decider(weights[columns]) for columns, pack in self.parts]
        if len(deciders) == 1:
            return deciders[0]

        def decide(X: AnyArray, n_threads: int) -> Floats:
            total = np.zeros((X.shape[0], weights.shape[1]))
            for part in deciders:
                total += part(X, n_threads)
            return total

        return decide

    def flattened(self) -> Iterator[PackPart]:
        """Yield all packs with their columns, including those of nested sets."""
        for columns, pack in self.parts:
            if isinstance(pack, PackSet):
                for inner, own in pack.flattened():
                    yield PackPart(columns[inner], own)
            else:
                yield PackPart(columns, pack)

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return the arrays of all packs, with numbered names: "0.columns", "0.pack.kind", "0.pack.features", ..."""
        named: dict[str, AnyArray] = {}
        for number, (columns, pack) in enumerate(self.parts):
            named[f"{number}.columns"] = columns
            named.update(pack_to_arrays(pack, f"{number}.pack."))
        return named

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """Return the set with the content that `to_arrays` returned."""
        n_parts = sum(name.count(".") == 1 and name.endswith(".columns") for name in arrays)
        return cls([PackPart(arrays[f"{k}.columns"], pack_from_arrays(arrays, f"{k}.pack.")) for k in range(n_parts)])

    def __getstate__(self) -> tuple[PackPart, ...]:
        return self.parts

    def __setstate__(self, state: Any) -> None:
        self.__init__(state)  # type: ignore[misc]


class LearnerView(Sequence[Learner]):
    """The learners of a set, each created on access."""

    def __init__(self, packs: PackSet) -> None:
        self._packs = packs

    def __len__(self) -> int:
        return len(self._packs)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self._packs.learner(j) for j in range(len(self))[number]]
        return self._packs.learner(range(len(self))[number])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    def __repr__(self) -> str:
        return f"<{self._packs!r}>"
