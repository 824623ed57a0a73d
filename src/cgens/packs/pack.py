"""The interface of packs, and their registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Protocol, Self, TypeAlias, TypeVar

import numpy as np

from cgens.named_arrays import add_prefix, take_prefix
from cgens.types import AnyArray, Floats, Learner

#: decide(X, n_threads) -> sum_j w_j h_j(x), shape (n, l)
Decider: TypeAlias = Callable[[AnyArray, int], Floats]


class Pack(Protocol):
    """Many learners of one kind as arrays.

    A static method ``pack(learners) -> Pack`` of the learner class creates it. A pack is immutable and thread-safe.

    Attributes
    ----------
    kind : str
        The name under which the class is registered by `register_pack`.
    """

    kind: ClassVar[str]

    def __len__(self) -> int: ...

    def learner(self, number: int) -> Learner:
        """Return one of the learners."""

    def respond(self, X: AnyArray, n_threads: int) -> AnyArray:
        """Return h_j(x_i), shape (n, J); int8 if all values are +-1, else floating-point."""

    def decider(self, weights: Floats) -> Decider:
        """Return a function that computes predictions with these weights, shape (J, l)."""

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return the content of the pack as named arrays."""

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """Return the pack with the content that `to_arrays` returned."""


P = TypeVar("P", bound=Pack)

_PACKS: dict[str, type[Pack]] = {}


def register_pack(kind: str) -> Callable[[type[P]], type[P]]:
    """Return a class decorator that registers a pack class under a unique name, for `pack_from_arrays`.

    Examples
    --------
    >>> from cgens.weak_learners import StumpLearner
    >>> pack = StumpLearner.pack([StumpLearner(0, 1.5), StumpLearner(2, 0.5)])
    >>> arrays = pack_to_arrays(pack)
    >>> sorted(arrays)
    ['features', 'gaps_above', 'kind', 'level_begin', 'levels', 'thresholds']
    >>> pack_from_arrays(arrays).learner(1)
    StumpLearner(feature=2, threshold=0.5, levels=(), gaps_above=False)
    """

    def register(pack: type[P]) -> type[P]:
        known = _PACKS.setdefault(kind, pack)
        if known.__qualname__ != pack.__qualname__ or known.__module__ != pack.__module__:
            raise ValueError(f"The name {kind!r} is used by {known.__module__}.{known.__qualname__}; choose another.")
        _PACKS[kind] = pack
        pack.kind = kind
        return pack

    return register


def pack_to_arrays(pack: Pack, prefix: str = "") -> dict[str, AnyArray]:
    """Return the arrays of a pack and its kind, with a prefix before all names."""
    return add_prefix(prefix, {"kind": np.array(pack.kind), **pack.to_arrays()})


def pack_from_arrays(arrays: Mapping[str, AnyArray], prefix: str = "") -> Pack:
    """Return the pack whose arrays and kind have this prefix before their names."""
    arrays = take_prefix(prefix, arrays)
    kind = str(arrays["kind"])
    if kind not in _PACKS:
        raise ValueError(f"Unknown kind of pack {kind!r}; known kinds: {', '.join(sorted(_PACKS))}.")
    return _PACKS[kind].from_arrays({name: own for name, own in arrays.items() if name != "kind"})
