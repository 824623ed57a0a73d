"""The compiled core refuses arguments that break its contracts, never crashes, and copies nothing silently."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from cgens import _core as core

NAN, INF = np.nan, np.inf
ONES, ROWS, FLAGS = np.ones(4), np.arange(4), np.ones(3, dtype=np.uint8)
TABLE = np.arange(12.0).reshape(4, 3)
PAIRS, FLOATS = TABLE[:, :2].copy(), TABLE.astype(np.float32)
SIGNS = np.array([1, -1, 1, -1], dtype=np.int8)
LANES = np.ones((2, 16), dtype=np.int8)
NODES = [np.array(part, dtype=np.int32) for part in ([0, -1, -1], [1, -1, -1], [2, -1, -1])]  # feature, left, right
# Two of the three nodes, or of three stumps, have a level.
LEVEL_BEGIN, LEVELS = np.array([0, 1, 1, 2]), np.array([2, 0], dtype=np.uint32)
TREE = [np.array([0, 3]), *NODES, np.zeros(3), np.zeros(3, dtype=np.float32), 0 * FLAGS, LEVEL_BEGIN, LEVELS]
STUMPS = [ROWS[:3], np.array([0.5, 0.5, NAN]), FLAGS, LEVEL_BEGIN, LEVELS]
# Four rows in compressed columns, or three in compressed rows: the second is empty.
COLUMNS = [np.array([1.0, 2.0, NAN]), np.array([0, 3, 1], dtype=np.int32), np.array([0, 2, 2, 3])]
# Two numbers, each with a knot; their gaps; a category with a level and two rare ones.
INDICES = [np.array(part) for part in ([0, 2], [0, 1, 2], [0, 2], [1, 1], [2, -1], [0, 0, 2], [1, 0])]
ENCODING = [False, INDICES[0], *np.ones((5, 2)), INDICES[1], *np.ones((2, 2)), *INDICES[2:]]
THETAS = TABLE.reshape(2, 6)
CODES = np.array([[0.0, 2.0, 5.0], [1.0, NAN, 0.0], [0.0, 2.0, 1.5], [3.0, 0.0, -1.0]])
CATEGORIES = np.array([1, 1, 0], dtype=np.uint8)


def encoder(**changes) -> core.RowEncoder:
    """Return an encoder with other arrays of indices in place of those of these numbers."""
    names = ("numbers", "knot_begin", "gaps", "level_columns", "level_codes", "rare_begin", "rare")
    numbers, knot_begin, *others = (np.array(changes.get(name, own)) for name, own in zip(names, INDICES, strict=True))
    return core.RowEncoder(False, numbers, *np.ones((5, 2)), knot_begin, *np.ones((2, 2)), *others)


def cosines() -> core.CosineTables:
    return core.CosineTables(encoder(), THETAS, ONES[:2])


def solver(sibling: core.DualCd | None = None) -> core.DualCd:
    return core.DualCd(SIGNS.astype(float), -ONES, ONES, 1, sibling)


def with_columns(live, *columns):
    for column in columns:
        live.add(column)
    return live


def least_squares() -> core.GramLs:
    """Return two outputs over two columns."""
    return with_columns(core.GramLs(PAIRS, ONES, 1), SIGNS, SIGNS[[0, 0, 1, 1]])


def restored_solver(*state) -> core.DualCd:
    live = with_columns(solver(), SIGNS, ONES)
    live.set_state(*state)
    return live


def restored_least_squares(*state) -> core.GramLs:
    live = core.GramLs(PAIRS, ONES, 1)
    for column in (SIGNS, SIGNS[[0, 0, 1, 1]], ONES):
        live.append(column)
    live.set_state(*state)
    return live


def pool(X: np.ndarray = TABLE, rows: np.ndarray = ROWS, weights: np.ndarray = ONES) -> core.StumpPool:
    return core.StumpPool(X, rows, weights, 8, 1)


def levels_pool(X: np.ndarray, is_category: np.ndarray = CATEGORIES, least: float = 0.0) -> core.StumpPool:
    """Return a pool in which two of three features are categories."""
    return core.StumpPool(X, ROWS, ONES, 8, 1, None, is_category, least)


def with_code(code: float, dtype: type = np.float64) -> np.ndarray:
    """Return codes, one of which is another."""
    X = CODES.astype(dtype)
    X[2, 1] = code
    return X


def sparse_pool(data=COLUMNS[0], indices=COLUMNS[1], begin=COLUMNS[2], n_all=4, rows=ROWS, weights=ONES, max_bins=2):
    """Return a pool of compressed columns; indices and begin may be lists."""
    indices, begin = np.array(indices, dtype=np.int32), np.array(begin, dtype=np.int64)
    return core.StumpPool.of_columns(data, indices, begin, n_all, rows, weights, max_bins, 1)


def sparse_order(data=COLUMNS[0], indices=COLUMNS[1], begin=COLUMNS[2], n_columns=4):
    """Return the order of compressed rows."""
    indices, begin = np.array(indices, dtype=np.int32), np.array(begin, dtype=np.int64)
    return core.order_sparse_rows(data, indices, begin, n_columns, PAIRS[:3], ONES[:3], 1)


def scan() -> core.StumpScan:
    return core.StumpScan(pool(), 1)


def table(curvature: np.ndarray | None = None) -> core.StumpTable:
    """Return prices for two outputs, without g'Pg if no curvature is given."""
    live = core.StumpTable(pool(), 2, 1)
    if curvature is not None:
        live.set_curvature(curvature)
    return live


