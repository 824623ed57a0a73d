"""The compiled core says no to what breaks its contracts, and never crashes."""

from __future__ import annotations

import numpy as np
import pytest

from cgens import _core

ONES = np.ones(4)
TABLE = np.arange(12.0).reshape(4, 3)
ROWS = np.arange(4)


def solver() -> _core.DualCd:
    return _core.DualCd(np.array([1.0, -1.0, 1.0, -1.0]), -ONES, ONES, 1)


def scan() -> _core.StumpScan:
    return _core.StumpScan(TABLE, ROWS, ONES, 8, 1)


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
    "target too short": lambda: _core.order_rows(TABLE, np.ones((3, 1)), ONES, 1),
    "weights too short": lambda: _core.order_rows(TABLE, np.ones((4, 1)), ONES[:3], 1),
    "scan weights too short": lambda: _core.StumpScan(TABLE, ROWS, ONES[:3], 8, 1),
    "scan row too large": lambda: _core.StumpScan(TABLE, np.array([0, 4]), ONES[:2], 8, 1),
    "scan row negative": lambda: _core.StumpScan(TABLE, np.array([0, -1]), ONES[:2], 8, 1),
    "scan without rows": lambda: _core.StumpScan(TABLE, ROWS[:0], ONES[:0], 8, 1),
    "scan without features": lambda: _core.StumpScan(TABLE[:, :0], ROWS, ONES, 8, 1),
    "one bin": lambda: _core.StumpScan(TABLE, ROWS, ONES, 1, 1),
    "duals too short": lambda: scan().price(ONES[:3]),
    "response of no such feature": lambda: scan().respond(3, 0.5),
    "response of no such threshold": lambda: scan().respond(0, 0.123),
    "thresholds of no such feature": lambda: scan().thresholds(3),
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
    "integer table": lambda: _core.order_rows(TABLE.astype(int), np.ones((4, 1)), ONES, 1),
    "table with one axis": lambda: _core.StumpScan(ONES, ROWS, ONES, 8, 1),
    "32-bit rows": lambda: _core.StumpScan(TABLE, ROWS.astype(np.int32), ONES, 8, 1),
    "negative max_bins": lambda: _core.StumpScan(TABLE, ROWS, ONES, -1, 1),
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
    live = scan()
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


@pytest.mark.parametrize("n_threads", [-5, 0, 1])
def test_useless_numbers_of_threads_mean_one(n_threads):
    assert _core.usable_threads(n_threads) == 1
    rows, weight, position = _core.order_rows(TABLE, np.ones((4, 1)), ONES, n_threads)
    assert len(rows) == len(weight) == len(position) == 4


def test_results_own_their_memory():
    """Arrays that come back stay valid when the object that made them is gone."""
    live = scan()
    thresholds, response = live.thresholds(1), live.respond(1, live.thresholds(1)[0])
    del live
    cd = solver()
    duals = cd.duals()
    duals[:] = 99.0
    assert cd.duals().tolist() == [1.0, -1.0, 1.0, -1.0]
    assert thresholds.tolist() == [2.5, 5.5, 8.5]
    assert response.tolist() == [-1, 1, 1, 1]
