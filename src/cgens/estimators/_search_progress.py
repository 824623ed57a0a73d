"""One progress bar for the folds of a search, which run beside each other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

from cgens.progress import ProgressBar
from cgens.types import Round


class SearchProgress:
    """One progress bar for all folds."""

    def __init__(self, total: int, n_folds: int, stop: threading.Event, bar: ProgressBar | None) -> None:
        self._total, self._stop, self._bar = total, stop, bar
        self._done = [0] * n_folds
        self._lock = threading.Lock()
        self._began = perf_counter()

    def stopped(self) -> bool:
        """Return whether all is to stop."""
        return self._stop.is_set()

    def callback(self, fold: int) -> Callable[[Round], None] | None:
        """Return the callback of one fold, where there is something to draw."""
        bar = self._bar
        if bar is None:
            return None

        def tell(state: Round) -> None:
            with self._lock:
                self._done[fold] = state.n_columns
                seconds = perf_counter() - self._began
                bar(replace(state, n_columns=sum(self._done), max_columns=self._total, seconds=seconds))

        return tell

    def close(self) -> None:
        """End the line."""
        if self._bar is not None:
            self._bar.close()