def loss_rows():
    return core.LossRows("smooth_hinge", ONES, 1)


def grower() -> core.TreeGrower:
    return core.TreeGrower(pool(), ONES, 1)


def walk(X: np.ndarray = TABLE, begin=(0, 3), features=NODES[0], left=NODES[1], right=NODES[2]):
    """Return the responses of one tree with three nodes."""
    nodes = (np.array(part, dtype=np.int32) for part in (features, left, right))
    return core.TreeTables(np.array(begin, dtype=np.int64), *nodes, *TREE[4:]).respond(X, 1)


def with_levels(level_begin, levels):
    """Return stumps, step tables and trees with these levels: all must refuse them, or none."""
    own = np.array(level_begin, dtype=np.int64), np.array(levels, dtype=np.uint32)
    calls = [
        lambda: core.respond_stumps(TABLE, *STUMPS[:3], *own, 1),
        lambda: core.StepTables(*STUMPS[:3], *own, TABLE[:3]),
        lambda: core.TreeTables(*TREE[:7], *own),
    ]
    errors = {refusal(call) for call in calls}
    assert len(errors) == 1
    if errors != {None}:
        raise errors.pop()


# A call -> valid arguments, and the kind of each, as explained in `wrong`.
CALLS = {
    "DualCd": (core.DualCd, [ONES, -ONES, ONES, 1], "finite finite finite -"),
    "DualCd.add": (lambda a: solver().add(a), [ONES], "length"),
    "DualCd.add int8": (lambda a: solver().add(a), [SIGNS], "length"),
    "DualCd.scale_box": (lambda a: solver().scale_box(a), [2.0], "factor"),
    "DualCd.set_state": (
        restored_solver,
        list(with_columns(solver(), SIGNS, ONES).get_state()),
        "finite finite finite finite seed",
    ),
    "GramLs": (core.GramLs, [TABLE, ONES, 1], "finite positive -"),
    "GramLs.add": (lambda a: least_squares().add(a), [ONES], "length"),
    "GramLs.add int8": (lambda a: least_squares().add(a), [SIGNS], "length"),
    "GramLs.quadratic": (lambda *a: least_squares().quadratic(*a), [PAIRS.T.copy(), 2], "strided last"),
    "GramLs.duals": (lambda a: least_squares().duals(a), [np.ones((2, 2))], "free"),
    "GramLs.intercept": (lambda a: least_squares().intercept(a), [np.ones((2, 2))], "free"),
    "GramLs.step": (lambda a: least_squares().step(a), [1], "last"),
    "GramLs.direction": (lambda a: least_squares().direction(a), [1], "last"),
    "GramLs.solve_factor": (lambda a: least_squares().solve_factor(a), [np.ones((2, 2))], "free"),
    "GramLs.decisions": (lambda a: least_squares().decisions(a), [np.ones((2, 2))], "free"),
    "GramLs.prices": (lambda a: least_squares().prices(a), [PAIRS], "length"),
    "GramLs.centred_rows": (lambda a: least_squares().centred_rows(a), [np.arange(4)], "chosen"),
    "GramLs.resolve": (lambda factor, stage: least_squares().resolve(factor, [stage]), [2.0, 2], "factor last"),
    "GramLs.append": (lambda a: least_squares().append(a), [ONES], "length"),
    "GramLs.set_state": (
        restored_least_squares,
        list(with_columns(least_squares(), ONES).get_state()),
        "finite finite finite finite finite positive finite finite finite finite",
    ),
    "StumpPool": (core.StumpPool, [TABLE, ROWS, ONES, 2, 1], "rows length positive least -"),
    "StumpPool float32": (core.StumpPool, [FLOATS, ROWS, ONES, 2, 1], "rows length positive least -"),
    "StumpPool of categories": (levels_pool, [CODES, CATEGORIES, 0.0], "rows flags weight"),
    "StumpPool of categories, float32": (levels_pool, [CODES.astype("f"), CATEGORIES, 0.0], "rows flags weight"),
    "StumpPool.of_columns": (
        core.StumpPool.of_columns,
        [*COLUMNS, 4, ROWS, ONES, 2, 1],
        "data indices free least length positive least -",
    ),
    "StumpPool.of_columns float32": (
        core.StumpPool.of_columns,
        [COLUMNS[0].astype("f"), *COLUMNS[1:], 4, ROWS, ONES, 2, 1],
        "data indices free least length positive least -",
    ),
    "StumpPool.thresholds": (lambda a: pool().thresholds(a), [2], "last"),
    "StumpPool.levels": (lambda a: pool().levels(a), [2], "last"),
    "StumpPool.split": (lambda a: pool().split(a), [8], "last"),
    "StumpPool.find": (lambda *a: pool().find(*a, False), [2, 3.5, LEVELS], "last - free"),
    "StumpPool.take": (lambda a: pool().take(a), [8], "last"),
    "StumpPool.respond": (lambda a: pool().respond(a), [8], "last"),
    "StumpScan.price": (lambda a: scan().price(a), [ONES], "finite"),
    "StumpTable": (lambda *a: core.StumpTable(pool(), *a), [1, 1], "least -"),
    "StumpTable.reprice": (lambda *a: table().reprice(*a), [PAIRS, "max"], "finite name"),
    "StumpTable.reprice by gain": (
        lambda *a: table(ONES).reprice(PAIRS, "gain", *a),
        [ONES, 2.0],
        "optional divisor",
    ),
    "StumpTable.set_curvature": (lambda a: table().set_curvature(a), [ONES], "non-negative"),
    "StumpTable.change": (lambda *a: table().change(*a), [ONES, ONES[:2], 2.0, "max"], "finite finite divisor name"),
    "StumpTable.change_curvature": (lambda *a: table(ONES).change_curvature(*a), [ONES, 2.0], "finite divisor"),
    "StumpTable.set_state": (lambda *a: table().set_state(*a), list(table(ONES).get_state()), "finite finite weight"),
    "StumpTable.find_best": (lambda a: table().find_best(a), ["votes"], "name"),
    "StumpTable.respond": (lambda a: table().respond(a), [8], "last"),
    "StumpTable.entries": (lambda a: table().entries(a), [8], "last"),
    "respond_stumps": (
        core.respond_stumps,
        [TABLE, *STUMPS, 1],
        "strided features length length length length -",
    ),
    "StepTables": (core.StepTables, [*STUMPS, TABLE[:3]], "length length length length length length"),
    "StepTables.decide": (lambda a: core.StepTables(*STUMPS, PAIRS[:3]).decide(a, 1), [TABLE], "strided"),
    "price_candidates": (core.price_candidates, [LANES, np.ones((2, 16)), 1], "free free -"),
    "price_candidates float32": (core.price_candidates, [LANES.astype("f4"), np.ones((2, 9)), 1], "free free -"),
    "take_cosines": (core.take_cosines, [TABLE, 1], "free -"),
    "order_rows": (core.order_rows, [TABLE, PAIRS, ONES, 1], "strided length non-negative -"),
    "order_sparse_rows": (
        core.order_sparse_rows,
        [*COLUMNS, 4, PAIRS[:3], ONES[:3], 1],
        "length indices length least length non-negative -",
    ),
    "LossRows": (lambda a: core.LossRows("logistic", a, 1), [ONES], "nonzero"),
    "LossRows.kind": (lambda name: core.LossRows(name, ONES, 1), ["logistic"], "name"),
    "LossRows.set_width": (lambda a: loss_rows().set_width(a), [1.0], "factor"),
    "LossRows.set_decisions": (lambda a: loss_rows().set_decisions(a, 0.0), [ONES], "length"),
    "LossRows.slope": (lambda a: loss_rows().slope(a, 0.0, 1.0), [ONES], "flags"),
    "LossRows.move": (lambda a: loss_rows().move(a, 0.0, 1.0), [ONES], "flags"),
    "LossRows.slope_and_curvature": (lambda a: loss_rows().slope_and_curvature(a), [ONES], "length"),
    "sum_entropies": (lambda *a: core.sum_entropies(*a, 1.0), [ONES, ONES], "length length"),
    "LossRows.inside": (lambda n: loss_rows().inside(n), [1], "least"),
    "TreeGrower": (lambda *a: core.TreeGrower(pool(), *a), [ONES, 1], "positive -"),
    "TreeGrower.grow": (lambda *a: grower().grow(*a), [ONES, FLAGS, 1, 0.0, True], "finite length least weight -"),
    "TreeTables": (core.TreeTables, list(TREE), " ".join(9 * ["length"])),
    "TreeTables.respond": (lambda a: core.TreeTables(*TREE).respond(a, 1), [TABLE], "strided"),
    "TreeTables.decide": (lambda a: core.TreeTables(*TREE).decide(a, np.ones((1, 2)), 1), [TABLE], "strided"),
    "RowEncoder": (core.RowEncoder, ENCODING, " ".join(["-", *9 * ["length"], "free", *4 * ["length"]])),
    "RowEncoder.transform": (lambda a: encoder().transform(a), [TABLE], "strided"),
    "CosineTables": (lambda *a: core.CosineTables(encoder(), *a), [THETAS, ONES[:2]], "length length"),
    "CosineTables.respond": (lambda a: cosines().respond(a, 1), [TABLE], "strided"),
    "CosineTables.decide": (lambda *a: cosines().decide(*a, 1), [TABLE, PAIRS[:2].copy()], "strided length"),
    "force_simd_level": (core.force_simd_level, [""], "name"),
    "force_work_per_thread": (core.force_work_per_thread, [3e4], "divisor"),
}
NUMBERS = {"factor": (0.0, -1.0, NAN, INF), "divisor": (0.0, -1.0, NAN), "weight": (-1.0, NAN, INF)}
NUMBERS |= {"seed": (0,), "name": ("sse9",)}
ENTRIES = {"finite": (NAN, INF, -INF), "rows": (INF, -INF), "positive": (NAN, INF, 0.0, -1.0), "features": (3, -1)}
ENTRIES |= {"chosen": (4, -1), "nonzero": (NAN, INF, 0.0)}
ENTRIES |= {"non-negative": (NAN, INF, -1.0), "optional": (NAN, INF, -INF), "data": (INF, -INF), "indices": (4, -1)}
OPTIONAL = ("optional", "flags")


