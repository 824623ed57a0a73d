"""A tree grown greedily, node by node and split by split. Simple code, not fast.

If `along` and `weight` are integers, every sum is exact, and the compiled trees must equal these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.reference.naive_stumps import is_above


@dataclass(frozen=True)
class NaiveSplit:
    """A split, which rows of the node go right, and by how much it raises the criterion."""

    worth: float = 0.0
    feature: int = -1
    threshold: float | None = 0.0
    levels: tuple[int, ...] = ()
    gaps_right: bool = False
    right: np.ndarray = field(default_factory=lambda: np.array([], dtype=bool))


@dataclass
class NaiveNode:
    """The rows of a node and their sums; a leaf has the feature -1, and a split of levels the threshold None."""

    rows: np.ndarray
    sum: float
    weight: float
    split: NaiveSplit = field(default_factory=NaiveSplit)
    left: int = -1
    right: int = -1


@dataclass
class NaiveTree:
    """Nodes in the order in which they were added, the root first."""

    nodes: list[NaiveNode] = field(default_factory=list)

    def leaf_of(self, n_rows: int) -> np.ndarray:
        """Return the number of the leaf that each training row is in."""
        leaves = np.full(n_rows, -1)
        for number, node in enumerate(self.nodes):
            if node.split.feature < 0:
                leaves[node.rows] = number
        return leaves


class NaiveGrower:
    """Grows the tree whose next split is always the one that raises the criterion most.

    A feature is a list of thresholds, or the set of those levels of a category that are not rare. Levels are put in the
    order of their shrunk means, and a split of levels has the criterion of these. The sums of means are not exact: they
    are computed one by one, in the order of the rows and levels.

    Rows that are not drawn have no say, and follow the splits. With a seed, each feature offers one split to a node, by
    a hash.
    """

    def __init__(
        self,
        X: np.ndarray,
        along: np.ndarray,
        weight: np.ndarray,
        features: Sequence[Sequence[float] | frozenset[int]],
        allowed: Sequence[int],
        min_weight: float,
        real: bool,
        drawn: np.ndarray | None = None,
        seed: int | None = None,
    ) -> None:
        self.drawn = np.ones(len(X), dtype=bool) if drawn is None else drawn != 0
        self.X, self.along, self.weight = X, np.where(self.drawn, along, 0.0), np.where(self.drawn, weight, 0.0)
        self.seed = seed
        self.features, self.allowed = features, allowed
        self.min_weight, self.real = min_weight, real

    def worth(self, rows: np.ndarray, right: np.ndarray, sums: tuple[float, float] | None = None) -> float:
        """Return by how much a split raises the criterion; 0 if it is not allowed, or within rounding.

        `sums` of the left and right rows are given for shrunk means; else they are those of the duals.
        """
        weights = self.weigh(rows[~right]), self.weigh(rows[right])
        if not self.is_valid(rows, right):
            return 0.0
        low, high = (self.total(rows[~right]), self.total(rows[right])) if sums is None else sums
        parts = ((low, weights[0]), (high, weights[1]), (low + high, weights[0] + weights[1]))
        left, own, both = (total * (total / size) if self.real else abs(total) for total, size in parts)
        gained = (left + own) - both
        return gained if gained > 1e-12 * (left + own) else 0.0

    def is_valid(self, rows: np.ndarray, right: np.ndarray) -> bool:
        """Return whether both sides are heavy enough."""
        lightest = min(self.weigh(rows[~right]), self.weigh(rows[right]))
        return lightest > 0 and lightest >= self.min_weight

    def random_number(self, position: int, feature: int, n: int) -> int:
        """Return which of n splits a feature offers to a node."""
        assert self.seed is not None
        return mix_bits(mix_bits(self.seed + position) + feature) % n

    def total(self, rows: np.ndarray) -> float:
        return float(self.along[rows].sum())

    def weigh(self, rows: np.ndarray) -> float:
        return float(self.weight[rows].sum())

    def is_heavier(self, rows: np.ndarray, right: np.ndarray) -> bool:
        """Return whether the right side is: gaps will go there if no row of the node has one."""
        return self.weigh(rows[right]) > self.weigh(rows[~right])

    def best_split(self, position: int, rows: np.ndarray) -> NaiveSplit:
        """Return the first of tied splits: by feature; by gaps right, then left; by threshold or number of levels."""
        best = NaiveSplit()
        for feature in np.flatnonzero(self.allowed).tolist():
            own = self.features[feature]
            splits = self.splits_of_levels if isinstance(own, frozenset) else self.splits_of_numbers
            for split in splits(position, feature, own, rows):
                best = split if split.worth > best.worth else best
        return best

    def splits_of_numbers(self, position: int, feature: int, thresholds: Sequence[float], rows: np.ndarray):
        values, drawn = self.X[rows, feature], self.drawn[rows]
        gaps = np.isnan(values)
        sides = (True, False) if gaps[drawn].any() else (None,)
        if self.seed is not None:
            for gaps_right in sides:
                valid, seen = [], set()
                for threshold in thresholds:
                    right = np.where(gaps, bool(gaps_right), values > threshold)
                    if self.is_valid(rows, right) and tuple(right[drawn]) not in seen:
                        valid.append(threshold)
                    seen.add(tuple(right[drawn]))
                if valid:
                    thresholds = [valid[self.random_number(position, feature, len(valid))]]
                    break
            else:
                return
        for gaps_right in sides:
            for threshold in thresholds:
                right = np.where(gaps, bool(gaps_right), values > threshold)
                side = self.is_heavier(rows, right) if gaps_right is None else gaps_right
                right = np.where(gaps, side, right)
                yield NaiveSplit(self.worth(rows, right), feature, float(threshold), (), side, right)

    def shrinkage(self, rows: np.ndarray, parts: list[np.ndarray]) -> float:
        """Return the ratio of the variance of a row of weight 1 around its level's mean to that of the means."""
        squares, between, weight_squares = 0.0, 0.0, 0.0
        for row in rows[self.drawn[rows]].tolist():
            squares += float(self.along[row]) * (float(self.along[row]) / float(self.weight[row]))
        for part in parts:
            total, size = self.total(rows[part]), self.weigh(rows[part])
            between += total * (total / size)
            weight_squares += size * size
        total, size = self.total(rows), self.weigh(rows)
        within = max(squares - between, 0.0) / max(size - len(parts), 0.25 * size)
        between -= total * (total / size)
        excess = (between - (len(parts) - 1) * within) / (size - weight_squares / size)
        return within / excess if excess > 0 else np.inf

    def splits_of_levels(self, position: int, feature: int, common: frozenset[int], rows: np.ndarray):
        """Rare levels and those that no row of the node has go left: left is the side of the former, or the heavier."""
        values, drawn = self.X[rows, feature], self.drawn[rows]
        gaps = np.isnan(values)
        rare = ~gaps & ~np.isin(values, list(common))
        parts = [part for part in (*(values == level for level in sorted(common)), rare, gaps) if part[drawn].any()]
        shrinkage = self.shrinkage(rows, parts) if len(parts) > 1 else np.inf
        if np.isinf(shrinkage):
            return
        mean = self.total(rows) / self.weigh(rows)
        sizes = [self.weigh(rows[part]) for part in parts]
        totals = [self.total(rows[part]) for part in parts]
        means = [mean + (own - mean * size) / (size + shrinkage) for own, size in zip(totals, sizes, strict=True)]
        order = sorted(range(len(parts)), key=lambda k: means[k])
        low_sums = np.cumsum([means[k] * sizes[k] for k in order]).tolist()
        highs = {n_low: np.any([parts[k] for k in order[n_low:]], axis=0) for n_low in range(1, len(parts))}
        if self.seed is not None:
            valid = [n_low for n_low, high in highs.items() if self.is_valid(rows, high)]
            chosen = valid[self.random_number(position, feature, len(valid))] if valid else None
            highs = {n_low: high for n_low, high in highs.items() if n_low == chosen}
        for n_low, high in highs.items():
            low_left = not (high[rare].any() if rare[drawn].any() else self.is_heavier(rows, high))
            right = high if low_left else np.any(parts, axis=0) & ~high
            side = bool(right[gaps].any()) if gaps[drawn].any() else self.is_heavier(rows, right)
            right = np.where(gaps, side, right)
            levels = tuple(sorted({int(value) for value in values[right & ~gaps]}))
            worth = self.worth(rows, high, (low_sums[n_low - 1], low_sums[-1] - low_sums[n_low - 1]))
            yield NaiveSplit(worth, feature, None, levels, side, right)

    def grow(self, max_leaves: int) -> NaiveTree:
        """Split the first of tied leaves; a left child replaces its parent among them, and a right one is appended."""
        tree = NaiveTree()

        def append(rows: np.ndarray) -> int:
            tree.nodes.append(NaiveNode(rows, self.total(rows), self.weigh(rows)))
            return len(tree.nodes) - 1

        leaves = [append(np.arange(len(self.X)))]
        splits = [self.best_split(0, tree.nodes[0].rows)]
        while len(leaves) < max_leaves:
            place = max(range(len(leaves)), key=lambda k: splits[k].worth)  # the first of ties
            split = splits[place]
            if not split.worth > 0:
                break
            node = tree.nodes[leaves[place]]
            node.split = split
            node.left, node.right = append(node.rows[~split.right]), append(node.rows[split.right])
            leaves[place] = node.left
            leaves.append(node.right)
            splits[place] = self.best_split(node.left, tree.nodes[node.left].rows)
            splits.append(self.best_split(node.right, tree.nodes[node.right].rows))
        return tree


def mix_bits(x: int) -> int:
    """Return the finalizer of splitmix64."""
    mask = 2**64 - 1
    x = (x + 0x9E3779B97F4A7C15) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


def naive_walk(
    x: Sequence[float],
    features: Sequence[int],
    left: Sequence[int],
    right: Sequence[int],
    thresholds: Sequence[float],
    gaps_right: Sequence[int],
    levels: Sequence[Sequence[int]],
) -> int:
    """Return the node that one row reaches: what is above the split goes right; levels have the threshold NaN."""
    at = 0
    while features[at] >= 0:
        threshold = None if np.isnan(thresholds[at]) else thresholds[at]
        above = is_above(float(x[features[at]]), threshold, tuple(levels[at]), bool(gaps_right[at]))
        at = right[at] if above else left[at]
    return at
