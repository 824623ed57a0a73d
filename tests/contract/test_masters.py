"""What every master must fulfil, and what all of them refuse."""

from __future__ import annotations

import numpy as np
import pytest

from cgens.masters import AdaBoost, AdaBoostECC, Liblinear, Loss, LPBoost, MultiBoost, SmoothLoss
from cgens.masters.registry import LOSSES
from cgens.testing import check_master
from cgens.types import Status, relative_gap
from tests.contract.tables import MASTERS, never
from tests.contract.targets import three_class_signs
from tests.reference.naive_multiboost import multiboost_primal, naive_multiboost
from tests.tolerances import BALANCE, CLOSED_FORM, NEGATIVE_GAP, STATIONARITY, TIGHT

TOL = 1e-6


@pytest.fixture(params=MASTERS)
def case(request):
    return MASTERS[request.param]


#: For tests of masters that know their curvature.
curved_only = pytest.mark.parametrize("case", [name for name, case in MASTERS.items() if case.curved], indirect=True)


@pytest.fixture
def problem(case, rng):
    """Return a target, row weights, and responses of +-1 that depend on the target."""
    X = rng.normal(size=(120, 6))
    target = case.make_target(rng, X.sum(axis=1))
    weight = rng.integers(1, 4, 120).astype(float)
    H = np.where(X[:, rng.integers(0, 6, 18)] > rng.normal(scale=0.5, size=18), 1, -1).astype(np.int8)
    return target, weight, H


def begin(case, problem, n_columns=None, n_threads=1, dtype=np.int8):
    target, weight, H = problem
    restricted = case.spec.begin(target, weight, n_threads)
    for column in H.T[:n_columns]:
        restricted.add(column.astype(dtype))
    return restricted


def assert_sound(case, problem, solution, n_columns, quick=False):
    """Check what holds for any solution, converged or not; the duals of a quick one may be only nearly feasible."""
    target, weight, H = problem
    H = H[:, :n_columns].astype(float)
    n_outputs = target.shape[1]
    assert solution.weights.shape == (n_columns, n_outputs)
    assert solution.intercept.shape == (n_outputs,)
    assert case.intercept or not solution.intercept.any()
    duals = solution.duals.array
    assert duals.shape == target.shape
    rough = quick and np.isnan(solution.dual)
    assert case.infeasibility(H, target, weight, duals) <= (1e-2 if rough else BALANCE)
    if case.exact_weights and solution.status is not Status.INTERRUPTED:  # its weights may be those of the last round
        largest = np.abs(H).T @ np.abs(duals)
        assert np.all(np.abs(solution.weights - H.T @ duals) <= STATIONARITY * largest), "EQ:KKT1"
    scale = case.scale(solution.primal)
    assert solution.primal == pytest.approx(case.primal(H, target, weight, solution), abs=CLOSED_FORM * scale)
    assert solution.column_cost == pytest.approx(case.cost(H, duals), abs=CLOSED_FORM)
    if rough:
        return
    assert solution.dual == pytest.approx(case.dual(H, target, weight, duals), abs=CLOSED_FORM * scale)
    assert solution.primal - solution.dual >= -NEGATIVE_GAP * scale
    assert solution.relative_gap == relative_gap(solution.primal, solution.dual)


def assert_optimal(case, problem, solution):
    target, weight, H = problem
    tol = max(TOL, case.tightest)
    assert_sound(case, problem, solution, H.shape[1])
    assert solution.status is Status.OPTIMAL
    assert solution.relative_gap <= tol
    slackness = case.slackness(H.astype(float), target, weight, solution)
    assert slackness <= (tol + CLOSED_FORM) * case.scale(solution.primal), "complementary slackness is the gap"


#: Losses are checked for every kind of target that they support, other masters for that of their row.
CONTRACT = [
    *(pytest.param(loss(C=C), {}, id=f"{name}, C = {C}") for name, loss in LOSSES.items() for C in (0.01, 1.0, 30.0)),
    *(
        pytest.param(case.spec, {"make_target": case.make_target, "tol": case.tightest}, id=name)
        for name, case in MASTERS.items()
        if not isinstance(case.spec, Loss)
    ),
]


@pytest.mark.parametrize(("master", "options"), CONTRACT)
def test_the_contract_is_fulfilled(master, options):
    check_master(master, **options)


def test_a_solution_is_feasible_stationary_and_within_tol(case, problem, rng):
    """Of signs, and of real columns."""
    target, weight, H = problem
    assert_optimal(case, problem, begin(case, problem).solve(TOL, never))
    real = target, weight, H * rng.random(H.shape)
    assert_optimal(case, real, begin(case, real, dtype=np.float64).solve(TOL, never))


