"""Thresholds between neighbouring values of a feature."""

from __future__ import annotations

import numpy as np

from cgens.types import Floats


def midpoints(low: Floats, high: Floats) -> Floats:
    """Return thresholds t with low <= t < high: midpoints, or `low` if the midpoint is rounded to `high`.

    The core does the same (`native/bin_features.cpp`).
    """
    middle = 0.5 * low + 0.5 * high
    return np.where((middle >= low) & (middle < high), middle, low)
