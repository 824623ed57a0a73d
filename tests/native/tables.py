"""Small tables that are awkward for a stump search, also in other memory layouts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cgens._core import StumpPool, StumpScan, force_simd_level, simd_level, simd_levels


def make_pool(
    X: np.ndarray, weight: np.ndarray | None = None, max_bins: int | None = None, n_threads: int = 1
) -> StumpPool:
    """Return the stumps of all rows of `X`; None is every midpoint, as in `Stump`."""
    weight = np.ones(len(X)) if weight is None else weight
    return StumpPool(X, np.arange(len(X)), weight, len(X) + 1 if max_bins is None else max_bins, n_threads)


def make_scan(X: np.ndarray, max_bins: int | None = None) -> StumpScan:
    """Return a search over a new pool."""
    return StumpScan(make_pool(X, max_bins=max_bins), 1)


def integers(rng: np.random.Generator, *shape: int, most: int = 5) -> np.ndarray:
    """Return integers as float64: their sums are exact, in any order."""
    return rng.integers(-most, most + 1, shape).astype(float)


def same_tables(X: np.ndarray) -> Iterator[np.ndarray]:
    """Yield a table in other memory layouts."""
    wide, read_only = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1), X.copy()
    read_only.flags.writeable = False
    for same in (X, np.asfortranarray(X), wide[::2, ::3], X[::-1, ::-1].copy()[::-1, ::-1], read_only):
        assert np.array_equal(same, X)
        yield same


def each_simd_level() -> Iterator[str]:
    """Force one SIMD level after the other, in tests with the fixture `restore_simd_level`."""
    for level in simd_levels():
        force_simd_level(level)
        assert simd_level() == level
        yield level


def _repeated(rng: np.random.Generator) -> np.ndarray:
    X = integers(rng, 30, 3, most=2)
    return np.column_stack([X, X, 2 * X + 1, -X, X[:, :1] ** 3])


def _sparse(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(1, 9, size=(50, 40)) * (rng.random((50, 40)) < 0.1).astype(np.float64)


_MAKERS = {
    "few values": lambda rng: integers(rng, 40, 5, most=1),
    "binary": lambda rng: rng.integers(0, 2, (30, 9)).astype(float),
    "many values": lambda rng: rng.normal(size=(60, 7)),
    "repeated and sign-flipped features": _repeated,
    "constant features": lambda rng: integers(rng, 25, 4, most=2) * [0.0, 1.0, 0.0, 1.0] + 3.0,
    "all constant": lambda rng: np.full((12, 3), 2.5),
    "single feature": lambda rng: rng.permutation(31).astype(np.float64)[:, None],
    "sparse, two blocks": _sparse,
    "one row apart": lambda rng: (np.arange(20)[:, None] == rng.integers(0, 20, 6)).astype(float),
    "two rows": lambda rng: np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 5.0]]),
    "one row": lambda rng: np.array([[0.0, 1.0]]),
    "more than 256 values": lambda rng: np.column_stack([rng.permutation(400), rng.integers(0, 300, 400)]) / 8.0,
}

TABLES: dict[str, np.ndarray] = {name: make(np.random.default_rng(3)) for name, make in _MAKERS.items()}
