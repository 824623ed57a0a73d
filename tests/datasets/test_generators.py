"""Data sets that are drawn are as described."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from cgens.datasets import make_disc, make_ringnorm, make_two_spirals, make_twonorm, make_waveform
from tests.datasets.drawn import MANY, assert_moments, assert_share, assert_uncorrelated
from tests.sentences import assert_one_sentence
from tests.tolerances import CLOSED_FORM, SIGMAS

GENERATORS = {
    "twonorm": (make_twonorm, 20),
    "ringnorm": (make_ringnorm, 20),
    "waveform": (make_waveform, 21),
    "disc": (make_disc, 2),
    "two spirals": (make_two_spirals, 2),
}
every_generator = pytest.mark.parametrize("name", GENERATORS)


@every_generator
def test_shapes_and_types(name):
    make, n_features = GENERATORS[name]
    rows, labels = make(random_state=0)
    assert len(rows) == {"twonorm": 7400, "ringnorm": 7400, "waveform": 5000}.get(name, 2000)
    assert rows.shape == (len(labels), n_features)
    assert rows.dtype == np.float64
    assert labels.dtype == np.int64
    assert set(labels) == {0, 1}
    assert np.all(np.isfinite(rows))


@every_generator
def test_the_same_seed_gives_the_same_rows(name):
    make, _ = GENERATORS[name]
    first, again, other = (make(50, random_state=seed) for seed in (3, 3, 4))
    from_object = make(50, random_state=np.random.RandomState(3))
    for drawn in (again, from_object):
        assert first[0].tobytes() == drawn[0].tobytes()
        assert first[1].tobytes() == drawn[1].tobytes()
    assert not np.array_equal(first[0], other[0])
    assert not np.array_equal(make(50)[0], make(50)[0]), "without a seed it is new every time"


@every_generator
def test_one_row(name):
    make, n_features = GENERATORS[name]
    rows, labels = make(np.int64(1), random_state=0)
    assert rows.shape == (1, n_features)
    assert labels.shape == (1,)


def test_twonorm_is_as_described():
    rows, labels = make_twonorm(MANY, random_state=0)
    a = 2 / np.sqrt(20)
    assert_share(labels, 0.5)
    for label, mean in ((0, -a), (1, a)):
        assert_moments(rows[labels == label], mean, 1.0)
        assert_uncorrelated(rows[labels == label])
    # The best rule is linear, and the means are 2 from the boundary.
    assert_share((rows.sum(axis=1) > 0) != labels, norm.cdf(-2))
    assert round(100 * norm.cdf(-2), 1) == 2.3


def test_ringnorm_is_as_described():
    rows, labels = make_ringnorm(200_000, random_state=0)
    a = 2 / np.sqrt(20)
    assert_share(labels, 0.5)
    assert_moments(rows[labels == 0], a, 1.0)
    assert_moments(rows[labels == 1], 0.0, 4.0)
    for label in (0, 1):
        assert_uncorrelated(rows[labels == label])
    wide = -np.sum(rows**2, axis=1) / 8 - 20 * np.log(2)
    narrow = -np.sum((rows - a) ** 2, axis=1) / 2
    assert round(100 * np.mean((wide > narrow) != labels), 1) == 1.2


def test_waveform_is_as_described():
    rows, labels = make_waveform(MANY, random_state=0)
    points = np.arange(1, 22)
    first, second, third = (np.maximum(6 - np.abs(points - top), 0) for top in (11, 15, 7))
    assert_share(labels, 1 / 3)

    def moments(one, other):
        """The mean and the second moment of u one + (1 - u) other + noise, u uniform."""
        mean = (one + other) / 2
        return mean, mean**2 + (one - other) ** 2 / 12 + 1

    mixtures = {1: [moments(first, third)], 0: [moments(first, second), moments(second, third)]}
    for label, kinds in mixtures.items():
        mean, square = np.mean(kinds, axis=0)
        own, variance = rows[labels == label], square - mean**2
        assert np.all(np.abs(own.mean(axis=0) - mean) <= SIGMAS * np.sqrt(variance / len(own)))
        spread = np.std(own**2, axis=0) / np.sqrt(len(own))
        assert np.all(np.abs(np.mean(own**2, axis=0) - square) <= SIGMAS * spread)


@pytest.mark.parametrize("radius", [0.5, 1.0, 1.18, 2.0])
def test_disc_is_as_described(radius):
    rows, labels = make_disc(MANY, radius=radius, random_state=0)
    assert_moments(rows, 0.0, 1.0)
    assert_uncorrelated(rows)
    assert np.array_equal(labels == 1, np.sqrt(rows[:, 0] ** 2 + rows[:, 1] ** 2) < radius)
    assert_share(labels, 1 - np.exp(-(radius**2) / 2))
    assert [round(100 * (1 - np.exp(-(r**2) / 2))) for r in (1.0, 1.18)] == [39, 50]


@pytest.mark.parametrize("turns", [0.5, 1.5, 3])
def test_two_spirals_are_as_described(turns):
    rows, labels = make_two_spirals(MANY, noise=0, turns=turns, random_state=0)
    distance, angle = np.hypot(*rows.T), np.arctan2(rows[:, 1], rows[:, 0])
    assert distance.max() <= turns + CLOSED_FORM
    # A turn leads one unit outwards, and the other arm is half a turn away.
    assert np.allclose(np.cos(angle - 2 * np.pi * distance), np.where(labels == 1, -1.0, 1.0), rtol=0, atol=CLOSED_FORM)
    assert_share(labels, 0.5)
    for part in (0.25, 0.5, 0.75):
        assert_share(distance < turns * np.sqrt(part), part)


def test_the_noise_of_the_spirals():
    quiet, labels = make_two_spirals(MANY, noise=0, random_state=0)
    loud, same = make_two_spirals(MANY, noise=0.3, random_state=0)
    assert np.array_equal(labels, same)
    assert_moments(loud - quiet, 0.0, 0.3**2)
    assert_uncorrelated(loud - quiet)


@pytest.mark.parametrize("n_samples", [0, -1, 2.5, "many"])
@every_generator
def test_a_bad_number_of_rows(name, n_samples):
    with pytest.raises((ValueError, TypeError), match=rf"n_samples.*{n_samples}") as raised:
        GENERATORS[name][0](n_samples)
    assert_one_sentence(str(raised.value))


@every_generator
def test_a_bad_seed(name):
    with pytest.raises(ValueError, match="'seed'"):
        GENERATORS[name][0](5, random_state="seed")


@pytest.mark.parametrize("radius", [0, -1.5, np.nan])
def test_a_bad_radius(radius):
    with pytest.raises(ValueError, match=rf"radius.*{radius}") as raised:
        make_disc(5, radius=radius)
    assert_one_sentence(str(raised.value))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("noise", value) for value in (-0.1, np.nan, np.inf)),
        *(("turns", value) for value in (0, -1.5, np.nan, np.inf)),
    ],
)
def test_bad_noise_and_turns(name, value):
    with pytest.raises(ValueError, match=rf"{name}={value}") as raised:
        make_two_spirals(5, **{name: value})
    assert_one_sentence(str(raised.value))
