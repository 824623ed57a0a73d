"""The cost of a column decides when the loop stops."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from cgens import generate_columns
from cgens.masters import Hinge, LeastSquares
from cgens.types import Status
from cgens.weak_learners import Stump
from tests.contract.targets import noisy_signs


@dataclass(frozen=True)
class Charging:
    """Another master, and `cost(n_columns)`: the price that a column must exceed."""

    master: Any
    cost: Any
    repeats = False
    positive_prices = False
    smooth = True

    def begin(self, target, sample_weight, n_threads):
        return RestrictedCharging(self.master.begin(target, sample_weight, n_threads), self.cost)


class RestrictedCharging:
    def __init__(self, restricted, cost):
        self._restricted, self._cost, self._n_columns = restricted, cost, 0
        self.pool_bound = restricted.pool_bound

    def add(self, response):
        self._n_columns += 1
        self._restricted.add(response)

    def solve(self, tol, interrupted, quick=False):
        return replace(self._restricted.solve(tol, interrupted, quick), column_cost=self._cost(self._n_columns))


@pytest.fixture(params=[Hinge(C=1.0), LeastSquares(C=1.0)], ids=["hinge", "least squares"])
def run(request, rng):
    """Return a function that fits a master whose columns have the given cost, 0 by default."""
    X = rng.normal(size=(60, 3)).round(1)
    y = noisy_signs(rng, X[:, 0] - X[:, 1])

    def run(cost=lambda n: 0.0, **options):
        return generate_columns(Charging(request.param, cost), Stump(), X, y, tol=1e-5, **options)

    return run


@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
def test_the_cost_of_a_column_decides_when_to_stop(run, share):
    """Like the paper's epsilon, to which it is added."""
    cost = share * run(max_columns=1)[1].price[1]
    charged, trace = run(lambda n: cost, max_columns=1000)
    assert trace.certificate.status is Status.OPTIMAL
    assert np.all(trace.price[1:] > cost)
    assert trace.certificate.max_price <= cost + 1e-6 * np.abs(trace.duals).sum()
    for part in (0.0, 0.5):
        same, other = run(lambda n, part=part: part * cost, epsilon=(1 - part) * cost, max_columns=1000)
        assert same.learners == charged.learners
        assert np.array_equal(same.weights, charged.weights)
        assert other.certificate == trace.certificate


@pytest.mark.parametrize("n_columns", [0, 7])
def test_the_cost_of_a_column_is_that_of_the_round(run, n_columns):
    """That of the last solution: after so many columns no other is worth it."""
    ensemble, trace = run(lambda n: 0.0 if n < n_columns else 1e6)
    assert len(ensemble) == n_columns
    assert trace.certificate.status is Status.OPTIMAL


@pytest.mark.parametrize(("cost", "status"), [(0.0, Status.MAX_COLUMNS), (1e6, Status.OPTIMAL)])
def test_after_max_columns_the_cost_decides_whether_one_is_missing(run, cost, status):
    ensemble, trace = run(lambda n: 0.0 if n < 5 else cost, max_columns=5)
    assert len(ensemble) == 5
    assert trace.certificate.status is status