def with_last(good: np.ndarray, value: float) -> np.ndarray:
    array = good.copy()
    array[-1] = value
    return array


def wrong(good, kind: str):
    """Yield wrong arguments and the exceptions that they raise.

    Arrays: "length" has one entry per row (or output, feature, stump, node), and the kinds in `ENTRIES` restrict its
    values, where those in `OPTIONAL` may be None; "free" has any length; "strided" and "rows" may also have strides.
    Integers: the valid value is the smallest ("least") or largest ("last") one.
    """
    if kind in NUMBERS:
        yield from ((number, ValueError) for number in NUMBERS[kind])
    elif kind in ("least", "last"):
        yield from [(good + (1 if kind == "last" else -1), ValueError), (-1, TypeError)]
    elif kind != "-":
        yield from ((with_last(good, value), ValueError) for value in ENTRIES.get(kind, ()))
        if kind not in ("free", "strided", "rows", "chosen", "nonzero"):
            yield from [(good[:-1].copy(), ValueError), (np.concatenate([good, good[-1:]]), ValueError)]
        if kind not in ("strided", "rows"):
            yield np.repeat(good, 2, axis=0)[::2], TypeError
        if good.itemsize > 1:
            yield good.astype(good.dtype.newbyteorder()), TypeError
        fewer_axes = good.ravel() if good.ndim > 1 else good[0]
        other_types = [
            good.astype(np.float16),
            np.zeros_like(good, dtype=np.int16),
            good[:, None],
            fewer_axes,
            good.tolist(),
        ]
        yield from ((array, TypeError) for array in (other_types if kind in OPTIONAL else [*other_types, None]))


