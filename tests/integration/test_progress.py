"""The progress bar on a terminal and in a log; what `verbose` writes is tested with the estimators."""

from __future__ import annotations

import io
import re

import pytest

from cgens.progress import ProgressBar
from cgens.types import Round


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def state(n_columns: int, most: int, seconds: float) -> Round:
    return Round(n_columns, most, 0.5, 2.0, 1.9, 0.05, seconds)


def test_terminal_keeps_one_line():
    stream = Terminal()
    bar = ProgressBar(stream, every=0.0)
    for n in range(1, 21):
        bar(state(n, 20, n * 1.0))
    bar.close()
    text = stream.getvalue()
    assert text.count("\n") == 1
    assert text.endswith("\n")
    drawings = text.rstrip("\n").split("\r")[1:]
    assert len(drawings) == 20
    assert "10/20 columns" in drawings[9]
    assert "gap 5.0e-02" in drawings[9]
    assert "10.0 s" in drawings[9]
    assert drawings[-1].count("#") == 30
    assert "0.0 s left" in drawings[-1]


def test_terminal_is_not_redrawn_all_the_time():
    stream = Terminal()
    bar = ProgressBar(stream, every=10.0)
    for n in range(1, 101):
        bar(state(n, 100, n * 1.0))
    bar.close()
    assert stream.getvalue().count("\r") == 10


def test_log_gets_a_line_now_and_then():
    stream = io.StringIO()
    bar = ProgressBar(stream)
    for n in range(1, 101):
        bar(state(n, 100, n * 1.0))
    bar.close()
    lines = stream.getvalue().splitlines()
    assert len(lines) == 10
    assert "\r" not in stream.getvalue()
    assert "\x1b" not in stream.getvalue()
    assert [re.search(r"(\d+)/100", line).group(1) for line in lines] == [str(10 * k) for k in range(1, 11)]


def test_closing_without_a_round_writes_nothing():
    for stream in (io.StringIO(), Terminal()):
        bar = ProgressBar(stream)
        bar.close()
        bar.close()
        assert stream.getvalue() == ""


@pytest.mark.parametrize("most", [1, 2, 7])
def test_few_rounds_in_a_log(most):
    stream = io.StringIO()
    bar = ProgressBar(stream)
    for n in range(1, most + 1):
        bar(state(n, most, 0.1))
    assert f"{most}/{most} columns" in stream.getvalue().splitlines()[-1]


def test_time_left_shrinks_to_nothing():
    stream = Terminal()
    bar = ProgressBar(stream, every=0.0)
    for n in range(1, 11):
        bar(state(n, 10, float(n)))
    left = [float(number) for number in re.findall(r"([\d.]+) s left", stream.getvalue())]
    assert left == sorted(left, reverse=True)
    assert left[-1] == 0.0
