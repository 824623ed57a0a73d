"""How many copies of a row its weight stands for."""

from __future__ import annotations

import numpy as np

from cgens.types import Floats

#: Weights are multiples of a unit if they differ from whole multiples by less than this, relative to themselves.
ROUNDING = 1e-9
#: Larger multiples are no numbers of copies.
MOST_COPIES = 1e9


def copies_of(weight: Floats) -> Floats:
    """Return the number of copies of each row, if all weights are multiples of a unit; else 1 for each row.

    The unit is the greatest common divisor of whole numbers, and the least of other weights. What is left out or held
    out is one copy, so that weights mean the same as copies of rows. Weights without a unit, such as the importances of
    rows, say nothing about copies: each row is then left out as a whole.

    Parameters
    ----------
    weight : ndarray of shape (m,)
        Positive: sample weights, without class weights.

    Returns
    -------
    copies : ndarray of shape (m,)
        Whole numbers.

    Examples
    --------
    >>> copies_of(np.array([10.0, 20.0, 10.0]))
    array([1., 2., 1.])
    >>> copies_of(np.array([1.0, 2.5]))
    array([1., 1.])
    """
    unit = weight.min(initial=np.inf)
    if len(weight) and weight.max() <= MOST_COPIES and np.all(weight == np.rint(weight)):
        unit = float(np.gcd.reduce(weight.astype(np.int64)))
    multiples = weight / unit
    whole = np.rint(multiples)
    if np.all(np.abs(multiples - whole) <= ROUNDING * multiples) and whole.max(initial=1.0) <= MOST_COPIES:
        return np.asarray(whole)
    return np.ones(len(weight))
