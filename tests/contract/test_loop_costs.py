"""What a column costs decides when the loop stops."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from cgens import generate_columns
from cgens.masters import Hinge, LeastSquares
from cgens.types import Status
from cgens.weak_learners import Stump
from tests.contract.tables import noisy_signs

TOL = 1e-5


@dataclass(frozen=True)
class Charging:
    """Another master, at a price: `cost(n_columns)` is what a column must exceed."""

    master: Any
    cost: Any
    repeats = False
    positive_prices = False
    smooth = True

    def begin(self, target, sample_weight, n_threads):
        return ChargingLive(self.master.begin(target, sample_weight, n_threads), self.cost)


class ChargingLive:
    def __init__(self, live, cost):
        self._live, self._cost, self._n_columns = live, cost, 0
        self.pool_bound = live.pool_bound

    def add(self, response):
        self._n_columns += 1
        self._live.add(response)

    def solve(self, tol, interrupted, quick=False):
        return replace(self._live.solve(tol, interrupted, quick), column_cost=self._cost(self._n_columns))


@pytest.fixture(params=[Hinge(C=1.0), LeastSquares(C=1.0)], ids=["hinge", "least squares"])
def free_master(request):
    """Return a master whose columns cost nothing."""
    return request.param


def signs_of(rng):
    X = rng.normal(size=(60, 3)).round(1)
    return X, noisy_signs(rng, X[:, 0] - X[:, 1])


@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
def test_the_cost_of_a_column_decides_when_to_stop(free_master, share, rng):
    """As the paper's epsilon does, and both add up."""
    X, y = signs_of(rng)
    options = {"tol": TOL, "max_columns": 1000}
    _, trace = generate_columns(free_master, Stump(), X, y, **options)
    cost = share * trace.score[1]
    charged, trace = generate_columns(Charging(free_master, lambda n: cost), Stump(), X, y, **options)
    assert trace.certificate.status is Status.OPTIMAL
    assert np.all(trace.score[1:] > cost)
    assert trace.certificate.max_price <= cost + 1e-6 * np.abs(trace.duals).sum()
    above, other = generate_columns(free_master, Stump(), X, y, epsilon=cost, **options)
    assert charged.learners == above.learners
    assert np.array_equal(charged.weights, above.weights)
    assert trace.certificate == other.certificate
    half, third = generate_columns(
        Charging(free_master, lambda n: cost / 2), Stump(), X, y, epsilon=cost / 2, **options
    )
    assert half.learners == charged.learners
    assert third.certificate == trace.certificate


def test_the_cost_of_a_column_is_that_of_the_round(free_master, rng):
    """Of the solution at hand, not of the spec: after seven columns nothing is worth it any more."""
    X, y = signs_of(rng)
    dear = Charging(free_master, lambda n: 0.0 if n < 7 else 1e6)
    ensemble, trace = generate_columns(dear, Stump(), X, y, tol=TOL)
    assert len(ensemble) == 7
    assert trace.certificate.status is Status.OPTIMAL
    none, _ = generate_columns(Charging(free_master, lambda n: 1e6), Stump(), X, y, tol=TOL)
    assert len(none) == 0


def test_at_the_most_columns_the_cost_says_whether_one_is_missing(free_master, rng):
    X, y = signs_of(rng)
    for cost, status in ((0.0, Status.MAX_COLUMNS), (1e6, Status.OPTIMAL)):
        dear = Charging(free_master, lambda n, cost=cost: 0.0 if n < 5 else cost)
        ensemble, trace = generate_columns(dear, Stump(), X, y, tol=TOL, max_columns=5)
        assert len(ensemble) == 5
        assert trace.certificate.status is status
