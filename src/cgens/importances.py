"""Importances of features and of weak-learner families in an ensemble."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cgens.ensemble import Ensemble
from cgens.packs import PackSet
from cgens.table.encoding import Encoding
from cgens.table.schema import Schema
from cgens.types import AnyArray, Floats, Integers, Learner
from cgens.weak_learners import MemberLearner, StumpLearner, TreeLearner
from cgens.weak_learners.encoded import EncodedPack
from cgens.weak_learners.mixture import MemberPack
from cgens.weak_learners.projections.metric_search import MetricPack
from cgens.weak_learners.split import Split


def feature_importances(ensemble: Ensemble, gap_shares: Floats, of_cosines: Floats | None = None) -> Floats:
    """Return the importances of the features in an ensemble of stumps and trees, or of cosines.

    They have the shape (n_features,) and sum to 1, or are all 0 for a model without columns. `gap_shares` is the share
    of the training rows' weight that lacks a value of each feature, shape (n_features,); `of_cosines` is what the fit
    found for cosines, if the ensemble consists of them (see `cgens.cosine_importances`).
    """
    if of_cosines is not None:
        return of_cosines.copy()
    n_features = len(gap_shares)
    learners = [unwrapped(learner) for learner in ensemble.learners]
    stumps = [j for j, learner in enumerate(learners) if isinstance(learner, StumpLearner)]
    trees = [j for j, learner in enumerate(learners) if isinstance(learner, TreeLearner)]
    if len(stumps) + len(trees) < len(learners):
        metrics = list(metrics_in(ensemble.packs))
        names = {own.name for own in metrics}
        if sum(own.n_columns for own in metrics) < len(learners) or len(names) > 1:
            raise AttributeError(
                "feature_importances_ is defined for ensembles of stumps and trees, and of cosines of dense rows or in "
                "one learned metric, only: for others see sklearn.inspection.permutation_importance."
            )
        spread = np.zeros(n_features)
        for own in metrics:
            np.add.at(spread, own.features, own.n_columns * own.shares)
        return np.asarray(spread / spread.sum())
    spread = stump_spread([learners[j] for j in stumps], ensemble.weights[stumps], ensemble.means[stumps], gap_shares)
    spread += tree_spread([learners[j] for j in trees], ensemble.weights[trees], n_features)
    total = spread.sum()
    return spread / total if total > 0 else spread


def mean_importances(parts: Sequence[tuple[float, Floats]], n_features: int) -> Floats:
    """Return the mean of the importances of the parts of a model, with given weights; 0 without parts."""
    spread = np.zeros(n_features)
    for weight, own in parts:
        spread += weight * own
    total = spread.sum()
    return np.asarray(spread / total if total > 0 else spread)


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


@dataclass(frozen=True, eq=False)
class UsedMetric:
    """A learned metric, and the columns of a model that were drawn in it.

    Attributes
    ----------
    name : str
        The family in a mixture; "" without one.
    n_columns : int
    shares : ndarray of shape (d,)
        The sizes of the inputs, normalized to sum to 1.
    features : ndarray of shape (d,)
        The column of X of each input.
    encoding : Encoding or None
        What the inputs are; None if they are columns of X.
    """

    name: str
    n_columns: int
    shares: Floats
    features: Integers
    encoding: Encoding | None

    def input_names(self, schema: Schema) -> list[str]:
        """Return the name of each input."""
        return input_names(self.encoding, self.features, schema)


def input_names(encoding: Encoding | None, features: Integers, schema: Schema) -> list[str]:
    """Return the name of each input, given the column of X that it belongs to."""
    of_columns = schema.names or [f"x{f}" for f in range(len(schema.levels))]
    names = [of_columns[f] for f in features.tolist()]
    if encoding is None:
        return names
    n_numbers, n_gaps = len(encoding.numbers), len(encoding.gaps)
    for j in range(n_numbers, n_numbers + n_gaps):
        names[j] += " is missing"
    for j, code in enumerate(encoding.level_codes.tolist(), n_numbers + n_gaps):
        own = schema.levels[features[j]] or ()
        names[j] += f"={own[code]}" if code >= 0 else " is rare"
    return names


def metrics_in(
    pack: Any, name: str = "", encoding: Encoding | None = None, columns: Any = None
) -> Iterator[UsedMetric]:
    """Yield the learned metrics of a pack: of a family of a mixture, after an encoding, on some columns of X."""
    if isinstance(pack, PackSet):
        for part in pack.parts:
            yield from metrics_in(part.pack, name, encoding, columns)
    elif isinstance(pack, MemberPack):
        inner = pack.columns if columns is None or pack.columns is None else columns[list(pack.columns)]
        own = columns if inner is None else np.asarray(inner)
        yield from metrics_in(pack.pack, f"{name}: {pack.name}" if name else pack.name, encoding, own)
    elif isinstance(pack, EncodedPack):
        yield from metrics_in(pack.inner, name, pack.encoding, columns)
    elif isinstance(pack, MetricPack):
        sizes = pack.metric.sizes
        features = np.arange(len(sizes)) if encoding is None else encoding.input_columns
        features = features if columns is None else columns[features]
        yield UsedMetric(name, len(pack), sizes / sizes.sum(), features, encoding)


def input_importances(ensemble: Ensemble, schema: Schema) -> dict[str, float]:
    """Return the part of each input in the learned metric of an ensemble: the parts of a metric sum to 1.

    The names of inputs are those of the columns of X, with the level or "is missing" for encoded ones and, in a mixture
    with several metrics, the name of the family before them.
    """
    metrics = list(metrics_in(ensemble.packs))
    if not metrics:
        raise AttributeError(
            "input_importances_ is defined for cosines in a learned metric (Fourier(metric='learned'))."
        )
    families = list(dict.fromkeys(own.name for own in metrics))
    found: dict[str, float] = {}
    for family in families:
        # After a warm start there may be several metrics.
        mine = [own for own in metrics if own.name == family]
        total = sum(own.n_columns for own in mine)
        prefix = f"{family}: " if len(families) > 1 else ""
        for own in mine:
            for name, share in zip(own.input_names(schema), own.shares.tolist(), strict=True):
                found[prefix + name] = found.get(prefix + name, 0.0) + share * own.n_columns / total
    return found


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
