"""Small tables with the awkward things a stump search can meet."""

from __future__ import annotations

import numpy as np

from cgens._core import StumpPool, StumpScan


def make_pool(
    X: np.ndarray, weight: np.ndarray | None = None, max_bins: int | None = None, n_threads: int = 1
) -> StumpPool:
    """Return the stumps of all rows of `X`; None is every midpoint, as in `Stump`."""
    weight = np.ones(len(X)) if weight is None else weight
    return StumpPool(X, np.arange(len(X)), weight, len(X) + 1 if max_bins is None else max_bins, n_threads)


def make_scan(X: np.ndarray, max_bins: int | None = None, n_threads: int = 1) -> StumpScan:
    """Return the search over a pool of its own."""
    return StumpScan(make_pool(X, max_bins=max_bins, n_threads=n_threads), n_threads)


def _random(rng: np.random.Generator, n: int, n_values: int, d: int) -> np.ndarray:
    return rng.integers(0, n_values, size=(n, d)).astype(np.float64)


def _repeated(rng: np.random.Generator) -> np.ndarray:
    X = _random(rng, 30, 6, 3)
    return np.column_stack([X, X, 2 * X + 1, -X, X[:, :1] ** 3])


def _with_constants(rng: np.random.Generator) -> np.ndarray:
    X = _random(rng, 25, 5, 4)
    X[:, [0, 2]] = [3.0, 0.0]
    return X


def _sparse(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(1, 9, size=(50, 40)) * (rng.random((50, 40)) < 0.1).astype(np.float64)


def _one_row_apart(rng: np.random.Generator) -> np.ndarray:
    X = np.zeros((20, 6))
    X[rng.integers(0, 20, 6), np.arange(6)] = 1.0
    return X


_MAKERS = {
    "few values": lambda rng: _random(rng, 40, 4, 5),
    "binary": lambda rng: _random(rng, 30, 2, 9),
    "many values": lambda rng: rng.normal(size=(60, 7)),
    "repeated and sign-flipped features": _repeated,
    "constant features": _with_constants,
    "all constant": lambda rng: np.full((12, 3), 2.5),
    "single feature": lambda rng: rng.permutation(31).astype(np.float64)[:, None],
    "sparse, two blocks": _sparse,
    "one row apart": _one_row_apart,
    "two rows": lambda rng: np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 5.0]]),
    "one row": lambda rng: np.array([[0.0, 1.0]]),
    "more than 256 values": lambda rng: np.column_stack([rng.permutation(400), rng.integers(0, 300, 400)]) / 8.0,
}

TABLES: dict[str, np.ndarray] = {name: make(np.random.default_rng(3)) for name, make in _MAKERS.items()}
