"""The page, its pictures and the tables say what was computed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.report import load_results
from experiments.experiment import FULL, QUICK, Cell, Outcome
from experiments.pictures import fingerprint, shown_results
from experiments.registry import EXPERIMENTS
from experiments.remarks import REMARKS
from experiments.report import DOCS, load_judged, places, render
from experiments.speed import speed_records
from experiments.store import FULL_RESULTS, Store
from experiments.table3 import ABSENT
from experiments.verdicts import JUDGED
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


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_no_cell_of_the_full_mode_is_missing(name):
    """After a new method or set: python -m experiments NAME."""
    store = Store(FULL_RESULTS)
    cells = [cell for cell in EXPERIMENTS[name].cells(FULL) if cell.dataset not in ABSENT]
    assert [cell for cell in cells if cell not in store] == []


def test_every_miss_was_looked_into():
    """experiments/remarks.py says what was found."""
    assert "not looked into yet" not in render(Store(FULL_RESULTS))


def test_what_is_looked_into_errs_no_more_than_table_three():
    store = Store(FULL_RESULTS)
    for cell, outcome in store.outcomes("misses").items():
        assert outcome.error <= store[EXPERIMENTS["misses"].after(cell)].error or "no bins" in cell.method, cell


def test_the_speed_is_that_of_the_benchmark():
    """After python -m benchmarks.lpboost: python -m experiments speed."""
    assert Store(FULL_RESULTS).load_table("speed") == speed_records(load_results("lpboost"), FULL)


def test_the_pictures_are_not_stale():
    """After new results: python -m experiments report."""
    store = Store(FULL_RESULTS)
    images = places(store)[1]
    drawn = {path.stem for path in images.glob("*.png")}
    assert drawn == set(shown_results(images))
    for name, shown in shown_results(images).items():
        assert shown == fingerprint(store.load_table(name)), name


def add(store: Store, cell: Cell, *errors: float, seconds: float = 1.0) -> None:
    for run_, error in enumerate(errors):
        store.add(replace(cell, run=run_), Outcome(error, seconds, {}))


def page_of(store: Store) -> str:
    store.save_tables()
    return render(store)


def test_sets_with_other_features_are_not_judged(store):
    for dataset in ("mnist", "scene15_gist"):
        add(store, Cell("table3", dataset, "CGEns-SLS", 0), 90.0, 90.0)
    page = page_of(store)
    assert "| scene15_gist | 23.90 ± 0.30 | 90.00 ± 0.00 | other features |" in page
    assert "| table3, CGEns-SLS | 0 of 1 | 0 | 1 |" in page


def test_the_page_has_our_figures_beside_the_papers(store):
    add(store, some_cell(), 26.0, 28.0)
    add(store, some_cell(method="LPBoost"), 40.0, 41.0)
    page = page_of(store)
    assert "|  | CGEns: paper | ours |  | LPBoost |" in page
    assert "| banana | 26.97 ± 1.35 | 27.00 ± 1.41 | near | 27.28 ± 0.25 / 40.50 ± 0.71 worse |" in page
    assert "| table1, CGEns | 1 of 1 | 0 | 0 |" in page
    assert "- banana: LPBoost worse than in the paper; not looked into yet." in page
    assert page.count("not looked into yet") == 1


def test_the_page_judges_nothing_before_all_runs_are_done(store):
    add(store, some_cell(), 27.0)
    page = page_of(store)
    assert "| banana | 26.97 ± 1.35 | 27.00 | (1 of 2 runs) |" in page
    assert "| table1, CGEns |" not in page


def test_the_page_tells_what_is_far_from_the_paper(store):
    add(store, some_cell(), 10.0, 10.0)
    add(store, some_cell(dataset="heart"), 40.0, 40.0)
    page = page_of(store)
    assert "| table1, CGEns | 0 of 2 | 1 | 1 |" in page
    assert "- banana: CGEns better than in the paper; not looked into yet." in page
    assert "- heart: CGEns worse than in the paper; not looked into yet." in page


def test_a_remark_on_one_method_does_not_speak_for_another(store):
    assert ("table3", "segment") in REMARKS
    add(store, some_cell(0, "AdaBoost.ECC", "segment", "table3"), 0.5, 0.5)
    add(store, some_cell(0, "AdaBoost.MH", "segment", "table3"), 90.0, 90.0)
    page = page_of(store)
    assert "- segment: AdaBoost.ECC, which has no parameter" in page
    assert "- segment: AdaBoost.ECC better than in the paper" not in page
    assert "- segment: AdaBoost.MH worse than in the paper; not looked into yet." in page


def test_another_reading_of_a_method_is_judged_by_the_same_figures(store):
    for method, error in (("CGEns", 16.0), ("CGEns fresh", 12.0), ("SVM", 11.0)):
        for dataset in ("splice", "heart"):
            add(store, some_cell(0, method, dataset, "table2-fourier"), error, error)
    page = page_of(store)
    assert "| splice | 12.02 ± 0.40 | 16.00 ± 0.00 | worse | 11.32 ± 0.77 / 11.00 ± 0.00 near |" in page
    assert "| 12.02 ± 0.40 / 12.00 ± 0.00 near |" in page
    assert "| table2-fourier, CGEns fresh | 2 of 2 | 0 | 0 |" in page
    assert "| paper, 2 sets | 14.46 (1.00) | 14.91 (2.00) |  |" in page, "its figures are counted once"
    assert "| ours, all methods, 2 sets | 11.00 (1.00) | 16.00 (3.00) | 12.00 (2.00) |" in page


def test_means_are_over_sets_whose_runs_are_done(store):
    for dataset in ("banana", "heart", "german"):
        add(store, some_cell(dataset=dataset), 20.0, 20.0)
        add(store, some_cell(0, "SVM", dataset), *((10.0, 10.0) if dataset != "german" else (10.0,)))
    page = page_of(store)
    assert "| ours, the same 2 | 10.00 (1.00) | 20.00 (2.00) |" in page


def test_sets_without_data_have_the_papers_figures(store):
    add(store, Cell("table3", "wine", "CGEns-SLS", 0), 2.0, 2.0)
    add(store, Cell("table3", "wine", "MultiBoost", 0), 3.0, 3.0)
    page = page_of(store)
    assert "| sun | 53.90 ± 1.50 | no data |  | 61.10 ± 0.80 / no data |" in page
    assert "| usps | 6.30 ± 0.50 | not computed |  | 8.50 ± 0.40 / not computed |" in page
    add(store, Cell("table3", "sun", "CGEns-SLS", 0), 54.0, 54.0)
    assert "| sun | 53.90 ± 1.50 | 54.00 ± 0.00 | near | 61.10 ± 0.80 / no data |" in page_of(store)


def test_the_page_tells_what_the_runs_cost(store):
    add(store, some_cell(), 1.0, 1.0, seconds=3600.0)
    add(store, some_cell(0, "CGEns-SLS", "wine", "table3"), 1.0, seconds=1800.0)
    assert "All 3 runs together took 2.5 hours of a core (table1 2.0, table3 0.5, " in page_of(store)


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
        words = [r["verdict"] for r in load_judged(store, table) if r["method"] == method and r["verdict"] in JUDGED]
        near[table] = words.count("near"), len(words)
    (stumps, n), (cosines, _), (perceptrons, _), (classes, n_classes) = near.values()
    told = " ".join((DOCS.parent / "README.md").read_text().split())
    assert (
        f"on {stumps}, {cosines} and {perceptrons} of its {n} binary sets with stumps, cosines and perceptrons, and on "
        f"{classes} of {n_classes} sets of many classes"
    ) in told
