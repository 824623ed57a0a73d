"""Means and standard deviations of the features, and a warning if their units differ."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from cgens.types import AnyArray, Floats, Sample
from cgens.user_warnings import warn_user

#: A feature with less than WILD_SCALE times the largest standard deviation hardly counts in distances. Images have a
#: few such pixels at their borders; if they are WILD_SHARE of all features, it is a matter of units.
WILD_SCALE, WILD_SHARE = 0.01, 0.25
#: Columns have units of their own, or outliers, if the widest range is more than this many times the median one. The
#: pixels of an image all have the same range (docs/decisions/0018-tables.md).
UNITS = 2.0


@dataclass(frozen=True)
class Spread:
    """Weighted means and standard deviations of the features over the training rows.

    Attributes
    ----------
    mean, deviation : ndarray of shape (n_features,)
        The deviation of a constant feature is 0.
    standardize : bool
        Whether to centre the features and divide them by their deviations.
    """

    mean: Floats
    deviation: Floats
    standardize: bool

    @staticmethod
    def of(sample: Sample, family: str, standardize: bool) -> Spread:
        """Measure the features; the errors name the `family`."""
        share = sample.weight / sample.weight.sum()
        n_features = sample.X.shape[1]
        if sample.X.is_sparse:
            return Spread._of_sparse(sample, share, family, standardize)
        # In units of the largest value: squares neither overflow nor vanish. In blocks, to save memory, and without
        # `@`: the sums must not depend on BLAS.
        unit, mean, square = np.zeros(n_features), np.zeros(n_features), np.zeros(n_features)
        X = sample.matrix()
        for rows in blocks_of(X):
            unit = np.maximum(unit, np.abs(rows).max(axis=0))
        unit[unit == 0] = 1.0
        for rows, own in zip(blocks_of(X), blocks_of(share), strict=True):
            mean += np.sum(own[:, None] * (rows / unit), axis=0)
        for rows, own in zip(blocks_of(X), blocks_of(share), strict=True):
            square += np.sum(own[:, None] * (rows / unit - mean) ** 2, axis=0)
        deviation = np.where(np.sqrt(square) > 1e-12 * np.abs(mean), np.sqrt(square) * unit, 0.0)
        return Spread._checked(mean * unit, deviation, family, standardize)

    @staticmethod
    def _of_sparse(sample: Sample, share: Floats, family: str, standardize: bool) -> Spread:
        columns = sparse.csc_array(sample.matrix()).astype(np.float64)
        mean = columns.T @ share
        owner = np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr))
        centred = (columns.data - mean[owner]) ** 2 * share[columns.indices]
        stored = np.bincount(owner, weights=share[columns.indices], minlength=len(mean))
        square = np.bincount(owner, weights=centred, minlength=len(mean)) + np.maximum(1 - stored, 0.0) * mean**2
        deviation = np.where(np.sqrt(square) > 1e-12 * np.abs(mean), np.sqrt(square), 0.0)
        return Spread._checked(mean, deviation, family, standardize)

    @staticmethod
    def _checked(mean: Floats, deviation: Floats, family: str, standardize: bool) -> Spread:
        widest = float(deviation.max())
        if not standardize and widest > 0 and not 1e-145 < widest < 1e145:
            raise ValueError(
                f"{family}: the largest standard deviation of a feature is {widest:.1g}, whose square is out of range: "
                "set standardize=True, or multiply the features by a constant."
            )
        return Spread(mean, deviation, standardize)

    @property
    def scale(self) -> Floats:
        """The divisor of each feature."""
        return np.where(self.standardize & (self.deviation > 0), self.deviation, 1.0)

    @property
    def variance(self) -> float:
        """The mean variance of the scaled features; 1 if all are constant."""
        variance = 1.0 if self.standardize else float(np.mean(self.deviation**2))
        return variance if variance > 0 else 1.0

    def unscaled(self, thetas: Floats) -> tuple[Floats, Floats]:
        """Return raw and shifts with theta.z = raw.x - shift for the scaled features z."""
        raw = thetas / self.scale
        shift = np.sum(raw * self.mean, axis=-1) if self.standardize else np.zeros(raw.shape[:-1])
        return raw, shift


def blocks_of(values: AnyArray) -> list[AnyArray]:
    """Return consecutive blocks of an array."""
    return [values[begin : begin + 4096] for begin in range(0, len(values), 4096)]


def deviations_of(sample: Sample) -> Floats:
    """Return the standard deviation of each column of numbers over some rows, shape (n_features,); 0 for categories."""
    X = sample.X.take(sample.rows[:4096])
    if X.is_sparse:
        stored = sparse.csc_array(X.rows_first()).astype(np.float64)
        known = stored.copy()
        known.data = 1.0 - np.isnan(stored.data)
        n_known = X.shape[0] - (np.diff(stored.indptr) - np.asarray(known.sum(axis=0)))
        stored.data = np.nan_to_num(stored.data)
        means, squares = (np.asarray(own.sum(axis=0)) / np.maximum(n_known, 1) for own in (stored, stored.power(2)))
        return np.asarray(np.sqrt(np.maximum(squares - means**2, 0.0)))
    with np.errstate(over="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a column without values
        values = X.values.astype(np.float64)
        deviation = np.nanstd(values, axis=0) if X.has_gaps.any() else np.std(values, axis=0)
    return np.where(X.is_category | np.isnan(deviation), 0.0, deviation)


def has_units(sample: Sample) -> bool:
    """Return whether the columns are on different scales, as in a table; those of an image are not."""
    if sample.X.is_sparse:
        return False
    if sample.X.is_category.any() or sample.X.has_gaps.any():
        return True
    values = sample.X.take(sample.rows[:4096]).values
    ranges = (values.max(axis=0) / 2.0 - values.min(axis=0) / 2.0).astype(np.float64)  # halves do not overflow
    ranges = ranges[ranges > 0]
    return bool(len(ranges)) and bool(np.median(ranges) * UNITS < ranges.max())


def warn_about_scales(sample: Sample, family: str, columns: Sequence[object] | None) -> None:
    """Warn if a few features dominate all distances; `columns` are their names or indices in the user's table."""
    deviation = deviations_of(sample)
    widest, spread = int(np.argmax(deviation)), deviation[deviation > 0]
    small = int(np.sum(spread < WILD_SCALE * deviation[widest]))
    if small and small >= WILD_SHARE * len(spread):
        name = widest if columns is None else columns[widest]
        warn_user(
            f"{family}: feature {name} has a standard deviation of {deviation[widest]:.1g}, and {small} of "
            f"{len(deviation)} features have less than a hundredth of that: they will hardly matter. Set "
            "standardize=True, or put a sklearn.preprocessing.StandardScaler before the model.",
        )
