"""A progress bar with the number of columns, the gap and the remaining time."""

from __future__ import annotations

import sys
from math import isfinite
from typing import TextIO

from cgens.rounds import Round


class ProgressBar:
    """A callback that updates one line on a terminal, or writes up to ten lines to a log file.

    Parameters
    ----------
    stream : text file, default=sys.stderr
    every : float
        Minimum number of seconds between two updates on a terminal.
    """

    _WIDTH = 30
    _LOG_LINES = 10

    def __init__(self, stream: TextIO | None = None, every: float = 0.1) -> None:
        self._stream = stream or sys.stderr
        self._every = every
        self._on_terminal = self._stream.isatty()
        self._last = 0.0
        self._logged = 0
        self._open = False
        self._seconds = [0.0]  # elapsed at each number of columns
        self._gap = float("nan")  # the last one that was computed

    def __call__(self, state: Round) -> None:
        """Write the state, if an update is due."""
        self._gap = state.relative_gap if isfinite(state.relative_gap) else self._gap
        self._seconds += [state.seconds] * (state.n_columns + 1 - len(self._seconds))
        due = state.n_columns * self._LOG_LINES // state.max_columns
        if self._on_terminal:
            if state.n_columns == state.max_columns or state.seconds - self._last >= self._every:
                self._last = state.seconds
                self._stream.write("\r\x1b[K" + self._text(state))
                self._stream.flush()
                self._open = True
        elif due > self._logged:
            self._logged = due
            self._stream.write(self._text(state) + "\n")

    def close(self) -> None:
        """End the line."""
        if self._open:
            self._stream.write("\n")
            self._stream.flush()
            self._open = False

    def _text(self, state: Round) -> str:
        share = state.n_columns / state.max_columns
        done = round(self._WIDTH * share)
        # The second half of the rounds best predicts the time of the next ones.
        recent = state.n_columns - state.n_columns // 2
        left = (state.max_columns - state.n_columns) * (state.seconds - self._seconds[-1 - recent]) / recent
        return (
            f"[{'#' * done}{'.' * (self._WIDTH - done)}] {state.n_columns}/{state.max_columns} columns"
            f" | gap {self._gap:.1e} | {state.seconds:.1f} s, {left:.1f} s left"
        )
