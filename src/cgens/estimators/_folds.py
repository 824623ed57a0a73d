"""Make the folds of a search."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from cgens.estimators._parameters import check_count
from cgens.estimators._plan import FitPlan
from cgens.types import AnyArray


class Folds(list[tuple[AnyArray, AnyArray]]):
    """Training rows and test rows of each fold. A pickle is empty, so that it does not grow with the rows."""

    def __reduce__(self) -> tuple[type[Folds], tuple[()]]:
        return Folds, ()

    def __copy__(self) -> Folds:
        return self  # not modified after the fit

    def __deepcopy__(self, memo: object) -> Folds:
        return self


def make_folds(cv: Any, plan: FitPlan, classifier: bool, groups: Any = None) -> Folds:
    """Return the training rows and test rows of each fold.

    Parameters
    ----------
    cv : int, splitter or iterable
        An integer deals out the rows of positive weight in canonical order, class by class: the fold of a row depends
        on its content and weight, not on its position in X, and copies of a row go to different folds.
    plan : FitPlan
    classifier : bool
    groups : array-like of shape (n_samples,), optional
        For splitters that keep groups of rows together.
    """
    if isinstance(cv, bool) or not isinstance(cv, int | np.integer):
        return _split(cv, plan, classifier, groups)
    if groups is not None:
        raise ValueError(
            f"groups requires cv to be a splitter such as sklearn.model_selection.GroupKFold; got cv={cv}."
        )
    data, position = plan.data, plan.order.position
    kept = np.flatnonzero(position >= 0)
    # Copies of a row are sorted by weight; those of the same weight are interchangeable.
    kept = kept[np.lexsort((data.sample_weight[kept], position[kept], data.class_index[kept]))]
    max_folds = int(np.bincount(data.class_index[kept]).max())
    if not classifier:
        max_folds //= 2  # two rows each, because R^2 of one row is undefined
    n_folds = min(check_count("cv", cv), max_folds)
    if n_folds < 2:
        raise ValueError(
            "Cross-validation needs cv >= 2 and at least two rows of a class, or four rows for regression; "
            f"got cv={cv} and n_samples={len(kept)}."
        )
    # Rows are dealt out like cards, class after class, so that folds have equal shares of each class and of all rows.
    fold_of = np.empty(len(position), dtype=np.intp)
    fold_of[kept] = np.arange(len(kept)) % n_folds
    kept = np.sort(kept)
    return Folds((kept[fold_of[kept] != k], kept[fold_of[kept] == k]) for k in range(n_folds))


def _split(cv: Any, plan: FitPlan, classifier: bool, groups: Any) -> Folds:
    """Return the folds of a scikit-learn splitter, or given folds."""
    X, y, rows = plan.data.X, plan.coding.invert(plan.data.target), np.arange(len(plan.data.X))
    splits = check_cv(cv, y, classifier=classifier).split(X.matrix(), y, groups)
    folds = Folds((rows[np.asarray(train)], rows[np.asarray(test)]) for train, test in splits)
    if not folds:
        raise ValueError("cv must have at least one fold; it is empty.")
    return folds
