"""LPBoost: the optimum of the linear program over every stump, found without most of them."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from cgens import generate_columns
from cgens.masters import LPBoost
from cgens.types import Duals, Sample, Status
from cgens.weak_learners import Fourier, Stump
from tests.reference.naive_lp import best_rho, naive_lpboost, naive_nu_lpboost
from tests.reference.naive_stumps import naive_pool, pool_matrix
from tests.tolerances import BALANCE, BOX, CLOSED_FORM, NEGATIVE_GAP

#: HiGHS and SciPy's build of it both stop at feasibilities of at most 1e-7, for objectives of some tens.
LP_OBJECTIVE = 1e-7
#: Without crossover the interior point method stops at a relative gap of 1e-8.
INTERIOR = 1e-6

SOLVERS = ("dual", "primal", "ipm")
#: C or nu, over the data of `data`; 1e-3 is so little that no column is worth its cost, and nu = 1 cuts no row off.
SPECS = {
    **{f"C = {C}": LPBoost(C=C) for C in (1e-3, 0.05, 0.3, 1.0, 10.0, 1e4)},
    **{f"nu = {nu}": LPBoost(nu=nu) for nu in (0.3, 0.5, 0.7, 1.0)},
}


def never() -> bool:
    return False


@pytest.fixture
def data(rng):
    """Return a table with ties, labels of +-1 with some noise, and weights."""
    X = np.column_stack([rng.normal(size=(50, 3)).round(1), rng.integers(0, 3, 50)])
    y = np.where(X[:, 0] - X[:, 1] + 0.7 * rng.normal(size=50) > 0, 1.0, -1.0)
    return X, y, rng.integers(1, 5, 50) / 2.0


@pytest.fixture(params=SPECS)
def spec(request):
    return SPECS[request.param]


def fitted(spec, data, weight=None, family=None, **options):
    X, y, _ = data
    options = {"tol": 1e-9, "price_tol": 1e-9, "max_columns": 10_000, **options}
    return generate_columns(spec, family or Stump(max_bins=None), X, y, sample_weight=weight, **options)


def best_over_all_stumps(spec, data, weight=None):
    """Return the optimum by SciPy, and the responses of all stumps, shape (m, n)."""
    X, y, _ = data
    weight = np.ones(len(y)) if weight is None else weight
    H = pool_matrix(naive_pool(X, weight), len(y))
    if spec.nu is None:
        return naive_lpboost(H, y, spec.C * weight), H
    return naive_nu_lpboost(H, y, weight / weight.sum(), spec.nu), H


def begun(spec, data, n_columns=10, n_copies=1):
    """Return the live master over some stumps."""
    X, y, weight = data
    live = spec.begin(np.tile(y, n_copies)[:, None], np.tile(weight, n_copies), 1)
    for column in some_stumps(X, n_columns).T:
        live.add(np.tile(column, n_copies))
    return live


def some_stumps(X, n_columns):
    """Return the responses of stumps on all features, shape (m, n_columns)."""
    pool = naive_pool(X)
    return np.array([stump.response for stump in pool[:: len(pool) // n_columns][:n_columns]], dtype=np.int8).T


@pytest.mark.parametrize("weighted", [False, True])
def test_the_optimum_is_that_of_all_stumps(spec, data, weighted):
    weight = data[2] if weighted else None
    best, H = best_over_all_stumps(spec, data, weight)
    ensemble, trace = fitted(spec, data, weight)
    certificate = trace.certificate
    assert certificate.status is Status.OPTIMAL
    assert certificate.primal == pytest.approx(best.value, abs=LP_OBJECTIVE * max(1.0, abs(best.value)))
    assert certificate.relative_gap <= 1e-9
    assert certificate.full_relative_gap <= 1e-7
    assert certificate.n_candidates == H.shape[1]
    assert len(ensemble) < H.shape[1] / 2, "found without most of them"


@pytest.mark.parametrize("weighted", [False, True])
def test_no_stump_is_priced_above_the_cost_in_the_end(spec, data, weighted):
    """EQ:LPB_Dual: 1, or with nu the edge of the best column there is; and the duals keep to their box."""
    weight = data[2] if weighted else np.ones(50)
    _, H = best_over_all_stumps(spec, data, weight)
    _, trace = fitted(spec, data, weight)
    alphas, largest = data[1] * trace.duals[:, 0], np.abs(H.T @ trace.duals).max()
    bound = spec.C * weight if spec.nu is None else weight / (spec.nu * weight.sum())
    cost = 1.0 if spec.nu is None else 2.0 - trace.certificate.dual
    assert largest <= cost + 2e-9 * alphas.sum()
    assert alphas.min() >= 0
    assert np.all(alphas <= bound * (1 + BOX))
    if spec.nu is not None:
        assert alphas.sum() == pytest.approx(1.0, abs=BALANCE)


def test_the_bound_of_the_pool_is_below_the_optimum_in_every_round(spec, data):
    """And it is that of the round's duals scaled until no price is above the cost."""
    best, _ = best_over_all_stumps(spec, data, data[2])
    _, trace = fitted(spec, data, data[2])
    scale = max(1.0, abs(best.value))
    known = trace.full_lower_bound[np.isfinite(trace.full_lower_bound)]
    assert len(known) == len(trace)
    assert np.all(known <= best.value + LP_OBJECTIVE * scale)
    assert np.all(trace.primal >= best.value - LP_OBJECTIVE * scale)
    assert np.all(known <= trace.primal.min() + NEGATIVE_GAP * scale)
    assert known.max() == pytest.approx(best.value, abs=LP_OBJECTIVE * scale)


