"""Gradient ascent on the price of many directions at once, in float32 and in fixed blocks of rows.

With the column c(theta) centred by the weights v, the gain of a direction is

    gain(theta) = sum_t (c'R_t)^2 / (1 + c'diag(v)c),    v = C s for least squares, v = 0 if only prices count,

which ignores what the earlier columns explain of c: the exact gain cost more and found no better columns. A step
follows the gradient of log gain; its length is measured in radians of phase: docs/decisions/0011-learned-columns.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cgens.blas import for_blocks
from cgens.types import AnyArray, Duals, Floats
from cgens.weak_learners.projections.coordinates import Coordinates

#: Number of steps, root mean square change of phase of the first one in radians, decay of their length, and momentum.
N_STEPS, FIRST_STEP, DECAY, MOMENTUM = 10, 0.4, 0.9, 0.7
#: Duals whose |mean| is below this fraction of their mean |value| add up to 0 except for rounding.
ZERO_MEAN = 1e-3
#: Number of rows in a block: part of the definition of the results.
ROWS = 2048


class Activation(Protocol):
    """A function of the phase theta.z that is learned, and of a `state`: one number per direction."""

    def basis(self, phase: AnyArray) -> tuple[AnyArray, ...]:
        """Return the functions of the phase whose weighted sum is the column."""

    def refine(self, state: Floats, sums: Sums) -> Floats:
        """Return the best state for given sums of the basis."""

    def weights(self, state: Floats) -> tuple[Floats, ...]:
        """Return the weights of the basis functions in the column, one per direction for each function."""

    def derivative(self, basis: tuple[AnyArray, ...], state: Floats) -> AnyArray:
        """Return the derivative of the column with respect to the phase."""


@dataclass(frozen=True)
class Sums:
    """Sums over rows of a basis of k functions, for n directions.

    Attributes
    ----------
    prices : ndarray of shape (k, n, l)
        b'R_t.
    squares : ndarray of shape (k, k, n)
        b'diag(v)b', centred.
    means : ndarray of shape (k, n)
    """

    prices: Floats
    squares: Floats
    means: Floats

    def of_column(self, weights: tuple[Floats, ...]) -> tuple[Floats, Floats, Floats]:
        """Return the column's prices (n, l), 1 + c'diag(v)c (n,) and mean (n,)."""
        prices = sum(w[:, None] * own for w, own in zip(weights, self.prices, strict=True))
        mean = sum(w * own for w, own in zip(weights, self.means, strict=True))
        size = 1.0 + sum(a * b * self.squares[i, j] for i, a in enumerate(weights) for j, b in enumerate(weights))
        return np.asarray(prices), np.maximum(np.asarray(size), 1e-30), np.asarray(mean)

    def gain(self, weights: tuple[Floats, ...]) -> Floats:
        """Return gain(theta) of each direction, shape (n,)."""
        prices, size, _ = self.of_column(weights)
        return np.asarray(np.sum(prices**2, axis=1) / size)


@dataclass(frozen=True)
class AscentRows:
    """Rows, duals and weights for an ascent: all training rows, or a part of them."""

    Z: AnyArray
    R: AnyArray
    v: AnyArray

    @staticmethod
    def of(coordinates: Coordinates, duals: Duals, by_gain: bool) -> AscentRows:
        """Return all training rows, with duals scaled to a maximum of 1: the gradient of log gain stays the same."""
        array = duals.array
        largest = float(np.abs(array).max(initial=0.0))
        scaled = array / largest if largest > 0 else array
        curvature = duals.curvature
        v = curvature.diagonal if by_gain and curvature is not None else np.zeros(len(array))
        return AscentRows(coordinates.Z, scaled.astype(np.float32), v.astype(np.float32))

    def part(self, rows: AnyArray) -> AscentRows:
        """Return some of the rows, with the total weight of all rows: gains of parts are then comparable."""
        level = self.R.mean(axis=0)
        # A free intercept keeps the sum of the duals at 0, and so should a part; without one the sum has a meaning.
        level[np.abs(level) < ZERO_MEAN * np.abs(self.R).mean(axis=0)] = 0.0
        own = self.R[rows] - self.R[rows].mean(axis=0) + level
        return AscentRows(self.Z[rows], own, self.v[rows] * np.float32(len(self.v) / max(1, len(rows))))

    def sums(self, activation: Activation, thetas: AnyArray, n_threads: int) -> tuple[Sums, list[tuple[AnyArray, ...]]]:
        """Return the sums of the basis over all rows, and the basis itself block by block."""
        n_blocks = -(-len(self.Z) // ROWS)
        bases: list[tuple[AnyArray, ...]] = [()] * n_blocks
        k = len(activation.basis(np.zeros((1, 1), dtype=np.float32)))
        n, l = len(thetas), self.R.shape[1]  # noqa: E741 (the paper's letter)
        prices, squares, means = (np.zeros((n_blocks, *shape)) for shape in ((k, n, l), (k, k, n), (k, n)))
        weighted = bool(self.v.any())

        def work(begin: int, end: int) -> None:
            b = begin // ROWS
            basis = bases[b] = activation.basis(self.Z[begin:end] @ thetas.T)
            for i, own in enumerate(basis):
                prices[b, i] = own.T @ self.R[begin:end]
                if not weighted:
                    continue
                scaled = own * self.v[begin:end, None]
                means[b, i] = scaled.sum(axis=0)
                for j, other in enumerate(basis[: i + 1]):
                    squares[b, i, j] = squares[b, j, i] = np.einsum("mn,mn->n", scaled, other)

        for_blocks(work, len(self.Z), n_threads, ROWS)
        total = max(float(self.v.sum(dtype=np.float64)), 1e-300)
        mean = means.sum(axis=0) / total
        centred = squares.sum(axis=0) - total * mean[:, None] * mean[None] if weighted else squares.sum(axis=0)
        return Sums(prices.sum(axis=0), centred, mean), bases

    def gradient(
        self, activation: Activation, bases: list[tuple[AnyArray, ...]], sums: Sums, state: Floats, n_threads: int
    ) -> Floats:
        """Return half the gradient of log gain with respect to theta, shape (n, r)."""
        weights = activation.weights(state)
        prices, size, mean = sums.of_column(weights)
        along = (prices / np.maximum(np.sum(prices**2, axis=1), 1e-30)[:, None]).astype(np.float32)
        shrink, mean32 = (1.0 / size).astype(np.float32), mean.astype(np.float32)
        factors = [w.astype(np.float32) for w in weights]
        by_theta = np.zeros((len(bases), len(prices), self.Z.shape[1]))
        weighted = bool(self.v.any())

        def work(begin: int, end: int) -> None:
            b = begin // ROWS
            pull = self.R[begin:end] @ along.T
            if weighted:
                column = sum(w * own for w, own in zip(factors, bases[b], strict=True)) - mean32
                pull -= self.v[begin:end, None] * column * shrink
            pull *= activation.derivative(bases[b], state)
            by_theta[b] = pull.T @ self.Z[begin:end]

        for_blocks(work, len(self.Z), n_threads, ROWS)
        return np.asarray(by_theta.sum(axis=0))


@dataclass(frozen=True)
class AscentResult:
    """For each direction the iterate with the largest gain on the held-out rows, the start included.

    `held_out_gains` and `gains` are those of the last iterate, on the held-out rows and on the rows of the ascent.
    """

    thetas: AnyArray
    state: Floats
    held_out_gains: Floats
    gains: Floats

    def trust(self) -> float:
        """Return the median ratio of held-out gain to gain; 0 if there is no gain at all."""
        learned = self.gains > 0
        return float(np.median(self.held_out_gains[learned] / self.gains[learned])) if learned.any() else 0.0


def ascend(
    activation: Activation,
    thetas: AnyArray,
    state: Floats,
    rows: AscentRows,
    held_out: AscentRows | None,
    variance: Floats,
    mask: AnyArray | None,
    n_threads: int,
) -> AscentResult:
    """Increase the gain of n directions.

    Parameters
    ----------
    activation : Activation
    thetas : ndarray of shape (n, r), float32
    state : ndarray of shape (n,)
    rows : AscentRows
        The rows whose gain is increased.
    held_out : AscentRows or None
        Other rows, which decide what iterate is kept: a guard against fitting noise. None: the same rows.
    variance : ndarray of shape (r,)
        Of the coordinates.
    mask : ndarray of shape (n, r) or None
        1 for entries that may change.
    n_threads : int
    """
    best_thetas, best_state, best_gains = thetas, state, np.full(len(thetas), -1.0)
    momentum = np.zeros(thetas.shape)
    for k in range(N_STEPS + 1):
        sums, bases = rows.sums(activation, thetas, n_threads)
        state = activation.refine(state, sums)
        gains = held_out_gains = sums.gain(activation.weights(state))
        if held_out is not None:
            held_out_gains = held_out.sums(activation, thetas, n_threads)[0].gain(activation.weights(state))
        better = held_out_gains > best_gains
        best_thetas = np.where(better[:, None], thetas, best_thetas)
        best_state = np.where(better, state, best_state)
        best_gains = np.where(better, held_out_gains, best_gains)
        if k == N_STEPS:
            break
        by_theta = rows.gradient(activation, bases, sums, state, n_threads)
        if mask is not None:
            by_theta = by_theta * mask
        norm = np.sqrt(np.sum(by_theta**2, axis=1, keepdims=True))
        momentum = MOMENTUM * momentum + by_theta / np.maximum(norm, 1e-30)
        radians = np.sqrt(np.sum(momentum**2 * variance, axis=1, keepdims=True))
        length = FIRST_STEP * DECAY**k
        thetas = (thetas + length * momentum / np.maximum(radians, 1e-30)).astype(np.float32)
    return AscentResult(best_thetas, best_state, held_out_gains, gains)
