"""The folds of a search."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv

from cgens.estimators._parameters import check_count
from cgens.estimators._plan import FitPlan
from cgens.types import AnyArray

#: Training and test rows of each fold.
Folds: TypeAlias = list[tuple[AnyArray, AnyArray]]


def make_folds(cv: Any, plan: FitPlan, classifier: bool) -> Folds:
    """Return training and test rows of each fold.

    A number of folds is made of *distinct* rows in canonical order: copies of a row never come into two folds, the
    order of the rows does not matter, and a weight is the same as copies.
    """
    data, position = plan.data, plan.order.position
    if isinstance(cv, bool) or not isinstance(cv, int | np.integer):
        y = plan.coding.decode(data.target)
        splits = check_cv(cv, y, classifier=classifier).split(data.X, y)
        folds = [tuple(np.arange(len(data.X))[np.asarray(rows)] for rows in split) for split in splits]
        if not folds:
            raise ValueError("cv must have at least one fold; it is empty.")
        return folds
    kept = np.flatnonzero(position >= 0)
    first = np.empty(int(position.max()) + 1, dtype=np.intp)
    first[position[kept]] = kept
    # Classes in equal shares; numbers, and rows of several labels, all have the same group.
    groups = data.groups[first]
    most = int(np.bincount(groups).max())
    if not classifier:
        most //= 2  # two rows each, for R^2 of one row is not defined
    n_folds = min(check_count("cv", cv), most)
    if n_folds < 2:
        raise ValueError(
            "Cross-validation needs cv >= 2 and at least two distinct rows of one class, or four for regression; "
            f"got cv={cv} and n_samples={len(first)}."
        )
    fold_of = np.empty(len(first), dtype=np.intp)
    for k, (_, test) in enumerate(StratifiedKFold(n_folds).split(np.zeros(len(first)), groups)):
        fold_of[test] = k
    rows = fold_of[position[kept]]
    return [(kept[rows != k], kept[rows == k]) for k in range(n_folds)]
