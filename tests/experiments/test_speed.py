"""The figure on speed: measured alone and once in quick mode, else taken from the benchmark."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import benchmarks.report
from benchmarks.lpboost import ROUNDS, ROWS
from experiments import speed
from experiments.experiment import FULL, QUICK
from experiments.store import RECORD, Store
from tests.sentences import assert_one_sentence

METHODS = {"CGEns": 1.0, "LPBoost": 10.0}  # and their seconds of a round
EFFORTS = pytest.mark.parametrize("effort", [QUICK, FULL], ids=["quick", "full"])


def reached(cost: float, rounds: int) -> dict:
    """Return what the benchmark tells of a fit."""
    return {
        "seconds": cost * rounds + 0.5,
        "after_rounds": {r: cost * r for r in ROUNDS},
        "n_columns": rounds,
        "error": 1000 / rounds,
        "errors": {r: 2000 / r for r in ROUNDS},
    }


def measured(rounds: tuple[int, ...], rows: tuple[int, ...]) -> dict:
    few = min(100, rounds[-1])
    return {
        "by_rounds": {method: reached(cost, rounds[-1]) for method, cost in METHODS.items()},
        "by_rows": {n: {method: reached(cost * n, few) for method, cost in METHODS.items()} for n in rows},
    }


class Compared:
    """Stands for `compare`: tells what it was called with, and whether others could compute meanwhile."""

    def __init__(self) -> None:
        self.calls: list[tuple] = []
        self.beside: Store | None = None

    def __call__(self, rounds, rows, repeats, most_rows=10_000) -> dict:
        self.calls.append((rounds, rows, repeats, most_rows))
        if self.beside is not None:
            with (
                pytest.raises(ValueError, match="toy cannot begin: one that measures times is computed"),
                self.beside.computing("toy", alone=False),
            ):
                pass
        return measured(rounds, rows)


@pytest.fixture
def compared(monkeypatch, tmp_path) -> Compared:
    """The comparison replaced, and no results of the benchmark."""
    compared = Compared()
    monkeypatch.setattr(speed, "compare", compared)
    for module in (speed, benchmarks.report):
        monkeypatch.setattr(module, "RESULTS", tmp_path / "benchmark")
    return compared


@pytest.fixture
def store_of(tmp_path):
    """Give a function that prepares a store for an effort."""

    def prepare(effort) -> Store:
        store = Store(tmp_path / "results")
        store.prepare(effort)
        return store

    return prepare


def files_of(store: Store) -> list[str]:
    return sorted(str(path.relative_to(store.folder)) for path in store.folder.rglob("*") if path.is_file())


@EFFORTS
def test_what_is_measured_is_measured_alone(compared, store_of, effort):
    store = store_of(effort)
    compared.beside = Store(store.folder)
    speed.run_speed(store, effort)
    assert compared.calls == [((25, 50), (1000, 3000), 1, 3000) if effort.quick else (ROUNDS, ROWS, 2, 10_000)]
    assert files_of(store) == ["runs/EFFORT", "speed.json"], "it has no cells"
    with compared.beside.computing("toy", alone=True):  # the lock is given back
        pass


@EFFORTS
def test_nothing_is_measured_beside_others(compared, store_of, effort):
    store = store_of(effort)
    with (
        Store(store.folder).computing("toy", alone=False),
        pytest.raises(ValueError, match=r"^speed cannot begin: it measures times and others are computed") as raised,
    ):
        speed.run_speed(store, effort)
    assert_one_sentence(str(raised.value))
    assert compared.calls == []
    assert files_of(store) == ["runs/EFFORT"]


def test_the_records_tell_what_was_measured(compared, store_of):
    store = store_of(QUICK)
    speed.run_speed(store, QUICK)
    records = Store(store.folder).load_table("speed")
    assert all(set(record) == set(RECORD) for record in records)
    found = [(r["method"], r["params"]["axis"], r["params"]["rows"], r["params"]["rounds"]) for r in records]
    expected = [(method, "rounds", 3000, r) for method in METHODS for r in (25, 50)]
    expected += [(method, "rows", n, 50) for n in (1000, 3000) for method in METHODS]
    assert found == expected, "not what the benchmark tells of more rounds than were asked for"
    for record in records:
        cost, rows, rounds = METHODS[record["method"]], record["params"]["rows"], record["params"]["rounds"]
        along = record["params"]["axis"] == "rounds"
        assert record["seconds"] == (cost * rounds if along else cost * rows * rounds + 0.5)
        assert record["mean"] == (2000 if along else 1000) / rounds
        assert (record["experiment"], record["dataset"], record["n_runs"]) == ("speed", "mnist_odd_even", 1)
        assert record["sd"] is record["paper_mean"] is record["paper_sd"] is None


def test_the_quick_mode_measures_once(compared, store_of):
    store = store_of(QUICK)
    speed.run_speed(store, QUICK)
    written = (store.folder / "speed.json").read_bytes()
    with Store(store.folder).computing("toy", alone=False):  # nor is the lock needed
        speed.run_speed(Store(store.folder), QUICK)
    assert len(compared.calls) == 1
    assert (store.folder / "speed.json").read_bytes() == written
    (store.folder / "speed.json").unlink()
    speed.run_speed(store, QUICK)
    assert len(compared.calls) == 2


def test_the_full_mode_takes_what_the_benchmark_measured(compared, store_of, tmp_path, capsys):
    store, results = store_of(FULL), measured(ROUNDS, ROWS)
    (tmp_path / "benchmark").mkdir()
    for faster in (1, 2):  # measured anew, it is taken anew
        results["by_rounds"]["CGEns"]["after_rounds"][500] = 500.0 / faster
        (tmp_path / "benchmark" / "lpboost.json").write_text(json.dumps(results))
        with Store(store.folder).computing("toy", alone=False):  # which may be computed beside it
            speed.run_speed(store, FULL)
        assert store.load_table("speed") == speed.speed_records(results, FULL)
    assert len(store.load_table("speed")) == 2 * (len(ROUNDS) + len(ROWS))
    assert compared.calls == []
    assert "as benchmarks.lpboost measured it" in capsys.readouterr().out
    speed.run_speed(store_of(FULL), replace(FULL, rounds=(25,)))
    assert len(store.load_table("speed")) == 2 * (1 + len(ROWS))


def test_the_quick_mode_does_not_take_what_the_benchmark_measured(compared, store_of, tmp_path):
    (tmp_path / "benchmark").mkdir()
    (tmp_path / "benchmark" / "lpboost.json").write_text(json.dumps(measured(ROUNDS, ROWS)))
    speed.run_speed(store_of(QUICK), QUICK)
    assert len(compared.calls) == 1
