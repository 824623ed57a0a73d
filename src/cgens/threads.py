"""How many threads to use, and Python functions that run in several of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from queue import SimpleQueue
from typing import Any, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

from cgens.interrupt import raise_if_interrupted

T = TypeVar("T")
R = TypeVar("R")

N_PROCESSORS = os.cpu_count() or 1  # looked up once: it takes as long as predicting a row


def default_threads() -> int:
    """Return the number of threads that programs with OpenMP would use here: limits on them hold for us too.

    Such limits are ``OMP_NUM_THREADS``, `threadpoolctl.threadpool_limits` and those that joblib sets in its processes.
    """
    limits = [int(library.get_num_threads()) for library in _openmp_libraries()]
    return max(1, min([*limits, N_PROCESSORS])) if limits else int(joblib.cpu_count())


@cache
def _openmp_libraries() -> Sequence[Any]:
    """Return the OpenMP libraries that are loaded, scikit-learn's at least; finding them takes milliseconds."""
    return ThreadpoolController().select(user_api="openmp").lib_controllers  # type: ignore[no-any-return]


def run_in_threads(
    function: Callable[[T], Any], items: Sequence[T], n_threads: int, interruptible: bool = True
) -> None:
    """Call ``function(item)`` for each item, in order, with at most `n_threads` threads; the caller is one of them.

    If the system cannot start as many threads, those that there are must do. An exception ends the calls that have not
    begun. If `interruptible`, KeyboardInterrupt is raised between two of the caller's items after Ctrl-C.
    """
    left = _Shared(items)

    def work() -> None:
        try:
            for item in left:
                function(item)
        except BaseException as error:  # raised by the caller
            left.fail(error)

    with _HELPERS.working(min(n_threads, len(items)) - 1, work) as helpers:
        try:
            for item in left:
                function(item)
                if interruptible:
                    raise_if_interrupted()
            helpers.wait()
        except BaseException as error:
            left.fail(error)
    if left.error is not None:
        raise left.error


def map_in_threads(function: Callable[[T], R], items: Sequence[T], n_threads: int) -> list[R]:
    """Return ``[function(item) for item in items]`` by `run_in_threads`."""
    results: list[Any] = [None] * len(items)

    def store(number: int) -> None:
        results[number] = function(items[number])

    run_in_threads(store, range(len(items)), n_threads)
    return results


class _Shared(Iterator[T]):
    """An iterator for several threads, which ends after the first failure."""

    def __init__(self, items: Sequence[T]) -> None:
        self._items = iter(items)
        self._lock = threading.Lock()
        self.error: BaseException | None = None

    def __next__(self) -> T:
        with self._lock:
            if self.error is not None:
                raise StopIteration
            return next(self._items)

    def fail(self, error: BaseException) -> None:
        with self._lock:
            self.error = self.error or error


class _Helpers:
    """Threads that are kept: what a thread needs of libraries is allocated once, when there is memory."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget all threads: a forked child has none of them."""
        self._lock = threading.Lock()
        self._idle: list[SimpleQueue[Callable[[], None]]] = []

    def working(self, n: int, work: Callable[[], None]) -> _Working:
        """Let up to `n` threads call `work()`, as many as the system can start."""
        own: list[SimpleQueue[Callable[[], None]]] = []
        for _ in range(n):
            with self._lock:
                idle = self._idle.pop() if self._idle else None
            if idle is None:
                idle = SimpleQueue()
                try:
                    threading.Thread(target=_serve, args=(idle,), daemon=True).start()
                except (RuntimeError, MemoryError):
                    break
            own.append(idle)
        return _Working(self, own, work)

    def give_back(self, helpers: Sequence[SimpleQueue[Callable[[], None]]]) -> None:
        """Keep threads that have finished."""
        with self._lock:
            self._idle.extend(helpers)


class _Working:
    """Context manager: at its end all threads have finished."""

    def __init__(
        self, pool: _Helpers, helpers: Sequence[SimpleQueue[Callable[[], None]]], work: Callable[[], None]
    ) -> None:
        self._pool, self._helpers, self._n_left = pool, helpers, len(helpers)
        self._done = threading.Semaphore(0)

        def report() -> None:
            try:
                work()
            finally:
                self._done.release()

        for helper in helpers:
            helper.put(report)

    def wait(self) -> None:
        """Wait for all threads."""
        while self._n_left:
            self._done.acquire()
            self._n_left -= 1

    def __enter__(self) -> _Working:
        return self

    def __exit__(self, *_: object) -> None:
        self.wait()
        self._pool.give_back(self._helpers)


def _serve(tasks: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        tasks.get()()


_HELPERS = _Helpers()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_HELPERS.forget)