BROKEN = {
    "solver without rows": lambda: core.DualCd(ONES[:0], ONES[:0], ONES[:0], 1),
    "solver with a box above 0": lambda: core.DualCd(ONES, 0.5 * ONES, ONES, 1),
    "solver with a box below 0": lambda: core.DualCd(ONES, -ONES, -0.5 * ONES, 1),
    "solver with no duals per row": lambda: core.DualCd(ONES, -ONES, ONES, 1, None, 0),
    "solver with a part of a row": lambda: core.DualCd(ONES, -ONES, ONES, 1, None, 3),
    "solver with a negative total": lambda: core.DualCd(ONES, -ONES, ONES, 1, None, 1, -1.0),
    "solver with a total above the box": lambda: core.DualCd(ONES, -ONES, ONES, 1, None, 1, 4.1),
    "solver with a total of NaN": lambda: core.DualCd(ONES, -ONES, ONES, 1, None, 1, NAN),
    "sibling of other rows": lambda: core.DualCd(ONES[:3], -ONES[:3], ONES[:3], 1, solver()),
    "sibling that has a column": lambda: solver(with_columns(solver(), SIGNS)),
    "curvature of columns too short": lambda: least_squares().quadratic(PAIRS.T[:, :3].copy(), 2),
    "curvature of columns that are not contiguous": lambda: least_squares().quadratic(PAIRS.T, 2),
    "weights of another number of trees": lambda: core.TreeTables(*TREE).decide(TABLE, np.ones((2, 2)), 1),
    "cosines of rows with too few columns": lambda: cosines().respond(TABLE[:, :1], 1),
    "cosines of another number of inputs": lambda: core.CosineTables(encoder(), TABLE[:2].copy(), ONES[:2]),
    **{
        f"encoder with {name}": partial(encoder, **changes)
        for name, changes in {
            "a negative column": {"numbers": [0, -1]},
            "a negative column of gaps": {"gaps": [-1]},
            "a negative category": {"level_columns": [1, -1]},
            "knots that begin after 0": {"knot_begin": [1, 1, 2]},
            "knots beyond the end": {"knot_begin": [0, 1, 3]},
            "a number without knots": {"knot_begin": [0, 2, 2]},
            "a negative level": {"level_codes": [-2, -1]},
            "a level too large": {"level_codes": [2**24, -1]},
            "a level twice": {"level_codes": [1, -1]},
            "rare levels that begin after 0": {"rare_begin": [1, 1, 2]},
            "rare levels whose begin does not ascend": {"rare_begin": [0, 3, 2]},
            "a negative rare level": {"rare": [1, -1]},
            "a rare level too large": {"rare": [1, 2**24]},
        }.items()
    },
    "pool without rows": lambda: pool(rows=ROWS[:0], weights=ONES[:0]),
    "pool without features": lambda: pool(X=TABLE[:, :0]),
    "pool with a row too large": lambda: pool(rows=ROWS + 1),
    "pool with a negative row": lambda: pool(rows=ROWS - 1),
    "code that is no integer": lambda: levels_pool(with_code(0.5)),
    "code that is negative": lambda: levels_pool(with_code(-1.0)),
    "code that is infinite": lambda: levels_pool(with_code(INF)),
    "code that is too large": lambda: levels_pool(with_code(2.0**24)),
    "code that is no integer, float32": lambda: levels_pool(with_code(0.5, np.float32)),
    "code that is negative, float32": lambda: levels_pool(with_code(-1.0, np.float32)),
    "code in a row that is not used": lambda: core.StumpPool(
        with_code(0.5), ROWS[:2], ONES[:2], 8, 1, None, CATEGORIES, 0.0
    ),
    "sparse pool without rows": lambda: sparse_pool(rows=ROWS[:0], weights=ONES[:0]),
    "sparse pool without features": lambda: sparse_pool(COLUMNS[0][:0], [], [0]),
    "sparse pool with a row too large": lambda: sparse_pool(rows=ROWS + 1),
    "sparse pool with a negative row": lambda: sparse_pool(rows=ROWS - 1),
    "sparse pool with a row twice": lambda: sparse_pool(rows=np.array([0, 1, 2, 0])),
    "sparse pool of fewer rows than its indices": lambda: sparse_pool(n_all=3, rows=ROWS[:2], weights=ONES[:2]),
    **{
        f"sparse {what} with {name}": partial(call, **changes)
        for what, call in (("pool", sparse_pool), ("rows", sparse_order))
        for name, changes in {
            "no begin at all": {"begin": []},
            "begin after 0": {"begin": [1, 2, 2, 3]},
            "begin that does not ascend": {"begin": [0, 2, 1, 3]},
            "begin beyond the end": {"begin": [0, 5, 2, 3]},
            "a negative begin": {"begin": [0, -1, 2, 3]},
            "an end too small": {"begin": [0, 1, 2, 2]},
            "an end too large": {"begin": [0, 1, 2, 4]},
            "an index too large": {"indices": [0, 4, 1]},
            "a negative index": {"indices": [-1, 3, 1]},
            "indices that do not ascend": {"indices": [3, 0, 1]},
            "an index twice": {"indices": [3, 3, 1]},
        }.items()
    },
    **{
        f"stumps and trees with {name}": partial(with_levels, *arrays)
        for name, arrays in {
            "no begin of levels": ([], []),
            "levels that begin after 0": ([1, 1, 1, 1], [0]),
            "levels that begin before 0": ([-1, 0, 0, 1], [0]),
            "levels whose begin does not ascend": ([0, 1, 0, 1], [0]),
            "levels whose begin is beyond the end": ([0, 3, 1, 2], [0, 1]),
            "levels that end too early": ([0, 0, 0, 1], [0, 1]),
            "levels that end too late": ([0, 0, 0, 3], [0, 1]),
            "levels that do not ascend": ([0, 0, 0, 2], [1, 0]),
            "a level twice": ([0, 0, 0, 2], [1, 1]),
        }.items()
    },
    "duals of another number of outputs": lambda: table().reprice(TABLE, "max"),
    "curvature that is 0": lambda: table().set_curvature(0 * ONES),
    "curvature changed with prices before it was set": lambda: table().reprice(PAIRS, "max", ONES, 2.0),
    "change by gain without curvature": lambda: table().change(ONES, ONES[:2], 2.0, "gain"),
    "search by gain without curvature": lambda: table().find_best("gain"),
    "curvature changed before it was set": lambda: table().change_curvature(ONES, 2.0),
    "least squares without rows": lambda: core.GramLs(TABLE[:0], ONES[:0], 1),
    "least squares without outputs": lambda: core.GramLs(TABLE[:, :0].copy(), ONES, 1),
    "intercept of another number of outputs": lambda: least_squares().intercept(np.ones((2, 1))),
    "intercept of too many columns": lambda: least_squares().intercept(np.ones((3, 2))),
    "weights of another number of outputs": lambda: least_squares().duals(np.ones((2, 3))),
    "weights of too many columns": lambda: least_squares().duals(np.ones((3, 2))),
    "stages that do not ascend": lambda: least_squares().resolve(1.0, [2, 1]),
    "step table with a negative feature": lambda: core.StepTables(ROWS[:3] - 1, *STUMPS[1:], TABLE[:3]),
    "too few columns to decide": lambda: core.StepTables(*STUMPS, TABLE[:3]).decide(PAIRS, 1),
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
    "feature beyond all tables": lambda: walk(features=(2**30, -1, -1)),
    "feature out of the range of fewer columns": lambda: walk(X=TABLE[:, :0]),
    "child that is its parent": lambda: walk(left=(0, -1, -1)),
    "child before its parent": lambda: walk(features=(0, 0, -1), left=(1, 0, -1), right=(2, 2, -1)),
    "negative child": lambda: walk(right=(-1, -1, -1)),
    "child outside": lambda: walk(right=(3, -1, -1)),
    "child in the next tree": lambda: walk(begin=(0, 2, 3)),
}
WRONG_TYPE = {
    "scan without a pool": lambda: core.StumpScan(None, 1),
    "table without a pool": lambda: core.StumpTable(None, 1, 1),
    "grower without a pool": lambda: core.TreeGrower(None, ONES, 1),
    "sibling of another kind": lambda: solver(scan()),
}


