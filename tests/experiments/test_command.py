"""The command `python -m experiments`, from its arguments to the report."""

from __future__ import annotations

import json

import pytest

import benchmarks.report
import experiments.__main__ as command
from experiments import speed
from experiments.experiment import FULL, QUICK
from experiments.registry import EXPERIMENTS
from experiments.report import render
from experiments.store import Store
from tests.experiments.fakes import ALL_CELLS, Fake, add, failing


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tabel1"], "Unknown experiment 'tabel1': did you mean 'table1'?"),
        (["toy", "qqqqqq"], "Unknown experiment 'qqqqqq': choose from toy, table1"),
        (
            ["table1", "--datasets", "hart"],
            "Unknown data set 'hart' for these experiments: choose from banana, breast_",
        ),
        (["toy", "--methods", "SVM"], "Unknown method 'SVM' for these experiments: choose from AdaBoost, CGEns."),
        (["toy", "--datasets", "disc", "sun"], "Unknown data set 'sun' for these experiments: choose from disc."),
        (["report", "--methods", "SVM"], "Unknown method 'SVM' for these experiments: these have none."),
        (["table3", "--datasets", "sun"], "No data set 'sun': "),
        (["toy", "--jobs", "0"], "--jobs must be at least 1; got 0."),
    ],
)
def test_wrong_arguments(tmp_path, capsys, arguments, message):
    assert command.main([*arguments, "--results", str(tmp_path / "results")]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"error: {message}")
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert not (tmp_path / "results").exists()


def test_results_that_cannot_be_stored_or_read(tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    assert command.main(["toy", "--quick", "--results", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err.startswith(f"error: Cannot store results in {tmp_path / 'file'}: ")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "table1.jsonl").write_text("{\n{}\n")
    assert command.main(["report", "--results", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("error: Line 1 of ")


def test_from_the_first_run_to_the_report(tmp_path, capsys, fake, monkeypatch):
    monkeypatch.setattr(command, "NAMES", ["fake", "report"])
    call = ["fake", "--jobs", "1", "--results", str(tmp_path)]
    fake.interrupt_at = 4
    assert command.main(call) == 130
    assert "Interrupted. Finished cells are stored" in capsys.readouterr().err
    assert "## A fake" in (tmp_path / "reproduction.md").read_text()
    fake.interrupt_at = None
    assert command.main(call) == 0
    assert sorted(fake.computed) == sorted(ALL_CELLS)
    page = (tmp_path / "reproduction.md").read_text()
    assert page == render(Store(tmp_path))
    assert "| a | 10.00 ± 10.00 | 10.00 ± 10.00 | 10.00 ± 10.00 |" in page
    assert "reproduction.md" in capsys.readouterr().out
    assert command.main(["report", "--results", str(tmp_path)]) == 0
    assert (tmp_path / "reproduction.md").read_text() == page


def test_a_failing_experiment_does_not_stop_the_others(tmp_path, capsys, fake, monkeypatch):
    other = Fake(name="other", title="Another")
    monkeypatch.setitem(EXPERIMENTS, "other", other.experiment)
    monkeypatch.setattr(command, "NAMES", ["fake", "other", "speed", "report"])
    monkeypatch.setattr(
        command, "run_speed", lambda store, effort: pytest.fail("speed has no data sets to choose from")
    )
    fake.experiment.methods["alone"] = failing(ValueError("no such rows"))
    assert command.main(["--datasets", "b", "--jobs", "1", "--results", str(tmp_path)]) == 2
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert errors == ["error: 2 cells of fake could not be computed, the first: alone on b, run 0: no such rows"]
    assert set(other.computed) == {cell for cell in ALL_CELLS if cell[0] == "b"}
    assert "## Another" in (tmp_path / "reproduction.md").read_text()


def test_a_figure_without_its_data_does_not_stop_the_report(tmp_path, capsys, monkeypatch):
    store = Store(tmp_path)
    store.prepare(FULL)
    add(store, "spam", "spambase", "CGEns", 6.0, params={"features": {"0": 60}})
    (tmp_path / "spambase.npz").write_bytes(b"damaged")
    monkeypatch.setenv("CGENS_DATA", str(tmp_path))
    assert command.main(["report", "--results", str(tmp_path)]) == 0
    assert "spam.png was not updated: " in capsys.readouterr().err
    assert "| spambase |" in (tmp_path / "reproduction.md").read_text()


def test_speed_comes_from_the_benchmark_and_is_measured_once_in_quick_mode(store, tmp_path, monkeypatch):
    """CGEns takes 1 s a round, LPBoost 10 s; both take 0.5 s more for a whole fit."""

    def fit(cost: float, rounds: int) -> dict:
        every = (25, 50, 100)
        errors, seconds = {r: 2000 / r for r in every}, {r: cost * r for r in every}
        return {
            "seconds": cost * rounds + 0.5,
            "after_rounds": seconds,
            "n_columns": rounds,
            "error": 5.0,
            "errors": errors,
        }

    def compare(rounds, rows, repeats, max_rows=10_000) -> dict:
        calls.append((rounds, rows, repeats, max_rows))
        methods = {"CGEns": 1.0, "LPBoost": 10.0}
        by_rounds = {method: fit(cost, rounds[-1]) for method, cost in methods.items()}
        return {
            "by_rounds": by_rounds,
            "by_rows": {n: {m: fit(c, rounds[-1]) for m, c in methods.items()} for n in rows},
        }

    calls: list[tuple] = []
    monkeypatch.setattr(speed, "compare", compare)
    for _ in range(2):
        speed.run_speed(store, QUICK)
    assert calls == [((25, 50), (1000, 3000), 1, 3000)]
    records = speed.load_speed(store)
    assert [(r["method"], *r["params"].values(), r["seconds"], r["mean"]) for r in records] == [
        ("CGEns", 3000, 25, "rounds", 25.0, 80.0),
        ("CGEns", 3000, 50, "rounds", 50.0, 40.0),
        ("LPBoost", 3000, 25, "rounds", 250.0, 80.0),
        ("LPBoost", 3000, 50, "rounds", 500.0, 40.0),
        ("CGEns", 1000, 50, "rows", 50.5, 5.0),
        ("LPBoost", 1000, 50, "rows", 500.5, 5.0),
        ("CGEns", 3000, 50, "rows", 50.5, 5.0),
        ("LPBoost", 3000, 50, "rows", 500.5, 5.0),
    ]
    assert "| 3000 | 50 | 50.00 | 500.0 | 10 |  | 40.00 | 40.00 |" in render(store)
    monkeypatch.setattr(benchmarks.report, "RESULTS", tmp_path)
    (tmp_path / "lpboost.json").write_text(json.dumps(compare((100,), (60_000,), 2)))
    speed.run_speed(store, FULL)
    assert len(calls) == 2, "the full mode does not measure"
    assert len(speed.load_speed(store)) == 2 * 3 + 2
    assert "| 60000 | 100 | 100.50 | 1000.5 | 10 | 26 | 5.00 | 5.00 |" in render(store)
