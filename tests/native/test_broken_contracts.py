"""The compiled core says no to what breaks its contracts, and never crashes."""

from __future__ import annotations

import numpy as np
import pytest

from cgens import _core

ONES = np.ones(4)
TABLE = np.arange(12.0).reshape(4, 3)
ROWS = np.arange(4)


def solver(sibling: _core.DualCd | None = None) -> _core.DualCd:
    return _core.DualCd(np.array([1.0, -1.0, 1.0, -1.0]), -ONES, ONES, 1, sibling)


def solver_with_a_column() -> _core.DualCd:
    live = solver()
    live.add(np.array([1, -1, 1, -1], dtype=np.int8))
    return live


def least_squares() -> _core.GramLs:
    """Return two outputs over two columns."""
    live = _core.GramLs(TABLE[:, :2].copy(), ONES, 1)
    live.add(np.array([1, -1, 1, -1], dtype=np.int8))
    live.add(np.array([1, 1, -1, -1], dtype=np.int8))
    return live


def pool() -> _core.StumpPool:
    return _core.StumpPool(TABLE, ROWS, ONES, 8, 1)


def scan() -> _core.StumpScan:
    return _core.StumpScan(pool(), 1)


def table() -> _core.StumpTable:
    """Return prices for two outputs, without g'Pg."""
    return _core.StumpTable(pool(), 2, 1)


def curved() -> _core.StumpTable:
    live = table()
    live.set_curvature(ONES)
    return live


def tables() -> _core.StepTables:
    return _core.StepTables(np.array([0, 2]), np.array([0.5, 1.5]), np.ones((2, 1)))


