"""Packs that are frozen dataclasses of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from cgens.types import AnyArray


@dataclass(frozen=True, eq=False)
class ArrayPack:
    """A pack whose fields are its arrays; whatever else it holds is derived from them and not pickled."""

    kind: ClassVar[str]

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return the fields."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """Return a pack of these fields."""
        return cls(**arrays)

    def __getstate__(self) -> dict[str, Any]:
        return self.to_arrays()
