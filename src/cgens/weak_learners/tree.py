"""Small trees grown to maximize the price."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from hashlib import blake2b
from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from cgens._core import TreeGrower, TreeTables
from cgens.default_c import DefaultC
from cgens.packs import Decider, FeaturePack, register_pack
from cgens.table.accepted import EXTRAS
from cgens.types import AnyArray, Floats, Integers, Sample
from cgens.weak_learners.bins import stump_pool
from cgens.weak_learners.checks import check_choice, check_integer
from cgens.weak_learners.search.proposals import ProposalPricer

#: A tree may use at least this many features, if there are: with fewer, an ensemble would be additive.
LEAST_FEATURES = 4
#: A tree is grown on at least this many distinct rows, if there are: of two, a fraction would be one.
LEAST_ROWS = 20


class Tree(BaseEstimator):  # type: ignore[misc]
    """Trees with a few leaves, grown greedily to maximize the price of the round.

    With several outputs, a tree is grown on r = R v for a random direction v. Missing values go to the better side of a
    split, or, where no training row of a node has one, to the side with more weight. The levels of a category are split
    in the order of their mean r, shrunk by how much the scatter within levels explains; rare and unseen levels go
    together.

    Parameters
    ----------
    max_leaf_nodes : int, default=8
        Maximum number of leaves; the leaf with the best split is split next.
    leaves : {"real", "sign"}, default="real"
        "real": the value of a leaf is its mean of r; the tree is then scaled to mean 0 and variance 1. "sign": +-1.
    min_samples_leaf : float, default=20
        Minimum total weight of the rows in a leaf, capped at a quarter of the total weight of all rows.
    max_features : float, default=0.5
        Fraction of the features that a tree may use, drawn at random for each tree; at least four, if there are.
    max_samples : float, default=1.0
        Fraction of the distinct rows on which a tree is grown, drawn at random for each tree; at least twenty, if there
        are.
    splitter : {"best", "random"}, default="best"
        "best": the best split of all features. "random": the best of one random split for each feature, as in extremely
        randomized trees, which generalizes better on small or noisy tables.
    max_bins : int, default=256
        As in `Stump`.

    Examples
    --------
    >>> from cgens import CGEnsClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CGEnsClassifier(Tree(max_leaf_nodes=4), n_estimators=50, random_state=0).fit(X, y)
    >>> len(model.ensemble_.learners[0].features)
    7
    """

    accepts: ClassVar[tuple[str, ...]] = EXTRAS
    default_c: ClassVar[DefaultC] = DefaultC(margin=0.2, squares=0.2)

    def __init__(
        self,
        max_leaf_nodes: int = 8,
        leaves: str = "real",
        min_samples_leaf: float = 20,
        max_features: float = 0.5,
        max_samples: float = 1.0,
        splitter: str = "best",
        max_bins: int = 256,
    ) -> None:
        self.max_leaf_nodes = max_leaf_nodes
        self.leaves = leaves
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_samples = max_samples
        self.splitter = splitter
        self.max_bins = max_bins

    def begin(self, sample: Sample, rng: np.random.Generator, n_threads: int) -> ProposalPricer:
        """Bin the training rows."""
        check_integer("Tree: max_leaf_nodes", self.max_leaf_nodes, least=2)
        check_integer("Tree: max_bins", self.max_bins, least=2)
        check_choice("Tree: leaves", self.leaves, ("real", "sign"))
        check_choice("Tree: splitter", self.splitter, ("best", "random"))
        for name in ("max_features", "max_samples", "min_samples_leaf"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Real):
                raise ValueError(f"Tree: {name} must be a number; got {value!r}.")
        for name in ("max_features", "max_samples"):
            if not 0 < getattr(self, name) <= 1:
                raise ValueError(f"Tree: {name} must be a fraction > 0 and <= 1; got {getattr(self, name)!r}.")
        if not 0 <= self.min_samples_leaf < np.inf:
            raise ValueError(f"Tree: min_samples_leaf must be >= 0; got {self.min_samples_leaf!r}.")
        return ProposalPricer(TreeMaker(self, sample, rng, n_threads), rng)


@dataclass(frozen=True, eq=False)
class TreeLearner:
    """A tree as arrays over its nodes, the root first.

    Rows above the split of a node go right (see `cgens.weak_learners.split.SplitArrays`); the feature of a leaf is -1.
    `cover` is the share of the training rows' weight in each node.
    """

    features: AnyArray
    thresholds: Floats
    left: AnyArray
    right: AnyArray
    values: AnyArray
    cover: Floats
    gaps_above: AnyArray
    level_begin: Integers
    levels: AnyArray

    exact_responses: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in TREE_ARRAYS:
            array = getattr(self, name).copy()
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @cached_property
    def key(self) -> Hashable:
        """The nodes."""
        parts = [getattr(self, name) for name in TREE_ARRAYS if name != "cover"]
        return "tree", blake2b(b"".join(part.tobytes() for part in parts), digest_size=16).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeLearner) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def respond(self, X: AnyArray) -> AnyArray:
        """Return h(x) for every row; int8 if all leaves are +-1, else float32."""
        return TreeLearner.pack([self]).respond(X, 1)[:, 0]

    @staticmethod
    def pack(learners: Sequence[TreeLearner]) -> TreePack:
        """Return the learners as arrays."""
        arrays = {name: np.concatenate([getattr(own, name) for own in learners]) for name in (*NODE_ARRAYS, "levels")}
        n_levels = np.concatenate([np.diff(own.level_begin) for own in learners])
        begin = begin_of([len(own.features) for own in learners])
        return TreePack(begin=begin, level_begin=begin_of(n_levels), **arrays)


#: The arrays of a tree.
TREE_ARRAYS = tuple(field.name for field in fields(TreeLearner))
#: The arrays with one entry per node that trees and packs of trees have in common.
NODE_ARRAYS = ("features", "thresholds", "left", "right", "values", "cover", "gaps_above")


def begin_of(sizes: AnyArray | list[int]) -> Integers:
    """Return where parts of these sizes begin, and the end."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


