"""The committed results are what the code gives, and agree with each other."""

from __future__ import annotations

import json

import pytest

from benchmarks.data import has_shared_data
from experiments.curves import CURVES
from experiments.experiment import FULL, Cell
from experiments.registry import EXPERIMENTS
from experiments.store import FULL_RESULTS, Store
from tests.tolerances import CLOSED_FORM

#: Experiments with stumps, which are the same on any processor; on these sets a cell takes a second or two.
CHEAP = {"toy": "disc", "table1": "heart", "table3": "iris", "spam": "spambase"}


@pytest.fixture(scope="module")
def committed() -> Store:
    return Store(FULL_RESULTS)


def named(cell: Cell) -> str:
    return f"{cell.experiment}, {cell.dataset}, {cell.method}"


@pytest.mark.parametrize("cell", CURVES.cells(FULL), ids=named)
def test_a_curve_ends_where_table_three_does(committed, cell):
    """Else one of them was computed with other parameters or other code: delete the older one and compute it again."""
    curve, followed = committed[cell], committed[CURVES.after(cell)]
    assert {key: curve.params[key] for key in followed.params} == followed.params
    assert curve.params["errors"][-1] == round(followed.error, 3)
    assert curve.error == followed.error


@pytest.mark.slow
@pytest.mark.skipif(not has_shared_data("banana"), reason="no shared data: set CGENS_DATA")
@pytest.mark.parametrize(
    "cell",
    [Cell(name, dataset, method, 0) for name, dataset in CHEAP.items() for method in EXPERIMENTS[name].methods],
    ids=named,
)
def test_a_committed_cell_comes_out_again(committed, cell):
    found = EXPERIMENTS[cell.experiment].compute(cell, FULL, {})
    assert found.error == committed[cell].error
    params, expected = json.loads(json.dumps(found.params)), committed[cell].params  # numbers become words as keys
    assert params.keys() == expected.keys()
    for key in expected:
        assert params[key] == pytest.approx(expected[key], rel=CLOSED_FORM), key
