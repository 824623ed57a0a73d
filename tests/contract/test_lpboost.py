"""LPBoost: the optimum of the linear program over every stump, found without most of them."""

from __future__ import annotations

import numpy as np
import pytest

from cgens import generate_columns
from cgens.masters import LPBoost
from cgens.types import Duals, Sample, Status
from cgens.weak_learners import Fourier, Stump
from tests.contract.tables import lpboost_case, never
from tests.reference.naive_lp import best_rho, naive_lpboost, naive_nu_lpboost
from tests.reference.naive_stumps import naive_pool, pool_matrix
from tests.tolerances import BALANCE, CLOSED_FORM, INTERIOR, NEGATIVE_GAP

#: HiGHS and SciPy's build of it both stop at feasibilities of at most 1e-7, for objectives of some tens.
LP_OBJECTIVE = 1e-7

every_solver = pytest.mark.parametrize("solver", ["dual", "primal", "ipm"])
c_and_nu = pytest.mark.parametrize("parameters", [{"C": 0.3}, {"nu": 0.7}], ids=str)


@pytest.fixture
def data(rng):
    """Return a table with ties, labels of +-1 with some noise, and weights."""
    X = np.column_stack([rng.normal(size=(50, 3)).round(1), rng.integers(0, 3, 50)])
    y = np.where(X[:, 0] - X[:, 1] + 0.7 * rng.normal(size=50) > 0, 1.0, -1.0)
    return X, y, rng.integers(1, 5, 50) / 2.0


def fitted(spec, data, weight, family=None, **options):
    X, y, _ = data
    options = {"tol": 1e-9, "price_tol": 1e-9, "max_columns": 10_000, **options}
    return generate_columns(spec, family or Stump(max_bins=None), X, y, sample_weight=weight, **options)


def optimum(spec, H, y, weight):
    """Return the optimum by SciPy, over columns of shape (m, n)."""
    if spec.nu is None:
        return naive_lpboost(H, y, spec.C * weight)
    return naive_nu_lpboost(H, y, weight / weight.sum(), spec.nu)


