"""The compiled core refuses what breaks its contracts, never crashes, and copies nothing silently."""

from __future__ import annotations

import numpy as np
import pytest

from cgens import _core as core

NAN, INF = np.nan, np.inf
ONES, ROWS, FLAGS = np.ones(4), np.arange(4), np.ones(3, dtype=np.uint8)
TABLE = np.arange(12.0).reshape(4, 3)
PAIRS = TABLE[:, :2].copy()
SIGNS = np.array([1, -1, 1, -1], dtype=np.int8)
LANES = np.ones((2, 16), dtype=np.int8)


def solver(sibling: core.DualCd | None = None) -> core.DualCd:
    return core.DualCd(SIGNS.astype(float), -ONES, ONES, 1, sibling)


def with_columns(live, *columns):
    for column in columns:
        live.add(column)
    return live


def least_squares() -> core.GramLs:
    """Return two outputs over two columns."""
    return with_columns(core.GramLs(PAIRS, ONES, 1), SIGNS, SIGNS[[0, 0, 1, 1]])


def pool(X: np.ndarray = TABLE, rows: np.ndarray = ROWS, weights: np.ndarray = ONES, max_bins: int = 8):
    return core.StumpPool(X, rows, weights, max_bins, 1)


def scan() -> core.StumpScan:
    return core.StumpScan(pool(), 1)


def table(curvature: np.ndarray | None = None) -> core.StumpTable:
    """Return prices for two outputs, without g'Pg where no curvature is given."""
    live = core.StumpTable(pool(), 2, 1)
    if curvature is not None:
        live.set_curvature(curvature)
    return live


def grower(weights: np.ndarray = ONES) -> core.TreeGrower:
    return core.TreeGrower(pool(), weights, 1)


TREE = {
    "begin": np.array([0, 3]),
    "features": np.array([0, -1, -1], dtype=np.int32),
    "left": np.array([1, -1, -1], dtype=np.int32),
    "right": np.array([2, -1, -1], dtype=np.int32),
    "thresholds": np.zeros(3),
    "values": np.zeros(3, dtype=np.float32),
}


def walk(X: np.ndarray = TABLE, **parts):
    """Ask one tree of three nodes, some of its arrays replaced; tuples become arrays of the right type."""
    arrays = {part: np.array(a, TREE[part].dtype) if type(a) is tuple else a for part, a in parts.items()}
    return core.respond_trees(X, *{**TREE, **arrays}.values(), 1)


