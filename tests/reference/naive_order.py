"""Identical rows merged by a dictionary."""

from __future__ import annotations

import numpy as np


def contents(X: np.ndarray, target: np.ndarray) -> list[tuple]:
    """Return each row's (x, target), with None for gaps: equal if the rows are."""
    rows = np.column_stack([X, target]).tolist()
    return [tuple(None if value != value else value for value in row) for row in rows]


def merged_rows(X: np.ndarray, target: np.ndarray, weight: np.ndarray) -> dict[tuple, float]:
    """Return the total weight of each distinct (x, target) with positive weight; 0 equals -0, and a gap another."""
    weights: dict[tuple, list[float]] = {}
    for content, own in zip(contents(X, target), weight.tolist(), strict=True):
        if own != 0:
            weights.setdefault(content, []).append(own)
    return {content: sum(sorted(parts)) for content, parts in weights.items()}
