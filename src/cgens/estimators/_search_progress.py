"""One progress bar for all folds of a search, which run in parallel."""

from __future__ import annotations

import threading
from dataclasses import replace
from time import perf_counter

from cgens.progress import ProgressBar
from cgens.rounds import Round


class SearchProgress:
    """A progress bar over the columns of all folds."""

    def __init__(self, n_folds: int, max_columns: int) -> None:
        self._n_columns, self._total = [0] * n_folds, n_folds * max_columns
        self._bar, self._lock = ProgressBar(), threading.Lock()
        self._start = perf_counter()

    def update(self, fold: int, state: Round) -> None:
        """Show that a fold has finished a round."""
        with self._lock:
            self._n_columns[fold] = state.n_columns
            seconds = perf_counter() - self._start
            self._bar(replace(state, n_columns=sum(self._n_columns), max_columns=self._total, seconds=seconds))

    def close(self) -> None:
        """End the line."""
        self._bar.close()
