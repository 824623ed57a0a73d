"""Quantiles and robust standard deviations of regression targets; a weight of k counts as k rows."""

from __future__ import annotations

import numpy as np

from cgens.types import Floats

#: Shares p, and the distance of the p- and (1 - p)-quantiles of a normal distribution in standard deviations. A range
#: of 0 is replaced by the next one, up to the range of all values.
_RANGES = ((0.25, 1.349), (0.1, 2.563), (0.05, 3.290), (0.01, 4.653), (0.0, 6.0))


def weighted_quantile(values: Floats, weight: Floats, share: float) -> float:
    """Return the smallest of the values up to which there is at least this share of the total weight."""
    order = np.argsort(values, kind="stable")
    filled = np.cumsum(weight[order])
    # Copies of a row must be equal to one row of their total weight: sums are compared except for their rounding.
    return float(values[order[np.searchsorted(filled, (share - 1e-9) * filled[-1])]])


def spread_of(target: Floats, weight: Floats) -> Floats:
    """Return a robust standard deviation of each output, shape (l,): interquartile range / 1.349; 1 for a constant."""
    kept = weight > 0
    return np.array([_spread(values[kept], weight[kept]) for values in target.T])


def _spread(values: Floats, weight: Floats) -> float:
    for share, deviations in _RANGES:
        spread = weighted_quantile(values, weight, 1.0 - share) - weighted_quantile(values, weight, share)
        if spread > 0:
            return spread / deviations
    return 1.0
