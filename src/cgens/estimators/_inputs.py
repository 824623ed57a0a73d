"""Validate X and y as scikit-learn does, and say in one sentence where X cannot be fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, column_or_1d, validate_data

from cgens.types import AnyArray, Floats

_FILL = "fill missing values first, for instance with sklearn.impute.SimpleImputer."


def validated(estimator: Any, X: Any, *y: Any, reset: bool, **y_options: Any) -> Any:
    """Return X, or X and y, as arrays: X finite, float32 or float64, aligned, in any memory order."""
    refuse_series(X)
    refuse_dates(X)
    options = {"dtype": [np.float64, np.float32], "ensure_all_finite": False, "reset": reset, **y_options}
    try:
        checked = validate_data(estimator, X, *y, **options)
    except (TypeError, ValueError):
        explain_text(X)
        raise
    if not y:
        return finite_input(checked)
    return finite_input(checked[0]), checked[1]


def validated_labels(estimator: Any, X: Any, y: Any, *, reset: bool) -> tuple[AnyArray, AnyArray, bool]:
    """Return X, y, and whether y is an indicator of several labels, (n, n_labels), rather than of classes, (n,)."""
    refuse_missing_labels(y)
    X, y = validated(estimator, X, y, reset=reset, multi_output=True)
    y = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    kind = type_of_target(y, input_name="y")
    if kind == "multiclass-multioutput":
        raise ValueError(
            f"y has {y.shape[1]} columns with more than two values in one of them: several labels a row must be an "
            "indicator of 0 and 1; for several targets use sklearn.multioutput.MultiOutputClassifier."
        )
    if kind == "multilabel-indicator":
        odd = y[(y != 0) & (y != 1)]
        if len(odd):
            raise ValueError(f"Several labels a row must be an indicator of 0 and 1; y has the value {odd[0]}.")
        return X, y, True
    check_classification_targets(y)
    return X, column_or_1d(y, warn=True), False


def validated_classes(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[AnyArray, AnyArray, Floats]:
    """Return the rows of positive weight, y of shape (n,), and the weights, for an estimator of one label a row."""
    X, y, several = validated_labels(estimator, X, y, reset=True)
    if several:
        raise ValueError(f"{type(estimator).__name__} takes one label a row; y has {y.shape[1]} columns.")
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    kept = weight > 0
    if len(np.unique(y[kept])) < 2:
        raise ValueError(
            f"Two classes with rows of positive weight are needed; y has 1 class or none, {np.unique(y[kept])}."
        )
    return (X, y, weight) if kept.all() else (X[kept], y[kept], weight[kept])


def validated_numbers(estimator: Any, X: Any, y: Any, *, reset: bool) -> tuple[AnyArray, Floats]:
    """Return X, and y as float64 of shape (n,) or (n, n_outputs)."""
    if y is None:
        raise ValueError("This regressor requires y to be passed, but the target y is None.")
    if hasattr(y, "toarray"):
        raise TypeError("y is sparse: regression needs a dense array, for instance y.toarray().")
    values = np.asarray(y)
    if values.dtype.kind in "mM":
        raise TypeError("y is of dates or durations: turn them into numbers first, as days.")
    if values.dtype.kind in "OSU" and values.size:
        try:
            values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"y must be numbers for regression: {error}; for labels use CGEnsClassifier.") from None
    X, numbers = validated(estimator, X, y, reset=reset, multi_output=True, y_numeric=True)
    return X, np.asarray(numbers, dtype=np.float64)


def finite_input(X: AnyArray) -> AnyArray:
    """Return `X`, aligned in memory, or raise a sentence that says where it has NaN or infinity."""
    X = np.require(X, requirements="A")
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.sum(X)):  # one pass without a temporary, and almost always the answer
            return X
    bad = ~np.isfinite(X)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        value = "NaN" if np.isnan(X[row, column]) else "infinity (inf)"
        raise ValueError(f"Input X contains {value} at row {row}, column {column}: numbers must be finite; {_FILL}")
    return X


def refuse_series(X: Any) -> None:
    """Raise ValueError where `X` is a pandas Series, which is neither a row nor a table."""
    if hasattr(X, "iloc") and not hasattr(X, "columns"):
        raise ValueError(
            f"X is a one-dimensional {type(X).__name__} of {len(X)} values; a table is needed. For one row pass "
            "frame.iloc[[i]] or series.to_frame().T, for one feature series.to_frame()."
        )


def refuse_missing_labels(y: Any) -> None:
    """Raise ValueError where `y` has None, NaN, NaT or pandas.NA among labels that are no numbers."""
    if y is None or hasattr(y, "toarray"):
        return  # validated elsewhere
    labels = np.asarray(y)
    if labels.dtype != object:
        return
    for number, label in enumerate(labels.ravel()):
        if label is None or type(label).__name__ in ("NAType", "NaTType") or label != label:
            row = number // max(1, labels.size // len(labels))
            raise ValueError(f"y has a missing label ({label}) at row {row}: leave such rows out.")


def refuse_dates(X: Any) -> None:
    """Raise a sentence where `X` has dates or durations: NumPy would turn them into nanoseconds without a word."""
    kinds = [dtype.kind for dtype in X.dtypes] if hasattr(X, "iloc") else [getattr(X, "dtype", np.dtype(float)).kind]
    for j, kind in enumerate(kinds):
        if kind in "Mm":
            name = repr(X.columns[j]) if hasattr(X, "iloc") else j
            raise TypeError(f"Column {name} of X is not numeric: turn dates or durations into numbers first, as days.")


def explain_text(X: Any) -> None:
    """Raise a sentence that names the first column of `X` that is not numeric, if there is one."""
    names = [repr(name) for name in X.columns] if hasattr(X, "iloc") else None
    table = np.asarray(X, dtype=object)
    if table.ndim != 2 or getattr(X, "dtype", table.dtype).kind not in "OSU":
        return  # scikit-learn's own sentence says it best
    for j, column in enumerate(table.T):
        where = f"Column {names[j] if names else j}"
        for value in column:
            if value is None:
                raise ValueError(f"{where} of X has a missing value (None, like NaN): {_FILL}")
            try:
                float(value)
            except ValueError:
                raise ValueError(
                    f"{where} of X is not numeric: could not convert {value!r} to a number; encode it first, for "
                    "instance with sklearn.preprocessing.OrdinalEncoder or OneHotEncoder."
                ) from None
            except TypeError as error:
                raise TypeError(f"{where} of X is not numeric: {error}.") from None
