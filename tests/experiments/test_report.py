"""The report marks what is not yet computed or explained; test_results.py compares the committed page as a whole."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.experiment import FULL, QUICK
from experiments.notes import NOTES
from experiments.registry import EXPERIMENTS
from experiments.report import render
from experiments.store import Store
from tests.experiments.fakes import add


def test_results_beside_the_papers(store):
    add(store, "table1", "banana", "CGEns", 26.0, 28.0)
    add(store, "table1", "banana", "LPBoost", 40.0, 41.0)
    add(store, "table1", "german", "CGEns", 1.0)
    add(store, "table1", "heart", "CGEns", 5.0, 5.0)
    page = render(store)
    assert "|  | CGEns: paper | ours |  | AdaBoost | LPBoost | SVM |" in page
    assert (
        "| banana | 26.97 ± 1.35 | 27.00 ± 1.41 | agrees | 28.38 ± 0.55 / not yet computed | "
        "27.28 ± 0.25 / 40.50 ± 0.71 worse | 27.16 ± 1.70 / not yet computed |"
    ) in page
    assert "| german | 22.87 ± 2.39 | 1.00 | (1 of 2 runs) |" in page
    assert "| splice | 6.23 ± 0.47 | not yet computed |  |" in page
    assert "| table1, CGEns | 1 of 2 | 1 | 0 |" in page
    assert "- banana: LPBoost is worse than in the paper; not yet investigated." in page
    assert "- heart: CGEns is better than in the paper; not yet investigated." in page
    assert page.count("not yet investigated") == 2
    assert "Not yet computed: toy, table2-fourier, table2-perceptron, table3, curves, oracle, " in page


def test_a_method_can_be_added_before_its_results_are_computed(store, monkeypatch):
    """It has a column at once, and counts in the means when it is published."""
    errors = {"AdaBoost": 3.0, "LPBoost": 4.0, "SVM": 1.0, "CGEns": 2.0}
    table1 = replace(EXPERIMENTS["table1"], methods=dict.fromkeys([*errors, "New"]), unpublished=("New",))
    monkeypatch.setitem(EXPERIMENTS, "table1", table1)
    for dataset in ("banana", "heart"):
        for method, error in errors.items():
            add(store, "table1", dataset, method, error, error)
    add(store, "table1", "banana", "New", 0.0, 0.0)
    add(store, "table1", "german", "CGEns", 2.0, 2.0)
    page = render(store)
    assert "|  | CGEns: paper | ours |  | AdaBoost | LPBoost | SVM | New |" in page
    assert "/ 1.00 ± 0.00 better | 0.00 ± 0.00 |" in page
    assert "/ 1.00 ± 0.00 better | not yet computed |" in page
    assert "| mean error (mean rank) | AdaBoost | LPBoost | SVM | CGEns |\n" in page
    assert "| ours, the same data sets | 3.00 (3.00) | 4.00 (4.00) | 1.00 (1.00) | 2.00 (2.00) |\n" in page
    assert "(Table 1) | 2 |" in page, "the statements do not need it either"


def test_missing_results_of_other_tables(store):
    add(store, "literal", "heart", "CGEns", 19.0, params={"columns": 3, "distinct": 3, "primal": 1.5})
    add(store, "gallery", "mnist", "CGEns-SLS", 12.0)
    page = render(store)
    assert "| heart | CGEns | 3 | 3 | none | 1.5000 | 19.00 |" in page
    assert "Not yet computed: CGEns on banana, CGEns literal on banana, " in page
    assert "Not yet computed: CGEns-SLS on fashion_mnist." in page


def test_data_sets_that_are_unavailable_or_have_other_features(store):
    add(store, "table3", "mnist", "CGEns-SLS", 90.0, 90.0)
    add(store, "table3", "scene15_gist", "CGEns-SLS", 90.0, 90.0)
    page = render(store)
    assert "| scene15_gist | 23.90 ± 0.30 | 90.00 ± 0.00 | other features |" in page
    assert "| table3, CGEns-SLS | 0 of 1 | 0 | 1 |" in page
    assert "| sun | 53.90 ± 1.50 | no data |  | 60.80 ± 1.10 / no data |" in page
    add(store, "table3", "sun", "CGEns-SLS", 54.0, 54.0)
    assert "| sun | 53.90 ± 1.50 | 54.00 ± 0.00 | agrees | 60.80 ± 1.10 / no data |" in render(store)


def test_a_note_on_one_method_does_not_explain_another(store):
    assert ("table3", "segment") in NOTES
    add(store, "table3", "segment", "AdaBoost.ECC", 0.5, 0.5)
    add(store, "table3", "segment", "AdaBoost.MH", 90.0, 90.0)
    page = render(store)
    assert "- segment: AdaBoost.ECC, which has no parameter" in page
    assert "- segment: AdaBoost.ECC is better" not in page
    assert "- segment: AdaBoost.MH is worse than in the paper; not yet investigated." in page


@pytest.mark.parametrize("effort", [QUICK, FULL])
def test_the_quick_mode_is_mentioned(tmp_path, effort):
    store = Store(tmp_path)
    store.prepare(effort)
    assert ("results of the quick mode" in render(store)) is effort.quick
