"""Refuse inputs that cannot be fitted: one sentence that names the column, the row and the value."""

from __future__ import annotations

from typing import Any

import numpy as np

from cgens.types import AnyArray


def numeric_input(X: Any) -> Any:
    """Return `X` as it is, or raise a sentence that names the first column that is not numeric."""
    if hasattr(X, "dtypes") and hasattr(X, "columns"):
        for name in X.columns:
            _check_column(f"Column {name!r}", np.asarray(X[name]))
        return X
    table = np.asarray(X, dtype=object) if isinstance(X, list | tuple) and _has_text(X) else X
    if isinstance(table, np.ndarray) and table.dtype.kind in "OSUMm" and table.ndim == 2:
        for j in range(table.shape[1]):
            _check_column(f"Column {j}", table[:, j])
    return X


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
        raise ValueError(
            f"Input X contains {value} at row {row}, column {column}: CGEnsClassifier needs finite numbers; fill "
            "missing values first, for instance with sklearn.impute.SimpleImputer."
        )
    return X


def _has_text(rows: Any) -> bool:
    return any(isinstance(value, str) for row in rows if isinstance(row, list | tuple) for value in row)


def _check_column(where: str, values: AnyArray) -> None:
    if values.dtype.kind not in "OSUMm":
        return  # numbers; and on complex ones scikit-learn has its own sentence
    for value in values:
        try:
            float(value)
        except ValueError:
            raise ValueError(
                f"{where} of X is not numeric: could not convert {value!r} to a number; encode it first, for instance "
                "with sklearn.preprocessing.OrdinalEncoder or OneHotEncoder."
            ) from None
        except TypeError as error:
            raise TypeError(f"{where} of X is not numeric: {error}.") from None
