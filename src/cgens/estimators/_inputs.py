"""Validate X and y as scikit-learn does, with error messages that name the row or column at fault."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, column_or_1d, validate_data

from cgens.types import AnyArray, Floats

_IMPUTE = "impute missing values first, for example with sklearn.impute.SimpleImputer."


def validated(estimator: Any, X: Any, *y: Any, reset: bool, **y_options: Any) -> Any:
    """Return X, or X and y, as arrays: X finite, float32 or float64, aligned, in any memory order."""
    reject_series(X)
    reject_dates(X)
    options = {"dtype": [np.float64, np.float32], "ensure_all_finite": False, "reset": reset, **y_options}
    try:
        checked = validate_data(estimator, X, *y, **options)
    except (TypeError, ValueError):
        reject_text(X)
        raise
    if not y:
        return check_finite(checked)
    return check_finite(checked[0]), checked[1]


def validated_labels(estimator: Any, X: Any, y: Any, *, reset: bool) -> tuple[AnyArray, AnyArray, bool]:
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


def validated_classes(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[AnyArray, AnyArray, Floats]:
    """Return X, y of shape (n,) and the weights for the rows of positive weight, for one label per row."""
    X, y, multilabel = validated_labels(estimator, X, y, reset=True)
    if multilabel:
        raise ValueError(f"{type(estimator).__name__} takes one label per row; y has {y.shape[1]} columns.")
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    kept = weight > 0
    if len(np.unique(y[kept])) < 2:
        raise ValueError(
            "At least two classes with rows of positive weight are needed; y has 1 class or none: "
            f"{np.unique(y[kept])}."
        )
    return (X, y, weight) if kept.all() else (X[kept], y[kept], weight[kept])


def validated_targets(estimator: Any, X: Any, y: Any, *, reset: bool) -> tuple[AnyArray, Floats]:
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


def check_finite(X: AnyArray) -> AnyArray:
    """Return `X`, aligned in memory; raise ValueError with the position if it has NaN or infinity."""
    X = np.require(X, requirements="A")
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.add.reduce(X, axis=None)):  # one pass without a temporary, and nearly always enough
            return X
    bad = ~np.isfinite(X)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        value, advice = ("NaN", _IMPUTE) if np.isnan(X[row, column]) else ("infinity (inf)", "replace or remove it.")
        raise ValueError(f"Input X contains {value} at row {row}, column {column}: values must be finite; {advice}")
    return X


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
        if label is None or type(label).__name__ in ("NAType", "NaTType") or label != label:
            row = position // max(1, labels.size // len(labels))
            raise ValueError(f"y has a missing label ({label}) at row {row}: remove such rows.")


def reject_dates(X: Any) -> None:
    """Raise TypeError if `X` has dates or durations, which NumPy would silently convert to nanoseconds."""
    kinds = [dtype.kind for dtype in X.dtypes] if hasattr(X, "iloc") else [getattr(X, "dtype", np.dtype(float)).kind]
    for j, kind in enumerate(kinds):
        if kind in "Mm":
            name = repr(X.columns[j]) if hasattr(X, "iloc") else j
            raise TypeError(
                f"Column {name} of X is not numeric: convert dates or durations to numbers first, for example to days."
            )


def reject_text(X: Any) -> None:
    """Raise an error that names the first column of `X` that is not numeric, if any."""
    names = [repr(name) for name in X.columns] if hasattr(X, "iloc") else None
    table = np.asarray(X, dtype=object)
    if table.ndim != 2 or getattr(X, "dtype", table.dtype).kind not in "OSU":
        return  # scikit-learn's own message is clearer
    for j, column in enumerate(table.T):
        where = f"Column {names[j] if names else j}"
        for value in column:
            if value is None:
                raise ValueError(f"{where} of X has a missing value (None, like NaN): {_IMPUTE}")
            try:
                float(value)
            except ValueError:
                raise ValueError(
                    f"{where} of X is not numeric: could not convert {value!r} to a number; encode it first, for "
                    "example with sklearn.preprocessing.OrdinalEncoder or OneHotEncoder."
                ) from None
            except TypeError as error:
                raise TypeError(f"{where} of X is not numeric: {error}.") from None
