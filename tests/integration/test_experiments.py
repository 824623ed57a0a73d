"""The runner of the paper's experiments: nothing is computed twice or lost, and the page says what was computed."""

from __future__ import annotations

import itertools
import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import rankdata

import benchmarks.data
import experiments.__main__ as command
from benchmarks.data import IDA_SETS, Split, has_shared_data
from cgens.datasets import load
from cgens.weak_learners import Stump
from experiments import claims, runner, splits
from experiments.experiment import FULL, QUICK, Cell, Experiment, Fit, Outcome
from experiments.paper import FIGURES, figures_of
from experiments.registry import EXPERIMENTS
from experiments.report import DOCS, render
from experiments.runner import EVERYTHING, Only, run
from experiments.store import FULL_RESULTS, Store
from experiments.verdicts import mean_ranks, verdict
from tests.tolerances import CLOSED_FORM

RECORD = {"experiment", "dataset", "method", "mean", "sd", "n_runs", "paper_mean", "paper_sd", "seconds", "params"}


def assert_one_sentence(message: str) -> None:
    assert message.strip()
    assert "\n" not in message.strip()
    assert "Traceback" not in message


def some_cell(run: int = 0, method: str = "CGEns", dataset: str = "banana", experiment: str = "table1") -> Cell:
    return Cell(experiment, dataset, method, run)


def lines_of(folder: Path, experiment: str = "table1") -> Path:
    return folder / "runs" / f"{experiment}.jsonl"


@pytest.fixture
def store(tmp_path) -> Store:
    store = Store(tmp_path)
    store.prepare(QUICK)
    return store


# The store.


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


# The runner.


class Fake:
    """An experiment of tiny functions that counts what is computed; `first` gives a parameter that `second` takes."""

    def __init__(self, **options) -> None:
        self.computed: list[tuple[str, str, int]] = []
        self.given: dict[tuple[str, str, int], dict] = {}
        self.threads: set[int] = set()
        self.stop_before: int | None = None
        self.experiment = Experiment(
            **{
                "name": "fake",
                "title": "A fake",
                "datasets": lambda effort: ("a", "b"),
                "methods": {method: self.method(method) for method in ("second", "first", "alone")},
                "split": lambda dataset, run, effort: dataset,
                "runs": lambda dataset: {"a": 3, "b": 2}.get(dataset, 1),
                "after": lambda cell: replace(cell, method="first") if cell.method == "second" else None,
            }
            | options
        )

    def method(self, name: str):
        def fit(split, seed, effort, given) -> Fit:
            if len(self.computed) == self.stop_before:
                raise KeyboardInterrupt
            self.computed.append((split, name, seed))
            self.given[split, name, seed] = given
            self.threads.add(effort.threads)
            return Fit(None, {"told": f"{split}{seed}"} if name == "first" else {}, error=10.0 * seed)

        return fit

    def run(self, store: Store, effort=FULL, jobs: int = 1, only: Only = EVERYTHING) -> None:
        run(self.experiment, store, effort, jobs, only)


ALL_CELLS = {
    (dataset, method, run_)
    for dataset, runs in (("a", 3), ("b", 2))
    for run_ in range(runs)
    for method in ("first", "second", "alone")
}


@pytest.fixture
def fake(monkeypatch) -> Fake:
    fake = Fake()
    monkeypatch.setitem(EXPERIMENTS, "fake", fake.experiment)
    return fake


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


def broken(error: BaseException):
    def fit(split, seed, effort, given):
        raise error

    return fit


