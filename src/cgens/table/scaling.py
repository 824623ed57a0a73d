"""Scales of columns of numbers, for families that depend on distances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal, Self, get_args

import numpy as np

from cgens.types import AnyArray, Floats, Integers

ScalingKind = Literal["none", "robust", "zc", "rank", "common"]
#: Scaled values beyond this are bent: z / sqrt(1 + (z / BEND)^2).
BEND = 3.0
#: What is larger becomes this before, so that its square is finite.
LARGEST = 1e150
#: A column with more distinct values has the ranks of this many quantiles; those of values between them are
#: interpolated.
MAX_KNOTS = 256


@dataclass(frozen=True, eq=False)
class Scaling:
    """How each of k columns of complete numbers is scaled.

    "none" leaves numbers as they are. "robust" bends z = (x - median) / (interquartile range). "zc" bends z =
    (x - mean) / (standard deviation), and standardizes the result; "rank" standardizes the mid-rank of x. "common"
    bends z = (x - mean) / s, with the same s for all columns, the root mean square of their standard deviations.

    Attributes
    ----------
    centre, scale : ndarray of shape (k,)
        A number x becomes z = (x - centre) / scale. Both are unused by "rank".
    bent : ndarray of shape (), bool
        Whether z is bent (see `BEND`).
    last_centre, last_scale : ndarray of shape (k,)
        What is subtracted at the end, and then divided by.
    knot_begin : ndarray of shape (k + 1,)
    knots, ranks : ndarray
        Ascending values of column j, and their mid-ranks as shares of the rows, from ``knot_begin[j]`` to
        ``knot_begin[j + 1]``; empty except for "rank".
    """

    centre: Floats
    scale: Floats
    bent: AnyArray
    last_centre: Floats
    last_scale: Floats
    knot_begin: Integers
    knots: Floats
    ranks: Floats

    @staticmethod
    def of(kind: ScalingKind, columns: list[ColumnSummary], centred: bool = True) -> Scaling:
        """Return the scaling of some columns; if not `centred`, 0 stays 0, which keeps sparse rows sparse."""
        assert kind in get_args(ScalingKind), kind
        n, zeros, ones = len(columns), np.zeros(len(columns)), np.ones(len(columns))
        centre, scale, last_centre, last_scale = zeros, ones, zeros, ones
        knots: list[Floats] = []
        ranks: list[Floats] = []
        if kind == "robust":
            centre = np.array([own.median for own in columns]) if centred else zeros
            scale = np.array([next(size for size in (own.width, own.extent, 1.0) if size > 0) for own in columns])
        elif kind == "zc":
            measured = np.array([mean_and_deviation(own.values, own.weight) for own in columns]).reshape(n, 2)
            centre, scale = measured[:, 0] if centred else zeros, measured[:, 1]
            bent = [bend((own.values - a) / b) for own, a, b in zip(columns, centre, scale, strict=True)]
            again = [mean_and_deviation(values, own.weight) for values, own in zip(bent, columns, strict=True)]
            last = np.array(again).reshape(n, 2)
            last_centre, last_scale = last[:, 0] if centred else zeros, last[:, 1]
        elif kind == "common":
            measured = np.array([mean_and_deviation(own.values, own.weight, 0.0) for own in columns]).reshape(n, 2)
            centre, unit = measured[:, 0] if centred else zeros, float(measured[:, 1].max(initial=0.0)) or 1.0
            scale = np.full(n, unit * float(np.sqrt(np.mean((measured[:, 1] / unit) ** 2))) if n else 1.0)
            scale[scale == 0] = 1.0
        elif kind == "rank":
            again = []
            for own in columns:
                own_knots, own_ranks = mid_ranks(own.values, own.weight)
                knots.append(own_knots)
                ranks.append(own_ranks)
                again.append(mean_and_deviation(np.interp(own.values, own_knots, own_ranks), own.weight))
            last_centre, last_scale = np.array(again).reshape(n, 2).T
        return Scaling(
            centre=centre,
            scale=scale,
            bent=np.array(kind in ("robust", "zc", "common")),
            last_centre=last_centre,
            last_scale=last_scale,
            knot_begin=np.cumsum([0, *map(len, knots)] if knots else np.zeros(n + 1), dtype=np.int64),
            knots=np.concatenate([np.zeros(0), *knots]),
            ranks=np.concatenate([np.zeros(0), *ranks]),
        )

    def keeps_zeros(self) -> bool:
        """Return whether 0 stays 0."""
        return not (len(self.knots) or self.centre.any() or self.last_centre.any())

    def apply_to_columns(self, values: Floats, columns: AnyArray | slice) -> Floats:
        """Return scaled values, given the column of each, if `keeps_zeros`."""
        scaled = values / self.scale[columns]
        return np.asarray((bend(scaled) if self.bent else scaled) / self.last_scale[columns])

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return the attributes."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """Return the scaling with these attributes."""
        return cls(**arrays)


@dataclass(frozen=True)
class ColumnSummary:
    """A column of numbers in the rows of the fit.

    Attributes
    ----------
    values, weight : ndarray of shape (n,)
        The distinct values, ascending and without missing ones, and the weights of their rows: equal values are merged,
        so that weights and copies of rows give the same bits.
    median, width, extent : float
        Median, interquartile range and range; 0 without values.
    """

    values: Floats
    weight: Floats
    median: float
    width: float
    extent: float

    @staticmethod
    def of(values: Floats, weight: Floats) -> ColumnSummary:
        """Measure a column; NaN is a missing value."""
        known = ~np.isnan(values)
        values, inverse = np.unique(values[known] + 0.0, return_inverse=True)  # no -0.0
        weights = np.bincount(inverse, weights=weight[known], minlength=len(values)).astype(np.float64)
        if not len(values):
            return ColumnSummary(values, weights, 0.0, 0.0, 0.0)
        low, median, high = weighted_quantiles(values, weights, (0.25, 0.5, 0.75))
        return ColumnSummary(values, weights, median, high - low, float(values.max() - values.min()))


def bend(values: Floats) -> Floats:
    """Return z / sqrt(1 + (z / BEND)^2), with the bits of the compiled `RowEncoder`."""
    values = np.clip(values, -LARGEST, LARGEST)
    return np.asarray(values / np.sqrt(1.0 + (values / BEND) ** 2))


def mean_and_deviation(values: Floats, weight: Floats, constant: float = 1.0) -> tuple[float, float]:
    """Return the weighted mean and standard deviation; `constant` in place of a deviation of 0."""
    if not len(values):
        return 0.0, constant
    unit = float(np.abs(values).max()) or 1.0  # squares neither overflow nor vanish
    share, scaled = weight / weight.sum(), values / unit
    mean = float(np.sum(share * scaled))
    deviation = float(np.sqrt(np.sum(share * (scaled - mean) ** 2)))
    return mean * unit, deviation * unit if deviation > 1e-12 * abs(mean) and deviation * unit > 0 else constant


def mid_ranks(values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return some of the distinct values, at most `MAX_KNOTS`, and their mid-ranks as shares of the weight.

    Examples
    --------
    >>> mid_ranks(np.array([1.0, 5.0, 7.0]), np.array([2.0, 1.0, 1.0]))
    (array([1., 5., 7.]), array([0.25 , 0.625, 0.875]))
    """
    if not len(values):
        return np.zeros(1), np.zeros(1)
    knots, ranks = values, (np.cumsum(weight) - 0.5 * weight) / weight.sum()
    if len(knots) > MAX_KNOTS:
        # The value whose rank is nearest to each of equally spaced ones, and both ends.
        wanted = np.linspace(ranks[0], ranks[-1], MAX_KNOTS)
        at = np.searchsorted(ranks, wanted).clip(1, len(ranks) - 1)
        at -= wanted - ranks[at - 1] < ranks[at] - wanted
        chosen = np.unique(np.concatenate([at, [0, len(ranks) - 1]]))
        knots, ranks = knots[chosen], ranks[chosen]
    return knots, ranks


def weighted_quantiles(values: Floats, weight: Floats, shares: tuple[float, ...]) -> list[float]:
    """Return quantiles of values with positive weights; a weight of 2 is two copies."""
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weight[order])
    found = []
    for share in shares:
        # The middle of the values on both sides if the share ends between two of them, up to rounding.
        target = share * cumulative[-1]
        low = np.searchsorted(cumulative, target * (1 - 1e-12))
        high = np.searchsorted(cumulative, target * (1 + 1e-12), side="right")
        low, high = (min(int(at), len(values) - 1) for at in (low, high))
        found.append(0.5 * float(values[order[low]]) + 0.5 * float(values[order[high]]) + 0.0)  # no -0.0
    return found
