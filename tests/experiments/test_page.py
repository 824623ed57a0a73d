"""The page and the tables say what was computed."""

from __future__ import annotations

import pytest

from experiments.experiment import FULL, QUICK, Cell, Outcome
from experiments.registry import EXPERIMENTS
from experiments.report import DOCS, render
from experiments.store import FULL_RESULTS, Store
from experiments.verdicts import verdict
from tests.experiments.fakes import some_cell


def test_the_page_is_not_stale():
    """After new results or a change of the report: python -m experiments report."""
    assert (DOCS / "reproduction.md").read_text() == render(Store(FULL_RESULTS))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_tables_are_those_of_their_runs(name, tmp_path):
    """After an interruption: python -m experiments report."""
    store = Store(FULL_RESULTS)
    if store.outcomes(name):
        saved = store.load_table(name)
        store.folder = tmp_path
        assert store.save_table(name) == saved


def test_sets_with_other_features_are_not_judged(store):
    for dataset in ("mnist", "scene15_gist"):
        store.add(Cell("table3", dataset, "CGEns-SLS", 0), Outcome(90.0, 1.0, {}))
    store.save_table("table3")
    page = render(store)
    assert "| scene15_gist | 23.90 ± 0.30 | 90.00 | other features |" in page
    assert "| table3, CGEns-SLS | 0 of 1 | 0 | 1 | 2 |" in page


def test_the_page_has_our_figures_beside_the_papers(store):
    for run_, (ours, rival) in enumerate([(26.0, 40.0), (28.0, 41.0)]):
        store.add(some_cell(run_), Outcome(ours, 3.0, {}))
        store.add(some_cell(run_, "LPBoost"), Outcome(rival, 1.0, {}))
    store.save_table("table1")
    page = render(store)
    assert "| | CGEns: paper | ours |  | LPBoost |" in page
    assert "| banana | 26.97 ± 1.35 | 27.00 ± 1.41 | near | 27.28 ± 0.25 / 40.50 ± 0.71 worse |" in page
    assert "| table1, CGEns | 1 of 1 | 0 | 0 | 4 |" in page
    assert "not looked into yet" not in page


def test_the_page_tells_what_is_far_from_the_paper(store):
    store.add(some_cell(0), Outcome(10.0, 3.0, {}))
    store.add(some_cell(0, dataset="heart"), Outcome(40.0, 3.0, {}))
    store.save_table("table1")
    page = render(store)
    assert "| table1, CGEns | 0 of 2 | 1 | 1 | 2 |" in page
    assert "- banana: better than the paper; not looked into yet." in page
    assert "- heart: worse than the paper; not looked into yet." in page


def test_sets_without_data_have_the_papers_figures(store):
    store.add(Cell("table3", "wine", "CGEns-SLS", 0), Outcome(2.0, 1.0, {}))
    store.add(Cell("table3", "wine", "MultiBoost", 0), Outcome(3.0, 1.0, {}))
    store.save_table("table3")
    page = render(store)
    assert "| sun | 53.90 ± 1.50 | no data |  | 61.10 ± 0.80 / no data |" in page
    assert "| usps | 6.30 ± 0.50 | not computed |  | 8.50 ± 0.40 / not computed |" in page
    store.add(Cell("table3", "sun", "CGEns-SLS", 0), Outcome(54.0, 1.0, {}))
    store.save_table("table3")
    assert "| sun | 53.90 ± 1.50 | 54.00 | near | 61.10 ± 0.80 / no data |" in render(store)


def test_the_page_tells_what_the_runs_cost(store):
    for run_ in range(2):
        store.add(some_cell(run_), Outcome(1.0, 3600.0, {}))
    store.add(some_cell(0, "CGEns-SLS", "wine", "table3"), Outcome(1.0, 1800.0, {}))
    store.save_tables()
    assert "All runs of this page together took 2.5 hours of a core (table1 2.0, table3 0.5, " in render(store)


@pytest.mark.parametrize("effort", [QUICK, FULL])
def test_the_page_of_the_quick_mode_says_so(tmp_path, effort):
    store = Store(tmp_path)
    store.prepare(effort)
    assert ("results of the quick mode" in render(store)) is effort.quick


def test_the_readme_tells_what_the_results_say():
    """On how many sets CGEns is near the paper."""
    store, near = Store(FULL_RESULTS), {}
    for table in ("table1", "table2-fourier", "table2-perceptron", "table3"):
        method = "CGEns-SLS" if table == "table3" else "CGEns"
        words = [verdict(record) for record in store.load_table(table) if record["method"] == method]
        near[table] = words.count("near"), len([word for word in words if word in ("near", "better", "worse")])
    (stumps, n), (cosines, _), (perceptrons, _), (classes, n_classes) = near.values()
    told = " ".join((DOCS.parent / "README.md").read_text().split())
    assert (
        f"on {stumps}, {cosines} and {perceptrons} of its {n} binary sets with stumps, cosines and perceptrons, and on "
        f"{classes} of {n_classes} sets of many classes"
    ) in told