def test_a_broken_cell_does_not_keep_the_others(store, fake):
    fake.experiment.methods["alone"] = broken(ValueError("this cell is broken"))
    with pytest.raises(
        ValueError,
        match="5 cells of fake are missing, the first of them alone on a, run 0: this cell is broken",
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
    with pytest.raises(ValueError, match="10 cells of fake are missing, the first of them first on a, run 0: no such"):
        fake.run(store)
    assert {method for _, method, _ in fake.computed} == {"alone"}


def test_a_fault_of_ours_shows_its_traceback(store, fake, capsys):
    fake.experiment.methods["alone"] = broken(ZeroDivisionError("oh"))
    with pytest.raises(ValueError, match="alone on a, run 0: ZeroDivisionError: oh"):
        fake.run(store)
    told = capsys.readouterr().err
    assert told.count("Traceback") == 1
    assert "test_experiments.py" in told


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


# Verdicts.


def figure(mean, sd=3.0, paper_mean=20.0, paper_sd=4.0, dataset="a", method="CGEns") -> dict:
    """A record; 2 sqrt(3^2 + 4^2) is 10."""
    return {
        "dataset": dataset,
        "method": method,
        "mean": mean,
        "sd": sd,
        "paper_mean": paper_mean,
        "paper_sd": paper_sd,
    }


@pytest.mark.parametrize(
    ("record", "word"),
    [
        (figure(20.0), "near"),
        (figure(30.0), "near"),
        (figure(10.0), "near"),
        (figure(np.nextafter(30.0, 99.0)), "worse"),
        (figure(np.nextafter(10.0, 0.0)), "better"),
        (figure(28.0, sd=None), "near"),
        (figure(28.001, sd=None), "worse"),
        (figure(11.999, sd=None), "better"),
        (figure(20.0, sd=0.0, paper_sd=0.0), "near"),
        (figure(20.1, sd=0.0, paper_sd=0.0), "worse"),
        (figure(99.0, paper_mean=None, paper_sd=None), ""),
    ],
)
def test_verdicts(record, word):
    assert verdict(record) == word


def test_mean_ranks():
    errors = {"a": [1.0, 2.0, 3.0], "b": [30.0, 10.0, 20.0]}
    records = [figure(e, dataset=d, method=f"m{k}") for d, row in errors.items() for k, e in enumerate(row)]
    assert mean_ranks(records, ["m0", "m1", "m2"], "mean") == {"m0": (15.5, 2.0), "m1": (6.0, 1.5), "m2": (11.5, 2.5)}
    assert mean_ranks(records, ["m2", "m0"], "mean") == {"m2": (11.5, 1.5), "m0": (15.5, 1.5)}


def test_equal_errors_share_their_ranks():
    for row in itertools.product([1.0, 2.0, 3.0], repeat=4):
        records = [figure(50.0, paper_mean=error, method=str(k)) for k, error in enumerate(row)]
        found = mean_ranks(records, list("0123"), "paper_mean")
        assert [found[method] for method in "0123"] == list(zip(row, rankdata(row), strict=True))


def test_ranks_are_over_the_sets_that_have_every_method():
    records = [figure(1.0), figure(2.0, method="SVM"), figure(9.0, dataset="b"), figure(9.0, dataset="c", method="SVM")]
    records += [figure(5.0, dataset="d"), figure(4.0, dataset="d", method="SVM", paper_mean=None)]
    assert mean_ranks(records, ["CGEns", "SVM"], "mean") == {"CGEns": (3.0, 1.5), "SVM": (3.0, 1.5)}
    assert mean_ranks(records, ["CGEns", "SVM"], "paper_mean") == {"CGEns": (20.0, 1.5), "SVM": (20.0, 1.5)}
    assert mean_ranks(records, ["CGEns", "LPBoost"], "mean") == {}
    assert mean_ranks([], ["CGEns"], "mean") == {}


# The paper's figures.


def test_the_papers_tables_are_whole():
    sizes = {table: (len(rows), {len(methods) for methods in rows.values()}) for table, rows in FIGURES.items()}
    assert sizes == {
        "table1": (13, {4}),
        "table2-fourier": (13, {3}),
        "table2-perceptron": (13, {4}),
        "table3": (14, {4}),
        "spam": (1, {2}),
    }
    for table in ("table1", "table2-fourier", "table2-perceptron"):
        assert set(FIGURES[table]) == set(IDA_SETS)
    for table, rows in FIGURES.items():
        for dataset, methods in rows.items():
            assert set(methods) <= set(EXPERIMENTS[table].methods), f"{table}, {dataset}: ours are called otherwise"
            assert all(0 < sd < mean < 100 for mean, sd in methods.values())


@pytest.mark.parametrize(
    ("cell", "figures"),
    [
        (("table1", "banana", "CGEns"), (26.97, 1.35)),
        (("table1", "breast_cancer", "AdaBoost"), (28.83, 6.12)),
        (("table1", "german", "LPBoost"), (22.88, 1.74)),
        (("table1", "waveform", "SVM"), (12.84, 2.32)),
        (("table2-fourier", "flare_solar", "RFF"), (31.85, 1.66)),
        (("table2-fourier", "ringnorm", "SVM"), (1.66, 0.08)),
        (("table2-fourier", "waveform", "CGEns"), (10.47, 0.23)),
        (("table2-perceptron", "banana", "AdaBoost"), (11.40, 0.48)),
        (("table2-perceptron", "thyroid", "LPBoost"), (7.46, 4.59)),
        (("table2-perceptron", "titanic", "CGEns"), (22.09, 0.83)),
        (("table3", "vowel", "MultiBoost"), (32.7, 11.4)),
        (("table3", "vehicle", "AdaBoost.MH"), (22.0, 1.8)),
        (("table3", "usps", "AdaBoost.ECC"), (6.1, 0.7)),
        (("table3", "sun", "CGEns-SLS"), (53.9, 1.5)),
        (("spam", "spambase", "AdaBoost"), (6.32, 0.66)),
        (("spam", "spambase", "CGEns"), (5.80, 0.46)),
        (("table3", "pendigits", "CGEns-SLS"), (None, None)),
        (("table1", "banana", "RFF"), (None, None)),
        (("toy", "disc", "CGEns"), (None, None)),
    ],
)
def test_some_of_the_papers_figures(cell, figures):
    assert figures_of(*cell) == figures


#: The sums of the means and of the standard deviations of a column: a slip in any number changes one of them.
SUMS = {
    "table1": {
        "AdaBoost": (227.93, 26.47), "LPBoost": (223.62, 21.97), "SVM": (213.66, 21.76), "CGEns": (214.96, 20.88),
    },
    "table2-fourier": {"RFF": (197.06, 22.15), "SVM": (192.42, 19.24), "CGEns": (195.44, 20.61)},
    "table2-perceptron": {
        "AdaBoost": (214.18, 23.96), "LPBoost": (218.52, 25.23), "SVM": (202.59, 23.74), "CGEns": (196.60, 23.67),
    },
    "table3": {
        "AdaBoost.ECC": (340.2, 21.1), "AdaBoost.MH": (310.5, 18.5), "MultiBoost": (352.4, 33.9),
        "CGEns-SLS": (306.7, 19.8),
    },
}  # fmt: skip


@pytest.mark.parametrize("table", SUMS)
def test_sums_of_the_papers_columns(table):
    for method, sums in SUMS[table].items():
        column = [FIGURES[table][dataset][method] for dataset in FIGURES[table]]
        assert tuple(round(sum(numbers), 2) for numbers in zip(*column, strict=True)) == sums


# The command.


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["tabel1"], "No experiment 'tabel1': did you mean 'table1'?"),
        (["toy", "qqqqqq"], "No experiment 'qqqqqq': there are toy, table1"),
        (["table1", "--datasets", "hart"], "No data set 'hart' in these experiments; there are banana, breast_cancer"),
        (["toy", "--methods", "SVM"], "No method 'SVM' in these experiments; there are AdaBoost, CGEns."),
        (["toy", "--datasets", "disc", "heart"], "No data set 'heart' in these experiments; there are disc."),
        (["toy", "--jobs", "0"], "--jobs must be at least 1; got 0."),
        (["toy", "--jobs", "-2"], "--jobs must be at least 1; got -2."),
    ],
)
def test_bad_calls_of_the_command(tmp_path, capsys, arguments, sentence):
    assert command.main([*arguments, "--results", str(tmp_path / "results")]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"error: {sentence}")
    assert printed.err.endswith("\n")
    assert_one_sentence(printed.err)
    assert printed.out == ""
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("inside", [False, True])
def test_results_that_cannot_be_kept(tmp_path, capsys, inside):
    (tmp_path / "file").write_text("mine")
    folder = tmp_path / "file" / "results" if inside else tmp_path / "file"
    assert command.main(["toy", "--quick", "--results", str(folder)]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"error: Results cannot be kept in {folder}: ")
    assert_one_sentence(printed.err)
    assert (tmp_path / "file").read_text() == "mine"


