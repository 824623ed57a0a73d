"""The synthetic sets of the paper and of its figure, drawn."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from cgens.types import Floats, Integers


def make_twonorm(n_samples: int = 7400, random_state: Any = None) -> tuple[Floats, Integers]:
    """Draw from two normal distributions of unit variance in 20 dimensions, means +-(a, ..., a), a = 2 / sqrt(20).

    Breiman's; the least possible error is 2.3 %.

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
    y = random.randint(0, 2, size=_count(n_samples))
    X = random.standard_normal((n_samples, 20)) + np.where(y == 1, 1, -1)[:, None] * 2 / np.sqrt(20)
    return X, y


def make_ringnorm(n_samples: int = 7400, random_state: Any = None) -> tuple[Floats, Integers]:
    """Draw from two normal distributions in 20 dimensions, one around the other.

    Class 1 has the mean 0 and the variance 4, class 0 the mean (a, ..., a), a = 2 / sqrt(20), and the variance 1:
    Breiman's set as the benchmark repositories have it. The least possible error is about 1.2 %.

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
    y = random.randint(0, 2, size=_count(n_samples))
    noise = random.standard_normal((n_samples, 20))
    X = np.where(y[:, None] == 1, 2 * noise, noise + 2 / np.sqrt(20))
    return X, y


def make_waveform(n_samples: int = 5000, random_state: Any = None) -> tuple[Floats, Integers]:
    """Draw noisy mixtures of two of three triangular waves at 21 points; class 1 mixes the first and the third.

    Breiman's three classes, the other two of them taken together as the benchmark's two-class set has it.

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
    kind = random.randint(0, 3, size=_count(n_samples))
    points = np.arange(1, 22)
    waves = np.maximum(6 - np.abs(points - np.array([[11], [15], [7]])), 0)
    first, second = np.array([[0, 1], [0, 2], [1, 2]]).T
    share = random.uniform(size=(n_samples, 1))
    X = share * waves[first[kind]] + (1 - share) * waves[second[kind]] + random.standard_normal((n_samples, 21))
    return X, (kind == 1).astype(np.int64)


def make_disc(n_samples: int = 2000, radius: float = 1.0, random_state: Any = None) -> tuple[Floats, Integers]:
    """Draw from the standard normal distribution of the plane; class 1 lies within the radius: the paper's toy.

    Parameters
    ----------
    n_samples : int, default=2000
    radius : float, default=1.0
        At 1.0, 39 % of the rows lie within; at 1.18 one half.
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
    """
    if not radius > 0:
        raise ValueError(f"radius must be > 0; got {radius}.")
    X = check_random_state(random_state).standard_normal((_count(n_samples), 2))
    return X, (np.hypot(*X.T) < radius).astype(np.int64)


def make_two_spirals(
    n_samples: int = 2000, noise: float = 0.1, turns: float = 1.5, random_state: Any = None
) -> tuple[Floats, Integers]:
    """Draw two interleaved spirals in the plane, with normal noise.

    Parameters
    ----------
    n_samples : int, default=2000
    noise : float, default=0.1
        Standard deviation; the arms are 1 / 2 apart.
    turns : float, default=1.5
        How often each arm winds around.
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
    """
    if not (0 <= noise < np.inf and 0 < turns < np.inf):
        raise ValueError(f"noise must be >= 0, turns > 0, and both finite; got noise={noise} and turns={turns}.")
    random = check_random_state(random_state)
    y = random.randint(0, 2, size=_count(n_samples))
    # The square root spreads the rows evenly along the arm, which grows longer outwards.
    wound = turns * np.sqrt(random.uniform(size=n_samples))
    angle = 2 * np.pi * wound + np.pi * y
    X = wound[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + noise * random.standard_normal(X.shape), y


def _count(n_samples: int) -> int:
    if not isinstance(n_samples, Integral) or n_samples < 1:
        raise ValueError(f"n_samples must be an integer of at least 1; got {n_samples!r}.")
    return int(n_samples)
