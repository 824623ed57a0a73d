"""The command `python -m experiments`: from the call to the page, and one sentence for a bad call."""

from __future__ import annotations

import pytest

import experiments.__main__ as command
from experiments.experiment import FULL, Outcome
from experiments.registry import EXPERIMENTS
from experiments.report import render
from experiments.store import Store
from tests.experiments.fakes import ALL_CELLS, Fake, broken, lines_of, some_cell
from tests.sentences import assert_one_sentence


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["tabel1"], "No experiment 'tabel1': did you mean 'table1'?"),
        (["toy", "qqqqqq"], "No experiment 'qqqqqq': there are toy, table1"),
        (["table1", "--datasets", "hart"], "No data set 'hart' in these experiments; there are banana, breast_cancer"),
        (["toy", "--methods", "SVM"], "No method 'SVM' in these experiments; there are AdaBoost, CGEns."),
        (["toy", "--datasets", "disc", "heart"], "No data set 'heart' in these experiments; there are disc."),
        (["table3", "--datasets", "sun"], "No data set 'sun': looked for sun.npz in "),
        (["toy", "--datasets", "sun"], "No data set 'sun' in these experiments; there are disc."),
        (["table3", "--methods", "sun"], "No method 'sun' in these experiments; there are AdaBoost.ECC, AdaBoost.MH"),
        (["toy", "--jobs", "0"], "--jobs must be at least 1; got 0."),
        (["toy", "--jobs", "-2"], "--jobs must be at least 1; got -2."),
    ],
)
def test_bad_calls_of_the_command(tmp_path, capsys, arguments, sentence):
    assert command.main([*arguments, "--results", str(tmp_path / "results")]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"error: {sentence}")
    assert printed.err.endswith("\n")
    assert_one_sentence(printed.err.removesuffix("\n"))
    assert printed.out == ""
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("inside", [False, True])
def test_results_that_cannot_be_kept(tmp_path, capsys, inside):
    (tmp_path / "file").write_text("mine")
    folder = tmp_path / "file" / "results" if inside else tmp_path / "file"
    assert command.main(["toy", "--quick", "--results", str(folder)]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"error: Results cannot be kept in {folder}: ")
    assert_one_sentence(printed.err.removesuffix("\n"))
    assert (tmp_path / "file").read_text() == "mine"


def test_damaged_results_of_the_command(tmp_path, capsys):
    lines_of(tmp_path).parent.mkdir()
    lines_of(tmp_path).write_text("{\n{}\n")
    assert command.main(["report", "--results", str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("error: Line 1 of ")
    assert_one_sentence(printed.err.removesuffix("\n"))


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
    assert told == [
        "error: 5 cells of fake could not be computed, the first of them alone on a, run 0: this cell is broken"
    ]
    page = (tmp_path / "reproduction.md").read_text()
    assert "## A fake" in page
    assert "## Another" in page


def test_a_part_of_everything_leaves_out_what_has_no_parts(tmp_path, fake, monkeypatch):
    monkeypatch.setattr(command, "NAMES", ["fake", "speed", "report"])
    monkeypatch.setattr(command, "run_speed", lambda store, effort: pytest.fail("not asked for"))
    assert command.main(["--datasets", "b", "--jobs", "1", "--results", str(tmp_path)]) == 0
    assert {dataset for dataset, _, _ in fake.computed} == {"b"}


def test_a_damaged_data_set_keeps_no_page(tmp_path, capsys, fake, monkeypatch):
    """Pictures need data; the text does not."""
    monkeypatch.setattr(command, "NAMES", ["fake", "report"])
    store = Store(tmp_path)
    store.prepare(FULL)
    store.add(some_cell(0, "CGEns", "spambase", "spam"), Outcome(6.0, 1.0, {"features": {"0": 60}}))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "spambase.npz").write_bytes(b"damaged")
    monkeypatch.setenv("CGENS_DATA", str(tmp_path / "data"))
    assert command.main(["report", "--results", str(tmp_path)]) == 0
    assert "spam.png stays as it is: " in capsys.readouterr().err
    assert "| spambase |" in (tmp_path / "reproduction.md").read_text()
