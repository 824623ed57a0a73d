"""The automatic choice: honest, certified, and the same for threads, row order and copies."""

from __future__ import annotations

import numpy as np
import pytest

from cgens.automatic import recipe
from cgens.automatic.closed_form import PackColumns, solve_part
from cgens.automatic.cosine_part import CosinePart
from cgens.automatic.problem import HonestRows, Problem
from cgens.automatic.recipe import choose_parts, exceeds_its_error, weigh_parts
from cgens.colgen import generate_columns
from cgens.masters import LeastSquares
from cgens.packs import PackSet
from cgens.selection import copies_of
from cgens.table import Table
from cgens.weak_learners import Pool
from tests.reference.naive_loo import naive_ridge

NAN = np.nan


def make_rows(rng, m=160):
    """Return numbers with gaps, a category, and a target of two classes that depends on both."""
    X = np.column_stack([rng.normal(size=(m, 3)), rng.integers(0, 3, m)])
    y = np.where(np.sin(2 * X[:, 0]) + (X[:, 3] == 1) + 0.3 * rng.normal(size=m) > 0.5, 1.0, -1.0)
    X[rng.random(m) < 0.1, 1] = NAN
    return Table(X, np.array([False, False, False, True])), y[:, None]


def classes_of(target):
    return (target[:, 0] > 0).astype(int)


def choose(X, target, weight=None, n_threads=1, rows=None, n_columns=80):
    weight = np.ones(len(target)) if weight is None else weight
    rows = np.arange(len(target)) if rows is None else rows
    classes = classes_of(target)

    def error(decision, rows, weight):
        return float(np.mean((decision[:, 0] > 0) != classes[rows])) + 0.01

    problem = Problem(X, rows, target, weight, copies_of(weight), classes, error, n_threads)
    return choose_parts(problem, n_columns, np.random.SeedSequence(4))


def solve(part, X, target, weight=None):
    columns, others = (
        None if own is None else PackColumns(own, X, np.arange(len(target)), 1) for own in (part.learners, part.others)
    )
    return solve_part(columns, others, target, np.ones(len(target)) if weight is None else weight, part.penalty)


def test_parts_are_certified_problems_over_finite_pools(rng):
    X, target = make_rows(rng)
    weight = rng.random(160) + 0.5
    found = choose(X, target, weight)
    assert {part.name for part in found.parts} <= {"cosines", "random trees", "large trees"}
    assert 0 < sum(len(part.learners) for part in found.parts) <= 80
    for part in found.parts:
        ensemble, trace = solve(part, X, target, weight)
        assert trace.certificate.relative_gap < 1e-10
        assert len(ensemble) == len(part.learners)
        if part.name != "cosines":
            assert trace.certificate.scope == "restricted"
            assert trace.certificate.full_lower_bound is trace.certificate.n_candidates is None
            continue
        assert trace.certificate.scope == "pool"
        assert trace.certificate.n_candidates == len(part.learners) + len(part.others) > 1000
        pool = [own.respond(X.matrix(), 1).astype(float) for own in (part.learners, part.others)]
        best = naive_ridge(np.hstack(pool), target, weight, part.penalty)
        residuals = target - np.hstack(pool) @ best[0] - best[1]
        optimum = 0.5 * np.sum(best[0] ** 2) + 0.5 * np.sum(weight[:, None] * residuals**2) / part.penalty
        assert trace.certificate.full_lower_bound <= optimum <= trace.certificate.primal
        prices = np.abs(pool[1].T @ trace.duals)
        assert trace.certificate.max_price == pytest.approx(prices.max())
        again = PackSet.from_arrays(ensemble.packs.to_arrays())
        assert again.respond(X.matrix(), 1).tobytes() == ensemble.respond(X.matrix()).tobytes()


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_a_part_is_what_column_generation_ends_with(n_outputs, rng):
    X, target = make_rows(rng)
    target = np.hstack([target, rng.normal(size=(160, n_outputs - 1))])
    weight = rng.random(160) + 0.5
    part = choose(X, target[:, :1], weight).parts[-1]
    ensemble, trace = solve(part, X, target, weight)
    options = {"sample_weight": weight, "pricing": "gain", "tol": 1e-12}
    same, long = generate_columns(LeastSquares(1 / part.penalty), Pool(part.learners), X, target, **options)
    assert np.allclose(ensemble.decision(X.matrix()), same.decision(X.matrix()), atol=1e-8)
    for name in ("primal", "dual"):
        assert getattr(trace.certificate, name) == pytest.approx(getattr(long.certificate, name), rel=1e-9)
    assert np.allclose(trace.duals, long.duals, atol=1e-9)
    assert [len(weights) for weights, _ in ensemble.history] == [0, len(ensemble)]
    assert trace.primal[0] == pytest.approx(long.primal[0])


def test_of_many_rows_some_are_honest_and_copies_are_counted_apart(rng):
    held_out = [np.arange(100.0) * (np.arange(100) % 2), np.ones(100)]
    honest = HonestRows.of(held_out, np.full(100, 0.5), 30, rng)
    assert [len(own) for own in honest.folds] == [30, 30]
    assert np.all(honest.folds[0] % 2 == 1)
    assert honest.weight.tolist() == [*honest.folds[0].tolist(), *[1.0] * 30]
    assert honest.copies.tolist() == (2 * honest.weight).tolist()
    assert len(HonestRows.of(held_out, np.ones(100), None, rng).rows) == 150


@pytest.mark.parametrize(("shape", "n_honest"), [((60, 6000), 60), ((600, 501), 120)])
def test_of_wide_rows_a_fifth_is_held_out_if_these_are_enough(shape, n_honest, rng, monkeypatch):
    monkeypatch.setattr(recipe, "choose_cosines", lambda *_: CosinePart([], np.zeros(0), {}))
    X = rng.normal(size=shape)
    found = choose(Table.of(X), np.where(X[:, :1] > 0, 1.0, -1.0))
    assert len(np.unique(found.honest.rows)) == n_honest


