"""The paper's claims hold on small data, by pools that are enumerated."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cgens.weak_learners import Stump
from experiments import claims, literal
from experiments.experiment import QUICK
from tests.experiments.fakes import small_split
from tests.tolerances import CLOSED_FORM


def every_stump(X) -> set[tuple[int, ...]]:
    """Return the answers of all stumps of both signs that are not constant, by trying every threshold."""
    found = set()
    for feature, sign in itertools.product(range(X.shape[1]), (1, -1)):
        for threshold in np.concatenate([X[:, feature] + shift for shift in (-0.5, 0.0, 0.5)]):
            found.add(tuple(sign if row[feature] > threshold else -sign for row in X))
    return {answers for answers in found if len(set(answers)) == 2}


@pytest.mark.parametrize("seed", range(5))
def test_the_pool_has_every_stump_once(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(7, 3)).astype(float)
    X = np.column_stack([X, X[:, 0], -2 * X[:, 1], np.full(7, 3.0)])  # the same stumps again, and a constant
    pool = claims.stump_pool(X)
    assert set(np.unique(pool)) <= {-1.0, 1.0}
    one_sign = {tuple(column) for column in pool.astype(int).tolist()}
    assert len(one_sign) == len(pool)
    other_sign = {tuple(-answer for answer in column) for column in one_sign}
    assert one_sign.isdisjoint(other_sign)
    assert one_sign | other_sign == every_stump(X)


@pytest.mark.parametrize("seed", range(3))
def test_both_claims_hold(seed):
    split = small_split(seed=seed)
    first, second = claims._claim1(split, 0, QUICK, {}), claims._claim2(split, 0, QUICK, {})
    assert first.error == 0.0
    assert second.error == 0.0
    assert first.params["rounds"] >= 10
    assert second.params["rounds"] >= 10
    assert first.params["pool"] == second.params["pool"] == 15
    # The duals are optimal up to a relative gap of TOL, and so is the identity.
    assert first.params["gap_identity"] <= literal.TOL + CLOSED_FORM


def test_both_claims_hold_with_more_values_than_bins():
    """The pool has a threshold between every two neighbours: so must the search."""
    split = small_split(n_rows=300, n_values=10**6, n_features=2)
    assert len(np.unique(split.X[:, 0])) > Stump().max_bins
    assert claims._claim1(split, 0, QUICK, {}).error == 0.0
    assert claims._claim2(split, 0, QUICK, {}).error == 0.0


def test_the_claims_would_fail_if_they_were_wrong(monkeypatch):
    """With a search that looks at one threshold a feature."""
    monkeypatch.setattr(literal, "ALL_STUMPS", Stump(2))
    split = small_split()
    assert claims._claim1(split, 0, QUICK, {}).error > 0.0
    assert claims._claim2(split, 0, QUICK, {}).error > 0.0