# Argument -> (a call with it, an array it accepts, what is required). "length": one entry per row (or output, feature,
# stump, node); "finite" and "positive" say so of the numbers too; "free": any length; "strided": any strides too.
ARRAYS = {
    "DualCd linear": (lambda a: core.DualCd(a, -ONES, ONES, 1), ONES, "finite"),
    "DualCd lower": (lambda a: core.DualCd(ONES, a, ONES, 1), -ONES, "finite"),
    "DualCd upper": (lambda a: core.DualCd(ONES, -ONES, a, 1), ONES, "finite"),
    "DualCd.add": (lambda a: solver().add(a), ONES, "length"),
    "DualCd.add int8": (lambda a: solver().add(a), SIGNS, "length"),
    "GramLs target": (lambda a: core.GramLs(a, ONES, 1), TABLE, "finite"),
    "GramLs weights": (lambda a: core.GramLs(TABLE, a, 1), ONES, "positive"),
    "GramLs.add": (lambda a: least_squares().add(a), ONES, "length"),
    "GramLs.add float32": (lambda a: least_squares().add(a), np.ones(4, np.float32), "length"),
    "GramLs.add int8": (lambda a: least_squares().add(a), SIGNS, "length"),
    "GramLs.quadratic": (lambda a: least_squares().quadratic(a, 2), ONES, "length"),
    "GramLs.duals": (lambda a: least_squares().duals(a), np.ones((2, 2)), "free"),
    "GramLs.intercept": (lambda a: least_squares().intercept(a), np.ones((2, 2)), "free"),
    "StumpPool X": (lambda a: pool(X=a), TABLE, "strided"),
    "StumpPool rows": (lambda a: pool(rows=a), ROWS, "length"),
    "StumpPool weights": (lambda a: pool(weights=a), ONES, "length"),
    "StumpScan.price": (lambda a: scan().price(a), ONES, "finite"),
    "StumpTable.set_duals": (lambda a: table().set_duals(a), PAIRS, "finite"),
    "StumpTable.set_curvature": (lambda a: table().set_curvature(a), ONES, "positive"),
    "StumpTable.change direction": (lambda a: table().change(a, ONES[:2], 2.0, "max"), ONES, "finite"),
    "StumpTable.change step": (lambda a: table().change(ONES, a, 2.0, "max"), ONES[:2], "finite"),
    "StumpTable.change_curvature": (lambda a: table(ONES).change_curvature(a, 2.0), ONES, "finite"),
    "respond_stumps X": (lambda a: core.respond_stumps(a, ROWS[:2], ONES[:2], 1), TABLE, "strided"),
    "respond_stumps features": (lambda a: core.respond_stumps(TABLE, a, ONES[:2], 1), ROWS[:2], "length"),
    "respond_stumps thresholds": (lambda a: core.respond_stumps(TABLE, ROWS[:2], a, 1), ONES[:2], "length"),
    "StepTables features": (lambda a: core.StepTables(a, ONES, TABLE), ROWS, "length"),
    "StepTables thresholds": (lambda a: core.StepTables(ROWS, a, TABLE), ONES, "length"),
    "StepTables weights": (lambda a: core.StepTables(ROWS, ONES, a), TABLE, "length"),
    "StepTables.decide": (lambda a: core.StepTables(ROWS[:2], ONES[:2], PAIRS[:2]).decide(a, 1), TABLE, "strided"),
    "price_candidates responses": (lambda a: core.price_candidates(a, np.ones((1, 16)), 1), LANES, "free"),
    "price_candidates float32": (lambda a: core.price_candidates(a, np.ones((1, 9)), 1), LANES.astype("f4"), "free"),
    "price_candidates duals": (lambda a: core.price_candidates(LANES, a, 1), np.ones((2, 16)), "free"),
    "take_cosines": (lambda a: core.take_cosines(a, 1), TABLE, "free"),
    "order_rows X": (lambda a: core.order_rows(a, PAIRS, ONES, 1), TABLE, "strided"),
    "order_rows target": (lambda a: core.order_rows(TABLE, a, ONES, 1), PAIRS, "length"),
    "order_rows weights": (lambda a: core.order_rows(TABLE, PAIRS, a, 1), ONES, "length"),
    "TreeGrower weights": (lambda a: grower(a), ONES, "positive"),
    "TreeGrower.grow along": (lambda a: grower().grow(a, FLAGS, 2, 1.0, True), ONES, "finite"),
    "TreeGrower.grow allowed": (lambda a: grower().grow(ONES, a, 2, 1.0, True), FLAGS, "length"),
    "respond_trees X": (lambda a: walk(X=a), TABLE, "strided"),
    **{f"respond_trees {part}": (lambda a, part=part: walk(**{part: a}), TREE[part], "length") for part in TREE},
}


def with_last(good: np.ndarray, value: float) -> np.ndarray:
    array = good.copy()
    array[-1] = value
    return array


def wrong_arrays(good: np.ndarray, kind: str):
    """Yield (what is wrong, the array, the exception)."""
    if kind not in ("free", "strided"):
        yield "too short", good[:-1].copy(), ValueError
        yield "too long", np.concatenate([good, good[-1:]]), ValueError
    for value in {"finite": (NAN, INF, -INF), "positive": (NAN, INF, 0.0, -1.0)}.get(kind, ()):
        yield f"has {value}", with_last(good, value), ValueError
    for dtype in (np.float16, np.int16, *([good.dtype.newbyteorder()] if good.itemsize > 1 else [])):
        yield f"of type {dtype}", good.astype(dtype), TypeError
    if kind != "strided":
        yield "not contiguous", np.repeat(good, 2, axis=0)[::2], TypeError
    yield "one axis more", good[:, None], TypeError
    yield "one axis less", good.ravel() if good.ndim > 1 else good[0], TypeError
    yield "list", good.tolist(), TypeError
    yield "None", None, TypeError


