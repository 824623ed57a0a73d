"""The runner of the experiments: nothing is computed twice or lost, and a broken cell keeps no other."""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.data import Split
from experiments import runner
from experiments.experiment import FULL, QUICK, Cell, Experiment, Fit, Outcome
from experiments.registry import EXPERIMENTS
from experiments.runner import Only
from experiments.store import Store
from tests.experiments.fakes import ALL_CELLS, Fake, broken, lines_of
from tests.sentences import assert_one_sentence


def test_every_cell_is_computed_once(store, fake):
    fake.run(store)
    assert set(fake.computed) == ALL_CELLS
    assert len(fake.computed) == len(ALL_CELLS)
    assert len(store.outcomes("fake")) == len(ALL_CELLS)
    fake.run(store)
    fake.run(Store(store.folder))
    assert len(fake.computed) == len(ALL_CELLS), "what is done is not done again"


def test_what_was_computed_is_in_the_table(store, fake):
    fake.run(store)
    records = {(record["dataset"], record["method"]): record for record in store.load_table("fake")}
    assert set(records) == {(dataset, method) for dataset, method, _ in ALL_CELLS}
    assert records["a", "alone"]["mean"] == 10.0
    assert records["a", "alone"]["sd"] == 10.0
    assert records["a", "alone"]["n_runs"] == 3
    assert records["b", "first"]["params"] == {"told": ["b0", "b1"]}


def test_a_cell_waits_for_the_one_it_needs(store, fake):
    """Though its method stands first; and it gets that cell's parameters, of its own set and run."""
    fake.run(store)
    for dataset, method, run_ in fake.computed:
        if method == "second":
            earlier = fake.computed[: fake.computed.index((dataset, method, run_))]
            assert (dataset, "first", run_) in earlier
            assert fake.given[dataset, method, run_] == {"told": f"{dataset}{run_}"}
        else:
            assert fake.given[dataset, method, run_] == {}


def test_a_chain_of_cells(store, monkeypatch):
    """The second run takes the first one's parameters, the third the second one's."""
    fake = Fake(
        methods={},
        datasets=lambda effort: ("a",),
        after=lambda cell: replace(cell, run=cell.run + 1) if cell.run < 2 else None,
    )
    fake.experiment.methods["first"] = fake.method("first")
    monkeypatch.setitem(EXPERIMENTS, "fake", fake.experiment)
    fake.run(store)
    assert fake.computed == [("a", "first", 2), ("a", "first", 1), ("a", "first", 0)]
    assert fake.given["a", "first", 0] == {"told": "a1"}


def test_parameters_of_another_experiment(store, monkeypatch):
    fake = Fake(after=lambda cell: Cell("table3", cell.dataset, "CGEns-SLS", 0))
    monkeypatch.setitem(EXPERIMENTS, "fake", fake.experiment)
    with pytest.raises(
        ValueError, match=r"of fake takes the parameters of .* of table3, .*: compute that before"
    ) as raised:
        fake.run(store)
    assert_one_sentence(str(raised.value))
    assert fake.computed == []
    for dataset in ("a", "b"):
        store.add(Cell("table3", dataset, "CGEns-SLS", 0), Outcome(1.0, 1.0, {"C": dataset}))
    fake.run(store)
    assert set(fake.computed) == ALL_CELLS
    assert all(given == {"C": dataset} for (dataset, _, _), given in fake.given.items())


@pytest.mark.parametrize("done", [0, 1, 7, 14])
def test_it_goes_on_where_it_was_interrupted(store, fake, done):
    fake.stop_before = done
    with pytest.raises(KeyboardInterrupt):
        fake.run(store)
    assert len(fake.computed) == done
    again = Store(store.folder)
    assert len(again.outcomes("fake")) == done
    fake.stop_before = None
    fake.run(again)
    assert set(fake.computed) == ALL_CELLS
    assert len(fake.computed) == len(ALL_CELLS), "no cell was computed twice"
    assert sum(record["n_runs"] for record in again.load_table("fake")) == len(ALL_CELLS)


def test_a_cell_that_was_half_written_is_computed_again(store, fake):
    fake.run(store)
    path = lines_of(store.folder, "fake")
    path.write_text(path.read_text()[:-10])
    lost = fake.computed[-1]
    del fake.computed[:]
    fake.run(Store(store.folder))
    assert fake.computed == [lost]


def test_a_broken_cell_does_not_keep_the_others(store, fake):
    fake.experiment.methods["alone"] = broken(ValueError("this cell is broken"))
    with pytest.raises(
        ValueError,
        match="5 cells of fake could not be computed, the first of them alone on a, run 0: this cell is broken",
    ) as raised:
        fake.run(store)
    assert_one_sentence(str(raised.value))
    rest = {cell for cell in ALL_CELLS if cell[1] != "alone"}
    assert set(fake.computed) == rest
    assert set(Store(store.folder).outcomes("fake")) == {Cell("fake", *cell) for cell in rest}
    assert {record["method"] for record in store.load_table("fake")} == {"first", "second"}
    fake.experiment.methods["alone"] = fake.method("alone")
    fake.run(store)
    assert set(fake.computed) == ALL_CELLS
    assert len(fake.computed) == len(ALL_CELLS), "once mended, only what is missing is computed"


