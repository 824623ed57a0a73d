"""The units of regression targets and of labels."""

from __future__ import annotations

import numpy as np

from cgens.types import Floats


def deviations_of(target: Floats, weight: Floats) -> Floats:
    """Return the standard deviation of each output, 1 for a constant one, shape (l,).

    Examples
    --------
    >>> deviations_of(np.array([[1e-200, 7.0], [3e-200, 7.0]]), np.ones(2))
    array([1.e-200, 1.e+000])
    """
    share = weight / weight.sum()
    centred = target - share @ target
    largest = np.abs(centred).max(axis=0)
    largest[largest == 0] = 1.0
    deviation = largest * np.sqrt(share @ (centred / largest) ** 2)  # squares neither overflow nor vanish
    return np.where(deviation > 0, deviation, 1.0)
