"""Small tables that are awkward for a stump search, also in other memory layouts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cgens._core import StumpPool, StumpScan, force_simd_level, simd_level, simd_levels


def make_pool(
    X: np.ndarray,
    weight: np.ndarray | None = None,
    max_bins: int | None = None,
    is_category: np.ndarray | None = None,
    min_level_weight: float = 0.0,
    n_threads: int = 1,
) -> StumpPool:
    """Return the stumps of all rows of `X`; None is every midpoint, as in `Stump`."""
    weight = np.ones(len(X)) if weight is None else weight
    flags = None if is_category is None else is_category.astype(np.uint8)
    max_bins = len(X) + 1 if max_bins is None else max_bins
    return StumpPool(X, np.arange(len(X)), weight, max_bins, n_threads, None, flags, min_level_weight)


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
        assert np.array_equal(same, X, equal_nan=True)
        yield same


def compressed_columns(X: np.ndarray, stored: np.ndarray | bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (data, indices, begin) of all entries that are not 0, and of those that `stored` marks."""
    kept = ((X != 0) | stored).T
    begin = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int64)
    return X.T[kept], np.nonzero(kept)[1].astype(np.int32), begin


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


def with_gaps(rng: np.random.Generator, X: np.ndarray, share: float = 0.25) -> np.ndarray:
    """Return a table without a share of its values."""
    return np.where(rng.random(X.shape) < share, np.nan, X)


def _awkward_gaps(rng: np.random.Generator) -> np.ndarray:
    """Return columns of gaps, of one value and gaps, of two, of one gap, and without gaps."""
    X = integers(rng, 30, 7, most=2)
    X[:, 0] = np.nan
    X[:, 1] = np.where(X[:, 1] > 0, np.nan, 7.0)
    X[:, 2] = np.where(X[:, 1] == 7.0, 1.0, np.nan)  # the same split
    X[:, 3] = np.where(X[:, 3] > 1, np.nan, np.where(X[:, 3] > -1, -4.0, 2.0))
    X[11, 4] = np.nan
    X[:, 6] = 3.0
    return X


def _mixed(rng: np.random.Generator) -> np.ndarray:
    """Return numbers and categories, with gaps and without; a number, a category and gaps split in the same way."""
    numbers, levels = integers(rng, 50, 3, most=2), rng.integers(0, 6, (50, 3)).astype(float)
    X = np.column_stack([numbers, with_gaps(rng, numbers), levels, with_gaps(rng, levels)])
    two = rng.integers(0, 2, 50)
    return np.column_stack([X, two, two, np.where(two > 0, np.nan, 4.0), np.where(two > 0, np.nan, 4.0)])


_NUMBERS = {
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
    "gaps in few values": lambda rng: with_gaps(rng, integers(rng, 40, 5, most=2)),
    "gaps in many values": lambda rng: with_gaps(rng, rng.normal(size=(60, 4)), 0.1),
    "mostly gaps": lambda rng: with_gaps(rng, integers(rng, 40, 5, most=2), 0.7),
    "columns of gaps": _awkward_gaps,
    "one row of gaps": lambda rng: np.array([[np.nan, 1.0]]),
    "gaps in more than 256 values": lambda rng: with_gaps(rng, rng.permutation(400)[:, None] / 8.0, 0.2),
}

# Tables with categories -> how to make them, which columns are categories, and the least weight of a level's own bin.
_CATEGORIES = {
    "few levels": (lambda rng: rng.integers(0, [1, 2, 3, 5], (40, 4)).astype(float), [0, 1, 2, 3], 0.0),
    "rare levels": (lambda rng: np.floor(rng.exponential(6.0, (60, 3))), [0, 1, 2], 5.0),
    "only rare levels": (
        lambda rng: np.column_stack([np.arange(20), with_gaps(rng, np.arange(20.0)), np.arange(20) % 3]),
        [0, 1, 2],
        8.0,
    ),
    "levels and gaps": (lambda rng: with_gaps(rng, rng.integers(0, [1, 2, 6], (40, 3)).astype(float)), [0, 1, 2], 0.0),
    "mostly gaps among levels": (lambda rng: with_gaps(rng, np.floor(rng.exponential(3.0, (50, 2))), 0.7), [0, 1], 2.0),
    "rare levels and gaps": (lambda rng: with_gaps(rng, np.floor(rng.exponential(6.0, (60, 3)))), [0, 1, 2], 4.0),
    "levels that do not begin with 0": (lambda rng: rng.choice([3.0, 7, 64, 129, 1000], (40, 2)), [0, 1], 0.0),
    "mixed": (_mixed, [6, 7, 8, 9, 10, 11, 13, 15], 9.0),
}

TABLES: dict[str, np.ndarray] = {
    name: make(np.random.default_rng(3))
    for name, make in {**_NUMBERS, **{name: row[0] for name, row in _CATEGORIES.items()}}.items()
}


def binning(name: str) -> dict:
    """Return which columns of a table are categories, and the least weight of a level, as `make_pool` takes them."""
    if name not in _CATEGORIES:
        return {}
    _, columns, least = _CATEGORIES[name]
    return {"is_category": np.isin(np.arange(TABLES[name].shape[1]), columns), "min_level_weight": least}


@st.composite
def any_table(draw: st.DrawFn) -> tuple[np.ndarray, dict]:
    """Draw a small table with few values, possibly gaps and categories, and its binning."""
    shape = st.tuples(st.integers(1, 14), st.integers(1, 7))
    values = st.integers(-3, 3) | st.just(np.nan) if draw(st.booleans()) else st.integers(-3, 3)
    X = draw(hnp.arrays(np.float64, shape, elements=values))
    if draw(st.booleans()):
        return X, {}
    is_category = draw(hnp.arrays(bool, X.shape[1]))
    least = draw(st.sampled_from([0.0, 2.0, 5.0, 100.0]))
    return np.where(is_category, X + 3, X), {"is_category": is_category, "min_level_weight": least}
