"""Finished cells stay in the store, tables hold their means, and damaged files are reported."""

from __future__ import annotations

import json

import numpy as np
import pytest

from experiments.experiment import FULL, QUICK, Cell, Outcome
from experiments.store import Store
from tests.experiments.fakes import add

CELL = Cell("table1", "banana", "CGEns", 0)


def lines(store: Store):
    return store.folder / "runs" / "table1.jsonl"


def test_a_finished_cell_is_stored_at_once(store):
    cells = [CELL, Cell("table1", "banana", "CGEns", 1), Cell("table1", "banana", "SVM", 0), Cell("spam", "a", "b", 0)]
    for k, cell in enumerate(cells):
        assert cell not in store
        store.add(cell, Outcome(k / 3, k / 7, {"C": 0.1 * k, "curve": [1.0, 2.5]}))
        again = Store(store.folder)
        assert again[cell] == store[cell] == Outcome(k / 3, k / 7, {"C": 0.1 * k, "curve": [1.0, 2.5]})
    assert set(again.outcomes("table1")) == set(cells[:3])


@pytest.mark.parametrize("kept", [1, 20, -1])
def test_an_incomplete_last_line_is_dropped(store, kept):
    """Also if only the end of the line is missing: the next cell must not continue that line."""
    add(store, "table1", "banana", "CGEns", 1.0)
    first = lines(store).read_text()
    add(store, "table1", "heart", "CGEns", 3.0)
    lines(store).write_text(first + lines(store).read_text().removeprefix(first)[:kept])
    again = Store(store.folder)
    again.prepare(QUICK)
    assert set(again.outcomes("table1")) == {CELL}
    add(again, "table1", "german", "CGEns", 5.0)
    assert {cell.dataset for cell in Store(store.folder).outcomes("table1")} == {"banana", "german"}


@pytest.mark.parametrize("line", ["{", "", "{}", "[]", '{"dataset": "banana"}'])
def test_a_damaged_line_is_an_error(store, line):
    add(store, "table1", "banana", "CGEns", 1.0, 2.0)
    first, last = lines(store).read_text().splitlines()
    lines(store).write_text(f"{first}\n{line}\n{last}\n")
    with pytest.raises(ValueError, match=r"2.*table1\.jsonl"):
        Store(store.folder)


def test_a_folder_that_does_not_exist_is_an_empty_store(tmp_path):
    empty = Store(tmp_path / "new")
    assert empty.table("table1") == []
    assert not (tmp_path / "new").exists(), "it is created when there is something to store"
    for effort in (QUICK, QUICK):
        empty.prepare(effort)
    with pytest.raises(ValueError, match="quick"):
        empty.prepare(FULL)


@pytest.mark.parametrize("obstacle", ["a file as folder", "a folder as file"])
def test_a_folder_that_cannot_be_written(tmp_path, obstacle):
    if obstacle == "a file as folder":
        (tmp_path / "results").write_text("")
    else:
        (tmp_path / "results" / "runs" / "EFFORT").mkdir(parents=True)
    with pytest.raises(OSError, match=r"results.*--results"):
        Store(tmp_path / "results").prepare(QUICK)


def test_tables_hold_means_over_the_runs(store):
    for run, error in ((3, 6.0), (0, 1.0), (2, 3.0), (1, 2.0)):  # in the order in which processes finish
        params = {"C": 10.0 * run} | ({"n_estimators": 25} if run == 1 else {})
        store.add(Cell("table1", "banana", "CGEns", run), Outcome(error, 1.0 + run, params))
    add(store, "table1", "heart", "SVM", 17.5)
    add(store, "table1", "banana", "CGEns learned", 20.0)
    add(store, "spam", "spambase", "CGEns", 6.0)
    banana, learned, heart = store.table("table1")
    assert banana == {
        "experiment": "table1",
        "dataset": "banana",
        "method": "CGEns",
        "mean": 3.0,
        "sd": round(np.sqrt(14 / 3), 4),  # of a sample: divided by n - 1
        "n_runs": 4,
        "paper_mean": 26.97,
        "paper_sd": 1.35,
        "seconds": 2.5,
        "params": {"C": [0.0, 10.0, 20.0, 30.0], "n_estimators": [None, 25, None, None]},
    }
    assert (heart["mean"], heart["sd"], heart["paper_mean"], heart["paper_sd"]) == (17.5, None, 17.0, 3.39)
    assert (learned["method"], learned["paper_mean"]) == ("CGEns learned", None), "the paper has no such method"
    store.save_tables()
    assert sorted(path.name for path in store.folder.iterdir()) == ["runs", "spam.json", "table1.json"]
    assert json.loads((store.folder / "table1.json").read_text()) == store.table("table1")
