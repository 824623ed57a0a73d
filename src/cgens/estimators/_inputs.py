"""Refuse columns that are not numbers, by name and value."""

from __future__ import annotations

from typing import Any

import numpy as np


def numeric_input(X: Any) -> Any:
    """Return `X` as it is, or raise a sentence that names the first column that is not numeric."""
    if hasattr(X, "dtypes") and hasattr(X, "columns"):
        for name in X.columns:
            _check_column(f"Column {name!r}", np.asarray(X[name]))
    elif isinstance(X, np.ndarray) and X.dtype.kind in "OSUMm" and X.ndim == 2:
        for j in range(X.shape[1]):
            _check_column(f"Column {j}", X[:, j])
    return X


def _check_column(where: str, values: Any) -> None:
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
