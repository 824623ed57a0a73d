"""Pools of cosines, the learned metric, groups and their honest errors."""

from __future__ import annotations

import numpy as np
import pytest

from cgens.automatic.cosine_part import FinalPool, choose_cosines, rows_of_pool
from cgens.automatic.groups import VIEWS, Group, GroupRows, compare_groups, groups_of
from cgens.automatic.pool import (
    MULTIPLES,
    HonestPool,
    choose_penalty,
    columns_of,
    draw_pools,
    learn_metrics,
    suggested_penalty,
)
from cgens.automatic.problem import HonestRows, Problem
from cgens.selection import NormalEquations, honest_weights, loo
from cgens.selection.leave_one_out import mean_square
from cgens.table import Table
from cgens.table.encoding import Encoding
from cgens.weak_learners.projections.cosine_pool import CosinePool
from cgens.weak_learners.projections.metric import learn_metric


def make_rows(rng, m=300, d=4):
    """Return rows, and a target that depends on the first two inputs only."""
    rows = rng.normal(size=(m, d))
    return rows, (np.sin(2 * rows[:, 0]) + 0.5 * rows[:, 1] + 0.1 * rng.normal(size=m))[:, None]


def make_pool(rng, rows, n=40):
    weight = rng.random(len(rows)) + 0.5
    return CosinePool.of(rng.normal(size=(n, rows.shape[1])), rng.uniform(0, 7, n), rows, weight), weight


def test_columns_are_cosines_of_about_unit_variance(rng):
    rows, _ = make_rows(rng)
    pool, weight = make_pool(rng, rows)
    columns = pool.measured
    share = weight / weight.sum()
    assert np.abs(np.log2(np.sqrt(share @ (columns - share @ columns) ** 2))).max() < 0.51
    expected = pool.factors * np.sqrt(2) * np.cos(rows @ pool.thetas.T - pool.kappas)
    assert np.allclose(columns, expected, atol=1e-5)


def test_constant_columns_are_left_out(rng):
    rows, _ = make_rows(rng)
    thetas = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
    assert CosinePool.of(thetas, np.zeros(2), rows, np.ones(len(rows))).thetas.tolist() == [thetas[1].tolist()]


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_gradients_equal_differences(n_outputs, rng):
    rows, _ = make_rows(rng, 50)
    pool, weight = make_pool(rng, rows)
    weights = rng.normal(size=(len(pool), n_outputs))

    def decide(rows):
        return (pool.factors * np.sqrt(2) * np.cos(rows @ pool.thetas.T - pool.kappas)) @ weights

    squares = np.zeros(4)
    for f in range(4):
        step = 1e-5 * np.eye(4)[f]
        slopes = (decide(rows + step) - decide(rows - step)) / 2e-5
        squares[f] = np.sum(weight[:, None] * slopes**2) / weight.sum()
    assert np.allclose(pool.mean_gradients(rows, weights, weight), np.sqrt(squares), rtol=1e-4)


def test_a_learned_metric_finds_the_inputs_that_matter(rng):
    rows, target = make_rows(rng, 400, 10)
    metric = learn_metric(rows, target, np.ones(400), np.ones(400), 200, np.random.default_rng(0))
    assert metric[0] > metric[1] > 3 * metric[2:].max()
    assert np.mean(metric**2) == pytest.approx(1.0)


def test_the_metric_of_a_constant_target_is_flat(rng):
    rows, _ = make_rows(rng)
    assert learn_metric(rows, np.ones((300, 1)), np.ones(300), np.ones(300), 50, rng).tolist() == [1.0] * 4


def test_each_view_has_nine_groups_with_names_of_their_own():
    groups = groups_of(("zc", "rank"), learned=True)
    assert len(groups) == len(set(map(str, groups))) == 18
    assert groups_of(("zc", "rank"), learned=False) == groups[:10]
    assert len(groups_of(VIEWS, learned=True)) == 9


def fit_groups(groups, views, target, weight, n_columns, seed, n_threads, copies=None):
    copies = np.ones(len(weight)) if copies is None else copies
    return compare_groups(groups, GroupRows(views, target, weight, copies), n_columns, seed, n_threads).fits


