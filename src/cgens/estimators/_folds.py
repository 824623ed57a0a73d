"""The folds of a search."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from sklearn.model_selection import check_cv

from cgens.estimators._parameters import check_count
from cgens.estimators._plan import FitPlan
from cgens.types import AnyArray

#: Training and test rows of each fold.
Folds: TypeAlias = list[tuple[AnyArray, AnyArray]]


def make_folds(cv: Any, plan: FitPlan, classifier: bool, groups: Any = None) -> Folds:
    """Return training and test rows of each fold.

    Parameters
    ----------
    cv : int, splitter or iterable
        A number deals the rows of positive weight out in canonical order, class by class: what fold a row comes into
        depends on its content and weight, not on where it stands in the table, and copies of a row part.
    plan : FitPlan
    classifier : bool
    groups : array-like of shape (n_samples,), optional
        For splitters that keep groups of rows together.
    """
    if isinstance(cv, bool) or not isinstance(cv, int | np.integer):
        return _split(cv, plan, classifier, groups)
    if groups is not None:
        raise ValueError(f"groups are for splitters such as sklearn.model_selection.GroupKFold; cv is {cv}.")
    data, position = plan.data, plan.order.position
    kept = np.flatnonzero(position >= 0)
    # Copies of a row come by their weights; those of the same weight are interchangeable.
    kept = kept[np.lexsort((data.sample_weight[kept], position[kept], data.groups[kept]))]
    most = int(np.bincount(data.groups[kept]).max())
    if not classifier:
        most //= 2  # two rows each, for R^2 of one row is not defined
    n_folds = min(check_count("cv", cv), most)
    if n_folds < 2:
        raise ValueError(
            "Cross-validation needs cv >= 2 and at least two rows of one class, or four rows for regression; "
            f"got cv={cv} and n_samples={len(kept)}."
        )
    # Dealt out like cards, one class after the other: classes and all rows come in equal shares.
    fold_of = np.empty(len(position), dtype=np.intp)
    fold_of[kept] = np.arange(len(kept)) % n_folds
    kept = np.sort(kept)
    return [(kept[fold_of[kept] != k], kept[fold_of[kept] == k]) for k in range(n_folds)]


def _split(cv: Any, plan: FitPlan, classifier: bool, groups: Any) -> Folds:
    """Return the folds of a splitter of scikit-learn, or given ones."""
    X, y = plan.data.X, plan.coding.decode(plan.data.target)
    splits = check_cv(cv, y, classifier=classifier).split(X, y, groups)
    folds = []
    for train, test in splits:
        folds.append((np.arange(len(X))[np.asarray(train)], np.arange(len(X))[np.asarray(test)]))
    if not folds:
        raise ValueError("cv must have at least one fold; it is empty.")
    return folds