@register_pack("tree")
@dataclass(frozen=True, eq=False)
class TreePack(FeaturePack):
    """Trees as arrays; tree j has the nodes begin[j] ... begin[j + 1] - 1, and children count from begin[j]."""

    begin: Integers
    left: AnyArray
    right: AnyArray
    thresholds: Floats
    values: AnyArray
    cover: Floats
    gaps_above: AnyArray
    level_begin: Integers
    levels: AnyArray

    def __len__(self) -> int:
        return len(self.begin) - 1

    def learner(self, number: int) -> TreeLearner:
        """Return one of the trees."""
        nodes = slice(self.begin[number], self.begin[number + 1])
        level_begin = self.level_begin[nodes.start : nodes.stop + 1]
        own = {name: getattr(self, name)[nodes] for name in NODE_ARRAYS}
        levels = self.levels[level_begin[0] : level_begin[-1]]
        return TreeLearner(**own, level_begin=level_begin - level_begin[0], levels=levels)

    @cached_property
    def _tables(self) -> TreeTables:
        names = ("begin", "features", "left", "right", "thresholds", "values", "gaps_above", "level_begin", "levels")
        return TreeTables(*(getattr(self, name) for name in names))

    @cached_property
    def _has_signs(self) -> bool:
        """Whether all leaves are +-1."""
        return bool(np.all(np.abs(self.values[self.features < 0]) == 1))

    def respond_dense(self, X: AnyArray, n_threads: int) -> AnyArray:
        """Return the responses, shape (n, J); int8 if all leaves are +-1, else float32."""
        responses = self._tables.respond(X, n_threads).reshape(len(X), len(self))
        return responses.astype(np.int8) if self._has_signs else responses

    def dense_decider(self, weights: Floats) -> Decider:
        """Prepare responses @ weights."""
        tables, weights = self._tables, np.ascontiguousarray(weights)
        return lambda X, n_threads: tables.decide(X, weights, n_threads).reshape(len(X), weights.shape[1])


class TreeMaker:
    """Grows a tree for a target."""

    def __init__(self, spec: Tree, sample: Sample, rng: np.random.Generator, n_threads: int) -> None:
        n_bins = max(2, min(spec.max_bins, len(sample)))
        self._grower = TreeGrower(stump_pool(sample, n_bins, n_threads), sample.weight, n_threads)
        self._spec, self._rng = spec, rng
        self._max_leaves = min(spec.max_leaf_nodes, len(sample))
        self._min_weight = min(float(spec.min_samples_leaf), spec.max_samples * float(sample.weight.sum()) / 4)
        self._n_features = sample.X.shape[1]
        self._n_drawn = max(LEAST_ROWS, round(spec.max_samples * len(sample)))
        self._share = sample.weight / sample.weight.sum()

    def __call__(self, target: Floats, attempt: int) -> tuple[TreeLearner, AnyArray] | None:
        """Return a tree and its responses; None if no split increases the price.

        Each further attempt allows half as many features, and so ends with trees on single features.
        """
        spec = self._spec
        most = min(self._n_features, max(LEAST_FEATURES, spec.max_features * self._n_features))
        n_allowed = max(1, round(most / 2**attempt))
        allowed = np.zeros(self._n_features, dtype=np.uint8)
        allowed[self._rng.choice(self._n_features, size=n_allowed, replace=False)] = 1
        real = spec.leaves == "real"
        drawn = None
        if self._n_drawn < len(target):
            drawn = np.zeros(len(target), dtype=np.uint8)
            drawn[self._rng.choice(len(target), size=self._n_drawn, replace=False)] = 1
        seed = int(self._rng.integers(2**63)) if spec.splitter == "random" else None
        features, left, right, thresholds, sums, weights, gaps, level_begin, levels, leaf_of = self._grower.grow(
            np.ascontiguousarray(target), allowed, self._max_leaves, self._min_weight, real, drawn, seed
        )
        values = self._scaled(sums / weights, leaf_of) if real else np.where(sums < 0, -1.0, 1.0)
        values = values.astype(np.float32)
        leaves = values[features < 0]  # each has a row
        if not np.any(leaves != leaves[0]):
            return None
        response = values[leaf_of]
        cover = weights / weights[0]
        learner = TreeLearner(features, thresholds, left, right, values, cover, gaps, level_begin, levels)
        return learner, response if real else response.astype(np.int8)

    def _scaled(self, values: Floats, leaf_of: AnyArray) -> Floats:
        """Return the values scaled so that the tree has mean 0 and variance 1 over the training rows."""
        response = values[leaf_of]
        mean = np.sum(self._share * response)
        deviation = np.sqrt(np.sum(self._share * (response - mean) ** 2))
        return np.asarray((values - mean) / deviation) if deviation > 0 else np.zeros(len(values))
