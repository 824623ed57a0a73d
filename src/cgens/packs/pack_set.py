"""Several packs whose learners are the columns of one model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import eq
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from cgens.packs.object_pack import ObjectPack
from cgens.packs.pack import Decider, Pack, pack_from_arrays, pack_to_arrays, register_pack
from cgens.types import AnyArray, Floats, Integers, Learner


class PackPart(NamedTuple):
    """One pack of a set, and which columns of the set its learners are."""

    columns: Integers
    pack: Pack


@register_pack("set")
class PackSet:
    """The columns of a model, or of one family of a mixture, pack by pack.

    Parameters
    ----------
    parts : sequence of PackPart
        Every column 0 ... J - 1 is in one of them.
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
        """Pack learners class by class."""
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
        part, place = self._position[number]
        pack: Pack = self.parts[part].pack
        return pack.learner(int(place))

    def respond(self, X: AnyArray, n_threads: int) -> AnyArray:
        """Return the responses, shape (n, J); int8 where all are."""
        if len(self.parts) == 1:
            return self.parts[0].pack.respond(X, n_threads)
        responses = [pack.respond(X, n_threads) for _, pack in self.parts]
        together = np.empty((len(X), len(self)), dtype=np.result_type(np.int8, *(own.dtype for own in responses)))
        for (columns, _), own in zip(self.parts, responses, strict=True):
            together[:, columns] = own
        return together

    def decider(self, weights: Floats) -> Decider:
        """Prepare responses @ weights: every pack by itself, then their sum."""
        deciders = [pack.decider(weights[columns]) for columns, pack in self.parts]
        if len(deciders) == 1:
            return deciders[0]

        def decide(X: AnyArray, n_threads: int) -> Floats:
            total = np.zeros((len(X), weights.shape[1]))
            for part in deciders:
                total += part(X, n_threads)
            return total

        return decide

    def flattened(self) -> Iterator[PackPart]:
        """Yield all packs with their columns, those of sets within this one as its own."""
        for columns, pack in self.parts:
            if isinstance(pack, PackSet):
                for inner, own in pack.flattened():
                    yield PackPart(columns[inner], own)
            else:
                yield PackPart(columns, pack)

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return the arrays of all packs, numbered: "0.columns", "0.pack.kind", "0.pack.features", ..."""
        named: dict[str, AnyArray] = {}
        for number, (columns, pack) in enumerate(self.parts):
            named[f"{number}.columns"] = columns
            named.update(pack_to_arrays(pack, f"{number}.pack."))
        return named

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """Return the set that `to_arrays` was called on."""
        n_parts = sum(name.count(".") == 1 and name.endswith(".columns") for name in arrays)
        return cls([PackPart(arrays[f"{k}.columns"], pack_from_arrays(arrays, f"{k}.pack.")) for k in range(n_parts)])

    def __getstate__(self) -> tuple[PackPart, ...]:
        return self.parts

    def __setstate__(self, state: Any) -> None:
        self.__init__(state)  # type: ignore[misc]


class LearnerView(Sequence[Learner]):
    """The learners of a set, each made when it is asked for."""

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