def begun(spec, data, n_copies=1):
    """Return the restricted master over 20 stumps on all features, its target and its weights."""
    X, y, weight = data[0], np.tile(data[1], n_copies), np.tile(data[2], n_copies)
    restricted, pool = spec.begin(y[:, None], weight, 1), naive_pool(X)
    for stump in pool[:: len(pool) // 20][:20]:
        restricted.add(np.tile(np.array(stump.response, dtype=np.int8), n_copies))
    return restricted, y[:, None], weight


#: With C = 1e-3 no column is worth its cost, and with nu = 1 no row is cut off.
SPECS = [
    *(LPBoost(C=C) for C in (1e-3, 0.05, 0.3, 1.0, 10.0, 1e4)),
    *(LPBoost(nu=nu) for nu in (0.3, 0.5, 0.7, 1.0)),
    *(LPBoost(**own, solver=solver) for own in ({"C": 0.3}, {"C": 10.0}, {"nu": 0.5}) for solver in ("primal", "ipm")),
]
WEIGHTS = {
    "none": lambda data: np.ones(50),
    "halves": lambda data: data[2],
    "very different": lambda data: 10.0 ** np.random.default_rng(7).uniform(-4, 4, 50),
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_the_optimum_is_that_of_all_stumps(spec, weights, data):
    """At the end no stump is priced above the cost: 1, or with nu the largest price of a column (EQ:LPB_Dual)."""
    y, weight = data[1], WEIGHTS[weights](data)
    H = pool_matrix(naive_pool(data[0], weight), len(y))
    best, tol = optimum(spec, H, y, weight), INTERIOR if spec.solver == "ipm" or weights == "very different" else 1e-9
    ensemble, trace = fitted(spec, data, weight, tol=tol, price_tol=tol)
    certificate, slack = trace.certificate, max(LP_OBJECTIVE, 10 * tol) * max(1.0, abs(best))
    assert certificate.status is Status.OPTIMAL
    assert certificate.primal == pytest.approx(best, abs=slack)
    assert certificate.relative_gap <= tol
    assert certificate.full_relative_gap <= max(LP_OBJECTIVE, 10 * tol)
    assert certificate.n_candidates == H.shape[1]
    assert len(ensemble) < H.shape[1] / 2, "found without most of them"
    assert (len(ensemble) == 0) == (spec.nu is None and spec.C * weight.sum() < 1), "no price can reach the cost"
    costs = np.ones(len(trace)) if spec.nu is None else 2.0 - trace.dual
    assert np.all(trace.price[1:] > costs[:-1])
    assert np.all(np.diff(costs) >= -CLOSED_FORM) or spec.solver == "ipm", "with nu it grows with every column"
    alphas = y * trace.duals[:, 0]
    assert np.abs(H.T @ trace.duals).max() <= costs[-1] + 2 * tol * alphas.sum()
    assert lpboost_case(spec).infeasibility(H[:, :0], y[:, None], weight, trace.duals) <= BALANCE
    scale = max(1.0, abs(best))
    assert np.all(np.isfinite(trace.full_lower_bound))
    assert trace.full_lower_bound.max() == pytest.approx(best, abs=slack)
    assert trace.full_lower_bound.max() <= min(best + LP_OBJECTIVE * scale, trace.primal.min() + NEGATIVE_GAP * scale)
    assert trace.primal.min() >= best - LP_OBJECTIVE * scale


def test_nu_is_about_the_share_of_rows_below_the_margin(data):
    """At most nu are below it, and at least nu below or on it (Demiriz et al., 2002)."""
    X, y, weight = data
    share = weight / weight.sum()
    for nu in (0.3, 0.5, 0.7):
        ensemble, _ = fitted(LPBoost(nu=nu), data, weight)
        assert np.abs(ensemble.weights).sum() == pytest.approx(1.0, rel=CLOSED_FORM)
        margins = y * ensemble.decision(X)[:, 0]
        rho = best_rho(ensemble.respond(X).astype(float), y, share / nu, ensemble.weights[:, 0])
        assert share[margins < rho - LP_OBJECTIVE].sum() <= nu + CLOSED_FORM
        assert share[margins <= rho + LP_OBJECTIVE].sum() >= nu - CLOSED_FORM


@every_solver
@c_and_nu
def test_the_sign_of_a_column_and_its_copies_do_not_matter(solver, parameters, data):
    """-h is in the program with h, and the same response again is no new one."""
    X, y, weight = data
    values = []
    for columns in ([0, 9, 20, 31], [0, 9, 9, 20, 31, 31]):
        for sign in (1, -1):
            restricted = LPBoost(**parameters, solver=solver).begin(y[:, None], weight, 1)
            for k in columns:
                restricted.add(sign * np.array(naive_pool(X)[k].response, dtype=np.int8))
            values.append(restricted.solve(INTERIOR, never).primal)
    assert np.ptp(values) <= 10 * INTERIOR * abs(values[0])


def assert_feasible(solution, spec, target, weight):
    assert solution.weights.shape == (20, 1)
    assert solution.intercept.tolist() == [0.0]
    assert np.isfinite([solution.primal, solution.dual, *solution.weights[:, 0]]).all()
    assert solution.primal >= solution.dual - NEGATIVE_GAP
    assert lpboost_case(spec).infeasibility(np.zeros((len(target), 0)), target, weight, solution.duals.array) <= BALANCE


@c_and_nu
@every_solver
@pytest.mark.parametrize("max_iter", [0, 1, 3])
def test_a_solve_stopped_by_max_iter_is_feasible(max_iter, solver, parameters, data):
    spec = LPBoost(**parameters, solver=solver, max_iter=max_iter)
    restricted, *problem = begun(spec, data)
    solution = restricted.solve(1e-9, never)
    assert solution.status is Status.NOT_CONVERGED
    assert solution.relative_gap > 1e-9
    assert solution.n_iter <= max_iter
    assert_feasible(solution, spec, *problem)


@pytest.mark.parametrize("n_calls", [1, 3])
@c_and_nu
@every_solver
def test_an_interrupted_solve_is_feasible(solver, parameters, n_calls, data):
    spec, calls = LPBoost(**parameters, solver=solver), []
    restricted, *problem = begun(spec, data, n_copies=40)
    solution = restricted.solve(1e-9, lambda: bool(calls.append(1) or len(calls) >= n_calls))
    assert len(calls) >= n_calls
    assert solution.status is Status.INTERRUPTED
    assert_feasible(solution, spec, *problem)


def test_max_iter_limits_a_single_solve(data):
    """Not all solves of a fit together."""
    _, free = fitted(LPBoost(C=10.0), data, None)
    most = int(free.n_iter.max())
    _, limited = fitted(LPBoost(C=10.0, max_iter=most + 1), data, None)
    assert free.n_iter.sum() > 2 * most
    assert limited.certificate.status is Status.OPTIMAL
    assert limited.certificate.primal == free.certificate.primal


def test_the_bounds_of_a_fit_stopped_by_max_iter_are_valid(data):
    _, trace = fitted(LPBoost(C=10.0, max_iter=2), data, None, max_columns=20)
    best = optimum(LPBoost(C=10.0), pool_matrix(naive_pool(data[0]), 50), data[1], np.ones(50))
    assert trace.certificate.status is Status.NOT_CONVERGED
    assert trace.certificate.relative_gap > 1e-9
    assert trace.certificate.full_lower_bound <= best * (1 + LP_OBJECTIVE)
    assert trace.certificate.primal >= best * (1 - LP_OBJECTIVE)


@pytest.mark.parametrize("parameters", [{"C": 0.3}, {"nu": 0.55}], ids=str)
def test_a_fit_of_learned_columns_does_not_end_while_every_new_search_finds_more(parameters, data):
    """Without a pool nothing is proved, but a few dozen old candidates below the cost are no reason to stop."""
    X = data[0]
    family, rng = Fourier(learn=True), np.random.default_rng(2)
    ensemble, trace = fitted(LPBoost(**parameters), data, None, family=family, rng=rng, max_columns=300)
    assert trace.certificate.status is Status.OPTIMAL
    cost = 1.0 if "C" in parameters else 2.0 - trace.certificate.dual
    taken = {learner.key: None for learner in ensemble.learners}
    found = []
    for seed in range(10, 15):
        pricer = family.begin(Sample(X, np.arange(50), np.ones(50)), np.random.default_rng(seed), 1)
        found.append(pricer.price(Duals(trace.duals), taken.keys(), "max").largest_price())
    assert min(found) <= cost


def test_real_columns_reach_the_optimum_of_their_pool(data):
    X, y, weight = data
    family = Fourier(n_candidates=50, learn=False)
    pool = family.begin(Sample(X, np.arange(50), weight), np.random.default_rng(1), 1).pool()
    H = np.array([learner.respond(X) for learner in pool], dtype=float).T
    for spec in (LPBoost(C=0.3), LPBoost(nu=0.5)):
        _, trace = fitted(spec, data, weight, family=family, rng=np.random.default_rng(1))
        best = optimum(spec, H, y, weight)
        assert trace.certificate.primal == pytest.approx(best, abs=LP_OBJECTIVE * max(1.0, abs(best)))
        assert trace.certificate.full_relative_gap <= 1e-7


@every_solver
@pytest.mark.parametrize("parameters", [{"C": 10.0}, {"nu": 0.5}], ids=str)
def test_separable_rows(parameters, solver):
    """One stump makes no mistake: with |w| = 1 there is no loss, and the largest margin is 1."""
    X, y = np.arange(6.0)[:, None], np.repeat([-1.0, 1.0], 3)
    tol = INTERIOR if solver == "ipm" else 1e-9
    ensemble, trace = generate_columns(LPBoost(**parameters, solver=solver), Stump(), X, y, tol=tol)
    assert trace.certificate.primal == pytest.approx(1.0, abs=10 * tol)
    assert np.allclose(ensemble.decision(X)[:, 0], y, rtol=0, atol=1e-3 if solver == "ipm" else CLOSED_FORM)


def test_rows_of_one_class():
    """There is no intercept, and h = 1 is no stump: no stump is better than none, and half of the rows are lost."""
    X, y = np.arange(6.0)[:, None], np.ones(6)
    _, trace = generate_columns(LPBoost(C=1.0), Stump(), X, y, tol=1e-9)
    best = optimum(LPBoost(C=1.0), pool_matrix(naive_pool(X), 6), y, np.ones(6))
    assert trace.certificate.status is Status.OPTIMAL
    assert trace.certificate.primal == pytest.approx(best, abs=LP_OBJECTIVE)
