"""Exact leave-one-out errors of ridge regression over a whole pool."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from cgens.selection.copies import copies_of
from cgens.selection.normal_equations import Columns
from cgens.selection.ridge_path import RidgePath
from cgens.types import AnyArray, Floats

#: Penalties for columns of variance 1: on the shared sets, the best ones were among these.
PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 3e4)


@dataclass(frozen=True)
class LeaveOneOut:
    """Leave-one-out errors for each penalty.

    Attributes
    ----------
    penalties : ndarray of shape (n_penalties,)
        Ascending; a penalty is 1 / C.
    errors : ndarray of shape (n_penalties,)
        Mean squared leave-one-out errors, summed over the outputs and weighted by the rows.
    penalty, error : float
        The least error, and its penalty: the largest of several.
    path : RidgePath
        Solutions for any penalty.
    all_decisions : list of ndarray of shape (m, l)
        Leave-one-out decisions F(x_i) for each penalty.
    """

    penalties: Floats
    errors: Floats
    penalty: float
    error: float
    path: RidgePath
    all_decisions: list[Floats]

    @property
    def decisions(self) -> Floats:
        """Leave-one-out decisions for the best penalty."""
        best: int = self.penalties.tolist().index(self.penalty)
        return self.all_decisions[best]


def loo(
    columns: Columns,
    target: AnyArray,
    sample_weight: AnyArray | None = None,
    penalties: Iterable[float] = PENALTIES,
    counted: AnyArray | None = None,
    n_threads: int = 1,
    dtype: type[np.floating] = np.float64,
    copies: AnyArray | None = None,
) -> LeaveOneOut:
    """Return the exact leave-one-out errors of ridge regression over given columns, for all penalties at once.

    The errors are honest if the columns do not depend on the target: they must be a whole pool that was drawn without
    labels, not a selection. Weights that are multiples of a unit mean copies, one of which is left out; otherwise each
    row is left out as a whole.

    Parameters
    ----------
    columns : array-like of shape (m, n)
        Responses of weak learners. The default penalties suit columns of about variance 1.
    target : array-like of shape (m, l)
    sample_weight : array-like of shape (m,), optional
        Positive.
    penalties : iterable of float
        Values of lambda in sum_i s_i |L_i - W'h_i - b|^2 + lambda |W|^2; elsewhere in `cgens`, C = 1 / lambda.
    counted : ndarray of shape (m,), optional
        Share of each row's weight that counts in the errors; all of it, if this is not given.
    n_threads : int, default=1
    dtype : type, default=float64
        Precision of products over the rows (see `RidgePath`).
    copies : ndarray of shape (m,), optional
        Number of copies that each row stands for, one of which is left out. By default that follows from the weights,
        which is wrong if they include class weights.

    Returns
    -------
    LeaveOneOut

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> columns = rng.choice([-1.0, 1.0], size=(50, 20))
    >>> target = columns[:, :1] + rng.normal(size=(50, 1))
    >>> found = loo(columns, target)
    >>> found.penalty, bool(found.error == found.errors.min())
    (30.0, True)
    """
    tried = np.unique(np.asarray(list(penalties), dtype=np.float64))
    if not len(tried):
        raise ValueError("penalties must have at least one value; it is empty.")
    target = np.asarray(target, dtype=np.float64)
    path = RidgePath(columns, target, sample_weight, n_threads, dtype)
    weight = path.weight if counted is None else path.weight * counted
    if not weight.any():
        raise ValueError("counted must not be 0 for all rows.")
    copies = copies_of(path.weight) if copies is None else np.asarray(copies)
    residuals = path.left_out_residuals(tried.tolist(), path.weight / copies)
    errors = np.array([mean_square(own, weight) for own in residuals])
    best = len(tried) - 1 - int(np.argmin(errors[::-1]))
    decisions = [target - own for own in residuals]
    return LeaveOneOut(tried, errors, float(tried[best]), float(errors[best]), path, decisions)


def mean_square(residuals: Floats, weight: Floats) -> float:
    """Return the weighted mean over the rows of the squared residuals, summed over the outputs."""
    return float(np.sum(weight * np.sum(residuals**2, axis=1)) / np.sum(weight))
