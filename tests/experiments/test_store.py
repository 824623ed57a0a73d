"""The store of the experiments' results: what is done is kept, and damaged files are told of."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from experiments.experiment import FULL, QUICK, Outcome
from experiments.store import Store
from tests.experiments.fakes import lines_of, some_cell
from tests.sentences import assert_one_sentence

RECORD = {"experiment", "dataset", "method", "mean", "sd", "n_runs", "paper_mean", "paper_sd", "seconds", "params"}


def test_a_finished_cell_is_there_ever_after(store):
    cells = [some_cell(0), some_cell(1), some_cell(0, "SVM"), some_cell(0, experiment="spam")]
    outcomes = [Outcome(k / 3, k / 7, {"C": 0.1 * k, "curve": [1.0, 2.5]}) for k in range(len(cells))]
    for cell, outcome in zip(cells, outcomes, strict=True):
        assert cell not in store
        store.add(cell, outcome)
    again = Store(store.folder)
    for cell, outcome in zip(cells, outcomes, strict=True):
        assert cell in again
        assert again[cell] == store[cell] == outcome
    assert set(again.outcomes("table1")) == set(cells[:3])
    assert some_cell(2) not in again


def test_a_line_a_cell_at_once(store):
    for run_ in range(3):
        store.add(some_cell(run_), Outcome(1.0, 2.0, {}))
        assert len(lines_of(store.folder).read_text().splitlines()) == run_ + 1


@pytest.mark.parametrize("kept", [1, 20, -2])
def test_a_half_written_last_line_is_dropped(store, kept):
    store.add(some_cell(0), Outcome(1.0, 2.0, {}))
    whole = lines_of(store.folder).read_text()
    store.add(some_cell(1), Outcome(3.0, 4.0, {"C": 1.0}))
    second = lines_of(store.folder).read_text().removeprefix(whole)
    lines_of(store.folder).write_text(whole + second[:kept])
    again = Store(store.folder)
    assert some_cell(0) in again
    assert some_cell(1) not in again
    again.add(some_cell(1), Outcome(5.0, 6.0, {}))
    third = Store(store.folder)
    assert third[some_cell(0)] == Outcome(1.0, 2.0, {})
    assert third[some_cell(1)] == Outcome(5.0, 6.0, {})


def test_a_last_line_without_its_end_is_not_glued_to_the_next(store):
    """Killed after the last letter, before the end of the line: the cell is done again."""
    store.add(some_cell(0), Outcome(1.0, 2.0, {}))
    store.add(some_cell(1), Outcome(3.0, 4.0, {}))
    path = lines_of(store.folder)
    path.write_text(path.read_text().removesuffix("\n"))
    again = Store(store.folder)
    assert some_cell(0) in again
    assert some_cell(1) not in again
    again.add(some_cell(2), Outcome(5.0, 6.0, {}))
    third = Store(store.folder)
    assert [some_cell(k) in third for k in range(3)] == [True, False, True]


@pytest.mark.parametrize(
    "line", ["{", "", "nonsense", '{"dataset": "banana", "met', "{}", "[]", "3", '{"dataset": "banana"}']
)
def test_a_damaged_line_in_the_middle_is_refused(store, line):
    for run_ in range(2):
        store.add(some_cell(run_), Outcome(1.0, 2.0, {}))
    path = lines_of(store.folder)
    first, last = path.read_text().splitlines()
    path.write_text(f"{first}\n{line}\n{last}\n")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"Line 2 of .*damaged.*Delete it") as raised:
        Store(store.folder)
    assert str(path) in str(raised.value)
    assert_one_sentence(str(raised.value))
    assert path.read_bytes() == before


def test_a_folder_that_is_not_there_is_an_empty_store(tmp_path):
    empty = Store(tmp_path / "nowhere")
    assert empty.outcomes("table1") == {}
    assert empty.load_table("table1") == []
    assert not (tmp_path / "nowhere").exists(), "it is made when something is to be kept"
    empty.prepare(QUICK)
    empty.prepare(QUICK)
    assert (tmp_path / "nowhere" / "runs").is_dir()


def test_results_of_two_modes_do_not_mix(tmp_path):
    Store(tmp_path).prepare(QUICK)
    Store(tmp_path).prepare(QUICK)
    with pytest.raises(ValueError, match="has results of the quick mode: name another folder"):
        Store(tmp_path).prepare(FULL)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"Results cannot be kept in .*--results") as raised:
        Store(tmp_path / "file" / "results").prepare(QUICK)
    assert_one_sentence(str(raised.value))


def test_a_folder_without_rights(tmp_path, monkeypatch):
    """Root may write everywhere: the answer of the system is replaced."""
    (tmp_path / "runs").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError, match=r"No right to write into .*--results") as raised:
        Store(tmp_path).prepare(QUICK)
    assert str(tmp_path) in str(raised.value)
    assert_one_sentence(str(raised.value))


def test_the_table(store):
    for run_, error in ((3, 6.0), (0, 1.0), (2, 3.0), (1, 2.0)):  # as they come from several processes
        params = {"C": 10.0 * run_} | ({"n_estimators": 25} if run_ == 1 else {})
        store.add(some_cell(run_), Outcome(error, 1.0 + run_, params))
    store.add(some_cell(0, "SVM", "heart"), Outcome(17.5, 0.25, {}))
    store.add(some_cell(0, "CGEns learned"), Outcome(20.0, 0.5, {}))
    store.add(some_cell(0, experiment="spam", dataset="spambase"), Outcome(6.0, 1.0, {}))
    records = store.save_table("table1")
    assert [(record["dataset"], record["method"]) for record in records] == [
        ("banana", "CGEns"), ("banana", "CGEns learned"), ("heart", "SVM"),
    ]  # fmt: skip
    for record in records:
        assert set(record) == RECORD
        assert record["experiment"] == "table1"
    banana, learned, heart = records
    assert banana["mean"] == 3.0
    assert banana["sd"] == round(np.sqrt(14 / 3), 4), "of a sample: over n - 1"
    assert banana["n_runs"] == 4
    assert banana["seconds"] == 2.5
    assert (banana["paper_mean"], banana["paper_sd"]) == (26.97, 1.35)
    assert banana["params"] == {"C": [0.0, 10.0, 20.0, 30.0], "n_estimators": [None, 25, None, None]}
    assert (heart["mean"], heart["sd"], heart["n_runs"]) == (17.5, None, 1)
    assert (heart["paper_mean"], heart["paper_sd"]) == (17.0, 3.39)
    assert (learned["paper_mean"], learned["paper_sd"]) == (None, None), "the paper has no such method"


def test_the_table_on_disk(store):
    store.add(some_cell(), Outcome(1.0, 2.0, {"C": 1.0}))
    records = store.save_table("table1")
    assert json.loads((store.folder / "table1.json").read_text()) == records
    assert Store(store.folder).load_table("table1") == records
    assert sorted(path.name for path in store.folder.iterdir()) == ["runs", "table1.json"]


def test_a_torn_line_is_cut_under_the_lock(store):
    """Another process must find the lock still held afterwards."""
    store.add(some_cell(0), Outcome(1.0, 2.0, {}))
    with lines_of(store.folder).open("a") as file:
        file.write('{"half')
    again = Store(store.folder)
    with again.locked("table1"):
        again.add(some_cell(1), Outcome(3.0, 4.0, {}))
        with pytest.raises(ValueError, match="being computed by another process"), Store(store.folder).locked("table1"):
            pass
    assert [some_cell(k) in Store(store.folder) for k in (0, 1)] == [True, True]


def test_what_measures_times_is_alone(store):
    """Others may compute beside each other, but not beside it."""
    other = Store(store.folder)
    with store.locked("table1"):
        with other.locked("spam"):
            pass
        with (
            pytest.raises(ValueError, match="curves cannot begin: it measures times and others are computed") as raised,
            other.locked("curves", alone=True),
        ):
            pass
        assert_one_sentence(str(raised.value))
    with (
        store.locked("curves", alone=True),
        pytest.raises(ValueError, match="spam cannot begin: one that measures times is computed"),
        other.locked("spam"),
    ):
        pass
    with other.locked("spam"):
        pass


def test_lines_without_rights(store, forbid):
    store.add(some_cell(), Outcome(1.0, 2.0, {}))
    forbid(lines_of(store.folder))
    with pytest.raises(PermissionError, match=r"No right to read .*table1\.jsonl") as raised:
        Store(store.folder)
    assert_one_sentence(str(raised.value))


def test_a_mark_without_rights(store, forbid):
    forbid(store.folder / "runs" / "EFFORT")
    with pytest.raises(OSError, match=r"Results cannot be kept in .*Permission denied.*--results") as raised:
        store.prepare(QUICK)
    assert_one_sentence(str(raised.value))


@pytest.mark.parametrize("content", ["{", "3", "[3]", '[{"mean": 1.0}]', '{"mean": 1.0}'])
def test_a_damaged_table(store, content):
    (store.folder / "table1.json").write_text(content)
    with pytest.raises(ValueError, match=r"table1\.json is damaged: .*Delete it") as raised:
        store.load_table("table1")
    assert_one_sentence(str(raised.value))
