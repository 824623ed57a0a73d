"""Families of functions of numbers on tables with gaps, categories or columns of different scales."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from cgens._core import RowEncoder
from cgens.checkpoints.interfaces import resumable_pricer
from cgens.named_arrays import add_prefix, take_prefix
from cgens.packs import Decider, Pack, PackSet, pack_from_arrays, pack_to_arrays, register_pack
from cgens.packs.array_pack import CompiledTables, decide_compiled, respond_compiled
from cgens.packs.pack_set import PackPart
from cgens.table import Table
from cgens.table.encoding import Encoding
from cgens.table.scaling import ScalingKind
from cgens.table.table import BLOCK_ROWS
from cgens.types import AnyArray, Column, Duals, Floats, Learner, Pricer, Pricing, Rule, Sample
from cgens.weak_learners.search.pool_columns import PoolColumns, columns_of_pool


def begin_encoded(sample: Sample, scaling: ScalingKind, begin: Callable[[Sample], Pricer]) -> Pricer:
    """Begin a search on the encoded rows of a sample; on the rows themselves if they are complete numbers already."""
    table = sample.X
    if scaling == "none" and not table.is_category.any() and not table.has_gaps.any():
        return begin(sample)
    encoding = Encoding.of(table, sample.rows, sample.weight, scaling)
    encoded = Table.of(encoding.transform(sample.matrix()))
    return EncodedPricer(encoding, begin(Sample(encoded, np.arange(len(sample)), sample.weight)))


class EncodedPricer:
    """A search on encoded rows, whose learners encode the rows that they respond to."""

    def __init__(self, encoding: Encoding, pricer: Pricer) -> None:
        self._encoding, self.pricer = encoding, pricer

    def price(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> Pricing:
        """Return the best column by `rule`."""
        own = {key.key: None for key in taken if isinstance(key, EncodedKey) and key.digest == self._encoding.digest}
        found = self.pricer.price(duals, own.keys(), rule)
        if len(own) < len(taken):  # a taken learner is not in the pool
            found = replace(found, n_candidates=None, energy=None)
        if found.column is None:
            return found
        return replace(found, column=replace(found.column, learner=self._encode(found.column.learner)))

    def _encode(self, learner: Learner) -> EncodedLearner:
        return EncodedLearner(self._encoding, learner)

    def pool(self) -> list[Learner]:
        """Return all candidates of a finite pool."""
        return [self._encode(learner) for learner in self.pricer.pool()]  # type: ignore[attr-defined]

    def pool_columns(self, most: int) -> PoolColumns | None:
        """Return columns that stand for the pool (see `columns_of_pool`)."""
        return columns_of_pool(self.pricer, most)

    def get_state(self) -> dict[str, AnyArray]:
        """Return the state of the search."""
        return resumable_pricer(self.pricer).get_state()

    def set_state(self, state: Mapping[str, AnyArray], columns: Sequence[Column]) -> None:
        """Restore a state."""
        own = [
            replace(column, learner=column.learner.learner)
            for column in columns
            if isinstance(column.learner, EncodedLearner)
        ]
        resumable_pricer(self.pricer).set_state(state, own)


@dataclass(frozen=True)
class EncodedKey:
    """The key of a learner on encoded rows."""

    digest: bytes
    key: Hashable


@dataclass(frozen=True, eq=False)
class EncodedLearner:
    """A learner on encoded rows."""

    encoding: Encoding
    learner: Learner

    @property
    def exact_responses(self) -> bool:
        """Whether those of its learner are."""
        return getattr(self.learner, "exact_responses", False)

    @property
    def key(self) -> Hashable:
        """The encoding and the key of the learner."""
        return EncodedKey(self.encoding.digest, self.learner.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EncodedLearner) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def respond(self, X: AnyArray) -> AnyArray:
        """Return h(x) for every row."""
        return self.learner.respond(self.encoding.transform(X))

    @staticmethod
    def pack(learners: Sequence[EncodedLearner]) -> PackSet:
        """Return the learners as arrays, with those of one encoding together."""
        groups: dict[bytes, list[int]] = {}
        for j, own in enumerate(learners):
            groups.setdefault(own.encoding.digest, []).append(j)
        parts = []
        for columns in groups.values():
            inner = PackSet.of([learners[j].learner for j in columns])
            parts.append(PackPart(np.array(columns), EncodedPack(learners[columns[0]].encoding, inner)))
        return PackSet(parts)


@runtime_checkable
class PackOnEncoded(Protocol):
    """A pack that also evaluates its learners directly on rows that are not encoded yet."""

    def on_encoded(self, encoder: RowEncoder) -> CompiledTables:
        """Return the learners together with an encoder of the rows."""


@register_pack("encoded")
@dataclass(frozen=True, eq=False)
class EncodedPack:
    """Learners on encoded rows; rows are encoded a few at a time."""

    encoding: Encoding
    inner: Pack

    kind: ClassVar[str]

    def __len__(self) -> int:
        return len(self.inner)

    def learner(self, number: int) -> EncodedLearner:
        """Return one of the learners."""
        return EncodedLearner(self.encoding, self.inner.learner(number))

    def respond(self, X: AnyArray, n_threads: int) -> AnyArray:
        """Return the responses, shape (n, J)."""
        if self._tables is not None and isinstance(X, np.ndarray):
            return respond_compiled(self._tables, X, len(self), n_threads)
        return np.concatenate([self.inner.respond(block, n_threads) for block in self._blocks(X)])

    def decider(self, weights: Floats) -> Decider:
        """Prepare responses @ weights."""
        decide_encoded = self.inner.decider(weights)

        def decide(X: AnyArray, n_threads: int) -> Floats:
            if self._tables is not None and isinstance(X, np.ndarray):
                return decide_compiled(self._tables, X, weights, n_threads)
            return np.concatenate([decide_encoded(block, n_threads) for block in self._blocks(X)])

        return decide

    @cached_property
    def _tables(self) -> CompiledTables | None:
        """The learners together with the encoding, if they are of a kind for which both are compiled."""
        inner = self.inner
        if isinstance(inner, PackSet) and len(inner.parts) == 1:
            inner = inner.parts[0].pack
        return inner.on_encoded(self.encoding.encoder) if isinstance(inner, PackOnEncoded) else None

    def _blocks(self, X: AnyArray) -> Iterator[AnyArray]:
        for begin in range(0, max(1, X.shape[0]), BLOCK_ROWS):
            yield self.encoding.transform(X[begin : begin + BLOCK_ROWS])

    def __getstate__(self) -> dict[str, Any]:
        return {"encoding": self.encoding, "inner": self.inner}

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return the arrays of the encoding and of the pack."""
        return {**add_prefix("encoding.", self.encoding.to_arrays()), **pack_to_arrays(self.inner, "inner.")}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """Return the pack that `to_arrays` was called on."""
        return cls(Encoding.from_arrays(take_prefix("encoding.", arrays)), pack_from_arrays(arrays, "inner."))
