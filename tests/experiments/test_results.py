"""The committed results are complete, agree with each other, with the code, and with the documentation."""

from __future__ import annotations

import json

import pytest

from benchmarks.report import load_results
from experiments.comparison import VERDICTS
from experiments.experiment import FULL, Cell
from experiments.plots import fingerprint, shown_results
from experiments.registry import EXPERIMENTS
from experiments.report import DOCS, records_with_verdicts, render, report_paths
from experiments.speed import load_speed, speed_records
from experiments.statements import STATEMENTS, check, holds
from experiments.store import FULL_RESULTS, Store
from tests.data_folder import needs_data
from tests.tolerances import CLOSED_FORM

#: Experiments with stumps, which are the same on any processor, and a data set on which a cell takes a second or two.
CHEAP = {"toy": "disc", "table1": "heart", "table3": "iris", "spam": "spambase"}


@pytest.fixture(scope="module")
def committed() -> Store:
    return Store(FULL_RESULTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_published_methods_have_all_runs_and_the_table_is_theirs(committed, name):
    """On every data set with results. A method that is not yet computed belongs in `unpublished`."""
    experiment, outcomes = EXPERIMENTS[name], committed.outcomes(name)
    datasets = {cell.dataset for cell in outcomes}
    cells = {c for c in experiment.cells(FULL) if c.method in experiment.published and c.dataset in datasets}
    assert experiment.published
    assert cells <= set(outcomes)
    assert {cell.method for cell in outcomes} <= set(experiment.methods)
    saved = json.loads((FULL_RESULTS / f"{name}.json").read_text())
    assert saved == committed.table(name), "run: python -m experiments report"


def test_the_page_and_its_figures_are_up_to_date(committed):
    """If not: python -m experiments report."""
    page, images = report_paths(committed)
    assert page.read_text() == render(committed)
    shown = shown_results(images)
    assert {path.stem for path in images.glob("*.png")} == set(shown)
    for name, shown_fingerprint in shown.items():
        assert shown_fingerprint == fingerprint(committed.table(name)), name


def test_every_result_that_misses_the_papers_is_explained(committed):
    """In experiments/notes.py."""
    assert "not yet investigated" not in render(committed)


def test_the_oracle_has_no_higher_error_than_table_three(committed):
    for cell, outcome in committed.outcomes("oracle").items():
        assert outcome.error <= committed[EXPERIMENTS["oracle"].depends_on(cell)].error or "unbinned" in cell.method


def test_a_curve_ends_with_the_error_of_table_three(committed):
    """If not, one was computed with other parameters or other code: delete the older one and compute it again."""
    for cell, curve in committed.outcomes("curves").items():
        table = committed[EXPERIMENTS["curves"].depends_on(cell)]
        assert table.params.items() <= curve.params.items(), cell
        assert curve.error == table.error, cell
        assert curve.params["errors"][-1] == round(table.error, 3), cell


def test_the_speed_is_that_of_the_benchmark(committed):
    """If not: python -m experiments speed."""
    assert load_speed(committed) == speed_records(load_results("lpboost"), FULL)


def test_the_readme_states_what_the_results_show(committed):
    """On how many data sets they agree with the paper, and which conclusions of the paper do not hold."""
    counts = []
    for table in ("table1", "table2-fourier", "table2-perceptron", "table3"):
        method = "CGEns-SLS" if table == "table3" else "CGEns"
        verdicts = [r["verdict"] for r in records_with_verdicts(committed, table) if r["method"] == method]
        counts += [verdicts.count("agrees"), sum(verdict in VERDICTS for verdict in verdicts)]
    stumps, n, cosines, _, perceptrons, _, classes, n_classes = counts
    assert (
        f"on {stumps}, {cosines} and {perceptrons} of {n} binary data sets with stumps, cosines and perceptrons, and "
        f"on {classes} of {n_classes} multiclass data sets"
    ) in " ".join((DOCS.parent / "README.md").read_text().split())
    checks = [check(own, records_with_verdicts(committed, own.experiment)) for own in STATEMENTS]
    failed = [own for own in checks if holds(own.ours, own.statement.order) == "does not hold"]
    stumps, cosines, classes = failed
    assert stumps.statement.table == "Table 1"
    assert stumps.ours["SVM"][0] < stumps.ours["CGEns"][0]
    assert (cosines.statement.table, cosines.statement.variant) == ("Table 2", {})
    assert cosines.ours["RFF"][0] < cosines.ours["CGEns"][0]
    assert classes.statement.table == "Table 3"
    assert max(classes.ours, key=lambda method: classes.ours[method][0]) == "CGEns-SLS"


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize(
    "cell",
    [Cell(name, dataset, method, 0) for name, dataset in CHEAP.items() for method in EXPERIMENTS[name].published],
    ids=lambda cell: f"{cell.experiment}, {cell.dataset}, {cell.method}",
)
def test_a_committed_cell_is_reproduced(committed, cell):
    found = EXPERIMENTS[cell.experiment].compute(cell, FULL, {})
    assert found.error == committed[cell].error
    params, expected = json.loads(json.dumps(found.params)), committed[cell].params  # JSON turns keys into strings
    assert params.keys() == expected.keys()
    for key in expected:
        assert params[key] == pytest.approx(expected[key], rel=CLOSED_FORM), key