BROKEN = {
    "solver without rows": lambda: _core.DualCd(np.zeros(0), np.zeros(0), np.zeros(0), 1),
    "solver with other lengths": lambda: _core.DualCd(ONES, ONES[:3], ONES, 1),
    "solver with a box upside down": lambda: _core.DualCd(ONES, ONES, -ONES, 1),
    "solver with a box without 0": lambda: _core.DualCd(ONES, 0.5 * ONES, ONES, 1),
    "solver with NaN in its box": lambda: _core.DualCd(ONES, -ONES, np.full(4, np.nan), 1),
    "solver with infinity in its box": lambda: _core.DualCd(ONES, -ONES, np.full(4, np.inf), 1),
    "solver with NaN in its linear term": lambda: _core.DualCd(np.full(4, np.nan), -ONES, ONES, 1),
    "column too short": lambda: solver().add(np.ones(3, dtype=np.int8)),
    "column too long": lambda: solver().add(np.ones(5)),
    "sibling of other rows": lambda: _core.DualCd(ONES[:3], -ONES[:3], ONES[:3], 1, solver()),
    "sibling that has a column": lambda: solver(solver_with_a_column()),
    "box scaled by 0": lambda: solver().scale_box(0.0),
    "box scaled by a negative factor": lambda: solver().scale_box(-1.0),
    "box scaled by NaN": lambda: solver().scale_box(np.nan),
    "box scaled by infinity": lambda: solver().scale_box(np.inf),
    "target too short": lambda: _core.order_rows(TABLE, np.ones((3, 1)), ONES, 1),
    "weights too short": lambda: _core.order_rows(TABLE, np.ones((4, 1)), ONES[:3], 1),
    "pool weights too short": lambda: _core.StumpPool(TABLE, ROWS, ONES[:3], 8, 1),
    "pool row too large": lambda: _core.StumpPool(TABLE, np.array([0, 4]), ONES[:2], 8, 1),
    "pool row negative": lambda: _core.StumpPool(TABLE, np.array([0, -1]), ONES[:2], 8, 1),
    "pool without rows": lambda: _core.StumpPool(TABLE, ROWS[:0], ONES[:0], 8, 1),
    "pool without features": lambda: _core.StumpPool(TABLE[:, :0], ROWS, ONES, 8, 1),
    "one bin": lambda: _core.StumpPool(TABLE, ROWS, ONES, 1, 1),
    "response of no such feature": lambda: pool().respond(3, 0.5),
    "response of no such threshold": lambda: pool().respond(0, 0.123),
    "thresholds of no such feature": lambda: pool().thresholds(3),
    "duals too short": lambda: scan().price(ONES[:3]),
    "NaN among the duals": lambda: scan().price(np.array([1.0, np.nan, 1.0, 1.0])),
    "infinity among the duals": lambda: scan().price(np.array([1.0, 1.0, 1.0, -np.inf])),
    "table without outputs": lambda: _core.StumpTable(pool(), 0, 1),
    "table duals too short": lambda: table().set_duals(np.ones((3, 2))),
    "table duals of another number of outputs": lambda: table().set_duals(np.ones((4, 1))),
    "NaN among the table's duals": lambda: table().set_duals(np.full((4, 2), np.nan)),
    "infinity among the table's duals": lambda: table().set_duals(np.full((4, 2), np.inf)),
    "curvature too short": lambda: table().set_curvature(ONES[:3]),
    "curvature of 0": lambda: table().set_curvature(np.array([1.0, 0.0, 1.0, 1.0])),
    "negative curvature": lambda: table().set_curvature(-ONES),
    "curvature of NaN": lambda: table().set_curvature(np.full(4, np.nan)),
    "infinite curvature": lambda: table().set_curvature(np.full(4, np.inf)),
    "direction too short": lambda: table().change(ONES[:3], ONES[:2], 2.0, "max"),
    "direction with NaN": lambda: table().change(np.full(4, np.nan), ONES[:2], 2.0, "max"),
    "step too long": lambda: table().change(ONES, ONES, 2.0, "max"),
    "step with infinity": lambda: table().change(ONES, np.array([1.0, np.inf]), 2.0, "max"),
    "denominator of 0": lambda: table().change(ONES, ONES[:2], 0.0, "max"),
    "denominator of NaN": lambda: table().change(ONES, ONES[:2], np.nan, "max"),
    "change by gain without curvature": lambda: table().change(ONES, ONES[:2], 2.0, "gain"),
    "search by gain without curvature": lambda: table().find_best("gain"),
    "curvature changed before it was set": lambda: table().change_curvature(ONES, 2.0),
    "curvature changed along too few rows": lambda: curved().change_curvature(ONES[:3], 2.0),
    "curvature changed along infinity": lambda: curved().change_curvature(np.full(4, np.inf), 2.0),
    "curvature changed by a negative denominator": lambda: curved().change_curvature(ONES, -1.0),
    "entries of no such feature": lambda: table().entries(3, 0),
    "entries of no such threshold": lambda: table().entries(0, 3),
    "least squares without rows": lambda: _core.GramLs(np.zeros((0, 1)), np.zeros(0), 1),
    "least squares without outputs": lambda: _core.GramLs(np.zeros((4, 0)), ONES, 1),
    "least squares with too few weights": lambda: _core.GramLs(np.ones((4, 1)), ONES[:3], 1),
    "least squares with a target of NaN": lambda: _core.GramLs(np.full((4, 1), np.nan), ONES, 1),
    "least squares with an infinite target": lambda: _core.GramLs(np.full((4, 1), np.inf), ONES, 1),
    "least squares with a weight of 0": lambda: _core.GramLs(np.ones((4, 1)), np.array([1.0, 1.0, 0.0, 1.0]), 1),
    "least squares with negative weights": lambda: _core.GramLs(np.ones((4, 1)), -ONES, 1),
    "least squares with a weight of NaN": lambda: _core.GramLs(np.ones((4, 1)), np.full(4, np.nan), 1),
    "least squares with infinite weights": lambda: _core.GramLs(np.ones((4, 1)), np.full(4, np.inf), 1),
    "int8 column too short": lambda: least_squares().add(np.ones(3, dtype=np.int8)),
    "float32 column too long": lambda: least_squares().add(np.ones(5, dtype=np.float32)),
    "float64 column too long": lambda: least_squares().add(np.ones(5)),
    "intercept of another number of outputs": lambda: least_squares().intercept(np.ones((2, 1))),
    "intercept of too many columns": lambda: least_squares().intercept(np.ones((3, 2))),
    "duals of another number of outputs": lambda: least_squares().duals(np.ones((2, 3))),
    "duals of too many columns": lambda: least_squares().duals(np.ones((3, 2))),
    "step of no such column": lambda: least_squares().step(2),
    "direction of no such column": lambda: least_squares().direction(2),
    "solved again for C times 0": lambda: least_squares().resolve(0.0, [2]),
    "solved again for a negative C": lambda: least_squares().resolve(-1.0, [2]),
    "solved again for C of NaN": lambda: least_squares().resolve(np.nan, [2]),
    "solved again for an infinite C": lambda: least_squares().resolve(np.inf, [2]),
    "stages that do not ascend": lambda: least_squares().resolve(1.0, [2, 1]),
    "a stage beyond the columns": lambda: least_squares().resolve(1.0, [1, 3]),
    "quadratic of a column too short": lambda: least_squares().quadratic(ONES[None, :3], 2),
    "quadratic with too many columns": lambda: least_squares().quadratic(ONES[None], 3),
    "stump lists of other lengths": lambda: _core.respond_stumps(TABLE, np.array([0, 1]), ONES[:1], 1),
    "stump on no such feature": lambda: _core.respond_stumps(TABLE, np.array([3]), ONES[:1], 1),
    "stump on a negative feature": lambda: _core.respond_stumps(TABLE, np.array([-1]), ONES[:1], 1),
    "tables of other lengths": lambda: _core.StepTables(np.array([0]), ONES[:2], np.ones((2, 1))),
    "tables with a negative feature": lambda: _core.StepTables(np.array([-1]), ONES[:1], np.ones((1, 1))),
    "too few columns to decide": lambda: tables().decide(TABLE[:, :2], 1),
    "unknown SIMD level": lambda: _core.force_simd_level("sse9"),
}