def some_groups():
    return (
        Group("zc", "sparse", (0.5, 2.0), False),
        Group("zc", "dense", (0.3,), True),
        Group("rank", "pairs", (1.0,), True),
    )


@pytest.mark.parametrize("n_threads", [1, 2])
def test_honest_decisions_of_a_group_use_no_label_of_the_row(n_threads, rng):
    """Changing the target of one row leaves its own leave-one-out decision almost alone, at the same penalty."""
    rows, target = make_rows(rng, 120)
    views = {"zc": rows, "rank": np.argsort(np.argsort(rows, axis=0), axis=0) / 60.0 - 1.0}
    seed = np.random.SeedSequence(1)
    fits = fit_groups(some_groups(), views, target, np.ones(120), 60, seed, n_threads)
    for fit in fits:
        assert fit.error == pytest.approx(mean_square(target - fit.decisions, np.ones(120)))
        assert fit.error < 0.5 * target.var()
    changed = target.copy()
    changed[7] += 0.2
    flat, others = fits[0], fit_groups(some_groups(), views, changed, np.ones(120), 60, np.random.SeedSequence(1), 1)[0]
    assert others.penalty == flat.penalty
    assert others.decisions[7] == pytest.approx(flat.decisions[7], abs=1e-5)  # products in single precision
    assert np.abs(others.decisions - flat.decisions).max() > 1e-3, "that of other rows changes"


def test_threads_change_no_bit_of_groups(rng):
    rows, target = make_rows(rng, 150)
    one, two = (
        fit_groups(some_groups(), {"zc": rows, "rank": rows**3}, target, np.ones(150), 80, np.random.SeedSequence(3), n)
        for n in (1, 2)
    )
    for a, b in zip(one, two, strict=True):
        assert a.penalty == b.penalty
        assert a.decisions.tobytes() == b.decisions.tobytes()


def test_a_learned_metric_is_not_preferred_where_nothing_is_to_be_learned():
    """Without cross-fitting, a metric that has seen the labels looks better than it is."""
    rng = np.random.default_rng(2)
    rows, target = rng.normal(size=(80, 10)), rng.normal(size=(80, 1))
    groups = (Group("zc", "dense", (1.0,), False), Group("zc", "dense", (1.0,), True))
    flat, learned = fit_groups(groups, {"zc": rows}, target, np.ones(80), 80, np.random.SeedSequence(0), 1)
    assert learned.error > 0.9 * flat.error
    metric = learn_metric(rows, target, np.ones(80), np.ones(80), 80, rng)
    naive = loo(groups[1].pool(80, metric, rows, np.ones(80), rng).measured, target, dtype=np.float32)
    assert naive.error < learned.error


def test_class_weights_make_no_copies(rng):
    """A row with ten times the weight is left out as a whole, so that it does not know its own label."""
    rows, target = rng.normal(size=(100, 20)), np.sign(rng.normal(size=(100, 1)))
    weight, seed = np.full(100, 10.0), np.random.SeedSequence(0)
    [whole], [parts] = (
        fit_groups(some_groups()[:1], {"zc": rows}, target, weight, 200, seed, 1, copies)
        for copies in (np.ones(100), weight)
    )
    assert parts.error < 0.5 < 0.9 * target.var() < whole.error


def test_a_final_pool_predicts_better_than_its_groups(rng):
    rows, target = make_rows(rng, 300)
    target += 0.5 * rng.normal(size=(300, 1))
    own = GroupRows({"zc": rows, "rank": np.tanh(rows)}, target, np.ones(300), np.ones(300))
    seed = np.random.SeedSequence(5).spawn(3)
    fits = compare_groups(some_groups(), own, 100, seed[0], 1).fits
    weights = honest_weights([fit.decisions for fit in fits], target, own.weight)
    metrics = learn_metrics(fits, weights, own, 100, seed[1])
    columns = columns_of(draw_pools(fits, weights, own.views, metrics, own.weight, 300, seed[2]))
    assert columns.shape[0] == 300
    assert 250 < columns.shape[1] < 420
    suggested, n = suggested_penalty(fits, weights, 100), columns.shape[1]
    normal = NormalEquations.of(columns, target, own.weight, 1)
    pool = HonestPool(normal, columns, np.arange(300))
    penalty, decisions, _ = choose_penalty([pool], target, own.copies, suggested, lambda decisions, rows: 1.0, 1)
    found = loo(columns, target, own.weight, [suggested * n * each for each in MULTIPLES])
    assert penalty * n == pytest.approx(found.penalty)
    assert np.allclose(decisions, found.decisions)
    assert found.error < 1.1 * min(fit.error for fit in fits)
    halves = [HonestPool(normal, columns, np.arange(begin, 300, 2)) for begin in (0, 1)]
    again, decisions, rows = choose_penalty(halves, target, own.copies, suggested, lambda decisions, rows: 1.0, 2)
    assert again == penalty
    assert np.allclose(decisions, found.decisions[rows])


