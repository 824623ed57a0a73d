"""All stumps of a small table, by the rules that `cgens.weak_learners.Stump` documents. Simple code, not fast."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True)
class NaiveStump:
    """h(x) = 1 above the split, else -1, with its responses on the training rows.

    `candidate` is its number among all stumps, those with a repeated response included. A number is above if it exceeds
    the threshold; a category, whose threshold is None, if it is one of the levels.
    """

    candidate: int
    feature: int
    threshold: float | None
    levels: tuple[int, ...]
    gaps_above: bool
    response: tuple[int, ...]

    @property
    def key(self) -> tuple[int, float | None]:
        """What identifies a stump on numbers without gaps."""
        return (self.feature, self.threshold)


def is_above(value: float, threshold: float | None, levels: tuple[int, ...], gaps_above: bool) -> bool:
    """Return the side of one value: NaN is a gap, and a level that is not listed is below."""
    if value != value:
        return gaps_above
    return value in levels if threshold is None else value > threshold


def midpoint(low: float, high: float) -> float:
    """Return a threshold with low <= threshold < high: the middle, or `low` if rounding puts it elsewhere."""
    middle = 0.5 * low + 0.5 * high
    return middle if low <= middle < high else low


def naive_thresholds(values: np.ndarray, weight: np.ndarray, max_bins: int | None) -> list[float]:
    """Return the thresholds of one feature.

    Up to `max_bins` distinct values have one between any two adjacent ones. More have bins of about equal weight: a bin
    ends with the value that fills its share of the weight that was left at its beginning. The threshold between values
    and gaps is infinite.
    """
    gaps = np.isnan(values)
    if gaps.any():
        with_values = naive_thresholds(values[~gaps], weight[~gaps], max_bins)
        return [] if gaps.all() else [*with_values, np.inf]
    distinct = sorted({float(value) for value in values})
    if max_bins is None or len(distinct) <= max_bins:
        return [midpoint(low, high) for low, high in pairwise(distinct)]
    thresholds: list[float] = []
    left, filled, share = float(weight.sum()), 0.0, float(weight.sum()) / max_bins
    for low, high in pairwise(distinct):
        filled += float(weight[values == low].sum())
        if filled >= share and len(thresholds) + 1 < max_bins:
            thresholds.append(midpoint(low, high))
            left -= filled
            filled, share = 0.0, left / (max_bins - len(thresholds))
    return thresholds


def naive_levels(values: np.ndarray, weight: np.ndarray, min_level_weight: float) -> list[int]:
    """Return the levels of one category that are not rare."""
    return [int(own) for own in np.unique(values[~np.isnan(values)]) if weight[values == own].sum() >= min_level_weight]


def naive_splits(
    values: np.ndarray, weight: np.ndarray, max_bins: int | None, is_category: bool, min_level_weight: float
) -> list[tuple[float | None, tuple[int, ...], bool]]:
    """Return (threshold, levels, gaps_above) of all stumps on one feature, in their order.

    Numbers: every threshold with gaps above, then every finite one with gaps below. Categories: each level that is not
    rare against all others; the rare ones, below, against all others; and gaps against all levels.
    """
    has_gaps = bool(np.isnan(values).any())
    if not is_category:
        thresholds = naive_thresholds(values, weight, max_bins)
        splits = [(threshold, (), has_gaps) for threshold in thresholds]
        return splits + ([(threshold, (), False) for threshold in thresholds[:-1]] if has_gaps else [])
    levels = naive_levels(values, weight, min_level_weight)
    has_rare = len(levels) < len(np.unique(values[~np.isnan(values)]))
    if len(levels) + has_rare + has_gaps < 2:
        return []
    rare = [(None, tuple(levels), has_gaps)] if has_rare else []
    return [(None, (level,), False) for level in levels] + rare + ([(None, (), True)] if has_gaps else [])


def naive_candidates(
    X: np.ndarray,
    weight: np.ndarray | None = None,
    max_bins: int | None = None,
    is_category: np.ndarray | None = None,
    min_level_weight: float = 0.0,
) -> list[NaiveStump]:
    """Return all stumps, by feature."""
    weight = np.ones(len(X)) if weight is None else weight
    is_category = np.zeros(X.shape[1], dtype=bool) if is_category is None else is_category
    found: list[NaiveStump] = []
    for feature in range(X.shape[1]):
        values = X[:, feature].astype(np.float64)
        for split in naive_splits(values, weight, max_bins, bool(is_category[feature]), min_level_weight):
            response = tuple(1 if is_above(value, *split) else -1 for value in values.tolist())
            found.append(NaiveStump(len(found), feature, *split, response))
    return found


def naive_pool(
    X: np.ndarray,
    weight: np.ndarray | None = None,
    max_bins: int | None = None,
    is_category: np.ndarray | None = None,
    min_level_weight: float = 0.0,
) -> list[NaiveStump]:
    """Return the first stump of every distinct response up to sign."""
    pool: list[NaiveStump] = []
    seen: set[tuple[int, ...]] = set()
    for stump in naive_candidates(X, weight, max_bins, is_category, min_level_weight):
        if stump.response not in seen:
            seen |= {stump.response, tuple(-sign for sign in stump.response)}
            pool.append(stump)
    return pool


def pool_matrix(pool: list[NaiveStump], n_rows: int) -> np.ndarray:
    """Return the responses of a pool, shape (n_rows, n_stumps)."""
    return np.array([stump.response for stump in pool], dtype=np.float64).reshape(len(pool), n_rows).T


def naive_prices(pool: list[NaiveStump], duals: np.ndarray) -> np.ndarray:
    """Return sum_i duals_i h(x_i) of every stump."""
    return pool_matrix(pool, len(duals)).T @ duals


def naive_best(pool: list[NaiveStump], duals: np.ndarray, taken: set | frozenset = frozenset()) -> NaiveStump | None:
    """Return the stump of largest |price| that is not taken, the first of ties; None if all prices are 0."""
    best, best_size = None, 0.0
    for stump, price in zip(pool, naive_prices(pool, duals), strict=True):
        if stump.key not in taken and abs(price) > best_size:
            best, best_size = stump, abs(price)
    return best


class NaiveTable:
    """Prices and g'Pg of all candidates, one row each."""

    def __init__(self, stumps: list[NaiveStump], n_rows: int, n_outputs: int) -> None:
        self.stumps = stumps
        self.responses = pool_matrix(stumps, n_rows)
        self.prices = np.zeros((len(stumps), n_outputs))
        self.curvature = np.zeros(len(stumps))
        self.taken: set[int] = set()  # candidates

    def reprice(self, duals: np.ndarray, rule: str, direction: np.ndarray | None = None, denominator: float = 1.0):
        self.prices = self.responses.T @ duals
        if direction is not None:
            self.curvature = self.curvature - (self.responses.T @ direction) ** 2 / denominator
        return self.find_best(rule)

    def set_curvature(self, diagonal: np.ndarray) -> None:
        total = diagonal.sum()
        self.curvature = (total**2 - (self.responses.T @ diagonal) ** 2) / total

    def change(self, direction: np.ndarray, step: np.ndarray, denominator: float) -> None:
        along = self.responses.T @ direction
        self.prices = self.prices - np.outer(along, step)
        self.curvature = self.curvature - along**2 / denominator

    def find_best(self, rule: str) -> tuple:
        """Return what `StumpTable.find_best` does: the first of ties among those not taken, and the energy of all."""
        free = np.array([stump.candidate not in self.taken for stump in self.stumps], dtype=bool)
        sizes, energy = np.abs(self.prices) * free[:, None], np.sum(self.prices**2)
        scores = {
            "max": sizes.max(axis=1, initial=0.0),
            "gain": np.sum(sizes**2, axis=1) / (1.0 + self.curvature),
            "votes": sizes.sum(axis=1),
        }[rule]
        if not np.any(scores > 0):
            return (False, 0, 0, 0.0, 0.0, energy, 0.0)
        best = int(np.argmax(scores))
        output = int(np.argmax(sizes[best]))
        price = self.prices[best, output]
        return (True, self.stumps[best].candidate, output, price, sizes.max(), energy, scores[best])


def naive_sample(weight: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a priority sample of n rows, ascending, and the weights that they stand for.

    The priority of row i is u / weight with u = (i + 1/2) / m: canonical rows are in random order.
    """
    u = (np.arange(len(weight)) + 0.5) / len(weight)
    order = np.argsort(u / weight, kind="stable")
    chosen = np.sort(order[:n])
    limit = (u / weight)[order[n]]
    return chosen, np.maximum(weight[chosen], 1 / limit)
