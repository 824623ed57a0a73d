"""The columns of a whole pool, for choices that are made before columns are selected."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from cgens.types import AnyArray, Floats, Integers


class PoolColumns(NamedTuple):
    """Columns that stand for a whole pool.

    Attributes
    ----------
    columns : ndarray of shape (m, k)
        Responses on the training rows. Of a pool of n > k candidates, those at equal distances are multiplied by
        sqrt(n / k): the sum of their products h(x) h(x'), the kernel, is then about that of the pool.
    n_candidates : int
        Size of the pool.
    """

    columns: Floats
    n_candidates: int


@runtime_checkable
class PooledPricer(Protocol):
    """A search in a finite pool that does not depend on the target."""

    def pool_columns(self, most: int) -> PoolColumns | None:
        """Return at most so many columns, or None as `columns_of_pool` does."""


def columns_of_pool(pricer: Any, most: int) -> PoolColumns | None:
    """Return at most so many columns that stand for the pool of a search; None if it has none without the target."""
    return pricer.pool_columns(most) if isinstance(pricer, PooledPricer) else None


def evenly(n: int, most: int) -> Integers:
    """Return at most so many numbers below n, at equal distances.

    Examples
    --------
    >>> evenly(3, 5), evenly(10, 4)
    (array([0, 1, 2]), array([1, 3, 6, 8]))
    """
    if n <= most:
        return np.arange(n)
    return ((np.arange(most) + 0.5) * n / most).astype(np.int64)


def standing_for(responses: AnyArray, n: int) -> PoolColumns:
    """Return responses of shape (k, m) as columns that stand for n candidates."""
    columns = np.ascontiguousarray(responses.T, dtype=np.float64)
    return PoolColumns(columns * np.sqrt(n / max(1, len(responses))), n)
