"""A tree grown greedily, node by node and threshold by threshold. Obvious code, no speed.

With integers for `along` and `weight` every sum is exact, and the compiled trees must be equal to these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass
class NaiveNode:
    """The rows of a node and what they sum to; a leaf has the feature -1."""

    rows: np.ndarray
    sum: float
    weight: float
    feature: int = -1
    threshold: float = 0.0
    left: int = -1
    right: int = -1


@dataclass(frozen=True)
class NaiveSplit:
    """How much a split raises the criterion, and where it is."""

    worth: float = 0.0
    feature: int = -1
    threshold: float = 0.0


@dataclass
class NaiveTree:
    """Nodes in the order in which they were made, the root first."""

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
    """Return the tree that splits next where it raises the criterion most.

    Of equally good leaves the first is split, where the left child stands in its parent's place and the right one at
    the end; of equally good splits of one leaf it is the first feature, then the smallest threshold.
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
        place = max(range(len(leaves)), key=lambda k: splits[k].worth)  # the first of equals
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
    """Return the node in which one row ends: x <= threshold goes left."""
    at = 0
    while features[at] >= 0:
        at = right[at] if float(x[features[at]]) > thresholds[at] else left[at]
    return at
