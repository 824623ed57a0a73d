"""Identical rows merged by a dictionary."""

from __future__ import annotations

import numpy as np


def merged_rows(X: np.ndarray, target: np.ndarray, weight: np.ndarray) -> dict[tuple, float]:
    """Return the total weight of each distinct (x, target) with positive weight; 0 and -0 are equal."""
    weights: dict[tuple, list[float]] = {}
    for x, t, w in zip(X.tolist(), target.tolist(), weight.tolist(), strict=True):
        if w != 0:
            weights.setdefault((*x, *t), []).append(w)
    return {content: sum(sorted(parts)) for content, parts in weights.items()}