def refusal(call, *arguments):
    """Return the exception type that a call raises, or None."""
    try:
        call(*arguments)
    except Exception as error:
        return type(error)
    return None


@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments_are_refused(name):
    call, good, kinds = CALLS[name]
    assert refusal(call, *good) is None
    for k, kind in enumerate(kinds.split()):
        for argument, error in wrong(good[k], kind):
            assert refusal(call, *good[:k], argument, *good[k + 1 :]) is error, f"argument {k}: {argument!r}"


@pytest.mark.parametrize("name", [*BROKEN, *WRONG_TYPE])
def test_broken_contracts_are_refused(name):
    assert refusal({**BROKEN, **WRONG_TYPE}[name]) is (ValueError if name in BROKEN else TypeError)


def test_contracts_that_are_kept():
    """The arguments from which broken ones are made, and the limits."""
    assert encoder().transform(TABLE)[:6].tolist() == [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    with_levels(LEVEL_BEGIN, LEVELS)
    with_levels([0, 0, 0, 0], [])
    assert sparse_pool().n_features == len(sparse_order()[0]) == 3
    assert levels_pool(with_code(2.0**24 - 1)).levels(1).tolist() == [0, 2, 2**24 - 1]
    assert levels_pool(with_code(-0.0)).levels(1).tolist() == [0, 2]
    assert levels_pool(CODES, None).n_cells == len(pool(CODES).thresholds(0)) + 3 + 3  # one column has gaps


def test_a_sibling_that_lags_behind_is_not_solved():
    """The shared store has a column more than its problem; from the 17th on, weights would be written past the end."""
    first = solver()
    second = solver(first)
    for live in (first, second, first):
        live.add(SIGNS)
    with pytest.raises(ValueError, match="column"):
        second.solve(1e-9, 100, lambda: False)


def test_objects_work_after_a_refusal_and_keep_their_pool_alive():
    live, prices, trees, cd, ls = scan(), table(ONES), grower(), solver(), least_squares()
    short = ONES[:3]
    assert refusal(live.price, short) is refusal(prices.change, ONES, short, 2.0, "gain") is ValueError
    assert (
        refusal(trees.grow, short, FLAGS, 2, 1.0, True)
        is refusal(cd.add, short)
        is refusal(ls.add, short)
        is ValueError
    )
    assert live.price(SIGNS.astype(float))[0]
    assert prices.reprice(PAIRS - PAIRS.mean(axis=0), "gain")[0]
    assert trees.grow(TABLE[:, 0] - 4.5, FLAGS, 2, 1.0, True)[0].tolist() == [0, -1, -1]
    cd.add(SIGNS)
    assert cd.solve(1e-9, 100, lambda: False)[3] == "converged"
    assert len(ls.weights()) == 4, "two columns, two outputs"
    assert ls.solve(1e-9)[0] > 0


def test_results_own_their_memory():
    """Arrays stay valid when the object that made them is gone, and writing to them changes no object."""
    live, ls, cd = pool(), least_squares(), solver()
    thresholds, response, levels = live.thresholds(1), live.respond(3), levels_pool(CODES).levels(0)
    weights, direction, duals = ls.weights(), ls.direction(1), cd.duals()
    before = direction.tolist()
    weights[:] = duals[:] = 99.0
    assert ls.weights().max() < 99
    assert cd.duals().tolist() == SIGNS.tolist()
    del live, ls, cd
    assert direction.tolist() == before
    assert thresholds.tolist() == [2.5, 5.5, 8.5]
    assert levels.tolist() == [0, 1, 3]
    assert response.tolist() == [-1, 1, 1, 1]


@pytest.mark.parametrize("drawn", [np.ones(3, dtype=np.uint8), np.zeros(4, dtype=np.uint8)])
def test_a_tree_needs_a_flag_for_each_row_and_a_row_that_is_drawn(drawn):
    with pytest.raises(ValueError, match="one flag per row, and one row that is drawn"):
        grower().grow(ONES, FLAGS, 1, 0.0, True, drawn)
