"""Directions theta of theta.x: how they are drawn, and their products with many rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from cgens.blas import BLOCK, ONE_BLAS_THREAD, for_blocks
from cgens.types import AnyArray, Floats, Sample
from cgens.weak_learners.candidates import chosen_counts, drawn_subsets

#: A feature that spreads less than this share of the widest one hardly counts in distances. Images have a few such
#: pixels at their borders; where this share of all features is so, it is a matter of units.
WILD_SCALE, WILD_SHARE = 0.01, 0.25


@dataclass(frozen=True)
class Spread:
    """Weighted means and standard deviations of the features over the training rows.

    Attributes
    ----------
    mean, deviation : ndarray of shape (n_features,)
        A constant feature has the deviation 0.
    standardize : bool
        Whether features are to be measured in their own deviations, from their means.
    """

    mean: Floats
    deviation: Floats
    standardize: bool

    @staticmethod
    def of(sample: Sample, family: str, standardize: bool) -> Spread:
        """Measure the features."""
        share = sample.weight / sample.weight.sum()
        n_features = sample.X.shape[1]
        # In units of the largest number: squares neither overflow nor vanish. Not all rows at once, nor by BLAS.
        unit, mean, square = np.zeros(n_features), np.zeros(n_features), np.zeros(n_features)
        for rows in blocks_of(sample.rows):
            unit = np.maximum(unit, np.abs(sample.X[rows]).max(axis=0))
        unit[unit == 0] = 1.0
        for rows, own in zip(blocks_of(sample.rows), blocks_of(share), strict=True):
            mean += np.sum(own[:, None] * (sample.X[rows] / unit), axis=0)
        for rows, own in zip(blocks_of(sample.rows), blocks_of(share), strict=True):
            square += np.sum(own[:, None] * (sample.X[rows] / unit - mean) ** 2, axis=0)
        deviation = np.where(np.sqrt(square) > 1e-12 * np.abs(mean), np.sqrt(square) * unit, 0.0)
        widest = float(deviation.max())
        if not standardize and widest > 0 and not 1e-145 < widest < 1e145:
            raise ValueError(
                f"{family}: the features spread by {widest:.1g}, of which squares are no numbers: set "
                "standardize=True, or multiply them by a constant."
            )
        return Spread(mean * unit, deviation, standardize)

    @property
    def scale(self) -> Floats:
        """What each feature is divided by."""
        return np.where(self.standardize & (self.deviation > 0), self.deviation, 1.0)

    @property
    def variance(self) -> float:
        """The mean variance of the features as they are measured; 1 where all are constant."""
        variance = 1.0 if self.standardize else float(np.mean(self.deviation**2))
        return variance if variance > 0 else 1.0

    def unscaled(self, thetas: Floats) -> tuple[Floats, Floats]:
        """Return directions for the inputs as they are, and what theta.x is then too large by."""
        raw = thetas / self.scale
        shift = np.sum(raw * self.mean, axis=-1) if self.standardize else np.zeros(raw.shape[:-1])
        return raw, shift


def blocks_of(values: AnyArray) -> list[AnyArray]:
    """Return consecutive parts of an array."""
    return [values[begin : begin + 4096] for begin in range(0, len(values), 4096)]


def warn_of_scales(sample: Sample, family: str, columns: Sequence[object] | None) -> None:
    """Warn where some features make up all distances; `columns` are their names or numbers in the user's table."""
    X = sample.X[sample.rows[:4096]].astype(np.float64)
    with np.errstate(over="ignore"):
        deviation = np.std(X, axis=0)
    widest, spread = int(np.argmax(deviation)), deviation[deviation > 0]
    small = int(np.sum(spread < WILD_SCALE * deviation[widest]))
    if small and small >= WILD_SHARE * len(spread):
        name = widest if columns is None else columns[widest]
        warnings.warn(
            f"{family}: feature {name} has a standard deviation of {deviation[widest]:.1g}, and {small} of "
            f"{len(deviation)} features have less than a hundredth of that: they will hardly count. Set "
            "standardize=True, or put a sklearn.preprocessing.StandardScaler before the model.",
            UserWarning,
            stacklevel=5,
        )


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
        products = thetas @ sample.X[sample.rows[begin:end]].astype(np.float64).T
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