def test_cells_that_wait_for_a_broken_one_are_missing_too(store, fake):
    fake.experiment.methods["first"] = broken(OSError("no such rows"))
    with pytest.raises(
        ValueError, match="10 cells of fake could not be computed, the first of them first on a, run 0: no such"
    ):
        fake.run(store)
    assert {method for _, method, _ in fake.computed} == {"alone"}


def test_a_fault_of_ours_shows_its_traceback(store, fake, capsys):
    fake.experiment.methods["alone"] = broken(ZeroDivisionError("oh"))
    with pytest.raises(ValueError, match="alone on a, run 0: ZeroDivisionError: oh"):
        fake.run(store)
    told = capsys.readouterr().err
    assert told.count("Traceback") == 1
    assert "fakes.py" in told


def test_a_killed_process_is_told_in_one_sentence(store, monkeypatch):
    """Killed for want of memory, say: the cell is computed in a process that dies."""
    monkeypatch.setattr(runner, "_one", _die)
    fake = Fake()
    with pytest.raises(
        ValueError, match=r"A process that computed cells of fake was killed.*--jobs is below 2"
    ) as raised:
        fake.run(store, jobs=2)
    assert_one_sentence(str(raised.value))


def _die(name, cell, effort, given):
    os.kill(os.getpid(), signal.SIGKILL)


def test_two_processes_do_not_compute_the_same(store, fake):
    with store.locked("fake"), pytest.raises(ValueError, match="fake is being computed by another process"):
        Fake.run(fake, Store(store.folder))
    assert fake.computed == []
    fake.run(store)


def test_what_others_did_meanwhile_is_not_done_again(store, fake):
    late = Store(store.folder)
    fake.run(store)
    fake.computed.clear()
    fake.run(late)
    assert fake.computed == []


def test_only_some_data_sets(store, fake):
    fake.run(store, only=Only(datasets=frozenset("b")))
    assert {dataset for dataset, _, _ in fake.computed} == {"b"}
    fake.run(store)
    assert set(fake.computed) == ALL_CELLS
    assert len(fake.computed) == len(ALL_CELLS)


def test_no_more_runs_than_the_effort_allows(store, fake):
    fake.run(store, replace(FULL, most_runs=1))
    assert {run_ for _, _, run_ in fake.computed} == {0}


def test_cells_go_run_after_run(fake):
    runs = [cell.run for cell in fake.experiment.cells(FULL)]
    assert runs == sorted(runs)
    assert {(cell.dataset, cell.method, cell.run) for cell in fake.experiment.cells(FULL)} == ALL_CELLS


def test_alone_means_one_cell_at_a_time_with_all_cores(store, monkeypatch):
    fake = Fake(alone=True)
    monkeypatch.setitem(EXPERIMENTS, "fake", fake.experiment)
    fake.run(store, jobs=3)
    assert fake.threads == {3}
    assert set(fake.computed) == ALL_CELLS, "in this very process"


def test_otherwise_a_cell_has_one_thread(store, fake):
    fake.run(store)
    assert fake.threads == {1}


class Always:
    def __init__(self, label: int) -> None:
        self.label = label

    def predict(self, X):
        return np.full(len(X), self.label)


@pytest.mark.parametrize(("label", "error"), [(0, 75.0), (1, 25.0)])
def test_errors_are_counted_on_the_test_rows(label, error):
    rows = Split(np.zeros((2, 1)), np.array([0, 1]), np.zeros((4, 1)), np.array([1, 1, 0, 1]))
    method = {"it": lambda split, seed, effort, given: Fit(Always(label), {"given": given})}
    experiment = Experiment("e", "", lambda effort: ("a",), method, lambda *of: rows, lambda dataset: 1)
    outcome = experiment.compute(Cell("e", "a", "it", 0), FULL, {"C": 1.0})
    assert outcome.error == error
    assert outcome.params == {"given": {"C": 1.0}}
    assert outcome.seconds >= 0.0


def test_every_experiment_is_well_formed():
    for name, experiment in EXPERIMENTS.items():
        assert experiment.name == name
        for effort in (QUICK, FULL):
            cells = experiment.cells(effort)
            assert len(cells) == len(set(cells)) > 0
            known = set(cells) | set(EXPERIMENTS["table3"].cells(effort))
            assert all(experiment.after(cell) in known for cell in cells if experiment.after(cell) is not None)
