"""Generated data sets have the documented distributions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ncx2, norm

from cgens.datasets import make_disc, make_ringnorm, make_two_spirals, make_twonorm, make_waveform
from tests.datasets.moments import MANY, assert_fraction, assert_moments, assert_uncorrelated
from tests.tolerances import CLOSED_FORM, SIGMAS

GENERATORS = {  # default number of rows, number of features
    make_twonorm: (7400, 20),
    make_ringnorm: (7400, 20),
    make_waveform: (5000, 21),
    make_disc: (2000, 2),
    make_two_spirals: (2000, 2),
}
every_generator = pytest.mark.parametrize("make", GENERATORS)


@every_generator
def test_shapes_types_and_seeds(make):
    X, y = make(random_state=0)
    assert X.shape == GENERATORS[make]
    assert (X.dtype, y.dtype, set(y)) == (np.float64, np.int64, {0, 1})
    assert np.all(np.isfinite(X))
    first, again, other = (make(50, random_state=seed) for seed in (3, 3, 4))
    from_object = make(50, random_state=np.random.RandomState(3))
    for sample in (again, from_object):
        assert first[0].tobytes() == sample[0].tobytes()
        assert first[1].tobytes() == sample[1].tobytes()
    assert not np.array_equal(first[0], other[0])
    assert not np.array_equal(make(50)[0], make(50)[0]), "without a seed, samples differ"
    assert [array.shape for array in make(np.int64(1))] == [(1, GENERATORS[make][1]), (1,)]


@every_generator
def test_invalid_parameters(make):
    invalid = [("n_samples", value) for value in (0, -1, 2.5, "many")]
    if make is make_disc:
        invalid += [("radius", value) for value in (0, -1.5, np.nan)]
    if make is make_two_spirals:
        invalid += [("noise", value) for value in (-0.1, np.nan, np.inf)]
        invalid += [("turns", value) for value in (0, -1.5, np.nan, np.inf)]
    for name, value in invalid:
        with pytest.raises(ValueError, match=rf"{name}.*{value}"):
            make(**{"n_samples": 5} | {name: value})
    with pytest.raises(ValueError, match="'seed'"):
        make(5, random_state="seed")


def test_twonorm():
    X, y = make_twonorm(MANY, random_state=0)
    a = 2 / np.sqrt(20)
    assert_fraction(y, 0.5)
    for label, mean in ((0, -a), (1, a)):
        assert_moments(X[y == label], mean, 1.0)
        assert_uncorrelated(X[y == label])
    # The Bayes rule is linear, and the means are at distance 2 from its boundary.
    assert_fraction((X.sum(axis=1) > 0) != y, norm.cdf(-2))
    assert round(100 * norm.cdf(-2), 1) == 2.3


def test_ringnorm():
    X, y = make_ringnorm(MANY, random_state=0)
    a = 2 / np.sqrt(20)
    assert_fraction(y, 0.5)
    assert_moments(X[y == 0], a, 1.0)
    assert_moments(X[y == 1], 0.0, 4.0)
    for label in (0, 1):
        assert_uncorrelated(X[y == label])
    # The Bayes rule is a ball around 4/3 of class 0's mean: distances are noncentral chi-squared in both classes.
    square = 8 / 3 * (20 * np.log(2) + 4 / 6)
    error = (ncx2.sf(square, 20, 4 / 9) + ncx2.cdf(square / 4, 20, 16 / 9)) / 2
    assert_fraction((np.sum((X - 4 / 3 * a) ** 2, axis=1) > square) != y, error)
    assert round(100 * error, 1) == 1.2


def test_waveform():
    X, y = make_waveform(MANY, random_state=0)
    points = np.arange(1, 22)
    first, second, third = (np.maximum(6 - np.abs(points - top), 0) for top in (11, 15, 7))
    assert_fraction(y, 1 / 3)

    def moments(one, other):
        """The mean and the second moment of u one + (1 - u) other + noise, u uniform."""
        mean = (one + other) / 2
        return mean, mean**2 + (one - other) ** 2 / 12 + 1

    mixtures = {1: [moments(first, third)], 0: [moments(first, second), moments(second, third)]}
    for label, pairs in mixtures.items():
        mean, square = np.mean(pairs, axis=0)
        own, variance = X[y == label], square - mean**2
        assert np.all(np.abs(own.mean(axis=0) - mean) <= SIGMAS * np.sqrt(variance / len(own)))
        standard_error = np.std(own**2, axis=0) / np.sqrt(len(own))
        assert np.all(np.abs(np.mean(own**2, axis=0) - square) <= SIGMAS * standard_error)


@pytest.mark.parametrize(("radius", "percent"), [(0.5, 12), (1.0, 39), (1.18, 50)])
def test_disc(radius, percent):
    X, y = make_disc(MANY, radius=radius, random_state=0)
    assert_moments(X, 0.0, 1.0)
    assert_uncorrelated(X)
    assert np.array_equal(y == 1, np.sqrt(X[:, 0] ** 2 + X[:, 1] ** 2) < radius)
    inside = 1 - np.exp(-(radius**2) / 2)
    assert_fraction(y, inside)
    assert round(100 * inside) == percent


@pytest.mark.parametrize("turns", [0.5, 1.5, 3])
def test_two_spirals(turns):
    X, y = make_two_spirals(MANY, noise=0, turns=turns, random_state=0)
    distance, angle = np.hypot(*X.T), np.arctan2(X[:, 1], X[:, 0])
    assert distance.max() <= turns + CLOSED_FORM
    # A turn leads one unit outwards, and the other arm is half a turn away.
    assert np.allclose(np.cos(angle - 2 * np.pi * distance), np.where(y == 1, -1.0, 1.0), rtol=0, atol=CLOSED_FORM)
    assert_fraction(y, 0.5)
    for part in (0.25, 0.5, 0.75):
        assert_fraction(distance < turns * np.sqrt(part), part)
    noisy, same = make_two_spirals(MANY, noise=0.3, turns=turns, random_state=0)
    assert np.array_equal(y, same)
    assert_moments(noisy - X, 0.0, 0.3**2)
    assert_uncorrelated(noisy - X)
