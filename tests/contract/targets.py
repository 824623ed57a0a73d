"""Random targets for the masters, which follow a score with some noise."""

from __future__ import annotations

import numpy as np

from cgens.coding import simplex_codes


def noisy_signs(rng: np.random.Generator, score: np.ndarray) -> np.ndarray:
    """Return labels of +-1, shape (m, 1), that follow `score` with some noise; both occur."""
    y = np.where(score + 0.5 * score.std() * rng.normal(size=len(score)) > np.median(score), 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    return y[:, None]


def three_noisy_signs(rng: np.random.Generator, score: np.ndarray) -> np.ndarray:
    """Return three labels per row: one follows `score`, one its opposite, one is random."""
    return np.column_stack([noisy_signs(rng, part) for part in (score, -score, rng.normal(size=len(score)))])


def regression_target(rng: np.random.Generator, score: np.ndarray) -> np.ndarray:
    """Return a target of shape (m, 1) that follows `score` and is far from 0."""
    return (10.0 + score + 0.5 * score.std() * rng.normal(size=len(score)))[:, None]


def same_target_thrice(rng: np.random.Generator, score: np.ndarray) -> np.ndarray:
    """Return the regression target in three columns."""
    return np.repeat(regression_target(rng, score), 3, axis=1)


def no_target(rng: np.random.Generator, score: np.ndarray) -> np.ndarray:
    """Return zeros."""
    return np.zeros((len(score), 1))


def counts(rng: np.random.Generator, score: np.ndarray) -> np.ndarray:
    """Return Poisson counts, shape (m, 1), whose logarithm of the mean follows `score`; not all are 0."""
    drawn = rng.poisson(np.exp(score / max(score.std(), 1e-9))).astype(float)
    drawn[0] = 2.0
    return drawn[:, None]


def _noisy_classes(rng: np.random.Generator, score: np.ndarray, quantiles: list[float]) -> np.ndarray:
    noisy = score + 0.3 * score.std() * rng.normal(size=len(score))
    return np.searchsorted(np.quantile(noisy, quantiles), noisy)


def four_class_codes(rng: np.random.Generator, score: np.ndarray) -> np.ndarray:
    """Return the simplex codes of four classes, shape (m, 3), that follow `score` with some noise."""
    return np.ascontiguousarray(simplex_codes(4)[_noisy_classes(rng, score, [0.2, 0.5, 0.7])])


def three_class_signs(rng: np.random.Generator, score: np.ndarray) -> np.ndarray:
    """Return 1 for the row's class and -1 for the two others, shape (m, 3), that follow `score` with some noise."""
    return np.ascontiguousarray(2.0 * np.eye(3)[_noisy_classes(rng, score, [0.3, 0.7])] - 1.0)