def test_honest_decisions_predict_rows_and_noise_is_not_fitted():
    rng = np.random.default_rng(1)
    X, target = make_rows(rng, 300)
    found = choose(X, target)
    honest = np.mean(np.sign(found.decisions) != target[found.honest.rows])
    assert honest < 0.25
    noise = rng.permutation(target)
    assert np.std(choose(X, noise).decisions) < 0.4 * np.std(found.decisions)


def same_choice(one, other):
    assert [part.name for part in one.parts] == [part.name for part in other.parts]
    for a, b in zip(one.parts, other.parts, strict=True):
        assert (a.penalty, a.weight) == (b.penalty, b.weight)
    assert one.decisions.tobytes() == other.decisions.tobytes()


def test_threads_change_no_bit(rng):
    X, target = make_rows(rng)
    same_choice(choose(X, target, n_threads=1), choose(X, target, n_threads=2))


def test_only_the_order_of_the_fit_matters(rng):
    """Estimators pass the rows in canonical order, so that their own order does not matter."""
    X, target = make_rows(rng)
    order = rng.permutation(len(target))
    shuffled = Table(X.values[order], X.is_category)
    same_choice(choose(X, target), choose(shuffled, target, rows=np.argsort(order)))


@pytest.mark.parametrize("n_columns", [1, 2, 3, 7])
def test_few_columns_are_no_more(n_columns, rng):
    X, target = make_rows(rng)
    parts = choose(X, target, n_columns=n_columns).parts
    assert 0 < sum(len(part.learners) for part in parts) <= n_columns


@pytest.mark.parametrize(
    ("gains", "weight", "copies", "expected"),
    [
        ([1.0, 1.0, 1.0, 1.0], 1, 1, True),
        ([0.9, -0.5, 0.7, -0.9], 1, 1, False),
        ([0.9, -0.5, 0.7, -0.9], 200, 200, True),
        ([0.9, -0.5, 0.7, -0.9], 200, 1, False),
        ([-1.0, -1.0, -1.0, -1.0], 1, 1, False),
        ([0.0, 0.0, 0.0, 0.0], 1, 1, False),
    ],
)
def test_a_gain_must_exceed_its_standard_error(gains, weight, copies, expected):
    before = np.full((4, 1), 2.0)
    after = np.sqrt(before**2 - np.array(gains)[:, None])
    weight, copies = (np.full(4, float(own)) for own in (weight, copies))
    assert exceeds_its_error(before, after, weight, copies) is expected
    own = [np.repeat(each, copies.astype(int), axis=0) for each in (before, after, weight / copies, copies / copies)]
    assert exceeds_its_error(*own) is expected, "copies are rows of their own"


def test_without_a_gain_there_are_no_parts(rng):
    target, honest = rng.normal(size=(50, 1)), HonestRows.of([np.ones(50)], np.ones(50), None, rng)
    noise = [("trees", 5, 0.1 * rng.normal(size=(50, 1))), ("cosines", 0, -0.1 * target)]
    mean = target.mean(axis=0)
    weights, decisions = weigh_parts(noise, target, mean, honest, 100)
    assert weights == {}
    assert np.all(decisions == mean)
    weights, _ = weigh_parts([*noise, ("signal", 7, 0.5 * target)], target, mean, honest, 100)
    assert weights["signal"] == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize("weights", ["copies", "small"])
def test_weighted_rows(weights, rng):
    X, target = make_rows(rng)
    weight = rng.integers(1, 4, 160).astype(float) if weights == "copies" else np.full(160, 1e-3)
    found = choose(X, target, weight)
    assert len(found.parts) > 0
    assert np.all(found.honest.weight > 0)
    assert np.all(found.honest.weight <= weight[found.honest.rows])


#: Rows and targets from which little can be learned.
FEW = {
    "one row": lambda rng: (rng.normal(size=(1, 3)), np.array([[1.0]])),
    "two rows": lambda rng: (rng.normal(size=(2, 3)), np.array([[1.0], [-1.0]])),
    "three rows": lambda rng: (rng.normal(size=(3, 3)), np.array([[1.0], [-1.0], [1.0]])),
    "eight rows": lambda rng: (rng.normal(size=(8, 2)), np.sign(rng.normal(size=(8, 1)))),
    "constant inputs": lambda rng: (np.ones((50, 3)), np.sign(rng.normal(size=(50, 1)))),
    "a constant target": lambda rng: (rng.normal(size=(60, 3)), np.ones((60, 1))),
    "a class of one row": lambda rng: (rng.normal(size=(40, 3)), np.where(np.arange(40) == 7, 1.0, -1.0)[:, None]),
    "one feature": lambda rng: (rng.normal(size=(60, 1)), np.sign(rng.normal(size=(60, 1)))),
    "two values": lambda rng: (rng.integers(0, 2, (60, 1)), np.sign(rng.normal(size=(60, 1)))),
}


@pytest.mark.parametrize("name", FEW)
@pytest.mark.filterwarnings("error")
def test_little_to_learn_from(name, rng):
    X, target = FEW[name](rng)
    found = choose(Table.of(np.asarray(X, dtype=float)), target)
    assert len(found.decisions) == len(found.honest.rows) == len(found.honest.weight) > 0
    assert np.isfinite(found.decisions).all()
    for part in found.parts:
        ensemble, _ = solve(part, Table.of(np.asarray(X, dtype=float)), target)
        assert np.isfinite(ensemble.decision(np.asarray(X, dtype=float))).all()
