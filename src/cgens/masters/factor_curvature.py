"""The curvature of a master whose Gram matrix is factorized: what a column outside the master would gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cgens._core import GramLs
from cgens.types import AnyArray, Floats


class FactorCurvature:
    """P, the inverse of the paper's S with the bias eliminated (P1 = 0), as a sequence of rank-one changes.

    P = S^-1 - S^-1 1 1' S^-1 / (1' S^-1 1) is never formed.

    Parameters
    ----------
    factor : GramLs
    scale : ndarray of shape (m,)
        The weights v of its rows.
    n_steps : int
        Number of columns.
    newest : ndarray of shape (m,), optional
        p of the newest column, if it is known already.
    """

    def __init__(self, factor: GramLs, scale: Floats, n_steps: int, newest: Floats | None = None) -> None:
        self._factor = factor
        self.diagonal = scale
        self.n_steps = n_steps
        self._newest = newest

    def step(self, j: int) -> tuple[Floats, Floats, float]:
        """Return p, k and 1 + h'p of the `j`-th column."""
        _, output, denominator = self._factor.step(j)
        known = self._newest if j == self.n_steps - 1 else None
        return self._factor.direction(j) if known is None else known, output, denominator

    def quadratic(self, responses: AnyArray) -> Floats:
        """Return g'Pg of the columns of `responses`, shape (m, n) to (n,)."""
        if not responses.shape[1]:  # no candidate of a family varies over the rows
            return np.zeros(0)
        dtype = responses.dtype if responses.dtype in (np.int8, np.float32) else np.float64
        columns = responses.T.astype(dtype, copy=False)
        if columns.strides[1] != columns.itemsize:
            columns = np.ascontiguousarray(columns)
        return self._factor.quadratic(columns, self.n_steps)


#: The parts of the state of a `GramLs`, in its order.
_PARTS = (
    "products",
    "with_target",
    "with_itself",
    "means",
    "factor",
    "pivots",
    "projected",
    "weights",
    "coefficients",
    "primal",
)


def save_factor(factor: GramLs) -> dict[str, AnyArray]:
    """Return the state of a factor as named arrays."""
    return {f"factor.{name}": part for name, part in zip(_PARTS, factor.get_state(), strict=True)}


def restore_factor(factor: GramLs, arrays: Mapping[str, AnyArray], columns: Sequence[AnyArray]) -> None:
    """Restore the state of a factor without columns, given its columns."""
    for column in columns:
        factor.append(np.ascontiguousarray(column))
    factor.set_state(*(arrays[f"factor.{name}"] for name in _PARTS))
