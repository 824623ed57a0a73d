"""Three ways to draw cosines in a diagonal metric: dense, sparse, and from pairs of rows.

A metric has one number a_f >= 0 per input: how much the target changes along it. A scale v is the squared frequency of
a cosine, relative to inputs of variance 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cgens.table.table import Matrix
from cgens.types import Floats, Integers
from cgens.weak_learners.search.sampler import BLOCK_KEYS

#: Numbers of inputs of sparse cosines.
SPARSE_SIZES = (1, 2, 3, 6)


def draw_dense(n: int, metric: Floats, scales: Sequence[float], rng: np.random.Generator) -> Floats:
    """Return directions theta_f = sqrt(2 v) a_f / |a| N(0, 1), each with a random scale v; shape (n, d)."""
    return np.asarray(_widths(n, scales, rng) * rng.normal(size=(n, len(metric))) * (metric / np.linalg.norm(metric)))


def draw_sparse(n: int, metric: Floats, scales: Sequence[float], rng: np.random.Generator) -> Floats:
    """Return directions on k inputs, drawn with probabilities in proportion to a_f^2: theta_f = sqrt(2 v / k) N(0, 1).

    Each has a random k of `SPARSE_SIZES`, or the number of inputs with a_f > 0 if that is less.
    """
    thetas, sizes = draw_sparse_normal(n, metric, SPARSE_SIZES, rng)
    return np.asarray(_widths(n, scales, rng) / np.sqrt(sizes)[:, None] * thetas)


def draw_sparse_normal(
    n: int, metric: Floats, sizes: Sequence[int], rng: np.random.Generator
) -> tuple[Floats, Integers]:
    """Return directions of N(0, 1) on k inputs drawn with probabilities in proportion to a_f^2, and each k.

    Each has a random k of `sizes`, or the number of inputs with a_f > 0 if that is less.
    """
    n_usable = int(np.count_nonzero(metric))
    counts = rng.choice(np.asarray(sizes), size=n).clip(max=n_usable)
    most = int(counts.max(initial=1))
    inputs = np.empty((n, most), dtype=np.intp)
    with np.errstate(divide="ignore"):
        logs = 2 * np.log(metric)
    # Gumbel's trick: the k largest of log(p_f) + noise are k inputs without replacement. In blocks, to save memory.
    n_block = max(1, BLOCK_KEYS // len(metric))
    for begin in range(0, n, n_block):
        keys = logs + rng.gumbel(size=(min(n_block, n - begin), len(metric)))
        largest = np.argpartition(-keys, most - 1, axis=1)[:, :most]
        order = np.argsort(-np.take_along_axis(keys, largest, axis=1), axis=1, kind="stable")
        inputs[begin : begin + n_block] = np.take_along_axis(largest, order, axis=1)
    values = rng.normal(size=inputs.shape) * (np.arange(most) < counts[:, None])
    thetas = np.zeros((n, len(metric)))
    np.put_along_axis(thetas, inputs, values, axis=1)
    return thetas, counts


def draw_pairs(
    n: int,
    metric: Floats,
    scales: Sequence[float],
    rows: Matrix,
    weight: Floats,
    rng: np.random.Generator,
    unit: Floats | float = 1.0,
) -> Floats:
    """Return directions theta = v pi s delta / |delta|^2, with delta = s (x' - x) for two random rows, s = a / rms(a).

    For v = 1 one row is on a crest of the cosine if the other is in a trough. Rows are divided by `unit` first.
    """
    scaled = metric / np.sqrt(np.mean(metric**2))
    share = weight / weight.sum()
    first, second = rng.choice(rows.shape[0], size=(2, n), p=share)
    delta = scaled * (_dense(rows[second]) / unit - _dense(rows[first]) / unit)
    squares = np.sum(delta**2, axis=1, keepdims=True)
    frequency = rng.choice(np.asarray(scales, dtype=np.float64), size=(n, 1)) * np.pi
    return np.asarray(frequency * scaled * delta / np.where(squares > 0, squares, 1.0))


def _dense(rows: Any) -> Floats:
    """Return some rows in double precision."""
    return np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray(), dtype=np.float64)


def _widths(n: int, scales: Sequence[float], rng: np.random.Generator) -> Floats:
    """Return sqrt(2 v) for random scales v, shape (n, 1)."""
    return np.asarray(np.sqrt(2 * rng.choice(np.asarray(scales, dtype=np.float64), size=(n, 1))))