# Method -> (a call with one number, the numbers that it refuses).
NUMBERS = {
    "DualCd.scale_box": (lambda v: solver().scale_box(v), (0.0, -1.0, NAN, INF)),
    "GramLs.resolve": (lambda v: least_squares().resolve(v, [2]), (0.0, -1.0, NAN, INF)),
    "StumpTable.change": (lambda v: table().change(ONES, ONES[:2], v, "max"), (0.0, -1.0, NAN)),
    "StumpTable.change_curvature": (lambda v: table(ONES).change_curvature(ONES, v), (0.0, -1.0, NAN)),
    "TreeGrower.grow min_weight": (lambda v: grower().grow(ONES, FLAGS, 2, v, True), (-1.0, NAN, INF)),
    "TreeGrower.grow max_leaves": (lambda v: grower().grow(ONES, FLAGS, v, 1.0, True), (0,)),
    "StumpPool max_bins": (lambda v: pool(max_bins=v), (0, 1)),
    "StumpTable n_outputs": (lambda v: core.StumpTable(pool(), v, 1), (0,)),
    "StumpPool.thresholds": (lambda v: pool().thresholds(v), (3,)),
    "GramLs.step": (lambda v: least_squares().step(v), (2,)),
    "GramLs.direction": (lambda v: least_squares().direction(v), (2,)),
    "GramLs.quadratic": (lambda v: least_squares().quadratic(ONES, v), (3,)),
    "feature of StumpPool.respond": (lambda v: pool().respond(v, 1.5), (3,)),
    "feature of StumpTable.respond": (lambda v: table().respond(v, 1.5), (3,)),
    "feature of StumpTable.entries": (lambda v: table().entries(v, 0), (3,)),
    "threshold of StumpPool.respond": (lambda v: pool().respond(0, v), (0.123, NAN, INF)),
    "threshold of StumpTable.respond": (lambda v: table().respond(0, v), (0.123, NAN, INF)),
    "threshold of StumpTable.entries": (lambda v: table().entries(0, v), (3,)),
    "rows of StumpPool": (lambda v: pool(rows=np.array([0, 1, 2, v])), (4, -1)),
    "features of respond_stumps": (lambda v: core.respond_stumps(TABLE, np.array([v]), ONES[:1], 1), (3, -1)),
    "features of StepTables": (lambda v: core.StepTables(np.array([v]), ONES[:1], PAIRS[:1]), (-1,)),
    "X of a pool": (lambda v: pool(X=with_last(TABLE, v)), (NAN, INF, -INF)),
    "X of a pool, float32": (lambda v: pool(X=with_last(TABLE, v).astype("f4")), (NAN, INF)),
}

BROKEN = {
    "solver without rows": lambda: core.DualCd(ONES[:0], ONES[:0], ONES[:0], 1),
    "solver with a box above 0": lambda: core.DualCd(ONES, 0.5 * ONES, ONES, 1),
    "solver with a box below 0": lambda: core.DualCd(ONES, -ONES, -0.5 * ONES, 1),
    "sibling of other rows": lambda: core.DualCd(ONES[:3], -ONES[:3], ONES[:3], 1, solver()),
    "sibling that has a column": lambda: solver(with_columns(solver(), SIGNS)),
    "pool without rows": lambda: pool(rows=ROWS[:0], weights=ONES[:0]),
    "pool without features": lambda: pool(X=TABLE[:, :0]),
    "duals of another number of outputs": lambda: table().set_duals(TABLE),
    "change by gain without curvature": lambda: table().change(ONES, ONES[:2], 2.0, "gain"),
    "search by gain without curvature": lambda: table().find_best("gain"),
    "search by an unknown rule": lambda: table().find_best("min"),
    "curvature changed before it was set": lambda: table().change_curvature(ONES, 2.0),
    "least squares without rows": lambda: core.GramLs(TABLE[:0], ONES[:0], 1),
    "least squares without outputs": lambda: core.GramLs(TABLE[:, :0].copy(), ONES, 1),
    "intercept of another number of outputs": lambda: least_squares().intercept(np.ones((2, 1))),
    "intercept of too many columns": lambda: least_squares().intercept(np.ones((3, 2))),
    "weights of another number of outputs": lambda: least_squares().duals(np.ones((2, 3))),
    "weights of too many columns": lambda: least_squares().duals(np.ones((3, 2))),
    "stages that do not ascend": lambda: least_squares().resolve(1.0, [2, 1]),
    "a stage beyond the columns": lambda: least_squares().resolve(1.0, [1, 3]),
    "too few columns to decide": lambda: core.StepTables(ROWS[1:3], ONES[:2], PAIRS[:2]).decide(PAIRS, 1),
    "candidates not padded": lambda: core.price_candidates(LANES[:, :10].copy(), np.ones((1, 10)), 1),
    "candidates padded too far": lambda: core.price_candidates(np.ones((2, 32), np.int8), np.ones((1, 16)), 1),
    "candidates without rows": lambda: core.price_candidates(LANES[:, :0].copy(), np.ones((1, 3)), 1),
    "more duals than rows": lambda: core.price_candidates(LANES, np.ones((1, 17)), 1),
    "no begin at all": lambda: walk(begin=()),
    "begin after 0": lambda: walk(begin=(1, 3)),
    "end too small": lambda: walk(begin=(0, 2)),
    "end too large": lambda: walk(begin=(0, 4)),
    "negative end": lambda: walk(begin=(0, -1)),
    "empty tree": lambda: walk(begin=(0, 0, 3)),
    "trees that overlap": lambda: walk(begin=(0, 3, 1, 3)),
    "tree beyond the end": lambda: walk(begin=(0, 5, 3)),
    "feature out of range": lambda: walk(features=(3, -1, -1)),
    "feature out of the range of fewer columns": lambda: walk(X=TABLE[:, :0]),
    "child that is its parent": lambda: walk(left=(0, -1, -1)),
    "child before its parent": lambda: walk(features=(0, 0, -1), left=(1, 0, -1), right=(2, 2, -1)),
    "negative child": lambda: walk(right=(-1, -1, -1)),
    "child outside": lambda: walk(right=(3, -1, -1)),
    "child in the next tree": lambda: walk(begin=(0, 2, 3)),
    "unknown SIMD level": lambda: core.force_simd_level("sse9"),
}

