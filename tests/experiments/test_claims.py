"""The paper's claims hold on small data, checked against enumerated pools of stumps."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cgens.weak_learners import Stump
from experiments import literal
from experiments.claims import check_claim1, check_claim2, stump_pool
from experiments.experiment import QUICK
from tests.experiments.fakes import small_split
from tests.tolerances import CLOSED_FORM


def every_stump(X) -> set[tuple[int, ...]]:
    """Return the responses of all stumps that are not constant, by trying every threshold and both signs."""
    found = set()
    for feature, sign in itertools.product(range(X.shape[1]), (1, -1)):
        for threshold in np.concatenate([X[:, feature] + shift for shift in (-0.5, 0.0, 0.5)]):
            found.add(tuple(sign if row[feature] > threshold else -sign for row in X))
    return {responses for responses in found if len(set(responses)) == 2}


@pytest.mark.parametrize("seed", range(3))
def test_the_pool_has_every_stump_once_up_to_sign(seed):
    X = np.random.default_rng(seed).integers(0, 4, size=(7, 3)).astype(float)
    X = np.column_stack([X, X[:, 0], -2 * X[:, 1], np.full(7, 3.0)])  # the same stumps again, and a constant
    pool = [tuple(column) for column in stump_pool(X).astype(int).tolist()]
    negated = {tuple(-response for response in column) for column in pool}
    assert len(set(pool)) == len(pool)
    assert negated.isdisjoint(pool)
    assert negated | set(pool) == every_stump(X)


@pytest.mark.parametrize(
    ("split", "pool"), [(small_split(), 15), (small_split(seed=1), 15), (small_split(300, 10**6, 2), 598)]
)
def test_both_claims_hold(split, pool):
    """Also with more values than the default number of bins."""
    first, second = (check(split, 0, QUICK, {}) for check in (check_claim1, check_claim2))
    assert first.error == second.error == 0.0
    assert min(first.params["rounds"], second.params["rounds"]) >= 10
    assert first.params["pool"] == second.params["pool"] == pool
    # The duals are optimal up to a relative gap of TOL, and so is the identity.
    assert first.params["gap_identity"] <= literal.TOL + CLOSED_FORM


def test_the_checks_fail_with_a_search_over_two_bins(monkeypatch):
    monkeypatch.setattr(literal, "ALL_STUMPS", Stump(2))
    for check in (check_claim1, check_claim2):
        assert check(small_split(), 0, QUICK, {}).error > 0.0
