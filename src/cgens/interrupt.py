"""Ctrl-C that loses nothing: the loop is told, finishes its round, and the signal goes on afterwards."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

from cgens.types import Poll

_guards: list[InterruptGuard] = []  # those within, of the main thread
_polls = threading.local()  # .stack: the polls of the fits that run in a thread


@contextmanager
def polling(poll: Poll) -> Iterator[None]:
    """Let `is_interrupted` ask `poll` too, in this thread and within the ``with`` block."""
    stack: list[Poll] = _polls.__dict__.setdefault("stack", [])
    stack.append(poll)
    try:
        yield
    finally:
        stack.pop()


def is_interrupted() -> bool:
    """Return whether the work of this thread is to end: Ctrl-C within a guard, or a poll that says so."""
    in_main = threading.current_thread() is threading.main_thread()
    if in_main and any(guard.requested() for guard in _guards):
        return True
    return any(poll() for poll in _polls.__dict__.get("stack", ()))


def raise_if_interrupted() -> None:
    """Raise KeyboardInterrupt where the work of this thread is to end: for long work between two polls."""
    if is_interrupted():
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
