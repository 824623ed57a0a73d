"""The command `python -m experiments`, from its arguments to the report."""

from __future__ import annotations

import re

import pytest

import experiments.__main__ as command
from benchmarks.report import load_results
from experiments import speed
from experiments.experiment import FULL, QUICK
from experiments.registry import EXPERIMENTS
from experiments.report import render
from experiments.store import Store
from tests.experiments.fakes import ALL_CELLS, Fake, add, failing


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("tabel1", r"experiment 'tabel1'.*'table1'"),
        ("toy qqqqqq", r"experiment 'qqqqqq'.*toy, table1"),
        ("table1 --datasets hart", r"data set 'hart'.*banana, breast_"),
        ("toy --methods SVM", r"method 'SVM'.*AdaBoost, CGEns\."),
        ("toy --datasets disc sun", r"data set 'sun'.*\bdisc\."),
        ("report --methods SVM", r"method 'SVM'.*none"),
        ("table3 --datasets sun", r"data set 'sun'"),
        ("toy --jobs 0", r"--jobs.*\b0\b"),
    ],
)
def test_wrong_arguments(tmp_path, capsys, arguments, message):
    assert command.main([*arguments.split(), "--results", str(tmp_path / "results")]) == 2
    printed = capsys.readouterr()
    assert re.match(f"error: .*{message}", printed.err)
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert not (tmp_path / "results").exists()


def test_results_that_cannot_be_stored_or_read(tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    assert command.main(["toy", "--quick", "--results", str(tmp_path / "file")]) == 2
    assert re.match(f"error: .*{tmp_path / 'file'}", capsys.readouterr().err)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "table1.jsonl").write_text("{\n{}\n")
    assert command.main(["report", "--results", str(tmp_path)]) == 2
    assert re.match(r"error: .*1.*table1\.jsonl", capsys.readouterr().err)


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
    monkeypatch.setattr(command, "run_speed", lambda *call: pytest.fail("speed has no data sets to choose from"))
    fake.experiment.methods["alone"] = failing(ValueError("no such rows"))
    assert command.main(["--datasets", "b", "--jobs", "1", "--results", str(tmp_path)]) == 2
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert re.search(r"2 cells of fake .*alone on b, run 0: no such rows", errors[0])
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


def test_speed_is_measured_once_in_quick_mode_and_otherwise_taken_from_the_benchmark(store, monkeypatch):
    results, calls = load_results("lpboost"), []
    monkeypatch.setattr(speed, "compare", lambda *sizes, **options: calls.append((sizes, options)) or results)
    for _ in range(2):
        speed.run_speed(store, QUICK)
    assert calls == [(((25, 50), (1000, 3000)), {"repeats": 1, "max_rows": 3000})]
    first, *_, last = speed.load_speed(store)
    assert first["params"] == {"rows": 3000, "rounds": 25, "axis": "rounds"}
    ours, theirs = (results["by_rounds"][method] for method in ("CGEns", "LPBoost"))
    assert (first["seconds"], first["mean"]) == (round(ours["after_rounds"]["25"], 4), round(ours["errors"]["25"], 4))
    largest = results["by_rows"]["60000"]["LPBoost"]
    assert last["params"] == {"rows": 60_000, "rounds": largest["n_columns"], "axis": "rows"}
    assert (last["seconds"], last["mean"]) == (round(largest["seconds"], 4), round(largest["error"], 4))
    assert not any(record["params"]["rounds"] > 50 for record in speed.load_speed(store)[:4])
    speed.run_speed(store, FULL)
    assert len(calls) == 1, "the full mode does not measure"
    ratio = theirs["after_rounds"]["500"] / ours["after_rounds"]["500"]
    assert f"| {ratio:.0f} | 15 |" in render(store)
