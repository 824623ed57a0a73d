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


def standardizer(values: list[float]) -> Callable[[float], float]:
    """Return what subtracts the mean and divides by the standard deviation, if that is not 0."""
    mean = math.fsum(values) / len(values) if values else 0.0
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values)) if values else 0.0
    return lambda value: (value - mean) / (deviation if deviation > 1e-12 * abs(mean) else 1.0)


def bend(z: float) -> float:
    return z / math.sqrt(1 + (z / 3) ** 2)


def mid_rank(known: list[float]) -> Callable[[float], float]:
    """Return the mid-rank of a value as a share, interpolated between the values of the column."""
    ordered = sorted(set(known))
    ranks = [(sum(v < value for v in known) + 0.5 * sum(v == value for v in known)) / len(known) for value in ordered]

    def rank(value: float) -> float:
        if not known:
            return 0.5
        if value <= ordered[0] or value >= ordered[-1]:
            return ranks[0] if value <= ordered[0] else ranks[-1]
        above = next(k for k, v in enumerate(ordered) if v > value)
        share = (value - ordered[above - 1]) / (ordered[above] - ordered[above - 1])
        return ranks[above - 1] + share * (ranks[above] - ranks[above - 1])

    return rank


def scale_number(known: list[float], median: float, scaling: str, common: float) -> Callable[[float], float]:
    """Return the scaling of one value by "none", "robust", "zc", "common" or "rank"."""
    if scaling == "none":
        return lambda value: value
    if scaling == "robust":
        width = quantile(known, 0.75) - quantile(known, 0.25) if known else 0.0
        extent = max(known) - min(known) if known else 0.0
        scale = next(size for size in (width, extent, 1.0) if size > 0)
        return lambda value: bend((value - median) / scale)
    if scaling == "zc":
        first = standardizer(known)
        last = standardizer([bend(first(value)) for value in known])
        return lambda value: last(bend(first(value)))
    if scaling == "common":
        mean = math.fsum(known) / len(known) if known else 0.0
        return lambda value: bend((value - mean) / common)
    rank = mid_rank(known)
    standardized = standardizer([rank(value) for value in known])
    return lambda value: standardized(rank(value))


def common_scale(columns: list[list[float]]) -> float:
    """Return the root mean square of the standard deviations of columns with gaps."""
    squares = []
    for column in columns:
        known = [value for value in column if not math.isnan(value)]
        mean = math.fsum(known) / len(known) if known else 0.0
        squares.append(math.fsum((value - mean) ** 2 for value in known) / max(len(known), 1))
    return math.sqrt(math.fsum(squares) / len(squares)) or 1.0


def encode_number(column: list[float], scaling: str, common: float) -> Callable[[float], list[float]]:
    """Return the encoding of one value: the number, and whether it is a gap if the column has any."""
    known = [value for value in column if not math.isnan(value)]
    median = quantile(known, 0.5) if known else 0.0
    scale = scale_number(known, median, scaling, common)

    def encode(value: float) -> list[float]:
        gap = math.isnan(value)
        number = scale(median if gap else value)
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
    rows: list[list[float]], weight: list[int], is_category: list[bool], scaling: str, later: list[list[float]]
) -> list[list[float]]:
    """Return `later` rows by the encoding of rows with integer weights: numbers, then gaps, then levels."""
    copies = [row for row, count in zip(rows, weight, strict=True) for _ in range(count)]
    columns = list(map(list, zip(*copies, strict=True)))
    common = common_scale([column for column, own in zip(columns, is_category, strict=True) if not own])
    encoders = [
        encode_category(column) if own else encode_number(column, scaling, common)
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
