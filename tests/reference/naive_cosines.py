"""Encoded rows by NumPy's own functions, and phases summed number by number."""

from __future__ import annotations

import numpy as np

from cgens.table.encoding import Encoding
from cgens.table.scaling import bend


def naive_encoding(encoding: Encoding, X: np.ndarray) -> np.ndarray:
    """Return the inputs of each row, shape (n, n_inputs), column by column."""
    scaling, columns = encoding.scaling, []
    for k, column in enumerate(encoding.numbers.tolist()):
        values = X[:, column].astype(np.float64)
        values = np.where(np.isnan(values), encoding.fill[k], values)
        if len(scaling.knots):
            own = slice(scaling.knot_begin[k], scaling.knot_begin[k + 1])
            values = np.interp(values, scaling.knots[own], scaling.ranks[own])
        else:
            values = (values - scaling.centre[k]) / scaling.scale[k]
            values = bend(values) if scaling.bent else values
        columns.append((values - scaling.last_centre[k]) / scaling.last_scale[k])
    columns += [np.isnan(X[:, column]) for column in encoding.gaps.tolist()]
    for j, (column, code) in enumerate(zip(encoding.level_columns, encoding.level_codes, strict=True)):
        rare = encoding.rare[encoding.rare_begin[j] : encoding.rare_begin[j + 1]]
        columns.append(X[:, column] == code if code >= 0 else np.isin(X[:, column], rare))
    return np.column_stack([np.zeros((len(X), 0)), *columns]).astype(np.float64)


def naive_phases(Z: np.ndarray, thetas: np.ndarray, kappas: np.ndarray) -> np.ndarray:
    """Return theta.z - kappa, shape (n, J)."""
    phases = np.tile(-kappas, (len(Z), 1))
    for z, theta in zip(Z.T, thetas.T, strict=True):
        phases += np.multiply.outer(z, theta)
    return phases