def test_every_round_is_sound(case, problem):
    """From the empty master on, solved quickly and then tightly."""
    restricted = begin(case, problem, 0)
    assert_sound(case, problem, restricted.solve(TOL, never), 0)
    for n_columns, column in enumerate(problem[2].T, start=1):
        restricted.add(column.copy())
        quick = restricted.solve(case.tightest, never, quick=True)
        assert_sound(case, problem, quick, n_columns, quick=True)
        assert quick.step is not None or not case.curved, "it is returned after one new column, by a quick solve"
        if np.isnan(quick.dual):
            assert restricted.pool_bound(quick.duals, 1.0, 1.0) == -np.inf
        full = restricted.solve(case.tightest, never)
        assert_sound(case, problem, full, n_columns)
        assert full.step is None


@pytest.mark.parametrize("name", [name for name, case in MASTERS.items() if isinstance(case.spec, SmoothLoss)])
def test_many_columns_of_a_smooth_loss(name, rng):
    """With many columns, most quick solves change the weights by rank one; every one lowers the objective."""
    case = MASTERS[name]
    X = rng.normal(size=(300, 8))
    target, weight = case.make_target(rng, X.sum(axis=1)), rng.integers(1, 4, 300).astype(float)
    H = np.where(X[:, rng.integers(0, 8, 60)] > rng.normal(scale=0.8, size=60), 1, -1).astype(np.int8)
    restricted, steps = case.spec.begin(target, weight, 1), 0
    last = restricted.solve(1e-3, never)
    for n_columns, column in enumerate(H.T, start=1):
        restricted.add(column.copy())
        quick = restricted.solve(0.1, never, quick=True)  # loosely, so that hard problems count as solved
        assert_sound(case, (target, weight, H), quick, n_columns, quick=True)
        assert quick.primal <= last.primal * (1 + CLOSED_FORM)
        if quick.step is not None:
            steps += 1
            assert np.allclose(quick.step.apply(last.weights), quick.weights, rtol=0, atol=CLOSED_FORM)
        last = quick
    assert steps >= 5, "in most rounds after the first 32"
    found = restricted.solve(case.tightest, never)
    assert_sound(case, (target, weight, H), found, 60)
    assert found.status is Status.OPTIMAL
    at_once = case.spec.begin(target, weight, 1)
    for column in H.T:
        at_once.add(column.copy())
    assert at_once.solve(case.tightest, never).primal == pytest.approx(found.primal, rel=2 * case.tightest)


def test_size_bounds_the_sum_of_the_duals(case, problem):
    _, weight, H = problem
    for n_columns in (0, 3, H.shape[1]):
        duals = begin(case, problem, n_columns).solve(case.tightest, never).duals
        assert (duals.curvature is not None) == (case.curvature is not None)
        assert duals.l1_norm == pytest.approx(case.l1_norm(weight, duals.array), rel=CLOSED_FORM)
        assert duals.l1_norm >= np.abs(duals.array).sum() * (1 - CLOSED_FORM)


@pytest.mark.parametrize("case", [name for name, case in MASTERS.items() if case.curvature], indirect=True)
def test_curvature_tells_how_much_a_column_lowers_the_objective(case, problem):
    """By 1/2 sum_t (g'R_t)^2 / (1 + g'Pg), a majorizer by at least that; for columns of +-1 and others."""
    H = problem[2]
    extra = np.column_stack([H[:, 10:], np.random.default_rng(1).normal(size=(len(H), 3))])
    for n_columns in (0, 1, 5, 10):
        solution = begin(case, problem, n_columns).solve(TIGHT, never)
        quadratic = solution.duals.curvature.quadratic(extra)
        assert quadratic.shape == (extra.shape[1],)
        prices = extra.T @ solution.duals.array
        for column, gain in zip(extra.T, 0.5 * np.sum(prices**2, axis=1) / (1 + quadratic), strict=True):
            restricted = begin(case, problem, n_columns)
            restricted.add(column.copy())
            lowered = solution.primal - restricted.solve(TIGHT, never).primal
            if case.curvature == "exact":
                assert gain == pytest.approx(lowered, abs=CLOSED_FORM * solution.primal)
            elif case.curvature == "majorizer":
                assert lowered >= gain - 3 * TIGHT * solution.primal
            else:
                assert lowered > 0


