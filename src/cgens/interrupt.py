"""Ctrl-C that loses nothing: the loop is told, finishes its round, and the signal goes on afterwards."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType

_guards: list[InterruptGuard] = []  # those within, of the main thread


def raise_if_requested() -> None:
    """Raise KeyboardInterrupt where Ctrl-C was pressed within a guard: for long work between two of its questions."""
    if _guards and threading.current_thread() is threading.main_thread() and any(own.requested() for own in _guards):
        raise KeyboardInterrupt


class InterruptGuard:
    """Turns the first Ctrl-C within a ``with`` block into a flag.

    Only in the main thread, and only where Python's own handler is in place: a program that handles SIGINT itself
    keeps doing so. A second Ctrl-C raises at once.

    Examples
    --------
    >>> with InterruptGuard() as guard:
    ...     guard.requested()
    False
    """

    def __init__(self) -> None:
        self._requested = False
        self._reported = False
        self._installed = False

    def requested(self) -> bool:
        """Return whether Ctrl-C was pressed. Cheap; also lets Python deliver a waiting signal."""
        self._reported |= self._requested
        return self._requested

    def _handle(self, signum: int, frame: FrameType | None) -> None:
        if self._requested:
            raise KeyboardInterrupt
        self._requested = True

    def __enter__(self) -> InterruptGuard:
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._handle)
            self._installed = True
            _guards.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._installed:
            _guards.remove(self)
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._requested and not self._reported and kind is None:
            raise KeyboardInterrupt  # pressed after the last question: it must not get lost
