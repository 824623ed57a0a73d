"""The progress bar on a terminal and in a log; the parameter `verbose` is tested with the estimators."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest

from cgens.progress import ProgressBar
from cgens.rounds import Round


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def drawn(stream: io.StringIO, most: int, **options: float) -> str:
    """Return what a bar writes in so many rounds of one second each."""
    bar = ProgressBar(stream, **options)
    for n in range(1, most + 1):
        bar(Round(n, most, 0.5, 2.0, 1.9, 0.05, float(n), None, (), np.empty((n, 1)), np.empty(1), dict))
    bar.close()
    bar.close()
    return stream.getvalue()


def test_terminal_keeps_one_line():
    text = drawn(Terminal(), 20, every=0.0)
    assert text.count("\n") == 1
    assert text.endswith("\n")
    drawings = text.rstrip("\n").split("\r")[1:]
    assert len(drawings) == 20
    for part in ("10/20 columns", "gap 5.0e-02", "10.0 s"):
        assert part in drawings[9]
    assert drawings[-1].count("#") == 30
    left = [float(re.search(r"([\d.]+) s left", drawing).group(1)) for drawing in drawings]
    assert left == sorted(left, reverse=True)
    assert left[-1] == 0.0


def test_terminal_is_not_redrawn_in_every_round():
    assert drawn(Terminal(), 100, every=10.0).count("\r") == 10


def test_log_gets_ten_lines():
    text = drawn(io.StringIO(), 100)
    assert "\r" not in text
    assert "\x1b" not in text
    assert re.findall(r"(\d+)/100", text) == [str(10 * k) for k in range(1, 11)]
    assert len(text.splitlines()) == 10


@pytest.mark.parametrize("most", [1, 2, 7])
def test_few_rounds_in_a_log(most):
    assert f"{most}/{most} columns" in drawn(io.StringIO(), most).splitlines()[-1]


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_closing_without_a_round_writes_nothing(stream):
    assert drawn(stream(), 0) == ""
