"""The arguments of the loop, validated."""

from __future__ import annotations

import numpy as np

from cgens.table import Table
from cgens.types import AnyArray, Floats, Integers, Sample

#: A target with more distinct rows than this is not a target of classes.
MAX_CLASS_CODES = 1000


def as_sample(
    X: AnyArray | Table, target: Floats, sample_weight: Floats | None, rows: Integers | None, tol: float
) -> tuple[Sample, Floats]:
    """Validate the arguments of `generate_columns`, and return the sample and a target of shape (m, l)."""
    if not isinstance(X, Table):
        X = np.require(X, dtype=None if getattr(X, "dtype", None) == np.float32 else np.float64, requirements="A")
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions; got {X.ndim}.")
        X = Table.of(X)
    target = np.ascontiguousarray(target, dtype=np.float64)
    target = target if target.ndim == 2 else target[:, None]
    rows = np.ascontiguousarray(np.arange(len(X)) if rows is None else rows, dtype=np.int64)
    if len(rows) and not 0 <= rows.min() <= rows.max() < len(X):
        raise ValueError(f"rows must be indices of the {len(X)} rows of X; got {rows.min()} to {rows.max()}.")
    n_rows = len(rows)
    weight = np.ones(n_rows) if sample_weight is None else np.ascontiguousarray(sample_weight, dtype=np.float64)
    if n_rows == 0:
        raise ValueError("There are no rows to fit.")
    for name, values in (("target", target), ("sample_weight", weight)):
        if len(values) != n_rows:
            raise ValueError(f"{name} has {len(values)} rows, but {n_rows} rows are to be fitted.")
        finite = np.isfinite(values).reshape(n_rows, -1).all(axis=1)
        if not finite.all():
            raise ValueError(f"{name} is NaN or infinite at row {int(np.argmin(finite))}.")
    if not weight.min() > 0:
        raise ValueError(f"sample_weight must be > 0; row {int(np.argmin(weight))} has {weight.min()}: leave it out.")
    if not tol > 0:
        raise ValueError(f"tol must be > 0; got {tol}.")
    return Sample(X, rows, weight), target


def class_codes_of(target: Floats) -> Floats | None:
    """Return the distinct rows of the target, shape (k, l), or None if there are too many to be class codes."""
    distinct = np.unique(target, axis=0)
    return distinct if len(distinct) <= MAX_CLASS_CODES else None