WRONG_TYPE = {
    "integer labels": lambda: _core.DualCd(np.ones(4, dtype=int), -ONES, ONES, 1),
    "integer column": lambda: solver().add(np.ones(4, dtype=np.int64)),
    "half-precision column": lambda: solver().add(np.ones(4, dtype=np.float16)),
    "strided column": lambda: solver().add(np.ones(8)[::2]),
    "column with two axes": lambda: solver().add(np.ones((4, 1))),
    "list": lambda: scan().price([1.0, 2.0, 3.0, 4.0]),
    "float32 duals": lambda: scan().price(ONES.astype(np.float32)),
    "search without a pool": lambda: _core.StumpScan(None, 1),
    "table without a pool": lambda: _core.StumpTable(None, 1, 1),
    "negative number of outputs": lambda: _core.StumpTable(pool(), -1, 1),
    "table duals with one axis": lambda: table().set_duals(ONES),
    "Fortran-ordered table duals": lambda: table().set_duals(np.ones((4, 2), order="F")),
    "float32 table duals": lambda: table().set_duals(np.ones((4, 2), dtype=np.float32)),
    "sibling of another kind": lambda: solver(scan()),
    "target with one axis": lambda: _core.GramLs(ONES, ONES, 1),
    "float32 target": lambda: _core.GramLs(np.ones((4, 1), dtype=np.float32), ONES, 1),
    "integer column of least squares": lambda: least_squares().add(np.ones(4, dtype=np.int64)),
    "strided column of least squares": lambda: least_squares().add(np.ones(8)[::2]),
    "flat weights": lambda: least_squares().duals(np.ones(4)),
    "negative column": lambda: least_squares().step(-1),
    "negative stage": lambda: least_squares().resolve(1.0, [-1]),
    "one column of a quadratic as a vector": lambda: least_squares().quadratic(ONES, 2),
    "integer table": lambda: _core.order_rows(TABLE.astype(int), np.ones((4, 1)), ONES, 1),
    "table with one axis": lambda: _core.StumpPool(ONES, ROWS, ONES, 8, 1),
    "32-bit rows": lambda: _core.StumpPool(TABLE, ROWS.astype(np.int32), ONES, 8, 1),
    "negative max_bins": lambda: _core.StumpPool(TABLE, ROWS, ONES, -1, 1),
    "big-endian table": lambda: _core.order_rows(TABLE.astype(">f8"), np.ones((4, 1)), ONES, 1),
    "Fortran-ordered weights": lambda: _core.StepTables(np.array([0, 1]), ONES[:2], np.ones((2, 3), order="F")),
    "no array at all": lambda: tables().decide(None, 1),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_contract_is_a_value_error(name):
    with pytest.raises(ValueError, match=r"\w"):
        BROKEN[name]()


@pytest.mark.parametrize("name", WRONG_TYPE)
def test_wrong_type_is_a_type_error_and_no_silent_copy(name):
    with pytest.raises(TypeError):
        WRONG_TYPE[name]()


def test_taking_what_is_not_there_says_so():
    live = pool()
    assert live.take(0, 0.123) is False
    with pytest.raises(IndexError):
        live.take(3, 0.5)


def test_objects_work_after_a_refusal():
    live = scan()
    with pytest.raises(ValueError, match="one dual per row"):
        live.price(ONES[:3])
    assert live.price(np.array([1.0, -1.0, 1.0, -1.0]))[0]
    cd = solver()
    with pytest.raises(ValueError, match="one response per row"):
        cd.add(np.ones(3))
    cd.add(np.array([1, -1, 1, -1], dtype=np.int8))
    assert cd.solve(1e-9, 100, lambda: False)[3] == "converged"
    prices = curved()
    with pytest.raises(ValueError, match="one step per output"):
        prices.change(ONES, ONES, 2.0, "gain")
    prices.set_duals(TABLE[:, :2] - TABLE[:, :2].mean(axis=0))
    assert prices.find_best("gain")[0]
    ls = least_squares()
    with pytest.raises(ValueError, match="one response per row"):
        ls.add(np.ones(3))
    assert len(ls.weights()) == 4, "two columns, two outputs"
    assert ls.solve(1e-9)[0] > 0


def test_a_sibling_that_lags_behind_is_not_solved():
    """The store then has a column that is not of its problem, and from the 17th on weights are written past the end."""
    first = solver()
    second = solver(first)
    for live in (first, second, first):
        live.add(np.array([1, -1, 1, -1], dtype=np.int8))
    with pytest.raises(ValueError, match="column"):
        second.solve(1e-9, 100, lambda: False)


def test_a_search_keeps_its_pool_alive():
    prices, live = table(), scan()
    prices.set_duals(TABLE[:, :2] - 5.0)
    assert prices.find_best("max")[0]
    assert live.price(TABLE[:, 0] - 4.0)[0]


@pytest.mark.parametrize("n_threads", [-5, 0, 1])
def test_useless_numbers_of_threads_mean_one(n_threads):
    assert _core.usable_threads(n_threads) == 1
    rows, weight, position = _core.order_rows(TABLE, np.ones((4, 1)), ONES, n_threads)
    assert len(rows) == len(weight) == len(position) == 4


def test_results_own_their_memory():
    """Arrays that come back stay valid when the object that made them is gone."""
    live = pool()
    thresholds, response = live.thresholds(1), live.respond(1, live.thresholds(1)[0])
    del live
    ls = least_squares()
    weights, direction = ls.weights(), ls.direction(1)
    before = direction.tolist()
    weights[:] = 99.0
    assert ls.weights().max() < 99
    del ls
    assert direction.tolist() == before
    cd = solver()
    duals = cd.duals()
    duals[:] = 99.0
    assert cd.duals().tolist() == [1.0, -1.0, 1.0, -1.0]
    assert thresholds.tolist() == [2.5, 5.5, 8.5]
    assert response.tolist() == [-1, 1, 1, 1]
