"""Generators of the paper's synthetic data sets."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from cgens.types import Floats, Integers


def make_twonorm(n_samples: int = 7400, random_state: Any = None) -> tuple[Floats, Integers]:
    """Generate Breiman's twonorm: two normal distributions in 20 dimensions that differ in their means.

    Both have unit variance; the means are (a, ..., a) for class 1 and (-a, ..., -a) for class 0, a = 2 / sqrt(20). The
    Bayes error is 2.3 %.

    Parameters
    ----------
    n_samples : int, default=7400
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray of shape (n_samples, 20)
    y : ndarray of shape (n_samples,)
    """
    random = check_random_state(random_state)
    y = random.randint(0, 2, size=checked_size(n_samples))
    X = random.standard_normal((n_samples, 20)) + np.where(y == 1, 1, -1)[:, None] * 2 / np.sqrt(20)
    return X, y


def make_ringnorm(n_samples: int = 7400, random_state: Any = None) -> tuple[Floats, Integers]:
    """Generate Breiman's ringnorm: two normal distributions in 20 dimensions, one surrounding the other.

    Class 1 has mean 0 and variance 4, class 0 has mean (a, ..., a), a = 2 / sqrt(20), and variance 1, as in the
    benchmark repositories. The Bayes error is about 1.2 %.

    Parameters
    ----------
    n_samples : int, default=7400
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray of shape (n_samples, 20)
    y : ndarray of shape (n_samples,)
    """
    random = check_random_state(random_state)
    y = random.randint(0, 2, size=checked_size(n_samples))
    noise = random.standard_normal((n_samples, 20))
    X = np.where(y[:, None] == 1, 2 * noise, noise + 2 / np.sqrt(20))
    return X, y


def make_waveform(n_samples: int = 5000, random_state: Any = None) -> tuple[Floats, Integers]:
    """Generate Breiman's waveform: noisy convex combinations of two of three triangular waves at 21 points.

    Class 1 combines the first and the third wave; the other two of Breiman's three classes form class 0, as in the
    two-class version of the benchmark repositories.

    Parameters
    ----------
    n_samples : int, default=5000
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray of shape (n_samples, 21)
    y : ndarray of shape (n_samples,)
    """
    random = check_random_state(random_state)
    pair = random.randint(0, 3, size=checked_size(n_samples))
    points = np.arange(1, 22)
    waves = np.maximum(6 - np.abs(points - np.array([[11], [15], [7]])), 0)
    first, second = np.array([[0, 1], [0, 2], [1, 2]]).T
    weight = random.uniform(size=(n_samples, 1))
    X = weight * waves[first[pair]] + (1 - weight) * waves[second[pair]] + random.standard_normal((n_samples, 21))
    return X, (pair == 1).astype(np.int64)


def make_disc(n_samples: int = 2000, radius: float = 1.0, random_state: Any = None) -> tuple[Floats, Integers]:
    """Generate the paper's toy problem: standard normal points in the plane, class 1 within a circle.

    Parameters
    ----------
    n_samples : int, default=2000
    radius : float, default=1.0
        Radius of the circle; 1.0 encloses 39 % of the points, 1.18 one half.
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
    """
    if not radius > 0:
        raise ValueError(f"radius must be > 0; got {radius}.")
    X = check_random_state(random_state).standard_normal((checked_size(n_samples), 2))
    return X, (np.hypot(*X.T) < radius).astype(np.int64)


def make_two_spirals(
    n_samples: int = 2000, noise: float = 0.1, turns: float = 1.5, random_state: Any = None
) -> tuple[Floats, Integers]:
    """Generate two interleaved spirals in the plane, with normal noise.

    Parameters
    ----------
    n_samples : int, default=2000
    noise : float, default=0.1
        Standard deviation of the noise; neighbouring arms are 1 / 2 apart.
    turns : float, default=1.5
        Number of turns of each arm.
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
    """
    if not (0 <= noise < np.inf and 0 < turns < np.inf):
        raise ValueError(f"noise must be >= 0, turns > 0, and both finite; got noise={noise} and turns={turns}.")
    random = check_random_state(random_state)
    y = random.randint(0, 2, size=checked_size(n_samples))
    # The square root spreads the points evenly along the arm, whose outer turns are longer.
    distance = turns * np.sqrt(random.uniform(size=n_samples))
    angle = 2 * np.pi * distance + np.pi * y
    X = distance[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + noise * random.standard_normal(X.shape), y


def checked_size(n_samples: int) -> int:
    """Return the number of rows as an int; raise ValueError if it is not one."""
    if not isinstance(n_samples, Integral) or n_samples < 1:
        raise ValueError(f"n_samples must be an integer >= 1; got {n_samples!r}.")
    return int(n_samples)
