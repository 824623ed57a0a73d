"""The encoding of tables for functions of numbers, value by value from copies of the rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable


def quantile(values: list[float], share: float) -> float:
    """Return the middle of the k-th and the next value if the share is k values, else the value that it ends in."""
    ordered, place = sorted(values), share * len(values)
    if place == int(place) and 0 < place < len(values):
        return 0.5 * ordered[int(place) - 1] + 0.5 * ordered[int(place)]
    return ordered[min(int(place), len(values) - 1)]


def encode_number(column: list[float], robust: bool) -> Callable[[float], list[float]]:
    """Return the encoding of one value: the number, and whether it is a gap if the column has any."""
    known = [value for value in column if not math.isnan(value)]
    median = quantile(known, 0.5) if known else 0.0
    centre, scale = 0.0, 1.0
    if robust:
        width = quantile(known, 0.75) - quantile(known, 0.25) if known else 0.0
        extent = max(known) - min(known) if known else 0.0
        centre, scale = median, next(size for size in (width, extent, 1.0) if size > 0)

    def encode(value: float) -> list[float]:
        gap = math.isnan(value)
        z = ((median if gap else value) - centre) / scale
        number = z / math.sqrt(1 + (z / 3) ** 2) if robust else z
        return [number, float(gap)] if len(known) < len(column) else [number]

    return encode


def encode_category(column: list[float]) -> Callable[[float], list[float]]:
    """Return the encoding of one code: one input for each frequent level, and one for all rare ones."""
    counts = Counter(value for value in column if not math.isnan(value))
    ranked = sorted(counts, key=lambda level: (-counts[level], level))
    frequent = sorted(level for level in ranked[:30] if counts[level] >= 5)
    rare = set(counts) - set(frequent)
    return lambda value: [float(value == level) for level in frequent] + [float(value in rare)] * bool(rare)


def encode_rows(
    rows: list[list[float]], weight: list[int], is_category: list[bool], robust: bool, later: list[list[float]]
) -> list[list[float]]:
    """Return `later` rows by the encoding of rows with integer weights: numbers, then gaps, then levels."""
    copies = [row for row, count in zip(rows, weight, strict=True) for _ in range(count)]
    columns = list(map(list, zip(*copies, strict=True)))
    encoders = [
        encode_category(column) if own else encode_number(column, robust)
        for column, own in zip(columns, is_category, strict=True)
    ]
    encoded = []
    for row in later:
        parts = [encoder(value) for encoder, value in zip(encoders, row, strict=True)]
        numbers = [part for part, own in zip(parts, is_category, strict=True) if not own]
        levels = [part for part, own in zip(parts, is_category, strict=True) if own]
        gaps = [gap for part in numbers for gap in part[1:]]
        encoded.append([*(part[0] for part in numbers), *gaps, *(own for part in levels for own in part)])
    return encoded