def test_damaged_results_of_the_command(tmp_path, capsys):
    lines_of(tmp_path).parent.mkdir()
    lines_of(tmp_path).write_text("{\n{}\n")
    assert command.main(["report", "--results", str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("error: Line 1 of ")
    assert_one_sentence(printed.err)


def test_jobs_that_are_no_number(capsys):
    with pytest.raises(SystemExit) as raised:
        command.main(["toy", "--jobs", "many"])
    assert raised.value.code == 2
    assert "--jobs: invalid int value: 'many'" in capsys.readouterr().err


def test_the_command_from_start_to_page(tmp_path, capsys, fake, monkeypatch):
    monkeypatch.setattr(command, "NAMES", ["fake", "report"])
    call = ["fake", "--jobs", "1", "--results", str(tmp_path)]
    fake.stop_before = 4
    assert command.main(call) == 130
    assert "Interrupted. What is done is kept" in capsys.readouterr().err
    fake.stop_before = None
    assert command.main(call) == 0
    assert set(fake.computed) == ALL_CELLS
    assert len(fake.computed) == len(ALL_CELLS)
    page = (tmp_path / "reproduction.md").read_text()
    assert page == render(Store(tmp_path))
    assert "## A fake" in page
    assert "| a | 10.00 ± 10.00 | 10.00 ± 10.00 | 10.00 ± 10.00 |" in page
    assert "reproduction.md" in capsys.readouterr().out
    assert command.main(["report", "--results", str(tmp_path)]) == 0
    assert (tmp_path / "reproduction.md").read_text() == page, "the same results give the same page"


def test_the_command_goes_on_with_the_other_experiments(tmp_path, capsys, fake, monkeypatch):
    other = Fake(name="other", title="Another")
    monkeypatch.setitem(EXPERIMENTS, "other", other.experiment)
    monkeypatch.setattr(command, "NAMES", ["fake", "other", "report"])
    fake.experiment.methods["alone"] = broken(ValueError("this cell is broken"))
    assert command.main(["--jobs", "1", "--results", str(tmp_path)]) == 2
    assert set(other.computed) == ALL_CELLS
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert told == ["error: 5 cells of fake are missing, the first of them alone on a, run 0: this cell is broken"]
    page = (tmp_path / "reproduction.md").read_text()
    assert "## A fake" in page
    assert "## Another" in page


# The page.


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


# The claims.


def small_split(n_rows: int = 40, n_values: int = 6, n_features: int = 3, seed: int = 0) -> Split:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, size=(n_rows, n_features)).astype(float)
    noise = rng.normal(scale=n_values / 3, size=n_rows)
    y = (X.sum(axis=1) + noise > n_features * (n_values - 1) / 2).astype(int)
    return Split(X, y, X, y)


def every_stump(X) -> set[tuple[int, ...]]:
    """Return the answers of all stumps of both signs that are not constant, by trying every threshold."""
    found = set()
    for feature, sign in itertools.product(range(X.shape[1]), (1, -1)):
        for threshold in np.concatenate([X[:, feature] + shift for shift in (-0.5, 0.0, 0.5)]):
            found.add(tuple(sign if row[feature] > threshold else -sign for row in X))
    return {answers for answers in found if len(set(answers)) == 2}


@pytest.mark.parametrize("seed", range(5))
def test_the_pool_has_every_stump_once(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(7, 3)).astype(float)
    X = np.column_stack([X, X[:, 0], -2 * X[:, 1], np.full(7, 3.0)])  # the same stumps again, and a constant
    pool = claims.stump_pool(X)
    assert set(np.unique(pool)) <= {-1.0, 1.0}
    one_sign = {tuple(column) for column in pool.astype(int).tolist()}
    assert len(one_sign) == len(pool)
    other_sign = {tuple(-answer for answer in column) for column in one_sign}
    assert one_sign.isdisjoint(other_sign)
    assert one_sign | other_sign == every_stump(X)


@pytest.mark.parametrize("seed", range(3))
def test_both_claims_hold(seed):
    split = small_split(seed=seed)
    first, second = claims._claim1(split, 0, QUICK, {}), claims._claim2(split, 0, QUICK, {})
    assert first.error == 0.0
    assert second.error == 0.0
    assert first.params["rounds"] >= 10
    assert second.params["rounds"] >= 10
    assert first.params["pool"] == second.params["pool"] == 15
    # The duals are optimal up to a relative gap of TOL, and so is the identity.
    assert first.params["gap_identity"] <= claims.TOL + CLOSED_FORM


def test_both_claims_hold_with_more_values_than_bins():
    """The pool has a threshold between every two neighbours: so must the search."""
    split = small_split(n_rows=300, n_values=10**6, n_features=2)
    assert len(np.unique(split.X[:, 0])) > Stump().max_bins
    assert claims._claim1(split, 0, QUICK, {}).error == 0.0
    assert claims._claim2(split, 0, QUICK, {}).error == 0.0


def test_the_claims_would_fail_if_they_were_wrong(monkeypatch):
    """With a search that looks at one threshold a feature."""
    monkeypatch.setattr(claims, "ALL_STUMPS", Stump(2))
    split = small_split()
    assert claims._claim1(split, 0, QUICK, {}).error > 0.0
    assert claims._claim2(split, 0, QUICK, {}).error > 0.0


def test_the_letter_starts_at_half_the_cost_and_may_repeat_a_column():
    split = small_split()
    X, y, C = claims._problem(split)
    turns = list(claims.literal_rounds(X, y, C, 40, repeats=True))
    assert np.array_equal(turns[0].duals, y * C / 2)
    assert turns[0].solution is None
    assert turns[0].taken == []
    keys = [turn.column.learner.key for turn in turns]
    assert len(set(keys)) < len(keys)
    others = [turn.column.learner.key for turn in claims.literal_rounds(X, y, C, 40, repeats=False)]
    assert len(set(others)) == len(others)
    for turn in turns:
        assert turn.column.score >= claims.EPSILON
        assert np.isclose(turn.column.response @ turn.duals, turn.column.score, rtol=CLOSED_FORM, atol=0)


def test_the_model_of_the_letter_votes():
    split = small_split()
    found = claims._literal(split, 0, QUICK, {})
    assert found.params["columns"] == QUICK.most_rounds
    assert found.params["distinct"] < found.params["columns"]
    assert 1 < found.params["first_repeat"] <= found.params["columns"]
    assert set(found.model.predict(split.X)) == {0, 1}
    assert np.mean(found.model.predict(split.X) == split.y) > 0.8


# The splits.


def places_of(data, train, test):
    """Stands for `take`: the rows' places and not the rows."""
    return np.asarray(train), np.asarray(test)


@pytest.fixture
def small_sets(tmp_path, monkeypatch) -> Path:
    """A data folder; the functions tell places of rows."""
    labels = np.repeat([0, 1, 2], [50, 30, 20])
    arrays = {"X": np.arange(200.0).reshape(100, 2), "y": labels, "classes": np.array(["a", "b", "c"])}
    one = {"train_idx": np.arange(0, 100, 2), "test_idx": np.arange(1, 100, 2)}
    order = np.random.default_rng(5).permutation(100)
    two = {"train_splits": np.stack([order[:60], order[40:]]), "test_splits": np.stack([order[60:90], order[:30]])}
    for name in ("binary", "plain", "wine", "spambase", "scene15_gist", "pascal07", "labelme", "sun"):
        np.savez(tmp_path / f"{name}.npz", **arrays, **(two if name == "binary" else {}))
    for name in ("mnist", "cifar10_gist"):
        np.savez(tmp_path / f"{name}.npz", **arrays, **one)
    protocol = {"ida_protocol": {"n_train": 60, "n_test": 30}}
    (tmp_path / "MANIFEST.json").write_text(json.dumps({"datasets": {"binary": protocol}}))
    monkeypatch.setenv("CGENS_DATA", str(tmp_path))
    monkeypatch.setattr(splits, "take", places_of)
    monkeypatch.setattr(benchmarks.data, "take", places_of)
    return tmp_path


def assert_split(found, n_train: int, n_test: int) -> None:
    train, test = found
    assert (len(train), len(test)) == (n_train, n_test)
    assert len(np.unique(np.concatenate([train, test]))) == n_train + n_test, "no row is in twice"


@pytest.mark.usefixtures("small_sets")
def test_the_canonical_splits_come_first():
    data = load("binary")
    for run_ in range(2):
        found = splits.published_split("binary", run_, FULL)
        assert np.array_equal(found[0], data.splits[run_][0])
        assert np.array_equal(found[1], data.splits[run_][1])


@pytest.mark.usefixtures("small_sets")
def test_the_others_are_random_of_the_published_sizes():
    found = [splits.published_split("binary", run_, FULL) for run_ in range(2, 7)]
    for split in found:
        assert_split(split, 60, 30)
    assert len({tuple(np.sort(train)) for train, _ in found}) == 5
    again = splits.published_split("binary", 3, FULL)
    assert np.array_equal(again[0], found[1][0]), "the same run is the same split"


@pytest.mark.usefixtures("small_sets")
def test_a_set_without_published_sizes():
    with pytest.raises(ValueError, match=r"plain .* has no published sizes") as raised:
        splits.published_split("plain", 0, FULL)
    assert_one_sentence(str(raised.value))


@pytest.mark.usefixtures("small_sets")
def test_splits_of_the_sets_of_many_classes():
    assert_split(splits.multiclass_split("wine", 0, FULL), 75, 25)
    assert_split(splits.multiclass_split("pascal07", 0, FULL), 70, 30)
    assert_split(splits.multiclass_split("labelme", 0, FULL), 70, 30)
    assert_split(splits.multiclass_split("sun", 0, FULL), 80, 20)
    assert_split(splits.spam_split("spambase", 0, FULL), 60, 40)
    train, test = splits.multiclass_split("cifar10_gist", 0, FULL)
    assert train.tolist() == list(range(0, 100, 2))
    assert test.tolist() == list(range(1, 100, 2))
    runs = [splits.multiclass_split("wine", run_, FULL)[0] for run_ in range(4)]
    assert len({tuple(np.sort(train)) for train in runs}) == 4


@pytest.mark.usefixtures("small_sets")
def test_so_many_rows_of_each_class():
    labels = load("plain").y
    found = splits.per_class_split("plain", 0, 15)
    assert_split(found, 45, 55)
    assert np.bincount(labels[found[0]]).tolist() == [15, 15, 15]
    found = benchmarks.data.balanced("mnist", 8, 0)
    assert_split(found, 24, 50)
    assert np.bincount(labels[found[0]]).tolist() == [8, 8, 8]
    assert np.all(found[0] % 2 == 0), "out of the training rows"
    assert found[1].tolist() == list(range(1, 100, 2)), "all test rows"


def test_points_of_the_disc():
    split, again = splits.disc_split("disc", 1, FULL), splits.disc_split("disc", 1, FULL)
    assert split.X.shape == (2000, 2)
    assert split.X_test.shape == (10_000, 2)
    for X, y in ((split.X, split.y), (split.X_test, split.y_test)):
        assert np.array_equal(y == 1, np.hypot(*X.T) < 1.0)
    assert np.array_equal(split.X, again.X)
    assert not np.array_equal(split.X, splits.disc_split("disc", 2, FULL).X)


@pytest.mark.skipif(not has_shared_data("banana"), reason="no shared data: set CGENS_DATA")
@pytest.mark.parametrize("name", IDA_SETS)
def test_splits_of_the_shared_binary_sets(name, monkeypatch):
    monkeypatch.setattr(splits, "take", places_of)
    data = load(name)
    for run_ in range(EXPERIMENTS["table1"].runs(name)):
        found = splits.published_split(name, run_, FULL)
        assert_split(found, *data.sizes)
        if run_ < len(data.splits):
            assert np.array_equal(found[0], data.splits[run_][0])
            assert np.array_equal(found[1], data.splits[run_][1])
    assert sum(data.sizes) <= len(data.y)
    assert len(data.splits) == {"heart": 10, "ringnorm": 10, "banana": 1, "twonorm": 1, "waveform": 1}.get(name, 0)
