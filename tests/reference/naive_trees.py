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
    ) -> None:
        self.X, self.along, self.weight = X, along, weight
        self.features, self.allowed = features, allowed
        self.min_weight, self.real = min_weight, real

    def worth(self, rows: np.ndarray, right: np.ndarray, sums: tuple[float, float] | None = None) -> float:
        """Return by how much a split raises the criterion; 0 if it is not allowed, or within rounding.

        `sums` of the left and right rows are given for shrunk means; else they are those of the duals.
        """
        weights = self.weigh(rows[~right]), self.weigh(rows[right])
        if right.all() or not right.any() or min(weights) < self.min_weight:
            return 0.0
        low, high = (self.total(rows[~right]), self.total(rows[right])) if sums is None else sums
        parts = ((low, weights[0]), (high, weights[1]), (low + high, weights[0] + weights[1]))
        left, own, both = (total * (total / size) if self.real else abs(total) for total, size in parts)
        gained = (left + own) - both
        return gained if gained > 1e-12 * (left + own) else 0.0

    def total(self, rows: np.ndarray) -> float:
        return float(self.along[rows].sum())

    def weigh(self, rows: np.ndarray) -> float:
        return float(self.weight[rows].sum())

    def is_heavier(self, rows: np.ndarray, right: np.ndarray) -> bool:
        """Return whether the right side is: gaps will go there if no row of the node has one."""
        return self.weigh(rows[right]) > self.weigh(rows[~right])

    def best_split(self, rows: np.ndarray) -> NaiveSplit:
        """Return the first of tied splits: by feature; by gaps right, then left; by threshold or number of levels."""
        best = NaiveSplit()
        for feature in np.flatnonzero(self.allowed).tolist():
            own = self.features[feature]
            splits = self.splits_of_levels if isinstance(own, frozenset) else self.splits_of_numbers
            for split in splits(feature, own, rows):
                best = split if split.worth > best.worth else best
        return best

    def splits_of_numbers(self, feature: int, thresholds: Sequence[float], rows: np.ndarray):
        values = self.X[rows, feature]
        gaps = np.isnan(values)
        for gaps_right in (True, False) if gaps.any() else (None,):
            for threshold in thresholds:
                right = (values > threshold) | (gaps & bool(gaps_right))
                side = self.is_heavier(rows, right) if gaps_right is None else gaps_right
                yield NaiveSplit(self.worth(rows, right), feature, float(threshold), (), side, right)

    def shrinkage(self, rows: np.ndarray, parts: list[np.ndarray]) -> float:
        """Return the ratio of the variance of a row of weight 1 around its level's mean to that of the means."""
        squares, between, weight_squares = 0.0, 0.0, 0.0
        for row in rows.tolist():
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

    def splits_of_levels(self, feature: int, common: frozenset[int], rows: np.ndarray):
        """Rare levels and those that no row of the node has go left: left is the side of the former, or the heavier."""
        values = self.X[rows, feature]
        gaps = np.isnan(values)
        rare = ~gaps & ~np.isin(values, list(common))
        parts = [part for part in (*(values == level for level in sorted(common)), rare, gaps) if part.any()]
        shrinkage = self.shrinkage(rows, parts) if len(parts) > 1 else np.inf
        if np.isinf(shrinkage):
            return
        mean = self.total(rows) / self.weigh(rows)
        sizes = [self.weigh(rows[part]) for part in parts]
        totals = [self.total(rows[part]) for part in parts]
        means = [mean + (own - mean * size) / (size + shrinkage) for own, size in zip(totals, sizes, strict=True)]
        order = sorted(range(len(parts)), key=lambda k: means[k])
        low_sums = np.cumsum([means[k] * sizes[k] for k in order]).tolist()
        for n_low in range(1, len(parts)):
            high = np.any([parts[k] for k in order[n_low:]], axis=0)
            low_left = not (high[rare].any() if rare.any() else self.is_heavier(rows, high))
            right = high if low_left else ~high
            side = bool(right[gaps].any()) if gaps.any() else self.is_heavier(rows, right)
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
        splits = [self.best_split(tree.nodes[0].rows)]
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
            splits[place] = self.best_split(tree.nodes[node.left].rows)
            splits.append(self.best_split(tree.nodes[node.right].rows))
        return tree


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
