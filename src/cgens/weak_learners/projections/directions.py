"""Directions theta of theta.x: how they are drawn, and their products with many rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from cgens.blas import BLOCK, ONE_BLAS_THREAD, for_blocks
from cgens.types import Floats, Sample
from cgens.weak_learners.search.candidates import chosen_counts, drawn_subsets


@dataclass(frozen=True)
class Directions:
    """How directions are drawn.

    Attributes
    ----------
    n_features : int
    n_inputs : sequence of int or None
        Each direction uses so many features, drawn; None: all of them.
    orthogonal : bool
        Whether as many directions as there are features are drawn orthogonal to each other.
    """

    n_features: int
    n_inputs: Sequence[int] | None
    orthogonal: bool

    @staticmethod
    def of(family: str, n_features: int, n_inputs: object, orthogonal: bool) -> Directions:
        """Check the parameters."""
        given = n_inputs
        if n_inputs is not None:
            n_inputs = chosen_counts(family, "n_inputs", n_inputs, n_features)
        if n_inputs is not None and orthogonal:
            raise ValueError(f"{family}: orthogonal=True needs all inputs; leave n_inputs={given!r} away.")
        return Directions(n_features, n_inputs, orthogonal)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return n directions of standard normal entries, shape (n, n_features), and their numbers of inputs, (n,)."""
        if self.n_inputs is None:
            thetas = self._orthogonal(n, rng) if self.orthogonal else rng.normal(size=(n, self.n_features))
            return thetas, np.full(n, float(self.n_features))
        counts, inputs = drawn_subsets(n, self.n_inputs, self.n_features, rng)
        values = rng.normal(size=inputs.shape) * (np.arange(inputs.shape[1]) < counts[:, None])
        thetas = np.zeros((n, self.n_features))
        np.put_along_axis(thetas, inputs, values, axis=1)
        return thetas, counts.astype(np.float64)

    def _orthogonal(self, n: int, rng: np.random.Generator) -> Floats:
        """Return normal directions that are orthogonal in blocks: rows of random rotations, of random chi lengths."""
        blocks = []
        for _ in range(0, n, self.n_features):
            normal = rng.normal(size=(self.n_features, self.n_features))
            with ONE_BLAS_THREAD:
                rotation, triangle = np.linalg.qr(normal)
            blocks.append(rotation * np.sign(np.diag(triangle)))
        lengths = np.sqrt(rng.chisquare(self.n_features, size=n))
        return np.vstack(blocks)[:n] * lengths[:, None]


def project_range(sample: Sample, thetas: Floats, n_threads: int) -> tuple[Floats, Floats]:
    """Return the least and the largest theta.x over the training rows, of each direction."""
    n_blocks = -(-len(sample) // BLOCK)
    low, high = np.empty((n_blocks, len(thetas))), np.empty((n_blocks, len(thetas)))

    def work(begin: int, end: int) -> None:
        products = thetas @ sample.matrix()[begin:end].astype(np.float64).T
        low[begin // BLOCK], high[begin // BLOCK] = products.min(axis=1), products.max(axis=1)

    for_blocks(work, len(sample), n_threads)
    return low.min(axis=0), high.max(axis=0)


def key_of(family: str, theta: Floats, kappa: float) -> tuple[str, bytes]:
    """Return what two learners with the same direction and offset have in common."""
    return family, blake2b(theta.tobytes() + np.float64(kappa).tobytes(), digest_size=16).digest()


def check_switches(family: str, **switches: object) -> None:
    """Raise a sentence where a parameter is neither True nor False."""
    for name, value in switches.items():
        if not isinstance(value, bool | np.bool_):
            raise ValueError(f"{family}: {name} must be True or False; got {value!r}.")