def test_columns_are_added_only_above_the_cost(data):
    _, trace = fitted(LPBoost(C=1.0), data)
    assert np.all(trace.score[1:] > 1.0)
    assert trace.certificate.max_price <= 1.0 + 1e-9 * np.abs(trace.duals).sum()


def test_with_nu_columns_are_added_only_above_the_edge_there_is(data):
    """The cost is another one in every round."""
    _, trace = fitted(LPBoost(nu=0.5), data)
    assert np.all(trace.score[1:] > 2.0 - trace.dual[:-1])
    assert np.all(np.diff(trace.dual) <= CLOSED_FORM), "which grows with every column"


def test_with_a_tiny_c_no_column_is_worth_its_cost(data):
    """50 rows of 1e-3: no price reaches 1. The model is 0, and every row has its whole loss."""
    ensemble, trace = fitted(LPBoost(C=1e-3), data)
    assert len(ensemble) == 0
    assert trace.certificate.primal == trace.certificate.dual == pytest.approx(0.05, rel=CLOSED_FORM)
    assert ensemble.decision(data[0]).tolist() == [[0.0]] * 50


def test_nu_is_about_the_share_of_rows_below_the_margin(data):
    """At most nu lie below it, and at least nu below or on it (Demiriz et al., 2002)."""
    X, y, weight = data
    share = weight / weight.sum()
    for nu in (0.3, 0.5, 0.7):
        ensemble, _ = fitted(LPBoost(nu=nu), data, weight)
        assert np.abs(ensemble.weights).sum() == pytest.approx(1.0, rel=CLOSED_FORM)
        margins = y * ensemble.decision(X)[:, 0]
        rho = best_rho(ensemble.respond(X).astype(float), y, share / nu, ensemble.weights[:, 0])
        assert share[margins < rho - LP_OBJECTIVE].sum() <= nu + CLOSED_FORM
        assert share[margins <= rho + LP_OBJECTIVE].sum() >= nu - CLOSED_FORM


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("parameters", [{"C": 0.3}, {"C": 10.0}, {"nu": 0.5}], ids=str)
def test_the_three_solvers_agree(solver, parameters, data):
    tol = INTERIOR if solver == "ipm" else 1e-9
    best, _ = best_over_all_stumps(LPBoost(**parameters), data, data[2])
    _, trace = fitted(LPBoost(**parameters, solver=solver), data, data[2], tol=tol, price_tol=tol)
    assert trace.certificate.status is Status.OPTIMAL
    assert trace.certificate.full_relative_gap <= 10 * tol
    assert trace.certificate.primal == pytest.approx(best.value, rel=10 * tol, abs=LP_OBJECTIVE)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("parameters", [{"C": 0.3}, {"nu": 0.7}], ids=str)
