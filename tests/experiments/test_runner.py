"""The runner computes each missing cell once, in the order of dependencies, and a failing cell stops no other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluation.splits import Split
from experiments.experiment import FULL, Cell, Experiment, Fit
from experiments.registry import EXPERIMENTS
from experiments.runner import run
from experiments.store import Store
from tests.experiments.fakes import ALL_CELLS, Fake, add, failing


def test_every_cell_is_computed_once(store, fake):
    cells = fake.experiment.cells(FULL)
    assert {(cell.dataset, cell.method, cell.run) for cell in cells} == ALL_CELLS
    assert [cell.run for cell in cells] == sorted(cell.run for cell in cells)
    run(fake.experiment, store, replace(FULL, max_runs=1), jobs=1)
    assert {number for _, _, number in fake.computed} == {0}
    run(fake.experiment, store, FULL, jobs=1, wanted=lambda cell: cell.dataset == "b")
    assert {cell for cell in ALL_CELLS if cell[0] == "b"} <= set(fake.computed)
    run(fake.experiment, store, FULL, jobs=1)
    run(fake.experiment, store, FULL, jobs=1)
    run(fake.experiment, Store(store.folder), FULL, jobs=1)
    assert sorted(fake.computed) == sorted(ALL_CELLS)
    assert set(store.outcomes("fake")) == {Cell("fake", *cell) for cell in ALL_CELLS}


def test_a_cell_inherits_the_parameters_of_the_one_it_depends_on(store, fake):
    run(fake.experiment, store, FULL, jobs=1)
    for k, (dataset, method, number) in enumerate(fake.computed):
        expected = {"selected": f"{dataset}{number}"} if method == "second" else {}
        assert fake.inherited[dataset, method, number] == expected
        assert method != "second" or (dataset, "first", number) in fake.computed[:k]


def test_chains_of_dependencies(store, monkeypatch):
    fake = Fake(
        datasets=lambda effort: ("a",),
        depends_on=lambda cell: replace(cell, run=cell.run + 1) if cell.run < 2 else None,
    )
    monkeypatch.setitem(EXPERIMENTS, "fake", fake.experiment)
    run(fake.experiment, store, FULL, jobs=1, wanted=lambda cell: cell.method == "first")
    assert fake.computed == [("a", "first", 2), ("a", "first", 1), ("a", "first", 0)]
    assert fake.inherited["a", "first", 0] == {"selected": "a1"}


def test_dependencies_on_another_experiment(store, monkeypatch):
    fake = Fake(depends_on=lambda cell: Cell("table3", cell.dataset, "CGEns-SLS", 0))
    monkeypatch.setitem(EXPERIMENTS, "fake", fake.experiment)
    with pytest.raises(ValueError, match="of fake uses the parameters of CGEns-SLS of table3 on a: compute that first"):
        run(fake.experiment, store, FULL, jobs=1)
    assert fake.computed == []
    for dataset in ("a", "b"):
        add(store, "table3", dataset, "CGEns-SLS", 1.0, params={"C": dataset})
    run(fake.experiment, store, FULL, jobs=1)
    assert all(inherited == {"C": dataset} for (dataset, _, _), inherited in fake.inherited.items())


@pytest.mark.parametrize("done", [0, 1, 7, 14])
def test_an_interrupted_experiment_continues(store, fake, done):
    fake.interrupt_at = done
    with pytest.raises(KeyboardInterrupt):
        run(fake.experiment, store, FULL, jobs=1)
    again = Store(store.folder)
    assert len(again.outcomes("fake")) == done
    fake.interrupt_at = None
    run(fake.experiment, again, FULL, jobs=1)
    assert sorted(fake.computed) == sorted(ALL_CELLS)


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
    assert set(Store(store.folder).outcomes("fake")) == {Cell("fake", *cell) for cell in rest}
    fake.experiment.methods[method] = fake.method(method)
    run(fake.experiment, store, FULL, jobs=1)
    assert sorted(fake.computed) == sorted(ALL_CELLS)


def test_timed_cells_run_one_at_a_time_with_all_cores(store, fake, monkeypatch):
    run(fake.experiment, store, FULL, jobs=1)
    assert fake.threads == {1}
    timed = Fake(name="timed", timed=True)
    monkeypatch.setitem(EXPERIMENTS, "timed", timed.experiment)
    run(timed.experiment, store, FULL, jobs=3)
    assert timed.threads == {3}
    assert set(timed.computed) == ALL_CELLS, "in this process"


@pytest.mark.slow
def test_cells_run_in_parallel_processes(store):
    run(EXPERIMENTS["toy"], store, replace(FULL, max_runs=1), jobs=2, wanted=lambda cell: cell.method == "AdaBoost")
    assert [outcome.error < 10 for outcome in store.outcomes("toy").values()] == [True]


@pytest.mark.parametrize(("label", "error"), [(0, 75.0), (1, 25.0)])
def test_errors_are_those_on_the_test_set(label, error):
    class Constant:
        def predict(self, X):
            return np.full(len(X), label)

    split = Split(np.zeros((2, 1)), np.array([0, 1]), np.zeros((4, 1)), np.array([1, 1, 0, 1]))
    methods = {"it": lambda split, seed, effort, inherited: Fit(Constant(), inherited)}
    experiment = Experiment("e", "", lambda effort: ("a",), methods, (), lambda *of: split, lambda dataset: 1)
    outcome = experiment.compute(Cell("e", "a", "it", 0), FULL, {"C": 1.0})
    assert (outcome.error, outcome.params) == (error, {"C": 1.0})
    assert outcome.seconds >= 0.0
