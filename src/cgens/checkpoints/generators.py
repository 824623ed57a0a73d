"""The state of a random generator as an array."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from cgens.types import AnyArray


def save_generator(rng: np.random.Generator) -> AnyArray:
    """Return the state of a random generator as JSON in an array."""

    def plain(value: Any) -> Any:
        return value.tolist() if isinstance(value, np.ndarray) else value

    state = json.dumps(rng.bit_generator.state, default=plain)
    return np.array(state)


def restore_generator(rng: np.random.Generator, state: AnyArray) -> None:
    """Restore the state of a random generator of the same kind."""
    rng.bit_generator.state = json.loads(str(state))
