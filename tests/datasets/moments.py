"""Checks of generated samples, up to the standard errors of their size."""

from __future__ import annotations

import numpy as np

from tests.tolerances import SIGMAS

MANY = 40_000


def assert_moments(rows, mean, variance) -> None:
    """Check mean and variance of normal columns."""
    n = len(rows)
    assert np.all(np.abs(rows.mean(axis=0) - mean) <= SIGMAS * np.sqrt(variance / n))
    assert np.all(np.abs(rows.var(axis=0, ddof=1) - variance) <= SIGMAS * variance * np.sqrt(2 / (n - 1)))


def assert_fraction(hits, expected) -> None:
    assert abs(np.mean(hits) - expected) <= SIGMAS * np.sqrt(expected * (1 - expected) / len(hits))


def assert_uncorrelated(rows) -> None:
    correlations = np.corrcoef(rows.T)[np.triu_indices(rows.shape[1], 1)]
    assert np.all(np.abs(correlations) <= SIGMAS / np.sqrt(len(rows)))