def test_a_column_changes_nothing_by_its_sign_or_its_copy(solver, parameters, data):
    """-h is in the program with h, and the same response twice is no new one."""
    X, y, weight = data
    values = []
    for columns in ([0, 9, 20, 31], [0, 9, 9, 20, 31, 31]):
        for sign in (1, -1):
            live = LPBoost(**parameters, solver=solver).begin(y[:, None], weight, 1)
            for k in columns:
                live.add(sign * np.array(naive_pool(X)[k].response, dtype=np.int8))
            values.append(live.solve(INTERIOR, never).primal)
    assert np.ptp(values) <= 10 * INTERIOR * abs(values[0])


@pytest.mark.parametrize("parameters", [{"C": 0.3}, {"C": 30.0}, {"nu": 0.7}], ids=str)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("max_iter", [0, 1, 3])
def test_stopped_early_it_says_so_and_what_it_has_is_feasible(max_iter, solver, parameters, data):
    _, y, weight = data
    live = begun(LPBoost(**parameters, solver=solver, max_iter=max_iter), data, 20)
    solution = live.solve(1e-9, never)
    assert solution.status is Status.NOT_CONVERGED
    assert solution.relative_gap > 1e-9
    assert_feasible(solution, parameters, y, weight, 20)
    assert solution.n_iter <= max_iter


def test_iterations_are_limited_in_one_solve_not_in_all(data):
    _, free = fitted(LPBoost(C=10.0), data)
    most = int(free.n_iter.max())
    _, limited = fitted(LPBoost(C=10.0, max_iter=most + 1), data)
    assert free.n_iter.sum() > 2 * most
    assert limited.certificate.status is Status.OPTIMAL
    assert limited.certificate.primal == free.certificate.primal


def assert_feasible(solution, parameters, y, weight, n_columns):
    alphas = y * solution.duals.array[:, 0]
    assert solution.weights.shape == (n_columns, 1)
    assert np.all(np.isfinite(solution.weights))
    assert solution.intercept.tolist() == [0.0]
    assert solution.primal >= solution.dual - NEGATIVE_GAP
    assert np.isfinite([solution.primal, solution.dual]).all()
    assert alphas.min() >= 0
    if "C" in parameters:
        assert np.all(alphas <= parameters["C"] * weight * (1 + BOX))
        assert alphas.sum() == pytest.approx(solution.dual, rel=CLOSED_FORM)
    else:
        assert np.all(alphas <= weight / (parameters["nu"] * weight.sum()) * (1 + BOX))
        assert alphas.sum() == pytest.approx(1.0, abs=BALANCE)


def test_a_fit_stopped_early_says_so(data):
    """Whatever its columns are, the certificate's bounds are bounds."""
    best, _ = best_over_all_stumps(LPBoost(C=10.0), data)
    _, trace = fitted(LPBoost(C=10.0, max_iter=2), data, max_columns=20)
    certificate = trace.certificate
    assert certificate.status is Status.NOT_CONVERGED
    assert certificate.relative_gap > 1e-9
    assert certificate.full_lower_bound <= best.value * (1 + LP_OBJECTIVE)
    assert certificate.primal >= best.value * (1 - LP_OBJECTIVE)


def stop_after(n):
    """Return a poll that says stop from its n-th call on, and the calls."""
    asked = []
    return lambda: bool(asked.append(1) or len(asked) >= n), asked


@pytest.mark.parametrize("n_calls", [1, 3])
@pytest.mark.parametrize("parameters", [{"C": 0.3}, {"nu": 0.7}], ids=str)
@pytest.mark.parametrize("solver", SOLVERS)
def test_an_interrupted_solve_returns_what_there_is(solver, parameters, n_calls, data):
    live = begun(LPBoost(**parameters, solver=solver), data, 20, n_copies=40)
    poll, asked = stop_after(n_calls)
    solution = live.solve(1e-9, poll)
    assert len(asked) >= n_calls
    assert solution.status is Status.INTERRUPTED
    assert_feasible(solution, parameters, np.tile(data[1], 40), np.tile(data[2], 40), 20)


