"""Read X and y as scikit-learn does, X as a table, with error messages that name the row or column at fault."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from narwhals.exceptions import DuplicateError
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (
    _check_sample_weight,
    _check_y,
    check_array,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from cgens.table import Table
from cgens.table.frames import as_frame, is_gap
from cgens.table.schema import Schema, names_of
from cgens.types import AnyArray, Floats


def validated(estimator: Any, X: Any, *y: Any, reset: bool, **y_options: Any) -> Any:
    """Return X as a table, or that and y as an array.

    If `reset`, the names and levels of the columns are learned and stored in ``estimator.schema_``; else X is read by
    them.
    """
    reject_series(X)
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan) if np.ma.is_masked(X) else X.data
    try:
        is_frame = as_frame(X) is not X
    except DuplicateError:
        names_of(X)  # raises an error with the name
        raise
    read = read_mixed if is_frame or has_objects(X) else read_matrix
    table = read(estimator, X, reset)
    check_finite(table)
    if not y:
        return table
    if y[0] is None:
        validate_data(estimator, table.values, None, reset=False, skip_check_array=True)  # raises if y is required
    checked = _check_y(y[0], estimator=estimator, **y_options)
    check_consistent_length(table, checked)
    return table, checked


def read_matrix(estimator: Any, X: Any, reset: bool, frame: Any = None) -> Table:
    """Return an array of numbers, dense or sparse, as float32 or float64, without a copy if possible.

    `frame` is where a sparse array is from, if it has names.
    """
    reject_dates(X)
    options = {"dtype": [np.float64, np.float32], "ensure_all_finite": False, "accept_sparse": ["csr", "csc"]}
    if frame is None:
        checked = validate_data(estimator, X, reset=reset, **options)
    else:
        validate_data(estimator, frame, reset=reset, skip_check_array=True)
        checked = check_array(X, estimator=estimator, input_name="X", **options)
    if scipy.sparse.issparse(checked):
        checked = as_canonical(checked)
    declared = getattr(estimator, "categorical_features", None)
    if declared is not None and scipy.sparse.issparse(checked):
        raise ValueError("X is sparse: categorical_features needs a data frame or a dense array.")
    if reset:
        if declared is not None:
            estimator.schema_, table = Schema.learn(checked, declared)
            return table
        estimator.schema_ = Schema.of_numbers(checked, names_of(frame))
    if not isinstance(checked, np.ndarray):
        if estimator.schema_.has_categories:
            raise ValueError(
                "X is sparse, but the model was fitted with categories: pass a data frame or a dense array."
            )
        return Table(checked, estimator.schema_.is_category, estimator.schema_.names)
    checked = np.require(checked, requirements="A")
    if not estimator.schema_.has_categories:
        return Table(checked, estimator.schema_.is_category, estimator.schema_.names)
    return estimator.schema_.read(checked)  # type: ignore[no-any-return]


def as_canonical(X: Any) -> Any:
    """Return a sparse matrix as a sparse array with sorted indices of 32 bits and each entry once."""
    X = scipy.sparse.csr_array(X) if X.format == "csr" else scipy.sparse.csc_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype != np.int32 and max(X.shape) <= np.iinfo(np.int32).max:
        X = type(X)((X.data, X.indices.astype(np.int32), X.indptr), shape=X.shape)
    return X


def read_mixed(estimator: Any, X: Any, reset: bool) -> Table:
    """Return a data frame, or an array of objects, as a table."""
    if has_sparse_columns(X):
        X = X if reset else estimator.schema_.arrange(X)
        return read_matrix(estimator, scipy.sparse.csr_array(X.sparse.to_coo()), reset, X)
    if not isinstance(X, np.ndarray) and as_frame(X) is X:
        X = np.array(X, dtype=object)
    if not all(X.shape):
        what = "rows" if X.shape[1] else "columns"
        raise ValueError(f"X has no {what}; its shape is {tuple(X.shape)}, and at least one of each is required.")
    if reset:
        schema, table = Schema.learn(X, getattr(estimator, "categorical_features", None))
        validate_data(estimator, X, reset=True, skip_check_array=True)
        estimator.schema_ = schema
        return table
    X = estimator.schema_.arrange(X)
    validate_data(estimator, X, reset=False, skip_check_array=True)
    return estimator.schema_.read(X)  # type: ignore[no-any-return]


def has_objects(X: Any) -> bool:
    """Return whether X is an array, or a list of rows, with strings or other objects."""
    if isinstance(X, list | tuple):
        try:
            return np.asarray(X).dtype.kind in "OUS" and np.ndim(np.array(X, dtype=object)) == 2
        except ValueError:  # rows of different lengths
            return False
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUS"


def validated_labels(estimator: Any, X: Any, y: Any, *, reset: bool) -> tuple[Table, AnyArray, bool]:
    """Return X, y, and whether y is a multilabel indicator matrix, (n, n_labels), rather than classes, (n,)."""
    reject_missing_labels(y)
    X, y = validated(estimator, X, y, reset=reset, multi_output=True)
    y = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    kind = type_of_target(y, input_name="y")
    if kind == "multiclass-multioutput":
        raise ValueError(
            f"y has {y.shape[1]} columns with more than two values in one of them: multilabel y must be an indicator "
            "matrix of 0 and 1; for several targets use sklearn.multioutput.MultiOutputClassifier."
        )
    if kind == "multilabel-indicator":
        odd = y[(y != 0) & (y != 1)]
        if len(odd):
            raise ValueError(f"Multilabel y must be an indicator matrix of 0 and 1; y has the value {odd[0]}.")
        return X, y, True
    check_classification_targets(y)
    return X, column_or_1d(y, warn=True), False


def row_weights(sample_weight: Any, X: Table) -> Floats:
    """Return the weight of each row, shape (n,): finite and >= 0; without weights an array that takes no memory."""
    if sample_weight is None:
        return np.broadcast_to(1.0, len(X))
    checked = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return np.asarray(checked, dtype=np.float64)


def validated_classes(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Table, AnyArray, Floats]:
    """Return X, y of shape (n,) and the weights for the rows of positive weight, for one label per row."""
    X, y, multilabel = validated_labels(estimator, X, y, reset=True)
    if multilabel:
        raise ValueError(f"{type(estimator).__name__} takes one label per row; y has {y.shape[1]} columns.")
    weight = np.ascontiguousarray(row_weights(sample_weight, X))
    kept = weight > 0
    if len(np.unique(y[kept])) < 2:
        raise ValueError(
            "At least two classes with rows of positive weight are needed; y has 1 class or none: "
            f"{np.unique(y[kept])}."
        )
    return (X, y, weight) if kept.all() else (X.take(kept), y[kept], weight[kept])


def validated_targets(estimator: Any, X: Any, y: Any, *, reset: bool) -> tuple[Table, Floats]:
    """Return X, and regression targets y as float64 of shape (n,) or (n, n_outputs)."""
    if y is None:
        raise ValueError("This regressor requires y to be passed, but the target y is None.")
    if hasattr(y, "toarray"):
        raise TypeError("y is sparse: regression needs a dense array, for example y.toarray().")
    values = np.asarray(y)
    if values.dtype.kind in "mM":
        raise TypeError("y has dates or durations: convert them to numbers first, for example to days.")
    if values.dtype.kind in "OSU" and values.size:
        try:
            values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"y must contain numbers for regression: {error}; for labels use CGEnsClassifier."
            ) from None
    X, targets = validated(estimator, X, y, reset=reset, multi_output=True, y_numeric=True)
    return X, np.asarray(targets, dtype=np.float64)


def check_finite(table: Table) -> None:
    """Raise ValueError with the position if a table has infinity; a missing value is none."""
    if table.sums_to_finite:
        return
    values = table.rows_first().data if table.is_sparse else table.values
    if not np.isinf(values).any():
        return
    at = int(np.argmax(np.isinf(values)))
    if table.is_sparse:
        rows = table.rows_first()
        row, column = int(np.searchsorted(rows.indptr, at, side="right")) - 1, int(rows.indices[at])
    else:
        row, column = divmod(at, values.shape[1])
    sign = "-" if values.ravel()[at] < 0 else ""
    raise ValueError(
        f"Input X contains infinity ({sign}inf) at row {row}, column {table.label(column)}: values must be finite or "
        "missing; replace or remove it."
    )


def reject_series(X: Any) -> None:
    """Raise ValueError if `X` is a pandas Series, which may mean one row or one feature."""
    if hasattr(X, "iloc") and not hasattr(X, "columns"):
        raise ValueError(
            f"X is a one-dimensional {type(X).__name__} of {len(X)} values; it must be two-dimensional. For one row "
            "pass frame.iloc[[i]] or series.to_frame().T, for one feature series.to_frame()."
        )


def reject_missing_labels(y: Any) -> None:
    """Raise ValueError if `y` is an object array with None, NaN, NaT or pandas.NA."""
    if y is None or hasattr(y, "toarray"):
        return  # validated elsewhere
    labels = np.asarray(y)
    if labels.dtype != object:
        return
    for position, label in enumerate(labels.ravel()):
        if is_gap(label) or label != label:
            row = position // max(1, labels.size // len(labels))
            raise ValueError(f"y has a missing label ({label}) at row {row}: remove such rows.")


def reject_dates(X: Any) -> None:
    """Raise TypeError if an array has dates or durations, which NumPy would silently convert to nanoseconds."""
    if getattr(getattr(X, "dtype", None), "kind", "?") in "Mm":
        raise TypeError("Column 0 of X has dates or durations: convert them to numbers, for example to days.")


def has_sparse_columns(X: Any) -> bool:
    """Return whether X is a pandas frame all of whose columns are sparse, with zeros that are not stored."""
    dtypes = list(getattr(X, "dtypes", ())) if hasattr(X, "iloc") else []
    return bool(dtypes) and all(type(own).__name__ == "SparseDtype" and own.fill_value == 0 for own in dtypes)
