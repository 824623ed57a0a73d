"""A split of one feature in two, which stumps, trees and boxes share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from cgens.types import AnyArray, Floats, Integers


@dataclass(frozen=True)
class Split:
    """The rows above a threshold of a number, or with certain levels of a category; all others are below.

    Attributes
    ----------
    feature : int
    threshold : float or None
        A number is above if it is greater; infinite if only gaps are above. None for a category.
    levels : tuple of int
        The levels of a category that are above, by their codes, ascending. Others are below, also levels that no
        training row has.
    gaps_above : bool
        Whether missing values are above. If no training row has one, this is the side with more weight.
    """

    feature: int
    threshold: float | None
    levels: tuple[int, ...] = ()
    gaps_above: bool = False

    def is_above(self, values: AnyArray) -> AnyArray:
        """Return whether each value of the feature is above: numbers, or codes of levels, with NaN for gaps."""
        if self.threshold is None:
            above = np.isin(values, np.array(self.levels, dtype=np.float64))
        else:
            above = values > np.float64(self.threshold)  # a plain float would be rounded to float32
        return above | np.isnan(values) if self.gaps_above else above


@dataclass(frozen=True)
class SplitArrays:
    """Several splits as arrays.

    Attributes
    ----------
    features : ndarray of shape (n,)
    thresholds : ndarray of shape (n,)
        NaN for categories.
    gaps_above : ndarray of shape (n,), uint8
    level_begin : ndarray of shape (n + 1,)
        The levels of split k are ``levels[level_begin[k]:level_begin[k + 1]]``.
    levels : ndarray, uint32
    """

    features: Integers
    thresholds: Floats
    gaps_above: AnyArray
    level_begin: Integers
    levels: AnyArray

    @classmethod
    def of(cls, splits: Sequence[Split]) -> Self:
        """Return these splits."""
        levels = [split.levels for split in splits]
        return cls(
            np.array([split.feature for split in splits], dtype=np.int64),
            np.array([np.nan if split.threshold is None else split.threshold for split in splits], dtype=np.float64),
            np.array([split.gaps_above for split in splits], dtype=np.uint8),
            np.cumsum([0, *map(len, levels)], dtype=np.int64),
            np.array([level for own in levels for level in own], dtype=np.uint32),
        )

    def split(self, number: int) -> Split:
        """Return one of the splits."""
        threshold = float(self.thresholds[number])
        levels = self.levels[self.level_begin[number] : self.level_begin[number + 1]].tolist()
        is_category = bool(np.isnan(threshold))
        gaps_above = bool(self.gaps_above[number])
        return Split(int(self.features[number]), None if is_category else threshold, tuple(levels), gaps_above)
