"""The loop with stage-wise masters: learners may be added again, and there is no bound."""

from __future__ import annotations

import numpy as np
import pytest

from cgens import generate_columns
from cgens.masters import AdaBoost, AdaBoostECC
from cgens.types import Status
from cgens.weak_learners import Stump
from tests.contract.tables import FAMILIES
from tests.contract.targets import noisy_signs, three_class_signs, three_noisy_signs
from tests.reference.naive_adaboost import ecc_loss, naive_adaboost_mh
from tests.reference.naive_stumps import naive_pool, pool_matrix
from tests.tolerances import CLOSED_FORM


@pytest.mark.parametrize("rule", ["max", "votes"])
@pytest.mark.parametrize("make_target", [noisy_signs, three_noisy_signs])
def test_a_learner_may_be_added_again(make_target, rule, rng):
    """Each round takes the best of *all* stumps, also of those that it took before."""
    X = rng.integers(0, 4, size=(60, 3)).astype(float)
    target, weight = make_target(rng, X[:, 0] - X[:, 1]), rng.integers(1, 4, 60).astype(float)
    pool = naive_pool(X)
    H = pool_matrix(pool, 60)
    ensemble, trace = generate_columns(
        AdaBoost(), Stump(), X, target, sample_weight=weight, max_columns=30, pricing=rule
    )
    assert trace.certificate.status is Status.MAX_COLUMNS
    assert len({learner.key for learner in ensemble.learners}) <= len(pool) < len(ensemble) == 30
    responses = ensemble.respond(X).astype(float)
    stages = naive_adaboost_mh(responses, target, weight)
    assert np.allclose(ensemble.weights, [stage.weights for stage in stages], rtol=0, atol=CLOSED_FORM)
    assert np.allclose(trace.primal, [1.0, *(stage.loss for stage in stages)], rtol=CLOSED_FORM)
    duals = target * (weight / (weight.sum() * target.shape[1]))[:, None]
    for k, stage in enumerate(stages):
        prices, own = np.abs(H.T @ duals), np.abs(responses[:, k] @ duals)
        best, found = (prices.max(), own.max()) if rule == "max" else (prices.sum(axis=1).max(), own.sum())
        assert found == pytest.approx(best, abs=CLOSED_FORM)
        assert trace.price[k + 1] == pytest.approx(own.max(), abs=CLOSED_FORM)
        duals = stage.duals


STAGE_WISE = {
    "AdaBoost": (AdaBoost(), noisy_signs, "max"),
    "AdaBoost.MH": (AdaBoost(), three_class_signs, "votes"),
    "AdaBoost.MH, labels": (AdaBoost(), three_noisy_signs, "votes"),
    "AdaBoost.ECC": (AdaBoostECC(3), three_class_signs, "max"),
}


@pytest.mark.parametrize("family", [name for name, case in FAMILIES.items() if case.in_loop])
@pytest.mark.parametrize("name", STAGE_WISE)
def test_stage_wise_masters_go_with_every_family(name, family, rng):
    """In every round the primal is the loss of the model; there is no bound, and none is claimed."""
    spec, make_target, rule = STAGE_WISE[name]
    X = rng.normal(size=(60, 3)).round(1)
    target = make_target(rng, X[:, 0] - X[:, 1])
    options = {"max_columns": 12, "pricing": rule}
    (ensemble, trace), (again, other) = (
        generate_columns(spec, FAMILIES[family].spec, X, target, rng=np.random.default_rng(5), n_threads=n, **options)
        for n in (1, 2)
    )
    certificate = trace.certificate
    assert certificate.status is Status.MAX_COLUMNS
    assert ensemble.weights.shape == (12, target.shape[1])
    assert len(ensemble.history) == len(trace) == 13
    assert (certificate.dual, certificate.relative_gap, certificate.scope) == (0.0, 1.0, "restricted")
    assert certificate.full_lower_bound is certificate.full_relative_gap is None
    assert (certificate.n_candidates is not None) == FAMILIES[family].finite
    for k, decision in enumerate(ensemble.staged(X), start=1):
        if name == "AdaBoost.ECC":
            loss = ecc_loss(decision, target.argmax(axis=1), np.ones(60))
        else:
            loss = np.mean(np.exp(-target * decision))
        assert trace.primal[k] == pytest.approx(loss, rel=CLOSED_FORM)
        assert trace.primal[k] < trace.primal[k - 1]
    assert again.learners == ensemble.learners
    assert np.array_equal(again.weights, ensemble.weights)
    assert np.array_equal(other.duals, trace.duals)


def test_a_perfect_learner_ends_a_stage_wise_fit():
    X, y = np.arange(6.0)[:, None], np.repeat([-1.0, 1.0], 3)
    ensemble, trace = generate_columns(AdaBoost(), Stump(), X, y)
    assert len(ensemble) == 1
    assert trace.certificate.status is Status.OPTIMAL
    assert (trace.certificate.primal, trace.certificate.relative_gap) == (0.0, 0.0)
    assert np.array_equal(np.sign(ensemble.decision(X)[:, 0]), y)


def test_a_stage_wise_fit_cannot_be_continued(rng):
    """Its earlier rounds cannot be recovered from the columns."""
    X = rng.normal(size=(40, 2))
    y = noisy_signs(rng, X[:, 0])
    half, _ = generate_columns(AdaBoost(), Stump(), X, y, max_columns=5)
    with pytest.raises(ValueError, match="one column"):
        generate_columns(AdaBoost(), Stump(), X, y, max_columns=10, initial=half)