@curved_only
def test_curvature_follows_its_steps(case, problem):
    """P <- P - p p' / (1 + h'p) and R <- R - p k', from P = diag(v) - v v' / sum(v)."""
    H = problem[2]
    restricted = begin(case, problem, 0)
    empty = restricted.solve(TIGHT, never).duals
    duals, v = empty.array, empty.curvature.diagonal
    P = np.diag(v) - np.outer(v, v) / v.sum()
    scale, signs = CLOSED_FORM * v.max(), H.astype(float)
    for k, column in enumerate(signs.T):
        restricted.add(H[:, k].copy())
        solution = restricted.solve(TIGHT, never, quick=True)
        direction, output, denominator = solution.duals.curvature.step(k)
        assert np.allclose(direction, P @ column, rtol=0, atol=scale)
        assert denominator == pytest.approx(1 + column @ P @ column, rel=CLOSED_FORM)
        assert np.allclose(output, column @ duals / denominator, rtol=0, atol=CLOSED_FORM * np.abs(duals).max())
        P = P - np.outer(direction, direction) / denominator
        duals = duals - np.outer(direction, output)
        assert np.allclose(solution.duals.array, duals, rtol=0, atol=CLOSED_FORM * np.abs(empty.array).max())
        expected = np.einsum("ij,ij->j", signs, P @ signs)
        assert np.allclose(solution.duals.curvature.quadratic(H), expected, rtol=0, atol=len(H) * scale)
        assert solution.duals.curvature.n_steps == k + 1
        assert np.array_equal(solution.duals.curvature.diagonal, v)


def test_a_poll_can_interrupt_a_solve(case, problem, rng):
    target, weight, _ = problem
    many = np.tile(np.arange(len(target)), 30)
    noisy = np.where(rng.random((len(many), 40)) < 0.5, 1, -1).astype(np.int8)
    large = (np.ascontiguousarray(target[many]), weight[many], noisy)
    calls = []
    solution = begin(case, large).solve(1e-17, lambda: bool(calls.append(1) or True))
    assert_sound(case, large, solution, 40)
    reached = Status.OPTIMAL if solution.relative_gap <= 1e-17 else Status.NOT_CONVERGED
    assert solution.status is (Status.INTERRUPTED if calls else reached)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("nu", [0.3, 0.03, 0.003])
def test_multiboost_reaches_the_optimum_of_a_tiny_problem(n_classes, nu, rng):
    """Found by SLSQP from the definition; some weights are 0."""
    score = rng.normal(size=24)
    target, weight = three_class_signs(rng, score), rng.integers(1, 4, 24).astype(float)
    target = target if n_classes == 3 else np.column_stack([target[:, 0], -target[:, 0]])
    H = np.where(score[:, None] + 0.8 * rng.normal(size=(24, 4)) > [-1.0, 0.0, 0.5, 1.0], 1, -1).astype(np.int8)
    best, weights = naive_multiboost(H.astype(float), target, weight, nu)
    assert multiboost_primal(H.astype(float), target, weight, nu, weights) == pytest.approx(best, rel=CLOSED_FORM)
    restricted = MultiBoost(nu=nu).begin(target, weight, 1)
    for column in H.T:
        restricted.add(column)
    solution = restricted.solve(1e-7, never)
    assert solution.status is Status.OPTIMAL
    assert solution.primal == pytest.approx(best, rel=2e-7)
    assert solution.dual <= best * (1 + 1e-12) + 1e-12


def test_multiboost_with_a_large_nu_has_no_weights(problem):
    """A price is at most 1, the sum of all u: no column is worth a nu of 1, and the duals stay as they were."""
    _, weight, H = problem
    target = three_class_signs(np.random.default_rng(0), H.sum(axis=1).astype(float))
    restricted = MultiBoost(nu=1.0).begin(target, weight, 1)
    for column in H.T:
        restricted.add(column)
    solution = restricted.solve(TIGHT, never)
    assert not solution.weights.any()
    assert solution.primal == solution.dual == pytest.approx(1.0, rel=CLOSED_FORM)


SIGNS = np.array([[1.0], [-1.0]])
CLASSES = np.hstack([SIGNS, -SIGNS])
#: Targets without one class per row.
NOT_CLASSES = (SIGNS, [[1.0, 1.0], [1.0, -1.0]], [[-1.0, -1.0], [1.0, -1.0]], [[0.0, 1.0], [1.0, 0.0]])
#: A master, a target that it refuses or the parameters of which are refused, and what the message contains
REFUSED = [
    *((spec, target, r"class.*-1\b") for spec in (MultiBoost(), AdaBoostECC()) for target in NOT_CLASSES),
    *((MultiBoost(nu=nu), CLASSES, rf"\bnu\b.*{nu}") for nu in (0.0, -1.0, np.inf, np.nan)),
    *((LPBoost(nu=nu), SIGNS, rf"\bnu\b.*{nu}") for nu in (0.0, 1.1)),
    *((LPBoost(C=C), SIGNS, rf"\bC\b.*{C}") for C in (0.0, np.inf)),
    *((spec, CLASSES, r"one output.*\b2\b") for spec in (LPBoost(), Liblinear())),
    *((spec, 2 * SIGNS, r"-1 and 1.*\b2\.0") for spec in (LPBoost(), Liblinear(), AdaBoost())),
]


@pytest.mark.parametrize(("spec", "target", "pattern"), REFUSED)
def test_bad_targets_and_parameters_are_refused(spec, target, pattern):
    with pytest.raises(ValueError, match=pattern):
        spec.begin(np.array(target), np.ones(2), 1)
