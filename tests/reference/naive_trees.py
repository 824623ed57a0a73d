"""A tree grown greedily, node by node and threshold by threshold. Simple code, not fast.

If `along` and `weight` are integers, every sum is exact, and the compiled trees must equal these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass
class NaiveNode:
    """The rows of a node and their sums; a leaf has the feature -1."""

    rows: np.ndarray
    sum: float
    weight: float
    feature: int = -1
    threshold: float = 0.0
    left: int = -1
    right: int = -1


@dataclass(frozen=True)
class NaiveSplit:
    """A split and by how much it raises the criterion."""

    worth: float = 0.0
    feature: int = -1
    threshold: float = 0.0


@dataclass
class NaiveTree:
    """Nodes in the order in which they were added, the root first."""

    nodes: list[NaiveNode] = field(default_factory=list)

    def leaf_of(self, n_rows: int) -> np.ndarray:
        """Return the number of the leaf that each training row is in."""
        leaves = np.full(n_rows, -1)
        for number, node in enumerate(self.nodes):
            if node.feature < 0:
                leaves[node.rows] = number
        return leaves


def naive_tree(
    X: np.ndarray,
    along: np.ndarray,
    weight: np.ndarray,
    thresholds: Sequence[Sequence[float]],
    allowed: Sequence[int],
    max_leaves: int,
    min_weight: float,
    real: bool,
) -> NaiveTree:
    """Return the tree whose next split is always the one that raises the criterion most.

    Of tied leaves the first is split; a left child replaces its parent in the list of leaves, and a right one is
    appended. Of tied splits of one leaf the one with the first feature wins, then with the smallest threshold.
    """

    def criterion(rows: np.ndarray) -> float:
        total, size = float(along[rows].sum()), float(weight[rows].sum())
        if not real:
            return abs(total)
        return total * (total / size)

    def best_split(rows: np.ndarray) -> NaiveSplit:
        best = NaiveSplit()
        for feature in np.flatnonzero(allowed).tolist():
            for threshold in thresholds[feature]:
                above = X[rows, feature] > threshold
                left, right = rows[~above], rows[above]
                if not len(left) or not len(right):
                    continue
                if min(weight[left].sum(), weight[right].sum()) < min_weight:
                    continue
                after = criterion(left) + criterion(right)
                worth = after - criterion(rows)
                if worth > max(best.worth, 1e-12 * after):
                    best = NaiveSplit(worth, feature, float(threshold))
        return best

    def append(rows: np.ndarray) -> int:
        tree.nodes.append(NaiveNode(rows, float(along[rows].sum()), float(weight[rows].sum())))
        return len(tree.nodes) - 1

    tree = NaiveTree()
    leaves = [append(np.arange(len(X)))]
    splits = [best_split(tree.nodes[0].rows)]
    while len(leaves) < max_leaves:
        place = max(range(len(leaves)), key=lambda k: splits[k].worth)  # the first of ties
        split = splits[place]
        if not split.worth > 0:
            break
        node = tree.nodes[leaves[place]]
        above = X[node.rows, split.feature] > split.threshold
        node.feature, node.threshold = split.feature, split.threshold
        node.left, node.right = append(node.rows[~above]), append(node.rows[above])
        leaves[place] = node.left
        leaves.append(node.right)
        splits[place] = best_split(tree.nodes[node.left].rows)
        splits.append(best_split(tree.nodes[node.right].rows))
    return tree


def naive_walk(
    x: Sequence[float], features: Sequence[int], left: Sequence[int], right: Sequence[int], thresholds: Sequence[float]
) -> int:
    """Return the node that one row reaches: x <= threshold goes left."""
    at = 0
    while features[at] >= 0:
        at = right[at] if float(x[features[at]]) > thresholds[at] else left[at]
    return at
