"""LPBoost is the linear program over all stumps, and nu is about the share below the margin."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from cgens.baselines import LPBoostClassifier
from cgens.types import Status
from tests.integration.small_data import SMALL_DATA, noisy
from tests.models import make
from tests.tolerances import CLOSED_FORM, TIGHT


@pytest.mark.parametrize(("data", "C"), [("noisy", 0.3), ("contradictory", 0.06)])
@pytest.mark.parametrize("solver", ["dual", "primal", "ipm"])
def test_lpboost_is_the_linear_program_over_all_stumps(data, solver, C):
    X, y = SMALL_DATA[data]()
    model = make("LPBoost", C=C, n_estimators=10_000, solver=solver).fit(X, y)
    signs = np.where(y > 0, 1.0, -1.0)
    columns = signs * all_stumps(X)
    cost = np.concatenate([np.ones(2 * len(columns)), np.full(len(y), C)])
    constraints = -np.hstack([columns.T, -columns.T, np.eye(len(y))])
    best = linprog(cost, A_ub=constraints, b_ub=-np.ones(len(y)), method="highs").fun
    assert model.certificate_.status is Status.OPTIMAL
    assert model.certificate_.primal == pytest.approx(best, rel=TIGHT if solver != "ipm" else model.tol)
    assert model.certificate_.full_relative_gap <= model.tol
    objective = np.abs(model.ensemble_.weights).sum() + C * np.maximum(0, 1 - signs * model.decision_function(X)).sum()
    assert model.certificate_.primal == pytest.approx(objective, rel=CLOSED_FORM)


@pytest.mark.parametrize("nu", [0.1, 0.3, 0.6])
@pytest.mark.parametrize("data", ["noisy", "wine"])
def test_nu_is_about_the_share_below_the_margin(data, nu):
    X, y = SMALL_DATA[data]()
    model = make("LPBoost of nu", nu=nu, n_estimators=10_000).fit(X, y)
    assert np.abs(model.ensemble_.weights).sum() == pytest.approx(1.0, rel=CLOSED_FORM)
    margins = np.where(y > 0, 1.0, -1.0) * model.decision_function(X)
    shares = np.abs(model.duals_)
    assert shares.sum() == pytest.approx(1.0, rel=CLOSED_FORM)
    assert shares.max() <= (1 + CLOSED_FORM) / (nu * len(y))
    inside = (shares > CLOSED_FORM) & (shares < (1 - CLOSED_FORM) / (nu * len(y)))
    rho = margins[inside].mean() if inside.any() else margins[shares > CLOSED_FORM].max()
    assert np.mean(margins < rho - CLOSED_FORM) <= nu + CLOSED_FORM
    assert np.mean(margins <= rho + CLOSED_FORM) >= nu - CLOSED_FORM


#: No mixture of stumps has a positive margin here, in the whole pool or in the first columns: the optimum is 0.
WITHOUT_A_MARGIN = {
    "six rows": ([[2.0], [1.0], [2.0], [1.0], [0.0], [1.0]], [0, 1, 1, 0, 1, 0], 0.5, 500),
    "ten columns": (*noisy(), 0.3, 10),
}


@pytest.mark.parametrize("name", WITHOUT_A_MARGIN)
def test_a_margin_of_zero_is_an_optimum_like_any_other(name):
    """Primal and dual are 2 but for rounding: that is no gap. The weights are 0, and that alone is told."""
    X, y, nu, n_columns = WITHOUT_A_MARGIN[name]
    with pytest.warns(UserWarning, match="columns? have the weight 0") as told:
        model = LPBoostClassifier(nu=nu, n_estimators=n_columns).fit(X, y)
    assert len(told) == 1
    assert model.certificate_.status in (Status.OPTIMAL, Status.MAX_COLUMNS)
    assert model.certificate_.primal == pytest.approx(2, abs=CLOSED_FORM)
    assert model.certificate_.relative_gap <= model.tol
    assert np.all(np.isfinite(model.decision_function(X)))


def test_the_cost_of_an_earlier_fit_is_gone():
    """With `nu` there is no C_, as the docstring says."""
    X, y = noisy()
    model = LPBoostClassifier(n_estimators=5).fit(X, y)
    assert model.C_ == 100 / 90
    assert not hasattr(model.set_params(nu=0.6).fit(X, y), "C_")


def all_stumps(X):
    """Return the responses of all stumps, shape (n_stumps, n)."""
    values = [np.unique(feature) for feature in X.T]
    cuts = [(f, cut) for f, own in enumerate(values) for cut in 0.5 * (own[1:] + own[:-1])]
    return np.array([np.where(X[:, f] > cut, 1.0, -1.0) for f, cut in cuts])
