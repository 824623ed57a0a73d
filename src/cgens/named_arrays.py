"""Dictionaries of named arrays: parts of a whole have a prefix before their names."""

from __future__ import annotations

from collections.abc import Mapping

from cgens.types import AnyArray


def add_prefix(prefix: str, arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """Return the arrays with a prefix before their names."""
    return {f"{prefix}{name}": array for name, array in arrays.items()}


def take_prefix(prefix: str, arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """Return the arrays whose names have a prefix, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