@pytest.mark.parametrize("best", range(len(MULTIPLES)))
def test_the_penalty_goes_downhill(best, rng):
    rows, target = make_rows(rng, 60)
    columns = make_pool(rng, rows)[0].measured
    pool = HonestPool(NormalEquations.of(columns, target, np.ones(60), 1), columns, np.arange(60))
    found = loo(columns, target, None, [40.0 * own for own in MULTIPLES])

    def error(decisions, rows):
        number = int(np.argmin([np.abs(decisions - own).max() for own in found.all_decisions]))
        return (1.0 + abs(number - best)) / found.errors[number]

    penalty, *_ = choose_penalty([pool], target, np.ones(60), 40.0 / len(columns.T), error, 1)
    assert penalty * len(columns.T) == pytest.approx(40.0 * MULTIPLES[best])


def test_the_rows_of_the_final_pool_are_all_honest_ones_and_others(rng):
    shuffled, honest = rng.permutation(9000), np.sort(rng.permutation(9000)[:2000])
    rows = rows_of_pool(honest, shuffled)
    assert len(rows) == 5000
    assert np.isin(honest, rows).all()
    assert rows_of_pool(honest[:3], np.arange(4)).tolist() == np.unique([*honest[:3], 0, 1, 2, 3]).tolist()


def test_the_first_columns_of_a_final_pool_are_those_that_were_selected_first(rng):
    X = rng.normal(size=(40, 3))
    table, weight = Table.of(X), np.ones(40)
    encodings = {view: Encoding.of(table, np.arange(40), weight, view) for view in ("zc", "rank")}
    views = {view: own.transform(X) for view, own in encodings.items()}
    pools = [(view, make_pool(rng, views[view], 20)[0]) for view in ("rank", "zc", "rank")]
    pool = FinalPool(encodings, pools, rng.permutation(60)[:30])
    columns = columns_of(pools)
    assert len(pool) == 60
    for n in (1, 7, 30):
        assert np.allclose(pool.first(n).respond(X, 1), columns[:, pool.order[:n]], atol=1e-5)
        others = np.delete(columns, pool.order[:n], axis=1)
        assert np.allclose(pool.others(n).respond(X, 1), others, atol=1e-5)


def test_the_suggested_penalty_is_that_of_a_single_group():
    """k times the columns, and k times the penalty, give the same decisions."""
    rng = np.random.default_rng(0)
    rows, target = make_rows(rng)
    fits = fit_groups(some_groups()[:1], {"zc": rows}, target, np.ones(300), 100, np.random.SeedSequence(0), 1)
    assert 300 * suggested_penalty(fits, np.array([1.0]), 100) == pytest.approx(3 * fits[0].penalty)


def test_decisions_of_the_final_pool_are_honest_although_its_metric_has_seen_the_labels():
    """On noise they are no better than the mean; those of cosines in the metric of all rows would seem to be."""
    errors = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, target, ones = rng.normal(size=(60, 200)), rng.normal(size=(60, 1)), np.ones(60)
        problem = Problem(Table.of(X), np.arange(60), target, ones, ones, None, lambda *_: 1.0, 1)
        part = choose_cosines(problem, HonestRows.of([ones], ones, None, rng), 50, np.random.SeedSequence(seed))
        if part.decisions is not None:
            errors.append(mean_square(target - part.decisions, ones) / target.var())
    assert len(errors) > 2
    assert np.mean(errors) > 0.9