@pytest.mark.parametrize("parameters", [{"C": 0.3}, {"nu": 0.7}], ids=str)
@pytest.mark.parametrize("solver", ["primal", "ipm"])
def test_an_interrupted_solve_loses_no_round_before(solver, parameters, data):
    """The weights of the last round, and 0 for the new column, are at least as good a model: Ctrl-C keeps rounds."""
    X, y, weight = data
    live = begun(LPBoost(**parameters, solver=solver), data, 12)
    last = live.solve(INTERIOR, never)
    live.add(np.where(X[:, 0] > X[:, 1], 1, -1).astype(np.int8))
    solution = live.solve(INTERIOR, lambda: True)
    assert solution.primal <= last.primal + INTERIOR * abs(last.primal)
    assert_feasible(solution, parameters, y, weight, 13)


@pytest.mark.parametrize("parameters", [{"C": 0.3}, {"nu": 0.7}], ids=str)
@pytest.mark.parametrize("solver", ["primal", "ipm"])
def test_after_an_interruption_it_can_be_solved_again(solver, parameters, data):
    live = begun(LPBoost(**parameters, solver=solver), data, 20)
    live.solve(INTERIOR, lambda: True)
    again = live.solve(INTERIOR, never)
    fresh = begun(LPBoost(**parameters, solver=solver), data, 20).solve(INTERIOR, never)
    assert again.status is Status.OPTIMAL
    assert again.primal == pytest.approx(fresh.primal, rel=2 * INTERIOR)


def test_an_interrupted_fit_keeps_its_rounds(data):
    state = {"rounds": 0}

    def count(_):
        state["rounds"] += 1

    ensemble, trace = fitted(
        LPBoost(C=1.0), data, callback=count, interrupted=lambda: state["rounds"] >= 5, max_columns=100
    )
    assert trace.certificate.status is Status.INTERRUPTED
    assert len(ensemble) == len(trace) - 1 >= 5
    assert np.all(np.isfinite(ensemble.weights))
    assert trace.certificate.primal <= trace.primal[0]


@pytest.mark.parametrize("nu", [0.05, 0.2])
def test_a_margin_of_zero_is_solved_too(nu, data):
    """Too small a nu for the columns there are: no vote is better than 0, and that is the optimum."""
    X, y, weight = data
    live = begun(LPBoost(nu=nu), data, 2)
    H = some_stumps(X, 2).astype(float)
    assert naive_nu_lpboost(H, y, weight / weight.sum(), nu).value == pytest.approx(2.0, abs=LP_OBJECTIVE)
    solution = live.solve(1e-6, never)
    assert solution.primal == pytest.approx(2.0, abs=CLOSED_FORM)
    assert solution.dual == pytest.approx(2.0, abs=CLOSED_FORM)
    assert solution.status is Status.OPTIMAL


@pytest.mark.parametrize("parameters", [{"C": 0.3}, {"nu": 0.6}], ids=str)
def test_learned_columns_do_not_end_a_fit_while_everyone_who_looks_anew_finds_more(parameters, data):
    """Without a pool nothing is proved, but that a few dozen old candidates are below the cost is no search."""
    X = data[0]
    family, rng = Fourier(learn=True), np.random.default_rng(1)
    ensemble, trace = fitted(LPBoost(**parameters), data, family=family, rng=rng, max_columns=60)
    cost = 1.0 if "C" in parameters else 2.0 - trace.certificate.dual
    taken = {learner.key: None for learner in ensemble.learners}
    found = []
    for seed in range(10, 15):
        pricer = family.begin(Sample(X, np.arange(50), np.ones(50)), np.random.default_rng(seed), 1)
        found.append(pricer.price(Duals(trace.duals), taken.keys(), "max").largest_price())
    assert trace.certificate.status is not Status.OPTIMAL or min(found) <= cost


