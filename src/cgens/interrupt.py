"""Ctrl-C without loss of results: the loop finishes its round, and KeyboardInterrupt is raised afterwards."""

from __future__ import annotations

import signal
import threading
from types import FrameType

from cgens.types import Poll


class InterruptGuard:
    """Context manager that turns the first Ctrl-C within its block into a flag.

    It does so only in the main thread, and only if Python's own handler is installed: a program that handles SIGINT
    itself continues to do so. A second Ctrl-C raises KeyboardInterrupt at once.

    Parameters
    ----------
    poll : callable, optional
        Returns True to request an interrupt as Ctrl-C does, in any thread.

    Examples
    --------
    >>> with InterruptGuard() as guard:
    ...     guard.requested()
    False
    """

    def __init__(self, poll: Poll | None = None) -> None:
        self._poll = poll
        self._pressed = False
        self._reported = False
        self._installed = False

    def requested(self) -> bool:
        """Return whether an interrupt was requested. Cheap; also lets Python deliver a pending signal."""
        self._reported |= self._pressed
        return self._pressed or (self._poll is not None and self._poll())

    def _handle(self, signum: int, frame: FrameType | None) -> None:
        if self._pressed:
            raise KeyboardInterrupt
        self._pressed = True

    def __enter__(self) -> InterruptGuard:
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._handle)
            self._installed = True
        _guards.entered.append(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        _guards.entered.remove(self)
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._pressed and not self._reported and kind is None:
            raise KeyboardInterrupt  # pressed after the last call of `requested`: it must not be lost


class _ThreadGuards(threading.local):
    """The guards whose blocks the current thread is in."""

    def __init__(self) -> None:
        self.entered: list[InterruptGuard] = []


_guards = _ThreadGuards()


def is_interrupted() -> bool:
    """Return whether any guard of this thread has an interrupt request."""
    return any(guard.requested() for guard in _guards.entered)


def raise_if_interrupted() -> None:
    """Raise KeyboardInterrupt if the work of this thread should stop: for long computations between two polls."""
    if is_interrupted():
        raise KeyboardInterrupt