WRONG_TYPE = {
    "scan without a pool": lambda: core.StumpScan(None, 1),
    "table without a pool": lambda: core.StumpTable(None, 1, 1),
    "grower without a pool": lambda: core.TreeGrower(None, ONES, 1),
    "sibling of another kind": lambda: solver(scan()),
    "negative number of outputs": lambda: core.StumpTable(pool(), -1, 1),
    "negative max_bins": lambda: pool(max_bins=-1),
    "negative column": lambda: least_squares().step(-1),
    "negative stage": lambda: least_squares().resolve(1.0, [-1]),
    "negative number of leaves": lambda: grower().grow(ONES, FLAGS, -1, 1.0, True),
}


def refusal(call, *arguments):
    """Return what a call raises, None where it accepts its arguments."""
    try:
        call(*arguments)
    except Exception as error:
        return type(error)
    return None


@pytest.mark.parametrize("name", ARRAYS)
def test_wrong_arrays_are_refused(name):
    call, good, kind = ARRAYS[name]
    wrong = list(wrong_arrays(good, kind))
    assert refusal(call, good) is None
    assert {what: refusal(call, array) for what, array, _ in wrong} == {what: error for what, _, error in wrong}


@pytest.mark.parametrize("name", NUMBERS)
def test_wrong_numbers_are_refused(name):
    call, refused = NUMBERS[name]
    assert {number: refusal(call, number) for number in refused} == dict.fromkeys(refused, ValueError)


@pytest.mark.parametrize("name", [*BROKEN, *WRONG_TYPE])
def test_broken_contracts_are_refused(name):
    assert refusal({**BROKEN, **WRONG_TYPE}[name]) is (ValueError if name in BROKEN else TypeError)


def test_taking_what_is_not_there():
    live = pool()
    assert live.take(0, 0.123) is False
    with pytest.raises(IndexError):
        live.take(3, 0.5)


def test_a_sibling_that_lags_behind_is_not_solved():
    """The store then has a column that is not of its problem, and from the 17th on weights are written past the end."""
    first = solver()
    second = solver(first)
    for live in (first, second, first):
        live.add(SIGNS)
    with pytest.raises(ValueError, match="column"):
        second.solve(1e-9, 100, lambda: False)


def test_objects_work_after_a_refusal_and_keep_their_pool_alive():
    live, prices, trees, cd, ls = scan(), table(ONES), grower(), solver(), least_squares()
    for refused in (
        lambda: live.price(ONES[:3]),
        lambda: prices.change(ONES, ONES, 2.0, "gain"),
        lambda: trees.grow(ONES[:3], FLAGS, 2, 1.0, True),
        lambda: cd.add(ONES[:3]),
        lambda: ls.add(ONES[:3]),
    ):
        with pytest.raises(ValueError, match=r"one \w+ per"):
            refused()
    assert live.price(SIGNS.astype(float))[0]
    prices.set_duals(PAIRS - PAIRS.mean(axis=0))
    assert prices.find_best("gain")[0]
    assert trees.grow(TABLE[:, 0] - 4.5, FLAGS, 2, 1.0, True)[0].tolist() == [0, -1, -1]
    cd.add(SIGNS)
    assert cd.solve(1e-9, 100, lambda: False)[3] == "converged"
    assert len(ls.weights()) == 4, "two columns, two outputs"
    assert ls.solve(1e-9)[0] > 0


def test_results_own_their_memory():
    """Arrays stay valid when the object that made them is gone, and writing to them changes no object."""
    live, ls, cd = pool(), least_squares(), solver()
    thresholds, response = live.thresholds(1), live.respond(1, live.thresholds(1)[0])
    weights, direction, duals = ls.weights(), ls.direction(1), cd.duals()
    before = direction.tolist()
    weights[:] = duals[:] = 99.0
    assert ls.weights().max() < 99
    assert cd.duals().tolist() == SIGNS.tolist()
    del live, ls, cd
    assert direction.tolist() == before
    assert thresholds.tolist() == [2.5, 5.5, 8.5]
    assert response.tolist() == [-1, 1, 1, 1]