def test_weights_of_very_different_sizes(data, rng):
    """From 1e-4 to 1e4 of the median: still the optimum, in the end as in SciPy's."""
    weight = 10.0 ** rng.uniform(-4, 4, 50)
    for spec in (LPBoost(C=1.0), LPBoost(nu=0.7)):
        best, _ = best_over_all_stumps(spec, data, weight)
        _, trace = fitted(spec, data, weight)
        assert trace.certificate.primal == pytest.approx(best.value, rel=1e-6)
        assert trace.certificate.full_relative_gap <= 1e-6


def test_real_columns_reach_the_optimum_of_their_pool(data):
    """Cosines: the pool as a matrix, by SciPy."""
    X, y, weight = data
    family = Fourier(n_candidates=50, learn=False)
    pricer = family.begin(Sample(X, np.arange(50), weight), np.random.default_rng(1), 1)
    H = np.array([learner.respond(X) for learner in pricer.pool()], dtype=float).T
    for spec in (LPBoost(C=0.3), LPBoost(nu=0.5)):
        _, trace = fitted(spec, data, weight, family=family, rng=np.random.default_rng(1))
        if spec.nu is None:
            best = naive_lpboost(H, y, spec.C * weight)
        else:
            best = naive_nu_lpboost(H, y, weight / weight.sum(), spec.nu)
        assert trace.certificate.primal == pytest.approx(best.value, abs=LP_OBJECTIVE * max(1.0, abs(best.value)))
        assert trace.certificate.full_relative_gap <= 1e-7


@pytest.mark.parametrize("solver", SOLVERS)
def test_separable_rows(solver):
    """One stump makes no mistake: |w| = 1 and no loss, the largest margin is 1."""
    X, y = np.arange(6.0)[:, None], np.repeat([-1.0, 1.0], 3)
    tol = INTERIOR if solver == "ipm" else 1e-9
    for spec, value in ((LPBoost(C=10.0, solver=solver), 1.0), (LPBoost(nu=0.5, solver=solver), 1.0)):
        ensemble, trace = generate_columns(spec, Stump(), X, y, tol=tol)
        assert trace.certificate.primal == pytest.approx(value, abs=10 * tol)
        assert np.allclose(ensemble.decision(X)[:, 0], y, rtol=0, atol=1e-3 if solver == "ipm" else CLOSED_FORM)


def test_rows_of_one_class():
    """No stump is better than none: there is no intercept, and h = 1 is no stump. Half of the rows are lost."""
    X, y = np.arange(6.0)[:, None], np.ones(6)
    _, trace = generate_columns(LPBoost(C=1.0), Stump(), X, y, tol=1e-9)
    best = naive_lpboost(pool_matrix(naive_pool(X), 6), y, np.ones(6))
    assert trace.certificate.status is Status.OPTIMAL
    assert trace.certificate.primal == pytest.approx(best.value, abs=LP_OBJECTIVE)


def test_without_highspy_a_sentence_says_what_to_install(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(ImportError, match=r"LPBoost solves linear programs with HiGHS: pip install 'cgens\[lp\]'"):
        LPBoost().begin(data[1][:, None], data[2], 1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0.0}, r"C must be a finite number > 0; got 0\.0"),
        ({"C": np.inf}, "C must be a finite number > 0; got inf"),
        ({"nu": 0.0}, r"nu must be in \(0, 1\]; got 0\.0"),
        ({"nu": 1.1}, r"nu must be in \(0, 1\]; got 1\.1"),
        ({"solver": "simplex"}, "solver must be one of 'dual', 'primal', 'ipm'; got 'simplex'"),
    ],
)
def test_bad_parameters_are_refused(parameters, message, data):
    with pytest.raises(ValueError, match=message):
        LPBoost(**parameters).begin(data[1][:, None], data[2], 1)


def test_bad_targets_are_refused(data):
    _, y, weight = data
    with pytest.raises(ValueError, match=r"labels -1 and 1; the target has the value 2\.0"):
        LPBoost().begin(np.where(y > 0, 2.0, -1.0)[:, None], weight, 1)
    with pytest.raises(ValueError, match="two classes: one output; the target has 2"):
        LPBoost().begin(np.column_stack([y, y]), weight, 1)
