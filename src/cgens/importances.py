"""Importances of features and of weak-learner families in an ensemble."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cgens.ensemble import Ensemble
from cgens.types import AnyArray, Floats, Learner
from cgens.weak_learners import MemberLearner, StumpLearner, TreeLearner
from cgens.weak_learners.mixture import MemberPack
from cgens.weak_learners.split import Split


def feature_importances(ensemble: Ensemble, gap_shares: Floats) -> Floats:
    """Return the importances of the features in an ensemble of stumps and trees, shape (n_features,).

    They sum to 1, or are all 0 for a model without columns. `gap_shares` is the share of the training rows' weight that
    lacks a value of each feature, shape (n_features,).
    """
    n_features = len(gap_shares)
    learners = [unwrapped(learner) for learner in ensemble.learners]
    stumps = [j for j, learner in enumerate(learners) if isinstance(learner, StumpLearner)]
    trees = [j for j, learner in enumerate(learners) if isinstance(learner, TreeLearner)]
    if len(stumps) + len(trees) < len(learners):
        raise AttributeError("feature_importances_ is defined for ensembles of stumps and trees only.")
    spread = stump_spread([learners[j] for j in stumps], ensemble.weights[stumps], ensemble.means[stumps], gap_shares)
    spread += tree_spread([learners[j] for j in trees], ensemble.weights[trees], n_features)
    total = spread.sum()
    return spread / total if total > 0 else spread


def unwrapped(learner: Learner) -> Learner:
    """Return a learner of a mixture with its features numbered as in X, if it is a stump or a tree."""
    if not isinstance(learner, MemberLearner):
        return learner
    own, columns = unwrapped(learner.learner), learner.columns
    if columns is not None and isinstance(own, StumpLearner):
        return replace(own, feature=columns[own.feature])
    if columns is not None and isinstance(own, TreeLearner):
        return replace(own, features=np.where(own.features < 0, -1, np.asarray(columns)[own.features]))
    return own


def stump_spread(stumps: Sequence[Any], weights: Floats, means: Floats, gap_shares: Floats) -> Floats:
    """Return the standard deviation of the contribution of each feature to the decision, shape (n_features,).

    The contribution is g_f(x) = sum of w_j h_j(x) over the stumps on the feature. With p = P(above), the covariance of
    two stumps is 4 (P(above both) - p p'), and P(above both) follows from the two probabilities and the share of gaps:
    the deviation of g_f over the training rows needs no rows.
    """
    features = np.array([stump.feature for stump in stumps], dtype=np.intp)
    above = (1 + means) / 2
    spread = np.zeros(len(gap_shares))
    for feature in np.unique(features):
        own = np.flatnonzero(features == feature).tolist()
        p = above[own]
        if stumps[own[0]].threshold is None:
            both = np.array([[_above_both_sets(stumps[i], stumps[j], above[i], above[j]) for j in own] for i in own])
        else:
            # Thresholds are nested: numbers exceed both if they exceed the larger one.
            gaps = gap_shares[feature] * np.array([stumps[j].gaps_above for j in own], dtype=np.float64)
            both = np.minimum.outer(p - gaps, p - gaps) + np.minimum.outer(gaps, gaps)
        covariance = 4 * (both - np.outer(p, p))
        spread[feature] = np.sqrt(np.maximum(np.einsum("jt,jk,kt->", weights[own], covariance, weights[own]), 0.0))
    return spread


def _above_both_sets(one: Split, other: Split, p: float, q: float) -> float:
    """Return the share of rows above two splits of a category, whose sets of levels are nested or disjoint."""
    sets = [{*split.levels, *([-1] * split.gaps_above)} for split in (one, other)]
    return 0.0 if sets[0].isdisjoint(sets[1]) else min(p, q)


def tree_spread(trees: Sequence[Any], weights: Floats, n_features: int) -> Floats:
    """Return the sum over all trees of the deviation of w_j h_j times each feature's share of its variance.

    A split of a node of weight c into children of weights a and b adds c (a/c)(b/c) (mean_a - mean_b)^2 to the variance
    of h over the training rows; the share of a feature is that of its splits.
    """
    spread = np.zeros(n_features)
    for tree, weight in zip(trees, weights, strict=True):
        means = np.where(tree.features < 0, tree.values.astype(np.float64), 0.0)
        variance = np.zeros(n_features)
        for node in range(len(tree.features) - 1, -1, -1):  # children come after their parents
            feature = tree.features[node]
            if feature < 0:
                continue
            children = [tree.left[node], tree.right[node]]
            a, b = tree.cover[children]
            means[node] = (a * means[children[0]] + b * means[children[1]]) / (a + b)
            variance[feature] += a * b / (a + b) * (means[children[0]] - means[children[1]]) ** 2
        total = variance.sum()
        if total > 0:
            spread += variance / np.sqrt(total) * np.sqrt(np.sum(weight**2))
    return spread


def family_shares(
    ensemble: Ensemble, names: Sequence[str], X: AnyArray, sample_weight: Floats, n_threads: int
) -> dict[str, float]:
    """Return the standard deviation of each family's contribution over the rows of X, normalized to sum to 1.

    The contribution is g_k(x) = sum of w_j h_j(x) over the learners of the family: its function in the sum of kernels.
    """
    share = sample_weight / sample_weight.sum()
    parts = {name: np.zeros((X.shape[0], len(ensemble.intercept))) for name in names}
    for columns, pack in ensemble.packs.flattened():
        if isinstance(pack, MemberPack) and pack.name in parts:
            parts[pack.name] += pack.decider(ensemble.weights[columns])(X, n_threads)
    spread = {}
    for name, part in parts.items():
        centred = part - np.sum(share[:, None] * part, axis=0)
        spread[name] = float(np.sqrt(np.sum(share[:, None] * centred**2)))
    total = sum(spread.values())
    return {name: own / total for name, own in spread.items()} if total > 0 else spread
