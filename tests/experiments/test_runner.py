"""The runner computes each missing cell once, in the order of dependencies, and a failing cell stops no other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from evaluation.splits import Split
from experiments.experiment import FULL, Cell, Fit
from experiments.registry import EXPERIMENTS
from experiments.runner import run
from experiments.store import Store
from tests.experiments.fakes import ALL_CELLS, Fake, add, failing


def test_every_cell_is_computed_once_also_after_an_interruption(store, fake):
    runs = [cell.run for cell in fake.experiment.cells(FULL)]
    assert runs == sorted(runs)
    run(fake.experiment, store, replace(FULL, max_runs=1), jobs=1)
    assert {number for _, _, number in fake.computed} == {0}
    run(fake.experiment, store, FULL, jobs=1, wanted=lambda cell: cell.dataset == "b")
    assert set(fake.computed) == {cell for cell in ALL_CELLS if cell[0] == "b" or cell[2] == 0}
    fake.interrupt_at = 12
    with pytest.raises(KeyboardInterrupt):
        run(fake.experiment, store, FULL, jobs=1)
    again, fake.interrupt_at = Store(store.folder), None
    assert len(again.outcomes("fake")) == 12
    for results in (again, again):
        run(fake.experiment, results, FULL, jobs=1)
    assert sorted(fake.computed) == sorted(ALL_CELLS)
    assert set(Store(store.folder).outcomes("fake")) == {Cell("fake", *cell) for cell in ALL_CELLS}
    assert fake.threads == {1}


def test_a_cell_inherits_the_parameters_of_the_one_it_depends_on(store, fake):
    run(fake.experiment, store, FULL, jobs=1)
    for k, (dataset, method, number) in enumerate(fake.computed):
        expected = {"selected": f"{dataset}{number}"} if method == "second" else {}
        assert fake.inherited[dataset, method, number] == expected
        assert method != "second" or (dataset, "first", number) in fake.computed[:k]


def test_dependencies_on_later_runs_and_on_another_experiment(store, monkeypatch):
    other = Cell("table3", "a", "CGEns-SLS", 0)
    fake = Fake(depends_on=lambda cell: replace(cell, run=cell.run + 1) if cell.run < 2 else other)
    monkeypatch.setitem(EXPERIMENTS, "fake", fake.experiment)

    def wanted(cell: Cell) -> bool:
        return (cell.dataset, cell.method) == ("a", "first")

    with pytest.raises(ValueError, match=r"first of fake uses the parameters of .* compute that first"):
        run(fake.experiment, store, FULL, 1, wanted)
    assert fake.computed == []
    add(store, "table3", "a", "CGEns-SLS", 1.0, params={"C": 0.5})
    run(fake.experiment, store, FULL, 1, wanted)
    assert fake.computed == [("a", "first", 2), ("a", "first", 1), ("a", "first", 0)]
    assert list(fake.inherited.values()) == [{"C": 0.5}, {"selected": "a2"}, {"selected": "a1"}]


@pytest.mark.parametrize(
    ("method", "error", "message"),
    [
        ("alone", ValueError("no such rows"), "5 cells of fake .* first: alone on a, run 0: no such rows"),
        ("first", OSError("no such rows"), "10 cells of fake .* first: first on a, run 0: no such rows"),
        ("alone", ZeroDivisionError("oh"), "5 cells of fake .* alone on a, run 0: ZeroDivisionError: oh"),
    ],
)
def test_a_failing_cell_does_not_stop_the_others(store, fake, capsys, method, error, message):
    fake.experiment.methods[method] = failing(error)
    with pytest.raises(ValueError, match=message):
        run(fake.experiment, store, FULL, jobs=1)
    assert ("Traceback" in capsys.readouterr().err) is isinstance(error, ZeroDivisionError), "only for unexpected ones"
    rest = {cell for cell in ALL_CELLS if cell[1] != method and (method, cell[1]) != ("first", "second")}
    assert set(fake.computed) == rest
    fake.experiment.methods[method] = fake.method(method)
    run(fake.experiment, Store(store.folder), FULL, jobs=1)
    assert sorted(fake.computed) == sorted(ALL_CELLS)


def test_timed_cells_run_one_at_a_time_with_all_cores(store, monkeypatch):
    fake = Fake(timed=True)
    monkeypatch.setitem(EXPERIMENTS, "fake", fake.experiment)
    run(fake.experiment, store, FULL, jobs=3)
    assert fake.threads == {3}
    assert set(fake.computed) == ALL_CELLS, "in this process"


@pytest.mark.slow
def test_cells_run_in_parallel_processes(store):
    run(EXPERIMENTS["toy"], store, replace(FULL, max_runs=1), jobs=2, wanted=lambda cell: cell.method == "AdaBoost")
    assert [outcome.error < 10 for outcome in store.outcomes("toy").values()] == [True]


def test_errors_are_those_on_the_test_set():
    model = DummyClassifier(strategy="constant", constant=1)
    split = Split(np.zeros((2, 1)), np.array([0, 1]), np.zeros((4, 1)), np.array([1, 1, 0, 1]))
    fake = Fake(split=lambda *of: split, methods={"constant": lambda *of: Fit(model.fit(split.X, split.y), of[-1])})
    outcome = fake.experiment.compute(Cell("fake", "a", "constant", 0), FULL, {"C": 1.0})
    assert (outcome.error, outcome.params) == (25.0, {"C": 1.0})
    assert outcome.seconds >= 0.0
